/* SPDX-License-Identifier: MIT */
/* Writing to a file from a thread of its own, so that a disk that is busy holds up nobody.
 *
 *   fz_write_behind_add(w, block, n);                at once, whatever the disk does
 *   if ((errno = fz_write_behind_error(w))) ...      what became of writes so far
 *   if ((errno = fz_write_behind_finish(w))) ...     everything is written, or nothing more will be
 *
 * Writes reach the file in their order. After one that failed no other is tried.
 */
#pragma once

#include "base.h"

struct fz_write_behind;

/* fd stays the caller's and must outlive it. What a file held before goes first. */
struct fz_write_behind *fz_write_behind_new(int fd);
/* Copies. Waits only for a file that takes nothing while FZ_WRITE_BEHIND_MOST bytes wait. */
void fz_write_behind_add(struct fz_write_behind *w, const void *p, size_t n);
/* The errno of the write that failed, or 0. */
int fz_write_behind_error(struct fz_write_behind *w);
/* The same once nothing waits any more. */
int fz_write_behind_wait(struct fz_write_behind *w);
/* The same; nothing may be added after it. */
int fz_write_behind_finish(struct fz_write_behind *w);
/* Finishes; NULL is allowed. */
void fz_write_behind_free(struct fz_write_behind *w);

enum { FZ_WRITE_BEHIND_MOST = 64 << 20 };
