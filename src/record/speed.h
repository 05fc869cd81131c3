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

#include "base/base.h"

/* Speeds of two recordings compare when this is the same text: same instructions. */
extern const char fz_speed_kind[];

/* Time the piece on `cpu`, going there if need be and allowed; the thread may run where it might
 * before. Returns ns, or 0 when it could not be done there. */
uint32_t fz_speed_time_piece(uint32_t cpu);
