/* SPDX-License-Identifier: MIT */
/* Notes on how a comparison was measured, and the command that would measure it better; see
 * advice.h.
 *
 *   the recordings' facts -> notes
 *   verdict, notes        -> would a better measurement help?
 *   their commands        -> the command to paste
 *
 * The command repeats the measurement: it compares two commands with each other, or an edited
 * working tree with the commit that the base ran. If the base's code is unknown, it cannot run
 * again; both versions then need several recorded runs.
 */
#include "report/advice.h"

#include "base/text.h"
#include "profile/fleet_fact.h"
#include "profile/runs.h"

#include <math.h>
#include <string.h>

enum { RUNS_DEFAULT = 3, RUNS_MAX = 100, COMMAND_MAX = 4000, COMMIT_DIGITS = 10 };

/* Share of a program's time above which waits for disks are reported. */
#define DISK_LIMIT 0.05

/* ---- notes ---- */

/* Append "waits for a processor (base 12.0 %, head 31.4 %)" if either share is above the limit,
 * after `begin` if it is the first. */
static void add_shares(const char *begin, const char *what, const double *share, double limit,
		       struct fz_buf *out)
{
	char number[FZ_NUMBER_SIZE];
	const char *before = " (";

	if (!(share[FZ_BASE] > limit || share[FZ_HEAD] > limit))
		return;
	fz_buf_printf(out, "%s%s", out->n ? ", " : begin, what);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (isnan(share[s]))
			continue;
		fz_buf_printf(out, "%s%s %s", before, fz_side_names[s],
			      fz_format_percent(share[s], number));
		before = ", ";
	}
	fz_buf_char(out, ')');
}

static void add_busy(const struct fz_diff *d, struct fz_buf *out)
{
	const struct fz_busy limit = FZ_BUSY_LIMITS;
	const struct fz_busy b = fz_profile_busy(d->profile[FZ_BASE]);
	const struct fz_busy h = fz_profile_busy(d->profile[FZ_HEAD]);
	const struct {
		const char *what;
		double share[FZ_SIDES], limit;
	} shares[] = {
		{ "threads waited for a CPU", { b.waited, h.waited }, limit.waited },
		{ "other processes used the CPUs", { b.others, h.others }, limit.others },
		{ "other virtual machines used the CPUs", { b.stolen, h.stolen }, limit.stolen },
		{ "samples were late", { b.missed, h.missed }, limit.missed },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(shares); i++)
		add_shares("The machine was busy: ", shares[i].what, shares[i].share,
			   shares[i].limit, out);
}

/* Single runs only: several runs show how much disk time varies. */
static void add_disk(const struct fz_diff *d, struct fz_buf *out)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	const double share[FZ_SIDES] = { fz_profile_on_disk(base), fz_profile_on_disk(head) };

	if (base->run_count > 1 || head->run_count > 1 || strcmp(d->metric, "wall") != 0)
		return;
	add_shares("", "The program waited for disks", share, DISK_LIMIT, out);
	if (out->n)
		fz_buf_str(out, "; several runs would show how much that varies");
}

/* "41.0 s", "3.2 hours" */
static void add_time(double ns, struct fz_buf *out)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = { { 86400, "days" }, { 3600, "hours" }, { 60, "minutes" } };
	char number[FZ_NUMBER_SIZE];

	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++) {
		if (ns < 2e9 * units[i].seconds)
			continue;
		fz_buf_printf(out, "%s %s",
			      fz_format_decimal(ns / 1e9 / units[i].seconds, 1, number),
			      units[i].name);
		return;
	}
	fz_buf_str(out, fz_format_ns(ns, number));
}

static double first_start(const struct fz_profile *p)
{
	double first = INFINITY;

	for (uint32_t i = 0; i < p->run_count; i++)
		first = fmin(first, (double)p->runs[i].start_unix_ns);
	return first;
}

/* Did runs alternate? Also true for releases of a fleet, which cannot alternate. */
static bool is_in_turn(const struct fz_diff *d)
{
	return fz_profile_is_fleet(d->profile[FZ_HEAD]) ||
	       fz_runs_alternate(d->profile[FZ_BASE], d->profile[FZ_HEAD]);
}

