/* SPDX-License-Identifier: MIT */
/* Stacks that differ only in lines, columns or instructions are one node of a tree. A second pass
 * over the stacks adds the weight of each, and of its callees, to the instruction of its innermost
 * frame.
 */
#include "profile/instructions.h"

static bool any_opcode(const struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->frame_count; i++)
		if (p->frames[i].opcode != FZ_NO_OPCODE)
			return true;
	return false;
}

static int64_t *stack_weights(const struct fz_tree *t)
{
	const struct fz_profile *p = t->profile;
	int64_t *weights = fz_calloc(p->stack_count + 1ul, sizeof(*weights));

	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			weights[p->samples.stack[row]] += fz_sample_weight(p, t->metric, row);
	return weights;
}

static int compare(const void *pa, const void *pb)
{
	const struct fz_instruction *a = pa, *b = pb;

	return FZ_CMP(a->node, b->node) ?: FZ_CMP(a->line, b->line) ?: FZ_CMP(a->opcode, b->opcode);
}

/* Merges equal entries; returns their number. */
static size_t join(struct fz_instruction *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++) {
		if (kept && compare(&list[kept - 1], &list[i]) == 0) {
			list[kept - 1].self += list[i].self;
			list[kept - 1].total += list[i].total;
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

struct fz_instruction *fz_tree_instructions(const struct fz_tree *t, size_t *ret_n)
{
	const struct fz_profile *p = t->profile;
	struct fz_instruction *list = NULL;
	size_t n = 0, cap = 0;

	*ret_n = 0;
	if (!any_opcode(p))
		return NULL;
	fz_auto(fz_free_ptr) int64_t *self = stack_weights(t);
	fz_auto(fz_free_ptr) int64_t *total = fz_calloc(p->stack_count + 1ul, sizeof(*total));
	for (uint32_t i = p->stack_count; i-- > 0;) {
		total[i] += self[i];
		if (p->stacks[i].parent != FZ_NONE)
			total[p->stacks[i].parent] += total[i];
	}
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_frame *frame = &p->frames[p->stacks[i].frame];
		if (frame->opcode == FZ_NO_OPCODE || t->stack_node[i] == FZ_NONE ||
		    (!self[i] && !total[i]))
			continue;
		fz_push(list, n, cap,
			(struct fz_instruction){
				.node = t->stack_node[i],
				.line = FZ_MAX(frame->line, 0),
				.opcode = frame->opcode,
				.self = self[i],
				.total = total[i],
			});
	}
	if (n)
		*ret_n = join(list, n);
	return list;
}
