/* SPDX-License-Identifier: MIT */
/* Canonical names in three steps.
 *
 *   1. Each file is put in a class: pseudo ("", "~", "<string>"), library (its place in the
 * standard library or in site-packages is its name, whatever the interpreter's version and prefix),
 * or project (everything else).
 *
 *        /usr/lib/python3.11/json/decoder.py        -> lib/python3/json/decoder.py
 *        /v/lib/python3.13/site-packages/x/y.py     -> site-packages/x/y.py
 *        <frozen importlib._bootstrap>              -> lib/python3/importlib/_bootstrap.py
 *
 *   2. Project files lose a root. A single profile loses the longest folder all of them share. Of a
 *      pair, every two files with equal base names vote for the two roots that would make them
 *      equal, and the roots with most votes win: the longest common folder alone would fail when
 * one side happened to sample only files of one package.
 *
 *        /old/app/pkg/a.py                      vote: (/old, /new)
 *                             /new/app/pkg/a.py
 *                             /new/app/main.py  -> app/pkg/a.py, app/main.py -> pkg/a.py, main.py
 *
 *   3. Names of functions lose what differs from run to run (0x7f..) or build to build (.isra.0).
 *      Python's names keep everything but addresses: a method may well be called "cold".
 *
 * Last come the user's own rules, on names and files. Each rule counts the functions it changed.
 */
#include "names.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>

#include "base/buf.h"
#include "diff/diff.h"

enum file_class { FILE_UNSEEN, FILE_PSEUDO, FILE_LIBRARY, FILE_PROJECT };

/* What is known about the files of one side, by string index. */
struct side {
	const struct fz_profile *p;
	uint8_t *class;
	struct fz_str *canonical; /* library: final; project: what is left of the path */
	uint32_t *project;        /* strings of class FILE_PROJECT */
	uint32_t project_count;
	bool any_file, any_folder;
};

/* ---- files ---- */

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

/* After ".../lib/python3.13t/", or NULL. */
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

/* "<frozen a.b>" is the file a/b.py of the standard library, as older versions name it. */
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

static enum file_class classify(struct fz_arena *arena, struct fz_str s, struct fz_str *ret)
{
	const char *at;

	*ret = s;
	if (fz_str_starts(s, "<frozen ") && fz_str_ends(s, ">")) {
		*ret = frozen_file(arena, s);
		return FILE_LIBRARY;
	}
	if (s.n == 0 || fz_str_eq(s, FZ_STR("~")) || s.p[0] == '<')
		return FILE_PSEUDO;
	if ((at = find_last(s, "/site-packages/")) || (at = find_last(s, "/dist-packages/"))) {
		*ret = join(arena, "site-packages/", rest_of(s, at));
		return FILE_LIBRARY;
	}
	at = after_stdlib(s);
	if (at) {
		*ret = join(arena, "lib/python3/", rest_of(s, at));
		return FILE_LIBRARY;
	}
	return FILE_PROJECT;
}

static void side_init(struct side *side, const struct fz_profile *p, struct fz_arena *arena)
{
	*side = (struct side){ .p = p };
	side->class = fz_calloc(p->string_count, sizeof(*side->class));
	side->canonical = fz_calloc(p->string_count, sizeof(*side->canonical));
	side->project = fz_calloc(p->string_count, sizeof(*side->project));
	for (uint32_t f = 0; f < p->function_count; f++) {
		uint32_t file = p->functions[f].file;
		struct fz_str text = p->strings[file];
		if (side->class[file] != FILE_UNSEEN)
			continue;
		side->class[file] = (uint8_t)classify(arena, text, &side->canonical[file]);
		if (side->class[file] == FILE_PROJECT)
			side->project[side->project_count++] = file;
		side->any_file |= side->class[file] != FILE_PSEUDO;
		side->any_folder |= memchr(text.p, '/', text.n) != NULL;
	}
}

static void side_release(struct side *side)
{
	free(side->class);
	free(side->canonical);
	free(side->project);
}

/* ---- roots ---- */

/* Length of the folder part that a and b share, its final slash included. */
static size_t shared_folder(struct fz_str a, struct fz_str b, size_t limit)
{
	size_t end = 0;

	for (size_t i = 0; i < limit && i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '/')
			end = i + 1;
	return end;
}

