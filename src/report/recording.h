/* SPDX-License-Identifier: MIT */
/* The entry of a recording in a list, from its facts. */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

enum { FZ_RECORDING_WORD = 16 };

/* "wall", "count", "bench": what is compared with what. All return `out`. */
const char *fz_recording_kind(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* A recorder that was killed left no end. */
bool fz_recording_is_cut(const struct fz_profile *p);
/* "ok", "exit 3", "SIGSEGV", "cut". */
const char *fz_recording_ending(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* "3c82fae", with a "+" when the checkout held changes that were not committed. */
const char *fz_recording_commit(const struct fz_profile *p, char out[FZ_RECORDING_WORD]);
/* "3 runs, 1 failed: app.py --fast": without what is the same for all, the interpreter and folders.
 */
void fz_recording_command(const struct fz_profile *p, struct fz_buf *out);
