/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that is added to each block.
 *
 *   if (now.node->function != this function)  call fzc_on_other     seldom
 *   if (the current Python frame changed)     call fzc_on_python    only in CPython's loop
 *   n instructions
 *     now.node->count[instructions] += n      before each way out
 *   call fzc_on_call, fzc_on_return           only where the block ends in one
 *
 * Blocks never span a call (guest_chase is off), so each lies in one function. The tests are
 * inline, and most blocks call none of our functions.
 */
#include "instrument.h"

#include "arena.h"
#include "fzcount.h"
#include "go.h"
#include "gotest.h"
#include "processor.h"

#include "pub_tool_machine.h"

#include "libvex_guest_amd64.h"

static IRExpr *word(const void *p)
{
	return IRExpr_Const(IRConst_U64((ULong)(Addr)p));
}

static IRExpr *number(ULong n)
{
	return IRExpr_Const(IRConst_U64(n));
}

/* Assign an expression to a new temporary, and return that. */
static IRExpr *let(IRSB *out, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *load(IRSB *out, IRExpr *address)
{
	return let(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address));
}

static IRExpr *binary(IRSB *out, IROp op, IRType type, IRExpr *a, IRExpr *b)
{
	return let(out, type, IRExpr_Binop(op, a, b));
}

static IRExpr *add(IRSB *out, IRExpr *a, ULong n)
{
	return binary(out, Iop_Add64, Ity_I64, a, number(n));
}

static IRExpr *guest(IRSB *out, Int offset)
{
	return let(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static void call(IRSB *out, const HChar *name, void *function, IRExpr **arguments, IRExpr *guard)
{
	Int n = 0;

	while (arguments[n])
		n++;
	IRDirty *d = unsafeIRDirty_0_N(n, name, VG_(fnptr_to_fnentry)(function), arguments);
	if (guard)
		d->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}
#define CALL(out, function, arguments, guard) \
	call(out, #function, (void *)&function, arguments, guard)

static IRExpr *node(IRSB *out)
{
	return load(out, word(&fzc_now.node));
}

static void count_more(IRSB *out, IRExpr *at, enum fzc_count which, ULong n)
{
	if (n == 0)
		return;
	IRExpr *place = add(out, at, offsetof(struct fzc_node, count) + which * sizeof(ULong));
	IRExpr *sum = add(out, load(out, place), n);
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, place, sum));
}

/* ---- the head of a block ---- */

/* Code for: is the current node another function's? Code without a symbol and the evaluation loop
 * stay in any node of their kind, but code generated at run time never stays in the node of an
 * object's unnamed code that jumped to it, as a stripped V8 does. */
static IRExpr *differs(IRSB *out, const struct fzc_function *f, IRExpr *at)
{
	SizeT flag = 0;

	if (f->kind == FZC_UNNAMED)
		flag = f->object[0] ? offsetof(struct fzc_node, unnamed)
				    : offsetof(struct fzc_node, made);
	else if (f->kind == FZC_EVAL)
		flag = offsetof(struct fzc_node, in_eval);
	if (!flag)
		return binary(out, Iop_CmpNE64, Ity_I1, load(out, at), word(f));
	return binary(out, Iop_CmpEQ64, Ity_I1, load(out, add(out, at, flag)), number(0));
}

/* Save the argument registers, of C or of Go from 1.17 on. */
static void store_arguments(IRSB *out, Bool go)
{
	static const Int registers[][FZC_ARGUMENTS] = {
		{ offsetof(VexGuestAMD64State, guest_RDI), offsetof(VexGuestAMD64State, guest_RSI),
		  offsetof(VexGuestAMD64State, guest_RDX) },
		{ offsetof(VexGuestAMD64State, guest_RAX), offsetof(VexGuestAMD64State, guest_RBX),
		  offsetof(VexGuestAMD64State, guest_RCX) },
	};

	for (UInt i = 0; i < FZC_ARGUMENTS; i++)
		addStmtToIRSB(out, IRStmt_Store(Iend_LE, word(&fzc_arguments[i]),
						guest(out, registers[go][i])));
}

/* Hooks that need arguments are called only where a function begins: later the registers hold other
 * values. */
static void check_function(IRSB *out, struct fzc_function *f, Bool begins, IRExpr *sp)
{
	IRExpr *guard = differs(out, f, node(out));

	if (begins && f->kind == FZC_EVAL) {
		IRExpr *state = guest(out, offsetof(VexGuestAMD64State, guest_RDI));
		CALL(out, fzc_on_eval, mkIRExprVec_3(word(f), sp, state), guard);
	} else if (begins && (f->kind == FZC_ALLOC || f->kind == FZC_MEMORY)) {
		store_arguments(out, False);
		CALL(out, fzc_on_alloc, mkIRExprVec_2(word(f), sp), guard);
	} else if (begins && f->hook) {
		store_arguments(out, fzc_harness_is_go(f->hook));
		CALL(out, fzc_on_hook, mkIRExprVec_2(word(f), sp), guard);
	} else {
		CALL(out, fzc_on_other, mkIRExprVec_2(word(f), sp), guard);
	}
}

static void check_python(IRSB *out, IRExpr *sp)
{
	IRExpr *in_eval = load(out, add(out, node(out), offsetof(struct fzc_node, in_eval)));
	IRExpr *state = load(out, load(out, word(&fzc_now.python_at)));
	IRExpr *place = binary(out, Iop_Add64, Ity_I64, state, load(out, word(&fzc_python_offset)));
	IRExpr *frame = load(out, place), *last = load(out, word(&fzc_now.python_last));
	IRExpr *changed = binary(out, Iop_CmpNE64, Ity_I1, frame, last);
	IRExpr *both = binary(out, Iop_And64, Ity_I64, in_eval,
			      let(out, Ity_I64, IRExpr_Unop(Iop_1Uto64, changed)));

	CALL(out, fzc_on_python, mkIRExprVec_2(frame, sp),
	     binary(out, Iop_CmpNE64, Ity_I1, both, number(0)));
}

/* ---- memory ---- */

struct memory {
	Addr last_line;      /* of instructions */
	ULong reads, writes; /* not yet added to the node's */
};

static void fetch(IRSB *out, struct memory *m, const IRStmt *mark)
{
	Addr first = mark->Ist.IMark.addr >> FZC_LINE_BITS;
	Addr last = (mark->Ist.IMark.addr + mark->Ist.IMark.len - 1) >> FZC_LINE_BITS;

	for (Addr line = first; line <= last; line++)
		if (line != m->last_line)
			CALL(out, fzc_cache_fetch, mkIRExprVec_1(number(line)), NULL);
	m->last_line = last;
}

/* The guard is NULL or a temporary of type I1. */
static void reference(IRSB *out, IRExpr *address, Int size, IRExpr *guard)
{
	if (size > 0)
		CALL(out, fzc_cache_access, mkIRExprVec_2(address, number((ULong)size)), guard);
}

static Int size_of(const IRSB *in, IRExpr *e)
{
	return sizeofIRType(typeOfIRExpr(in->tyenv, e));
}

static void reference_cas(IRSB *out, const IRSB *in, struct memory *m, const IRCAS *cas)
{
	Int size = size_of(in, cas->dataLo) * (cas->dataHi ? 2 : 1);

	reference(out, cas->addr, size, NULL);
	reference(out, cas->addr, size, NULL);
	m->reads++;
	m->writes++;
}

static void reference_dirty(IRSB *out, struct memory *m, const IRDirty *d)
{
	if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify) {
		reference(out, d->mAddr, d->mSize, NULL);
		m->reads++;
	}
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify) {
		reference(out, d->mAddr, d->mSize, NULL);
		m->writes++;
	}
}

