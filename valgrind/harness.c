/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of Google Benchmark, whose programs mark nothing: the library, shared or linked in, is
 * recognized by the names of the functions that a program calls around its loop.
 *
 *   State::State(.., n, ..)           we make the loop run once instead of n times
 *   BenchmarkName::str()              returns the name of the next run
 *   for (auto _ : state) {            <- returns from StartKeepRunning: begins
 *           state.PauseTiming();      <- begins: a piece ends
 *           state.ResumeTiming();     <- returns: another one begins
 *   }                                 <- FinishKeepRunning begins: ends
 *
 * A benchmark is run several times, and its last run counts. If a program marks its benchmarks
 * itself, as CodSpeed's variant of the library does, its marks are used instead.
 *
 * For criterion see criterion.c, for divan and bencher rustbench.c, for Go gotest.c.
 */
#include "control.h"
#include "criterion.h"
#include "fzcount.h"
#include "gotest.h"
#include "rustbench.h"

/* Those up to LAST_AT_RETURN matter once the function has returned, the others when it begins. */
enum hook {
	NONE,
	STATE,
	NAME,
	LOOP,
	RESUME,
	LOOK, /* a clock read by a harness for Rust */
	GO_START,
	GO_RESET,
	LAST_AT_RETURN = GO_RESET,
	GO_RUN,
	GO_STOP,
	PAUSE,
	FINISH,
	FAIL,
	FAIL_TEXT,
	SKIP
};

static const struct {
	const HChar *name;
	UChar hook;
	Bool overloaded; /* match any arguments */
} functions[] = {
	{ "_ZN9benchmark5StateC", STATE, True },
	{ "_ZNK9benchmark13BenchmarkName3strB5cxx11Ev", NAME, False },
	{ "_ZN9benchmark5State16StartKeepRunningEv", LOOP, False },
	{ "_ZN9benchmark5State12ResumeTimingEv", RESUME, False },
	{ "_ZN9benchmark5State11PauseTimingEv", PAUSE, False },
	{ "_ZN9benchmark5State17FinishKeepRunningEv", FINISH, False },
	{ "_ZN9benchmark5State13SkipWithErrorEPKc", FAIL, False },
	{ "_ZN9benchmark5State13SkipWithErrorERKNSt7__cxx1112", FAIL_TEXT, True },
	{ "_ZN9benchmark5State15SkipWithMessageE", SKIP, True },
};

