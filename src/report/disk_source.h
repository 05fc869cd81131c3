/* SPDX-License-Identifier: MIT */
/* Source for pages, from files on disk, of recordings that hold none: other profilers'.
 *
 * A name in a profile proves nothing, and a file is what it is today. So a file is shown only when
 * it is older than the recording and nothing that was recorded contradicts it (disk_fit.h), and it
 * is opened only when it is called like source, with the rights of the recording's owner.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* Names that begin with `from`, a folder or a file, are looked up below `to` instead; "" is the
 * folder of names that are relative. Whoever says so knows the files: they may be newer. */
struct fz_source_root {
	struct fz_str from, to;
	bool used; /* set when a name began so */
};

/* Give the profile the source of its files. Only when nothing but pages is made of it any more: the
 * matching of functions must see what was recorded alone. What the user should know of files that
 * contradict the recording is appended to `why`, a line each. */
void fz_disk_source_add(struct fz_profile *p, struct fz_source_root *roots, uint32_t root_n,
			struct fz_buf *why);
