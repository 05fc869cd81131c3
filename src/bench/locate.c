/* SPDX-License-Identifier: MIT */
/* Where a benchmark changed: from its root down the union tree, always into the callee with at
 * least 80 % of the benchmark's change, as long as there is one.
 *
 *     test_parse_pr  +185 k
 *       `- parse_pr  +185 k
 *            `- parse_body  +185 k
 *                 |- prepare_parsing_body  +0
 *                 `- parse_issue_fixed  +183 k      <- ends here: its callees have less
 *
 * In a Python program the path ends at its last Python function, without the interpreter's
 * functions below it.
 */
#include "bench/changed_line.h"
#include "bench/ci.h"

#include <unistd.h>

static const double enough = 0.8;
enum { NAMES = 2 }; /* functions of the path that are reported */

struct path {
	uint32_t *nodes; /* from the root down */
	size_t n, cap;
};

static double delta(const struct fz_diff *d, uint32_t node)
{
	const struct fz_diff_cost *c = &d->nodes[node].cost;

	return fz_diff_delta(d, c->total[FZ_BASE], c->total[FZ_HEAD]);
}

static void descend(const struct fz_diff *d, uint32_t root, double whole, struct path *path)
{
	uint32_t at = root;

	for (;;) {
		uint32_t end = at + d->nodes[at].size, next = FZ_NONE;
		fz_push(path->nodes, path->n, path->cap, at);
		for (uint32_t c = at + 1; c < end; c += d->nodes[c].size)
			if (delta(d, c) / whole >= enough) {
				next = c;
				break;
			}
		if (next == FZ_NONE)
			return;
		at = next;
	}
}

static const struct fz_diff_function *function_at(const struct fz_diff *d, uint32_t node)
{
	return &d->functions[d->nodes[node].function];
}

/* Cut off functions below the last Python function. */
static void cut(const struct fz_diff *d, struct path *path)
{
	for (size_t n = path->n; n > 1; n--)
		if (function_at(d, path->nodes[n - 1])->kind == FZ_KIND_PYTHON) {
			path->n = n;
			return;
		}
}

/* In a Python program only Python functions are reported. */
static bool is_reported(const struct fz_diff *d, const struct path *path, size_t i)
{
	bool python = function_at(d, path->nodes[path->n - 1])->kind == FZ_KIND_PYTHON;

	return i > 0 && (!python || function_at(d, path->nodes[i])->kind == FZ_KIND_PYTHON);
}

/* Libraries below the checkout, such as in an environment, are not part of it. */
static bool is_foreign(struct fz_str file)
{
	return memmem(file.p, file.n, "/site-packages/", 15) ||
	       memmem(file.p, file.n, "/dist-packages/", 15) ||
	       memmem(file.p, file.n, "/node_modules/", 14);
}

static struct fz_str below(struct fz_str file, struct fz_str folder)
{
	bool is_there = folder.n && file.n > folder.n + 1 && file.p[folder.n] == '/' &&
			memcmp(file.p, folder.p, folder.n) == 0 && !is_foreign(file);

	return is_there ? (struct fz_str){ file.p + folder.n + 1, file.n - folder.n - 1 }
			: FZ_STR("");
}

/* If the checkout has been removed, true for what looks like a path in it; "./malloc/malloc.c" does
 * not. */
static bool is_file_in(const char *root, struct fz_str file)
{
	if (access(root, F_OK))
		return *file.p != '.' && !memmem(file.p, file.n, "/../", 4);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%.*s", root, (int)file.n, file.p);

	return access(path, R_OK) == 0;
}

/* A relative path in a recording may be the path of a library when it was compiled. */
struct fz_str fz_ci_file_below(const struct fz_profile *p, uint32_t function, const char *root)
{
	if (function == FZ_NONE || !root)
		return FZ_STR("");
	struct fz_str file = fz_profile_text(p, p->functions[function].file);
	bool is_relative = file.n && *file.p != '/' && *file.p != '<';
	if (is_relative)
		return is_file_in(root, file) && !is_foreign(file) ? file : FZ_STR("");
	return below(file, fz_str_of(root));
}

static bool set_place(struct fz_ci_result *r, struct fz_ci_place *place, struct fz_str file,
		      int32_t line)
{
	if (!file.n)
		return false;
	place->file = fz_arena_strndup(&r->arena, file.p, file.n);
	place->line = line > 0 ? line : 1;
	return true;
}