/* The longest folder that all project files share; *folder is (size_t)-1 before the first. */
static void narrow_folder(const struct side *side, struct fz_str *first, size_t *folder)
{
	for (uint32_t i = 0; i < side->project_count; i++) {
		struct fz_str file = side->canonical[side->project[i]];
		if (*folder == (size_t)-1)
			*first = file;
		*folder = shared_folder(*first, file, *folder);
	}
}

static void strip(struct side *side, struct fz_str root)
{
	for (uint32_t i = 0; i < side->project_count; i++) {
		struct fz_str *file = &side->canonical[side->project[i]];
		if (file->n > root.n && memcmp(file->p, root.p, root.n) == 0)
			*file = (struct fz_str){ file->p + root.n, file->n - root.n };
	}
}

static void strip_own_folder(struct side *side)
{
	struct fz_str first = FZ_STR("");
	size_t folder = (size_t)-1;

	narrow_folder(side, &first, &folder);
	if (side->project_count)
		strip(side, (struct fz_str){ first.p, folder });
}

/* Two roots, final slash included, and how many pairs of files they make equal. */
struct vote {
	struct fz_str root[2];
	uint32_t count;
};

/* Split a and b before the longest run of whole path components that ends both. */
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
	uint64_t hash = fz_hash_bytes(v->root[0].p, v->root[0].n) * 31 +
			fz_hash_bytes(v->root[1].p, v->root[1].n);
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
	int c = fz_str_cmp(fz_path_base(a), fz_path_base(b));

	return c ? c : fz_str_cmp(a, b);
}

/* Base names that many files share (__init__.py) say little and would cost a quadratic number of
 * votes. */
enum { SAME_NAME_MAX = 16 };

static void vote_over_files(struct side side[2], struct ballot *ballot)
{
	uint32_t i = 0, j = 0;

	for (int s = 0; s < 2; s++)
		if (side[s].project_count)
			qsort_r(side[s].project, side[s].project_count, sizeof(uint32_t),
				compare_base_names, (void *)side[s].p);
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
			split_at_shared_end(a, b, &v);
			cast_vote(ballot, &v);
		}
		i++;
	}
}

static void strip_roots(struct side side[2])
{
	struct ballot ballot = { 0 };
	uint32_t best = 0;

	vote_over_files(side, &ballot);
	if (ballot.n == 0) {
		strip_own_folder(&side[0]);
		strip_own_folder(&side[1]);
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
			strip(&side[s], (struct fz_str){ first.p, folder });
	}
	free(ballot.votes);
	fz_map_release(&ballot.map);
}

/* ---- function names ---- */

static bool is_python(const struct fz_profile *p, const struct fz_function *f)
{
	return f->kind == FZ_KIND_PYTHON ||
	       (f->kind == FZ_KIND_UNKNOWN && fz_str_ends(p->strings[f->file], ".py"));
}

/* Compilers add these to names of clones and parts of a function, alone or with a number. */
static struct fz_str without_clone_suffixes(struct fz_str s)
{
	static const char *const suffixes[] = { ".constprop", ".isra", ".part",    ".cold",
						".llvm",      "@plt",  ".lto_priv" };

	for (bool again = true; again;) {
		size_t n = s.n;
		again = false;
		while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
			n--;
		if (n == s.n || n == 0 || s.p[n - 1] != '.')
			n = s.n;
		else
			n--;
		for (size_t i = 0; i < FZ_ARRAY_LEN(suffixes); i++) {
			struct fz_str head = { s.p, n };
			if (n > strlen(suffixes[i]) && fz_str_ends(head, suffixes[i])) {
				s.n = n - strlen(suffixes[i]);
				again = true;
				break;
			}
		}
	}
	return s;
}

/* Rust's "::h" and 16 hexadecimal digits at the end. */
static struct fz_str without_rust_hash(struct fz_str s)
{
	if (s.n <= 19 || memcmp(s.p + s.n - 19, "::h", 3) != 0)
		return s;
	for (size_t i = s.n - 16; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]))
			return s;
	s.n -= 19;
	return s;
}

