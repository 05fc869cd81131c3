/* SPDX-License-Identifier: MIT */
/* Timing a small fixed piece of work, to measure how fast a CPU is at the moment.
 *
 * On shared machines, the clock of a core varies, and so does the part of its width that another
 * hardware thread leaves. The time of a chain of dependent multiplications hardly shows this; that
 * of an interpreter, which fills the core, does. So the piece is six independent chains of integer
 * operations, about 8 us, timed by this thread's own CPU clock on the CPU where the target runs. On
 * machines where CPU times of one program varied by 9 to 17 %, this explained all but 3 to 5 %
 * (docs/statistics.md).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

/* Names the instructions of the piece: speeds of two recordings are comparable if it is equal. */
extern const char fz_speed_kind[];

/* Time the piece on `cpu`; the thread moves there if it must and may, and its affinity is restored.
 * Returns ns, or 0 if it could not run there. */
uint32_t fz_speed_time_piece(uint32_t cpu);

/* The machine's speed while a program runs that is timed but not sampled: a thread times the piece
 * every few milliseconds on the CPU of the program or of a running descendant. If permitted, it
 * preempts the program meanwhile, for a few thousandths of its time. */
struct fz_speed_watch;

/* NULL if no thread can be started. */
struct fz_speed_watch *fz_speed_watch_start(pid_t pid);
/* Stop the thread; the measurements can still be read. */
void fz_speed_watch_stop(struct fz_speed_watch *w);
/* Average ns of the piece between two times of fz_clock_now; 0 if unknown. Only after
 * fz_speed_watch_stop. */
double fz_speed_watch_cost(const struct fz_speed_watch *w, int64_t from, int64_t to);
/* NULL is allowed. */
void fz_speed_watch_freep(struct fz_speed_watch **w);