static void add_order(const struct fz_diff *d, struct fz_buf *out)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	double apart = first_start(head) - first_start(base);
	bool all = fz_runs_imbalance(base, head) == 1;

	if (is_in_turn(d) || fz_diff_is_one_recording(d))
		return;
	fz_buf_str(out, "Runs were not interleaved: ");
	if (base->run_count == 1 && head->run_count == 1) {
		fz_buf_str(out, "the head was recorded ");
		add_time(fabs(apart), out);
		fz_buf_str(out, apart > 0 ? " after the base" : " before the base");
	} else {
		fz_buf_printf(out, "%s %s runs came before the %s runs", all ? "all" : "most",
			      fz_side_names[apart > 0 ? FZ_BASE : FZ_HEAD],
			      fz_side_names[apart > 0 ? FZ_HEAD : FZ_BASE]);
	}
}

/* ---- is the result open? ---- */

static bool is_sampled(const struct fz_judgement *j)
{
	return j->method == FZ_JUDGE_VISITS || j->method == FZ_JUDGE_APPROXIMATE ||
	       j->method == FZ_JUDGE_RUNS;
}

/* Would another measurement help? A certain change between single runs needs no better order. A
 * verdict from alternating runs holds on a busy machine, too, because their interval includes that
 * noise. */
static bool is_open(const struct fz_diff *d, const struct fz_judgement *j, bool busy)
{
	if (j->run.word == FZ_RUN_UNKNOWN)
		return true;
	return j->method == FZ_JUDGE_RUNS ? !is_in_turn(d) : busy;
}

/* ---- the command to paste ---- */

/* Does a terminal show the text unchanged, so that it can be pasted? */
static bool can_be_pasted(struct fz_str s)
{
	char plain[COMMAND_MAX], shown[4 * COMMAND_MAX];

	if (s.n == 0 || s.n >= sizeof(plain))
		return false;
	for (size_t i = 0; i < s.n; i++)
		plain[i] = s.p[i] == '\n' || s.p[i] == '\t' ? ' ' : s.p[i];
	size_t n = fz_str_printable(plain, s.n, shown, sizeof(shown));
	return n == s.n && memcmp(plain, shown, n) == 0;
}

static void add_quoted(struct fz_str s, struct fz_buf *out)
{
	fz_auto(fz_free_ptr) char *text = fz_strndup(s.p, s.n);

	fz_buf_shell_word(out, text);
}

/* Append what a shell runs for "sh -c 'make && ./a'", as compare runs the commands of its options;
 * another command as it is. */
static void add_shell_text(struct fz_str command, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_str shown = command, begin = FZ_STR("sh -c ");

	if (fz_str_starts(command, begin.p) &&
	    fz_buf_shell_unquote(&text,
				 (struct fz_str){ command.p + begin.n, command.n - begin.n }) &&
	    text.n)
		shown = fz_buf_view(&text);
	fz_buf_add(out, shown.p, shown.n);
}

/* Append a side's command as one word, with its folder if the sides have different ones. */
static void add_side(const struct fz_diff *d, enum fz_side s, struct fz_buf *out)
{
	struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], "cwd");
	struct fz_str head = fz_profile_fact(d->profile[FZ_HEAD], "cwd");
	struct fz_str command = fz_profile_fact(d->profile[s], "command");
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (!fz_str_eq(base, head)) {
		fz_buf_str(&text, "cd ");
		add_quoted(s == FZ_BASE ? base : head, &text);
		fz_buf_str(&text, " && ");
		fz_buf_add(&text, command.p, command.n);
	} else {
		add_shell_text(command, &text);
	}
	fz_buf_printf(out, " --%s-command ", fz_side_names[s]);
	fz_buf_shell_word(out, text.p);
}

