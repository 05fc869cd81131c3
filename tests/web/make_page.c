/* SPDX-License-Identifier: MIT */
/* Pages for the browser tests, straight from the library:
 *
 *   make_page profile IN OUT.html [option]...
 *   make_page diff BASE HEAD OUT.html [option]...       (or OUT.svg, OUT.json)
 *   options: inverted, no-source, tachyon, share, time, exact, names, force,
 *   source=FILE=TEXT_FILE, base-source=FILE=TEXT_FILE, opcodes=MINOR, base-opcodes=MINOR,
 *   gated=WORD,BASE,HEAD,BENCHMARK (what a gate decided), elsewhere=PAGE (of the last of these, by
 *   its peak bytes), counted=METRIC,UNIT (as under Valgrind), heap (of a process), judged, heatmap
 * (opens the source)
 *
 * IN "empty" is a profile without samples, "waits" one of two threads that wake each other.
 * `source` stores the text of a file in the (head)
 * profile, as a recorder does; formats of text carry none. Nor do they carry instructions: with
 * `opcodes` a line 12007 is line 7 at instruction 12 of Python 3.MINOR.
 */
#include "compare/diff.h"
#include "format/format.h"
#include "profile/cost_words.h"
#include "profile/heap_fact.h"
#include "report/html.h"
#include "report/json.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>

enum { SOURCES = 4, TEXT_MAX = 32 << 20 };

struct arguments {
	struct fz_html_options html;
	struct fz_diff_options diff;
	const char *source[FZ_SIDES][SOURCES]; /* NULL after the last */
	uint8_t minor[FZ_SIDES];
	bool benchmarks, is_heap;
	char metric[32], unit[8]; /* of what was counted; "": by those of the file */
	struct fz_html_benchmark gated[8];
	struct fz_html_gate gate;
	bool judged, svg, json;
};

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool add_source(const char *sources[SOURCES], const char *argument)
{
	int n = 0;

	while (n < SOURCES && sources[n])
		n++;
	if (n < SOURCES)
		sources[n] = argument;
	return n < SOURCES;
}

/* WORD,BASE,HEAD,NAME; a count of -1: that side does not have it */
static bool add_gated(struct arguments *a, const char *argument)
{
	struct fz_html_benchmark *b = &a->gated[a->gate.n];
	static char words[FZ_ARRAY_LEN(a->gated)][32];
	int at = 0;

	if (a->gate.n == FZ_ARRAY_LEN(a->gated) ||
	    sscanf(argument, "%31[^,],%lf,%lf,%n", words[a->gate.n], &b->count[FZ_BASE],
		   &b->count[FZ_HEAD], &at) != 3)
		return false;
	b->name = fz_str_of(argument + at);
	b->verdict = b->word = words[a->gate.n++];
	b->metric = "cycles";
	b->unit = "count";
	b->fails = strcmp(b->verdict, "slower") == 0;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		b->count[s] = b->count[s] < 0 ? NAN : b->count[s];
	b->change = b->count[FZ_HEAD] / b->count[FZ_BASE] - 1;
	b->limit = 0.02;
	b->where = fz_str_of(b->fails ? "parse > <find> +215" : "");
	b->file = b->fails ? "src/find.py" : NULL;
	b->line = 12;
	b->clock = fz_str_of(b->fails ? "wall time inconclusive" : "");
	a->gate.status = a->gate.status || b->fails;
	a->gate.headline = fz_str_of("Performance regression: 1 <slower>");
	a->gate.why = fz_str_of("test_pr takes +21.5 % instructions (limit 2.0 %)");
	a->gate.list = a->gated;
	a->html.gate = &a->gate;
	return true;
}

static bool move_gated(struct arguments *a, const char *page)
{
	struct fz_html_benchmark *b = &a->gated[a->gate.n - 1];

	if (!a->gate.n)
		return false;
	b->metric = "peak";
	b->unit = "bytes";
	b->word = b->fails ? fz_cost_words(b->metric, b->unit)->more : b->verdict;
	b->page = page;
	return true;
}

static bool parse_option(struct arguments *a, const char *text)
{
	const char *value;

	if (strcmp(text, "heatmap") == 0)
		a->html.opens_source = true;
	else if (strcmp(text, "judged") == 0)
		a->judged = true;
	else if (strcmp(text, "inverted") == 0)
		a->html.inverted = true;
	else if (strcmp(text, "no-source") == 0)
		a->html.no_source = true;
	else if (strcmp(text, "tachyon") == 0)
		a->html.palette = FZ_PALETTE_TACHYON;
	else if (strcmp(text, "share") == 0)
		a->diff.scale = FZ_SCALE_SHARE;
	else if (strcmp(text, "time") == 0)
		a->diff.scale = FZ_SCALE_TIME;
	else if (strcmp(text, "force") == 0)
		a->diff.force = true;
	else if (strcmp(text, "names") == 0)
		a->diff.match = FZ_MATCH_NAMES;
	else if (strcmp(text, "exact") == 0)
		a->diff.match = FZ_MATCH_EXACT;
	else if ((value = after(text, "source=")))
		return add_source(a->source[FZ_HEAD], value);
	else if ((value = after(text, "base-source=")))
		return add_source(a->source[FZ_BASE], value);
	else if ((value = after(text, "opcodes=")))
		a->minor[FZ_HEAD] = (uint8_t)atoi(value);
	else if ((value = after(text, "base-opcodes=")))
		a->minor[FZ_BASE] = (uint8_t)atoi(value);
	else if ((value = after(text, "gated=")))
		return add_gated(a, value);
	else if ((value = after(text, "elsewhere=")))
		return move_gated(a, value);
	else if ((value = after(text, "counted=")))
		return sscanf(value, "%31[^,],%7s", a->metric, a->unit) == 2;
	else if (strcmp(text, "heap") == 0)
		a->is_heap = true;
	else if (strcmp(text, "benchmarks") == 0)
		a->benchmarks = true;
	else
		return false;
	return true;
}

