/* SPDX-License-Identifier: MIT */
/* Checks whether a text can be the source of a recorded file.
 *
 *   line                  is there, and is not blank
 *   function, of Python   is defined around the line (or is no "def", and named on it)
 *   columns (3.12 on)     begin and end at the edge of a word
 *
 * This is no proof, but few edits leave all of these unchanged.
 */
#pragma once

#include "base/buf.h"
#include "compare/outline.h"
#include "profile/profile.h"

struct fz_disk_text {
	struct fz_str text;
	bool is_python;
	uint32_t *lines; /* start offset of each line, from 0, then the end of the last */
	uint32_t line_n;
	struct fz_outline outline; /* of a Python source */
};

/* The text must outlive `t`. */
void fz_disk_text_init(struct fz_disk_text *t, struct fz_str text, bool is_python);
void fz_disk_text_release(struct fz_disk_text *t);
/* False if the text cannot be the source of a frame; appends why: "it has 40 lines, not 57". */
bool fz_disk_text_fits(const struct fz_disk_text *t, const struct fz_profile *p,
		       const struct fz_frame *frame, struct fz_buf *why);
