/* SPDX-License-Identifier: MIT */
/* The check of outputs before the work begins: which format, which file, what contradicts what; and
 * the files of a recording of several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "profile/processes.h"
#include "refused.h"

static char folder[] = "/tmp/fizeau_output_XXXXXX";

static void remove_files(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			fz_auto(fz_free_ptr) char *file = fz_asprintf("%s/%s", path, e->d_name);
			if (unlink(file))
				remove_files(file);
		}
	closedir(d);
	assert_int_equal(rmdir(path), 0);
}

static int make_tmp(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 && mkdir("pages", 0755) == 0 ? 0 : -1;
}

static int remove_tmp(void **state)
{
	(void)state;
	if (chdir("/"))
		return -1;
	remove_files(folder);
	return 0;
}

#define BARE(...)                              \
	{                                      \
		.threshold = 0.05, __VA_ARGS__ \
	}
#define OUTPUT(...) BARE(.limit = FZ_CLI_LIMIT_NOT_GIVEN, .min_share = -1, __VA_ARGS__)

/* ---- refusals ---- */

struct refusal {
	struct fz_cli_output o;
	bool diff;
	const char *message;
};

static const struct refusal refusals[] = {
	{ OUTPUT(.file = ""), false, "-o requires a file name; '-' is standard output" },
	/* of comparisons */
	{ OUTPUT(.match = FZ_MATCH_NAMES), false, "--match requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.scale = FZ_SCALE_SHARE), false, "--scale requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.force = true), false, "--force requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.work = { 1, 2 }), false, "--work requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.no_rename = true), false,
	  "--no-rename-detection requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.maps = { .n = 1 }), false, "--map requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.renames = { .n = 1 }), false, "--rename requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.fold_recursion = true), false,
	  "--fold-recursion requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.table = true), false, "--table requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.verbose = true), false, "--verbose requires --diff-flamegraph BASELINE" },
	{ OUTPUT(.match = FZ_MATCH_EXACT, .renames = { .n = 1 }), true,
	  "--rename cannot be combined with --match exact" },
	{ OUTPUT(.gated = true), true, "--threshold requires --fail-on" },
	{ OUTPUT(.work = { 1, 2 }, .scale = FZ_SCALE_SHARE), true,
	  "--work requires --scale work, not share" },
	{ OUTPUT(.scale = FZ_SCALE_UNIT), true, "--scale work requires --work BASE:HEAD" },
	/* of formats */
	{ OUTPUT(.format = "pprof"), true,
	  "pprof is not a format for a diff; use one of text, tree, html, heatmap, svg, json, "
	  "csv, lines, markdown, collapsed, folded" },
	{ OUTPUT(.file = "out.xyz"), true,
	  "out.xyz: unknown suffix; select a format with --format: text, tree, html, heatmap, svg, "
	  "json, csv, lines, markdown, collapsed, folded" },
	{ OUTPUT(.file = "pages"), true,
	  "pages: is a folder; specify a file to write or use --format html" },
	{ OUTPUT(.file = "pages", .format = "text"), false,
	  "pages: is a folder; specify a file to write or a format with a default name, such as "
	  "--flamegraph" },
	{ OUTPUT(.file = "/dev/null", .format = "heatmap"), false,
	  "/dev/null: not a folder; heatmap writes index.html in a folder, or FILE.html" },
	{ OUTPUT(.source_root_n = 1), false,
	  "--source-root requires a page: add --flamegraph or --heatmap" },
	{ OUTPUT(.source_root_n = 1, .format = "html", .no_source = true), false,
	  "--source-root requires a page: add --flamegraph or --heatmap, and drop --no-source" },
	{ OUTPUT(.invert = true), false,
	  "--invert has no effect on text; use it with tree, html, svg, json, folded or "
	  "collapsed" },
	/* of tables and trees */
	{ OUTPUT(.all_frames = true), false, "--all-frames requires --tree or --format svg" },
	{ BARE(.limit = FZ_CLI_LIMIT_NOT_GIVEN), false, "--min-share requires --tree" },
	{ OUTPUT(.table = true, .format = "html"), true,
	  "--table requires --format text, not html" },
	{ OUTPUT(.verbose = true, .format = "json"), true,
	  "--verbose requires --tree or --format text, not json" },
	{ OUTPUT(.metric_line = true), false,
	  "--metric-line requires --collapsed or --format folded" },
	{ OUTPUT(.per_line = true), false, "--per-line requires --pstats" },
	{ OUTPUT(.sorted = true, .format = "html"), false,
	  "--sort requires --format text or pstats, not html" },
	{ OUTPUT(.sorted = true, .format = "html", .replays = true), false,
	  "--sort requires --format text or pstats, not html" },
	{ BARE(.limit = 5, .min_share = -1, .format = "html"), false,
	  "--limit requires --format text, tree, csv or pstats, not html" },
	{ BARE(.limit = 5, .min_share = -1, .format = "json"), true,
	  "--limit requires --format text, tree, csv or markdown, not json" },
	{ OUTPUT(.no_summary = true, .format = "json"), false,
	  "--no-summary requires --format text, tree or pstats, not json" },
	/* of selections */
	{ OUTPUT(.filter = "("), false,
	  "--filter: invalid extended regular expression '(': Unmatched ( or \\( (see regex(7))" },
	{ OUTPUT(.root = "["), false,
	  "--root: invalid extended regular expression '[': Invalid regular expression (see "
	  "regex(7))" },
	{ OUTPUT(.own = "("), false,
	  "--own: invalid extended regular expression '(': Unmatched ( or \\( (see regex(7))" },
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(refusals); i++) {
		struct fz_cli_output o = refusals[i].o;
		struct fz_error err;

		assert_refused(fz_cli_output_check(&o, refusals[i].diff, NULL, &err), err,
			       refusals[i].message);
		fz_cli_output_release(&o);
	}
}

