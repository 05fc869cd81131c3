/* SPDX-License-Identifier: MIT */
/* Folding a page's tree; see page_fold.h.
 *
 * Each node is mapped to a node of the new tree, callers first:
 *
 *   import machinery    FINDING or STARTUP; the modules it runs move up to its caller
 *   an uncertain path   AGAIN or BEFORE, with everything below it
 *   everything else     its own node; moved-up nodes of one function are merged
 *
 * A path is kept if it is certainly new or gone, if its code is certainly new or gone and costs
 * enough to be seen, or if a path below it is kept. The program's own code never counts as import
 * machinery.
 */
#include "report/page_fold.h"

#include "base/buf.h"
#include "base/map.h"
#include "profile/machinery.h"
#include "profile/origin.h"
#include "report/call_tree.h"

#include <math.h>

enum fold { NOTHING, AGAIN, BEFORE, FINDING, STARTUP, FOLDS };

static const char *const fold_names[FOLDS] = {
	[AGAIN] = "not sampled again",
	[BEFORE] = "not sampled before",
	[FINDING] = "finding modules",
	[STARTUP] = "interpreter start-up",
};

/* Fraction of the whole from which on a frame is easily seen. */
static const double seen_share = 1.0 / 200;

/* The new tree, in order of creation. */
struct folded {
	struct fz_map found; /* (caller + 1, key) -> node, for nodes that are merged */
	uint32_t n;
	uint32_t *key;    /* function, or the page's function count + fold */
	uint32_t *parent; /* FZ_NONE: a root */
	uint32_t *origin; /* the page's node; FZ_NONE: several */
	bool *module;     /* code of a module that was imported */
	uint32_t *into;   /* by node of the page: its new node */
	uint32_t *paths;  /* number of merged nodes with self time */
	uint32_t known;   /* function count of the page before names were added */
};

static const struct fz_page_function *function_of(const struct fz_page *page, uint32_t node)
{
	return &page->functions[page->function[node]];
}

static bool is_empty(const struct fz_page *page, uint32_t node)
{
	return (!page->is_diff || page->total[FZ_BASE][node] == 0) &&
	       page->total[FZ_HEAD][node] == 0;
}

static bool is_module(const struct fz_page *page, uint32_t node)
{
	return fz_str_eq(function_of(page, node)->name, FZ_STR("<module>"));
}

/* ---- what is folded ---- */

static uint8_t import_fold(const struct fz_page *page, uint32_t i, uint8_t above, bool is_machinery)
{
	uint8_t origin = function_of(page, i)->origin;

	if (is_machinery)
		return above ? above : page->parent[i] == FZ_NONE ? STARTUP : FINDING;
	if (!above || origin == FZ_ORIGIN_OWN)
		return NOTHING;
	if (above == STARTUP)
		return origin == FZ_ORIGIN_LIBRARY ? NOTHING : above;
	return is_module(page, i) ? NOTHING : above;
}

/* Fold of each node (enum fold). */
static uint8_t *find_imports(const struct fz_page *page)
{
	uint8_t *fold = fz_calloc(page->n, sizeof(*fold));
	fz_auto(fz_free_ptr) bool *machinery = fz_calloc(page->function_count, sizeof(*machinery));

	for (uint32_t f = 0; f < page->function_count; f++)
		machinery[f] = fz_machinery_imports(page->functions[f].file);
	for (uint32_t i = 0; i < page->n; i++) {
		uint32_t p = page->parent[i];
		fold[i] = import_fold(page, i, p == FZ_NONE ? NOTHING : fold[p],
				      machinery[page->function[i]]);
	}
	return fold;
}

static bool is_certain(const struct fz_page *page, const struct fz_judged *functions,
		       const struct fz_judged *paths, uint32_t i)
{
	uint32_t f = page->function[i];
	uint8_t state = page->diff->functions[f].state;

	if (paths && !isnan(paths[i].low))
		return paths[i].verdict == FZ_VERDICT_CHANGED;
	return functions[f].verdict == FZ_VERDICT_CHANGED &&
	       (state == FZ_NEW || state == FZ_REMOVED);
}

/* Must a path be shown, independently of those around it? */
static bool stays(const struct fz_page *page, uint32_t i)
{
	const struct fz_judgement *j = page->judgement;
	const struct fz_page_function *f = function_of(page, i);

	const struct fz_diff_node *node = &page->diff->nodes[i];
	bool is_wrapper = node->wraps && node->state != FZ_MOVED;

	if (f->kind == FZ_KIND_MARKER || f->kind == FZ_KIND_TASK || is_wrapper)
		return true;
	for (int side = 0; side < FZ_SIDES && f->presence == FZ_PRESENCE_NO; side++)
		if ((double)page->total[side][i] >= seen_share * (double)FZ_MAX(page->sum[side], 1))
			return true;
	return is_certain(page, j->self, j->path_self, i) ||
	       is_certain(page, j->total, j->path_total, i);
}

