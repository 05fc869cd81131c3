/* SPDX-License-Identifier: MIT */
/* Counts the status bits of samples; in formats without a bit for garbage collection, a <GC> frame
 * on the stack marks it.
 */
#include "profile/states.h"

#include <math.h>
#include <stddef.h>

const struct fz_state_kind fz_state_kinds[FZ_STATE_KINDS] = {
	{ "gil", "holding the GIL", offsetof(struct fz_states, gil), false },
	{ "waiting", "waiting for it", offsetof(struct fz_states, waiting), false },
	{ "cpu", "on a CPU", offsetof(struct fz_states, cpu), true },
	{ "gc", "collecting garbage", offsetof(struct fz_states, gc), false },
	{ "exception", "in an exception", offsetof(struct fz_states, exception), false },
};

uint64_t fz_state_count(const struct fz_states *s, const struct fz_state_kind *kind)
{
	uint64_t n;

	memcpy(&n, (const char *)s + kind->count, sizeof(n));
	return n;
}

double fz_state_share(const struct fz_states *s, const struct fz_state_kind *kind)
{
	uint64_t of = s->samples - (kind->of_known_cpu ? s->cpu_unknown : 0);

	return of ? (double)fz_state_count(s, kind) / (double)of : NAN;
}

/* Returns, per stack, whether it has a <GC> frame; NULL if the profile has none. */
static bool *stacks_in_gc(const struct fz_profile *p)
{
	bool any = false;
	bool *gc = fz_calloc(p->stack_count + 1ul, sizeof(*gc));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t parent = p->stacks[i].parent;
		gc[i] = (parent != FZ_NONE && gc[parent]) || fz_profile_stack_collects(p, i);
		any |= gc[i];
	}
	if (any)
		return gc;
	free(gc);
	return NULL;
}

static void add_row(struct fz_states *s, uint8_t status, bool gc, uint32_t count)
{
	s->samples += count;
	s->gil += status & FZ_STATUS_HAS_GIL ? count : 0;
	s->waiting += status & FZ_STATUS_GIL_REQUESTED ? count : 0;
	s->cpu += status & FZ_STATUS_ON_CPU ? count : 0;
	s->cpu_unknown += status & FZ_STATUS_UNKNOWN ? count : 0;
	s->exception += status & FZ_STATUS_HAS_EXCEPTION ? count : 0;
	s->gc += gc ? count : 0;
}

struct fz_states *fz_profile_states(const struct fz_profile *p)
{
	struct fz_states *states = fz_calloc(p->thread_count + 1ul, sizeof(*states));
	fz_auto(fz_free_ptr) bool *gc = stacks_in_gc(p);

	for (size_t row = 0; row < p->samples.n; row++) {
		uint8_t status = p->samples.status[row];
		uint32_t stack = p->samples.stack[row];
		uint32_t count = fz_sample_count_in(p, p->default_metric, row);
		if (status & FZ_STATUS_BESIDE)
			continue;
		bool collects = (status & FZ_STATUS_GC) || (gc && stack != FZ_NONE && gc[stack]);
		add_row(&states[p->samples.thread[row]], status, collects, count);
		add_row(&states[p->thread_count], status, collects, count);
	}
	return states;
}
