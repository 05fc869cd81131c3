/* SPDX-License-Identifier: MIT */
/* Finds partners for orphans, the functions that only one side has.
 *
 *   0. packages         their module became a package, or the reverse
 *   1. bodies           their recorded sources are similar (link_body.c), or they are in a renamed
 *                       class or file (link_scope.c)
 *   2. moved files      two files vote for each other with the names their orphans share
 *   3. unique names     the only function of that name on both sides, with a common caller or
 *                       callee
 *   4. neighbourhoods   different name, but the same callers and callees (link_neighbours.c); up
 *                       to four rounds, because each link makes its neighbours easier to match
 *   5. wakers           markers that name a function linked so far (link_wakers.c)
 *
 * Everything is symmetric: base and head could be swapped. Candidates with equal scores are never
 * linked, generic names (<module>, <lambda>, __init__) are no evidence, and markers other than
 * those of wakers are never linked. A function that the other side also has, but did not run, is
 * not linked to another one. If both bodies are known, no other evidence overrides them.
 */
#include "compare/link_body.h"
#include "compare/mutual_choice.h"

enum { SAME_NAME_MAX = 8, AMBIGUOUS = FZ_NONE - 1 };

static const double least_moved = 0.5; /* fraction of names that two files must share */

/* ---- names and files as numbers ---- */

static int compare_names(const void *pa, const void *pb, void *arg)
{
	const struct fz_linker *l = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int c = fz_str_cmp(fz_link_name(l, a)->name, fz_link_name(l, b)->name);

	return c ? c
		 : (fz_link_kind(l, a) > fz_link_kind(l, b)) -
			       (fz_link_kind(l, a) < fz_link_kind(l, b));
}

static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct fz_linker *l = arg;

	return fz_str_cmp(fz_link_name(l, *(const uint32_t *)pa)->key,
			  fz_link_name(l, *(const uint32_t *)pb)->key);
}

static uint32_t number(struct fz_linker *l, uint32_t *list, uint32_t n, uint32_t *ret,
		       int (*compare)(const void *a, const void *b, void *arg))
{
	uint32_t id = 0;

	if (n == 0)
		return 0;
	qsort_r(list, n, sizeof(*list), compare, l);
	for (uint32_t i = 0; i < n; i++) {
		id += i > 0 && compare(&list[i - 1], &list[i], l) != 0;
		ret[list[i]] = id;
	}
	return id + 1;
}

/* Orders orphans by name, file, side, and position in the file. */
static int compare_orphans(const void *pa, const void *pb, void *arg)
{
	const struct fz_linker *l = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(l->name_id[a], l->name_id[b]) ?:
	       FZ_CMP(fz_link_side(l, a), fz_link_side(l, b)) ?:
	       FZ_CMP(l->file_id[a], l->file_id[b]) ?: FZ_CMP(a, b);
}

static uint32_t *list_orphans(struct fz_linker *l, uint32_t *ret_n)
{
	uint32_t *list = fz_calloc(FZ_MAX(l->n, 1), sizeof(*list));

	*ret_n = 0;
	for (uint32_t f = 0; f < l->n; f++)
		if (fz_link_allowed(l, f))
			list[(*ret_n)++] = f;
	return list;
}

/* Orphans with the same name: the base's in [base, head), the head's in [head, end). */
struct namesakes {
	const uint32_t *base, *head, *end;
};

static struct namesakes namesakes_at(const struct fz_linker *l, const uint32_t *at,
				     const uint32_t *end)
{
	struct namesakes s = { .base = at };
	uint32_t name = l->name_id[*at];

	while (at < end && l->name_id[*at] == name && fz_link_side(l, *at) == FZ_BASE)
		at++;
	s.head = at;
	while (at < end && l->name_id[*at] == name)
		at++;
	s.end = at;
	return s;
}

/* ---- moved files ---- */

/* Sets ret to the first orphan of each file, among the orphans of one side and name; counts the
 * name in names[file]. */
