/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the Firefox Profiler writer: gecko.c, gecko_markers.c, gecko_tables.c. */
#pragma once

#include "base/io.h"
#include "base/json.h"
#include "profile/profile.h"

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

/* ---- writing ---- */

enum { FZ_GECKO_OPCODES_MAX = 256 };

struct fz_gecko_writer {
	const struct fz_profile *p;
	struct fz_output *out;
	struct fz_json j;
	struct fz_gecko_known known;
	int32_t *lines;      /* of functions */
	int64_t *offset;     /* start of each run, ns; runs follow one another */
	int64_t end;         /* time of the last run's last sample */
	bool weighted;       /* samples differ in weight */
	bool weight_time;    /* the weights are in ns */
	uint32_t *string_id; /* of the profile's strings; FZ_NONE: not used yet */
	uint32_t *strings;   /* by id */
	uint32_t string_count;
	uint32_t main_thread;

	/* of one thread: local numbers, FZ_NONE: not used by it */
	uint32_t *stack_id, *frame_id, *function_id, *resource_id;
	uint32_t *stacks, *frames, *functions, *resources; /* by local number */
	uint32_t stack_n, frame_n, function_n, resource_n;
};

/* Id of a marker's name, of an instruction's name. */
uint32_t fz_gecko_marker_string(struct fz_gecko_writer *w, enum fz_gecko_marker marker);
uint32_t fz_gecko_opcode_string(struct fz_gecko_writer *w, uint8_t opcode);
/* Write the strings used: "stringArray" of the open object. */
void fz_gecko_write_strings(struct fz_gecko_writer *w);

struct fz_gecko_opcode {
	char title[128]; /* "LOAD_ATTR_INSTANCE_VALUE (LOAD_ATTR)", or only the base */
	char base[64];   /* "LOAD_ATTR", or "<200>" if unknown */
	bool specialised;
};
struct fz_gecko_opcode fz_gecko_opcode(const struct fz_gecko_writer *w, uint8_t opcode);

/* A column of n nulls or of n equal values; a table's object with its length. */
void fz_gecko_nulls(struct fz_gecko_writer *w, const char *name, uint32_t n);
void fz_gecko_constants(struct fz_gecko_writer *w, const char *name, uint32_t n, int64_t v);
void fz_gecko_open_table(struct fz_gecko_writer *w, const char *name);
void fz_gecko_close_table(struct fz_gecko_writer *w, uint64_t n);

/* Number what the rows' stacks use, then write the tables from stackTable to nativeSymbols. */
void fz_gecko_add_used(struct fz_gecko_writer *w, const size_t *rows, size_t n);
void fz_gecko_write_tables(struct fz_gecko_writer *w);
