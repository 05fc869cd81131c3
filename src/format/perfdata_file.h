/* SPDX-License-Identifier: MIT */
/* Reads files of perf record as events and records in order of time. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

#include <linux/perf_event.h>

/* A recorded event: a counter, or a tracepoint. */
struct fz_perfdata_event {
	struct perf_event_attr attr;
	struct fz_str name; /* "cpu-clock:u"; points into the file, or to a constant */
};

/* A counter of an event; there is one for each processor. */
struct fz_perfdata_counter {
	uint32_t event;
	uint64_t last; /* value in its last sample */
};

struct fz_perfdata_record {
	uint64_t time;    /* ns of perf's clock; 0: none */
	uint32_t order;   /* in the file */
	uint32_t event;   /* FZ_NONE: unknown counter */
	const uint8_t *p; /* struct perf_event_header and its contents */
};

struct fz_perfdata_build_id {
	struct fz_str path, hex; /* hex: in the profile's strings */
};

struct fz_perfdata {
	const char *name; /* of the file */
	struct fz_profile *p;
	struct fz_input *in;
	struct fz_buf bytes, unpacked;
	struct fz_perfdata_event *events;
	uint32_t event_n, event_cap;
	struct fz_perfdata_counter *counters;
	uint32_t counter_n, counter_cap;
	struct fz_map counter_of; /* id -> its counter */
	struct fz_perfdata_record *records;
	size_t n, cap;
	struct fz_perfdata_build_id *build_ids;
	uint32_t build_id_n, build_id_cap;
	struct fz_str host, release, cpu; /* release: of the kernel; "": unknown */
	struct fz_buf command;
	uint64_t dropped; /* bytes missing in a truncated file */
	bool traced;      /* has data of a processor trace */
};

/* Reads the file into *ret, which the caller releases whatever this returns. */
int fz_perfdata_read(struct fz_input *in, struct fz_profile *p, struct fz_perfdata *ret,
		     struct fz_error *err);
void fz_perfdata_release(struct fz_perfdata *f);

static inline struct perf_event_header fz_perfdata_header(const struct fz_perfdata_record *r)
{
	struct perf_event_header h;

	memcpy(&h, r->p, sizeof(h));
	return h;
}

/* Text up to a NUL or the end. */
struct fz_str fz_perfdata_text(struct fz_cursor *c);
