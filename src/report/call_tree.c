/* SPDX-License-Identifier: MIT */
/* Folding a call tree; see call_tree.h.
 *
 * Each source node goes to one row, chosen by its caller's row and the origin of both:
 *
 *   own code                            a row of its own
 *   foreign, called by own code         a row of its own, the entry to a library
 *   foreign, called by foreign code     the HIDDEN row below the entry, unless it is to be kept
 *   the import machinery                MACHINERY; the module below it an IMPORT of the importer
 *   start-up, at a root                 STARTUP; what it starts is a root itself
 *   a function that is open already,    the row where it was opened, when it recurs often
 *   and the row is above
 *
 * A row comes after its parent, so one pass backwards over the array computes all totals.
 */
#include "report/call_tree.h"

#include "profile/machinery.h"

#include <ctype.h>

enum {
	RECURSION_SHOWN = 4, /* levels that are rows of their own */
	PACKAGES_SHOWN = 3,
};

/* Map key in place of a function: no profile has that many functions. */
#define KEY_OF_KIND(kind) (UINT32_MAX - 16 + (uint32_t)(kind))

struct builder {
	struct fz_call_tree *t;
	const struct fz_call_source *s;
	uint32_t top;             /* the row above all others */
	uint32_t *row;            /* of each source node */
	uint32_t *first;          /* by node: the outermost node of its function on its path */
	uint32_t *times;          /* by such a node: most occurrences on one stack */
	bool *machinery, *runner; /* by function */
	enum fz_call_fold fold;
};

/* ---- rows ---- */

static uint32_t new_row(struct fz_call_tree *t, uint32_t parent, enum fz_call_kind kind,
			uint32_t function)
{
	fz_assert(parent == FZ_NONE || parent < t->n);
	fz_grow(t->calls, t->n, t->cap);
	t->calls[t->n] = (struct fz_call){ .kind = (uint8_t)kind,
					   .parent = parent,
					   .function = function,
					   .source = FZ_NONE,
					   .deep = 1,
					   .members = FZ_NONE };
	return t->n++;
}

uint32_t fz_call_tree_row(struct fz_call_tree *t, uint32_t parent, enum fz_call_kind kind)
{
	return new_row(t, parent, kind, FZ_NONE);
}

static uint32_t row_of_key(struct fz_call_tree *t, uint32_t parent, uint32_t key,
			   enum fz_call_kind kind, uint32_t function)
{
	uint32_t *slot = fz_map_slot(&t->children, FZ_KEY(parent, key));

	if (*slot == FZ_NONE)
		*slot = new_row(t, parent, kind, function);
	return *slot;
}

static uint32_t child(struct builder *b, uint32_t parent, uint32_t function, enum fz_call_kind kind)
{
	return row_of_key(b->t, parent, function, kind, function);
}

static uint32_t special(struct builder *b, uint32_t parent, enum fz_call_kind kind)
{
	return row_of_key(b->t, parent, KEY_OF_KIND(kind), kind, FZ_NONE);
}

static int64_t self_of(const struct fz_call_source *s, uint32_t i)
{
	return s->self[FZ_HEAD][i] + (s->self[FZ_BASE] ? s->self[FZ_BASE][i] : 0);
}

static void add_member(struct builder *b, uint32_t row, uint32_t i)
{
	struct fz_call_tree *t = b->t;
	uint32_t function = b->s->function[i];
	uint32_t *slot = fz_map_slot(&t->hidden, FZ_KEY(row, function));

	if (*slot == FZ_NONE) {
		*slot = t->member_count;
		fz_push(t->members, t->member_count, t->member_cap,
			(struct fz_call_member){ function, t->calls[row].members, 0 });
		t->calls[row].members = *slot;
		t->calls[row].frames++;
	}
	t->members[*slot].self += self_of(b->s, i);
}

/* ---- recursion ---- */

/* Walks in preorder; `open` is the current node, and `count` counts functions from the root to
 * it. */