static void reference_guarded_load(IRSB *out, struct memory *m, const IRLoadG *g)
{
	IRType wide, type;

	typeOfIRLoadGOp(g->cvt, &wide, &type);
	reference(out, g->addr, sizeofIRType(type), g->guard);
	m->reads++;
}

static void references(IRSB *out, const IRSB *in, struct memory *m, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_IMark:
		fetch(out, m, s);
		break;
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load) {
			const IRExpr *e = s->Ist.WrTmp.data;
			reference(out, e->Iex.Load.addr, sizeofIRType(e->Iex.Load.ty), NULL);
			m->reads++;
		}
		break;
	case Ist_Store:
		reference(out, s->Ist.Store.addr, size_of(in, s->Ist.Store.data), NULL);
		m->writes++;
		break;
	case Ist_StoreG:
		reference(out, s->Ist.StoreG.details->addr,
			  size_of(in, s->Ist.StoreG.details->data), s->Ist.StoreG.details->guard);
		m->writes++;
		break;
	case Ist_LoadG:
		reference_guarded_load(out, m, s->Ist.LoadG.details);
		break;
	case Ist_CAS:
		reference_cas(out, in, m, s->Ist.CAS.details);
		break;
	case Ist_Dirty:
		reference_dirty(out, m, s->Ist.Dirty.details);
		break;
	default:
		break;
	}
}

/* ---- loads of a Go benchmark's N ---- */

/* Is it "register + offset"? */
static Bool is_at_offset(const IRSB *in, const IRExpr *address, UWord offset)
{
	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *s = in->stmts[i];
		if (s->tag != Ist_WrTmp || s->Ist.WrTmp.tmp != address->Iex.RdTmp.tmp)
			continue;
		const IRExpr *e = s->Ist.WrTmp.data;
		return e->tag == Iex_Binop && e->Iex.Binop.op == Iop_Add64 &&
		       e->Iex.Binop.arg2->tag == Iex_Const &&
		       e->Iex.Binop.arg2->Iex.Const.con->Ico.U64 == offset;
	}
	return False;
}

