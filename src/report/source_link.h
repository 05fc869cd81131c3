/* SPDX-License-Identifier: MIT */
/* Source files as links that a terminal opens (OSC 8), around the text that names them.
 *
 *   ESC ] 8 ; ; file://HOST/srv/app/main.py ESC \  app/main.py:32  ESC ] 8 ; ; ESC \
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "compare/diff.h"

/* A place in a source file, as it is shown and whose it is. */
struct fz_source_place {
	struct fz_str file;
	int32_t line; /* 0 when unknown */
	/* The function whose recorded file the link is to; NULL: there is no link. */
	const struct fz_profile *profile;
	uint32_t function;
};

/* Of a function of either side; of both: the head's file. */
struct fz_source_place fz_source_place_of(const struct fz_diff *d,
					  const struct fz_diff_function *f);

/* Nothing is written where the style has no links, or the file that was recorded is not on this
 * machine; returns whether something was, which needs an end. */
bool fz_source_link_begin(const struct fz_source_place *place, const struct fz_style *style,
			  struct fz_buf *out);
void fz_source_link_end(struct fz_buf *out);
