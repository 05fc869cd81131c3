/* SPDX-License-Identifier: MIT */
/* The public interface, as a user calls it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fizeau.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "format/format.h"
#include "hand_profile.h"

static struct fizeau_profile *load(const char *text)
{
	struct fizeau_profile *p = NULL;
	struct fizeau_error err;

	if (fizeau_profile_load_memory(text, strlen(text), "text.folded", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void walk_a_profile(void **state)
{
	(void)state;
	struct fizeau_profile *p = load("main;work;work 3\nmain;idle 1\n");

	assert_string_equal(fizeau_profile_metric(p), "samples");
	assert_string_equal(fizeau_profile_unit(p), "count");
	assert_int_equal(fizeau_profile_samples(p), 4);
	assert_int_equal(fizeau_profile_total(p), 4);
	assert_string_equal(fizeau_profile_fact(p, "command"), "");
	assert_int_equal(fizeau_profile_function_count(p), 3);
	assert_string_equal(fizeau_profile_function(p, 0)->name, "main");
	assert_string_equal(fizeau_profile_function(p, 1)->name, "work");
	assert_int_equal(fizeau_profile_function(p, 1)->self, 3);
	assert_int_equal(fizeau_profile_function(p, 1)->total, 3);
	assert_null(fizeau_profile_function(p, 3));
	fizeau_profile_free(p);
}

static void walk_a_diff(void **state)
{
	(void)state;
	struct fizeau_profile *base = load("main;work 3\nmain;old 1\n");
	struct fizeau_profile *head = load("main;work 6\nmain;fresh 2\n");
	struct fizeau_diff_options options = { .size = sizeof(options),
					       .scale = FIZEAU_SCALE_TIME };
	struct fizeau_diff *d = NULL;
	struct fizeau_diff_function f = { .size = sizeof(f) };
	struct fizeau_diff_node n = { .size = sizeof(n) };

	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_TIME);
	assert_true(fizeau_diff_factor(d) == 1);
	assert_int_equal(fizeau_diff_elided_count(d), 1);
	assert_int_equal(fizeau_diff_elided_time(d), 1);
	assert_int_equal(fizeau_diff_function_count(d), 4);
	assert_int_equal(fizeau_diff_function(d, 1, &f), 0);
	assert_string_equal(f.name, "work");
	assert_int_equal(f.cost.base_self, 3);
	assert_int_equal(f.cost.head_self, 6);
	assert_true(f.cost.diff_self == 3);
	assert_int_equal(fizeau_diff_function(d, 4, &f), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_node_count(d), 4);
	assert_int_equal(fizeau_diff_node(d, 0, &n), 0);
	assert_int_equal(n.parent, -1);
	assert_int_equal(n.count, 4);
	assert_int_equal(fizeau_diff_node(d, 2, &n), 0);
	assert_int_equal(n.parent, 0);
	assert_int_equal(n.state, FIZEAU_NEW);
	assert_int_equal(fizeau_diff_node(d, 4, &n), FIZEAU_EUSAGE);
	assert_non_null(fizeau_diff_warning(d, 0));
	assert_null(fizeau_diff_warning(d, 99));
	fizeau_diff_free(d);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void errors_name_their_cause(void **state)
{
	(void)state;
	struct fizeau_profile *p = NULL, *good = load("a 1\n");
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;
	struct fizeau_diff_options options = { .size = sizeof(options), .metric = "instructions" };

	assert_true(fizeau_profile_load("/does/not/exist", &p, &err) < 0);
	assert_non_null(strstr(err.message, "/does/not/exist"));
	assert_int_equal(fizeau_profile_load_memory("", 0, "nothing", &p, &err), FIZEAU_EINPUT);
	assert_null(p);
	assert_int_equal(fizeau_diff_new(good, good, &options, &d, &err), FIZEAU_EINPUT);
	assert_non_null(strstr(err.message, "instructions"));
	assert_null(d);
	assert_int_equal(fizeau_profile_write(good, "pdf", "x", &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_profile_write(good, NULL, "x", &err), FIZEAU_EUSAGE);
	assert_true(fizeau_profile_write(good, "json", "/does/not/exist/x", &err) < 0);
	fizeau_profile_free(good);
}

static void reports_are_written(void **state)
{
	(void)state;
	static const char *const formats[] = { "text", "html", "svg", "json", "folded" };
	struct fizeau_profile *p = load("a;b 1\n");
	struct fizeau_diff *d = NULL;
	char folder[] = "fizeau-api-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	assert_int_equal(fizeau_diff_new(p, p, NULL, &d, NULL), 0);
	snprintf(path, sizeof(path), "%s/out", folder);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		assert_int_equal(fizeau_profile_write(p, formats[i], path, NULL), 0);
		assert_int_equal(access(path, R_OK), 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(fizeau_diff_write(d, formats[i], path, NULL), 0);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	fizeau_diff_free(d);
	fizeau_profile_free(p);
}

/* What main calls in the i-th sample, when work takes the given part in thousandths: what it takes
 * more, `other` takes less, and the rest stands still. */
