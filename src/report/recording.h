/* SPDX-License-Identifier: MIT */
/* What a recording is, and its entry in a list, from its facts. */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

enum { FZ_RECORDING_WORD = 16 };

/* "wall", "count", "bench": only recordings of the same kind are compared. These functions return
 * `out`. */
const char *fz_recording_kind(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* Was it counted by Valgrind? It then has no samples; its rows are calling contexts. */
bool fz_recording_is_counted(const struct fz_profile *p);
/* Was the recording cut short, because the recorder was killed? */
bool fz_recording_is_cut(const struct fz_profile *p);
/* "ok", "exit 3", "SIGSEGV", "cut". */
const char *fz_recording_ending(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* "3c82fae", followed by "+" if there were uncommitted changes. */
const char *fz_recording_commit(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* Append "3 runs, 1 failed: app.py --fast", without the interpreter and folders.
 */
void fz_recording_command(const struct fz_profile *p, struct fz_buf *out);