/* A new recording has its source. */
static void test_source_root_of_recorder(void **state)
{
	struct fz_cli_output o = OUTPUT(.source_root_n = 1, .format = "html");
	const struct fz_recording planned = { 0 };
	struct fz_error err;

	(void)state;
	assert_refused(fz_cli_output_check(&o, false, &planned, &err), err,
		       "--source-root requires --diff-flamegraph; new recordings include their "
		       "source");
	fz_cli_output_release(&o);
}

static void test_outside(void **state)
{
	struct fz_cli_output o = OUTPUT(.file = "/nonexistent/a.html"),
			     b = OUTPUT(.baseline = "./missing.fz");
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_output_check(&o, false, NULL, &err), FZ_ESYSTEM);
	assert_non_null(strstr(err.message, "/nonexistent/a.html: "));
	fz_cli_output_release(&o);
	assert_true(fz_cli_output_check(&b, false, NULL, &err) < 0);
	assert_non_null(strstr(err.message, "./missing.fz: "));
	fz_cli_output_release(&b);
}

/* ---- what is accepted ---- */

static void test_choices(void **state)
{
	static const struct {
		struct fz_cli_output o;
		bool diff;
		const char *format, *path;
	} cases[] = {
		{ OUTPUT(.file = NULL), false, NULL, NULL },
		{ OUTPUT(.file = "-"), true, NULL, NULL },
		{ OUTPUT(.gated = true, .gate = FZ_GATE_REGRESSION), true, NULL, NULL },
		{ OUTPUT(.match = FZ_MATCH_NAMES, .renames = { .n = 1 }), true, NULL, NULL },
		{ OUTPUT(.file = "a.html"), false, "html", "a.html" },
		{ OUTPUT(.file = "a.html", .format = "heatmap"), false, "heatmap", "a.html" },
		{ OUTPUT(.file = "new", .format = "heatmap"), false, "heatmap", "new" },
		{ OUTPUT(.file = "a.fz"), false, "fz", "a.fz" },
		{ OUTPUT(.file = "a.pb.gz"), false, "pprof", "a.pb.gz" },
		{ OUTPUT(.file = "pages", .format = "html"), true, "html", NULL },
		{ OUTPUT(.format = "flamegraph", .invert = true), false, "html", NULL },
		{ OUTPUT(.browser = true, .replays = true), false, "html", NULL },
		{ BARE(.limit = 5, .format = "tree", .min_share = 0.5), false, "tree", NULL },
		{ BARE(.limit = 5, .format = "pstats", .sorted = true, .min_share = -1), false,
		  "pstats", NULL },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_cli_output o = cases[i].o;
		struct fz_error err;

		if (fz_cli_output_check(&o, cases[i].diff, NULL, &err))
			fail_msg("case %zu: %s", i, err.message);
		assert_true(!o.chosen == !cases[i].format);
		if (o.chosen)
			assert_string_equal(o.chosen->name, cases[i].format);
		assert_true(!o.path == !cases[i].path);
		if (o.path)
			assert_string_equal(o.path, cases[i].path);
		/* Trying leaves nothing behind. */
		assert_true(!o.path || access(o.path, F_OK) != 0);
		fz_cli_output_release(&o);
	}
}

