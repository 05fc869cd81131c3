/* SPDX-License-Identifier: MIT */
/* Writing the Firefox Profiler's processed format, version 57, as CPython's --gecko does.
 *
 *   {meta, libs, threads: [{samples, markers, stackTable, frameTable, funcTable, resourceTable,
 *    nativeSymbols, ...}], pages, shared: {stringArray}}
 *
 * Viewers upgrade older versions and refuse newer ones, so the version is never raised. Tables are
 * columns and belong to a thread: the rows of the profile's tables that its samples use are
 * renumbered in order, so that a caller still comes before its callee. The output differs where
 * CPython's writer is wrong: the process is the recorded one, not the recorder; a main thread is
 * always marked; markers and code without a file are not Python functions; a thread's running state
 * is written only where it was recorded; and functions keep their whole path.
 */
#include "report/gecko.h"

#include "base/text.h"
#include "format/metric_fit.h"
#include "profile/tree.h"
#include "report/gecko_writer.h"

#include <stdio.h>

enum { VERSION = 32, PROCESSED_VERSION = 57, PHASE_INTERVAL = 1 };

/* ---- samples and markers ---- */

/* Nanoseconds as milliseconds: 1234567 is 1.234567. */
static void milliseconds(struct fz_gecko_writer *w, int64_t ns)
{
	char text[FZ_NUMBER_SIZE];
	int n = snprintf(text, sizeof(text), "%s%lld.%06d", ns < 0 ? "-" : "",
			 (long long)(ns / 1000000 < 0 ? -(ns / 1000000) : ns / 1000000),
			 abs((int)(ns % 1000000)));

	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	fz_json_raw(&w->j, (struct fz_str){ text, (size_t)n });
}

static void write_weights(struct fz_gecko_writer *w, const size_t *rows, size_t n)
{
	const struct fz_profile *p = w->p;

	fz_json_key(&w->j, "weight");
	if (!w->weighted) {
		fz_json_null(&w->j);
	} else {
		fz_json_open(&w->j, '[');
		for (size_t i = 0; i < n; i++) {
			int64_t weight = fz_sample_weight(p, p->default_metric, rows[i]);
			if (p->samples.stack[rows[i]] == FZ_NONE)
				continue;
			if (w->weight_time)
				milliseconds(w, weight);
			else
				fz_json_int(&w->j, weight);
		}
		fz_json_close(&w->j, ']');
	}
	const char *unit = p->metrics[p->default_metric].unit;
	fz_json_kstr(&w->j, "weightType",
		     fz_str_of(w->weighted && w->weight_time           ? "tracing-ms"
			       : w->weighted && !strcmp(unit, "bytes") ? "bytes"
								       : "samples"));
}

static void write_samples(struct fz_gecko_writer *w, const size_t *rows, const int64_t *times,
			  size_t n)
{
	const uint32_t *stack = w->p->samples.stack;
	uint64_t written = 0;

	fz_gecko_open_table(w, "samples");
	fz_json_kopen(&w->j, "stack", '[');
	for (size_t i = 0; i < n; i++)
		if (stack[rows[i]] != FZ_NONE)
			fz_json_int(&w->j, w->stack_id[stack[rows[i]]]);
	fz_json_close(&w->j, ']');
	fz_json_kopen(&w->j, "time", '[');
	for (size_t i = 0; i < n; i++) {
		if (stack[rows[i]] == FZ_NONE)
			continue;
		milliseconds(w, times[i]);
		written++;
	}
	fz_json_close(&w->j, ']');
	write_weights(w, rows, n);
	fz_gecko_close_table(w, written);
}

static void write_marker_data(struct fz_gecko_writer *w, const struct fz_gecko_interval *v,
			      uint64_t tid)
{
	const char *name = fz_gecko_marker_name(v->marker);
	char type[32];
	size_t n = 0;

	for (const char *c = name; *c; c++)
		if (*c != ' ')
			type[n++] = *c;
	fz_json_open(&w->j, '{');
	fz_json_kstr(&w->j, "type", (struct fz_str){ type, n });
	fz_json_key(&w->j, "duration");
	milliseconds(w, v->to - v->from);
	fz_json_kint(&w->j, "tid", (int64_t)tid);
	fz_json_close(&w->j, '}');
}