static uint32_t first_of_files(const struct fz_linker *l, const uint32_t *from, const uint32_t *end,
			       uint32_t *names, uint32_t ret[SAME_NAME_MAX + 1])
{
	uint32_t n = 0;

	for (const uint32_t *f = from; f < end; f++) {
		if (f > from && l->file_id[f[-1]] == l->file_id[*f])
			continue;
		names[l->file_id[*f]]++;
		if (n <= SAME_NAME_MAX)
			ret[n++] = *f;
	}
	return n;
}

static bool is_evidence(const struct fz_linker *l, uint32_t base, uint32_t head)
{
	const struct fz_name *a = fz_link_name(l, base), *b = fz_link_name(l, head);

	if (l->file_id[base] == l->file_id[head] || !a->key.n || !b->key.n ||
	    fz_link_contradicted(l, base, head))
		return false;
	return !fz_link_is_generic(a->name) ||
	       (!fz_link_is_generic_file(a->key) &&
		fz_str_eq(fz_path_base(a->key), fz_path_base(b->key)));
}

static void vote_with_name(const struct fz_linker *l, struct fz_ballot *b, uint32_t *names,
			   const struct namesakes *s)
{
	uint32_t base[SAME_NAME_MAX + 1], head[SAME_NAME_MAX + 1];
	uint32_t base_n = first_of_files(l, s->base, s->head, names, base);
	uint32_t head_n = first_of_files(l, s->head, s->end, names, head);

	if (base_n > SAME_NAME_MAX || head_n > SAME_NAME_MAX)
		return;
	for (uint32_t i = 0; i < base_n; i++)
		for (uint32_t k = 0; k < head_n; k++)
			if (is_evidence(l, base[i], head[k]))
				fz_ballot_cast(b, l->file_id[base[i]], l->file_id[head[k]]);
}

/* Matches two files if each is the clear favourite of the other and they share half of their
 * names. */
static void match_files(struct fz_linker *l, struct fz_ballot *b, const uint32_t *names)
{
	fz_ballot_count(b, l->file_count);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct fz_vote *v = &b->votes[i];
		double score = 2.0 * v->count / (names[v->base] + names[v->head]);
		if (!v->is_mutual || score < least_moved)
			continue;
		l->moved_to[v->base] = v->head;
		l->moved_score[v->base] = score;
	}
}

/* Links the orphans of one name in a file and in its match, in order, if both have equally many. */
static void link_in_files(struct fz_linker *l, const struct namesakes *s)
{
	for (const uint32_t *a = s->base, *a_end; a < s->head; a = a_end) {
		uint32_t file = l->file_id[*a], to = l->moved_to[file];
		const uint32_t *b = s->head, *b_end;

		for (a_end = a; a_end < s->head && l->file_id[*a_end] == file; a_end++)
			;
		if (to == FZ_NONE)
			continue;
		while (b < s->end && l->file_id[*b] != to)
			b++;
		for (b_end = b; b_end < s->end && l->file_id[*b_end] == to; b_end++)
			;
		if (b_end - b != a_end - a)
			continue;
		for (long i = 0; i < a_end - a; i++)
			if (!fz_link_contradicted(l, a[i], b[i]))
				fz_link_pair(l, a[i], b[i], FZ_LINK_MOVED, l->moved_score[file]);
	}
}

static void link_moved(struct fz_linker *l, const uint32_t *list, uint32_t n)
{
	uint32_t *names = fz_calloc(FZ_MAX(l->file_count, 1), sizeof(*names));
	struct fz_ballot b = { 0 };
	struct namesakes s;

	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		vote_with_name(l, &b, names, &s);
	}
	match_files(l, &b, names);
	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		link_in_files(l, &s);
	}
	free(names);
	fz_ballot_release(&b);
}

/* ---- modules that became packages ---- */

/* Maps (module or package, qualified name) to its only orphan; AMBIGUOUS if there are several. */
static struct fz_map index_layouts(const struct fz_linker *l, enum fz_side side)
{
	struct fz_map map = { 0 };

	for (uint32_t f = 0; f < l->n; f++) {
		if (!fz_link_allowed(l, f) || fz_link_side(l, f) != side)
			continue;
		const struct fz_name *name = fz_link_name(l, f);
		struct fz_str layout = fz_code_other_layout(l->code, side, name->key);
		if (!layout.n || fz_str_eq(name->name, FZ_STR("<module>")))
			continue;
		uint64_t key = fz_hash_bytes(layout.p, layout.n) +
			       fz_hash64(fz_hash_bytes(name->name.p, name->name.n));
		uint32_t *slot = fz_map_slot(&map, key);
		*slot = *slot == FZ_NONE ? f : AMBIGUOUS;
	}
	return map;
}

