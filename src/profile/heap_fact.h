/* SPDX-License-Identifier: MIT */
/* A profile of the objects of a process at one instant, which were counted and not sampled. */
#pragma once

#include "profile/profile.h"

/* The fact "clock" of such a profile. */
#define FZ_HEAP_CLOCK "heap"

static inline bool fz_profile_is_heap(const struct fz_profile *p)
{
	return fz_str_eq(fz_profile_fact(p, "clock"), FZ_STR(FZ_HEAP_CLOCK));
}
