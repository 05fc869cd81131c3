/* SPDX-License-Identifier: MIT */
/* The regular expressions of pprof's drop_frames and keep_frames, in the syntax of Go's regexp.
 * They come from untrusted files, so matching is linear in the lengths of name and pattern.
 */
#pragma once

#include "base/str.h"

struct fz_framepattern;

/* Compiles a pattern; NULL if it is too long or uses unsupported syntax (flags, \b, \p, named
 * classes). The text must outlive the pattern. */
struct fz_framepattern *fz_framepattern_new(struct fz_str text);
void fz_framepattern_free(struct fz_framepattern *p);
/* Whether the pattern matches the whole name. */
bool fz_framepattern_matches(struct fz_framepattern *p, struct fz_str name);
