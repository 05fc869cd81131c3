/* SPDX-License-Identifier: MIT */
/* Reads recordings of Java's Flight Recorder, by the JVM and by async-profiler.
 *
 *   jfr_file.c    bytes -> chunks, constants, events
 *   jfr_stacks.c  keys of a chunk -> stacks and threads
 *   here          events -> samples
 *
 * Each event with a cost is a row of one metric. The weight of an execution sample is in the
 * settings, which are events too and read first. Rows are collected in a list until all metrics are
 * known, and then sorted by time, because each thread has its own buffer.
 */
#include "format.h"
#include "import.h"
#include "jfr_file.h"
#include "jfr_stacks.h"

/* In order of preference as main metric. */
enum metric {
	CPU,
	WALL,
	SAMPLES,
	NATIVE_SAMPLES,
	ALLOCATED,
	ALLOCATED_TLAB,
	LIVE,
	MALLOC,
	BLOCKED,
	PARKED,
	NATIVE_LOCK,
	METRICS
};

static const struct {
	const char *name, *unit;
} metrics[METRICS] = {
	[CPU] = { "cpu", "ns" },
	[WALL] = { "wall", "ns" },
	[SAMPLES] = { "samples", "count" },
	[NATIVE_SAMPLES] = { "native_samples", "count" },
	[ALLOCATED] = { "allocated", "bytes" },
	[ALLOCATED_TLAB] = { "allocated", "bytes" },
	[LIVE] = { "live", "bytes" },
	[MALLOC] = { "malloc", "bytes" },
	[BLOCKED] = { "blocked", "ns" },
	[PARKED] = { "parked", "ns" },
	[NATIVE_LOCK] = { "native_lock", "ns" },
};

/* Cost of an event: a field, times in nanoseconds, or 1. The second field is used if the first is
 * absent or 0. */
static const struct event {
	const char *type;
	enum metric metric;
	enum fz_jfr_key weight, other; /* FZ_JFR_KEYS: none */
} events[] = {
	{ "jdk.ExecutionSample", SAMPLES, FZ_JFR_KEYS, FZ_JFR_KEYS },
	{ "jdk.NativeMethodSample", NATIVE_SAMPLES, FZ_JFR_KEYS, FZ_JFR_KEYS },
	{ "jdk.CPUTimeSample", CPU, FZ_JFR_SAMPLING_PERIOD, FZ_JFR_KEYS },
	{ "profiler.WallClockSample", WALL, FZ_JFR_KEYS, FZ_JFR_KEYS },
	{ "jdk.ObjectAllocationSample", ALLOCATED, FZ_JFR_WEIGHT, FZ_JFR_KEYS },
	{ "jdk.ObjectAllocationInNewTLAB", ALLOCATED_TLAB, FZ_JFR_TLAB_SIZE,
	  FZ_JFR_ALLOCATION_SIZE },
	{ "jdk.ObjectAllocationOutsideTLAB", ALLOCATED_TLAB, FZ_JFR_ALLOCATION_SIZE, FZ_JFR_KEYS },
	{ "profiler.LiveObject", LIVE, FZ_JFR_ALLOCATION_SIZE, FZ_JFR_KEYS },
	{ "profiler.Malloc", MALLOC, FZ_JFR_SIZE, FZ_JFR_KEYS },
	{ "jdk.JavaMonitorEnter", BLOCKED, FZ_JFR_DURATION, FZ_JFR_KEYS },
	{ "jdk.ThreadPark", PARKED, FZ_JFR_DURATION, FZ_JFR_KEYS },
	{ "profiler.NativeLock", NATIVE_LOCK, FZ_JFR_DURATION, FZ_JFR_KEYS },
};

/* async-profiler's defaults for a setting of 0: 10 ms of CPU time, 50 ms of wall time. */
enum { DEFAULT_CPU_NS = 10000000, DEFAULT_WALL_NS = 50000000 };

struct row {
	uint32_t thread, stack;
	uint32_t order, count;
	int64_t time, weight;
	uint8_t metric, status;
};

/* Settings of a chunk. */
struct settings {
	int64_t period_ns;                      /* of jdk.ExecutionSample; 0: unknown */
	bool has_event, has_interval, has_wall; /* async-profiler's */
	int64_t interval, wall_ns;              /* 0: default */
	char event[64];
};

struct reader {
	struct fz_jfr j;
	struct fz_profile *p;
	struct fz_jfr_stacks stacks;
	struct settings settings;
	struct row *rows;
	size_t n, cap;
	uint8_t *event_of; /* class of the chunk -> index in events + 1 */
	bool used[METRICS];
	int64_t start_unix_ns, end_unix_ns;
	uint64_t lost, unknown_length;
};

