/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the Firefox Profiler writer: gecko.c, gecko_tables.c. */
#pragma once

#include "report/gecko.h"

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

/* Id of a string of the profile, of a marker's name, of an instruction's name. */
uint32_t fz_gecko_string(struct fz_gecko_writer *w, uint32_t string);
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
void fz_gecko_take_used(struct fz_gecko_writer *w, const size_t *rows, size_t n);
void fz_gecko_write_tables(struct fz_gecko_writer *w);
