/* SPDX-License-Identifier: MIT */
/* Unwinding a copied stack.
 *
 *   pc --> row (found by libdw, cached) --> CFA --> saved registers in the copy --> pc
 *
 *      higher addresses   | caller's frame       |
 *                    CFA  +----------------------+  = hi of this call, sp of its caller
 *                         | return address       |
 *                         | saved registers      |
 *                         | locals               |
 *                     sp  +----------------------+
 *
 * Code without unwind information (mostly made at run time) is assumed to keep frame pointers,
 * which are used only if they point up the stack. Every step must lead towards the root, so the
 * walk ends.
 *
 * Only the copy is read. An expression that needs other memory, which is rare, ends the walk.
 */
#include "record/native/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

enum { FRAMES_MAX = 1 << 16, ROWS_MAX = 1 << 20, DEPTH = 16 };

struct fz_unwind_row {
	uint32_t entry;
	uint32_t frame; /* in the profile; FZ_NONE: not interned yet */
	uint64_t address;
	struct fz_row row;
};

void fz_unwind_init(struct fz_unwind *u, struct fz_space *space, struct fz_profile *into)
{
	*u = (struct fz_unwind){ .space = space, .into = into };
}

void fz_unwind_release(struct fz_unwind *u)
{
	fz_map_release(&u->by_pc);
	free(u->rows);
	free(u->frames);
	*u = (struct fz_unwind){ 0 };
}

static void forget(struct fz_unwind *u)
{
	fz_map_clear(&u->by_pc);
	u->row_n = 0;
}

/* ---- rows ---- */

static void find_row(struct fz_unwind *u, uint64_t pc, struct fz_unwind_row *ret)
{
	struct fz_space_range *r = fz_space_find(u->space, pc);

	*ret = (struct fz_unwind_row){ .entry = FZ_NONE, .frame = FZ_NONE, .address = pc };
	if (!r)
		return;
	ret->entry = r->module;
	if (r->image == FZ_NONE)
		return;
	struct fz_image *image = u->space->images->list[r->image].image;
	uint64_t address;
	if (!fz_image_address(image, pc - r->start + r->offset, &address))
		return;
	ret->address = address;
	fz_image_row(image, address, &ret->row);
	/* The trampoline of a signal handler was not called: the return address is its first
	 * instruction. */
	if (ret->row.known && ret->row.signal_frame)
		ret->address++;
}

static struct fz_unwind_row *row_at(struct fz_unwind *u, uint64_t pc)
{
	uint32_t i = fz_map_get(&u->by_pc, pc);

	if (i != FZ_NONE)
		return &u->rows[i];
	if (u->row_n >= ROWS_MAX)
		forget(u);
	struct fz_unwind_row row;
	find_row(u, pc, &row);
	if (u->generation != u->space->generation) { /* find_row has refreshed the space */
		forget(u);
		u->generation = u->space->generation;
	}
	/* Unknown code may just have been loaded, so it is not cached. */
	fz_grow(u->rows, u->row_n, u->row_cap);
	u->rows[u->row_n] = row;
	if (row.entry == FZ_NONE)
		return &u->rows[u->row_n];
	fz_map_put(&u->by_pc, pc, u->row_n);
	return &u->rows[u->row_n++];
}

/* ---- memory and expressions ---- */

struct machine {
	uint64_t stack[DEPTH];
	unsigned n;
};

static bool push(struct machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		return false;
	m->stack[m->n++] = v;
	return true;
}

static bool binary(struct machine *m, uint8_t atom)
{
	if (m->n < 2)
		return false;
	uint64_t b = m->stack[--m->n], a = m->stack[--m->n];
	switch (atom) {
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_ge:
		return push(m, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b);
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ne:
		return push(m, a != b);
	default:
		return false;
	}
}

static bool step(struct machine *m, const Dwarf_Op *op, const uint64_t *reg,
		 const struct fz_unwind_stack *s)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return atom - DW_OP_breg0 < FZ_REGS &&
		       push(m, reg[atom - DW_OP_breg0] + op->number);
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(m, atom - DW_OP_lit0);
	switch (atom) {
	case DW_OP_bregx:
		return op->number < FZ_REGS && push(m, reg[op->number] + op->number2);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_plus_uconst:
		return m->n && (m->stack[m->n - 1] += op->number, true);
	case DW_OP_dup:
		return m->n && push(m, m->stack[m->n - 1]);
	case DW_OP_deref:
		return m->n && fz_unwind_load(s, m->stack[m->n - 1], &m->stack[m->n - 1]);
	default:
		return binary(m, atom);
	}
}

/* Evaluate an expression. Jumps are not supported; compilers and C libraries use none here. */
static bool evaluate(const void *list, size_t n, const uint64_t *cfa, const uint64_t *reg,
		     const struct fz_unwind_stack *s, uint64_t *ret)
{
	const Dwarf_Op *ops = list;
	struct machine m = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		bool is_cfa = ops[i].atom == DW_OP_call_frame_cfa;
		if (is_cfa ? !cfa || !push(&m, *cfa) : !step(&m, &ops[i], reg, s))
			return false;
	}
	if (m.n == 0)
		return false;
	*ret = m.stack[m.n - 1];
	return true;
}

/* ---- one step ---- */

enum outcome { GO_ON, ROOT, LOST, CUT };

