/* SPDX-License-Identifier: MIT */
/* Source files as links that a terminal opens (OSC 8), around the text that names them.
 *
 *   ESC ] 8 ; ; file://HOST/srv/app/main.py ESC \  app/main.py:32  ESC ] 8 ; ; ESC \
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "compare/diff.h"

/* A place in a source file, as shown, and the function that it belongs to. */
struct fz_source_place {
	struct fz_str file;
	int32_t line; /* 0 when unknown */
	/* The function whose recorded file the link opens; NULL: no link. */
	const struct fz_profile *profile;
	uint32_t function;
};

/* Place of a function, in the head if it is on both sides. */
struct fz_source_place fz_source_place_of(const struct fz_diff *d,
					  const struct fz_diff_function *f);

/* Begin a link. False, and nothing is written, if the style has no links or the recorded file does
 * not exist on this machine. If true the link must be ended. */
bool fz_source_link_begin(const struct fz_source_place *place, const struct fz_style *style,
			  struct fz_buf *out);
void fz_source_link_end(struct fz_buf *out);