static void test_kinds(void **state)
{
	struct fz_cli_output none = OUTPUT(.file = NULL), fz = OUTPUT(.file = "a.fz"),
			     page = OUTPUT(.format = "html");
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_output_check(&none, false, NULL, &err), 0);
	assert_int_equal(fz_cli_output_check(&fz, false, NULL, &err), 0);
	assert_true(fz_cli_output_is_default(&none) && !fz_cli_output_is_default(&fz) &&
		    !fz_cli_output_is_default(&page));
	assert_true(fz_cli_output_is_recording(&fz) && !fz_cli_output_is_recording(&none));
	fz_cli_output_release(&fz);
}

/* CPython's replay accepts options of tables with every format of its switches. */
static void test_lenient(void **state)
{
	struct fz_cli_output o =
		OUTPUT(.sorted = true, .format = "html", .replays = true, .switched = true);
	struct fz_cli_output unknown = OUTPUT(.file = "a.xyz");
	struct fz_error err;

	(void)state;
	struct heard h = hear();
	assert_int_equal(fz_cli_output_check(&o, false, NULL, &err), 0);
	assert_string_equal(heard(&h), "fizeau: warning: --sort has no effect on html, which is "
				       "not a table\n");
	h = hear();
	assert_int_equal(fz_cli_output_check(&unknown, false, NULL, &err), 0);
	assert_string_equal(heard(&h), "fizeau: a.xyz: unknown suffix; writing a file for Python's "
				       "pstats module\n");
	fz_cli_output_release(&o);
	fz_cli_output_release(&unknown);
}

/* ---- several runs ---- */

/* Read a small file. */
static const char *text_of(const char *path)
{
	static char text[500];
	FILE *f = fopen(path, "r");

	if (!f)
		return "(no file)";
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return text;
}

static void write_two_runs(const char *file)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_cli_output o = OUTPUT(.file = file);
	struct fz_thread thread = { .pid = 1, .tid = 1, .is_main = true };
	int64_t ns = 3000000;
	struct fz_error err;

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	uint32_t frame = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
	for (uint16_t run = 0; run < 2; run++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		struct fz_sample s = { .run = run,
				       .stack = fz_profile_stack(p, FZ_NONE, frame),
				       .thread = fz_profile_thread(p, &thread) };
		fz_profile_add_sample(p, &s, &ns);
	}
	assert_int_equal(fz_cli_output_check(&o, false, NULL, &err), 0);
	struct heard h = hear();
	assert_int_equal(fz_cli_output_write(&o, p, &err), 0);
	heard(&h);
	fz_cli_output_release(&o);
}

/* A recording has the cost of all runs, a report that of one. */
static void test_runs(void **state)
{
	(void)state;
	write_two_runs("runs.json");
	assert_non_null(strstr(text_of("runs.json"), "\"total\": 3000000,"));
	write_two_runs("runs.callgrind");
	assert_non_null(strstr(text_of("runs.callgrind"), " 6000000\n"));
}

/* ---- one file per process ---- */

