/* SPDX-License-Identifier: MIT */
/* Canonical names of files, independent of checkout, prefix and version of Python.
 *
 *   1. Each file is put in a class: pseudo ("", "~", "<string>"), shared object, library (its
 *      place in the standard library or in site-packages is its name, whatever the interpreter's
 *      version and prefix), or project (everything else).
 *
 *        /usr/lib/python3.11/json/decoder.py        -> lib/python3/json/decoder.py
 *        /v/lib/python3.13/site-packages/x/y.py     -> site-packages/x/y.py
 *        <frozen importlib._bootstrap>              -> lib/python3/importlib/_bootstrap.py
 *        /rustc/9fc6b43/library/core/src/iter.rs    -> library/core/src/iter.rs
 *        /c/registry/src/index-1e8/ahash-0.8.3/x.rs -> ahash/x.rs
 *
 *   2. Project files lose a root, chosen by the Python files if there are any. A single profile
 * loses the longest folder all of them share. In a pair, any two files with equal base names vote
 * for the two roots that would make them equal, and the roots with most votes win: the longest
 * common folder alone would fail when one side happened to sample only files of one package. A
 * file at the same place for both, outside both checkouts (a header, a source of the C library),
 * does not count.
 *
 *        /old/app/pkg/a.py                      vote: (/old, /new)
 *                             /new/app/pkg/a.py
 *                             /new/app/main.py  -> app/pkg/a.py, app/main.py -> pkg/a.py, main.py
 */
#include "compare/name_internal.h"

#include <ctype.h>
#include <stdio.h>

/* ---- classes ---- */

static const char *find_last(struct fz_str s, const char *needle)
{
	size_t n = strlen(needle);

	for (size_t i = s.n; i >= n; i--)
		if (memcmp(s.p + i - n, needle, n) == 0)
			return s.p + i;
	return NULL;
}

static struct fz_str join(struct fz_arena *arena, const char *prefix, struct fz_str rest)
{
	size_t n = strlen(prefix);
	char *text = fz_arena_alloc(arena, n + rest.n + 1);

	memcpy(text, prefix, n);
	memcpy(text + n, rest.p, rest.n);
	text[n + rest.n] = '\0';
	return (struct fz_str){ text, n + rest.n };
}

static struct fz_str rest_of(struct fz_str s, const char *from)
{
	return (struct fz_str){ from, (size_t)(s.p + s.n - from) };
}

/* Returns the position after ".../lib/python3.13t/", or NULL. */
static const char *after_stdlib(struct fz_str s)
{
	static const char *const folders[] = { "/lib/python", "/lib64/python", "/lib/pypy" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++) {
		const char *at = find_last(s, folders[i]);
		if (!at || at == s.p + s.n || !isdigit((unsigned char)*at))
			continue;
		struct fz_str rest = rest_of(s, at);
		const char *slash = memchr(rest.p, '/', rest.n);
		if (slash)
			return slash + 1;
	}
	return NULL;
}

/* Returns the file a/b.py of the standard library for "<frozen a.b>"; older versions record that
 * name. */
static struct fz_str frozen_file(struct fz_arena *arena, struct fz_str s)
{
	size_t skip = strlen("<frozen ");
	struct fz_str module = { s.p + skip, s.n - skip - 1 };
	struct fz_str file = join(arena, "lib/python3/", module);
	char *text = fz_arena_alloc(arena, file.n + 4);

	for (size_t i = 0; i < file.n; i++)
		text[i] = i >= strlen("lib/python3/") && file.p[i] == '.' ? '/' : file.p[i];
	memcpy(text + file.n, ".py", 4);
	return (struct fz_str){ text, file.n + 3 };
}

/* Whether a file name is a shared object; formats without a field for objects store them as
 * files. */
static bool is_object(struct fz_str s)
{
	const char *version = memmem(s.p, s.n, ".so.", strlen(".so."));

	return fz_module_file(s).n < s.n || fz_str_ends(s, ".so") ||
	       (version && isdigit((unsigned char)version[strlen(".so.")]));
}

/* Rust's library is in a folder named by the compiler's commit; other crates are in folders of
 * their name and version. */
