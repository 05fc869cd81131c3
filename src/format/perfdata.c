/* SPDX-License-Identifier: MIT */
/* Reads files of perf record.
 *
 *   perfdata_file.c    bytes -> events, records in order of time
 *   perfdata_space.c   (process, address) -> frames
 *   here               records -> samples
 *
 * Call chains must come from frame pointers. Those of --call-graph dwarf and lbr are reconstructed
 * by perf from copies of stacks and are refused, because half a stack would give a wrong tree.
 */
#include "format.h"
#include "import.h"
#include "perfdata_file.h"
#include "perfdata_space.h"
#include "perfsamples.h"

struct sample {
	uint64_t ip, id, time, period;
	uint32_t pid, tid;
	bool has_id, has_chain;
	struct fz_cursor chain;  /* of addresses */
	struct fz_cursor counts; /* of read_format */
};

struct reader {
	struct fz_perfdata f;
	struct fz_profile *p;
	struct fz_perfspace *space;
	struct fz_map comm_of; /* tid -> string */
	struct fz_perf_samples samples;
	bool timed;
};

/* ---- processes ---- */

static void read_build_id(struct reader *r, struct fz_cursor *c, struct fz_perfspace_map *m)
{
	enum { FIELD = 24, SKIP = 4 };
	fz_auto(fz_buf_release) struct fz_buf hex = { 0 };
	const uint8_t *p = fz_cursor_bytes(c, FIELD);

	if (!p)
		return;
	fz_buf_hex(&hex, p + SKIP, FZ_MIN(p[0], FIELD - SKIP));
	m->build_id = fz_profile_text(r->p, fz_profile_string(r->p, fz_buf_view(&hex)));
}

/* The contents after the header. */
static struct fz_cursor body_of(const struct fz_perfdata_record *r)
{
	return fz_cursor_of(r->p + sizeof(struct perf_event_header),
			    fz_perfdata_header(r).size - sizeof(struct perf_event_header));
}

/* {pid, tid, start, size, offset}, in MMAP2 also {device, inode, generation} or a build id,
 * {protection, flags}; then the path. */
static void read_map(struct reader *r, const struct fz_perfdata_record *record)
{
	struct perf_event_header h = fz_perfdata_header(record);
	struct fz_cursor c = body_of(record);
	struct fz_perfspace_map m = { .build_id = FZ_STR("") };
	uint32_t pid = fz_cursor_u32(&c);

	if (h.misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	fz_cursor_u32(&c);
	m.start = fz_cursor_u64(&c);
	m.size = fz_cursor_u64(&c);
	m.offset = fz_cursor_u64(&c);
	if (h.type == PERF_RECORD_MMAP2) {
		if (h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			read_build_id(r, &c, &m);
		} else {
			fz_cursor_u64(&c);
			m.inode = fz_cursor_u64(&c);
			m.generation = fz_cursor_u64(&c);
		}
		fz_cursor_u64(&c);
	}
	m.path = fz_perfdata_text(&c);
	unsigned mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (c.bad)
		return;
	if (mode == PERF_RECORD_MISC_KERNEL)
		fz_perfspace_map_kernel(r->space, &m);
	else if (mode == PERF_RECORD_MISC_USER)
		fz_perfspace_map(r->space, pid, &m);
}

static void read_comm(struct reader *r, const struct fz_perfdata_record *record)
{
	struct fz_cursor c = body_of(record);
	uint32_t pid = fz_cursor_u32(&c), tid = fz_cursor_u32(&c);
	struct fz_str name = fz_perfdata_text(&c);

	if (c.bad)
		return;
	fz_map_put(&r->comm_of, tid, fz_profile_string(r->p, name));
	if (fz_perfdata_header(record).misc & PERF_RECORD_MISC_COMM_EXEC)
		fz_perfspace_exec(r->space, pid);
}

static void read_fork(struct reader *r, const struct fz_perfdata_record *record)
{
	struct fz_cursor c = body_of(record);
	uint32_t pid = fz_cursor_u32(&c), parent = fz_cursor_u32(&c);
	uint32_t tid = fz_cursor_u32(&c), parent_tid = fz_cursor_u32(&c);

	if (c.bad)
		return;
	uint32_t comm = fz_map_get(&r->comm_of, parent_tid);
	if (comm != FZ_NONE)
		fz_map_put(&r->comm_of, tid, comm);
	if (pid != parent)
		fz_perfspace_fork(r->space, parent, pid);
}

/* ---- samples ---- */

static struct fz_cursor take(struct fz_cursor *c, uint64_t n)
{
	const uint8_t *p = n <= fz_cursor_left(c) ? fz_cursor_bytes(c, n) : NULL;

	c->bad |= !p;
	return p ? fz_cursor_of(p, n) : fz_cursor_of("", 0);
}

/* Takes the bytes of the counters' values, with the fields before them. */
static struct fz_cursor take_counts(struct fz_cursor *c, uint64_t format)
{
	unsigned each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	unsigned times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP) {
		n = fz_cursor_u64(c);
		take(c, 8 * (uint64_t)times);
		times = 0;
	}
	if (n > fz_cursor_left(c))
		c->bad = true;
	return take(c, c->bad ? 0 : 8 * (n * each + times));
}

