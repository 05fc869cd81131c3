/* SPDX-License-Identifier: MIT */
/* The label of a frame in a static picture, cut to fit. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Room of `px` pixels for a glyph, a name and what stands behind it. Adds what fits to out, which
 * is plain text, and returns its characters; 0: nothing fits. */
size_t fz_svg_label(struct fz_buf *out, const char *glyph, struct fz_str name, const char *tail,
		    double px);
/* How wide that many characters are, about. */
double fz_svg_label_width(size_t characters);
