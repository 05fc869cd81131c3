/* SPDX-License-Identifier: MIT */
/* The stack of open lines, from the root to the last one; see indented.h. */
#include "indented.h"

void fz_indented_release(struct fz_indented *t)
{
	free(t->path);
}

/* Because of rounding, children may add up to more than their parent. */
static void close_last(struct fz_indented *t)
{
	const struct fz_indented_node *node = &t->path[--t->n];
	struct fz_sample s = { .thread = t->thread,
			       .stack = node->stack,
			       .status = FZ_STATUS_UNKNOWN };
	int64_t weights[FZ_METRICS_MAX] = { 0 };
	bool any = false;

	for (int i = 0; i < FZ_INDENTED_METRICS; i++) {
		weights[i] = FZ_MAX(node->own[i], 0);
		any |= weights[i] > 0;
	}
	if (t->samples)
		s.count = (uint32_t)FZ_MIN(weights[0], (int64_t)UINT32_MAX);
	if (any)
		fz_profile_add_sample(t->p, &s, weights);
}

void fz_indented_finish(struct fz_indented *t)
{
	while (t->n)
		close_last(t);
}

void fz_indented_line(struct fz_indented *t, size_t column, uint32_t frame,
		      const int64_t values[FZ_INDENTED_METRICS])
{
	struct fz_indented_node node = { .column = column, .stack = FZ_NONE };

	while (t->n && t->path[t->n - 1].column >= column)
		close_last(t);
	struct fz_indented_node *caller = t->n ? &t->path[t->n - 1] : NULL;
	if (caller)
		node.stack = caller->stack;
	if (frame != FZ_NONE)
		node.stack = fz_profile_stack(t->p, node.stack, frame);
	for (int i = 0; i < FZ_INDENTED_METRICS; i++) {
		node.own[i] = values[i];
		if (caller && !t->own)
			caller->own[i] -= values[i];
	}
	fz_profile_push(t->p, t->path, t->n, t->cap, node);
}