static struct fz_str without_lambda_number(struct fz_str s)
{
	static const char mark[] = "$$Lambda";
	const char *at = memmem(s.p, s.n, mark, strlen(mark));

	if (at)
		s.n = (size_t)(at - s.p) + strlen(mark);
	return s;
}

/* "Task-12" is a number that asyncio counted out. */
static struct fz_str without_task_number(struct fz_str s)
{
	size_t n = s.n;

	while (n > 0 && isdigit((unsigned char)s.p[n - 1]))
		n--;
	if (n == strlen("Task-") && memcmp(s.p, "Task-", n) == 0)
		s.n = strlen("Task");
	return s;
}

/* Every 0x and digits becomes "0x...", as difffolded.pl does. */
static struct fz_str without_addresses(struct fz_arena *arena, struct fz_str s)
{
	if (!memmem(s.p, s.n, "0x", 2))
		return s;
	char *text = fz_arena_alloc(arena, 2 * s.n + 1); /* 3 bytes become 5 */
	size_t w = 0;
	for (size_t i = 0; i < s.n; i++) {
		text[w++] = s.p[i];
		if (s.p[i] != '0' || i + 2 >= s.n || s.p[i + 1] != 'x' ||
		    !isxdigit((unsigned char)s.p[i + 2]))
			continue;
		memcpy(text + w, "x...", 4);
		w += 4;
		for (i += 2; i < s.n && isxdigit((unsigned char)s.p[i]); i++)
			;
		i--;
	}
	text[w] = '\0';
	return (struct fz_str){ text, w };
}

/* Rust numbers the closures of a function: {closure#3}. */
static struct fz_str without_closure_number(struct fz_arena *arena, struct fz_str s)
{
	static const char mark[] = "{closure#";
	const char *at = memmem(s.p, s.n, mark, strlen(mark));
	struct fz_buf out = { 0 };

	if (!at)
		return s;
	for (size_t i = 0; i < s.n;) {
		struct fz_str rest = { s.p + i, s.n - i };
		if (!fz_str_starts(rest, mark)) {
			fz_buf_char(&out, s.p[i++]);
			continue;
		}
		fz_buf_str(&out, "{closure");
		for (i += strlen(mark); i < s.n && isdigit((unsigned char)s.p[i]); i++)
			;
	}
	struct fz_str text = { fz_arena_strndup(arena, out.p, out.n), out.n };
	fz_buf_release(&out);
	return text;
}

/* "work [clone .isra.0]", as c++filt writes it. */
static struct fz_str without_clone_note(struct fz_str s)
{
	const char *at = memmem(s.p, s.n, " [clone ", strlen(" [clone "));

	if (at && at > s.p && fz_str_ends(s, "]"))
		s.n = (size_t)(at - s.p);
	return s;
}

/* "memcpy@@GLIBC_2.14" */
static struct fz_str without_symbol_version(struct fz_str s)
{
	const char *at = memrchr(s.p, '@', s.n);

