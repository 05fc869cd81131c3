/* SPDX-License-Identifier: MIT */
/* A series that goes back and forth between two levels, as that of a program does which memory or
 * code lies well for in some builds and ill in others.
 *
 *     upper     ..  . ...      . .          no commit changed anything: the levels come back
 *     lower   ..   . .    .....   . . ..
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* So often at least it changes from one to the other: fewer are a step, or a step that was taken
 * back; only then have both levels come back. */
enum { FZ_MODES_CHANGES = 3 };

struct fz_modes {
	double boundary; /* what is above it belongs to the upper level */
	double gap;      /* between the levels */
	double code;     /* what it takes to say which values are where: see modes.c */
};

/* The two modes that explain x[0..n) best; floor is the least variance within a mode. False when
 * there are no two. */
bool fz_modes_find(const double *x, size_t n, double floor, struct fz_modes *ret);