static void count_recursion(struct builder *b)
{
	const struct fz_call_source *s = b->s;
	fz_auto(fz_free_ptr) uint32_t *count =
		fz_calloc(b->t->function_count + 1ul, sizeof(*count));
	fz_auto(fz_free_ptr) uint32_t *opened =
		fz_calloc(b->t->function_count + 1ul, sizeof(*opened));
	uint32_t open = FZ_NONE;

	for (uint32_t i = 0; i < s->n; i++) {
		for (; open != s->parent[i]; open = s->parent[open])
			count[s->function[open]]--;
		uint32_t f = s->function[i];
		if (count[f]++ == 0)
			opened[f] = i;
		open = i;
		b->first[i] = opened[f];
		b->times[opened[f]] = FZ_MAX(b->times[opened[f]], count[f]);
	}
}

/* The row of the node's function among `row` and those above; FZ_NONE: do not fold. */
static uint32_t recursion(const struct builder *b, uint32_t i, uint32_t row)
{
	if (!b->t->functions[b->s->function[i]].recurs || b->first[i] == i ||
	    b->times[b->first[i]] <= RECURSION_SHOWN)
		return FZ_NONE;
	while (row != b->top && b->t->calls[row].function != b->s->function[i])
		row = b->t->calls[row].parent;
	return row == b->top ? FZ_NONE : row;
}

/* ---- whose code ---- */

static bool is_foreign(const struct builder *b, uint32_t function)
{
	return !b->t->functions[function].own;
}

static bool is_module(const struct builder *b, uint32_t function)
{
	return fz_str_eq(b->t->functions[function].name, FZ_STR("<module>"));
}

/* If only imports are folded, all other code has rows. */
static bool has_row(const struct builder *b, uint32_t function)
{
	return b->t->functions[function].own ||
	       (b->fold == FZ_CALL_FOLD_IMPORTS && !b->machinery[function] && !b->runner[function]);
}

/* Machinery is always folded, because its cost is mostly that of the modules it loads. */
static bool keeps(const struct builder *b, uint32_t function)
{
	return b->t->functions[function].keep && !b->machinery[function];
}

static bool is_kind(const struct builder *b, uint32_t row, enum fz_call_kind kind)
{
	return row != FZ_NONE && b->t->calls[row].kind == kind;
}

static uint32_t hide(struct builder *b, uint32_t i, uint32_t row)
{
	if (!is_kind(b, row, FZ_CALL_HIDDEN))
		row = special(b, row, FZ_CALL_HIDDEN);
	add_member(b, row, i);
	return row;
}

/* Place a node below STARTUP. The program itself becomes a root again. */
static uint32_t place_started(struct builder *b, uint32_t i, uint32_t row)
{
	uint32_t f = b->s->function[i], caller = b->s->function[b->s->parent[i]];

	if (b->machinery[f] || b->runner[f])
		return row;
	if (!is_foreign(b, f) || b->runner[caller])
		return child(b, b->top, f, FZ_CALL_FUNCTION);
	return keeps(b, f) ? child(b, row, f, FZ_CALL_FUNCTION) : row;
}

/* Place a node below MACHINERY: a module becomes an import of the importing row. */
static uint32_t place_imported(struct builder *b, uint32_t i, uint32_t row)
{
	uint32_t f = b->s->function[i], importer = b->t->calls[row].parent;

	if (b->machinery[f])
		return row;
	if (is_module(b, f))
		return child(b, importer, f, FZ_CALL_IMPORT);
	if (!is_foreign(b, f))
		return child(b, importer, f, FZ_CALL_FUNCTION);
	return keeps(b, f) ? child(b, row, f, FZ_CALL_FUNCTION) : row;
}

static uint32_t place_folded(struct builder *b, uint32_t i, uint32_t row)
{
	uint32_t f = b->s->function[i], up = b->s->parent[i];
	bool root = up == FZ_NONE, straight = !b->s->inverted;
	bool by_own = root || has_row(b, b->s->function[up]);

	if (straight && root && (b->machinery[f] || b->runner[f]))
		return special(b, b->top, FZ_CALL_STARTUP);
	if (!root && is_kind(b, row, FZ_CALL_STARTUP))
		return place_started(b, i, row);
	if (!root && is_kind(b, row, FZ_CALL_MACHINERY))
		return place_imported(b, i, row);
	if (straight && by_own && b->machinery[f])
		return special(b, row, FZ_CALL_MACHINERY);
	if (by_own || has_row(b, f) || keeps(b, f))
		return child(b, row, f,
			     straight && !root && is_module(b, f) &&
					     b->machinery[b->s->function[up]]
				     ? FZ_CALL_IMPORT
				     : FZ_CALL_FUNCTION);
	return hide(b, i, row);
}

