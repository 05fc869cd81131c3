/* SPDX-License-Identifier: MIT */
/* Checks whether two recordings can be compared.
 *
 * The difference of any two recordings looks like a finding. So a different setting is an error if
 * it changes the meaning of figures (clock, mode, features; only if both sides have the setting),
 * and otherwise a warning. Different versions of Python and programs of different names are
 * warnings, because people do compare them.
 */
#include "compare/stages.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/table.h"
#include "compare/comprehensions.h"
#include "profile/callgraph.h"
#include "profile/fleet_fact.h"
#include "profile/merge.h"
#include "profile/origin.h"
#include "profile/runs.h"

#include <ctype.h>
#include <inttypes.h>

enum {
	AGE_DAYS = 7,
	UNSAMPLED_NS = 100000000,
	COMMAND_START = 40,  /* bytes of a shared start that are printed */
	COMMAND_BEFORE = 12, /* least number of bytes printed before a difference */
	COMMAND_COLUMNS = 120
};

static const double unsampled_part = 0.2;

static char *feature_names(unsigned features)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ FZ_FEATURE_ALL_THREADS, "all threads" },
		{ FZ_FEATURE_NATIVE, "native" },
		{ FZ_FEATURE_GC, "gc" },
		{ FZ_FEATURE_OPCODES, "opcodes" },
		{ FZ_FEATURE_BLOCKING, "blocking" },
		{ FZ_FEATURE_TASKS, "tasks" },
		{ FZ_FEATURE_WAITING_TASKS, "waiting tasks" },
		{ FZ_FEATURE_WAITS, "waits" },
		{ FZ_FEATURE_MACHINE, "all processes" },
		{ FZ_FEATURE_GROWTH, "growth" },
		{ FZ_FEATURE_SAMPLED_WAITS, "sampled waits" },
	};
	struct fz_buf out = { 0 };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (features & names[i].bit)
			fz_buf_printf(&out, "%s%s", out.n ? ", " : "", names[i].name);
	if (!out.n)
		fz_buf_str(&out, "none");
	return fz_buf_take(&out);
}

/* ---- what must agree ---- */

/* One line of the configuration of both recordings; "" if unknown. */
struct setting {
	const char *title;
	char *value[FZ_SIDES];
	bool differs; /* a difference that makes the recordings incomparable */
};
enum {
	SETTING_CLOCK,
	SETTING_PROCESSOR,
	SETTING_MODE,
	SETTING_FEATURES,
	SETTING_PROGRAM,
	SETTING_PYTHON,
	SETTINGS
};

static char *fact_of(const struct fz_profile *p, const char *key)
{
	struct fz_str fact = fz_profile_fact(p, key);

	return fz_strndup(fact.p, FZ_MIN(fact.n, 100));
}

static char *python_of(const struct fz_recording *r)
{
	if (!r->python[0])
		return fz_strdup("");
	return fz_asprintf("%d.%d.%d", r->python[0], r->python[1], r->python[2]);
}

static void read_recording(const struct fz_recording *r, enum fz_side s, struct setting *settings)
{
	settings[SETTING_MODE].value[s] = fz_strdup(fz_mode_names[r->mode]);
	settings[SETTING_FEATURES].value[s] =
		r->features_known ? feature_names(r->features) : fz_strdup("");
}

static void read_profile(const struct fz_profile *p, enum fz_side s, struct setting *settings)
{
	read_recording(&p->recording, s, settings);
	settings[SETTING_CLOCK].value[s] = fact_of(p, "clock");
	settings[SETTING_PROCESSOR].value[s] = fact_of(p, "processor");
	settings[SETTING_PROGRAM].value[s] = fact_of(p, "program");
	settings[SETTING_PYTHON].value[s] = python_of(&p->recording);
}

/* Length of the part that must be equal: "perf task-clock, woken in user mode only" is the same
 * clock.
 */
static size_t kind_length(int i, const char *value)
{
	return i == SETTING_CLOCK ? strcspn(value, ",") : strlen(value);
}

static const char *const setting_titles[SETTINGS] = {
	[SETTING_CLOCK] = "clock",     [SETTING_PROCESSOR] = "selected processor",
	[SETTING_MODE] = "mode",       [SETTING_FEATURES] = "recorded data",
	[SETTING_PROGRAM] = "program", [SETTING_PYTHON] = "Python version",
};

