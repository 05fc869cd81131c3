/* SPDX-License-Identifier: MIT */
/* Marks: what a user or a program wrote on a recording's time ("deploy"). A recording has them as
 * facts, "mark.N" with the value "SECONDS TEXT", the seconds with all nine digits. */
#pragma once

#include "profile/profile.h"

enum { FZ_PROFILE_MARKS = 1000, FZ_PROFILE_MARK_TEXT = 200 /* bytes; longer texts are cut */ };

struct fz_profile_mark {
	int64_t time; /* ns since the recording began */
	struct fz_str text;
};

bool fz_is_mark_fact(struct fz_str key);
/* time from 0 on. False: there are as many as there may be, or the text is empty. */
bool fz_profile_add_mark(struct fz_profile *p, int64_t time, struct fz_str text);
/* In order of time; the caller frees *ret. Texts live as long as the profile. */
size_t fz_profile_marks(const struct fz_profile *p, struct fz_profile_mark **ret);
/* Keep those from <= time < to; times count from there. */
void fz_profile_move_marks(struct fz_profile *p, int64_t from, int64_t to);
