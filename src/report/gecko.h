/* SPDX-License-Identifier: MIT */
/* A profile for the Firefox Profiler (profiler.firefox.com): its processed format, version 57. */
#pragma once

#include "base/io.h"
#include "base/json.h"
#include "profile/profile.h"

int fz_report_gecko(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);

/* Indices of the categories, in the order in which they are written. */
enum fz_gecko_category {
	FZ_GECKO_OTHER,
	FZ_GECKO_PYTHON,
	FZ_GECKO_NATIVE,
	FZ_GECKO_GC,
	FZ_GECKO_GIL,
	FZ_GECKO_CPU,
	FZ_GECKO_CODE_TYPE,
	FZ_GECKO_OPCODES,
	FZ_GECKO_EXCEPTION,
};

/* ---- markers: what a thread was doing when, from the status of its samples ---- */

/* Names of markers; the writer maps them to the file's strings. */
enum fz_gecko_marker {
	FZ_GECKO_HAS_GIL,
	FZ_GECKO_NO_GIL,
	FZ_GECKO_WAITS_FOR_GIL,
	FZ_GECKO_ON_CPU,
	FZ_GECKO_OFF_CPU,
	FZ_GECKO_PYTHON_CODE,
	FZ_GECKO_NATIVE_CODE,
	FZ_GECKO_HAS_EXCEPTION,
	FZ_GECKO_NO_EXCEPTION,
	FZ_GECKO_COLLECTING,
	FZ_GECKO_MARKERS
};

struct fz_gecko_interval {
	uint8_t marker; /* enum fz_gecko_marker */
	int64_t from, to;
};

/* Which states the samples of a profile record. */
struct fz_gecko_known {
	bool status, cpu;
	bool *collecting; /* by stack: it contains a <GC> frame */
};

const char *fz_gecko_marker_name(enum fz_gecko_marker marker);
enum fz_gecko_category fz_gecko_marker_category(enum fz_gecko_marker marker);

void fz_gecko_known_init(struct fz_gecko_known *k, const struct fz_profile *p);
void fz_gecko_known_release(struct fz_gecko_known *k);
/* Intervals of a thread whose samples are the n rows in order of time; `end`: the end of the
 * recording. Sorted by start, then marker; freed by the caller. */
struct fz_gecko_interval *fz_gecko_intervals(const struct fz_profile *p,
					     const struct fz_gecko_known *k, const size_t *rows,
					     const int64_t *times, size_t n, int64_t end,
					     size_t *ret_n);

/* A thread at one instruction of its innermost frame. */
struct fz_gecko_step {
	uint32_t frame;
	int64_t from, to;
};

/* Steps in order of time; frames without an opcode are left out. Freed by the caller. */
struct fz_gecko_step *fz_gecko_steps(const struct fz_profile *p, const size_t *rows,
				     const int64_t *times, size_t n, int64_t end, size_t *ret_n);