static void write_step_data(struct fz_gecko_writer *w, const struct fz_gecko_step *step)
{
	const struct fz_frame *frame = &w->p->frames[step->frame];
	struct fz_gecko_opcode op = fz_gecko_opcode(w, frame->opcode);

	fz_json_open(&w->j, '{');
	fz_json_kstr(&w->j, "type", FZ_STR("Opcode"));
	fz_json_kint(&w->j, "opcode", frame->opcode);
	fz_json_kstr(&w->j, "opname", fz_str_of(op.title));
	fz_json_kstr(&w->j, "base_opname", fz_str_of(op.base));
	fz_json_kbool(&w->j, "is_specialized", op.specialised);
	fz_json_kint(&w->j, "line", FZ_MAX(frame->line, 0));
	fz_json_key(&w->j, "column");
	if (frame->column >= 0)
		fz_json_int(&w->j, frame->column);
	else
		fz_json_null(&w->j);
	fz_json_kstr(&w->j, "function", w->p->strings[w->p->functions[frame->function].name]);
	fz_json_key(&w->j, "duration");
	milliseconds(w, step->to - step->from);
	fz_json_close(&w->j, '}');
}

/* All markers of a thread: intervals of its states, then the instructions it was at. */
struct markers {
	struct fz_gecko_interval *intervals;
	struct fz_gecko_step *steps;
	size_t interval_n, step_n;
	uint64_t tid;
};

static void write_marker_times(struct fz_gecko_writer *w, const struct markers *m)
{
	static const char *const names[] = { "startTime", "endTime" };

	for (int end = 0; end < 2; end++) {
		fz_json_kopen(&w->j, names[end], '[');
		for (size_t i = 0; i < m->interval_n; i++)
			milliseconds(w, end ? m->intervals[i].to : m->intervals[i].from);
		for (size_t i = 0; i < m->step_n; i++)
			milliseconds(w, end ? m->steps[i].to : m->steps[i].from);
		fz_json_close(&w->j, ']');
	}
}

static void write_markers(struct fz_gecko_writer *w, const struct markers *m)
{
	size_t n = m->interval_n + m->step_n;

	fz_gecko_open_table(w, "markers");
	fz_json_kopen(&w->j, "data", '[');
	for (size_t i = 0; i < m->interval_n; i++)
		write_marker_data(w, &m->intervals[i], m->tid);
	for (size_t i = 0; i < m->step_n; i++)
		write_step_data(w, &m->steps[i]);
	fz_json_close(&w->j, ']');
	fz_json_kopen(&w->j, "name", '[');
	for (size_t i = 0; i < m->interval_n; i++)
		fz_json_int(&w->j, fz_gecko_marker_string(w, m->intervals[i].marker));
	for (size_t i = 0; i < m->step_n; i++)
		fz_json_int(&w->j,
			    fz_gecko_opcode_string(w, w->p->frames[m->steps[i].frame].opcode));
	fz_json_close(&w->j, ']');
	write_marker_times(w, m);
	fz_gecko_constants(w, "phase", (uint32_t)n, PHASE_INTERVAL);
	fz_json_kopen(&w->j, "category", '[');
	for (size_t i = 0; i < m->interval_n; i++)
		fz_json_int(&w->j, fz_gecko_marker_category(m->intervals[i].marker));
	for (size_t i = 0; i < m->step_n; i++)
		fz_json_int(&w->j, FZ_GECKO_OPCODES);
	fz_json_close(&w->j, ']');
	fz_gecko_close_table(w, n);
}

/* ---- a thread ---- */

/* The recorded process if known; on Linux a main thread's id is its process's. */
static uint64_t process_of(const struct fz_gecko_writer *w, const struct fz_thread *t)
{
	return t->pid ? t->pid : w->p->threads[w->main_thread].tid;
}

