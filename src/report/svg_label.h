/* SPDX-License-Identifier: MIT */
/* The label of a frame in a static picture, cut to fit. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Fit a glyph, a name and a tail into `px` pixels. Appends plain text and returns its number of
 * characters; 0 if nothing fits. */
size_t fz_svg_label(struct fz_buf *out, const char *glyph, struct fz_str name, const char *tail,
		    double px);
/* Approximate width of that many characters, in pixels. */
double fz_svg_label_width(size_t characters);
