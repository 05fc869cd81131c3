/* SPDX-License-Identifier: MIT */
/* The machine's speed while a program runs that is timed but not sampled.
 *
 * A thread times the piece (speed.h) every few milliseconds on the CPU of whichever process is
 * running: the program, or what it started. Where it has the right to, it preempts the program for
 * as long as the piece takes, some thousandths of its time.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

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