static bool compare_settings(struct setting *settings)
{
	bool differ = false;

	for (int i = 0; i < SETTINGS; i++) {
		struct setting *x = &settings[i];
		const char *base = x->value[FZ_BASE], *head = x->value[FZ_HEAD];

		x->title = setting_titles[i];
		if (!base || !head || !*base || !*head || i == SETTING_PYTHON ||
		    i == SETTING_PROGRAM)
			continue;
		size_t n = kind_length(i, base);
		x->differs = n != kind_length(i, head) || memcmp(base, head, n) != 0;
		differ |= x->differs;
	}
	return differ;
}

static void release_settings(struct setting *settings)
{
	for (int i = 0; i < SETTINGS; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			free(settings[i].value[s]);
}

static void append_differences(const struct setting *settings, struct fz_buf *out)
{
	size_t start = out->n;

	for (int i = 0; i < SETTINGS; i++)
		if (settings[i].differs)
			fz_buf_printf(out, "%s%s (base: %s; head: %s)", out->n > start ? ", " : "",
				      settings[i].title, settings[i].value[FZ_BASE],
				      settings[i].value[FZ_HEAD]);
}

static int refuse(const struct setting *settings, struct fz_error *err)
{
	struct fz_buf what = { 0 };

	append_differences(settings, &what);
	int r = fz_fail(err, FZ_EINPUT,
			"the recordings differ in %s; record both in the same way, or use --force "
			"to compare them anyway",
			what.p);
	fz_buf_release(&what);
	return r;
}

static bool compare_recordings(const struct fz_recording *base, const struct fz_recording *head,
			       struct setting *settings)
{
	read_recording(base, FZ_BASE, settings);
	read_recording(head, FZ_HEAD, settings);
	return compare_settings(settings);
}

static int check_recordings(const struct fz_recording *base, const struct fz_recording *head,
			    struct fz_error *err)
{
	struct setting settings[SETTINGS] = { 0 };
	int r = compare_recordings(base, head, settings) ? refuse(settings, err) : 0;

	release_settings(settings);
	return r;
}

int fz_diff_add_runs(struct fz_profile *all, const struct fz_profile *p, bool force,
		     struct fz_error *err)
{
	bool first = all->run_count == 0;
	int r = first || force ? 0 : check_recordings(&all->recording, &p->recording, err);

	return r ? r : fz_profile_merge(all, p, err);
}

bool fz_diff_recorded_differently(const struct fz_recording *base, const struct fz_recording *head,
				  struct fz_buf *out)
{
	struct setting settings[SETTINGS] = { 0 };
	bool differ = compare_recordings(base, head, settings);

	append_differences(settings, out);
	release_settings(settings);
	return differ;
}

static void add_setting(struct fz_table *t, size_t i, const void *arg)
{
	const struct setting *s = &((const struct setting *)arg)[i];

	fz_table_cell(t, s->differs ? "*" : "");
	fz_table_cell(t, s->title);
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_table_cell(t, *s->value[side] ? s->value[side] : "unknown");
}

bool fz_diff_differences(const struct fz_profile *base, const struct fz_profile *head,
			 struct fz_buf *out)
{
	static const struct fz_column columns[] = {
		{ .min = 1 },
		{ .gap = 1, .min = 18 },
		{ "base", .gap = 1 },
		{ "head", .gap = 2 },
	};
	static const struct fz_style plain = { .columns = 80 };
	struct setting settings[SETTINGS] = { 0 }, known[SETTINGS];
	size_t n = 0;
	struct fz_table t;

	read_profile(base, FZ_BASE, settings);
	read_profile(head, FZ_HEAD, settings);
	bool differ = compare_settings(settings);
	for (int i = 0; i < SETTINGS; i++)
		if (*settings[i].value[FZ_BASE] || *settings[i].value[FZ_HEAD])
			known[n++] = settings[i];
	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &plain, out);
	if (differ)
		fz_table_print(&t, n, add_setting, known);
	release_settings(settings);
	return differ;
}

static bool is_other_python(const struct fz_diff *d)
{
	const uint8_t *base = d->profile[FZ_BASE]->recording.python;
	const uint8_t *head = d->profile[FZ_HEAD]->recording.python;

	return base[0] && head[0] && memcmp(base, head, 2) != 0;
}