/* Links functions of m.py that are now in m/core.py, whatever their bodies, as if name and file
 * were equal. */
static void link_layouts(struct fz_linker *l)
{
	struct fz_map base = index_layouts(l, FZ_BASE), head = index_layouts(l, FZ_HEAD);

	for (size_t i = 0; base.slots && i <= base.mask; i++) {
		uint32_t f = base.slots[i].value, to = FZ_NONE;
		if (f < AMBIGUOUS)
			to = fz_map_get(&head, base.slots[i].key);
		if (to < AMBIGUOUS && fz_link_kind(l, f) == fz_link_kind(l, to))
			fz_link_pair(l, f, to, FZ_LINK_MOVED, 1);
	}
	fz_map_release(&base);
	fz_map_release(&head);
}

/* ---- unique names ---- */

static uint32_t only_orphan(const struct fz_linker *l, const uint32_t *from, const uint32_t *end)
{
	uint32_t found = FZ_NONE;

	for (; from < end; from++) {
		if (!fz_link_is_orphan(l, *from))
			continue;
		if (found != FZ_NONE)
			return FZ_NONE;
		found = *from;
	}
	return found;
}

/* Names of matched functions, which are weak evidence. */
static struct fz_map list_common_names(const struct fz_linker *l)
{
	struct fz_map names = { 0 };

	for (uint32_t f = 0; f < l->n; f++) {
		uint32_t function = l->d->functions[f].on_side[FZ_HEAD];
		if (fz_link_is_orphan(l, f) || function == FZ_NONE)
			continue;
		struct fz_str name = l->names[FZ_HEAD][function].name;
		fz_map_put(&names, fz_hash_bytes(name.p, name.n), f);
	}
	return names;
}

/* Links the only orphans of a name on both sides, if no matched function has that name and they
 * have a common caller or callee. */
static void link_unique(struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES],
			const uint32_t *list, uint32_t n)
{
	struct fz_map common = list_common_names(l);
	struct namesakes s;

	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		uint32_t base = only_orphan(l, s.base, s.head);
		uint32_t head = only_orphan(l, s.head, s.end);
		if (base == FZ_NONE || head == FZ_NONE)
			continue;
		struct fz_str name = fz_link_name(l, base)->name;
		if (!fz_link_is_generic(name) && !fz_link_contradicted(l, base, head) &&
		    fz_map_get(&common, fz_hash_bytes(name.p, name.n)) == FZ_NONE &&
		    fz_link_share_neighbour(l, graph, base, head))
			fz_link_pair(l, base, head, FZ_LINK_NAME, 1);
	}
	fz_map_release(&common);
}

/* ---- all of it ---- */

static bool has_orphans(const struct fz_linker *l)
{
	bool on_side[FZ_SIDES] = { false };

	for (uint32_t f = 0; f < l->n; f++)
		if (fz_link_is_free(l, f))
			on_side[fz_link_side(l, f)] = true;
	return on_side[FZ_BASE] && on_side[FZ_HEAD];
}

static void linker_init(struct fz_linker *l)
{
	l->partner = fz_calloc(l->n, sizeof(*l->partner));
	l->name_id = fz_calloc(l->n, sizeof(*l->name_id));
	l->file_id = fz_calloc(l->n, sizeof(*l->file_id));
	l->moved_to = fz_calloc(l->n, sizeof(*l->moved_to));
	l->moved_score = fz_calloc(l->n, sizeof(*l->moved_score));
	for (uint32_t f = 0; f < l->n; f++) {
		const uint32_t *on_side = l->d->functions[f].on_side;
		bool both = on_side[FZ_BASE] != FZ_NONE && on_side[FZ_HEAD] != FZ_NONE;
		l->partner[f] = both ? f : FZ_NONE;
		l->moved_to[f] = FZ_NONE;
	}
}

