/* SPDX-License-Identifier: MIT */
/* Does the same work on two objects at once, such as the two sides of a comparison.
 *
 *   fz_both(load, &base, &head);
 *
 * Most of that work waits for memory, so a second processor halves the time. The work must not
 * write shared data, so that the result does not depend on the order.
 */
#pragma once

#include "base.h"

/* Returns when both are done. Signals go to the caller's thread only. */
void fz_both(void (*work)(void *arg), void *first, void *second);