static bool apply_rule(const struct fz_rule *rule, uint64_t cfa, const uint64_t *old, uint64_t *reg,
		       const struct fz_unwind_stack *s)
{
	uint64_t at, v = 0;

	switch ((enum fz_rule_kind)rule->kind) {
	case FZ_RULE_UNDEFINED:
		break;
	case FZ_RULE_VALUE:
		v = cfa + (uint64_t)(int64_t)rule->offset;
		break;
	case FZ_RULE_OFFSET:
		if (!fz_unwind_load(s, cfa + (uint64_t)(int64_t)rule->offset, &v))
			return false;
		break;
	case FZ_RULE_EXPRESSION:
		if (!evaluate(rule->ops, rule->op_n, &cfa, old, s, &at) ||
		    !fz_unwind_load(s, at, &v))
			return false;
		break;
	}
	reg[rule->reg] = v;
	return true;
}

static bool beyond(const struct fz_unwind_stack *s, uint64_t at)
{
	return at > s->lo + s->n;
}

static enum outcome step_by_row(const struct fz_row *row, uint64_t *reg,
				const struct fz_unwind_stack *s)
{
	uint64_t old[FZ_REGS], cfa = reg[row->cfa_reg] + (uint64_t)(int64_t)row->cfa_offset;

	if (row->outermost)
		return ROOT;
	memcpy(old, reg, sizeof(old));
	if (row->cfa_op_n && !evaluate(row->cfa_ops, row->cfa_op_n, NULL, old, s, &cfa))
		return LOST;
	if (beyond(s, cfa))
		return CUT;
	reg[FZ_REG_SP] = cfa;
#if defined(__aarch64__)
	reg[FZ_REG_RETURN] = reg[FZ_REG_LR]; /* leaf functions leave it there */
#endif
	for (unsigned i = 0; i < row->rule_n; i++)
		if (!apply_rule(&row->rules[i], cfa, old, reg, s))
			return LOST;
#if defined(__aarch64__)
	reg[FZ_REG_RETURN] &= ((uint64_t)1 << 48) - 1; /* signed return addresses */
	reg[FZ_REG_LR] = reg[FZ_REG_RETURN];
#endif
	return reg[FZ_REG_SP] > old[FZ_REG_SP] || reg[FZ_REG_RETURN] != old[FZ_REG_RETURN] ? GO_ON
											   : LOST;
}

/* Frame pointer -> (caller's frame pointer, return address). */
static enum outcome step_by_pointer(uint64_t *reg, const struct fz_unwind_stack *s)
{
	uint64_t at = reg[FZ_REG_FP], fp, back;

	if (at < reg[FZ_REG_SP] || at % 8)
		return LOST;
	if (beyond(s, at + 16))
		return CUT;
	if (!fz_unwind_load(s, at, &fp) || !fz_unwind_load(s, at + 8, &back))
		return LOST;
	reg[FZ_REG_FP] = fp;
	reg[FZ_REG_RETURN] = back;
	reg[FZ_REG_SP] = at + 16;
	return back ? GO_ON : ROOT;
}

/* The first instruction of code without unwind information, or a call through a bad pointer: the
 * return address is still on top of the stack. */
static enum outcome step_by_top(struct fz_unwind *u, uint64_t *reg, const struct fz_unwind_stack *s)
{
	uint64_t back;

#if defined(__x86_64__)
	if (!fz_unwind_load(s, reg[FZ_REG_SP], &back) || !fz_space_find(u->space, back))
		return LOST;
	reg[FZ_REG_SP] += 8;
#else
	(void)s;
	back = reg[FZ_REG_LR];
	if (back == reg[FZ_REG_RETURN] || !fz_space_find(u->space, back))
		return LOST;
#endif
	reg[FZ_REG_RETURN] = back;
	return GO_ON;
}

static void add_frame(struct fz_unwind *u, struct fz_unwind_row *row, uint64_t pc, uint64_t sp)
{
	if (row->frame == FZ_NONE)
		row->frame =
			fz_images_raw_frame(u->space->images, row->entry, row->address, u->into);
	fz_push(u->frames, u->n, u->cap,
		(struct fz_unwind_frame){ .pc = pc, .sp = sp, .hi = sp, .frame = row->frame });
}

enum fz_unwind_end fz_unwind_run(struct fz_unwind *u, const uint64_t registers[FZ_REGS],
				 const struct fz_unwind_stack *stack)
{
	static const enum fz_unwind_end ends[] = {
		[ROOT] = FZ_UNWIND_ROOT, [LOST] = FZ_UNWIND_LOST, [CUT] = FZ_UNWIND_CUT
	};
	uint64_t reg[FZ_REGS];
	bool exact = true; /* pc is the instruction itself, not the one after a call */

	memcpy(reg, registers, sizeof(reg));
	u->n = 0;
	if (u->generation != u->space->generation) {
		forget(u);
		u->generation = u->space->generation;
	}
	while (u->n < FRAMES_MAX) {
		uint64_t pc = reg[FZ_REG_RETURN] - !exact, sp = reg[FZ_REG_SP];
		if (reg[FZ_REG_RETURN] == 0)
			return FZ_UNWIND_ROOT;
		struct fz_unwind_row *row = row_at(u, pc);
		if (row->entry == FZ_NONE && u->n > 0)
			return FZ_UNWIND_LOST; /* not code, so it was not a return address */
		add_frame(u, row, pc, sp);
		exact = row->row.signal_frame;
		enum outcome rc = row->row.known ? step_by_row(&row->row, reg, stack)
						 : step_by_pointer(reg, stack);
		if (rc == LOST && !row->row.known && u->n == 1)
			rc = step_by_top(u, reg, stack);
		if (rc != GO_ON)
			return ends[rc];
		u->frames[u->n - 1].hi = reg[FZ_REG_SP];
	}
	return FZ_UNWIND_LOST;
}