static bool is_rust_library(struct fz_arena *arena, struct fz_str s, struct fz_str *ret)
{
	const char *at = find_last(s, "/rustc/"), *end = s.p + s.n, *slash, *version;

	if (at && (slash = memchr(at, '/', (size_t)(end - at))) &&
	    fz_str_starts(rest_of(s, slash), "/library/")) {
		*ret = rest_of(s, slash + 1);
		return true;
	}
	if (fz_str_starts(s, "library/") && fz_str_ends(s, ".rs"))
		return true;
	at = find_last(s, "/registry/src/");
	at = at ? memchr(at, '/', (size_t)(end - at)) : NULL;
	if (at)
		at++;
	else if (fz_str_starts(s, "/rust/deps/"))
		at = s.p + strlen("/rust/deps/");
	if (!at || !(slash = memchr(at, '/', (size_t)(end - at))))
		return false;
	for (version = at; version < slash; version++)
		if (*version == '-' && isdigit((unsigned char)version[1]))
			break;
	fz_auto(fz_free_ptr) char *name = fz_strndup(at, (size_t)(version - at));
	*ret = join(arena, name, rest_of(s, slash));
	return true;
}

static enum fz_file_class classify(struct fz_arena *arena, struct fz_str s, struct fz_str *ret)
{
	const char *at;

	*ret = s;
	if (fz_str_starts(s, "<frozen ") && fz_str_ends(s, ">")) {
		*ret = frozen_file(arena, s);
		return FZ_FILE_LIBRARY;
	}
	if (s.n == 0 || fz_str_eq(s, FZ_STR("~")) || s.p[0] == '<')
		return FZ_FILE_PSEUDO;
	if (is_object(s)) {
		*ret = fz_name_of_module(arena, s);
		return FZ_FILE_OBJECT;
	}
	if ((at = find_last(s, "/site-packages/")) || (at = find_last(s, "/dist-packages/"))) {
		*ret = join(arena, "site-packages/", rest_of(s, at));
		return FZ_FILE_LIBRARY;
	}
	at = after_stdlib(s);
	if (at) {
		*ret = join(arena, "lib/python3/", rest_of(s, at));
		return FZ_FILE_LIBRARY;
	}
	if (is_rust_library(arena, s, ret))
		return FZ_FILE_LIBRARY;
	return FZ_FILE_PROJECT;
}

static struct fz_str with_slashes(struct fz_arena *arena, struct fz_str path)
{
	fz_auto(fz_free_ptr) char *slashed = fz_path_slashed(path);

	return slashed ? join(arena, "", (struct fz_str){ slashed, path.n }) : path;
}

/* Marks files with frames; tables may contain garbage that was read from code freed at that
 * moment. */
static bool *list_used(const struct fz_profile *p)
{
	bool *used = fz_calloc(p->string_count, sizeof(*used));

	for (uint32_t i = 0; i < p->frame_count; i++)
		used[p->functions[p->frames[i].function].file] = true;
	return used;
}

void fz_name_side_init(struct fz_name_side *side, const struct fz_profile *p,
		       struct fz_arena *arena)
{
	fz_auto(fz_free_ptr) bool *used = list_used(p);

	*side = (struct fz_name_side){ .p = p };
	side->class = fz_calloc(p->string_count, sizeof(*side->class));
	side->canonical = fz_calloc(p->string_count, sizeof(*side->canonical));
	side->project = fz_calloc(p->string_count, sizeof(*side->project));
	side->python = fz_calloc(p->string_count, sizeof(*side->python));
	side->apart = fz_calloc(p->string_count, sizeof(*side->apart));
	for (uint32_t f = 0; f < p->function_count; f++) {
		uint32_t file = p->functions[f].file;
		struct fz_str text = with_slashes(arena, p->strings[file]);
		bool seen = side->class[file] != FZ_FILE_UNSEEN;
		if (!seen)
			side->class[file] = (uint8_t)classify(arena, text, &side->canonical[file]);
		if (side->class[file] == FZ_FILE_PROJECT && p->functions[f].kind == FZ_KIND_PYTHON)
			side->any_python = side->python[file] = true;
		side->any_object |= fz_name_is_by_object(side, &p->functions[f]);
		if (seen)
			continue;
		if (side->class[file] == FZ_FILE_PROJECT && used[file])
			side->project[side->project_count++] = file;
		if (side->class[file] == FZ_FILE_OBJECT || side->class[file] == FZ_FILE_PSEUDO)
			continue;
		side->any_file = true;
		side->any_folder |= memchr(text.p, '/', text.n) != NULL;
	}
}

void fz_name_side_release(struct fz_name_side *side)
{
	free(side->class);
	free(side->canonical);
	free(side->project);
	free(side->python);
	free(side->apart);
}

/* ---- roots ---- */

