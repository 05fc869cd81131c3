/* SPDX-License-Identifier: MIT */
/* A series that switches back and forth between two levels, for example because the layout of code
 * or memory is good in some builds and bad in others.
 *
 *     upper     ..  . ...      . .          no commit changed anything: the levels come back
 *     lower   ..   . .    .....   . . ..
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Least number of changes between the levels: with fewer, a series has a step, or a step that was
 * reverted. */
enum { FZ_MODES_CHANGES = 3 };

struct fz_modes {
	double boundary; /* values above it belong to the upper level */
	double gap;      /* between the levels */
	double code;     /* cost of encoding the level of each value: modes.c */
};

/* Sets *ret to the two modes that explain x[0..n) best; floor is the least variance within a mode.
 * False if there are no two modes. */
bool fz_modes_find(const double *x, size_t n, double floor, struct fz_modes *ret);
