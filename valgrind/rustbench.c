/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Benchmarks of the Rust crates divan and bencher, whose programs mark nothing. Both print a name
 * before they run a benchmark, and read the clock around its body:
 *
 *   divan, with --test: "|- args", "|  |- 1000"
 *       Instant::now      1
 *       Instant::now      2  <- returns: begins
 *       body
 *       Instant::now      3  <- begins: ends
 *   "\n"                     the run is written
 *
 *   bencher: "test plain ... "
 *       Instant::now      1  <- returns: begins
 *       body
 *       Instant::elapsed  2  <- begins: ends
 *       more of them
 *   ": 567 ns/iter ..."      the run is written
 *
 * divan's own functions read the clock, or a single one into which all of them were inlined. Those
 * of bencher are inlined into the program's functions: we take the first reads, for all later ones
 * belong to repetitions of the same body.
 *
 * CodSpeed's variant of divan reads the clock once more before 2 and once more after 3.
 */
#include "fzcount.h"

#include "control.h"
#include "rustbench.h"

#include "pub_tool_clientstate.h"

enum { NAME_MAX = 4096, DEPTH_MAX = 32 };

/* The variant comes first: names of its functions contain divan's mark, too. */
enum crate { NO_CRATE, DIVAN_VARIANT, DIVAN, BENCHER, CRATES };

static const struct {
	const HChar *mark; /* in mangled names of its functions */
	UInt start, end, looks;
} crates[CRATES] = {
	[NO_CRATE] = { "", 0, 0, 0 },
	[DIVAN_VARIANT] = { "codspeed_divan_compat_walltime", 3, 4, 5 },
	[DIVAN] = { "5divan", 2, 3, 3 },
	[BENCHER] = { "7bencher", 1, 2, 0 },
};

static struct {
	enum crate crate;
	HChar name[NAME_MAX]; /* "": none runs */
	UInt looks;
	const struct fzc_node *first; /* the first that read the clock; NULL: none did */
	HChar path[NAME_MAX];         /* divan: names of the groups around it, */
	SizeT ends[DEPTH_MAX];        /* and where each of them ends */
} bench;

static Bool is_in(const struct fzc_function *f, const HChar *part)
{
	return f && VG_(strstr)(f->name, part);
}

/* The crate whose function prints. */
static enum crate printer(void)
{
	for (const struct fzc_node *n = fzc_now.node; n && n->function; n = n->parent)
		for (UInt i = NO_CRATE + 1; i < CRATES; i++)
			if (is_in(n->function, crates[i].mark))
				return i;
	return NO_CRATE;
}

/* ---- clock reads ---- */

/* Is this the outermost call of a clock function? Ignores divan's measuring, under Once, of what a
 * read costs. */
static Bool is_outermost(const struct fzc_node *caller)
{
	return fzc_now.node == &fzc_called && caller->function && !caller->function->hook &&
	       !is_in(caller->function, "4sync4once");
}

static Bool counts(void)
{
	const struct fzc_node *caller = fzc_now.top->node;

	if (!is_outermost(caller))
		return False;
	if (!bench.first)
		bench.first = caller;
	return bench.crate == BENCHER || caller == bench.first ||
	       is_in(caller->function, crates[bench.crate].mark);
}

Bool fzc_rustbench_enter_clock(void)
{
	if (!bench.name[0] || !counts())
		return False;
	bench.looks++;
	if (bench.looks == crates[bench.crate].end)
		fzc_control_pause();
	return bench.looks == crates[bench.crate].start;
}

Bool fzc_rustbench_begin(void)
{
	if (!bench.name[0] || bench.looks != crates[bench.crate].start)
		return False;
	fzc_control_start(bench.name);
	return True;
}

void fzc_rustbench_end(void)
{
	UInt wanted = crates[bench.crate].looks, least = crates[bench.crate].end;

	if (!bench.name[0])
		return;
	if (bench.looks >= least && (!wanted || bench.looks == wanted)) {
		fzc_control_resume();
		fzc_control_run(bench.name);
	} else if (bench.first) {
		if (bench.looks >= crates[bench.crate].start)
			fzc_control_drop();
		fzc_write_failure(bench.name,
				  "its body cannot be separated from the harness: it reads "
				  "the clock itself, has several threads, or was inlined");
	}
	bench.name[0] = '\0';
}