/* Fold of each node (enum fold). A path without cost on either side is not noise, but does not keep
 * its callers. */
static uint8_t *find_noise(const struct fz_page *page)
{
	uint8_t *fold = fz_calloc(page->n, sizeof(*fold));
	fz_auto(fz_free_ptr) bool *kept = fz_calloc(page->n, sizeof(*kept));

	for (uint32_t i = page->n; i-- > 0;) {
		if (is_empty(page, i))
			continue;
		fold[i] = page->total[FZ_HEAD][i] == 0   ? AGAIN
			  : page->total[FZ_BASE][i] == 0 ? BEFORE
							 : NOTHING;
		if (fold[i] && !kept[i] && !stays(page, i))
			continue;
		fold[i] = NOTHING;
		if (page->parent[i] != FZ_NONE)
			kept[page->parent[i]] = true;
	}
	return fold;
}

/* ---- the new tree ---- */

static uint32_t add_node(struct folded *t, uint32_t up, uint32_t key, uint32_t origin)
{
	t->parent[t->n] = up;
	t->key[t->n] = key;
	t->origin[t->n] = origin;
	return t->n++;
}

static uint32_t join_node(struct folded *t, uint32_t up, uint32_t key, uint32_t origin)
{
	uint32_t *slot = fz_map_slot(&t->found, FZ_KEY(up + 1, key));

	if (*slot == FZ_NONE)
		*slot = add_node(t, up, key, origin);
	else
		t->origin[*slot] = FZ_NONE;
	return *slot;
}

static void gather(const struct fz_page *page, const uint8_t *imports, const uint8_t *noise,
		   struct folded *t)
{
	fz_auto(fz_free_ptr) uint32_t *below = fz_calloc(page->n, sizeof(*below));
	fz_auto(fz_free_ptr) bool *is_folded = fz_calloc(page->n, sizeof(*is_folded));
	fz_auto(fz_free_ptr) bool *is_lifted = fz_calloc(page->n, sizeof(*is_lifted));

	for (uint32_t i = 0; i < page->n; i++) {
		uint32_t p = page->parent[i], up = p == FZ_NONE ? FZ_NONE : below[p];
		bool above = p != FZ_NONE && imports[p];
		if (p != FZ_NONE && is_folded[p]) {
			is_folded[i] = true;
			t->into[i] = below[i] = up;
			if (!is_empty(page, i))
				t->origin[up] = FZ_NONE;
		} else if (imports[i]) {
			t->into[i] = join_node(t, up, page->function_count + imports[i], i);
			below[i] = up;
		} else {
			uint32_t fold = noise ? noise[i] : NOTHING;
			uint32_t key = fold ? page->function_count + fold : page->function[i];
			is_folded[i] = fold != NOTHING;
			is_lifted[i] = above || (p != FZ_NONE && is_lifted[p]);
			t->into[i] = below[i] =
				(fold || is_lifted[i] ? join_node : add_node)(t, up, key, i);
			if (above)
				t->module[t->into[i]] = is_module(page, i);
		}
	}
}

/* Preorder position of each node of the new tree; ret_size: subtree sizes by position. */
static uint32_t *place_all(const struct folded *t, uint32_t *ret_size)
{
	uint32_t *place = fz_calloc(t->n, sizeof(*place));
	fz_auto(fz_free_ptr) uint32_t *size = fz_calloc(t->n, sizeof(*size));
	fz_auto(fz_free_ptr) uint32_t *next = fz_calloc(t->n, sizeof(*next));
	uint32_t roots = 0;

	for (uint32_t k = t->n; k-- > 0;) {
		size[k]++;
		if (t->parent[k] != FZ_NONE)
			size[t->parent[k]] += size[k];
	}
	for (uint32_t k = 0; k < t->n; k++) {
		uint32_t *at = t->parent[k] == FZ_NONE ? &roots : &next[t->parent[k]];
		place[k] = *at;
		next[k] = *at + 1;
		*at += size[k];
		ret_size[place[k]] = size[k];
	}
	return place;
}

/* ---- names ---- */

/* Key of a node; noise that is a single path keeps its function. */
static uint32_t key_of(const struct fz_page *page, const struct folded *t, uint32_t k)
{
	bool is_noise = t->key[k] == t->known + AGAIN || t->key[k] == t->known + BEFORE;

	return is_noise && t->origin[k] != FZ_NONE ? page->function[t->origin[k]] : t->key[k];
}

/* Name a node: "import json", "finding modules", "not sampled again (3 paths)". Returns the number
 * of its function. */
