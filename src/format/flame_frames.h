/* SPDX-License-Identifier: MIT */
/* The frames of a flame graph as folded lines, which the reader of folded text interprets. For
 * readers of images and pages. */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

struct fz_flame_frame {
	struct fz_str name;
	const char *suffix; /* mark of its kind in folded text, such as "_[k]"; NULL: none */
	uint32_t parent;    /* lower than its own index */
	uint64_t self;
};

struct fz_flame_frames {
	struct fz_flame_frame *list; /* the first is the root, which is not a function */
	uint32_t n, cap;
	struct fz_str unit; /* of the numbers; unknown ones and "samples" are like folded text's */
	double factor;      /* of the numbers, usually 1 */
};

/* Adds the samples to a profile. The root's own samples become the marker [not drawn]. */
int fz_flame_frames_read(const struct fz_flame_frames *f, struct fz_input *in, struct fz_profile *p,
			 struct fz_error *err);
