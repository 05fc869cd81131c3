/* SPDX-License-Identifier: MIT */
/* Writes to a file from a separate thread, so that callers never wait for a busy disk.
 *
 *   fz_write_behind_add(w, block, n);                returns at once
 *   if ((errno = fz_write_behind_error(w))) ...      result of writes so far
 *   if ((errno = fz_write_behind_finish(w))) ...     everything is written, or failed
 *
 * Writes are in order. After a failure no further writes are attempted.
 */
#pragma once

#include "base.h"

struct fz_write_behind;

/* Truncates fd, which the caller owns and must keep open. */
struct fz_write_behind *fz_write_behind_new(int fd);
/* Copies the data. Only blocks while FZ_WRITE_BEHIND_MOST bytes are pending. */
void fz_write_behind_add(struct fz_write_behind *w, const void *p, size_t n);
/* The errno of the failed write, or 0. */
int fz_write_behind_error(struct fz_write_behind *w);
/* The same, after waiting for pending writes. */
int fz_write_behind_wait(struct fz_write_behind *w);
/* The same; nothing may be added after it. */
int fz_write_behind_finish(struct fz_write_behind *w);
/* Finishes; NULL is allowed. */
void fz_write_behind_free(struct fz_write_behind *w);

enum { FZ_WRITE_BEHIND_MOST = 64 << 20 };