static void watch(IRSB *out, const IRSB *in, const IRStmt *s)
{
	UWord offset = fzc_gotest_offset();
	const IRExpr *e = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;

	if (!offset || !e || e->tag != Iex_Load || e->Iex.Load.ty != Ity_I64 ||
	    e->Iex.Load.addr->tag != Iex_RdTmp || !is_at_offset(in, e->Iex.Load.addr, offset))
		return;
	CALL(out, fzc_gotest_on_load, mkIRExprVec_0(),
	     binary(out, Iop_CmpEQ64, Ity_I1, e->Iex.Load.addr,
		    load(out, word(&fzc_gotest_watched))));
}

/* ---- a block ---- */

static void count_all(IRSB *out, IRExpr *at, ULong *n, struct memory *m)
{
	count_more(out, at, FZC_INSTRUCTIONS, *n);
	count_more(out, at, FZC_READS, m->reads);
	count_more(out, at, FZC_WRITES, m->writes);
	*n = m->reads = m->writes = 0;
}

/* Add the tests at the head of a block. Returns the block's function, NULL if it has none. */
static struct fzc_function *instrument_head(IRSB *out, Addr pc, IRExpr *sp)
{
	if (fzc_is_plt(pc))
		return NULL;
	struct fzc_function *f = fzc_function_at(pc);
	check_function(out, f, fzc_function_begins(pc), sp);
	if (fzc_python_concerns(f))
		check_python(out, sp);
	return f;
}

/* Call fzc_arena_wish() before a system call. */
static void place_arena(IRSB *out)
{
	static const struct {
		IREffect effect;
		UShort offset;
	} registers[] = {
		{ Ifx_Read, offsetof(VexGuestAMD64State, guest_RAX) },
		{ Ifx_Modify, offsetof(VexGuestAMD64State, guest_RDI) },
		{ Ifx_Read, offsetof(VexGuestAMD64State, guest_RSI) },
		{ Ifx_Read, offsetof(VexGuestAMD64State, guest_R10) },
	};
	IRDirty *d = unsafeIRDirty_0_N(0, "fzc_arena_wish",
				       VG_(fnptr_to_fnentry)((void *)&fzc_arena_wish),
				       mkIRExprVec_1(IRExpr_GSPTR()));

	d->nFxState = sizeof(registers) / sizeof(registers[0]);
	for (Int i = 0; i < d->nFxState; i++) {
		d->fxState[i].fx = registers[i].effect;
		d->fxState[i].offset = registers[i].offset;
		d->fxState[i].size = sizeof(ULong);
		d->fxState[i].nRepeats = d->fxState[i].repeatLen = 0;
	}
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

static void instrument_end(IRSB *out, struct fzc_function *f, IRJumpKind how, Int offset_sp)
{
	if (f && f->kind == FZC_GO) {
		IRExpr *g = guest(out, offsetof(VexGuestAMD64State, guest_R14));
		CALL(out, fzc_on_go, mkIRExprVec_3(word(f), guest(out, offset_sp), g), NULL);
	}
	if (how == Ijk_Call)
		CALL(out, fzc_on_call, mkIRExprVec_1(guest(out, offset_sp)), NULL);
	else if (how == Ijk_Ret)
		CALL(out, fzc_on_return, mkIRExprVec_1(guest(out, offset_sp)), NULL);
	else if (how == Ijk_Sys_syscall && fzc_options.fixed_random)
		place_arena(out);
}

IRSB *fzc_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		     const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		     IRType host_word)
{
	IRSB *out = deepCopyIRSBExceptStmts(in);
	struct memory m = { 0 };
	ULong n = 0;
	Int i = 0;

	(void)closure, (void)extents, (void)host, (void)guest_word, (void)host_word;
	while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
		addStmtToIRSB(out, in->stmts[i++]);
	if (i == in->stmts_used)
		return in;
	struct fzc_function *f =
		instrument_head(out, in->stmts[i]->Ist.IMark.addr, guest(out, layout->offset_SP));
	IRExpr *at = node(out);
	for (; i < in->stmts_used; i++) {
		IRStmt *s = fzc_go_instead(fzc_processor_instead(in->stmts[i], f), f);
		n += s->tag == Ist_IMark;
		if (s->tag == Ist_Exit)
			count_all(out, at, &n, &m);
		else if (fzc_options.cache)
			references(out, in, &m, s);
		watch(out, in, s);
		addStmtToIRSB(out, s);
	}
	count_all(out, at, &n, &m);
	instrument_end(out, f, in->jumpkind, layout->offset_SP);
	return out;
}
