/* SPDX-License-Identifier: MIT */
/* Copies a profile with its tables; fz_profile_copy in profile.h. */
#include "profile/profile.h"

#include "profile/callgraph.h"

#define COPY_ARRAY(array, n) ((array) = fz_memdup((array), (n) * sizeof(*(array))))

static void copy_samples(struct fz_profile *p)
{
	struct fz_samples *s = &p->samples;

	s->cap = s->n;
	COPY_ARRAY(s->run, s->n);
	COPY_ARRAY(s->thread, s->n);
	COPY_ARRAY(s->stack, s->n);
	COPY_ARRAY(s->time, s->n);
	COPY_ARRAY(s->status, s->n);
	COPY_ARRAY(s->count, s->n);
	s->label = NULL;
	for (uint32_t i = 0; i < p->metric_count; i++)
		COPY_ARRAY(p->metrics[i].column, s->n);
}

static void copy_tables(struct fz_profile *p)
{
	p->string_cap = p->string_count;
	p->function_cap = p->function_count;
	p->frame_cap = p->frame_count;
	p->stack_cap = p->stack_count;
	p->thread_cap = p->thread_count;
	p->run_cap = p->run_count;
	p->fact_cap = p->fact_count;
	p->source_cap = p->source_count;
	COPY_ARRAY(p->strings, p->string_count);
	COPY_ARRAY(p->functions, p->function_count);
	COPY_ARRAY(p->frames, p->frame_count);
	COPY_ARRAY(p->stacks, p->stack_count);
	COPY_ARRAY(p->threads, p->thread_count);
	COPY_ARRAY(p->runs, p->run_count);
	COPY_ARRAY(p->facts, p->fact_count);
	COPY_ARRAY(p->sources, p->source_count);
	p->speed.cap = p->speed.n;
	COPY_ARRAY(p->speed.probes, p->speed.n);
	p->wakes.cap = p->wakes.n;
	COPY_ARRAY(p->wakes.list, p->wakes.n);
}

struct fz_profile *fz_profile_copy(const struct fz_profile *p)
{
	struct fz_profile *copy = fz_memdup(p, sizeof(*p));
	size_t bytes = p->arena.bytes;

	/* Texts stay in the arena of the original; its size counts towards the limits of both. */
	copy->arena = (struct fz_arena){ .bytes = bytes };
	copy->input = NULL;
	copy->label_sets = NULL;
	copy->label_set_count = copy->label_set_cap = 0;
	copy->label_map = (struct fz_map){ 0 };
	copy_tables(copy);
	copy_samples(copy);
	copy->string_map = fz_map_copy(&p->string_map);
	copy->function_map = fz_map_copy(&p->function_map);
	copy->frame_map = fz_map_copy(&p->frame_map);
	copy->stack_map = fz_map_copy(&p->stack_map);
	copy->thread_map = fz_map_copy(&p->thread_map);
	if (p->callgraph)
		copy->callgraph = fz_callgraph_copy(p->callgraph);
	return copy;
}
