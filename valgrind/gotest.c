/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of Go's package testing, whose programs mark nothing:
 *
 *   "BenchmarkSort/100 \t"      it prints a name; runs before that, or after the last one's
 *                               figures, are warm-up
 *   B.runN(b, 1)
 *       B.StartTimer            armed
 *       BenchmarkSort(b)
 *           i < b.N             <- the first load of that word: begins
 *           body
 *       B.StopTimer             ends, or pauses when the benchmark calls it
 *   "       1\t  1234 ns/op"    the run is written
 *
 * So preparation before the loop is not counted, as if the benchmark called ResetTimer, which most
 * do not: spread over thousands of iterations it would not matter, but we count a single one.
 *
 * The word N of a B is located by benchTime, the number of iterations requested, which fizeau sets
 * to TIMES (-test.benchtime, bindings/go/test-runner), running each benchmark twice (-test.count).
 * It lies five words behind N in all versions so far, which is checked. We set it to 1.
 */
#include "fzcount.h"

#include "control.h"
#include "gotest.h"

enum { NAME_MAX = 4096, TIMES = 1009, B_WORDS = 200, TO_N = 5 };

static struct {
	HChar package[NAME_MAX], name[NAME_MAX]; /* "": none */
	enum { NONE, RUNS, ARMED, OPEN, PAUSED } state;
	UWord b, asked; /* the B that runs, and its requested iterations */
	UInt times;     /* which of its words is benchTime; 0: not known yet */
	Bool told;
} bench;

Addr fzc_gotest_watched;

UWord fzc_gotest_offset(void)
{
	return bench.times ? (bench.times - TO_N) * sizeof(UWord) : 0;
}

/* ---- one run ---- */

/* Find benchTime, and make it 1. */
static void settle(UWord *b)
{
	for (UInt i = TO_N + 1; i < B_WORDS && !bench.times; i++)
		if (b[i] == TIMES)
			bench.times = i;
	if (bench.times && b[bench.times] == TIMES)
		b[bench.times] = 1;
}

static void run(UWord b, UWord n)
{
	settle((UWord *)b);
	bench.b = b;
	bench.asked = n;
	bench.state = bench.name[0] && bench.times ? RUNS : NONE;
	fzc_gotest_watched = 0;
}

static void arm(void)
{
	const UWord *n = (const UWord *)(bench.b + fzc_gotest_offset());

	if (*n != bench.asked)
		bench.times = 0; /* N lies elsewhere */
	bench.state = bench.times ? ARMED : NONE;
	fzc_gotest_watched = bench.times ? (Addr)n : 0;
}

static void open(void)
{
	fzc_gotest_watched = 0;
	bench.state = OPEN;
	fzc_control_start(bench.name);
}

VG_REGPARM(0) void fzc_gotest_on_load(void)
{
	if (bench.state == ARMED)
		open();
}

static void drop(void)
{
	if (bench.state >= OPEN)
		fzc_control_drop();
	bench.state = NONE;
	fzc_gotest_watched = 0;
}

/* ResetTimer: the body begins here. */
static void reset(void)
{
	if (bench.state == PAUSED) {
		drop();
		bench.state = RUNS;
	} else if (bench.state >= ARMED) {
		drop();
		open();
	}
}

static void start(void)
{
	if (bench.state == RUNS) {
		arm();
	} else if (bench.state == PAUSED) {
		bench.state = OPEN;
		fzc_control_resume();
	}
}

static void stop(void)
{
	if (bench.state == ARMED) {
		bench.state = RUNS;
		fzc_gotest_watched = 0;
	} else if (bench.state == OPEN) {
		bench.state = PAUSED;
		fzc_control_pause();
	}
}

void fzc_gotest_obey(UChar hook, const UWord *arguments)
{
	if (hook == FZC_GOTEST_RUN)
		run(arguments[0], arguments[1]);
	else if (arguments[0] != bench.b)
		return;
	else if (hook == FZC_GOTEST_START)
		start();
	else if (hook == FZC_GOTEST_STOP)
		stop();
	else
		reset();
}

/* ---- output of the program ---- */

static Bool begins(const HChar *text, UWord n, const HChar *with)
{
	SizeT length = VG_(strlen)(with);

	return n >= length && VG_(strncmp)(text, with, length) == 0;
}

/* Length of the first word. */
static SizeT word(const HChar *text, UWord n)
{
	SizeT length = 0;

	while (length < n && text[length] > ' ')
		length++;
	return length;
}

static void take(const HChar *text, UWord n, const HChar *package, HChar out[NAME_MAX])
{
	SizeT before = VG_(strlen)(package), length = word(text, n);

	if (before + length + 2 > NAME_MAX)
		length = NAME_MAX - 2 - before;
	VG_(strcpy)(out, package);
	if (before)
		out[before++] = '.';
	VG_(memcpy)(out + before, text, length);
	out[before + length] = '\0';
}

/* Does the text start with a benchmark's figures, which follow its name: "       1\t"? */
static Bool is_result(const HChar *text, UWord n)
{
	UWord i = 0;

	while (i < n && text[i] == ' ')
		i++;
	UWord digits = i;
	while (i < n && text[i] >= '0' && text[i] <= '9')
		i++;
	return i > digits && i < n && text[i] == '\t';
}

static void finish(void)
{
	if (bench.state == PAUSED) {
		bench.state = NONE;
		fzc_control_resume();
		fzc_control_run(bench.name);
	} else if (bench.state != NONE) {
		fzc_write_failure(bench.name, bench.state == OPEN
						      ? "it did not end"
						      : "it never looks at b.N, nor calls b.Loop");
		drop();
	}
	bench.name[0] = '\0';
}

/* "--- FAIL: BenchmarkSort\n    sort_test.go:7: it is broken\n" */
static void fail(const HChar *text, UWord n)
{
	HChar name[NAME_MAX], why[NAME_MAX];
	SizeT length = 0;

	take(text, n, bench.package, name);
	SizeT skip = word(text, n);
	while (skip < n && text[skip] <= ' ')
		skip++;
	while (skip + length < n && length < NAME_MAX - 1 && text[skip + length] != '\n')
		length++;
	VG_(memcpy)(why, text + skip, length);
	why[length] = '\0';
	drop();
	bench.name[0] = '\0';
	fzc_write_failure(name, length ? why : "it failed");
}

void fzc_gotest_output(const HChar *text, UWord n)
{
	static const HChar package[] = "pkg: ", failed[] = "--- FAIL: ";

	if (!bench.b)
		return;
	if (begins(text, n, package)) {
		take(text + sizeof(package) - 1, n - sizeof(package) + 1, "", bench.package);
	} else if (begins(text, n, failed)) {
		fail(text + sizeof(failed) - 1, n - sizeof(failed) + 1);
	} else if (begins(text, n, "Benchmark") && n && text[n - 1] == '\t') {
		take(text, n, bench.package, bench.name);
	} else if (bench.name[0] && is_result(text, n)) {
		if (!bench.times && !bench.told)
			fzc_write_failure(bench.name,
					  "benchmarks of Go are counted where 'go test -bench' "
					  "starts them, not by themselves");
		bench.told = bench.told || !bench.times;
		finish();
	}
}