static const char *callee(int i, int part)
{
	if (i % 1000 < part)
		return "work";
	if (i % 1000 < 400)
		return "other";
	return i % 2 ? "rest" : "third";
}

/* Four runs of main. */
/* Four runs, taken in turn with those of another that begins a second later. */
static struct fizeau_profile *build(int part, const char *program)
{
	static const int64_t second = 1000000000;
	struct fizeau_builder_options options = { .size = sizeof(options),
						  .metric = "cpu",
						  .unit = "ns",
						  .interval_ns = 1000,
						  .complete = 1,
						  .ordered = 1 };
	struct fizeau_builder *b = NULL;
	struct fizeau_frame frames[] = { { "main", "app.py", 3 }, { "work", "app.py", 9 } };
	struct fizeau_profile *p = NULL;

	assert_int_equal(fizeau_builder_new(&options, &b, NULL), 0);
	fizeau_builder_fact(b, "program", program);
	for (int run = 0; run < 4; run++) {
		if (run)
			fizeau_builder_next_run(b);
		fizeau_builder_began(b, (1 + 2 * run + (part > 200)) * second);
		for (int i = 0; i < 3000; i++) {
			frames[1].name = callee(i, part);
			fizeau_builder_add(b, frames, 2, 1000);
		}
	}
	assert_int_equal(fizeau_builder_build(b, &p, NULL), 0);
	return p;
}