/* Parses fields in the kernel's order, up to call chains. */
static bool parse_sample(const struct fz_perfdata_record *record, const struct perf_event_attr *a,
			 struct sample *s)
{
	struct fz_cursor c = body_of(record);
	uint64_t type = a->sample_type;

	*s = (struct sample){ .time = record->time, .period = 1 };
	s->has_id = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);
	if (!a->freq && a->sample_period)
		s->period = a->sample_period;
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->id = fz_cursor_u64(&c);
	if (type & PERF_SAMPLE_IP)
		s->ip = fz_cursor_u64(&c);
	if (type & PERF_SAMPLE_TID) {
		s->pid = fz_cursor_u32(&c);
		s->tid = fz_cursor_u32(&c);
	}
	take(&c, type & PERF_SAMPLE_TIME ? 8 : 0);
	take(&c, type & PERF_SAMPLE_ADDR ? 8 : 0);
	if (type & PERF_SAMPLE_ID)
		s->id = fz_cursor_u64(&c);
	take(&c, type & PERF_SAMPLE_STREAM_ID ? 8 : 0);
	take(&c, type & PERF_SAMPLE_CPU ? 8 : 0);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = fz_cursor_u64(&c);
	if (type & PERF_SAMPLE_READ)
		s->counts = take_counts(&c, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n = fz_cursor_u64(&c);
		s->chain = take(&c, n > fz_cursor_left(&c) ? UINT64_MAX : 8 * n);
		s->has_chain = n > 0;
	}
	return !c.bad;
}

static bool mode_of(uint64_t context, enum fz_perfspace_mode *ret)
{
	switch (context) {
	case PERF_CONTEXT_KERNEL:
		*ret = FZ_PERFSPACE_KERNEL;
		return true;
	case PERF_CONTEXT_USER:
		*ret = FZ_PERFSPACE_USER;
		return true;
	case PERF_CONTEXT_HV:
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		*ret = FZ_PERFSPACE_GUEST;
		return true;
	default:
		return false;
	}
}

static enum fz_perfspace_mode mode_of_header(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return FZ_PERFSPACE_KERNEL;
	case PERF_RECORD_MISC_USER:
		return FZ_PERFSPACE_USER;
	default:
		return FZ_PERFSPACE_GUEST;
	}
}

/* An address of a chain, and its interpretation. */
struct step {
	uint64_t address;
	enum fz_perfspace_mode mode;
	bool exact;
};

/* Lists the addresses of a chain. Marks give the mode of the following addresses; the first after a
 * mark is exact. */
static size_t list_steps(const struct sample *s, uint16_t misc, struct step *ret)
{
	struct fz_cursor c = s->chain;
	enum fz_perfspace_mode mode = mode_of_header(misc);
	bool exact = true;
	size_t n = 0;

	if (!s->has_chain) {
		ret[0] = (struct step){ s->ip, mode, true };
		return 1;
	}
	while (fz_cursor_left(&c)) {
		uint64_t address = fz_cursor_u64(&c);
		if (address >= PERF_CONTEXT_MAX) {
			exact = mode_of(address, &mode);
			continue;
		}
		ret[n++] = (struct step){ address, mode, exact };
		exact = false;
	}
	return n;
}

enum { STEPS_MAX = UINT16_MAX / 8 };