static void write_identity(struct fz_gecko_writer *w, uint32_t thread)
{
	const struct fz_thread *t = &w->p->threads[thread];
	struct fz_str name = w->p->strings[t->name];
	char text[FZ_NUMBER_SIZE];

	if (!name.n) {
		snprintf(text, sizeof(text), "Thread-%llu", (unsigned long long)t->tid);
		name = fz_str_of(text);
	}
	fz_json_kstr(&w->j, "name", name);
	fz_json_kbool(&w->j, "isMainThread",
		      t->is_main || thread == w->main_thread || (t->pid && t->pid == t->tid));
	fz_json_kint(&w->j, "processStartupTime", 0);
	fz_json_key(&w->j, "processShutdownTime");
	fz_json_null(&w->j);
	fz_json_kint(&w->j, "registerTime", 0);
	fz_json_key(&w->j, "unregisterTime");
	fz_json_null(&w->j);
	fz_gecko_nulls(w, "pausedRanges", 0);
	char pid[FZ_NUMBER_SIZE];
	snprintf(pid, sizeof(pid), "%llu", (unsigned long long)process_of(w, t));
	fz_json_kstr(&w->j, "pid", fz_str_of(pid));
	fz_json_kint(&w->j, "tid", (int64_t)t->tid);
	fz_json_kstr(&w->j, "processType", FZ_STR("default"));
	fz_json_kstr(&w->j, "processName", FZ_STR("Python Process"));
}

/* Times of the samples: runs follow one another; without times, samples do. Times never decrease,
 * since the viewer could not handle that. */
static void fill_times(const struct fz_gecko_writer *w, const size_t *rows, size_t n,
		       int64_t *times)
{
	const struct fz_samples *s = &w->p->samples;
	int64_t step = w->p->recording.interval_ns > 0 ? w->p->recording.interval_ns : 1000000;
	int64_t at = 0, lasts;

	for (size_t i = 0; i < n; i++) {
		size_t row = rows[i];
		if (s->timed)
			at = FZ_MAX(at, w->offset[s->run ? s->run[row] : 0] + s->time[row]);
		times[i] = at;
		fz_assert(i == 0 || times[i - 1] <= at);
		if (!s->timed &&
		    (__builtin_mul_overflow(step, fz_sample_count(w->p, row), &lasts) ||
		     __builtin_add_overflow(at, lasts, &at)))
			at = INT64_MAX;
	}
}

static void write_thread(struct fz_gecko_writer *w, uint32_t thread, const size_t *rows, size_t n)
{
	fz_auto(fz_free_ptr) int64_t *times = fz_calloc(n + 1, sizeof(*times));
	struct markers m = { .tid = w->p->threads[thread].tid };

	fill_times(w, rows, n, times);
	fz_gecko_add_used(w, rows, n);
	int64_t end = FZ_MAX(w->end, n ? times[n - 1] : 0);
	m.intervals = fz_gecko_intervals(w->p, &w->known, rows, times, n, end, &m.interval_n);
	m.steps = fz_gecko_steps(w->p, rows, times, n, end, &m.step_n);
	fz_json_open(&w->j, '{');
	write_identity(w, thread);
	write_samples(w, rows, times, n);
	fz_gecko_write_tables(w);
	write_markers(w, &m);
	fz_json_close(&w->j, '}');
	free(m.intervals);
	free(m.steps);
}

/* Write threads in order, each with its rows in order: a counting sort. */
static void write_threads(struct fz_gecko_writer *w)
{
	const struct fz_profile *p = w->p;
	fz_auto(fz_free_ptr) size_t *first = fz_calloc(p->thread_count + 2ul, sizeof(*first));
	fz_auto(fz_free_ptr) size_t *rows = fz_calloc(p->samples.n + 1, sizeof(*rows));

	for (size_t row = 0; row < p->samples.n; row++)
		first[p->samples.thread[row] + 2]++;
	for (uint32_t i = 2; i < p->thread_count + 2; i++)
		first[i] += first[i - 1];
	for (size_t row = 0; row < p->samples.n; row++)
		rows[first[p->samples.thread[row] + 1]++] = row;
	fz_json_kopen(&w->j, "threads", '[');
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (first[i + 1] > first[i])
			write_thread(w, i, rows + first[i], first[i + 1] - first[i]);
	fz_json_close(&w->j, ']');
}

/* ---- the whole ---- */

static const struct {
	const char *name, *color;
} categories[] = {
	[FZ_GECKO_OTHER] = { "Other", "grey" },
	[FZ_GECKO_PYTHON] = { "Python", "yellow" },
	[FZ_GECKO_NATIVE] = { "Native", "blue" },
	[FZ_GECKO_GC] = { "GC", "orange" },
	[FZ_GECKO_GIL] = { "GIL", "green" },
	[FZ_GECKO_CPU] = { "CPU", "purple" },
	[FZ_GECKO_CODE_TYPE] = { "Code Type", "red" },
	[FZ_GECKO_OPCODES] = { "Opcodes", "magenta" },
	[FZ_GECKO_EXCEPTION] = { "Exception", "lightblue" },
};

