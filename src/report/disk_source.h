/* SPDX-License-Identifier: MIT */
/* Reads source for pages from disk, for recordings without source: those of other profilers.
 *
 * A name in a profile proves nothing, and a file may have changed. So a file is shown only if it is
 * older than the recording and no recorded fact contradicts it (disk_fit.h), and it is opened only
 * if its name is that of a source file, with the rights of the recording's owner.
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
