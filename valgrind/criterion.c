/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of the Rust crate criterion, whose programs mark nothing. Its Bencher reads the clock
 * four times around a body, which it runs once with --test:
 *
 *   Testing sort/100          it prints a name
 *   Bencher::iter             and calls one of its functions that are never inlined
 *       Instant::now          1
 *       WallTime::start       2  <- returns: begins
 *       body
 *       WallTime::end         3  <- begins: ends
 *       Instant::elapsed      4
 *   Success                   the run is written
 *
 * CodSpeed's variant of the crate reads it once more before 2 and once more after 3.
 *
 * Which functions read the clock depends on inlining, but the Bencher itself always calls them. A
 * body that was inlined and reads the clock, or that measures itself (iter_custom), makes more such
 * calls: it is not counted, and reported.
 */
#include "fzcount.h"

#include "control.h"
#include "criterion.h"

enum { NAME_MAX = 4096, LOOKS = 4, VARIANT_LOOKS = 6 };

static struct {
	HChar name[NAME_MAX]; /* of the benchmark that runs; "": none */
	UInt looks, wanted;   /* its Bencher's clock reads, and how many to expect: half before the
				 body */
	Bool sure;            /* it is criterion's */
	Bool doubt;           /* this may not be its name */
	Bool seen;            /* the program has used criterion */
	Bool told;            /* missing names were reported */
} bench = { .wanted = LOOKS };

static Bool has(const HChar *text, const HChar *part)
{
	return VG_(strstr)(text, part) != NULL;
}

/* Matches both of Rust's manglings: "..7Instant3now17h0123456789abcdefE", "..7Instant3now". */
static const struct {
	const HChar *of, *type, *method;
} clocks[] = {
	{ "4time", "7Instant", "3now" },     { "4time", "7Instant", "7elapsed" },
	{ "4time", "8Timespec", "3now" },    { "criterion", "WallTime", "5start" },
	{ "criterion", "WallTime", "3end" }, { "4time", "3nix", "13clock_gettime" },
};

static Bool ends(const HChar *name, const HChar *with)
{
	SizeT length = VG_(strlen)(with);

	for (const HChar *at = name; (at = VG_(strstr)(at, with)); at++)
		if (!at[length] || at[length] == '.' || VG_(strncmp)(at + length, "17h", 3) == 0)
			return True;
	return False;
}

Bool fzc_criterion_is_clock(const HChar *name)
{
	for (UInt i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (has(name, clocks[i].of) && has(name, clocks[i].type) &&
		    ends(name, clocks[i].method))
			return True;
	return VG_(strcmp)(name, "clock_gettime") == 0 || VG_(strcmp)(name, "__clock_gettime") == 0;
}

/* Was the function that begins here called by the Bencher itself? */
static Bool is_benchers(void)
{
	const struct fzc_function *caller = fzc_now.top->node->function;

	if (fzc_now.node != &fzc_called || !caller)
		return False;
	if (has(caller->name, "9criterion7bencher"))
		bench.wanted = LOOKS;
	else if (has(caller->name, "codspeed_criterion_compat_walltime7bencher"))
		bench.wanted = VARIANT_LOOKS;
	else
		return False;
	return True;
}

Bool fzc_criterion_enter_clock(void)
{
	if (!is_benchers())
		return False;
	bench.seen = True;
	if (!bench.name[0] && !bench.told) {
		bench.told = True;
		fzc_write_failure("criterion",
				  "its benchmarks have names only with --test, which is "
				  "added where 'cargo bench' starts them");
	}
	bench.looks++;
	if (bench.looks == bench.wanted / 2 + 1 && bench.name[0])
		fzc_control_pause();
	return bench.looks == bench.wanted / 2 && bench.name[0];
}

void fzc_criterion_begin(void)
{
	fzc_control_start(bench.name);
}

/* The reason why the benchmark that ran is not counted; NULL if it is. */
static const HChar *why_not(void)
{
	if (bench.doubt)
		return "its name is uncertain: the program prints lines like criterion's";
	if (bench.looks != bench.wanted)
		return "its body cannot be separated from the harness: it reads the clock itself "
		       "(iter_custom), or was inlined";
	return NULL;
}

void fzc_criterion_end(void)
{
	const HChar *why = why_not();

	if (bench.name[0] && bench.seen && !why) {
		fzc_control_resume();
		fzc_control_run(bench.name);
	} else if (bench.name[0] && bench.seen && (bench.sure || bench.looks)) {
		if (bench.looks >= bench.wanted / 2)
			fzc_control_drop();
		fzc_write_failure(bench.name, why);
	}
	bench.name[0] = '\0';
	bench.looks = 0;
	bench.sure = bench.doubt = False;
}

/* Is the function of Rust's own crates, or not Rust at all? */
static Bool is_below(const HChar *name)
{
	static const HChar *const crates[] = { "3std", "std..", "4core", "core..", "5alloc" };
	Bool is = VG_(strncmp)(name, "_ZN", 3) != 0 && VG_(strncmp)(name, "_R", 2) != 0;

	for (UInt i = 0; i < sizeof(crates) / sizeof(crates[0]); i++)
		is = is || has(name, crates[i]);
	return is;
}

/* Is it surely criterion that prints? False is no proof: it may be inlined into the program. */
static Bool is_report(void)
{
	for (const struct fzc_node *n = fzc_now.node; n && n->function; n = n->parent)
		if (has(n->function->name, "criterion"))
			return True;
		else if (!is_below(n->function->name))
			return False;
	return False;
}

static Bool begins(const HChar *text, UWord n, const HChar *with)
{
	SizeT length = VG_(strlen)(with);

	return n >= length && VG_(strncmp)(text, with, length) == 0;
}

void fzc_criterion_output(const HChar *text, UWord n)
{
	static const HChar testing[] = "Testing ";
	SizeT skip = sizeof(testing) - 1;

	/* A line comes in a single write, perhaps behind an unfinished one of the program. */
	while (n && !begins(text, n, testing) && !begins(text, n, "Success\n"))
		text++, n--;
	if (!n)
		return;
	Bool certain = is_report();
	bench.seen = bench.seen || certain;
	bench.sure = bench.sure || !begins(text, n, testing);
	if (bench.name[0] && begins(text, n, testing) && !certain) {
		bench.doubt = True;
		return;
	}
	fzc_criterion_end();
	if (!begins(text, n, testing))
		return;
	for (n -= skip, text += skip; n && text[n - 1] == '\n';)
		n--;
	if (n >= NAME_MAX)
		n = NAME_MAX - 1;
	VG_(memcpy)(bench.name, text, n);
	bench.name[n] = '\0';
	bench.sure = certain;
}
