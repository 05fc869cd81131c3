/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places CPython's arenas at multiples of their size.
 *
 *   in Valgrind's order    |   .....[ arena  |  arena ].....   |
 *                                      tail     head
 *   with --fixed-random    |[ arena         ]|[ arena         ]|      multiples of 1 MiB
 *
 * CPython 3.10 and later round an object's address down to such a multiple to look up whether it
 * lies in an arena. An arena that crosses a multiple has two entries, and freeing an object in its
 * tail takes a few instructions more than in its head. Which objects end up there depends on every
 * earlier allocation, and benchmarks free objects all the time.
 *
 * The kernel (here Valgrind) honors an address hint where that memory is free. So when a program
 * maps an arena without a hint it is given one: its register is changed for the duration of the
 * system call.
 */
#include "arena.h"

#include "fzcount.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Above what Valgrind fills from below, and above Go's heap. */
#define FIRST 0x20000000000UL
enum { ARENA = 1 << 20 };

static VexGuestAMD64State *hinted; /* whose system call runs with our hint; NULL: none */

void fzc_arena_wish(VexGuestAMD64State *state)
{
	static Addr next = FIRST;

	if (state->guest_RAX != __NR_mmap || state->guest_RDI || state->guest_RSI != ARENA ||
	    !(state->guest_R10 & VKI_MAP_ANONYMOUS))
		return;
	state->guest_RDI = next;
	next += ARENA;
	hinted = state;
}

void fzc_arena_mapped(void)
{
	if (hinted)
		hinted->guest_RDI = 0;
	hinted = NULL;
}