/* Did the program wait most of its time? The CPU clock would not show that. */
static bool mostly_waits(const struct fz_profile *p)
{
	double used = 0, lasted = 0;

	for (uint32_t i = 0; i < p->run_count; i++) {
		if (!p->runs[i].load.machine_ns)
			return false;
		used += (double)p->runs[i].load.used_ns + (double)p->runs[i].load.waited_ns;
		lasted += (double)p->runs[i].duration_ns;
	}
	return used < lasted / 2;
}

/* Number of runs per side needed to detect 5 %; 0 if that is unreasonably many. */
static uint32_t runs_needed(const struct fz_diff *d, const struct fz_judgement *j)
{
	uint32_t have = FZ_MIN(d->profile[FZ_BASE]->run_count, d->profile[FZ_HEAD]->run_count);

	/* The negated comparison also holds for NaN (unknown). As many alternating runs as before
	 * would show the same. */
	if (j->run.word != FZ_RUN_UNKNOWN || !(j->run.more_runs > 0)) {
		bool again = j->method == FZ_JUDGE_RUNS && is_in_turn(d);
		return FZ_MAX(again ? FZ_MIN(2 * have, (uint32_t)RUNS_MAX) : have,
			      (uint32_t)RUNS_DEFAULT);
	}
	if (j->run.more_runs > RUNS_MAX)
		return 0;
	return FZ_MAX(have + (uint32_t)ceil(j->run.more_runs), (uint32_t)RUNS_DEFAULT);
}

/* Is --count the only remaining way? Unknown for a single run per side, because alternating runs
 * may have less noise. */
static bool only_counts_help(const struct fz_diff *d, const struct fz_judgement *j)
{
	return j->method == FZ_JUDGE_RUNS && is_in_turn(d) && runs_needed(d, j) == 0;
}

static void add_options(const struct fz_diff *d, const struct fz_judgement *j, struct fz_buf *out)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	struct fz_str setup = fz_profile_fact(head, "setup");
	uint32_t runs = runs_needed(d, j);

	if (setup.n) {
		fz_buf_str(out, " --setup ");
		add_quoted(setup, out);
	}
	if (only_counts_help(d, j)) {
		fz_buf_str(out, " --count");
		return;
	}
	if (strcmp(d->metric, "wall") == 0 && mostly_waits(base) && mostly_waits(head)) {
		fz_buf_str(out, " --clock wall");
		if (base->recording.features & head->recording.features & FZ_FEATURE_ALL_THREADS)
			fz_buf_str(out, " -a");
	}
	if (runs > RUNS_DEFAULT)
		fz_buf_printf(out, " -n %u", runs);
}

/* The commit that the base ran, without edits; "" if unknown. */
static struct fz_str commit_of_base(const struct fz_diff *d)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	struct fz_str commit = fz_profile_fact(base, "git.commit");
	bool edited = !fz_str_eq(fz_profile_fact(head, "git.dirty"), FZ_STR("no"));

	if (!fz_str_eq(fz_profile_fact(base, "git.dirty"), FZ_STR("no")))
		return FZ_STR("");
	/* Same code on both sides: only more runs help. */
	if (fz_str_eq(commit, fz_profile_fact(head, "git.commit")) && !edited)
		return FZ_STR("");
	return (struct fz_str){ commit.p, FZ_MIN(commit.n, (size_t)COMMIT_DIGITS) };
}

/* Only successful commands that can be pasted are worth repeating. */
static bool can_run_again(const struct fz_diff *d)
{
	if (d->urgent)
		return false;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (!d->profile[s]->recording.complete ||
		    !can_be_pasted(fz_profile_fact(d->profile[s], "command")) ||
		    !can_be_pasted(fz_profile_fact(d->profile[s], "cwd")))
			return false;
	return true;
}

static bool same_fact(const struct fz_diff *d, const char *key)
{
	return fz_str_eq(fz_profile_fact(d->profile[FZ_BASE], key),
			 fz_profile_fact(d->profile[FZ_HEAD], key));
}

/* "project/sub" for /home/me/project/sub in the checkout /home/me/project. */
static struct fz_str place_in_checkout(const struct fz_profile *p)
{
	struct fz_str cwd = fz_profile_fact(p, "cwd"), top = fz_profile_fact(p, "checkout");
	size_t above = top.n - fz_path_base(top).n;

