/* SPDX-License-Identifier: MIT */
/* Reads source for pages from disk, for recordings without source: those of other profilers.
 *
 * A profile may name any file, and the file may have changed. So a file is shown only if it is
 * older than the recording and no recorded fact contradicts it (disk_fit.h), and it is opened only
 * if its name is that of a source file, with the rights of the recording's owner.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* Names that begin with `from`, a folder or a file, are looked up below `to` instead; an empty
 * `from` maps relative names. Such files may be newer than the recording: the user chose them. */
struct fz_source_root {
	struct fz_str from, to;
	bool used; /* set when a name began with `from` */
};

/* Add the source of its files to the profile. Call it only for a profile of which only pages are
 * drawn afterwards, because functions must be matched by recorded source alone. Appends a line to
 * `why` for files that contradict the recording. */
void fz_disk_source_add(struct fz_profile *p, struct fz_source_root *roots, uint32_t root_n,
			struct fz_buf *why);