/* Length of the common folder of a and b, including the final slash. */
static size_t shared_folder(struct fz_str a, struct fz_str b, size_t limit)
{
	size_t n = FZ_MIN(fz_str_shared(a, b), limit);

	while (n > 0 && a.p[n - 1] != '/')
		n--;
	return n;
}

/* Whether a file counts in the choice of roots. C code called from Python does not, because it may
 * have been compiled anywhere, nor does "../csu/libc-start.c", whose folder is unknown. */
static bool counts_for_roots(const struct fz_name_side *side, uint32_t file)
{
	struct fz_str name = side->canonical[file];

	if (fz_str_starts(name, "./") || fz_str_starts(name, "../"))
		return false;
	return !side->apart[file] && (!side->any_python || side->python[file]);
}

/* Shortens *folder to the longest folder of all project files; it is (size_t)-1 before the
 * first. */
static void narrow_folder(const struct fz_name_side *side, struct fz_str *first, size_t *folder)
{
	for (uint32_t i = 0; i < side->project_count; i++) {
		struct fz_str file = side->canonical[side->project[i]];
		if (!counts_for_roots(side, side->project[i]))
			continue;
		if (*folder == (size_t)-1)
			*first = file;
		*folder = shared_folder(*first, file, *folder);
	}
}

static void strip(struct fz_name_side *side, struct fz_str root)
{
	for (uint32_t i = 0; i < side->project_count; i++) {
		struct fz_str *file = &side->canonical[side->project[i]];
		if (file->n > root.n && memcmp(file->p, root.p, root.n) == 0)
			*file = (struct fz_str){ file->p + root.n, file->n - root.n };
	}
}

/* Strips a folder that files share, but not the slash of absolute paths that share nothing else. */
static void strip_shared(struct fz_name_side *side, struct fz_str first, size_t folder)
{
	if (folder != (size_t)-1 && folder > 1)
		strip(side, (struct fz_str){ first.p, folder });
}

void fz_name_strip_own_folder(struct fz_name_side *side)
{
	struct fz_str first = FZ_STR("");
	size_t folder = (size_t)-1;

	narrow_folder(side, &first, &folder);
	strip_shared(side, first, folder);
}

/* Two roots, including final slashes, and the number of pairs of files they make equal. */
struct vote {
	struct fz_str root[2];
	uint32_t count;
};

/* Split a and b before their longest common suffix of whole path components. */
static void split_at_shared_end(struct fz_str a, struct fz_str b, struct vote *ret)
{
	size_t same = 0, end = 0;

	while (same < a.n && same < b.n && a.p[a.n - 1 - same] == b.p[b.n - 1 - same]) {
		same++;
		bool a_starts = same == a.n || a.p[a.n - 1 - same] == '/';
		bool b_starts = same == b.n || b.p[b.n - 1 - same] == '/';
		if (a_starts && b_starts)
			end = same;
	}
	ret->root[0] = (struct fz_str){ a.p, a.n - end };
	ret->root[1] = (struct fz_str){ b.p, b.n - end };
}

static bool is_better(const struct vote *a, const struct vote *b)
{
	size_t an = a->root[0].n + a->root[1].n, bn = b->root[0].n + b->root[1].n;

	if (a->count != b->count)
		return a->count > b->count;
	if (an != bn)
		return an < bn;
	int c = fz_str_cmp(a->root[0], b->root[0]);
	return c ? c < 0 : fz_str_cmp(a->root[1], b->root[1]) < 0;
}

struct ballot {
	struct fz_map map;
	struct vote *votes;
	uint32_t n, cap;
};

static void cast_vote(struct ballot *b, const struct vote *v)
{
	uint64_t hash = fz_map_hash(v->root[0].p, v->root[0].n) * 31 +
			fz_map_hash(v->root[1].p, v->root[1].n);
	uint32_t *slot = fz_map_slot(&b->map, hash);

	if (*slot == FZ_NONE) {
		*slot = b->n;
		fz_grow(b->votes, b->n, b->cap);
		b->votes[b->n] = *v;
		b->votes[b->n++].count = 0;
	}
	b->votes[*slot].count++;
}

static int compare_base_names(const void *pa, const void *pb, void *arg)
{
	const struct fz_profile *p = arg;
	struct fz_str a = p->strings[*(const uint32_t *)pa], b = p->strings[*(const uint32_t *)pb];

	return fz_str_cmp(fz_path_base(a), fz_path_base(b)) ?: fz_str_cmp(a, b);
}