/* ---- settings ---- */

/* Parses "20 ms", "1 s", "10ms"; 0 if invalid. */
static int64_t parse_span(struct fz_str s)
{
	size_t digits = 0;
	uint64_t n;

	while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	struct fz_str unit = fz_str_trimmed((struct fz_str){ s.p + digits, s.n - digits });
	if (!fz_parse_u64((struct fz_str){ s.p, digits }, INT32_MAX, &n))
		return 0;
	struct fz_import_metric m = fz_import_unit(unit);
	return fz_str_eq(m.unit, FZ_STR("ns")) ? fz_import_scaled_int((int64_t)n, m.scale) : 0;
}

static bool has_number(struct fz_str value, int64_t *ret)
{
	uint64_t n;

	if (!fz_parse_u64(value, INT64_MAX, &n))
		return false;
	*ret = (int64_t)n;
	return true;
}

/* Reads a setting of a type of event; async-profiler stores its own with types, too. */
static void read_setting(struct reader *r, const struct fz_jfr_record *e)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 }, value = { 0 };
	struct settings *s = &r->settings;
	uint32_t class = fz_map_get(&r->j.class_of, (uint64_t)e->of[FZ_JFR_ID].number);

	fz_jfr_text(&r->j, e, FZ_JFR_NAME, &name);
	fz_jfr_text(&r->j, e, FZ_JFR_VALUE, &value);
	struct fz_str key = fz_buf_view(&name), v = fz_buf_view(&value);
	bool execution = class != FZ_NONE &&
			 fz_str_eq(r->j.classes[class].name, FZ_STR("jdk.ExecutionSample"));
	if (fz_str_eq(key, FZ_STR("event")) && v.n) {
		s->has_event = true;
		fz_str_printable(v.p, v.n, s->event, sizeof(s->event));
	} else if (execution && fz_str_eq(key, FZ_STR("period"))) {
		s->period_ns = parse_span(v);
	} else if (execution && fz_str_eq(key, FZ_STR("interval"))) {
		s->has_interval = has_number(v, &s->interval);
	} else if (fz_str_eq(key, FZ_STR("wall"))) {
		s->has_wall = has_number(v, &s->wall_ns);
	}
}

static bool is_event(const struct settings *s, const char *a)
{
	return s->has_event && strcmp(s->event, a) == 0;
}

/* CPU time per sample of async-profiler, ns; 0 if it counts something else. */
static int64_t cpu_interval(const struct settings *s)
{
	static const char *const clocks[] = { "cpu", "itimer", "ctimer", "cpu-clock",
					      "task-clock" };

	for (size_t i = 0; s->has_interval && i < FZ_ARRAY_LEN(clocks); i++)
		if (is_event(s, clocks[i]))
			return s->interval ? s->interval : DEFAULT_CPU_NS;
	return 0;
}

static int64_t wall_interval(const struct settings *s)
{
	int64_t ns = s->has_wall ? s->wall_ns : is_event(s, "wall") ? s->interval : 0;

	return ns > 0 ? ns : DEFAULT_WALL_NS;
}

static void read_program(struct reader *r, const struct fz_jfr_record *e)
{
	fz_auto(fz_buf_release) struct fz_buf command = { 0 };

	fz_jfr_text(&r->j, e, FZ_JFR_JAVA_ARGUMENTS, &command);
	if (command.n)
		fz_profile_set_fact(r->p, "command", fz_buf_view(&command));
	r->stacks.pid = (uint64_t)FZ_MAX(e->of[FZ_JFR_PID].number, 0);
}

/* Reads the settings needed before the samples. */
static void read_information(struct reader *r)
{
	struct fz_jfr_record record;
	struct fz_jfr_event e;

	r->settings = (struct settings){ 0 };
	while (fz_jfr_next_event(&r->j, &e)) {
		struct fz_str type = r->j.classes[e.class].name;
		bool setting = fz_str_eq(type, FZ_STR("jdk.ActiveSetting"));
		bool program = fz_str_eq(type, FZ_STR("jdk.JVMInformation"));
		bool lost = fz_str_eq(type, FZ_STR("jdk.CPUTimeSamplesLost"));
		if (!(setting || program || lost) || !fz_jfr_read_event(&r->j, &e, &record))
			continue;
		if (setting)
			read_setting(r, &record);
		else if (program)
			read_program(r, &record);
		else
			r->lost += (uint64_t)FZ_MAX(record.of[FZ_JFR_LOST_SAMPLES].number, 0);
	}
	fz_jfr_rewind(&r->j);
}

