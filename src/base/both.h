/* SPDX-License-Identifier: MIT */
/* The same work on two things at once: the two sides of a comparison.
 *
 *   fz_both(load, &base, &head);
 *
 * Most of that work waits for memory, so a second processor halves it. The work is a pure function
 * of its argument: it shares nothing that either of them writes, so that the result is the same
 * whatever comes first.
 */
#pragma once

#include "base.h"

/* Returns when both are done. Signals go to the caller's thread only. */
void fz_both(void (*work)(void *arg), void *first, void *second);