	if (!at || at == s.p || at + 1 == s.p + s.n || !isupper((unsigned char)at[1]))
		return s;
	for (const char *c = at + 1; c < s.p + s.n; c++)
		if (!isupper((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_' &&
		    *c != '.')
			return s;
	s.n = (size_t)(at - s.p);
	if (s.n > 1 && s.p[s.n - 1] == '@')
		s.n--;
	return s;
}

/* Names inside names by which C++ libraries tell their versions apart. */
static struct fz_str without_inline_namespace(struct fz_arena *arena, struct fz_str s)
{
	static const char *const marks[] = { "std::__1::", "std::__cxx11::" };
	struct fz_buf out = { 0 };

	if (!memmem(s.p, s.n, "std::__", 7))
		return s;
	for (size_t i = 0; i < s.n;) {
		struct fz_str rest = { s.p + i, s.n - i };
		size_t skip = 0;
		for (size_t k = 0; k < FZ_ARRAY_LEN(marks); k++)
			skip = fz_str_starts(rest, marks[k]) ? strlen(marks[k]) : skip;
		if (skip)
			fz_buf_str(&out, "std::");
		else
			fz_buf_char(&out, s.p[i]);
		i += FZ_MAX(skip, 1);
	}
	struct fz_str text = { fz_arena_strndup(arena, out.p, out.n), out.n };
	fz_buf_release(&out);
	return text;
}

/* Frames that stand for a process or thread carry its number: "thread 4711", "Thread-3 (run)". */
static struct fz_str without_thread_number(struct fz_arena *arena, struct fz_str s)
{
	static const char *const marks[] = { "process ", "thread ", "Thread-", "pid ", "tid " };

	for (size_t k = 0; k < FZ_ARRAY_LEN(marks); k++) {
		size_t n = strlen(marks[k]), digits = n;
		if (!fz_str_starts(s, marks[k]))
			continue;
		while (digits < s.n && isdigit((unsigned char)s.p[digits]))
			digits++;
		if (digits == n || (digits < s.n && isalpha((unsigned char)s.p[digits])))
			return s;
		char *text = fz_arena_alloc(arena, s.n + 1);
		int w = snprintf(text, s.n + 1, "%.*s%.*s", (int)n - 1, s.p, (int)(s.n - digits),
				 s.p + digits);
		return (struct fz_str){ text, (size_t)w };
	}
	return s;
}

/* ---- rules ---- */

/* What changed a name, in the order in which it is tried; the user's rules follow. */
enum name_rule {
	RULE_LIBRARY,
	RULE_ROOT,
	RULE_MODULE,
	RULE_TASK,
	RULE_THREAD,
	RULE_LAMBDA,
	RULE_RUST,
	RULE_CLOSURE,
	RULE_CLONE,
	RULE_VERSION,
	RULE_NAMESPACE,
	RULE_ADDRESS,
	RULES
};

static const char *const rule_texts[RULES] = {
	[RULE_LIBRARY] = "prefixes and versions of libraries",
	[RULE_ROOT] = "root folders",
	[RULE_MODULE] = "build ids, folders and Python versions of shared objects",
	[RULE_TASK] = "numbers of asyncio tasks",
	[RULE_THREAD] = "numbers of processes and threads",
	[RULE_LAMBDA] = "numbers of Java lambdas",
	[RULE_RUST] = "hashes of Rust symbols",
	[RULE_CLOSURE] = "numbers of Rust closures",
	[RULE_CLONE] = "suffixes of compiler clones",
	[RULE_VERSION] = "versions of symbols",
	[RULE_NAMESPACE] = "inline namespaces of C++ libraries",
	[RULE_ADDRESS] = "addresses",
};

struct own_rule {
	const char *text; /* as the user wrote it */
	struct fz_str replacement;
	regex_t regex;
};

struct naming {
	struct fz_arena *arena;
	uint32_t (*counts)[2]; /* of RULES and then of each own rule, by side */
	struct own_rule *own;
	uint32_t own_count;
	int side;
};

/* The result of a rule, counted when it is another name. */
static struct fz_str after(struct naming *n, uint32_t rule, struct fz_str before, struct fz_str now)
{
	n->counts[rule][n->side] += !fz_str_eq(before, now);
	return now;
}

static struct fz_str canonical_name(struct naming *n, const struct fz_profile *p,
				    const struct fz_function *f)
{
	struct fz_arena *arena = n->arena;
	struct fz_str s = p->strings[f->name];

	if (f->kind == FZ_KIND_TASK) {
		s = after(n, RULE_TASK, s, without_task_number(s));
	} else if (f->kind == FZ_KIND_MARKER) {
		s = after(n, RULE_THREAD, s, without_thread_number(arena, s));
	} else if (!is_python(p, f)) {
		s = after(n, RULE_THREAD, s, without_thread_number(arena, s));
		s = after(n, RULE_LAMBDA, s, without_lambda_number(s));
		s = after(n, RULE_CLONE, s, without_clone_note(s));
		s = after(n, RULE_RUST, s, without_rust_hash(s));
		s = after(n, RULE_CLOSURE, s, without_closure_number(arena, s));
		s = after(n, RULE_CLONE, s, without_clone_suffixes(s));
		s = after(n, RULE_VERSION, s, without_symbol_version(s));
		s = after(n, RULE_NAMESPACE, s, without_inline_namespace(arena, s));
	}
	return after(n, RULE_ADDRESS, s, without_addresses(arena, s));
}

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

/* Native code without a file is known by its shared object; the build id is left out. */
static struct fz_str module_name(struct fz_arena *arena, struct fz_str module)
{
	const char *space = memchr(module.p, ' ', module.n);

	if (space)
		module.n = (size_t)(space - module.p);
	return without_python_version(arena, fz_path_base(module));
}

static void add_replacement(struct fz_buf *out, struct fz_str text, struct fz_str s,
			    const regmatch_t m[10])
{
	for (size_t i = 0; i < text.n; i++) {
		bool group = text.p[i] == '\\' && i + 1 < text.n &&
			     (isdigit((unsigned char)text.p[i + 1]) || text.p[i + 1] == '\\');
		if (!group) {
			fz_buf_char(out, text.p[i]);
			continue;
		}
		i++;
		if (text.p[i] == '\\')
			fz_buf_char(out, '\\');
		else if (m[text.p[i] - '0'].rm_so >= 0)
			fz_buf_add(out, s.p + m[text.p[i] - '0'].rm_so,
				   (size_t)(m[text.p[i] - '0'].rm_eo - m[text.p[i] - '0'].rm_so));
	}
}

/* Every match of an own rule is replaced. */
static struct fz_str apply_own(const struct own_rule *rule, struct fz_arena *arena, struct fz_str s)
{
	struct fz_buf out = { 0 };
	size_t at = 0;
	bool any = false;
	regmatch_t m[10];

	while (at <= s.n) {
		m[0] = (regmatch_t){ .rm_so = (regoff_t)at, .rm_eo = (regoff_t)s.n };
		if (regexec(&rule->regex, s.p, 10, m, REG_STARTEND | (at ? REG_NOTBOL : 0)))
			break;
		size_t end = (size_t)m[0].rm_eo;
		any = true;
		fz_buf_add(&out, s.p + at, (size_t)m[0].rm_so - at);
		add_replacement(&out, rule->replacement, s, m);
		if (m[0].rm_so == m[0].rm_eo) { /* matched nothing: go on behind the next byte */
			if (end < s.n)
				fz_buf_char(&out, s.p[end]);
			end++;
		}
		at = end;
	}
	if (any) {
		if (at < s.n)
			fz_buf_add(&out, s.p + at, s.n - at);
		s = (struct fz_str){ fz_arena_strndup(arena, out.n ? out.p : "", out.n), out.n };
	}
	fz_buf_release(&out);
	return s;
}

/* The first '=' without a backslash before it parts the expression from the text. */
static const char *find_separator(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (*c == '=')
			return c;
	}
	return NULL;
}

static int own_rule_init(struct own_rule *rule, const char *text, struct fz_error *err)
{
	const char *separator = find_separator(text);
	char why[128];

	if (!separator || separator == text)
		return fz_fail(err, FZ_EUSAGE,
			       "--rename: '%s' is not REGEX=TEXT; give an extended regular "
			       "expression and what replaces it",
			       text);
	fz_auto(fz_free_ptr) char *pattern = fz_strndup(text, (size_t)(separator - text));
	int r = regcomp(&rule->regex, pattern, REG_EXTENDED);
	if (r) {
		regerror(r, &rule->regex, why, sizeof(why));
		return fz_fail(
			err, FZ_EUSAGE,
			"--rename: '%s' is no extended regular expression (%s); see regex(7)",
			pattern, why);
	}
	rule->text = text;
	rule->replacement = fz_str_of(separator + 1);
	return 0;
}

int fz_diff_check_rename(const char *text, struct fz_error *err)
{
	struct own_rule rule;
	int r = own_rule_init(&rule, text, err);

	if (!r)
		regfree(&rule.regex);
	return r;
}

static int naming_init(struct naming *n, const char *const *own, struct fz_arena *arena,
		       struct fz_error *err)
{
	size_t count = 0;

