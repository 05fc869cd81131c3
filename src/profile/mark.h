/* SPDX-License-Identifier: MIT */
/* Marks: labels of points in a recording's time ("deploy"), set by a user or a program. Stored as
 * facts "mark.N" with the value "SECONDS TEXT", with nine decimals. */
#pragma once

#include "profile/profile.h"

enum { FZ_PROFILE_MARKS = 1000, FZ_PROFILE_MARK_TEXT = 200 /* bytes; longer texts are cut */ };

struct fz_profile_mark {
	int64_t time; /* ns since the recording began */
	struct fz_str text;
};

bool fz_is_mark_fact(struct fz_str key);
/* Adds a mark; time >= 0. False if there are FZ_PROFILE_MARKS already, or the text is empty. */
bool fz_profile_add_mark(struct fz_profile *p, int64_t time, struct fz_str text);
/* Sets *ret, which the caller frees, to the marks in order of time; returns their number. Texts
 * live as long as the profile. */
size_t fz_profile_marks(const struct fz_profile *p, struct fz_profile_mark **ret);
/* Keeps marks with from <= time < to, relative to `from`. */
void fz_profile_move_marks(struct fz_profile *p, int64_t from, int64_t to);