/* Process 7, and its child 8, listed before it; 9 has no samples. */
static struct fz_profile *processes(void)
{
	static const uint64_t pids[] = { 8, 7, 9 };
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	fz_profile_set_process(p, 7, 1, FZ_STR("python3 parent.py"));
	fz_profile_set_process(p, 8, 7, FZ_STR("python3 child.py"));
	fz_profile_set_process(p, 9, 7, FZ_STR("python3 idle.py"));
	for (size_t i = 0; i < FZ_ARRAY_LEN(pids); i++) {
		char name[] = "f0";
		name[1] = (char)('0' + pids[i]);
		uint32_t frame = fz_profile_frame_named(p, fz_str_of(name), FZ_STR("app.py"), 1,
							FZ_KIND_PYTHON);
		struct fz_thread thread = { .pid = pids[i], .tid = pids[i], .is_main = true };
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, frame),
				       .thread = fz_profile_thread(p, &thread) };
		if (pids[i] != 9)
			fz_profile_add_sample(p, &s, NULL);
	}
	assert_int_equal(fz_profile_check(p, NULL), 0);
	return p;
}

static void test_wanted(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = processes();
	fz_auto(fz_profile_freep) struct fz_profile *one = fz_profile_new();
	const struct fz_report *gecko = fz_report_by_name("gecko");
	struct fz_cli_output o = OUTPUT(.switched = true, .chosen = gecko);

	(void)state;
	assert_true(fz_cli_per_process_wanted(&o, p));
	assert_false(fz_cli_per_process_wanted(&o, one));
	o.file = "-";
	assert_false(fz_cli_per_process_wanted(&o, p));
	o.file = NULL;
	o.baseline = "a.fz";
	assert_false(fz_cli_per_process_wanted(&o, p));
	o.baseline = NULL;
	o.switched = false; /* --format gecko is ours: one file */
	assert_false(fz_cli_per_process_wanted(&o, p));
	o.chosen = fz_report_by_name("pstats");
	assert_true(fz_cli_per_process_wanted(&o, p));
	o.chosen = fz_report_by_name("tree"); /* which CPython has not */
	o.switched = true;
	assert_false(fz_cli_per_process_wanted(&o, p));
}

static void write_as(const char *file)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = processes();
	struct fz_cli_output o = OUTPUT(.switched = true, .format = "collapsed", .file = file);
	struct fz_error err;

	assert_int_equal(fz_cli_output_check(&o, false, NULL, &err), 0);
	struct heard h = hear();
	if (fz_cli_per_process_write(&o, p, &err))
		fail_msg("%s", err.message);
	heard(&h);
	fz_cli_output_release(&o);
}

/* The parent is the process with the given name, whichever is listed first. */
static void test_names(void **state)
{
	(void)state;
	write_as("out.txt");
	assert_non_null(strstr(text_of("out.txt"), "f7"));
	assert_null(strstr(text_of("out.txt"), "f8"));
	assert_non_null(strstr(text_of("out_8.txt"), "f8"));
	assert_string_equal(text_of("out_7.txt"), "(no file)");
	assert_string_equal(text_of("out_9.txt"), "(no file)");
	/* A dot in a folder's name or at the start does not begin a suffix. */
	assert_int_equal(mkdir("a.b", 0755), 0);
	write_as("a.b/out");
	assert_non_null(strstr(text_of("a.b/out"), "f7"));
	assert_non_null(strstr(text_of("a.b/out_8"), "f8"));
	write_as(".hidden");
	assert_non_null(strstr(text_of(".hidden_8"), "f8"));
	write_as("two.dots.txt");
	assert_non_null(strstr(text_of("two.dots_8.txt"), "f8"));
}

/* Default names have the id of their process, too, not that of the first thread. */
static void test_names_in_folder(void **state)
{
	(void)state;
	write_as("pages");
	assert_non_null(strstr(text_of("pages/collapsed_7.txt"), "f7"));
	assert_non_null(strstr(text_of("pages/collapsed_8.txt"), "f8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_source_root_of_recorder),
		cmocka_unit_test(test_outside),  cmocka_unit_test(test_choices),
		cmocka_unit_test(test_kinds),    cmocka_unit_test(test_lenient),
		cmocka_unit_test(test_runs),     cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_names),    cmocka_unit_test(test_names_in_folder),
	};

	return cmocka_run_group_tests(tests, make_tmp, remove_tmp);
}