static void warn_about_setting(struct fz_diff *d, int i, const struct setting *s)
{
	const char *base = s->value[FZ_BASE], *head = s->value[FZ_HEAD];

	if (i == SETTING_PYTHON && is_other_python(d))
		fz_diff_warn(d,
			     "the sides ran different versions of Python (base %s, head %s): what "
			     "changed may be Python, not the program",
			     base, head);
	else
		fz_diff_warn(d, "the recordings differ in %s: base %s; head %s", s->title, base,
			     head);
}

/* Fails if settings differ, or with `force` adds warnings. */
static int check_settings(struct fz_diff *d, const struct fz_diff_options *o, struct fz_error *err)
{
	struct setting settings[SETTINGS] = { 0 };
	int r = 0;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		read_profile(d->profile[s], s, settings);
	if (compare_settings(settings) && !o->force)
		r = refuse(settings, err);
	for (int i = 0; !r && i < SETTINGS; i++) {
		const char *base = settings[i].value[FZ_BASE], *head = settings[i].value[FZ_HEAD];
		if (i != SETTING_PROGRAM && *base && *head && strcmp(base, head) != 0)
			warn_about_setting(d, i, &settings[i]);
	}
	release_settings(settings);
	return r;
}

/* ---- what should agree ---- */

static void warn_about_fact(struct fz_diff *d, const char *key, const char *title,
			    const char *remedy)
{
	struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], key);
	struct fz_str head = fz_profile_fact(d->profile[FZ_HEAD], key);

	if (base.n && head.n && !fz_str_eq(base, head))
		fz_diff_warn(d, "the %s differ: base '%.*s', head '%.*s'%s", title,
			     (int)FZ_MIN(base.n, 200), base.p, (int)FZ_MIN(head.n, 200), head.p,
			     remedy);
}

/* The arguments of an interpreter ("v2/bin/python bench.py"), or the whole command of another
 * program. */
static struct fz_str without_interpreter(struct fz_str command)
{
	struct fz_str rest = command;

	return fz_origin_is_interpreter(fz_str_take_word(&rest)) ? fz_str_trimmed(rest) : command;
}

/* Start of the word before the first difference of two commands, if it is far in; else 0. */
static size_t shared_start(struct fz_str a, struct fz_str b)
{
	size_t n = fz_str_shared(a, b);

	if (n <= COMMAND_START)
		return 0;
	n -= COMMAND_BEFORE;
	while (n > 0 && !isspace((unsigned char)a.p[n - 1]))
		n--;
	return n;
}

/* Warns if the recordings are of programs with different names, which may be two builds of one, or
 * a mistake. */
static bool warn_about_programs(struct fz_diff *d)
{
	struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], "program");
	struct fz_str head = fz_profile_fact(d->profile[FZ_HEAD], "program");

	if (!base.n || !head.n || fz_str_eq(base, head))
		return false;
	fz_diff_warn(d, "the recordings are of different programs (base: %.*s; head: %.*s)",
		     (int)base.n, base.p, (int)head.n, head.p);
	fz_diff_make_urgent(d);
	return true;
}

/* Warns if the sides ran other commands. The same program run by another interpreter counts as the
 * same command, because each release is often compared in a virtual environment of its own.
 * Commands may contain quotation marks, so they are printed without. */
static void warn_about_commands(struct fz_diff *d)
{
	static const struct fz_style plain = { 0 };
	static const char *const words[] = { "the commands differ: the base ran ",
					     "; the head ran " };
	struct fz_str whole[FZ_SIDES], args[FZ_SIDES];
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		whole[s] = fz_profile_fact(d->profile[s], "command");
		args[s] = without_interpreter(whole[s]);
	}
	if (!whole[FZ_BASE].n || !whole[FZ_HEAD].n || fz_str_eq(args[FZ_BASE], args[FZ_HEAD]))
		return;
	size_t from = shared_start(args[FZ_BASE], args[FZ_HEAD]);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		struct fz_str rest = { args[s].p + from, args[s].n - from };
		fz_buf_printf(&text, "%s%s", words[s], from ? "... " : "");
		fz_table_text(from ? rest : whole[s], COMMAND_COLUMNS, &plain, &text);
	}
	fz_diff_warn(d, "%s", text.p);
}