static uint32_t place(struct builder *b, uint32_t i)
{
	uint32_t up = b->s->parent[i], row = up == FZ_NONE ? b->top : b->row[up];
	uint32_t again = recursion(b, i, row);

	if (again != FZ_NONE)
		return again;
	row = b->fold ? place_folded(b, i, row)
		      : child(b, row, b->s->function[i], FZ_CALL_FUNCTION);
	b->t->calls[row].entries++;
	return row;
}

/* ---- the tree ---- */

static void find_startup(struct builder *b)
{
	uint32_t n = b->t->function_count;

	b->machinery = fz_calloc(n + 1ul, sizeof(*b->machinery));
	b->runner = fz_calloc(n + 1ul, sizeof(*b->runner));
	for (uint32_t i = 0; i < n; i++) {
		b->machinery[i] = fz_machinery_imports(b->t->functions[i].place.file);
		b->runner[i] = fz_machinery_runs(b->t->functions[i].place.file);
	}
}

void fz_call_tree_add(struct fz_call_tree *t, uint32_t parent, const struct fz_call_source *s,
		      enum fz_call_fold fold)
{
	struct builder b = { .t = t,
			     .s = s,
			     .top = parent,
			     .row = fz_calloc(s->n + 1ul, sizeof(*b.row)),
			     .first = fz_calloc(s->n + 1ul, sizeof(*b.first)),
			     .times = fz_calloc(s->n + 1ul, sizeof(*b.times)),
			     .fold = fold };

	find_startup(&b);
	count_recursion(&b);
	for (uint32_t i = 0; i < s->n; i++) {
		b.row[i] = place(&b, i);
		struct fz_call *c = &t->calls[b.row[i]];
		if (c->source == FZ_NONE)
			c->source = i;
		if (c->function == s->function[i] && t->functions[c->function].recurs &&
		    b.times[b.first[i]] > RECURSION_SHOWN)
			c->deep = FZ_MAX(c->deep, b.times[b.first[i]]);
		c->marked |= s->marked && s->marked[i];
		for (int side = 0; side < FZ_SIDES; side++)
			c->self[side] += s->self[side] ? s->self[side][i] : 0;
	}
	free(b.row);
	free(b.first);
	free(b.times);
	free(b.machinery);
	free(b.runner);
}

bool fz_call_source_is_own(const struct fz_call_tree *t, const struct fz_call_source *s)
{
	fz_auto(fz_free_ptr) bool *below = fz_calloc(s->n + 1ul, sizeof(*below));
	double own = 0, all = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		below[i] = t->functions[s->function[i]].own ||
			   (s->parent[i] != FZ_NONE && below[s->parent[i]]);
		double self = (double)self_of(s, i);
		own += below[i] ? self : 0;
		all += self;
	}
	return own > 0 && own >= all / 2;
}

void fz_call_tree_sum(struct fz_call_tree *t)
{
	for (uint32_t i = t->n; i-- > 0;) {
		struct fz_call *c = &t->calls[i];
		for (int side = 0; side < FZ_SIDES; side++) {
			c->total[side] += c->self[side];
			if (c->parent != FZ_NONE)
				t->calls[c->parent].total[side] += c->total[side];
		}
		/* a single frame takes no more room than a HIDDEN row */
		if (c->kind == FZ_CALL_HIDDEN && c->frames == 1) {
			c->kind = FZ_CALL_FUNCTION;
			c->function = t->members[c->members].function;
		}
	}
}

void fz_call_tree_release(struct fz_call_tree *t)
{
	free(t->calls);
	free(t->members);
	fz_map_release(&t->children);
	fz_map_release(&t->hidden);
	*t = (struct fz_call_tree){ 0 };
}

/* ---- names ---- */

