/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated caches of a fixed geometry, the same on all machines: 32 KiB 8-way for instructions and
 * for data, 8 MiB 16-way behind both, lines of 64 bytes, LRU replacement. Misses are counted at the
 * node that made the access. An access across two lines misses once, as in callgrind.
 */
#include "fzcount.h"

enum { L1_SETS = 64, L1_WAYS = 8, LL_SETS = 8192, LL_WAYS = 16 };

/* Lines of each set, most recently used first; 0 marks a free slot. */
static struct {
	Addr i1[L1_SETS][L1_WAYS], d1[L1_SETS][L1_WAYS], ll[LL_SETS][LL_WAYS];
} caches;

void fzc_cache_reset(void)
{
	VG_(memset)(&caches, 0, sizeof(caches));
}

/* Move a line to the front of its set. True if it was there. */
static Bool use(Addr *set, UInt ways, Addr line)
{
	UInt i = 0;

	if (LIKELY(set[0] == line))
		return True;
	while (i < ways - 1 && set[i] != line)
		i++;
	Bool hit = set[i] == line;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = line;
	return hit;
}

/* Access the last-level cache. True if the line was not there. */
static Bool misses_all(Addr line)
{
	return !use(caches.ll[line % LL_SETS], LL_WAYS, line);
}

VG_REGPARM(1) void fzc_cache_fetch(Addr line)
{
	if (use(caches.i1[line % L1_SETS], L1_WAYS, line))
		return;
	fzc_now.node->count[FZC_I1_MISSES]++;
	fzc_now.node->count[FZC_LL_MISSES] += misses_all(line);
}

VG_REGPARM(2) void fzc_cache_access(Addr address, UWord size)
{
	Addr first = address >> FZC_LINE_BITS, last = (address + size - 1) >> FZC_LINE_BITS;
	Bool miss = False, miss_all = False;

	for (Addr line = first; line <= last; line++) {
		if (use(caches.d1[line % L1_SETS], L1_WAYS, line))
			continue;
		miss = True;
		miss_all |= misses_all(line);
	}
	fzc_now.node->count[FZC_D1_MISSES] += miss;
	fzc_now.node->count[FZC_LL_MISSES] += miss_all;
}