/* Parses the next package of "attrs 23.1.0, yaml 6.0"; false at the end. */
static bool next_package(struct fz_str *rest, struct fz_str *ret_name, struct fz_str *ret_version)
{
	struct fz_str item = fz_str_take_item(rest, ", ");
	const char *space = item.n ? memrchr(item.p, ' ', item.n) : NULL;

	if (!space)
		return false;
	*ret_name = (struct fz_str){ item.p, (size_t)(space - item.p) };
	*ret_version = (struct fz_str){ space + 1, item.n - ret_name->n - 1 };
	return true;
}

static bool find_package(struct fz_str list, struct fz_str name, struct fz_str *ret_version)
{
	struct fz_str other;

	while (next_package(&list, &other, ret_version))
		if (fz_str_eq(name, other))
			return true;
	return false;
}

/* Warns about dependencies that both sides ran in different versions. */
static void warn_about_packages(struct fz_diff *d)
{
	struct fz_str base = fz_profile_fact(d->profile[FZ_BASE], "packages");
	struct fz_str head = fz_profile_fact(d->profile[FZ_HEAD], "packages");
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_str name, before, after;

	while (next_package(&base, &name, &before))
		if (find_package(head, name, &after) && !fz_str_eq(before, after))
			fz_buf_printf(&text, "%s%.*s %.*s -> %.*s", text.n ? ", " : "", (int)name.n,
				      name.p, (int)before.n, before.p, (int)after.n, after.p);
	if (text.n)
		fz_diff_warn(d,
			     "package versions differ (%s): a change may come from these packages",
			     text.p);
}

static void warn_about_comprehensions(struct fz_diff *d)
{
	if (fz_diff_knows_python_versions(d->profile[FZ_BASE], d->profile[FZ_HEAD]))
		fz_diff_warn(d, "comprehensions count as part of their function, because only one "
				"side's Python calls them");
	else
		fz_diff_warn(d, "comprehensions count as part of their function, because only one "
				"side has any: the other's Python is assumed to inline them");
}

/* Warns if other load was twice as high on one side and not negligible. */
static void warn_about_load(struct fz_diff *d)
{
	double load[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		struct fz_str fact = fz_profile_fact(d->profile[s], "load.start");
		if (!fact.n)
			return;
		fz_auto(fz_free_ptr) char *text = fz_strndup(fact.p, fact.n);
		load[s] = strtod(text, NULL);
	}
	double low = FZ_MIN(load[FZ_BASE], load[FZ_HEAD]);
	double high = FZ_MAX(load[FZ_BASE], load[FZ_HEAD]);
	if (high - low >= 1 && high >= 2 * low)
		fz_diff_warn(d, "the machine's load differed: base %.2f, head %.2f", load[FZ_BASE],
			     load[FZ_HEAD]);
}

static void warn_about_rate(struct fz_diff *d)
{
	int64_t base = d->profile[FZ_BASE]->recording.interval_ns;
	int64_t head = d->profile[FZ_HEAD]->recording.interval_ns;
	char b[FZ_NUMBER_SIZE], h[FZ_NUMBER_SIZE];

	if (base > 0 && head > 0 && base != head)
		fz_diff_warn(d,
			     "the sampling intervals differ: base %s, head %s; "
			     "scaling takes that into account",
			     fz_format_ns((double)base, b), fz_format_ns((double)head, h));
}

/* Warnings about folded text. */
static void warn_about_numbers(struct fz_diff *d, enum fz_side s)
{
	struct fz_str guess = fz_profile_fact(d->profile[s], "numbers");

	if (guess.n && d->profile[s]->numbers.bare)
		fz_diff_warn(
			d,
			"the %s's numbers are interpreted as %.*s; set --input-unit to change that",
			fz_side_names[s], (int)guess.n, guess.p);
}

static void warn_about_tree(struct fz_diff *d, enum fz_side s)
{
	bool recorded = fz_callgraph_states(d->profile[s], d->tree[s]->metric);

	fz_diff_warn(d, "the call tree of the %s is reconstructed from a call graph, %s",
		     fz_side_names[s],
		     recorded ? "function totals are recorded" : "and so are function totals");
}

