/* SPDX-License-Identifier: MIT */
/* Instructions of both sides, joined by node, line and name:
 *
 *   base 3.12: node 7, line 4, number 33 \
 *                                         > node 7, line 4, "LOAD_ATTR": both weights
 *   head 3.13: node 9, line 4, number 82 /
 *
 * Stacks that differ only in lines, columns or instructions are one node of a tree. A second pass
 * over the stacks adds the weight of each, and of its callees, to the instruction of its innermost
 * frame.
 */
#include "report/page_opcodes.h"

#include <stdio.h>

#include "symbol/opcode.h"

/* ---- names ---- */

static uint32_t add_name(struct fz_page_opcodes *o, const char *name, const char *base)
{
	for (uint32_t i = 0; i < o->name_count; i++)
		if (strcmp(o->names[i].name, name) == 0)
			return i;
	struct fz_page_opcode *added = &o->names[o->name_count];
	snprintf(added->name, sizeof(added->name), "%s", name);
	snprintf(added->base, sizeof(added->base), "%s", base);
	return o->name_count++;
}

static uint32_t name_of(struct fz_page_opcodes *o, const uint8_t python[3], uint8_t code)
{
	const struct fz_opcode *known = fz_opcode_find(python, code);
	const struct fz_opcode *base = known ? fz_opcode_find(python, known->base) : NULL;
	char number[8];

	if (known)
		return add_name(o, known->name, base ? base->name : known->name);
	snprintf(number, sizeof(number), "<%u>", code);
	return add_name(o, number, number);
}

/* ---- rows ---- */

static int compare_ops(const void *pa, const void *pb)
{
	const struct fz_page_op *a = pa, *b = pb;

	return FZ_CMP(a->node, b->node) ?: FZ_CMP(a->line, b->line) ?: FZ_CMP(a->name, b->name);
}

static void join(struct fz_page_opcodes *o)
{
	size_t kept = 0;

	qsort(o->list, o->n, sizeof(*o->list), compare_ops);
	for (size_t i = 0; i < o->n; i++) {
		struct fz_page_op *last = kept ? &o->list[kept - 1] : NULL, *op = &o->list[i];
		if (!last || compare_ops(last, op) != 0) {
			o->list[kept++] = *op;
			continue;
		}
		for (int side = 0; side < FZ_SIDES; side++) {
			last->self[side] += op->self[side];
			last->total[side] += op->total[side];
		}
	}
	o->n = kept;
}

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

static void add_side(struct fz_page_opcodes *o, const struct fz_tree *t, enum fz_side side,
		     const uint32_t *node_of)
{
	const struct fz_profile *p = t->profile;
	uint32_t name_of_code[256];

	if (!any_opcode(p))
		return;
	memset(name_of_code, 0xff, sizeof(name_of_code));
	fz_auto(fz_free_ptr) int64_t *self = stack_weights(t);
	fz_auto(fz_free_ptr) int64_t *total = fz_calloc(p->stack_count + 1ul, sizeof(*total));
	for (uint32_t i = p->stack_count; i-- > 0;) {
		total[i] += self[i];
		if (p->stacks[i].parent != FZ_NONE)
			total[p->stacks[i].parent] += total[i];
	}
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_frame *frame = &p->frames[p->stacks[i].frame];
		uint32_t node = t->stack_node[i], *name = &name_of_code[frame->opcode];
		if (frame->opcode == FZ_NO_OPCODE || node == FZ_NONE || (!self[i] && !total[i]))
			continue;
		if (*name == FZ_NONE)
			*name = name_of(o, p->recording.python, frame->opcode);
		struct fz_page_op op = { .node = node_of ? node_of[node] : node,
					 .line = FZ_MAX(frame->line, 0),
					 .name = *name };
		op.self[side] = self[i];
		op.total[side] = total[i];
		fz_push(o->list, o->n, o->cap, op);
	}
}

void fz_page_opcodes_add(struct fz_page_opcodes *o, const struct fz_tree *const trees[FZ_SIDES],
			 uint32_t *const node_of[FZ_SIDES])
{
	*o = (struct fz_page_opcodes){ .names = fz_calloc(256 * FZ_SIDES, sizeof(*o->names)) };
	for (int side = 0; side < FZ_SIDES; side++)
		if (trees[side])
			add_side(o, trees[side], side, node_of ? node_of[side] : NULL);
	if (o->n)
		join(o);
}

void fz_page_opcodes_release(struct fz_page_opcodes *o)
{
	free(o->names);
	free(o->list);
	*o = (struct fz_page_opcodes){ 0 };
}

/* ---- the page ---- */

static void fill_weights(const struct fz_page_opcodes *o, enum fz_side side, int64_t *scratch,
			 struct fz_columns *columns)
{
	static const char *const names[2][FZ_SIDES] = { { "op.self.base", "op.self.head" },
							{ "op.total.base", "op.total.head" } };

	for (size_t i = 0; i < o->n; i++)
		scratch[i] = o->list[i].self[side];
	fz_columns_numbers(columns, names[0][side], scratch, o->n);
	for (size_t i = 0; i < o->n; i++)
		scratch[i] = o->list[i].total[side];
	fz_columns_numbers(columns, names[1][side], scratch, o->n);
}

void fz_page_opcodes_fill(const struct fz_page_opcodes *o, bool is_diff, struct fz_columns *columns)
{
	fz_auto(fz_free_ptr) int64_t *scratch = fz_calloc(o->n + 1, sizeof(*scratch));
	uint32_t before = 0;

	if (!o->n)
		return;
	for (size_t i = 0; i < o->n; i++) {
		scratch[i] = o->list[i].node - before;
		before = o->list[i].node;
	}
	fz_columns_numbers(columns, "op.node", scratch, o->n);
	for (size_t i = 0; i < o->n; i++)
		scratch[i] = o->list[i].line;
	fz_columns_numbers(columns, "op.line", scratch, o->n);
	for (size_t i = 0; i < o->n; i++)
		scratch[i] = o->list[i].name;
	fz_columns_numbers(columns, "op.name", scratch, o->n);
	for (int side = is_diff ? FZ_BASE : FZ_HEAD; side < FZ_SIDES; side++)
		fill_weights(o, side, scratch, columns);
}

void fz_page_opcodes_header(const struct fz_page_opcodes *o, struct fz_json *j)
{
	if (!o->n)
		return;
	fz_json_kopen(j, "opcodes", '[');
	for (uint32_t i = 0; i < o->name_count; i++) {
		fz_json_open(j, '[');
		fz_json_str(j, fz_str_of(o->names[i].name));
		fz_json_str(j, fz_str_of(o->names[i].base));
		fz_json_close(j, ']');
	}
	fz_json_close(j, ']');
}
