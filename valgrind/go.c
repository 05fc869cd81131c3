/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines: many stacks on one thread, which Go switches and moves by itself.
 *
 *   goroutine   main.work -- chansend -- gopark -- mcall     a place of its own, kept
 *                                                   |           while it waits
 *   scheduler                                       park_m -- schedule -- execute -- gogo
 *                                                                                      |
 *   goroutine   main.other  <----------------------------------------------------------'
 *
 * Only a few functions, written in assembly, switch stacks: after each of their blocks we check
 * whether the stack pointer has left the goroutine's stack, whose bounds are the first words of its
 * descriptor g, which Go keeps in a register (R14, from 1.17 on). Code on the thread's own stack
 * hangs below the function that switched there: the scheduler below the function that waits, the
 * memory manager below the one that allocates. A stack that became too small was moved by the time
 * its goroutine comes back: then all addresses in its place move with it.
 */
#include "go.h"

#include "fzcount.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_machine.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

struct stack {
	Addr lo, hi;
};

/* A goroutine that does not run. Go reuses the descriptor of one that has ended. */
struct parked {
	struct parked *next; /* this and g are laid out as VgHashNode */
	UWord g;
	struct fzc_place place;
};

static VgHashTable *goroutines;
static Bool is_go; /* the program's first function was Go's */

/* "gogo" has no package in its name. */
Bool fzc_go_switches(const HChar *name)
{
	static const HChar *const names[] = { "gogo",
					      "runtime.mcall",
					      "runtime.systemstack",
					      "runtime.systemstack.abi0",
					      "runtime.morestack",
					      "runtime.morestack.abi0",
					      "runtime.asmcgocall",
					      "runtime.asmcgocall.abi0" };

	is_go = is_go || VG_(strncmp)(name, "runtime.rt0_go", 14) == 0;
	for (UInt i = 0; is_go && i < sizeof(names) / sizeof(names[0]); i++)
		if (VG_(strcmp)(name, names[i]) == 0)
			return True;
	return False;
}

Bool fzc_go_runs(void)
{
	return is_go;
}

static const struct stack *stack_of(UWord g)
{
	return (const struct stack *)g;
}

static Bool is_on(UWord g, Addr sp)
{
	return stack_of(g)->lo <= sp && sp <= stack_of(g)->hi;
}

static struct parked *find(UWord g)
{
	struct parked *p = goroutines ? VG_(HT_lookup)(goroutines, g) : NULL;

	if (p)
		return p;
	if (!goroutines)
		goroutines = VG_(HT_construct)(FZC_TAG);
	p = VG_(calloc)(FZC_TAG, 1, sizeof(*p));
	p->g = g;
	VG_(HT_add_node)(goroutines, p);
	return p;
}

/* Relocate a place's stack addresses; while a goroutine runs all of them are on its stack. */
static void move(struct fzc_place *p, Word by)
{
	for (struct fzc_frame *f = p->base + 1; f <= p->top; f++)
		f->sp += (Addr)by;
	p->hooked.sp += (Addr)by;
	p->allocating.sp += (Addr)by;
}

/* Save the place of the goroutine that runs. */
static void park(void)
{
	struct parked *p = find(fzc_now.goroutine);

	fzc_now.stack_end = stack_of(fzc_now.goroutine)->hi;
	p->place = fzc_now;
}

/* Did its first function return? */
static Bool has_ended(void)
{
	const struct fzc_node *caller = fzc_now.node->parent;

	return caller && caller->function &&
	       VG_(strncmp)(caller->function->name, "runtime.goexit1", 15) == 0;
}

/* The thread switches to its own stack on behalf of the goroutine. */
static void leave_goroutine(void)
{
	struct fzc_node *from = fzc_now.node;
	UWord g = fzc_now.goroutine;

	if (has_ended())
		VG_(free)(fzc_now.base);
	else
		park();
	fzc_tree_start_place(&fzc_now, from);
	fzc_now.left = g;
}

static void enter_goroutine(UWord g, Addr sp)
{
	struct parked *p = find(g);

	if (fzc_now.goroutine)
		park();
	else
		VG_(free)(fzc_now.base);
	if (p->place.base) {
		fzc_now = p->place;
		p->place.base = NULL;
		move(&fzc_now, (Word)(stack_of(g)->hi - fzc_now.stack_end));
	} else {
		fzc_tree_start_place(&fzc_now, &fzc_root);
	}
	fzc_now.goroutine = g;
	fzc_tree_unwind(sp);
}

VG_REGPARM(3) void fzc_on_go(struct fzc_function *f, Addr sp, UWord g)
{
	if (f->name[0] == 'g')
		enter_goroutine(g, sp);
	else if (fzc_now.goroutine && !is_on(fzc_now.goroutine, sp))
		leave_goroutine();
	else if (!fzc_now.goroutine && fzc_now.left && is_on(fzc_now.left, sp))
		enter_goroutine(fzc_now.left, sp);
}

/* ---- random numbers ---- */

/* Each thread has its own generator ("wyrand": its state grows by GROWTH), used for map order and
 * scheduling, and which thread runs a benchmark is chance. Here all share one state, which starts
 * afresh with each part. */
#define GROWTH 0xa0761d6478bd642fULL
static ULong drawn;

static ULong on_draw(void)
{
	return drawn += GROWTH;
}

void fzc_go_begin_anew(void)
{
	drawn = 0;
}

static Bool is_growth(const IRExpr *e)
{
	return e->tag == Iex_Const && e->Iex.Const.con->Ico.U64 == GROWTH;
}

/* Replaces "state + GROWTH" in the runtime. */
IRStmt *fzc_go_instead(IRStmt *s, const struct fzc_function *f)
{
	const IRExpr *e = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;

	if (!is_go || !fzc_options.fixed_random || !f || !e || e->tag != Iex_Binop ||
	    e->Iex.Binop.op != Iop_Add64 ||
	    !(is_growth(e->Iex.Binop.arg1) || is_growth(e->Iex.Binop.arg2)) ||
	    VG_(strncmp)(f->name, "runtime.", 8) != 0)
		return s;
	return IRStmt_Dirty(unsafeIRDirty_1_N(s->Ist.WrTmp.tmp, 0, "on_draw",
					      VG_(fnptr_to_fnentry)((void *)&on_draw),
					      mkIRExprVec_0()));
}

/* ---- the watchdog ---- */

/* It preempts goroutines that run for long by its clock, at places that vary from run to run. The
 * program is slower here, so the watchdog is slowed down, too. */
enum { SLOWER = 100 };

static Bool is_watchdog(const struct fzc_node *n)
{
	for (; n && n->function; n = n->parent)
		if (VG_(strcmp)(n->function->name, "runtime.sysmon") == 0)
			return True;
	return False;
}

void fzc_go_sleeps(struct vki_timespec *length)
{
	static const Long second = 1000000000;

	if (!is_go || !is_watchdog(fzc_now.node))
		return;
	Long ns = (length->tv_sec * second + length->tv_nsec) * SLOWER;
	length->tv_sec = ns / second;
	length->tv_nsec = ns % second;
}

void fzc_go_each(void (*visit)(const struct fzc_place *))
{
	struct parked *p;

	if (!goroutines)
		return;
	VG_(HT_ResetIter)(goroutines);
	while ((p = VG_(HT_Next)(goroutines)))
		if (p->place.base)
			visit(&p->place);
}