static void write_categories(struct fz_gecko_writer *w)
{
	fz_json_kopen(&w->j, "categories", '[');
	for (size_t i = 0; i < FZ_ARRAY_LEN(categories); i++) {
		fz_json_open(&w->j, '{');
		fz_json_kstr(&w->j, "name", fz_str_of(categories[i].name));
		fz_json_kstr(&w->j, "color", fz_str_of(categories[i].color));
		fz_json_kopen(&w->j, "subcategories", '[');
		fz_json_str(&w->j, FZ_STR("Other"));
		fz_json_close(&w->j, ']');
		fz_json_close(&w->j, '}');
	}
	fz_json_close(&w->j, ']');
}

/* Write how the viewer shows an instruction; other markers are shown by name. */
static void write_schema(struct fz_gecko_writer *w)
{
	static const char schema[] =
		"{\"name\":\"Opcode\",\"display\":[\"marker-table\",\"marker-chart\"],"
		"\"tooltipLabel\":\"{marker.data.opname}\","
		"\"tableLabel\":\"{marker.data.opname} at line {marker.data.line}\","
		"\"chartLabel\":\"{marker.data.opname}\",\"fields\":["
		"{\"key\":\"opname\",\"label\":\"Opcode\",\"format\":\"string\"},"
		"{\"key\":\"base_opname\",\"label\":\"Base Opcode\",\"format\":\"string\"},"
		"{\"key\":\"is_specialized\",\"label\":\"Specialized\",\"format\":\"string\"},"
		"{\"key\":\"line\",\"label\":\"Line\",\"format\":\"integer\"},"
		"{\"key\":\"column\",\"label\":\"Column\",\"format\":\"integer\"},"
		"{\"key\":\"function\",\"label\":\"Function\",\"format\":\"string\"},"
		"{\"key\":\"duration\",\"label\":\"Duration\",\"format\":\"duration\"}]}";
	bool any = false;

	for (uint32_t i = 0; i < w->p->frame_count && !any; i++)
		any = w->p->frames[i].opcode != FZ_NO_OPCODE;
	fz_json_kopen(&w->j, "markerSchema", '[');
	if (any)
		fz_json_raw(&w->j, FZ_STR(schema));
	fz_json_close(&w->j, ']');
}

static void write_meta(struct fz_gecko_writer *w)
{
	const struct fz_profile *p = w->p;
	double interval = (double)p->recording.interval_ns / 1e6;
	int64_t start = p->run_count ? p->runs[0].start_unix_ns : 0;

	fz_gecko_open_table(w, "meta");
	fz_json_kdouble(&w->j, "interval", interval > 0 ? interval : 1);
	fz_json_kdouble(&w->j, "startTime", (double)start / 1e6);
	fz_json_kstr(&w->j, "misc", fz_profile_fact(p, "command"));
	fz_json_kstr(&w->j, "abi", FZ_STR(""));
	fz_json_kstr(&w->j, "oscpu", FZ_STR("Linux"));
	fz_json_kstr(&w->j, "platform", FZ_STR("Linux"));
	fz_json_kint(&w->j, "processType", 0);
	write_categories(w);
	fz_json_kint(&w->j, "stackwalk", 0);
	fz_json_kstr(&w->j, "toolkit", FZ_STR(""));
	fz_json_kint(&w->j, "version", VERSION);
	fz_json_kint(&w->j, "preprocessedProfileVersion", PROCESSED_VERSION);
	fz_json_kstr(&w->j, "appBuildID", FZ_STR(""));
	fz_json_kstr(&w->j, "CPUName", fz_profile_fact(p, "cpu"));
	fz_json_kstr(&w->j, "product", FZ_STR("Python"));
	fz_json_kbool(&w->j, "symbolicated", true);
	write_schema(w);
	fz_json_kstr(&w->j, "importedFrom", FZ_STR("Fizeau"));
	fz_gecko_open_table(w, "extensions");
	fz_gecko_nulls(w, "id", 0);
	fz_gecko_nulls(w, "name", 0);
	fz_gecko_nulls(w, "baseURL", 0);
	fz_gecko_close_table(w, 0);
	fz_json_close(&w->j, '}');
}

