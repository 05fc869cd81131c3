/* SPDX-License-Identifier: MIT */
/* Shared by readers of other tools' files: frames from names, metrics from different words, and
 * conversion of numbers to int64_t.
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

/* Bytes of a file that is read completely, and of a line of one that is not. */
enum { FZ_IMPORT_FILE_MAX = 1 << 30, FZ_IMPORT_LINE_MAX = 1 << 20 };

struct fz_import_frame {
	struct fz_str name, file, module;
	int32_t first_line;   /* of the function; 0: unknown */
	int32_t line, column; /* line 0 or less: unknown; column from 1, 0: unknown */
	enum fz_kind kind;
};

/* Interns the name of a function, demangled if it is a symbol of C++ or Rust, whose hash differs
 * from build to build. */
uint32_t fz_import_name(struct fz_profile *p, struct fz_str name);
uint32_t fz_import_frame(struct fz_profile *p, const struct fz_import_frame *f);
/* Makes a frame of native code in a module. If there is a file, which is more specific and stable
 * across builds, the module is omitted. */
uint32_t fz_import_frame_in(struct fz_profile *p, const struct fz_import_frame *f,
			    struct fz_str module);
/* A module's path without " (deleted)", which Linux appends when the file is replaced or removed.
 */
struct fz_str fz_import_module(struct fz_str path);
/* Makes a frame from just an address in a module: "libc.so.6+0x1234". */
uint32_t fz_import_address(struct fz_profile *p, struct fz_str module, uint64_t address);
/* Parses name and place: "f (file.js:12:3)", "f (in libc.so)", or a name alone. The line is the
 * function's first. */
void fz_import_location(struct fz_str text, struct fz_import_frame *f);
/* Kind of a name in the file "~": a marker, or a task ("<task worker>"). */
enum fz_kind fz_import_special(struct fz_str name);
/* Kind of code in a file or shared object: Python, kernel, native; else `other`. */
enum fz_kind fz_import_kind(struct fz_str file, struct fz_str module, enum fz_kind other);

/* Our metric for other tools' type and unit: "cpu" in "nanoseconds", "Ir", "cycles:u" ... */
struct fz_import_metric {
	struct fz_str name, unit;
	double scale; /* our units per unit of theirs */
};

struct fz_import_metric fz_import_metric(struct fz_str type, struct fz_str unit);
/* From the unit alone, for speedscope: "seconds" is wall time. */
struct fz_import_metric fz_import_unit(struct fz_str unit);
/* Adds a metric; a duplicate name gets a number ("cpu 2"). FZ_NONE if there are too many. */
uint32_t fz_import_add_metric(struct fz_profile *p, const struct fz_import_metric *m, int64_t each,
			      bool has_column);

/* Returns v * scale, rounded; NaN becomes 0, too large values the largest that reports can add. */
int64_t fz_import_scaled(double v, double scale);
/* The same for integers, exact if scale is an integer. */
int64_t fz_import_scaled_int(int64_t v, double scale);
/* Number of samples in a row of n of them, which is below 0 in a difference of profiles; at
 * least 1.
 */
uint32_t fz_import_count(int64_t n);
/* The same for a row of a file that has none: a cost that is a whole number of periods is that
 * many; else 1. period: in the unit of the cost; 0: unknown. */
uint32_t fz_import_periods(int64_t cost, int64_t period);
/* Passes each line of a text to `take`, until that fails or the profile exceeds its limits. */
int fz_import_lines(struct fz_input *in, struct fz_profile *p, size_t longest,
		    int (*take)(void *arg, struct fz_str line, struct fz_error *err), void *arg,
		    struct fz_error *err);
/* Appends a sample's label to its set (struct fz_sample). A label that cannot be written as a pair,
 * or makes the set larger than FZ_IMPORT_LABELS_MAX bytes, gets no key, so it is invalid. */
enum { FZ_IMPORT_LABELS_MAX = 64 << 10 };
void fz_import_keep_label(struct fz_buf *set, struct fz_str key, struct fz_str value);
/* Notes that the file is truncated and the profile incomplete. */
void fz_import_note_cut(struct fz_profile *p);
/* Converts a line or column number of a file; invalid ones become 0. */
int32_t fz_import_line(int64_t v);
