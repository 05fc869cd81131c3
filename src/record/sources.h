/* SPDX-License-Identifier: MIT */
/* Stores the text of the source files that a program executed, as they are while it runs.
 *
 * After an edit the old text is gone, and a comparison needs both. Files are opened in the
 * target's own root and working folder. Names come from the target's memory and are not trusted:
 * a path is opened with the target's rights, not ours, and only regular text files are kept.
 */
#pragma once

#include <sys/types.h>

#include "profile/profile.h"

struct fz_sources;

struct fz_sources *fz_sources_new(struct fz_profile *p);
void fz_sources_free(struct fz_sources *s);
/* New files belong to this process from now on. If we did not start it, files that are newer than
 * the process are skipped, because it does not run their contents. */
void fz_sources_process(struct fz_sources *s, pid_t pid, bool started);
/* The same for a program that we started in this folder (NULL: ours) and that has ended. Files
 * modified after its start, in Unix nanoseconds, are skipped. */
void fz_sources_ended(struct fz_sources *s, const char *folder, int64_t start_ns);
/* Load at most one file that is new in the profile. */
void fz_sources_step(struct fz_sources *s);
/* Load all remaining files. */
void fz_sources_finish(struct fz_sources *s);
/* Set the fact "packages" (packages.h) from the files of this process. */
void fz_sources_packages(struct fz_sources *s);
/* After native code was named: add the source files that it was compiled from, as found by the last
 * process, to p. */
void fz_sources_finish_native(struct fz_sources *s, struct fz_profile *p);