static void a_built_profile_is_judged(void **state)
{
	(void)state;
	struct fizeau_profile *base = build(200, "app"), *head = build(300, "app");
	struct fizeau_diff_options options = { .size = sizeof(options),
					       .scale = FIZEAU_SCALE_REFERENCE };
	struct fizeau_diff *d = NULL;
	struct fizeau_diff_function f = { .size = sizeof(f) };
	struct fizeau_function_verdict v = { .size = sizeof(v) };
	struct fizeau_run_verdict run = { .size = sizeof(run) };
	struct fizeau_link link = { .size = sizeof(link) };

	assert_int_equal(fizeau_profile_run_count(base), 4);
	assert_int_equal(fizeau_profile_samples(base), 12000);
	assert_int_equal(fizeau_profile_total(base), 12000000);
	assert_string_equal(fizeau_profile_unit(base), "ns");
	assert_string_equal(fizeau_profile_fact(base, "program"), "app");
	assert_int_equal(fizeau_diff_new(base, head, NULL, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_TIME);
	fizeau_diff_run_verdict(d, &run);
	assert_int_equal(run.word, FIZEAU_RUN_SAME);
	assert_true(run.low <= 0 && run.high >= 0 && run.smallest_visible > 0);
	for (size_t i = 0; fizeau_diff_function(d, i, &f) == 0; i++) {
		assert_int_equal(fizeau_diff_function_verdict(d, i, &v), 0);
		assert_int_equal(fizeau_diff_link(d, i, &link), 0);
		assert_string_equal(link.how, "exact");
		assert_string_equal(link.name, f.name);
		if (strcmp(f.name, "work") == 0) {
			assert_int_equal(v.self, FIZEAU_CHANGED);
			assert_true(v.self_low > 0 && v.self_low < f.cost.diff_self);
		} else if (strcmp(f.name, "main") == 0) {
			assert_int_equal(v.self, FIZEAU_UNCHANGED);
		}
	}
	assert_int_equal(fizeau_diff_function_verdict(d, 99, &v), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_link(d, 99, &link), FIZEAU_EUSAGE);
	fizeau_diff_free(d);
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_int_equal(fizeau_diff_scale(d), FIZEAU_SCALE_REFERENCE);
	/* The typical function is unchanged. */
	assert_true(fabs(fizeau_diff_factor(d) - 1) < 0.01);
	fizeau_diff_free(d);
	options.scale = FIZEAU_SCALE_UNIT;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), FIZEAU_EUSAGE);
	options.base_units = 100;
	options.head_units = 200;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, NULL), 0);
	assert_true(fizeau_diff_factor(d) == 2);
	fizeau_diff_free(d);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void profiles_merge(void **state)
{
	(void)state;
	struct fizeau_profile *a = build(200, "app"), *b = build(300, "app");
	struct fizeau_profile *other = load("main;work 3\n"), *both = NULL;
	const struct fizeau_profile *list[] = { a, b, other };
	struct fizeau_builder *unused = NULL;
	struct fizeau_error err;

	assert_int_equal(fizeau_profile_merge(list, 2, &both, &err), 0);
	assert_int_equal(fizeau_profile_run_count(both), 8);
	assert_int_equal(fizeau_profile_total(both),
			 fizeau_profile_total(a) + fizeau_profile_total(b));
	fizeau_profile_free(both);
	both = NULL;
	assert_true(fizeau_profile_merge(list, 3, &both, &err) < 0);
	assert_true(strlen(err.message) > 10);
	assert_int_equal(fizeau_profile_merge(list, 0, &both, &err), FIZEAU_EUSAGE);
	assert_null(both);
	assert_int_equal(fizeau_builder_new(NULL, &unused, NULL), 0);
	fizeau_builder_free(unused);
	fizeau_builder_free(NULL);
	fizeau_profile_free(a);
	fizeau_profile_free(b);
	fizeau_profile_free(other);
}

/* A profile of the library's own, through a recording. */
static struct fizeau_profile *through(const struct fz_profile *p)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fizeau_profile *ret = NULL;

	assert_int_equal(fz_format_by_name("fz")->write(p, out, NULL), 0);
	const struct fz_buf *text = fz_output_buffer(out);
	assert_int_equal(fizeau_profile_load_memory(text->p, text->n, "a.fz", &ret, NULL), 0);
	return ret;
}

static struct fizeau_profile *recorded(enum fz_mode mode)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile("main;work 3\n", 1000);

	p->recording.mode = mode;
	fz_profile_set_fact(p, "mode", fz_str_of(fz_mode_names[mode]));
	return through(p);
}

/* As fizeau-diff(1) refuses a set of recordings. */
static void recordings_of_different_kinds_do_not_merge(void **state)
{
	struct fizeau_profile *wall = recorded(FZ_MODE_WALL), *cpu = recorded(FZ_MODE_CPU);
	const struct fizeau_profile *alike[] = { wall, wall }, *different[] = { wall, cpu };
	struct fizeau_profile *both = NULL;
	struct fizeau_error err;

	(void)state;
	assert_int_equal(fizeau_profile_merge(different, 2, &both, &err), FIZEAU_EINPUT);
	assert_non_null(strstr(err.message, "mode (base: wall; head: cpu)"));
	assert_null(both);
	assert_int_equal(fizeau_profile_merge(alike, 2, &both, &err), 0);
	assert_int_equal(fizeau_profile_run_count(both), 2);
	fizeau_profile_free(both);
	fizeau_profile_free(wall);
	fizeau_profile_free(cpu);
}