/* ---- samples ---- */

/* Sets metric and weight of an execution sample; async-profiler marks its samples with a state that
 * the JVM does not use. */
static void weigh_execution(struct reader *r, enum fz_jfr_state state, struct row *row)
{
	const struct settings *s = &r->settings;
	bool wall = is_event(s, "wall") || s->has_wall;

	row->weight = 1;
	if (state == FZ_JFR_STATE_DEFAULT && cpu_interval(s)) {
		row->metric = CPU;
		row->weight = cpu_interval(s);
		row->status = FZ_STATUS_ON_CPU;
	} else if (wall && state != FZ_JFR_STATE_DEFAULT) {
		row->metric = WALL;
		row->weight = wall_interval(s);
	} else if (state == FZ_JFR_STATE_DEFAULT) {
		r->unknown_length++;
	}
}

static int64_t weight_of(const struct reader *r, const struct fz_jfr_record *e, enum fz_jfr_key key)
{
	if (key == FZ_JFR_KEYS || !e->of[key].field)
		return 0;
	if (key == FZ_JFR_DURATION || key == FZ_JFR_SAMPLING_PERIOD)
		return fz_import_scaled(fz_jfr_ns(&r->j, e, key), 1);
	return e->of[key].number;
}

static void weigh(struct reader *r, const struct event *event, const struct fz_jfr_record *e,
		  struct row *row)
{
	enum fz_jfr_state state = fz_jfr_stacks_state(&r->stacks, &r->j, e);

	row->metric = (uint8_t)event->metric;
	row->status = FZ_STATUS_UNKNOWN;
	row->count = 1;
	if (event->metric == SAMPLES) {
		weigh_execution(r, state, row);
	} else if (event->metric == WALL) {
		int64_t n = e->of[FZ_JFR_SAMPLES].field ? e->of[FZ_JFR_SAMPLES].number : 1;
		row->count = (uint32_t)FZ_MIN(FZ_MAX(n, 1), INT32_MAX);
		row->weight = fz_import_scaled_int(wall_interval(&r->settings), row->count);
	} else if (event->metric == NATIVE_SAMPLES) {
		row->weight = 1;
	} else {
		row->weight = weight_of(r, e, event->weight);
		if (!row->weight)
			row->weight = weight_of(r, e, event->other);
	}
	if (row->metric == WALL && state != FZ_JFR_STATE_UNKNOWN)
		row->status = state == FZ_JFR_STATE_RUNNABLE ? FZ_STATUS_ON_CPU : 0;
}

static int add_row(struct reader *r, const struct event *event, const struct fz_jfr_event *at,
		   struct fz_error *err)
{
	struct fz_jfr_record e;
	struct row row = { .order = (uint32_t)r->n };

	if (!fz_jfr_read_event(&r->j, at, &e)) {
		r->j.dropped_bytes += at->end - at->at;
		return 0;
	}
	if (r->n >= r->p->limits->samples || r->n >= UINT32_MAX)
		return fz_fail(err, FZ_ELIMIT, "%s: too many samples", r->j.name);
	weigh(r, event, &e, &row);
	row.thread = fz_jfr_stacks_thread(&r->stacks, &r->j, &e);
	row.stack = fz_jfr_stacks_stack(&r->stacks, &r->j, &e);
	double ns = fz_jfr_ns(&r->j, &e, FZ_JFR_START_TIME);
	row.time = fz_import_scaled(ns + (double)(r->j.start_unix_ns - r->start_unix_ns), 1);
	/* A wait may have begun before the recording. */
	row.time = FZ_MAX(row.time, 0);
	r->used[row.metric] = true;
	fz_profile_push(r->p, r->rows, r->n, r->cap, row);
	return r->p->over_limit ? fz_profile_check(r->p, err) : 0;
}

static void find_events(struct reader *r)
{
	free(r->event_of);
	r->event_of = fz_calloc(r->j.class_count + 1, sizeof(*r->event_of));
	for (uint32_t c = 0; c < r->j.class_count; c++)
		for (uint8_t i = 0; i < FZ_ARRAY_LEN(events); i++)
			if (fz_str_eq(r->j.classes[c].name, fz_str_of(events[i].type)))
				r->event_of[c] = i + 1;
}