static uint32_t name_node(struct fz_page *page, const struct folded *t, uint32_t k)
{
	uint32_t key = key_of(page, t, k), fold = key < t->known ? NOTHING : key - t->known;
	struct fz_page_function f = { .origin = FZ_ORIGIN_OTHER, .judged = FZ_NONE };
	struct fz_buf text = { 0 };
	char number[FZ_NUMBER_SIZE];

	if (!fold && !t->module[k])
		return key;
	if (!fold) {
		f = page->functions[key];
		fz_buf_str(&text, "import ");
		fz_call_module(f.file, &text);
	} else {
		fz_buf_str(&text, fold_names[fold]);
		if (fold == AGAIN || fold == BEFORE)
			fz_buf_printf(&text, " (%s)",
				      fz_format_plural(t->paths[k], "path", number));
	}
	f.name = (struct fz_str){ fz_arena_strndup(&page->texts, text.p, text.n), text.n };
	fz_buf_release(&text);
	page->functions[page->function_count] = f;
	return page->function_count++;
}

/* ---- the page ---- */

static void copy_values(const struct fz_page *page, const struct folded *t, const uint32_t *place,
			const uint32_t *parent, int64_t **values)
{
	int64_t *self = fz_calloc(t->n, sizeof(*self)), *total = fz_calloc(t->n, sizeof(*total));

	for (uint32_t i = 0; i < page->n; i++)
		self[place[t->into[i]]] += values[0][i];
	for (uint32_t k = t->n; k-- > 0;) {
		total[k] += self[k];
		if (parent[k] != FZ_NONE)
			total[parent[k]] += total[k];
	}
	free(values[0]);
	free(values[1]);
	values[0] = self;
	values[1] = total;
}

/* New nodes have no cost in the base, even if they wrap nodes that do. */
static void clear_wrappers(struct fz_page *page, const struct folded *t, const uint32_t *place)
{
	for (uint32_t k = 0; page->diff && k < t->n; k++) {
		uint32_t origin = t->origin[k];
		if (origin != FZ_NONE && page->diff->nodes[origin].state == FZ_NEW)
			page->total[FZ_BASE][place[k]] = 0;
	}
}

static void count_paths(const struct fz_page *page, struct folded *t)
{
	for (uint32_t i = 0; i < page->n; i++)
		for (int side = 0; side < FZ_SIDES; side++)
			if (page->self[side] && page->self[side][i]) {
				t->paths[t->into[i]]++;
				break;
			}
}

static void set_tree(struct fz_page *page, struct folded *t)
{
	uint32_t *size = fz_calloc(t->n, sizeof(*size)), *parent = fz_calloc(t->n, sizeof(*parent));
	uint32_t *function = fz_calloc(t->n, sizeof(*function));
	fz_auto(fz_free_ptr) uint32_t *place = place_all(t, size);

	page->origin = fz_calloc(t->n, sizeof(*page->origin));
	page->functions = fz_reallocarray(page->functions, page->function_count + (size_t)t->n,
					  sizeof(*page->functions));
	count_paths(page, t);
	for (uint32_t k = 0; k < t->n; k++) {
		uint32_t at = place[k];
		parent[at] = t->parent[k] == FZ_NONE ? FZ_NONE : place[t->parent[k]];
		page->origin[at] = t->origin[k];
		function[at] = name_node(page, t, k);
	}
	for (int side = 0; side < FZ_SIDES; side++) {
		int64_t *values[] = { page->self[side], page->total[side] };
		if (!values[0])
			continue;
		copy_values(page, t, place, parent, values);
		page->self[side] = values[0];
		page->total[side] = values[1];
	}
	clear_wrappers(page, t, place);
	free(page->function);
	free(page->parent);
	free(page->size);
	page->function = function;
	page->parent = parent;
	page->size = size;
	page->n = t->n;
}

void fz_page_fold(struct fz_page *page, bool noise_too)
{
	size_t n = page->n + 1ul;
	struct folded t = { .key = fz_calloc(n, sizeof(*t.key)),
			    .parent = fz_calloc(n, sizeof(*t.parent)),
			    .origin = fz_calloc(n, sizeof(*t.origin)),
			    .module = fz_calloc(n, sizeof(*t.module)),
			    .into = fz_calloc(n, sizeof(*t.into)),
			    .paths = fz_calloc(n, sizeof(*t.paths)),
			    .known = page->function_count };
	uint8_t *imports = find_imports(page);
	uint8_t *noise = noise_too ? find_noise(page) : NULL;

	gather(page, imports, noise, &t);
	if (t.n)
		set_tree(page, &t);
	free(imports);
	free(noise);
	free(t.key);
	free(t.parent);
	free(t.origin);
	free(t.module);
	free(t.into);
	free(t.paths);
	fz_map_release(&t.found);
}