/* Whether a file is known not to belong to the checkout that was recorded. */
static bool is_outside(const struct fz_name_side *side, struct fz_str file)
{
	struct fz_str top = fz_profile_fact(side->p, "checkout");

	return top.n &&
	       !(file.n > top.n && fz_str_shared(file, top) == top.n && file.p[top.n] == '/');
}

/* Sort the files by base name, and set those apart that are the same for both sides. */
static void pair_files(struct fz_name_side side[2])
{
	uint32_t i = 0, j = 0;

	for (int s = 0; s < 2; s++)
		if (side[s].project_count)
			qsort_r(side[s].project, side[s].project_count, sizeof(uint32_t),
				compare_base_names, (void *)side[s].p);
	while (i < side[0].project_count && j < side[1].project_count) {
		uint32_t base = side[0].project[i], head = side[1].project[j];
		struct fz_str a = side[0].canonical[base], b = side[1].canonical[head];
		int c = fz_str_cmp(fz_path_base(a), fz_path_base(b)) ?: fz_str_cmp(a, b);
		if (c == 0 && is_outside(&side[0], a) && is_outside(&side[1], b))
			side[0].apart[base] = side[1].apart[head] = true;
		i += c <= 0;
		j += c >= 0;
	}
}

/* Base names of many files (__init__.py) are weak evidence and would need a quadratic number of
 * votes. */
enum { SAME_NAME_MAX = 16 };

static void vote_over_files(struct fz_name_side side[2], struct ballot *ballot)
{
	uint32_t i = 0, j = 0;

	while (i < side[0].project_count && j < side[1].project_count) {
		struct fz_str a = side[0].canonical[side[0].project[i]];
		struct fz_str b = side[1].canonical[side[1].project[j]];
		int c = fz_str_cmp(fz_path_base(a), fz_path_base(b));
		if (c) {
			i += c < 0;
			j += c > 0;
			continue;
		}
		for (uint32_t k = j; k < side[1].project_count && k < j + SAME_NAME_MAX; k++) {
			struct vote v = { 0 };
			b = side[1].canonical[side[1].project[k]];
			if (!fz_str_eq(fz_path_base(a), fz_path_base(b)))
				break;
			if (!counts_for_roots(&side[0], side[0].project[i]) ||
			    !counts_for_roots(&side[1], side[1].project[k]))
				continue;
			split_at_shared_end(a, b, &v);
			cast_vote(ballot, &v);
		}
		i++;
	}
}

void fz_name_strip_roots(struct fz_name_side side[2])
{
	struct ballot ballot = { 0 };
	uint32_t best = 0;

	pair_files(side);
	vote_over_files(side, &ballot);
	if (ballot.n == 0) {
		fz_name_strip_own_folder(&side[0]);
		fz_name_strip_own_folder(&side[1]);
	} else {
		for (uint32_t i = 1; i < ballot.n; i++)
			if (is_better(&ballot.votes[i], &ballot.votes[best]))
				best = i;
		struct fz_str first = FZ_STR("");
		size_t folder = (size_t)-1;
		for (int s = 0; s < 2; s++)
			strip(&side[s], ballot.votes[best].root[s]);
		for (int s = 0; s < 2; s++)
			narrow_folder(&side[s], &first, &folder);
		for (int s = 0; s < 2; s++)
			strip_shared(&side[s], first, folder);
	}
	free(ballot.votes);
	fz_map_release(&ballot.map);
}

/* ---- shared objects ---- */

/* libpython3.11.so.1.0, _json.cpython-311-x86_64-linux-gnu.so */
static struct fz_str without_python_version(struct fz_arena *arena, struct fz_str s)
{
	const char *at = memmem(s.p, s.n, ".cpython-", strlen(".cpython-"));

	if (at && fz_str_ends(s, ".so")) {
		char *text = fz_arena_alloc(arena, s.n + 1);
		int n = snprintf(text, s.n + 1, "%.*s.so", (int)(at - s.p), s.p);
		return (struct fz_str){ text, (size_t)n };
	}
	return fz_str_starts(s, "libpython3.") ? FZ_STR("libpython3.so") : s;
}

bool fz_name_is_by_object(const struct fz_name_side *side, const struct fz_function *f)
{
	return side->class[f->file] == FZ_FILE_OBJECT ||
	       (side->class[f->file] == FZ_FILE_PSEUDO && f->module);
}

struct fz_str fz_name_of_module(struct fz_arena *arena, struct fz_str module)
{
	return without_python_version(arena, fz_path_base(fz_module_file(module)));
}
