/* SPDX-License-Identifier: MIT */
/* Reads the block of facts of a .fz: settings, quality, runs, names of threads. */
#include "fz_reader.h"

enum { FACTS_MAX = 4000 /* searched one by one */ };

static bool read_quality(struct fz_quality *q, struct fz_cursor *c)
{
	struct fz_quality read = { .known = fz_cursor_u8(c) };

	read.taken = fz_cursor_varint(c);
	read.retried = fz_cursor_varint(c);
	read.missed = fz_cursor_varint(c);
	read.longest_gap_ns = fz_cursor_zigzag(c);
	read.dropped_bytes = fz_cursor_varint(c);
	uint64_t n = fz_cursor_varint(c);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t v = fz_cursor_varint(c);
		/* Unknown reasons count as impossible values. */
		read.rejected[FZ_MIN(i, (uint64_t)FZ_REJECT_CORRUPT)] += v;
	}
	if (!c->bad)
		*q = read;
	return !c->bad;
}

static void read_flags(struct fz_profile *p, int64_t flags)
{
	p->recording.complete = flags & FZ_FZ_COMPLETE;
	p->recording.reconstructed = flags & FZ_FZ_RECONSTRUCTED;
	p->samples.ordered = !(flags & FZ_FZ_UNORDERED);
	p->samples.timed = !(flags & FZ_FZ_UNTIMED);
	p->samples.spans = flags & FZ_FZ_SPANS;
}

static double read_double(struct fz_cursor *c)
{
	uint64_t bits = fz_cursor_u64(c);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void read_fact(struct fz_profile *p, struct fz_cursor *c)
{
	struct fz_str key = fz_file_text(c);

	if (c->bad || memchr(key.p, '\0', key.n) || p->fact_count >= FACTS_MAX)
		return;
	fz_auto(fz_free_ptr) char *name = fz_strndup(key.p, key.n);
	fz_profile_set_fact(p, name, fz_file_rest(c));
}

/* FZ_MAX would evaluate the read twice. */
static int64_t read_natural(struct fz_cursor *c)
{
	int64_t v = fz_cursor_zigzag(c);

	return FZ_MAX(v, 0);
}

/* Files of earlier versions end before this. */
static void read_outcome(struct fz_run *run, struct fz_cursor *c)
{
	struct fz_load load;
	int64_t *const times[] = { &load.ran_ns,    &load.waited_ns, &load.used_ns,
				   &load.others_ns, &load.stolen_ns, &load.machine_ns };
	uint8_t outcome = fz_cursor_u8(c);
	int64_t status = fz_cursor_zigzag(c);

	for (size_t i = 0; i < FZ_ARRAY_LEN(times); i++)
		*times[i] = read_natural(c);
	load.unsampled_ns = fz_cursor_left(c) ? read_natural(c) : 0;
	if (c->bad || outcome >= FZ_OUTCOMES || status < INT32_MIN || status > INT32_MAX)
		return;
	run->outcome = (enum fz_outcome)outcome;
	run->status = (int32_t)status;
	run->load = load;
}

static void read_run(struct fz_profile *p, struct fz_cursor *c)
{
	uint32_t index = fz_cursor_varint32(c, UINT16_MAX);
	struct fz_run run = { .start_unix_ns = fz_cursor_zigzag(c) };

	run.duration_ns = fz_cursor_zigzag(c);
	if (c->bad)
		return;
	if (fz_cursor_left(c))
		read_outcome(&run, c);
	while (p->run_count <= index)
		fz_profile_add_run(p, &(struct fz_run){ 0 });
	p->runs[index] = run;
}

static void read_thread_name(struct fz_profile *p, const struct fz_file_table *threads,
			     struct fz_cursor *c)
{
	uint32_t index = fz_file_translate(threads, fz_cursor_varint(c));
	bool is_main = fz_cursor_u8(c);

	if (c->bad || index == FZ_NONE)
		return;
	struct fz_thread t = p->threads[index];
	t.is_main = is_main;
	t.name = fz_profile_string(p, fz_file_rest(c));
	fz_profile_thread(p, &t);
}

static void read_field(struct fz_profile *p, const struct fz_file_table *threads, uint64_t tag,
		       struct fz_cursor *c)
{
	struct fz_recording *to = &p->recording;

	switch (tag) {
	case FZ_FZ_MODE: {
		int64_t mode = fz_cursor_zigzag(c);
		to->mode = mode >= 0 && mode <= FZ_MODE_EXCEPTION ? (enum fz_mode)mode
								  : FZ_MODE_UNKNOWN;
		break;
	}
	case FZ_FZ_FEATURES:
		to->features_known = true;
		to->features = (unsigned)fz_cursor_zigzag(c);
		break;
	case FZ_FZ_INTERVAL:
		to->interval_ns = read_natural(c);
		break;
	case FZ_FZ_DURATION:
		to->duration_ns = read_natural(c);
		break;
	case FZ_FZ_PYTHON:
		for (size_t i = 0; i < sizeof(to->python); i++)
			to->python[i] = fz_cursor_u8(c);
		break;
	case FZ_FZ_FLAGS:
		read_flags(p, fz_cursor_zigzag(c));
		break;
	case FZ_FZ_ERROR_RATE:
		to->error_rate = read_double(c);
		break;
	case FZ_FZ_MISSED_RATE:
		to->missed_rate = read_double(c);
		break;
	case FZ_FZ_ACHIEVED_HZ:
		to->achieved_hz = read_double(c);
		break;
	case FZ_FZ_QUALITY:
		read_quality(&p->quality, c);
		break;
	case FZ_FZ_SKIPPED_LINES:
		p->skipped_lines = (uint32_t)fz_cursor_zigzag(c);
		break;
	case FZ_FZ_FACT:
		read_fact(p, c);
		break;
	case FZ_FZ_RUN:
		read_run(p, c);
		break;
	case FZ_FZ_THREAD:
		read_thread_name(p, threads, c);
		break;
	}
}

bool fz_file_read_facts(struct fz_profile *p, const struct fz_file_table *threads,
			struct fz_cursor *c)
{
	bool listed = false;

	while (!c->bad && fz_cursor_left(c)) {
		uint64_t tag = fz_cursor_varint(c), n = fz_cursor_varint(c);
		const uint8_t *bytes = fz_cursor_bytes(c, n);
		if (!bytes)
			return false;
		struct fz_cursor field = fz_cursor_of(bytes, n);
		if (tag == FZ_FZ_FACT && !listed) {
			p->fact_count = 0;
			listed = true;
		}
		read_field(p, threads, tag, &field);
	}
	return !c->bad;
}