/* Of Go's package testing. */
static const struct {
	const HChar *name;
	UChar hook, event;
} methods[] = {
	{ "testing.(*B).runN", GO_RUN, FZC_GOTEST_RUN },
	{ "testing.(*B).StartTimer", GO_START, FZC_GOTEST_START },
	{ "testing.(*B).StopTimer", GO_STOP, FZC_GOTEST_STOP },
	{ "testing.(*B).ResetTimer", GO_RESET, FZC_GOTEST_RESET },
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static Bool obey_method(UChar hook, const UWord *arguments)
{
	for (UInt i = 0; i < METHODS; i++) {
		if (methods[i].hook != hook)
			continue;
		fzc_gotest_obey(methods[i].event, arguments);
		return True;
	}
	return False;
}

static UChar method_hook(const HChar *name)
{
	for (UInt i = 0; i < METHODS; i++)
		if (VG_(strcmp)(name, methods[i].name) == 0)
			return methods[i].hook;
	return NONE;
}

Bool fzc_harness_is_go(UChar hook)
{
	return hook >= GO_START && hook <= GO_STOP;
}

UChar fzc_harness_hook(const HChar *name)
{
	if (!fzc_options.harnesses)
		return NONE;
	if (fzc_criterion_is_clock(name))
		return LOOK;
	if (VG_(strncmp)(name, "_ZN", 3) != 0)
		return method_hook(name);
	for (UInt i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		SizeT n = VG_(strlen)(functions[i].name);
		if (VG_(strncmp)(name, functions[i].name, n) == 0 &&
		    (functions[i].overloaded ? !VG_(strchr)(name, '.') : !name[n]))
			return functions[i].hook;
	}
	return NONE;
}

/* ---- the loop ---- */

enum { NAME_MAX = 4096 };

static struct {
	HChar name[NAME_MAX]; /* of the benchmark */
	Long first, asked;    /* iterations requested for its first run and this one; 0: unknown */
	UInt states;          /* of the run: one for each of its threads */
	UInt begun, done;     /* how many of their loops */
	Bool paused;
	Bool skipped; /* the program skipped the run */
	Bool told;    /* the failure was written */
	Bool seen;    /* a hooked function was called */
	Bool other;   /* the program marks its benchmarks itself */
} bench;

/* The first members of a State, which every program has compiled in. */
struct state {
	Long left, of_batch, iterations;
};

/* The library accepts any run with this many iterations, however short. */
#define ENOUGH 1000000000000

/* Make a loop run once. Its iterations are the second argument or, from 1.8 on, the third. */
static void once(struct state *state, const UWord *arguments)
{
	Long n = state->iterations;

	bench.states++;
	bench.asked = 0;
	if (n <= 0 || (n != (Long)arguments[1] && n != (Long)arguments[2]))
		return;
	if (!bench.first)
		bench.first = n;
	bench.asked = n;
	state->iterations = 1;
}

/* Make the library believe that it ran all iterations. When it requests more than at first, the
 * first run was too short for it, and it would never stop: then claim ENOUGH. */
static void pretend(struct state *state)
{
	if (bench.asked && state->iterations == 1)
		state->iterations = bench.asked == bench.first ? bench.asked : ENOUGH;
}

struct text {
	const HChar *bytes; /* the first members of a std::string */
	UWord n;
};

/* Copy a text, cut off to fit, with a terminating zero. */
static void copy(const struct text *text, HChar out[NAME_MAX])
{
	SizeT n = text->n < NAME_MAX ? text->n : NAME_MAX - 1;

	VG_(memcpy)(out, text->bytes, n);
	out[n] = '\0';
}

static void take_name(const struct text *text)
{
	HChar name[NAME_MAX];

	copy(text, name);
	bench.skipped = False;
	bench.states = bench.begun = bench.done = 0;
	if (VG_(strcmp)(name, bench.name) == 0)
		return;
	VG_(strcpy)(bench.name, name);
	bench.first = 0;
	bench.told = False;
}

/* The first thread begins for all: they wait for each other before their loops. */
static void begin(void)
{
	if (bench.skipped || bench.begun++ > 0)
		return;
	bench.paused = False;
	fzc_control_start(bench.name);
}

static Bool is_open(void)
{
	return bench.begun > 0 && bench.done < bench.states;
}

/* With several threads nothing pauses: the others go on with the benchmark. */
static void pause(void)
{
	if (!is_open() || bench.states > 1 || bench.paused)
		return;
	bench.paused = True;
	fzc_control_pause();
}

static void resume(void)
{
	if (!bench.paused)
		return;
	bench.paused = False;
	fzc_control_resume();
}

static void finish(void)
{
	if (!is_open() || ++bench.done < bench.states)
		return;
	if (bench.paused)
		fzc_control_resume();
	fzc_control_run(bench.name);
}

static void give_up(void)
{
	if (is_open())
		fzc_control_drop();
	bench.begun = 0;
	bench.skipped = True;
}

/* Called in each of its runs, but written once. */
static void fail(const HChar *why)
{
	give_up();
	if (!bench.told)
		fzc_write_failure(bench.name, why);
	bench.told = True;
}

static void fail_text(const struct text *text)
{
	HChar why[NAME_MAX];

	copy(text, why);
	fail(why);
}

/* ---- calls of hooked functions ---- */

static void obey(UChar hook, const UWord *arguments)
{
	bench.seen = True;
	if (bench.other || obey_method(hook, arguments))
		return;
	switch (hook) {
	case LOOK:
		if (!fzc_rustbench_begin())
			fzc_criterion_begin();
		return;
	case STATE:
		return once((struct state *)arguments[0], arguments);
	case NAME:
		return take_name((const struct text *)arguments[0]);
	case LOOP:
		return begin();
	case RESUME:
		return resume();
	case PAUSE:
		return pause();
	case FINISH:
		pretend((struct state *)arguments[0]);
		return finish();
	case FAIL:
		return fail((const HChar *)arguments[1]);
	case FAIL_TEXT:
		return fail_text((const struct text *)arguments[1]);
	default:
		return give_up();
	}
}

VG_REGPARM(2) void fzc_on_hook(struct fzc_function *f, Addr sp)
{
	struct fzc_hooked *h = &fzc_now.hooked;
	Bool nothing =
		f->hook == LOOK &&
		(bench.other || !(fzc_criterion_enter_clock() || fzc_rustbench_enter_clock()));

	/* Before fzc_on_other(): the function itself is not the benchmark's. */
	if (f->hook > LAST_AT_RETURN)
		obey(f->hook, fzc_arguments);
	fzc_on_other(f, sp);
	if (f->hook > LAST_AT_RETURN || h->hook || nothing)
		return;
	h->hook = f->hook;
	h->sp = fzc_now.top->sp;
	VG_(memcpy)(h->arguments, fzc_arguments, sizeof(h->arguments));
}

void fzc_harness_returned(void)
{
	struct fzc_hooked h = fzc_now.hooked;

	fzc_now.hooked.hook = NONE;
	obey(h.hook, h.arguments);
}

Bool fzc_harness_other(void)
{
	bench.other = True;
	return bench.seen;
}