static uint32_t stack_of(struct reader *r, const struct sample *s, uint16_t misc)
{
	struct step steps[STEPS_MAX];
	uint32_t stack = FZ_NONE, n;

	for (size_t i = list_steps(s, misc, steps); i-- > 0;) {
		const uint32_t *frames = fz_perfspace_frames(r->space, s->pid, steps[i].mode,
							     steps[i].address, steps[i].exact, &n);
		for (uint32_t k = n; k-- > 0;)
			stack = fz_profile_stack(r->p, stack, frames[k]);
	}
	return stack;
}

static int add_entry(struct reader *r, const struct fz_perf_sample *e, struct fz_error *err)
{
	return fz_perf_samples_add(&r->samples, r->p, e, r->f.bytes.n + r->f.unpacked.n, r->f.name,
				   err);
}

/* Returns the increase of a counter since its last sample; event FZ_NONE if unknown. */
static struct fz_perf_sample count_since(struct reader *r, struct fz_perf_sample e, uint64_t id,
					 uint64_t value)
{
	uint32_t i = fz_map_get(&r->f.counter_of, id);

	e.event = FZ_NONE;
	if (i == FZ_NONE)
		return e;
	struct fz_perfdata_counter *counter = &r->f.counters[i];
	e.event = counter->event;
	e.period = (int64_t)FZ_MIN(value - counter->last, (uint64_t)INT64_MAX);
	counter->last = value;
	return e;
}

/* Adds the counters of a group; its leader is sampled, and the sample has the value of each
 * counter. */
static int add_counts(struct reader *r, const struct sample *s, uint64_t format,
		      struct fz_perf_sample e, struct fz_error *err)
{
	struct fz_cursor c = s->counts;
	bool group = format & PERF_FORMAT_GROUP;
	int code = 0;

	while (fz_cursor_left(&c) && !code) {
		uint64_t value = fz_cursor_u64(&c);
		if (!group && format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			fz_cursor_u64(&c);
		if (!group && format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			fz_cursor_u64(&c);
		uint64_t id = format & PERF_FORMAT_ID ? fz_cursor_u64(&c) : s->id;
		if (format & PERF_FORMAT_LOST)
			fz_cursor_u64(&c);
		struct fz_perf_sample one = count_since(r, e, id, value);
		if (one.event != FZ_NONE && one.period)
			code = add_entry(r, &one, err);
	}
	return code;
}

static uint32_t thread_of(struct reader *r, const struct sample *s)
{
	uint32_t comm = fz_map_get(&r->comm_of, s->tid);
	struct fz_thread t = { .pid = s->pid,
			       .tid = s->tid,
			       .name = comm == FZ_NONE ? 0 : comm,
			       .is_main = s->pid == s->tid };

	return fz_profile_thread(r->p, &t);
}

static int read_sample(struct reader *r, const struct fz_perfdata_record *record,
		       struct fz_error *err)
{
	struct sample s;

	if (record->event == FZ_NONE) {
		r->p->skipped_lines++;
		return 0;
	}
	const struct perf_event_attr *a = &r->f.events[record->event].attr;
	if (!parse_sample(record, a, &s)) {
		r->f.dropped += fz_perfdata_header(record).size;
		return 0;
	}
	struct fz_perf_sample e = { .thread = thread_of(r, &s),
				    .stack = stack_of(r, &s, fz_perfdata_header(record).misc),
				    .event = record->event,
				    .time = (int64_t)FZ_MIN(s.time, (uint64_t)INT64_MAX),
				    .period = (int64_t)FZ_MIN(s.period, (uint64_t)INT64_MAX) };
	r->timed &= !!(a->sample_type & PERF_SAMPLE_TIME);
	if (a->sample_type & PERF_SAMPLE_READ && s.has_id)
		return add_counts(r, &s, a->read_format, e, err);
	return add_entry(r, &e, err);
}

static int read_records(struct reader *r, struct fz_error *err)
{
	int code = 0;

	for (size_t i = 0; i < r->f.n && !code; i++) {
		const struct fz_perfdata_record *record = &r->f.records[i];
		switch (fz_perfdata_header(record).type) {
		case PERF_RECORD_MMAP:
		case PERF_RECORD_MMAP2:
			read_map(r, record);
			break;
		case PERF_RECORD_COMM:
			read_comm(r, record);
			break;
		case PERF_RECORD_FORK:
			read_fork(r, record);
			break;
		default:
			code = read_sample(r, record, err);
		}
		if (!code && r->p->over_limit)
			code = fz_profile_check(r->p, err);
	}
	return code;
}

/* ---- the end ---- */

/* Whether an event has a period; a tracepoint counts once per sample. */
static bool has_period(const struct perf_event_attr *a)
{
	return a->type != PERF_TYPE_TRACEPOINT &&
	       (a->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ) || !a->freq);
}

/* Adds a metric for each event in order of first samples; FZ_NONE for events without samples. */
static int add_metrics(struct reader *r, uint32_t *metric_of, double *scale, struct fz_error *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->f.event_n; i++)
		metric_of[i] = FZ_NONE;
	for (size_t i = 0; i < r->samples.n; i++) {
		uint32_t e = r->samples.list[i].event;
		if (metric_of[e] != FZ_NONE)
			continue;
		if (n == FZ_PERF_EVENTS_MAX)
			return fz_fail(err, FZ_ELIMIT, "%s: more than %d events", r->f.name,
				       FZ_PERF_EVENTS_MAX);
		const struct fz_perfdata_event *event = &r->f.events[e];
		scale[n] = fz_perf_add_event(r->p, event->name, has_period(&event->attr));
		metric_of[e] = n++;
	}
	return 0;
}