static void warn_about_quality(struct fz_diff *d, enum fz_side s)
{
	const char *const *names = fz_side_names;
	const struct fz_profile *p = d->profile[s];
	uint64_t rejected = fz_quality_rejected(&p->quality);
	char number[FZ_NUMBER_SIZE];

	if (p->quality.dropped_bytes)
		fz_diff_warn(d, "the %s is damaged: %s could not be read", names[s],
			     fz_format_plural((int64_t)p->quality.dropped_bytes, "byte", number));
	struct fz_str notes = fz_profile_fact(p, "notes");
	if (notes.n)
		fz_diff_warn(d, "the %s: %.*s", names[s], (int)notes.n, notes.p);
	if (d->samples[s] == 0)
		fz_diff_warn(d, "the %s has no samples", names[s]);
	struct fz_str cut = fz_profile_fact(p, "stacks.cut");
	struct fz_str begin = fz_profile_fact(p, "stacks.begin");
	if (begin.n)
		fz_diff_warn(d,
			     "the stacks of the %s are truncated: its file stores the innermost "
			     "%.*s frames; callers of %.*s are left out on both sides",
			     names[s], (int)cut.n, cut.p, (int)begin.n, begin.p);
	else if (cut.n)
		fz_diff_warn(d,
			     "the stacks of the %s are truncated: its file stores the innermost "
			     "%.*s frames, so deeper stacks match only partially",
			     names[s], (int)cut.n, cut.p);
	if (p->recording.reconstructed)
		warn_about_tree(d, s);
	if (fz_profile_fact(p, "damage").n)
		fz_diff_warn(d, "the %s is damaged: %s", names[s], fz_profile_fact(p, "damage").p);
	if ((double)rejected > 0.05 * ((double)rejected + (double)p->quality.taken) ||
	    p->recording.error_rate > 5)
		fz_diff_warn(d, "more than 5 %% of the %s's samples could not be read", names[s]);
}

/* Stacks that begin at a chosen function are of its calls, not of the whole recording. */
static bool is_part_of_a_run(const struct fz_diff *d, enum fz_side s)
{
	return d->scale == FZ_SCALE_TIME && !d->profile[s]->recording.complete && d->samples[s] &&
	       !fz_profile_fact(d->profile[s], "root").n && !fz_diff_assumes_whole_run(d, s);
}

/* One warning if both sides are partial. */
static void warn_about_parts(struct fz_diff *d)
{
	bool base = is_part_of_a_run(d, FZ_BASE), head = is_part_of_a_run(d, FZ_HEAD);

	if (base && head)
		fz_diff_warn(d, "base and head are not complete runs: their times depend on the "
				"lengths of the recordings; --scale window compares per second");
	else if (base || head)
		fz_diff_warn(d,
			     "the %s is not a complete run: its time depends on the length of the "
			     "recording; --scale window compares per second",
			     fz_side_names[head]);
}

/* Warns about hosts that did not respond; their data is missing on both sides. */
static void warn_about_missing(struct fz_diff *d)
{
	struct fz_str missing = fz_profile_fact(d->profile[FZ_HEAD], FZ_FLEET_MISSING_FACT);

	if (!missing.n)
		return;
	fz_diff_warn(d, "%.*s does not respond: its data is missing on both sides", (int)missing.n,
		     missing.p);
	fz_diff_make_urgent(d);
}

/* The load of a service depends on the time of day. */
static void warn_about_hours(struct fz_diff *d)
{
	struct fz_str percent = fz_profile_fact(d->profile[FZ_HEAD], FZ_FLEET_HOURS_FACT);

	if (!percent.n)
		return;
	fz_diff_warn(
		d,
		"%.*s %% of the head is from other hours of the day than the base: a change may "
		"be due to the time of day; compare the same hours",
		(int)percent.n, percent.p);
	fz_diff_make_urgent(d);
}

/* Warns about old recordings: machines get updates, and their other load changes. Fleets are
 * exempt, because their releases follow one another anyway, and so are counts, which do not depend
 * on the machine's state. */
