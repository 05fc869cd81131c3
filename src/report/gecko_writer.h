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
	int64_t *offset;     /* of runs, ns: they follow one another */
	int64_t end;         /* of the last run's last sample */
	bool weighted;       /* samples do not all stand for the same */
	bool weight_time;    /* and their weight is in ns */
	uint32_t *string_id; /* of the profile's strings; FZ_NONE: not used yet */
	uint32_t *strings;   /* by id */
	uint32_t string_count;
	uint32_t main_thread;

	/* of one thread: local numbers, FZ_NONE where it has no use */
	uint32_t *stack_id, *frame_id, *function_id, *resource_id;
	uint32_t *stacks, *frames, *functions, *resources; /* by local number */
	uint32_t stack_n, frame_n, function_n, resource_n;
};

/* Id of a string of the profile, of a marker's name, of an instruction's. */
uint32_t fz_gecko_string(struct fz_gecko_writer *w, uint32_t string);
uint32_t fz_gecko_marker_string(struct fz_gecko_writer *w, enum fz_gecko_marker marker);
uint32_t fz_gecko_opcode_string(struct fz_gecko_writer *w, uint8_t opcode);
/* All that were asked for: "stringArray" of the open object. */
void fz_gecko_write_strings(struct fz_gecko_writer *w);

struct fz_gecko_opcode {
	char title[128]; /* "LOAD_ATTR_INSTANCE_VALUE (LOAD_ATTR)", or base */
	char base[64];   /* "LOAD_ATTR", or "<200>" when it is not known */
	bool specialised;
};
struct fz_gecko_opcode fz_gecko_opcode(const struct fz_gecko_writer *w, uint8_t opcode);

/* A column of n nulls, of n times the same; a table's object with its length. */
void fz_gecko_nulls(struct fz_gecko_writer *w, const char *name, uint32_t n);
void fz_gecko_constants(struct fz_gecko_writer *w, const char *name, uint32_t n, int64_t v);
void fz_gecko_open_table(struct fz_gecko_writer *w, const char *name);
void fz_gecko_close_table(struct fz_gecko_writer *w, uint64_t n);

/* Number what the rows' stacks use, then write it: stackTable to nativeSymbols. */
void fz_gecko_take_used(struct fz_gecko_writer *w, const size_t *rows, size_t n);
void fz_gecko_write_tables(struct fz_gecko_writer *w);