	while (own && own[count])
		count++;
	*n = (struct naming){ .arena = arena,
			      .counts = fz_calloc(RULES + count, sizeof(*n->counts)),
			      .own = fz_calloc(FZ_MAX(count, 1), sizeof(*n->own)) };
	for (size_t i = 0; i < count; i++) {
		int r = own_rule_init(&n->own[i], own[i], err);
		if (r)
			return r;
		n->own_count++;
	}
	return 0;
}

static void naming_release(struct naming *n)
{
	for (uint32_t i = 0; i < n->own_count; i++)
		regfree(&n->own[i].regex);
	free(n->own);
	free(n->counts);
}

static void apply_own_rules(struct naming *n, struct fz_name *name)
{
	for (uint32_t i = 0; i < n->own_count; i++) {
		struct fz_str new_name = apply_own(&n->own[i], n->arena, name->name);
		struct fz_str new_file = apply_own(&n->own[i], n->arena, name->file);
		n->counts[RULES + i][n->side] +=
			!fz_str_eq(new_name, name->name) || !fz_str_eq(new_file, name->file);
		name->name = new_name;
		name->file = new_file;
	}
}

static struct fz_name *name_functions(struct naming *n, const struct side *side)
{
	const struct fz_profile *p = side->p;
	struct fz_name *names =
		fz_arena_alloc(n->arena, ((size_t)p->function_count + 1) * sizeof(*names));

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		names[i].name = canonical_name(n, p, f);
		if (side->canonical[f->file].n)
			names[i].file = after(
				n, side->class[f->file] == FILE_LIBRARY ? RULE_LIBRARY : RULE_ROOT,
				p->strings[f->file], side->canonical[f->file]);
		else
			names[i].file = after(n, RULE_MODULE, p->strings[f->module],
					      module_name(n->arena, p->strings[f->module]));
		apply_own_rules(n, &names[i]);
		names[i].key = names[i].file;
	}
	return names;
}