static void null_is_not_an_object(void **state)
{
	struct fizeau_builder_options no_size = { .metric = "cpu" };
	struct fizeau_diff_function f = { .size = 0 };
	struct fizeau_frame nameless = { .file = "app.py" };
	struct fizeau_profile *p = load("main;work 3\n"), *none = NULL;
	struct fizeau_builder *b = NULL;
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;
	char *text = NULL;
	size_t size;

	(void)state;
	assert_int_equal(fizeau_profile_load(NULL, &none, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_profile_load("x", NULL, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_profile_load_memory(NULL, 3, "x", &none, &err), FIZEAU_EUSAGE);
	assert_string_equal(fizeau_profile_metric(NULL), "");
	assert_string_equal(fizeau_profile_fact(p, NULL), "");
	assert_null(fizeau_profile_function(NULL, 0));
	assert_int_equal(fizeau_profile_run_count(NULL), 0);
	assert_int_equal(fizeau_diff_new(p, NULL, NULL, &d, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_new(p, p, NULL, NULL, NULL), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_run_verdict(NULL, NULL), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_node(NULL, 0, NULL), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_profile_write(p, NULL, NULL, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_diff_write_memory(NULL, "json", &text, &size, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_builder_new(&no_size, &b, &err), FIZEAU_EUSAGE);
	assert_non_null(strstr(err.message, "size"));
	assert_int_equal(fizeau_builder_build(NULL, &none, &err), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_builder_new(NULL, &b, NULL), 0);
	assert_int_equal(fizeau_builder_add(b, &nameless, 1, 1), FIZEAU_EUSAGE);
	assert_int_equal(fizeau_builder_add(b, NULL, 1, 1), FIZEAU_EUSAGE);
	fizeau_builder_fact(b, NULL, NULL);
	fizeau_builder_free(b);
	assert_int_equal(fizeau_diff_new(p, p, NULL, &d, NULL), 0);
	assert_int_equal(fizeau_diff_function(d, 0, &f), FIZEAU_EUSAGE);
	fizeau_diff_free(d);
	fizeau_profile_free(p);
}

/* A program that was compiled with an older header, or with a newer one. */
static void structs_grow(void **state)
{
	struct newer {
		struct fizeau_diff_options options;
		int more;
	} newer = { .options = { .size = sizeof(newer) } };
	struct {
		struct fizeau_diff_function f;
		int more;
	} answer = { .f = { .size = sizeof(answer) }, .more = 7 };
	struct fizeau_diff_function older = { .size = offsetof(struct fizeau_diff_function, line),
					      .line = 77 };
	struct fizeau_profile *p = load("main;work 3\n");
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;

	(void)state;
	assert_int_equal(fizeau_diff_new(p, p, &newer.options, &d, &err), 0);
	assert_int_equal(fizeau_diff_function(d, 0, &answer.f), 0);
	assert_int_equal(answer.f.size, sizeof(answer));
	assert_int_equal(answer.f.cost.base_total, 3);
	assert_int_equal(answer.more, 0);
	assert_int_equal(fizeau_diff_function(d, 0, &older), 0);
	assert_string_equal(older.name, answer.f.name);
	assert_int_equal(older.line, 77);
	fizeau_diff_free(d);
	newer.more = 1;
	d = NULL;
	assert_int_equal(fizeau_diff_new(p, p, &newer.options, &d, &err), FIZEAU_EUNSUPPORTED);
	assert_null(d);
	fizeau_profile_free(p);
}

static void settings_have_effects(void **state)
{
	struct fizeau_diff_options options = { .size = sizeof(options), .run_delta = 0.5 };
	struct fizeau_profile *base = build(200, "app"), *head = build(300, "app");
	struct fizeau_run_verdict run = { .size = sizeof(run) };
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;

	(void)state;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, &err), 0);
	assert_int_equal(fizeau_diff_run_verdict(d, &run), 0);
	assert_int_equal(run.word, FIZEAU_RUN_SAME);
	fizeau_diff_free(d);
	options.run_delta = 1e-6;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, &err), 0);
	assert_int_equal(fizeau_diff_run_verdict(d, &run), 0);
	assert_int_equal(run.word, FIZEAU_RUN_UNKNOWN);
	fizeau_diff_free(d);
	options.delta = 2;
	assert_int_equal(fizeau_diff_new(base, head, &options, &d, &err), FIZEAU_EUSAGE);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

/* The same bytes as in a file, also where they hold zeros. */
static void reports_in_memory(void **state)
{
	static const char *const formats[] = { "json", "collapsed", "fz" };
	struct fizeau_profile *p = load("main;work 3\n"), *again = NULL;
	struct fizeau_error err;
	char *data = NULL;
	size_t size = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		assert_int_equal(fizeau_profile_write_memory(p, formats[i], &data, &size, &err), 0);
		assert_true(size > 0 && data[size] == 0);
		if (i > 0) {
			assert_int_equal(
				fizeau_profile_load_memory(data, size, "again", &again, &err), 0);
			assert_int_equal(fizeau_profile_total(again), 3);
			fizeau_profile_free(again);
		}
		fizeau_free(data);
	}
	assert_int_equal(fizeau_profile_write_memory(p, "tree", &data, &size, &err), 0);
	assert_non_null(strstr(data, "100.0 %         3  "));
	fizeau_free(data);
	assert_int_equal(fizeau_profile_write_memory(p, "pdf", &data, &size, &err), FIZEAU_EUSAGE);
	fizeau_profile_free(p);
}

static void assert_written(const struct fizeau_profile *p, const char *format, const char *part)
{
	char *data = NULL;
	size_t size = 0;

	assert_int_equal(fizeau_profile_write_memory(p, format, &data, &size, NULL), 0);
	if (!strstr(data, part))
		fail_msg("%s: no '%s' in %s", format, part, data);
	fizeau_free(data);
}

/* Like those of fizeau-replay(1): reports have the cost of one run, recordings that of all runs. */
static void reports_are_of_one_run(void **state)
{
	struct fizeau_profile *p = build(200, "app");
	int64_t all = fizeau_profile_total(p);
	char *data = NULL;
	size_t size = 0;

	(void)state;
	assert_int_equal(fizeau_profile_run_count(p), 4);
	assert_int_equal(all, 12000000);
	assert_written(p, "text", "12,000 samples of 4 runs, 3.00 ms of CPU time per run");
	assert_written(p, "json", "\"total\": 3000000,");
	assert_int_equal(fizeau_profile_write_memory(p, "fz", &data, &size, NULL), 0);
	struct fizeau_profile *again = NULL;
	assert_int_equal(fizeau_profile_load_memory(data, size, "again", &again, NULL), 0);
	assert_int_equal(fizeau_profile_total(again), all);
	assert_written(p, "collapsed", "main");
	/* Writing changes nothing. */
	assert_int_equal(fizeau_profile_total(p), all);
	assert_written(p, "text", "3.00 ms of CPU time per run");
	fizeau_free(data);
	fizeau_profile_free(again);
	fizeau_profile_free(p);
}

/* CPython's formats leave out what could not be read, as with fizeau-replay(1). */
static void unreadable_samples_are_left_out(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *own = hand_profile("main;work 3\n", 1000);
	uint32_t marker = fz_profile_frame_named(own, FZ_STR("[unreadable]"), FZ_STR(""),
						 FZ_NO_LINE, FZ_KIND_MARKER);
	struct fz_sample sample = { .stack = fz_profile_stack(own, FZ_NONE, marker), .count = 2 };
	char *data = NULL;
	size_t size = 0;

	(void)state;
	fz_profile_add_sample(own, &sample, NULL);
	struct fizeau_profile *p = through(own);
	assert_written(p, "text", "[unreadable]");
	assert_int_equal(fizeau_profile_write_memory(p, "collapsed", &data, &size, NULL), 0);
	assert_non_null(strstr(data, "work"));
	assert_null(strstr(data, "[unreadable]"));
	fizeau_free(data);
	fizeau_profile_free(p);
}

/* A file for Python's pstats module, as with -o, not the table for a terminal: a marshalled dict.
 */
static void pstats_are_a_file(void **state)
{
	struct fizeau_profile *p = build(200, "app");
	char *data = NULL;
	size_t size = 0;

	(void)state;
	assert_int_equal(fizeau_profile_write_memory(p, "pstats", &data, &size, NULL), 0);
	assert_true(size > 1 && (data[0] & 0x7f) == '{');
	fizeau_free(data);
	fizeau_profile_free(p);
}

/* As difffolded.pl writes them, unless a scale was chosen. */
static void folded_diffs_are_scaled_on_request(void **state)
{
	struct fizeau_profile *p = load("main;work 3\n");
	struct fizeau_diff_options options = { .size = sizeof(options) };
	static const char *const expected[] = { "main;work 3 3\n", "main;work 6 3\n" };

	(void)state;
	for (int scaled = 0; scaled < 2; scaled++) {
		struct fizeau_diff *d = NULL;
		char *data = NULL;
		size_t size = 0;

		options.base_units = scaled ? 1 : 0;
		options.head_units = scaled ? 2 : 0;
		assert_int_equal(fizeau_diff_new(p, p, &options, &d, NULL), 0);
		assert_int_equal(fizeau_diff_write_memory(d, "folded", &data, &size, NULL), 0);
		assert_non_null(strstr(data, expected[scaled]));
		fizeau_free(data);
		fizeau_diff_free(d);
	}
	fizeau_profile_free(p);
}

/* A sanitizer would end the process itself. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static jmp_buf host;

static void out_of_memory(size_t bytes)
{
	longjmp(host, bytes > 1 << 20 ? 1 : 2);
}

/* The host hears of it before anything ends. */
static void memory_runs_out(void **state)
{
	volatile size_t too_much = SIZE_MAX / 4;

	(void)state;
	fizeau_on_out_of_memory(out_of_memory);
	int heard = setjmp(host);
	if (!heard)
		free(fz_malloc(too_much));
	fizeau_on_out_of_memory(NULL);
	assert_int_equal(heard, 1);
}

static void version_is_the_headers(void **state)
{
	char version[32];

	(void)state;
	snprintf(version, sizeof(version), "%d.%d.%d", FIZEAU_VERSION_MAJOR, FIZEAU_VERSION_MINOR,
		 FIZEAU_VERSION_PATCH);
	assert_string_equal(version, fizeau_version());
}

/* glibc's setlocale never frees what it allocates for LOCPATH. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:__argz_add_sep\n";
}

/* A language whose numbers have a comma, made here if it is not installed; NULL: that cannot be. */
static const char *comma_locale(char *folder)
{
	char command[256];

	if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		return "de_DE.UTF-8";
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/said 2>&1", folder, folder);
	int status = system(command);
	setenv("LOCPATH", folder, 1);
	return status == 0 && setlocale(LC_NUMERIC, "de_DE.UTF-8") ? "de_DE.UTF-8" : NULL;
}

static char *text_of(const char *path)
{
	static char text[1 << 22];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return strdup(text);
}

/* Reports are the same bytes under every language of the host, which stays as it was. */
static void numbers_have_decimal_points(void **state)
{
	static const char *const formats[] = { "json", "svg", "html", "text", "speedscope" };
	char path[] = "/tmp/fz-unit-XXXXXX", folder[] = "/tmp/fz-unit-XXXXXX", command[64];
	const char *language = comma_locale(folder);
	struct fizeau_error err;

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; language && i < sizeof(formats) / sizeof(formats[0]); i++) {
		char *texts[2][2] = { 0 };
		for (int comma = 0; comma < 2; comma++) {
			setlocale(LC_NUMERIC, comma ? language : "C");
			struct fizeau_profile *a = build(200, "app"), *b = build(300, "app");
			struct fizeau_diff *d;
			assert_int_equal(fizeau_diff_new(a, b, NULL, &d, &err), 0);
			if (fizeau_profile_write(a, formats[i], path, &err) == 0)
				texts[comma][0] = text_of(path);
			if (fizeau_diff_write(d, formats[i], path, &err) == 0)
				texts[comma][1] = text_of(path);
			fizeau_diff_free(d);
			fizeau_profile_free(a);
			fizeau_profile_free(b);
			assert_string_equal(localeconv()->decimal_point, comma ? "," : ".");
		}
		for (int k = 0; k < 2; k++) {
			assert_true(!texts[0][k] == !texts[1][k]);
			if (texts[0][k])
				assert_string_equal(texts[0][k], texts[1][k]);
			free(texts[0][k]);
			free(texts[1][k]);
		}
	}
	setlocale(LC_NUMERIC, "C");
	unlink(path);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	if (!language)
		skip();
}

