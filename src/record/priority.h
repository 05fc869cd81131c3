/* SPDX-License-Identifier: MIT */
/* Waking up in time on a busy machine.
 *
 * A sampler that waits for a free processor wakes when the target happens to pause, and sees only
 * those moments: late samples are not only fewer but biased. Where it is allowed the sampler
 * therefore runs at the lowest real-time priority, else with the shortest time slice, which since
 * Linux 6.12 also means an earlier turn. Both are for a thread that mostly sleeps; one that uses
 * much of a core must not have them.
 */
#pragma once

enum fz_priority { FZ_PRIORITY_NORMAL, FZ_PRIORITY_SLICE, FZ_PRIORITY_REAL_TIME };
extern const char *const fz_priority_names[]; /* for the fact "priority" */

/* The best there is for this thread. What it starts afterwards does not inherit it. */
enum fz_priority fz_priority_raise(void);
/* Back to the ordinary. */
void fz_priority_lower(void);