static void report_rules(const struct naming *n, struct fz_name_rules *ret)
{
	ret->list = fz_arena_alloc(n->arena, (RULES + n->own_count) * sizeof(*ret->list));
	for (uint32_t i = 0; i < RULES + n->own_count; i++) {
		if (!n->counts[i][0] && !n->counts[i][1] && i < RULES)
			continue; /* the user's own are told in any case */
		const char *text = i < RULES ? rule_texts[i] : n->own[i - RULES].text;
		ret->list[ret->n++] = (struct fz_name_rule){
			.text = fz_arena_strndup(n->arena, text, strlen(text)),
			.functions = { n->counts[i][0], n->counts[i][1] },
		};
	}
}

struct fz_name *fz_names_of(const struct fz_profile *p, struct fz_arena *arena)
{
	struct side side;
	struct naming naming;

	fz_assert(naming_init(&naming, NULL, arena, NULL) == 0);
	side_init(&side, p, arena);
	strip_own_folder(&side);
	struct fz_name *names = name_functions(&naming, &side);
	side_release(&side);
	naming_release(&naming);
	return names;
}

/* Some formats keep base names only, some no files at all: then the other side's files can't
 * take part in matching in full either. */
static void weaken_keys(const struct side side[2], struct fz_name *names[2])
{
	bool no_files = !side[0].any_file || !side[1].any_file;
	bool base_names = side[0].any_folder != side[1].any_folder;

	if (!no_files && !base_names)
		return;
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < side[s].p->function_count; i++)
			names[s][i].key = no_files ? FZ_STR("") : fz_path_base(names[s][i].key);
}

int fz_names_of_pair(const struct fz_profile *const p[2], struct fz_name_rules *rules,
		     struct fz_arena *arena, struct fz_name *ret[2], struct fz_error *err)
{
	struct side side[2];
	struct naming naming;
	int r = naming_init(&naming, rules ? rules->own : NULL, arena, err);

	for (int s = 0; !r && s < 2; s++)
		side_init(&side[s], p[s], arena);
	if (!r) {
		strip_roots(side);
		for (naming.side = 0; naming.side < 2; naming.side++)
			ret[naming.side] = name_functions(&naming, &side[naming.side]);
		weaken_keys(side, ret);
		if (rules)
			report_rules(&naming, rules);
	}
	for (int s = 0; !r && s < 2; s++)
		side_release(&side[s]);
	naming_release(&naming);
	return r;
}