/* ---- functions that are taken for one, stacks that are folded, costs below 0 ---- */

static struct fizeau_diff *compare_with(const struct fizeau_profile *base,
					const struct fizeau_profile *head, const char *const *maps,
					const char *const *renames)
{
	struct fizeau_diff_options options = {
		.size = sizeof(options), .maps = maps, .renames = renames, .no_rename = 1
	};
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;

	if (fizeau_diff_new(base, head, &options, &d, &err))
		fail_msg("%s", err.message);
	return d;
}

static enum fizeau_state state_of(const struct fizeau_diff *d, const char *name)
{
	struct fizeau_diff_function f = { .size = sizeof(f) };

	for (size_t i = 0; fizeau_diff_function(d, i, &f) == 0; i++)
		if (strcmp(f.name, name) == 0)
			return f.state;
	fail_msg("no function %s", name);
	return FIZEAU_COMMON;
}

static void functions_are_mapped_and_renamed(void **state)
{
	(void)state;
	struct fizeau_profile *base = load("main;parse_1 3\nmain;load 2\n");
	struct fizeau_profile *head = load("main;parse_2 4\nmain;read 2\n");
	char map[] = "load=read", rename[] = "parse_[0-9]=parse";
	struct fizeau_diff *d = compare_with(base, head, NULL, NULL);

	assert_int_equal(state_of(d, "parse_2"), FIZEAU_NEW);
	assert_int_equal(state_of(d, "read"), FIZEAU_NEW);
	fizeau_diff_free(d);
	d = compare_with(base, head, (const char *const[]){ map, NULL },
			 (const char *const[]){ rename, NULL });
	memset(map, 'x', sizeof(map) - 1); /* not kept */
	memset(rename, 'x', sizeof(rename) - 1);
	assert_int_equal(state_of(d, "parse"), FIZEAU_COMMON);
	assert_int_equal(state_of(d, "read"), FIZEAU_COMMON);
	char *text;
	size_t size;
	assert_int_equal(fizeau_diff_write_memory(d, "json", &text, &size, NULL), 0);
	assert_non_null(strstr(text, "parse_[0-9]=parse"));
	fizeau_free(text);
	fizeau_diff_free(d);
	fizeau_profile_free(base);
	fizeau_profile_free(head);
}