/* ---- waits ---- */

#define MS 1000000LL

static uint32_t push(struct fz_profile *p, uint32_t stack, const char *name, const char *file,
		     int32_t line, enum fz_kind kind)
{
	return fz_profile_stack(
		p, stack, fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), line, kind));
}

static void add(struct fz_profile *p, uint32_t thread, uint32_t stack, int64_t ms, int64_t lasted)
{
	struct fz_sample s = { .stack = stack, .thread = thread, .time = ms * MS };
	int64_t ns = lasted * MS;

	fz_profile_add_sample(p, &s, &ns);
}

/* main works until 10 ms, waits for the worker until 50, reports until 60; the worker sleeps from
 * 20 to 30, and waited for main before. Names are markup. */
static struct fz_profile *make_waits(void)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread threads[] = { { .pid = 1, .tid = 1, .is_main = true },
				       { .pid = 1, .tid = 2 } };

	threads[1].name = fz_profile_string(p, FZ_STR("<b>worker</b>"));
	uint32_t main = fz_profile_thread(p, &threads[0]);
	uint32_t worker = fz_profile_thread(p, &threads[1]);
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ .duration_ns = 60 * MS });
	p->recording = (struct fz_recording){ .mode = FZ_MODE_WALL,
					      .features = FZ_FEATURE_WAITS,
					      .features_known = true,
					      .interval_ns = MS,
					      .duration_ns = 60 * MS };
	uint32_t report = push(p, FZ_NONE, "<i>report</i>", "app.py", 20, FZ_KIND_PYTHON);
	uint32_t lock = push(p, report, "<lock wait>", "", FZ_NO_LINE, FZ_KIND_MARKER);
	uint32_t by = push(p, lock, "<lock released by work>", "app.py", 3, FZ_KIND_MARKER);
	uint32_t work = push(p, FZ_NONE, "work", "app.py", 3, FZ_KIND_PYTHON);
	uint32_t asks = push(p, work, "<socket wait>", "", FZ_NO_LINE, FZ_KIND_MARKER);
	asks = push(p, asks, "<woken by <i>report</i>>", "app.py", 20, FZ_KIND_MARKER);
	uint32_t nap = push(p, work, "<sleep wait>", "", FZ_NO_LINE, FZ_KIND_MARKER);
	for (int ms = 1; ms <= 10; ms++)
		add(p, main, report, ms, 1);
	add(p, main, by, 50, 40);
	for (int ms = 51; ms <= 60; ms++)
		add(p, main, report, ms, 1);
	add(p, worker, asks, 10, 10);
	for (int ms = 11; ms <= 20; ms++)
		add(p, worker, work, ms, 1);
	add(p, worker, nap, 30, 10);
	for (int ms = 31; ms <= 50; ms++)
		add(p, worker, work, ms, 1);
	fz_wakes_add(&p->wakes, &(struct fz_wake){ 10 * MS, worker, main, 0 });
	fz_wakes_add(&p->wakes, &(struct fz_wake){ 50 * MS, main, worker, 0 });
	return p;
}

static int load(const char *path, struct fz_profile **ret, struct fz_error *err)
{
	if (strcmp(path, "waits") == 0) {
		*ret = make_waits();
		return 0;
	}
	if (strcmp(path, "empty") != 0)
		return fz_format_load(path, ret, err);
	*ret = fz_profile_new();
	fz_profile_add_metric(*ret, FZ_STR("samples"), FZ_STR("count"), 1, false);
	return 0;
}

/* FILE=TEXT_FILE */
static void store_source(struct fz_profile *p, const char *argument)
{
	const char *sign = strchr(argument, '=');
	size_t n;

	if (!sign)
		return;
	char *text = fz_read_small(sign + 1, TEXT_MAX, &n);
	if (!text)
		return;
	struct fz_str file = { argument, (size_t)(sign - argument) };
	fz_profile_add_source(p, fz_profile_string(p, file), (struct fz_str){ text, n });
	free(text);
}

static void store_sources(struct fz_profile *p, const char *const sources[SOURCES])
{
	for (int i = 0; i < SOURCES && sources[i]; i++)
		store_source(p, sources[i]);
}

