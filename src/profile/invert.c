/* SPDX-License-Identifier: MIT */
/* Each sampled stack is reversed once by interning its frames from leaf to root; common prefixes of
 * reversed stacks are stored once, as usual. */
#include "profile/invert.h"

#include "profile/callgraph.h"

static uint32_t turned(struct fz_profile *p, uint32_t stack)
{
	uint32_t out = FZ_NONE;

	for (uint32_t at = stack; at != FZ_NONE; at = p->stacks[at].parent)
		out = fz_profile_stack(p, out, p->stacks[at].frame);
	return out;
}

int fz_profile_invert(struct fz_profile *p, struct fz_error *err)
{
	uint32_t n = p->stack_count;
	fz_auto(fz_free_ptr) uint32_t *to = fz_reallocarray(NULL, n + 1ul, sizeof(*to));

	fz_profile_drop_callgraph(p);
	memset(to, 0xff, n * sizeof(*to));
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t stack = p->samples.stack[row];
		if (stack == FZ_NONE)
			continue;
		if (to[stack] == FZ_NONE)
			to[stack] = turned(p, stack);
		p->samples.stack[row] = to[stack];
	}
	return fz_profile_check(p, err);
}
