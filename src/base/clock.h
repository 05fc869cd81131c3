/* SPDX-License-Identifier: MIT */
/* Clocks, in nanoseconds. */
#pragma once

#include "base.h"

#include <time.h>

/* Spans of time in nanoseconds. */
#define FZ_MS INT64_C(1000000)
#define FZ_SECOND (1000 * FZ_MS)
#define FZ_MINUTE (60 * FZ_SECOND)
#define FZ_DAY (1440 * FZ_MINUTE)

static inline int64_t fz_clock_ns(struct timespec t)
{
	return t.tv_sec * FZ_SECOND + t.tv_nsec;
}

static inline int64_t fz_clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return fz_clock_ns(t);
}

/* Monotonic time. */
static inline int64_t fz_clock_now(void)
{
	return fz_clock_read(CLOCK_MONOTONIC);
}

/* Time from now until then; 0 if that is past. */
static inline int64_t fz_clock_left(int64_t until)
{
	int64_t now = fz_clock_now();

	return FZ_MAX(until - now, 0);
}

/* Time since 1970. */
static inline int64_t fz_clock_unix(void)
{
	return fz_clock_read(CLOCK_REALTIME);
}