static int add_samples(struct reader *r, struct fz_error *err)
{
	double scale[FZ_METRICS_MAX] = { 0 };
	fz_auto(fz_free_ptr) uint32_t *metric_of =
		fz_reallocarray(NULL, r->f.event_n, sizeof(*metric_of));
	int code = add_metrics(r, metric_of, scale, err);

	if (!code)
		fz_perf_samples_finish(&r->samples, r->p, metric_of, scale, r->timed);
	return code;
}

static void read_facts(struct reader *r)
{
	fz_profile_set_fact(r->p, "host", r->f.host);
	fz_profile_set_fact(r->p, "cpu", r->f.cpu);
	fz_profile_set_fact(r->p, "command", fz_buf_view(&r->f.command));
	r->p->quality.dropped_bytes = r->f.dropped;
}

/* Fails for stacks that only perf can reconstruct. */
static int check_stacks(const struct reader *r, struct fz_error *err)
{
	for (uint32_t i = 0; i < r->f.event_n; i++) {
		const struct perf_event_attr *a = &r->f.events[i].attr;
		bool dwarf = a->sample_type & PERF_SAMPLE_STACK_USER;
		bool lbr = a->sample_type & PERF_SAMPLE_BRANCH_STACK &&
			   a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
		if (dwarf || lbr)
			return fz_fail(err, FZ_EUNSUPPORTED,
				       "%s: recorded with --call-graph %s, whose stacks only perf "
				       "can unwind: use the output of 'perf script -i', or record "
				       "with --call-graph fp",
				       r->f.name, dwarf ? "dwarf" : "lbr");
	}
	return 0;
}

static int fail_empty(const struct reader *r, struct fz_error *err)
{
	if (r->f.traced)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: a processor trace without samples: use the output of 'perf "
			       "script --itrace=i'",
			       r->f.name);
	return fz_fail(err, FZ_EINPUT, "%s: no perf samples", r->f.name);
}

static void release(struct reader *r)
{
	fz_perfspace_free(r->space);
	fz_perfdata_release(&r->f);
	fz_map_release(&r->comm_of);
	fz_perf_samples_release(&r->samples);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .timed = true };
	int code = fz_perfdata_read(in, p, &r.f, err);

	if (!code)
		code = check_stacks(&r, err);
	if (code)
		return code;
	r.space = fz_perfspace_new(p, r.f.host, r.f.release);
	for (uint32_t i = 0; i < r.f.build_id_n; i++)
		fz_perfspace_build_id(r.space, r.f.build_ids[i].path, r.f.build_ids[i].hex);
	code = read_records(&r, err);
	if (!code && !r.samples.n)
		code = fail_empty(&r, err);
	if (code)
		return code;
	read_facts(&r);
	return add_samples(&r, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	(void)name;
	return n >= 8 && (!memcmp(head, "PERFILE2", 8) || !memcmp(head, "2ELIFREP", 8)) ? 100 : 0;
}

const struct fz_format fz_format_perf_data = {
	.name = "perf-data",
	.title = "recording of perf record (Linux perf)",
	.suffixes = ".data",
	.notes = "every event is a metric; symbols from this machine; no DWARF stacks",
	.sniff = sniff,
	.read = read,
};