static struct fz_str file_of(const struct fz_diff *d, const struct fz_diff_function *f,
			     enum fz_side s, const char *const roots[FZ_SIDES])
{
	return fz_ci_file_below(d->profile[s], f->on_side[s], roots[s]);
}

/* The Python function of the path that calls function i, or NULL. */
static const struct fz_diff_function *caller_of(const struct fz_diff *d, const struct path *path,
						size_t i)
{
	while (--i > 0)
		if (function_at(d, path->nodes[i])->kind == FZ_KIND_PYTHON)
			return function_at(d, path->nodes[i]);
	return NULL;
}

/* Choose the innermost line of the path that is in the diff: in a function, or where it is called.
 * All lines of a new function are in the diff, so for these the call comes first. */
static bool find_change(struct fz_ci_result *r, const struct fz_diff *d, const struct path *path,
			const char *const roots[FZ_SIDES], struct fz_ci_place *place)
{
	for (size_t i = path->n; i-- > 1;) {
		const struct fz_diff_function *f = function_at(d, path->nodes[i]);
		const struct fz_diff_function *caller = caller_of(d, path, i);
		int32_t line = fz_changed_line(d, f);
		int32_t call = caller ? fz_changed_call(d, caller, f) : 0;
		bool prefer_call = call && (!line || f->on_side[FZ_BASE] == FZ_NONE);
		if (prefer_call && set_place(r, place, file_of(d, caller, FZ_HEAD, roots), call))
			return true;
		if (line && set_place(r, place, file_of(d, f, FZ_HEAD, roots), line))
			return true;
	}
	return false;
}

/* Otherwise choose the innermost function whose source is in the checkout. */
static void find_source(struct fz_ci_result *r, const struct fz_diff *d, const struct path *path,
			const char *const roots[FZ_SIDES], struct fz_ci_place *place)
{
	if (find_change(r, d, path, roots, place))
		return;
	for (size_t i = path->n; i-- > 1;) {
		const struct fz_diff_function *f = function_at(d, path->nodes[i]);
		for (int s = FZ_HEAD; s >= FZ_BASE; s--)
			if (set_place(r, place, file_of(d, f, (enum fz_side)s, roots), f->line))
				return;
	}
}

static void locate(struct fz_ci_result *r, struct fz_ci_bench *b, const struct fz_diff *d,
		   uint32_t root, const char *const roots[FZ_SIDES])
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct path path = { 0 };
	double whole = delta(d, root);
	size_t shown = 0;

	if (whole == 0)
		return;
	descend(d, root, whole, &path);
	cut(d, &path);
	size_t first = path.n;
	while (first > 1 && shown < NAMES)
		shown += is_reported(d, &path, --first);
	for (size_t i = first; i < path.n; i++) {
		char name[160];
		if (!is_reported(d, &path, i))
			continue;
		struct fz_str full = function_at(d, path.nodes[i])->name;
		fz_str_printable(full.p, full.n, name, sizeof(name));
		fz_buf_printf(&text, "%s%s", text.n ? " > " : "", name);
	}
	if (text.n) {
		uint32_t last = path.nodes[path.n - 1];
		b->place.context = fz_arena_strndup(&r->arena, text.p, text.n);
		b->place.change = delta(d, last);
		b->place.base = d->factor * (double)d->nodes[last].cost.total[FZ_BASE];
		find_source(r, d, &path, roots, &b->place);
	}
	free(path.nodes);
}

void fz_ci_locate(struct fz_ci_result *r, const struct fz_diff *d, const char *metric,
		  const char *const roots[FZ_SIDES])
{
	bool is_one = r->n == r->metrics.n;

	for (uint32_t node = 0; node < d->node_count; node += d->nodes[node].size) {
		const struct fz_diff_function *f = function_at(d, node);
		for (uint32_t i = 0; i < r->n; i++) {
			struct fz_ci_bench *b = &r->benches[i];
			bool meant = f->kind == FZ_KIND_MARKER && fz_str_eq(b->name, f->name);
			if (!b->suspect || strcmp(b->metric, metric) != 0)
				continue;
			/* If nothing is marked, the whole program is the benchmark. */
			if (meant || (is_one && f->kind != FZ_KIND_MARKER && !b->place.context))
				locate(r, b, d, node, roots);
		}
	}
}
