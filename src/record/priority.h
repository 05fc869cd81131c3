/* SPDX-License-Identifier: MIT */
/* Waking up in time on a busy machine.
 *
 * A sampler that waits for a free processor wakes when the target happens to pause, and samples
 * only those moments: late samples are not only fewer but biased. So the sampler runs at the lowest
 * real-time priority if that is allowed, otherwise with the shortest time slice, which since Linux
 * 6.12 also means an earlier turn. Both suit only a thread that mostly sleeps; one that uses much
 * of a core must not have them.
 */
#pragma once

enum fz_priority { FZ_PRIORITY_NORMAL, FZ_PRIORITY_SLICE, FZ_PRIORITY_REAL_TIME };
extern const char *const fz_priority_names[]; /* for the fact "priority" */

/* Give this thread the best priority that is allowed. Its children do not inherit it. */
enum fz_priority fz_priority_raise(void);
/* Return to normal scheduling. */
void fz_priority_lower(void);