/* CodSpeed's variants of criterion and divan make callgrind requests around all rounds of a
 * benchmark together, and with --test without its name. */
Bool fzc_rustbench_marks(void)
{
	for (const struct fzc_node *n = fzc_now.node; n && n->function; n = n->parent)
		if (is_in(n->function, "codspeed_criterion_compat_walltime") ||
		    is_in(n->function, crates[DIVAN_VARIANT].mark))
			return fzc_options.harnesses;
	return False;
}

/* ---- names ---- */

static void begin(const HChar *before, const HChar *text, UWord n)
{
	SizeT length = VG_(strlen)(before);

	if (length + n + 3 > NAME_MAX)
		return;
	VG_(strcpy)(bench.name, before);
	if (length)
		VG_(strcat)(bench.name, "::");
	length = VG_(strlen)(bench.name);
	VG_(memcpy)(bench.name + length, text, n);
	bench.name[length + n] = '\0';
	bench.looks = 0;
	bench.first = NULL;
}

/* Skip the line drawing, in characters of three bytes: a bar or blank and two blanks for each
 * level, two characters and a blank for the branch. */
static UWord skip_lines(const HChar *text, UWord n, UInt *ret_depth)
{
	UWord at = 0;

	*ret_depth = 0;
	while (at < n && ((UChar)text[at] == 0xe2 || text[at] == ' ')) {
		UWord columns = 0;
		for (; columns < 3 && at < n; columns++)
			at += (UChar)text[at] == 0xe2 ? 3 : 1;
		(*ret_depth)++;
	}
	return at < n ? at : n;
}

/* A complete line names a group; an incomplete one names a benchmark, which runs next. */
static void take_tree(const HChar *text, UWord n)
{
	UInt depth;
	UWord at = skip_lines(text, n, &depth);
	Bool whole = n && text[n - 1] == '\n';

	text += at;
	for (n -= at; n && (text[n - 1] == '\n' || text[n - 1] == ' ');)
		n--;
	if (!n || depth >= DEPTH_MAX)
		return;
	bench.path[depth ? bench.ends[depth - 1] : 0] = '\0';
	if (!whole) {
		begin(bench.path, text, n);
		return;
	}
	SizeT length = VG_(strlen)(bench.path);
	if (length + n + 3 > NAME_MAX)
		return;
	if (length)
		VG_(strcat)(bench.path, "::");
	length = VG_(strlen)(bench.path);
	VG_(memcpy)(bench.path + length, text, n);
	bench.path[length + n] = '\0';
	bench.ends[depth] = length + n;
}

/* "sums" for "target/release/deps/sums-0123456789abcdef", where cargo added the rest. */
static void program_name(HChar out[NAME_MAX])
{
	const HChar *path = VG_(args_the_exename) ? VG_(args_the_exename) : "";
	const HChar *slash = VG_(strrchr)(path, '/');

	VG_(strncpy)(out, slash ? slash + 1 : path, NAME_MAX - 1);
	out[NAME_MAX - 1] = '\0';
	HChar *dash = VG_(strrchr)(out, '-');
	if (dash && VG_(strlen)(dash) == 17)
		*dash = '\0';
}

/* "test plain    ... " */
static void take_test(const HChar *text, UWord n)
{
	static const HChar test[] = "test ", dots[] = "... ";
	HChar program[NAME_MAX];

	if (n < sizeof(test) + sizeof(dots) || VG_(strncmp)(text, test, sizeof(test) - 1) != 0 ||
	    VG_(strncmp)(text + n - sizeof(dots) + 1, dots, sizeof(dots) - 1) != 0)
		return;
	text += sizeof(test) - 1;
	for (n -= sizeof(test) + sizeof(dots) - 2; n && text[n - 1] == ' ';)
		n--;
	program_name(program);
	begin(program, text, n);
}

void fzc_rustbench_output(const HChar *text, UWord n)
{
	enum crate crate = printer();

	if (crate == NO_CRATE)
		return;
	fzc_rustbench_end();
	bench.crate = crate;
	if (crate == BENCHER)
		take_test(text, n);
	else
		take_tree(text, n);
}
