/* SPDX-License-Identifier: MIT */
/* What the readers of other tools' files share: frames from names, metrics from the many words for
 * one thing, and numbers that are no int64_t yet.
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

struct fz_import_frame {
	struct fz_str name, file, module;
	int32_t first_line;   /* of the function; 0: unknown */
	int32_t line, column; /* line 0 or less: unknown; column from 1, 0: unknown */
	enum fz_kind kind;
};

uint32_t fz_import_frame(struct fz_profile *p, const struct fz_import_frame *f);
/* One of native code in a module. Where there is a file it says more, and is the same in the next
 * build's binary: then the module is not named. */
uint32_t fz_import_frame_in(struct fz_profile *p, const struct fz_import_frame *f,
			    struct fz_str module);
/* One of which only the address in a module is known: "libc.so.6+0x1234". */
uint32_t fz_import_address(struct fz_profile *p, struct fz_str module, uint64_t address);
/* Name and place from one text: "f (file.js:12:3)", "f (in libc.so)", or a name alone. The line is
 * where the function begins. */
void fz_import_location(struct fz_str text, struct fz_import_frame *f);
/* What a name in the file "~" stands for: a marker, or "<task worker>". */
enum fz_kind fz_import_special(struct fz_str name);
/* What code a file or shared object holds: Python, the kernel's, native; else `other`. */
enum fz_kind fz_import_kind(struct fz_str file, struct fz_str module, enum fz_kind other);

/* Ours for what others call a type and a unit: "cpu" in "nanoseconds", "Ir", "cycles:u" ... */
struct fz_import_metric {
	struct fz_str name, unit;
	double scale; /* our unit for one of theirs */
};

struct fz_import_metric fz_import_metric(struct fz_str type, struct fz_str unit);
/* The unit alone, as speedscope has it: "seconds" is wall time. */
struct fz_import_metric fz_import_unit(struct fz_str unit);
/* Add a metric; a name that is taken gets a number ("cpu 2"). FZ_NONE when there are too many. */
uint32_t fz_import_add_metric(struct fz_profile *p, const struct fz_import_metric *m, int64_t each,
			      bool has_column);

/* v * scale to the nearest; not a number is 0, too large is the largest that reports can add. */
int64_t fz_import_scaled(double v, double scale);
/* The same for whole numbers, exact where scale is whole. */
int64_t fz_import_scaled_int(int64_t v, double scale);
/* Give each line of a text to `take`, until it refuses one or the profile is over its limits. */
int fz_import_lines(struct fz_input *in, struct fz_profile *p, size_t longest,
		    int (*take)(void *arg, struct fz_str line, struct fz_error *err), void *arg,
		    struct fz_error *err);
/* The file ends in the middle, and what came before is the profile. */
void fz_import_note_cut(struct fz_profile *p);
/* Lines and columns of a file, whatever number it gives. */
int32_t fz_import_line(int64_t v);
