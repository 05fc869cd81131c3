/* SPDX-License-Identifier: MIT */
/* Timing a small piece of work that is always the same, to know how fast a CPU is at the moment.
 *
 * What varies on shared machines is how much of a core's width another hardware thread leaves, and
 * its clock. A chain of dependent multiplications hardly notices; an interpreter, which fills the
 * core, does. So the piece is six independent chains of integer operations, about 8 us, and it is
 * timed by this thread's own CPU clock on the CPU where the target runs. On machines where CPU
 * times of one program varied by 9 to 17 % this explained all but 3 to 5 % (docs/statistics.md).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

/* Speeds of two recordings compare when this is the same text: same instructions. */
extern const char fz_speed_kind[];

/* Time the piece on `cpu`, going there if need be and allowed; the thread may run where it might
 * before. Returns ns, or 0 when it could not be done there. */
uint32_t fz_speed_time_piece(uint32_t cpu);

/* The machine's speed while a program runs that is timed but not sampled: a thread times the piece
 * every few milliseconds on the CPU of whichever process is running, the program or what it
 * started. Where it has the right to, it preempts the program for as long as the piece takes, some
 * thousandths of its time. */
struct fz_speed_watch;

/* NULL where there can be no thread. */
struct fz_speed_watch *fz_speed_watch_start(pid_t pid);
/* No more looks; what was seen can still be asked for. */
void fz_speed_watch_stop(struct fz_speed_watch *w);
/* ns that the piece took on average between two times of fz_clock_now; 0: not known. After
 * fz_speed_watch_stop. */
double fz_speed_watch_cost(const struct fz_speed_watch *w, int64_t from, int64_t to);
/* NULL is allowed. */
void fz_speed_watch_free(struct fz_speed_watch *w);
void fz_speed_watch_freep(struct fz_speed_watch **w);