	if (!top.n || cwd.n < top.n || memcmp(cwd.p, top.p, top.n) != 0)
		return cwd;
	return (struct fz_str){ cwd.p + above, cwd.n - above };
}

/* Did both sides run in the same place? Also true for two checkouts of one project, because
 * compare's checkout of a revision no longer exists. */
static bool same_place(const struct fz_diff *d)
{
	if (same_fact(d, "cwd"))
		return true;
	return fz_str_eq(fz_profile_fact(d->profile[FZ_BASE], "git.dirty"), FZ_STR("no")) &&
	       fz_str_eq(place_in_checkout(d->profile[FZ_BASE]),
			 place_in_checkout(d->profile[FZ_HEAD]));
}

static void add_command(const struct fz_diff *d, const struct fz_judgement *j, struct fz_advice *b)
{
	struct fz_str command = fz_profile_fact(d->profile[FZ_HEAD], "command");
	struct fz_str commit = commit_of_base(d);
	struct fz_buf text = { 0 };

	if (!same_fact(d, "command") || !same_place(d)) {
		fz_buf_str(&text, "fizeau compare");
		add_options(d, j, &text);
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			add_side(d, s, &text);
	} else if (commit.n) {
		fz_buf_str(&text, "fizeau compare");
		add_options(d, j, &text);
		fz_buf_printf(&text, " %.*s -- %.*s", (int)commit.n, commit.p, (int)command.n,
			      command.p);
	} else {
		uint32_t runs = runs_needed(d, j);
		fz_buf_printf(&text, "fizeau run --runs %u -- %.*s",
			      runs > RUNS_DEFAULT ? runs : 2 * RUNS_DEFAULT, (int)command.n,
			      command.p);
		b->each = true;
		b->advice = fz_strdup("For a clear answer, record several runs of each version");
	}
	b->command = fz_buf_take(&text);
}

/* One whole run per side of an unknown command, as in files of most other profilers? */
static bool are_foreign_runs(const struct fz_diff *d, const struct fz_judgement *j)
{
	return j->method != FZ_JUDGE_RUNS && d->scale != FZ_SCALE_WINDOW && !d->urgent &&
	       (!fz_profile_fact(d->profile[FZ_BASE], "command").n ||
		!fz_profile_fact(d->profile[FZ_HEAD], "command").n);
}

static void add_more_recordings(struct fz_advice *b)
{
	b->advice = fz_strdup("For a clear answer, record several runs of each version");
	b->command = fz_strdup("fizeau diff BASE... :: HEAD...  # several files per side");
}

static void add_note(struct fz_advice *b, const char *brief, struct fz_buf *note)
{
	if (!note->n)
		return;
	b->briefs[b->n] = brief;
	b->notes[b->n++] = fz_buf_take(note);
}

void fz_advice_init(struct fz_advice *ret, const struct fz_diff *d, const struct fz_judgement *j)
{
	struct fz_buf busy = { 0 }, disk = { 0 }, order = { 0 };
	bool known = can_run_again(d);

	*ret = (struct fz_advice){ 0 };
	if (!is_sampled(j))
		return;
	add_busy(d, &busy);
	add_order(d, &order);
	ret->busy = busy.n > 0;
	bool open = is_open(d, j, ret->busy);
	add_disk(d, &disk);
	add_note(ret, "the machine was busy", &busy);
	add_note(ret, "the program waited for disks", &disk);
	add_note(ret, "runs were not interleaved", &order);
	if (open && known)
		add_command(d, j, ret);
	else if (open && are_foreign_runs(d, j))
		add_more_recordings(ret);
	if (ret->command && !ret->advice)
		ret->advice =
			fz_strdup(only_counts_help(d, j)
					  ? "For a clear answer, count instructions, which noise "
					    "does not affect"
					  : "For a clear answer, interleave runs of both versions");
}

void fz_advice_release(struct fz_advice *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		free(b->notes[i]);
	free(b->advice);
	free(b->command);
	*b = (struct fz_advice){ 0 };
}