static void rules_are_checked(void **state)
{
	(void)state;
	static const char *const bad_map[] = { "no equals sign", NULL };
	static const char *const bad_rename[] = { "good=one", "(=x", NULL };
	const struct fizeau_diff_options wrong[] = {
		{ .size = sizeof(wrong[0]), .maps = bad_map },
		{ .size = sizeof(wrong[0]), .renames = bad_rename },
		{ .size = sizeof(wrong[0]),
		  .match = FIZEAU_MATCH_EXACT,
		  .renames = (const char *const[]){ "good=one", NULL } },
	};
	struct fizeau_profile *p = load("a 1\n");
	struct fizeau_diff *d = NULL;
	struct fizeau_error err;

	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++) {
		assert_int_equal(fizeau_diff_new(p, p, &wrong[i], &d, &err), FIZEAU_EUSAGE);
		assert_null(d);
	}
	fizeau_profile_free(p);
}

static void recursion_is_folded(void **state)
{
	(void)state;
	struct fizeau_profile *p = load("main;walk;visit;walk;visit 3\nmain;walk;leaf 1\n");
	char *text;
	size_t size;

	assert_int_equal(fizeau_profile_fold_recursion(p, NULL), 0);
	assert_int_equal(fizeau_profile_write_memory(p, "collapsed", &text, &size, NULL), 0);
	assert_string_equal(text, "main;walk;visit 3\nmain;walk;leaf 1\n");
	assert_int_equal(fizeau_profile_total(p), 4);
	fizeau_free(text);
	fizeau_profile_free(p);
	assert_int_equal(fizeau_profile_fold_recursion(NULL, NULL), FIZEAU_EUSAGE);
}

