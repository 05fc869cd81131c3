/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines: many stacks on a thread, which Go changes and moves by itself.
 *
 *   goroutine   main.work -- chansend -- gopark -- mcall        a place of its own, kept while it
 * waits
 *                                                   |
 *   scheduler                                       park_m -- schedule -- execute -- gogo
 *                                                                                      |
 *   goroutine   main.other  <----------------------------------------------------------'
 *
 * Only a few functions, written in assembly, change the stack: after their blocks is seen whether
 * the stack pointer has left the goroutine's stack, whose bounds are the first words of its
 * descriptor g, the one pointer that Go keeps in a register (R14, from 1.17 on). What a thread's
 * own stack is used for hangs below the function that went there: the scheduler below what waits,
 * the memory manager below what allocates. A stack that became too small was moved when its
 * goroutine comes back: then all addresses in its place move with it.
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

/* A goroutine that does not run. When it has ended its descriptor is used again for another one. */
struct parked {
	struct parked *next; /* as VgHashNode: with what follows */
	UWord g;
	struct fzc_place place;
};

static VgHashTable *goroutines;
static Bool is_go; /* the program's first function was Go's */

/* "gogo" is called so in any program. */
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

/* Addresses on its stack, all of them: no other matters while it runs. */
static void move(struct fzc_place *p, Word by)
{
	for (struct fzc_frame *f = p->base + 1; f <= p->top; f++)
		f->sp += (Addr)by;
	p->hooked.sp += (Addr)by;
	p->allocating.sp += (Addr)by;
}

/* Keep the place of the goroutine that runs. */
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

/* The thread goes on on its own stack, for the goroutine. */
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

/* Each thread of Go's draws its own ("wyrand": its state grows by this), for orders of maps and the
 * scheduler, and which thread it is that runs a benchmark is chance. Here all have one state, which
 * begins anew with each part. */
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

/* "state + GROWTH", where the runtime does it. */
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

/* It takes the processor from who holds it for long, by its own clock, and lets another thread go
 * on: with other random numbers, for each has its own. The program is slower, and so is it. */
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
