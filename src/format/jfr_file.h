/* SPDX-License-Identifier: MIT */
/* Reads a recording of Java's Flight Recorder as values: chunks, descriptions of types, tables of
 * constants, events. jfr.c interprets events.
 *
 *   file:   chunk*                       each complete in itself
 *   chunk:  header (68 bytes), event*    {size, type, fields in the order of the type's class}
 *   events of type 0: metadata, the classes and their fields, as a tree of elements
 *             type 1: checkpoint, {class, {key, value}*}*, the constants
 *
 * A field is a value of its class, or the key of a constant; primitive classes are numbers and
 * texts. The layout follows OpenJDK's jdk.jfr.internal.consumer.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "profile/profile.h"

/* Fields that are used. */
enum fz_jfr_key {
	FZ_JFR_START_TIME,
	FZ_JFR_DURATION,
	FZ_JFR_EVENT_THREAD,
	FZ_JFR_SAMPLED_THREAD,
	FZ_JFR_STACK_TRACE,
	FZ_JFR_STATE,
	FZ_JFR_WEIGHT,
	FZ_JFR_ALLOCATION_SIZE,
	FZ_JFR_TLAB_SIZE,
	FZ_JFR_SIZE,
	FZ_JFR_SAMPLES,
	FZ_JFR_SAMPLING_PERIOD,
	FZ_JFR_LOST_SAMPLES,
	FZ_JFR_ID,
	FZ_JFR_NAME,
	FZ_JFR_VALUE,
	FZ_JFR_PID,
	FZ_JFR_JAVA_ARGUMENTS,
	FZ_JFR_TRUNCATED,
	FZ_JFR_FRAMES,
	FZ_JFR_METHOD,
	FZ_JFR_LINE_NUMBER,
	FZ_JFR_TYPE,
	FZ_JFR_DESCRIPTOR,
	FZ_JFR_DESCRIPTION,
	FZ_JFR_STRING,
	FZ_JFR_OS_NAME,
	FZ_JFR_OS_THREAD_ID,
	FZ_JFR_JAVA_NAME,
	FZ_JFR_JAVA_THREAD_ID,
	FZ_JFR_KEYS
};

struct fz_jfr_field {
	uint64_t type;  /* id of its class */
	uint32_t class; /* index of its class */
	uint8_t key;    /* enum fz_jfr_key; FZ_JFR_KEYS: not used */
	bool constant;  /* the value is a constant's key */
	bool array;     /* a count, followed by that many values */
	double ns; /* nanoseconds per unit, of a time in a fixed unit; 0: ticks, or not a time */
};

struct fz_jfr_class {
	struct fz_str name;
	uint64_t id;
	uint32_t first, count; /* fields */
	uint8_t primitive;     /* private to jfr_file.c */
	struct fz_map pool;    /* key of a constant -> offset of its value in the chunk */
};

/* Release with fz_jfr_release. */
struct fz_jfr {
	struct fz_profile *p; /* memory counts towards its limit */
	const char *name;     /* of the file */
	struct fz_str file;
	size_t next; /* in the file: the chunk after this one */
	uint64_t dropped_bytes;
	/* of the chunk */
	struct fz_str chunk;
	size_t at; /* of the next event */
	int64_t start_unix_ns, duration_ns;
	uint64_t start_ticks, ticks_per_second;
	bool packed;           /* integers have variable length */
	struct fz_arena arena; /* names of classes */
	struct fz_jfr_class *classes;
	uint32_t class_count, class_cap;
	struct fz_jfr_field *fields;
	uint32_t field_count, field_cap;
	struct fz_map class_of; /* id -> index */
	uint32_t string_class;  /* FZ_NONE: none */
};

/* The fields of one value. A number is the value or a constant's key; `at` is the offset of the
 * value. */
struct fz_jfr_record {
	struct {
		const struct fz_jfr_field *field; /* NULL: no such field */
		int64_t number;
		size_t at;
	} of[FZ_JFR_KEYS];
};

struct fz_jfr_event {
	uint32_t class;
	size_t at, end; /* of its fields */
};

void fz_jfr_init(struct fz_jfr *j, struct fz_profile *p, const char *name, struct fz_str file);
void fz_jfr_release(struct fz_jfr *j);
/* Starts the next chunk. Returns 1, 0 at the end, or a negative code. Unreadable parts of a chunk
 * are counted in dropped_bytes. */
int fz_jfr_next_chunk(struct fz_jfr *j, struct fz_error *err);
/* Iterate over the chunk's events, without those that describe it. */
void fz_jfr_rewind(struct fz_jfr *j);
bool fz_jfr_next_event(struct fz_jfr *j, struct fz_jfr_event *ret);
bool fz_jfr_read_event(struct fz_jfr *j, const struct fz_jfr_event *e, struct fz_jfr_record *ret);
/* Reads the constant that the key of a field refers to; false if the chunk lacks it. */
bool fz_jfr_read_constant(struct fz_jfr *j, const struct fz_jfr_field *f, int64_t key,
			  struct fz_jfr_record *ret);
/* Iterate over the values of an array, starting with its `at`. */
bool fz_jfr_array(struct fz_jfr *j, size_t *at, uint64_t *ret_count);
bool fz_jfr_read_item(struct fz_jfr *j, const struct fz_jfr_field *f, size_t *at,
		      struct fz_jfr_record *ret);
/* Appends a field's text, if any, also of a constant that wraps a text (a symbol). */
void fz_jfr_text(struct fz_jfr *j, const struct fz_jfr_record *r, enum fz_jfr_key key,
		 struct fz_buf *to);
/* A duration in nanoseconds, or a time in nanoseconds since the chunk's first tick. */
double fz_jfr_ns(const struct fz_jfr *j, const struct fz_jfr_record *r, enum fz_jfr_key key);
