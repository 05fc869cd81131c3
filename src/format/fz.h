/* SPDX-License-Identifier: MIT */
/* Writing the native recording while it happens. The layout is in docs/format.md.
 *
 * The recorder interns strings, functions, frames, stacks and threads in an ordinary profile and
 * hands samples to the writer, which keeps none of them: each block that goes to the file holds
 * the table entries that are new since the last one and the samples collected meanwhile. Blocks
 * are compressed, checksummed and written by fz_file_writer_flush, which the recorder calls at
 * least once a second: kill -9 loses no more than what came after the last flush.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

struct fz_file_writer;

/* Write to fd (not closed by the writer) in place of what it held, from a thread of its own: a disk
 * that is busy is no gap in the recording. The profile must outlive the writer; its metrics must be
 * set; facts, sources, runs and quality may still change until fz_file_writer_finish. */
struct fz_file_writer *fz_file_writer_new(int fd, struct fz_profile *p);
/* Collect one sample; never fails, may grow memory until the next flush (bounded: flushes by
 * itself at 64 Ki samples; a write error is reported by the next flush). */
void fz_file_writer_add(struct fz_file_writer *w, const struct fz_sample *s,
			const int64_t *weights);
/* The same for a look at the machine's speed. */
void fz_file_writer_add_look(struct fz_file_writer *w, const struct fz_speed_look *look);
/* The same for which thread let which go on. */
void fz_file_writer_add_wake(struct fz_file_writer *w, const struct fz_wake *wake);
/* Fails when the file took none of what came before. */
int fz_file_writer_flush(struct fz_file_writer *w, struct fz_error *err);
/* The same, and returns when the file has what came before: it can be read, as one whose writer was
 * killed. */
int fz_file_writer_save(struct fz_file_writer *w, struct fz_error *err);
/* Write facts, sources, runs, quality and the end mark; returns when the file has it all. */
int fz_file_writer_finish(struct fz_file_writer *w, struct fz_error *err);
void fz_file_writer_free(struct fz_file_writer *w);