static void warn_about_age(struct fz_diff *d)
{
	const struct fz_profile *base = d->profile[FZ_BASE], *head = d->profile[FZ_HEAD];
	int64_t last = 0, first = INT64_MAX;

	if (fz_profile_is_fleet(head) || strcmp(d->unit, "ns") != 0)
		return;
	for (uint32_t i = 0; i < base->run_count; i++)
		last = FZ_MAX(last, base->runs[i].start_unix_ns);
	for (uint32_t i = 0; i < head->run_count; i++)
		first = FZ_MIN(first, head->runs[i].start_unix_ns);
	if (last <= 0 || first == INT64_MAX || first - last < AGE_DAYS * FZ_DAY)
		return;
	fz_diff_warn(d,
		     "the base was recorded %" PRId64 " days before the head: a change may come "
		     "from the machine; record the base again",
		     (first - last) / FZ_DAY);
}

/* A program that failed may have done only a part of its work. */
static void warn_about_failure(struct fz_diff *d, enum fz_side s)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	fz_profile_describe_failure(d->profile[s], s == FZ_BASE ? "the base" : "the head", &text);
	if (!text.n)
		return;
	fz_diff_warn(d, "%s; it may not have finished its work", text.p);
	fz_diff_make_urgent(d);
}

/* The fraction of a side's CPU time that no sample covers. 0 if it is small, because the start and
 * end of a program are never sampled. */
static double unsampled_share(const struct fz_profile *p)
{
	double used = 0, unsampled = 0;

	for (uint32_t i = 0; i < p->run_count; i++) {
		used += (double)p->runs[i].load.used_ns;
		unsampled += (double)p->runs[i].load.unsampled_ns;
	}
	if (used <= 0 || unsampled < UNSAMPLED_NS * (double)p->run_count ||
	    unsampled < unsampled_part * used)
		return 0;
	return unsampled / used;
}

/* A verdict on the main thread does not hold for the program. */
static void warn_about_unsampled(struct fz_diff *d)
{
	double share[FZ_SIDES], most;
	char text[FZ_SIDES][FZ_NUMBER_SIZE];
	unsigned threads = FZ_FEATURE_ALL_THREADS;

	if (strcmp(d->unit, "ns") != 0)
		return;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		share[s] = unsampled_share(d->profile[s]);
		fz_format_percent(share[s], text[s]);
		threads &= d->profile[s]->recording.features;
	}
	most = FZ_MAX(share[FZ_BASE], share[FZ_HEAD]);
	if (most == 0)
		return;
	fz_diff_warn(d,
		     "%s of the base's and %s of the head's CPU time is in no sample: %s or "
		     "child processes",
		     text[FZ_BASE], text[FZ_HEAD],
		     threads ? "threads without a Python stack"
			     : "other threads (-a samples them)");
	if (most > 0.5)
		fz_diff_make_urgent(d);
}

/* Files of other tools do not record start and end. */
static void warn_about_ends(struct fz_diff *d)
{
	bool base = fz_diff_assumes_whole_run(d, FZ_BASE);
	bool head = fz_diff_assumes_whole_run(d, FZ_HEAD);

	if (base || head)
		fz_diff_warn(d,
			     "%s assumed to be %s; for parts of a running program use --scale %s",
			     base && head ? "both are"
			     : base       ? "the base is"
					  : "the head is",
			     base && head ? "whole runs" : "a whole run",
			     fz_diff_has_durations(d) ? "window" : "share");
}

int fz_diff_check_recordings(struct fz_diff *d, const struct fz_diff_options *o,
			     struct fz_error *err)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		warn_about_failure(d, s);
	warn_about_missing(d);
	warn_about_hours(d);
	warn_about_unsampled(d);
	int r = check_settings(d, o, err);
	if (r)
		return r;
	if (!o->two_commands && !warn_about_programs(d))
		warn_about_commands(d);
	warn_about_fact(d, "cpu", "processors",
			"; record both sides on one machine, or compare shares (--scale share)");
	warn_about_fact(d, "host", "machines", "");
	warn_about_fact(d, "engine", "engines",
			"; they slow a program differently, and 'read' by the CPU clock misses "
			"threads that live for a few milliseconds: record both with one --engine");
	warn_about_packages(d);
	if (o->join_comprehensions)
		warn_about_comprehensions(d);
	warn_about_load(d);
	warn_about_age(d);
	warn_about_rate(d);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		warn_about_numbers(d, s);
		warn_about_quality(d, s);
	}
	warn_about_parts(d);
	warn_about_ends(d);
	return 0;
}