static int read_chunk(struct reader *r, struct fz_error *err)
{
	struct fz_jfr_event e;
	int code = 0;

	if (!r->start_unix_ns)
		r->start_unix_ns = r->j.start_unix_ns;
	r->end_unix_ns =
		FZ_MAX(r->end_unix_ns,
		       fz_import_scaled((double)r->j.start_unix_ns + (double)r->j.duration_ns, 1));
	find_events(r);
	fz_jfr_stacks_begin(&r->stacks, r->p);
	read_information(r);
	while (!code && fz_jfr_next_event(&r->j, &e))
		if (r->event_of[e.class])
			code = add_row(r, &events[r->event_of[e.class] - 1], &e, err);
	return code;
}

/* ---- the end ---- */

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return FZ_CMP(x->time, y->time) ?: FZ_CMP(x->order, y->order);
}

/* Returns the weight of the main metric's rows as the interval, if all are equal. */
static int64_t find_interval(const struct reader *r, enum metric main)
{
	int64_t each = 0;

	if (main == SAMPLES)
		return r->settings.period_ns;
	if (main > WALL)
		return 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct row *row = &r->rows[i];
		if (row->metric != main)
			continue;
		int64_t one = row->weight / row->count;
		if (each && one != each)
			return 0;
		each = one;
	}
	return each;
}

static void add_facts(struct reader *r)
{
	struct fz_run run = { .start_unix_ns = FZ_MAX(r->start_unix_ns, 0),
			      .duration_ns = FZ_MAX(r->end_unix_ns - r->start_unix_ns, 0) };
	enum metric main = 0;

	while (main < METRICS && !r->used[main])
		main++;
	r->p->recording.interval_ns = find_interval(r, main);
	r->p->recording.duration_ns = run.duration_ns;
	r->p->quality.dropped_bytes = r->j.dropped_bytes;
	fz_profile_add_run(r->p, &run);
	if (r->unknown_length && r->settings.has_event)
		fz_profile_note(r->p, "samples are of '%s', with unknown weights",
				r->settings.event);
	if (r->lost)
		fz_profile_note(r->p, "the JVM lost %llu samples of CPU time",
				(unsigned long long)r->lost);
}

static void add_samples(struct reader *r)
{
	int64_t weights[METRICS] = { 0 };
	uint32_t metric_of[METRICS];

	for (size_t m = 0; m < METRICS; m++) {
		struct fz_import_metric metric = { fz_str_of(metrics[m].name),
						   fz_str_of(metrics[m].unit), 1 };
		if (r->used[m])
			metric_of[m] = fz_import_add_metric(r->p, &metric, 0, true);
	}
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), by_time);
	r->p->samples.timed = r->p->samples.ordered = true;
	for (size_t i = 0; i < r->n; i++) {
		const struct row *row = &r->rows[i];
		struct fz_sample s = { .thread = row->thread,
				       .stack = row->stack,
				       .time = row->time,
				       .status = row->status,
				       .count = row->count };
		weights[metric_of[row->metric]] = row->weight;
		fz_profile_add_sample(r->p, &s, weights);
		weights[metric_of[row->metric]] = 0;
	}
}

static void release(struct reader *r)
{
	fz_jfr_stacks_release(&r->stacks);
	fz_jfr_release(&r->j);
	free(r->rows);
	free(r->event_of);
}

static int fail_empty(const struct reader *r, struct fz_error *err)
{
	if (r->j.dropped_bytes)
		return fz_fail(
			err, FZ_EINPUT,
			"%s: unfinished or damaged: no readable event; a recording is complete "
			"when its program has ended or 'jcmd PID JFR.dump' has written it",
			r->j.name);
	return fz_fail(err, FZ_EINPUT,
		       "%s: no samples: record with -XX:StartFlightRecording=settings=profile",
		       r->j.name);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(release) struct reader r = { .p = p };
	int code = fz_input_read_all(in, &bytes, FZ_IMPORT_FILE_MAX, err);

	if (code)
		return code;
	fz_jfr_init(&r.j, p, fz_input_name(in), fz_buf_view(&bytes));
	while ((code = fz_jfr_next_chunk(&r.j, err)) > 0) {
		code = read_chunk(&r, err);
		if (code)
			break;
	}
	if (!code)
		code = fz_profile_check(p, err);
	if (!code && !r.n)
		code = fail_empty(&r, err);
	if (code)
		return code;
	add_facts(&r);
	add_samples(&r);
	return fz_profile_check(p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return n >= 8 && memcmp(head, "FLR", 4) == 0 ? 100 : 0;
}

const struct fz_format fz_format_jfr = {
	.name = "jfr",
	.title = "Java Flight Recorder recording, also from async-profiler",
	.suffixes = ".jfr",
	.notes = "samples, allocations and waits are metrics; all other events are dropped",
	.sniff = sniff,
	.read = read,
};
