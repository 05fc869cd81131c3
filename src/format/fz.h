/* SPDX-License-Identifier: MIT */
/* Writes the native recording during sampling. docs/format.md describes the layout.
 *
 * The recorder interns strings, functions, frames, stacks and threads in an ordinary profile and
 * passes samples to the writer, which does not keep them: each block of the file has the table
 * entries and samples since the previous one. Blocks are compressed, checksummed and written by
 * fz_file_writer_flush, which the recorder calls at least once a second: kill -9 loses only data
 * after the last flush.
 */
#pragma once

#include "base/error.h"
#include "profile/profile.h"

struct fz_file_writer;

/* Overwrites fd, which the writer does not close, from its own thread, so a busy disk does not
 * interrupt the recording. The profile must outlive the writer and have its metrics; facts,
 * sources, runs and quality may change until fz_file_writer_finish. */
struct fz_file_writer *fz_file_writer_new(int fd, struct fz_profile *p);
/* Adds a sample; never fails. Memory grows until the next flush, which is automatic at 64 Ki
 * samples; a write error is reported by the next explicit flush. */
void fz_file_writer_add(struct fz_file_writer *w, const struct fz_sample *s,
			const int64_t *weights);
/* The same for a measurement of the machine's speed. */
void fz_file_writer_add_probe(struct fz_file_writer *w, const struct fz_speed_probe *probe);
/* The same for a wake-up of a thread by another. */
void fz_file_writer_add_wake(struct fz_file_writer *w, const struct fz_wake *wake);
/* Fails if earlier data could not be written. */
int fz_file_writer_flush(struct fz_file_writer *w, struct fz_error *err);
/* The same, and waits until all earlier data is in the file, which can then be read like one whose
 * writer was killed. */
int fz_file_writer_save(struct fz_file_writer *w, struct fz_error *err);
/* Writes facts, sources, runs, quality and the end mark; returns when the file is complete. */
int fz_file_writer_finish(struct fz_file_writer *w, struct fz_error *err);
void fz_file_writer_free(struct fz_file_writer *w);