static void linker_release(struct fz_linker *l)
{
	free(l->partner);
	free(l->name_id);
	free(l->file_id);
	free(l->moved_to);
	free(l->moved_score);
}

/* Merges each base function into its partner in the head. */
static void merge_functions(struct fz_linker *l)
{
	struct fz_diff *d = l->d;
	fz_auto(fz_free_ptr) uint32_t *now = fz_calloc(l->n, sizeof(*now));
	fz_auto(fz_free_ptr) bool *gone = fz_calloc(l->n, sizeof(*gone));
	uint32_t n = 0;

	for (uint32_t f = 0; f < l->n; f++)
		gone[f] = l->partner[f] != f && !fz_link_is_orphan(l, f) &&
			  fz_link_side(l, f) == FZ_BASE;
	for (uint32_t f = 0; f < l->n; f++)
		if (gone[f])
			d->functions[l->partner[f]].on_side[FZ_BASE] =
				d->functions[f].on_side[FZ_BASE];
	for (uint32_t f = 0; f < l->n; f++) {
		now[f] = n;
		if (!gone[f])
			d->functions[n++] = d->functions[f];
	}
	for (uint32_t f = 0; f < l->n; f++)
		if (gone[f])
			now[f] = now[l->partner[f]];
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = 0; i < d->profile[s]->function_count; i++)
			if (d->function_of[s][i] != FZ_NONE)
				d->function_of[s][i] = now[d->function_of[s][i]];
	d->function_count = n;
}

/* Whether the other side has this function or its file. If so, that is its partner, even without
 * samples. */
static bool is_elsewhere(const struct fz_linker *l, uint32_t f)
{
	enum fz_side side = fz_link_side(l, f);
	uint32_t function = l->d->functions[f].on_side[side];
	uint32_t source = fz_code_source(l->code, side, function);

	if (fz_code_presence(l->code, side, function) == FZ_PRESENCE_YES)
		return true;
	return source != FZ_NONE && fz_code_counterpart(l->code, side, function) == FZ_NONE &&
	       fz_code_imported(l->code, side, source) == FZ_PRESENCE_YES;
}

static void link_by_calls(struct fz_linker *l, const uint32_t *list, uint32_t n, bool no_rename)
{
	struct fz_link_graph graph[FZ_SIDES] = { 0 };

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_link_graph_init(l, s, &graph[s]);
	link_unique(l, graph, list, n);
	if (!no_rename && has_orphans(l))
		fz_link_neighbours(l, graph);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_link_graph_release(&graph[s]);
}

static void link_bodies(struct fz_linker *l, bool no_rename)
{
	fz_auto(fz_bodies_release) struct fz_bodies b;

	fz_bodies_init(&b, l, no_rename);
	if (fz_bodies_on_both(&b))
		fz_link_scopes(&b);
}

static void link_functions(struct fz_linker *l, bool no_rename)
{
	uint32_t n;

	link_layouts(l);
	link_bodies(l, no_rename);
	fz_auto(fz_free_ptr) uint32_t *list = list_orphans(l, &n);
	number(l, list, n, l->name_id, compare_names);
	l->file_count = number(l, list, n, l->file_id, compare_files);
	qsort_r(list, n, sizeof(*list), compare_orphans, l);
	link_moved(l, list, n);
	if (has_orphans(l))
		link_by_calls(l, list, n, no_rename);
}

void fz_diff_link(struct fz_diff *d, struct fz_code *code, struct fz_name *const names[FZ_SIDES],
		  int32_t *const lines[FZ_SIDES], const bool *fixed, bool no_rename)
{
	fz_auto(fz_free_ptr) bool *elsewhere =
		fz_calloc(FZ_MAX(d->function_count, 1), sizeof(bool));
	struct fz_linker l = { .d = d,
			       .code = code,
			       .names = names,
			       .lines = lines,
			       .fixed = fixed,
			       .elsewhere = elsewhere,
			       .n = d->function_count };

	linker_init(&l);
	for (uint32_t f = 0; f < l.n; f++)
		elsewhere[f] = fz_link_is_orphan(&l, f) && is_elsewhere(&l, f);
	if (has_orphans(&l))
		link_functions(&l, no_rename);
	fz_link_wakers(&l);
	merge_functions(&l);
	linker_release(&l);
}