/* The thread marked as main, else the first one. Without a main thread the viewer shows nothing. */
static uint32_t find_main_thread(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].is_main)
			return i;
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.status[row] & FZ_STATUS_MAIN_THREAD)
			return p->samples.thread[row];
	return p->samples.n ? p->samples.thread[0] : 0;
}

static void place_runs(struct fz_gecko_writer *w)
{
	const struct fz_samples *s = &w->p->samples;
	fz_auto(fz_free_ptr) int64_t *last = fz_calloc(w->p->run_count + 1ul, sizeof(*last));
	int64_t at = 0;

	w->offset = fz_calloc(w->p->run_count + 1ul, sizeof(*w->offset));
	for (size_t row = 0; row < s->n && s->timed; row++) {
		uint16_t run = s->run ? s->run[row] : 0;
		last[run] = FZ_MAX(last[run], s->time[row]);
	}
	for (uint32_t run = 0; run < FZ_MAX(w->p->run_count, 1); run++) {
		int64_t length = run < w->p->run_count ? w->p->runs[run].duration_ns : 0;
		w->offset[run] = at;
		w->end = at + last[run];
		at += FZ_MAX(length, last[run]);
	}
}

static void writer_init(struct fz_gecko_writer *w)
{
	const struct fz_profile *p = w->p;
	const struct fz_metric *m = &p->metrics[p->default_metric];
	size_t strings = 2ul * p->string_count + FZ_GECKO_MARKERS + FZ_GECKO_OPCODES_MAX;

	fz_gecko_known_init(&w->known, p);
	w->lines = fz_profile_function_lines(p, p->default_metric);
	place_runs(w);
	w->weighted = m->column || p->samples.count;
	w->weight_time = strcmp(m->unit, "ns") == 0;
	w->main_thread = find_main_thread(p);
	w->string_id = fz_malloc(strings * sizeof(uint32_t));
	memset(w->string_id, 0xff, strings * sizeof(uint32_t));
	w->strings = fz_calloc(strings, sizeof(uint32_t));
	w->stack_id = fz_calloc(p->stack_count + 1ul, sizeof(uint32_t));
	w->stacks = fz_calloc(p->stack_count + 1ul, sizeof(uint32_t));
	w->frame_id = fz_calloc(p->frame_count + 1ul, sizeof(uint32_t));
	w->frames = fz_calloc(p->frame_count + 1ul, sizeof(uint32_t));
	w->function_id = fz_calloc(p->function_count + 1ul, sizeof(uint32_t));
	w->functions = fz_calloc(p->function_count + 1ul, sizeof(uint32_t));
	w->resource_id = fz_calloc(p->string_count + 1ul, sizeof(uint32_t));
	w->resources = fz_calloc(p->string_count + 1ul, sizeof(uint32_t));
}

static void writer_release(struct fz_gecko_writer *w)
{
	void *all[] = { w->lines,     w->offset,      w->string_id, w->strings,
			w->stack_id,  w->stacks,      w->frame_id,  w->frames,
			w->functions, w->function_id, w->resources, w->resource_id };

	for (size_t i = 0; i < FZ_ARRAY_LEN(all); i++)
		free(all[i]);
	fz_gecko_known_release(&w->known);
}

int fz_report_gecko(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	struct fz_gecko_writer w = { .p = p, .out = out };

	if (!p->metric_count)
		return fz_fail(err, FZ_EINPUT, "the profile has no metric to write");
	/* Units other than bytes must be times: the viewer would show anything else as samples. */
	double ns;
	bool bytes = strcmp(p->metrics[p->default_metric].unit, "bytes") == 0;
	int r = bytes ? 0 : fz_fit_time(p, "a Firefox profile", &ns, err);
	if (r)
		return r;
	writer_init(&w);
	fz_json_init(&w.j, out, 0);
	fz_json_open(&w.j, '{');
	write_meta(&w);
	fz_gecko_nulls(&w, "libs", 0);
	write_threads(&w);
	fz_gecko_nulls(&w, "pages", 0);
	fz_gecko_open_table(&w, "shared");
	fz_gecko_write_strings(&w);
	fz_json_close(&w.j, '}');
	fz_json_close(&w.j, '}');
	writer_release(&w);
	return 0;
}
