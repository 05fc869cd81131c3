/* SPDX-License-Identifier: MIT */
/* How many simulations a test of error rates makes. Seeds are fixed, so the rates are the same in
 * every run. FZ_SIMULATE=10 makes ten times as many, for the tables of docs. Under a sanitizer a
 * tenth is enough: it checks how memory is used, and rates are asserted without one. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

static inline bool rates_count(void)
{
	return !getenv("FZ_SANITIZED");
}

static inline int repeats(int n)
{
	const char *more = getenv("FZ_SIMULATE");

	if (!rates_count())
		return n < 10 ? 1 : n / 10;
	return more ? n * atoi(more) : n;
}
