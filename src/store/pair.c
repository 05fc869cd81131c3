/* SPDX-License-Identifier: MIT */
/* Finds the last two recordings of the same program.
 *
 * A program is identified independent of its location: "-m module", "-c text", a script or an
 * executable. The place of a script or executable is the part of its path that is the same in every
 * environment:
 *
 *   /x/.venv/bin/tool                     tool                 any environment's
 *   /x/lib/python3/site-packages/a/b.py   a/b.py               any environment's
 *   /x/src/app.py, /x is a checkout       src/app.py           any checkout's
 *   /y/app.py, /y/bench                   unchanged            no checkout
 *
 * Recordings with the same place or path are of one program. If the latest has no match, one with
 * the same name elsewhere is used, with a message. Arguments do not matter; reports show them.
 *
 * They must also have been recorded the same way, because counts cannot be compared with times.
 */
#include "store/store.h"

/* ---- the program ---- */

/* The text after the last occurrence of `part`, or "". */
static struct fz_str after(struct fz_str s, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = s.n; i-- > 0;)
		if (s.n - i >= n && memcmp(s.p + i, part, n) == 0)
			return (struct fz_str){ s.p + i + n, s.n - i - n };
	return FZ_STR("");
}

static struct fz_str after_folder(struct fz_str path, struct fz_str folder)
{
	if (folder.n == 0 || path.n <= folder.n || memcmp(path.p, folder.p, folder.n) != 0 ||
	    path.p[folder.n] != '/')
		return FZ_STR("");
	return (struct fz_str){ path.p + folder.n + 1, path.n - folder.n - 1 };
}

static bool is_in_bin(struct fz_str path)
{
	struct fz_str name = fz_path_base(path);

	return fz_str_ends((struct fz_str){ path.p, path.n - name.n }, "/bin/");
}

static struct fz_str place_of(struct fz_str path, struct fz_str checkout)
{
	struct fz_str found = after(path, "/site-packages/");

	if (!found.n)
		found = after(path, "/dist-packages/");
	if (!found.n && is_in_bin(path))
		found = fz_path_base(path);
	if (!found.n)
		found = after_folder(path, checkout);
	return found.n ? found : path;
}

struct program {
	struct fz_str name, place;
	struct fz_str path; /* "": the program is not a file */
};

/* "-c text" of an interpreter or a shell in a command, or "". */
static struct fz_str text_of(struct fz_str command)
{
	const char *blank = memchr(command.p, ' ', command.n);

	if (!blank)
		return FZ_STR("");
	struct fz_str rest = { blank + 1, command.n - (size_t)(blank + 1 - command.p) };
	return fz_str_starts(rest, "-c ") ? rest : FZ_STR("");
}

static struct program program_of(const struct fz_profile *p)
{
	struct fz_str script = fz_profile_fact(p, "script");
	struct fz_str command = fz_profile_fact(p, "command");
	struct fz_str program = fz_profile_fact(p, "program");
	struct fz_str executable = fz_profile_fact(p, "executable");
	struct fz_str text = text_of(command);

	if (script.n && script.p[0] == '-')
		return (struct program){ .name = script, .place = script };
	if (script.n)
		return (struct program){ fz_path_base(script),
					 place_of(script, fz_profile_fact(p, "checkout")), script };
	if (text.n)
		return (struct program){ .name = text, .place = text };
	if (!program.n)
		return (struct program){ .name = command, .place = command };
	if (!executable.n)
		return (struct program){ .name = program, .place = program };
	return (struct program){ program, place_of(executable, fz_profile_fact(p, "checkout")),
				 executable };
}

/* ---- settings ---- */

/* "perf task-clock, woken in user mode only" is the same clock. */
static struct fz_str clock_of(const struct fz_profile *p)
{
	struct fz_str clock = fz_profile_fact(p, "clock");
	const char *comma = memchr(clock.p, ',', clock.n);

	return comma ? (struct fz_str){ clock.p, (size_t)(comma - clock.p) } : clock;
}

static bool have_same_settings(const struct fz_profile *a, const struct fz_profile *b)
{
	return fz_str_eq(clock_of(a), clock_of(b)) && a->recording.mode == b->recording.mode &&
	       a->recording.features == b->recording.features &&
	       fz_str_eq(fz_profile_fact(a, "bench"), fz_profile_fact(b, "bench"));
}

/* ---- pairs ---- */

enum likeness { OTHER, OTHER_WAY, NAMESAKE, SAME };

static enum likeness compare(const struct fz_profile *a, const struct fz_profile *b)
{
	struct program x = program_of(a), y = program_of(b);

	if (!fz_str_eq(x.name, y.name))
		return OTHER;
	if (!have_same_settings(a, b))
		return OTHER_WAY;
	/* The folder may have become a checkout meanwhile. */
	bool same_path = x.path.n && fz_str_eq(x.path, y.path);
	return same_path || fz_str_eq(x.place, y.place) ? SAME : NAMESAKE;
}

static int no_pair(size_t head, size_t other_way, struct fz_error *err)
{
	if (other_way)
		return fz_fail(err, FZ_EINPUT,
			       "no two recordings of the same program with the same settings: @%zu "
			       "and @%zu differ in clock, mode or recorded data; record again with "
			       "the same options",
			       head + 1, other_way + 1);
	return fz_fail(err, FZ_EINPUT,
		       "no two recordings of the same program in the store; use 'fizeau run' to "
		       "make them");
}

int fz_store_last_two(char **ret_base, char **ret_head, bool *ret_namesakes, struct fz_error *err)
{
	fz_auto(fz_store_list_release) struct fz_store_list l = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *head = NULL;
	size_t first[SAME + 1] = { 0 }, at = 0;

	if (fz_store_list_here(&l, NULL, err))
		return err ? err->code : FZ_ESYSTEM;
	while (at < l.n && fz_store_facts(l.paths[at], &head, NULL))
		at++;
	for (size_t i = at + 1; head && i < l.n && !first[SAME]; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *base = NULL;
		if (fz_store_facts(l.paths[i], &base, NULL))
			continue;
		enum likeness likeness = compare(base, head);
		if (!first[likeness])
			first[likeness] = i;
	}
	size_t found = first[SAME] ? first[SAME] : first[NAMESAKE];
	if (!found)
		return no_pair(at, first[OTHER_WAY], err);
	*ret_head = fz_steal(l.paths[at]);
	*ret_base = fz_steal(l.paths[found]);
	*ret_namesakes = !first[SAME];
	return 0;
}