/* The same as from a file of another tool with such costs. */
static void costs_below_zero(void **state)
{
	(void)state;
	static const struct fizeau_frame frames[] = { { "main", NULL, 0 }, { "give", NULL, 0 } };
	const struct fizeau_builder_options memory = { .size = sizeof(memory),
						       .metric = "memory",
						       .unit = "bytes" };
	static const char *const formats[] = { "text", "collapsed" };
	struct fizeau_builder *b;
	struct fizeau_profile *built, *loaded;
	char *file, *texts[2];
	size_t size, sizes[2];
	struct fizeau_error err;

	assert_int_equal(fizeau_builder_new(&memory, &b, NULL), 0);
	assert_int_equal(fizeau_builder_add(b, frames, 1, 100), 0);
	assert_int_equal(fizeau_builder_add(b, frames, 2, -40), 0);
	assert_int_equal(fizeau_builder_build(b, &built, NULL), 0);
	assert_int_equal(fizeau_profile_write_memory(built, "pprof", &file, &size, NULL), 0);
	assert_int_equal(fizeau_profile_load_memory(file, size, "p", &loaded, NULL), 0);
	assert_int_equal(fizeau_profile_total(built), 60);
	assert_int_equal(fizeau_profile_total(loaded), 60);
	for (size_t i = 0; i < FZ_ARRAY_LEN(formats); i++) {
		struct fizeau_profile *of[] = { built, loaded };
		for (size_t k = 0; k < 2; k++)
			if (fizeau_profile_write_memory(of[k], formats[i], &texts[k], &sizes[k],
							&err))
				fail_msg("%s: %s", formats[i], err.message);
		assert_int_equal(sizes[0], sizes[1]);
		assert_memory_equal(texts[0], texts[1], sizes[0]);
		fizeau_free(texts[0]);
		fizeau_free(texts[1]);
	}
	fizeau_free(file);
	fizeau_profile_free(built);
	fizeau_profile_free(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_the_headers),
		cmocka_unit_test(null_is_not_an_object),
		cmocka_unit_test(structs_grow),
		cmocka_unit_test(settings_have_effects),
		cmocka_unit_test(reports_in_memory),
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(numbers_have_decimal_points),
		cmocka_unit_test(walk_a_profile),
		cmocka_unit_test(walk_a_diff),
		cmocka_unit_test(a_built_profile_is_judged),
		cmocka_unit_test(profiles_merge),
		cmocka_unit_test(functions_are_mapped_and_renamed),
		cmocka_unit_test(rules_are_checked),
		cmocka_unit_test(recursion_is_folded),
		cmocka_unit_test(costs_below_zero),
		cmocka_unit_test(errors_name_their_cause),
		cmocka_unit_test(reports_are_written),
		cmocka_unit_test(reports_are_of_one_run),
		cmocka_unit_test(unreadable_samples_are_left_out),
		cmocka_unit_test(pstats_are_a_file),
		cmocka_unit_test(folded_diffs_are_scaled_on_request),
		cmocka_unit_test(recordings_of_different_kinds_do_not_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
