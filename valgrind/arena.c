/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where CPython's arenas lie: at multiples of their size.
 *
 *   in Valgrind's order    |   .....[ arena  |  arena ].....   |
 *                                      tail     head
 *   with --fixed-random    |[ arena         ]|[ arena         ]|      multiples of 1 MiB
 *
 * CPython 3.10 and later find out by an object's address, cut off at such a multiple, whether it
 * lies in an arena. An arena that crosses one has two entries there, and to free an object in its
 * tail takes some instructions more than in its head. Which objects that concerns is decided by
 * everything that was allocated before; and a benchmark does nothing as often as freeing objects.
 *
 * The kernel (here Valgrind) takes an address as a wish where it is free. So a program that asks
 * for an arena anywhere is made to wish: its register is changed for the duration of the system
 * call.
 */
#include "arena.h"

#include "fzcount.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Above what Valgrind fills from below, and above Go's heap. */
#define FIRST 0x20000000000UL
enum { ARENA = 1 << 20 };

static VexGuestAMD64State *wishing; /* NULL: nobody is */

void fzc_arena_wish(VexGuestAMD64State *state)
{
	static Addr next = FIRST;

	if (state->guest_RAX != __NR_mmap || state->guest_RDI || state->guest_RSI != ARENA ||
	    !(state->guest_R10 & VKI_MAP_ANONYMOUS))
		return;
	state->guest_RDI = next;
	next += ARENA;
	wishing = state;
}

void fzc_arena_mapped(void)
{
	if (wishing)
		wishing->guest_RDI = 0;
	wishing = NULL;
}