/* The path below the folder from which modules are imported. */
static struct fz_str below_library(struct fz_str file)
{
	static const char *const folders[] = { "site-packages/", "dist-packages/", "lib/python",
					       "lib64/python" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++) {
		const char *at = memmem(file.p, file.n, folders[i], strlen(folders[i]));
		if (!at)
			continue;
		at += strlen(folders[i]);
		while (at[-1] != '/' && at < file.p + file.n)
			at++;
		return (struct fz_str){ at, (size_t)(file.p + file.n - at) };
	}
	return file.n && file.p[0] == '/' ? fz_path_base(file) : file;
}

static bool is_identifier(struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' &&
		    (unsigned char)s.p[i] < 0x80)
			return false;
	return s.n && !isdigit((unsigned char)s.p[0]);
}

/* The path below the last folder whose name is not a valid package name. */
static struct fz_str importable(struct fz_str path)
{
	const char *end = path.p + path.n, *slash;

	for (const char *at = path.p; at < end && (slash = memchr(at, '/', (size_t)(end - at)));
	     at = slash + 1)
		if (!is_identifier((struct fz_str){ at, (size_t)(slash - at) }))
			path = (struct fz_str){ slash + 1, (size_t)(end - slash - 1) };
	return path;
}

static void drop_end(struct fz_str *s, const char *end)
{
	if (fz_str_ends(*s, end) && s->n > strlen(end))
		s->n -= strlen(end);
}

void fz_call_module(struct fz_str file, struct fz_buf *out)
{
	if (fz_str_starts(file, "<frozen ") && fz_str_ends(file, ">")) {
		fz_buf_add(out, file.p + 8, file.n - 9);
		return;
	}
	drop_end(&file, ".py");
	drop_end(&file, "/__init__");
	struct fz_str path = importable(below_library(file));
	for (size_t i = 0; i < path.n; i++)
		fz_buf_char(out, path.p[i] == '/' ? '.' : path.p[i]);
}

struct package {
	char *name;
	int64_t self;
};

static int compare_packages(const void *pa, const void *pb)
{
	const struct package *a = pa, *b = pb;

	return FZ_CMP(b->self, a->self) ?: strcmp(a->name, b->name);
}

/* "json" for json.decoder, "libc.so.6" for native code; "" if unknown. Freed by the caller. */
static char *package_of(const struct fz_call_function *f)
{
	const struct fz_profile *p = f->place.profile;
	struct fz_str file = f->place.file;
	struct fz_str module =
		p ? fz_module_file(p->strings[p->functions[f->place.function].module]) : FZ_STR("");
	struct fz_buf name = { 0 };

	if (module.n)
		return fz_strndup(fz_path_base(module).p, fz_path_base(module).n);
	if (file.n && (!strchr("~[<", file.p[0]) || fz_str_starts(file, "<frozen ")))
		fz_call_module(file, &name);
	char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
	/* "list.c" is not a package */
	if (dot && (fz_str_ends(file, ".py") || file.p[0] == '<'))
		*dot = '\0';
	return fz_buf_take(&name);
}

void fz_call_packages(const struct fz_call_tree *t, uint32_t call, struct fz_buf *out)
{
	struct package *list = fz_calloc(t->calls[call].frames + 1ul, sizeof(*list));
	size_t n = 0, shown = 0;

	for (uint32_t m = t->calls[call].members; m != FZ_NONE; m = t->members[m].next) {
		char *name = package_of(&t->functions[t->members[m].function]);
		size_t i = 0;
		while (i < n && strcmp(list[i].name, name) != 0)
			i++;
		if (i == n)
			list[n++].name = fz_strdup(name);
		/* The loaded modules are more informative than the import machinery. */
		if (!fz_machinery_imports(t->functions[t->members[m].function].place.file))
			list[i].self += t->members[m].self;
		free(name);
	}
	qsort(list, n, sizeof(*list), compare_packages);
	for (size_t i = 0; i < n; i++) {
		if (*list[i].name && shown < PACKAGES_SHOWN)
			fz_buf_printf(out, "%s%s", shown++ ? ", " : "", list[i].name);
		else if (*list[i].name && shown++ == PACKAGES_SHOWN)
			fz_buf_str(out, ", ...");
		free(list[i].name);
	}
	free(list);
}