/* What of its lines is an instruction. */
static void part_opcodes(struct fz_profile *p, uint8_t minor)
{
	if (!minor)
		return;
	p->recording.python[0] = 3;
	p->recording.python[1] = minor;
	for (uint32_t i = 0; i < p->frame_count; i++) {
		p->frames[i].opcode = (uint8_t)(p->frames[i].line / 1000);
		p->frames[i].line %= 1000;
	}
}

/* As if a runner had counted it: the outermost functions, except "sh", are names of benchmarks. */
static void make_benchmarks(struct fz_profile *p)
{
	p->metrics[0].name = "instructions";
	fz_profile_set_fact(p, "bench", FZ_STR("yes"));
	for (uint32_t i = 0; i < p->stack_count; i++) {
		struct fz_function *f = &p->functions[p->frames[p->stacks[i].frame].function];
		if (p->stacks[i].parent == FZ_NONE &&
		    !fz_str_eq(fz_profile_text(p, f->name), FZ_STR("sh")))
			f->kind = FZ_KIND_MARKER;
	}
}

static void make_counted(const struct arguments *a, struct fz_profile *p)
{
	if (!p || !*a->metric)
		return;
	p->metrics[0].name = a->metric;
	p->metrics[0].unit = a->unit;
	fz_profile_set_fact(p, "clock", FZ_STR("instructions and memory"));
	if (a->is_heap)
		fz_profile_set_fact(p, "clock", FZ_STR(FZ_HEAP_CLOCK));
	/* Counting knows no other line of a function than its first. */
	for (uint32_t i = 0; i < p->frame_count; i++)
		p->functions[p->frames[i].function].first_line = p->frames[i].line;
}

static void write_json(const struct fz_diff *d, struct fz_output *out)
{
	fz_auto(fz_judgement_freep) struct fz_judgement *j = fz_judge(d, &FZ_JUDGE_DEFAULTS);

	fz_report_json_diff(d, j, out);
}

/* NULL where the page is to have no verdicts. */
static struct fz_judgement *judge(const struct arguments *a, const struct fz_diff *d)
{
	struct fz_judge_options how = FZ_JUDGE_DEFAULTS;

	how.paths = true;
	return a->judged && d ? fz_judge(d, &how) : NULL;
}

static int write_page(const struct arguments *a, const struct fz_profile *base,
		      const struct fz_profile *head, struct fz_output *out, struct fz_error *err)
{
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;

	if (!base)
		return (a->svg ? fz_report_svg_profile : fz_report_html_profile)(head, &a->html,
										 out, err);
	int r = fz_diff_new(base, head, &a->diff, &d, err);
	if (r)
		return r;
	if (a->json) {
		write_json(d, out);
		return 0;
	}
	struct fz_html_options o = a->html;
	fz_auto(fz_judgement_freep) struct fz_judgement *j = NULL;

	o.judgement = j = judge(a, d);
	return (a->svg ? fz_report_svg_diff : fz_report_html_diff)(d, &o, out, err);
}

static int make(const struct arguments *a, const char *const in[FZ_SIDES], const char *path,
		struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *base = NULL, *head = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = in[FZ_BASE] ? load(in[FZ_BASE], &base, err) : 0;

	if (!r)
		r = load(in[FZ_HEAD], &head, err);
	if (r)
		return r;
	if (base) {
		store_sources(base, a->source[FZ_BASE]);
		part_opcodes(base, a->minor[FZ_BASE]);
	}
	part_opcodes(head, a->minor[FZ_HEAD]);
	store_sources(head, a->source[FZ_HEAD]);
	if (a->benchmarks && base)
		make_benchmarks(base);
	if (a->benchmarks)
		make_benchmarks(head);
	make_counted(a, base);
	make_counted(a, head);
	r = fz_output_open(path, &out, err);
	if (!r)
		r = write_page(a, base, head, out, err);
	return r ? r : fz_output_close(fz_steal(out), err);
}

int main(int argc, char **argv)
{
	struct arguments a = { .html = FZ_HTML_DEFAULTS, .diff = { .cells = true, .lines = true } };
	struct fz_error err = { 0 };
	bool is_diff = argc > 1 && strcmp(argv[1], "diff") == 0;
	int files = is_diff ? 3 : 2;
	bool good = argc >= 2 + files;

	for (int i = 2 + files; good && i < argc; i++)
		good = parse_option(&a, argv[i]);
	if (!good) {
		fprintf(stderr, "usage: make_page profile IN OUT [option]...\n"
				"       make_page diff BASE HEAD OUT [option]...\n");
		return 2;
	}
	const char *in[FZ_SIDES] = { is_diff ? argv[2] : NULL, argv[is_diff ? 3 : 2] };
	a.svg = fz_str_ends(fz_str_of(argv[1 + files]), ".svg");
	a.json = fz_str_ends(fz_str_of(argv[1 + files]), ".json");
	a.diff.inverted = (a.svg || a.json) && a.html.inverted;
	a.html.labels[FZ_BASE] = in[FZ_BASE];
	a.html.labels[FZ_HEAD] = in[FZ_HEAD];
	if (make(&a, in, argv[1 + files], &err)) {
		fprintf(stderr, "make_page: %s\n", err.message);
		return 2;
	}
	return 0;
}
