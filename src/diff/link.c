/* SPDX-License-Identifier: MIT */
/* Partners for orphans, the functions that only one side has.
 *
 *   1. moved files      two files vote for each other with the names their orphans share
 *   2. unique names     the only orphan of that name on both sides
 *   3. neighbourhoods   other name, but the same callers and callees; up to four rounds, because
 *                       each link makes its neighbours easier to recognise
 *
 * Everything is symmetric: base and head could be swapped. Nothing is linked on a tie, names that
 * say nothing (<module>, <lambda>, __init__) are no evidence, and markers never take part. What was
 * seen in fewer than ten samples of either side is too small to be told by its neighbours, and what
 * costs four times as much as before is rather something else in the same place.
 *
 * Neighbourhoods are edges: (orphan, direction, neighbour, share of the orphan's weight in that
 * direction). Candidates for a base orphan are found through neighbours that are matched already:
 *
 *   base orphan a --caller--> m == m <--caller-- head orphan b        m: matched, or "the root"
 *
 * Files have an order too: an orphan stands between two matched functions, and its partner most
 * likely between the same two. Functions that are alike in all else are told apart by that.
 *
 * Only edges of orphans are kept, and at most 64 orphans of a neighbour and 64 candidates of an
 * orphan are looked at, so the work is linear in the nodes plus 64 times the edges.
 */
#include "diff/internal.h"

#include <math.h>

enum { ROUNDS = 4, CANDIDATES_MAX = 64, SAMPLES_MIN = 10, SAME_NAME_MAX = 8 };
enum direction { CALLEES, CALLERS, DIRECTIONS };

static const double accept_score = 0.55;
static const double accept_lead = 0.10;
static const double weight_neighbours = 0.35; /* of callees, and of callers */
static const double weight_file = 0.20;
static const double weight_place = 0.20; /* between the same functions of that file */
static const double weight_size = 0.10;
static const double least_size = 0.25; /* the smaller's part of the larger */

struct linker {
	struct fz_diff *d;
	struct fz_name *const *names;
	const bool *fixed;
	int32_t *const *lines; /* of a profile function, by side */
	uint32_t n;            /* functions */
	uint32_t *partner;     /* both sides have it: itself; FZ_NONE: still an orphan */
	uint32_t *name_id;     /* of orphans: equal names and kinds, equal numbers */
	uint32_t *file_id;
	uint32_t file_count;
	uint32_t *moved_to; /* of a file of the base: the file of the head; FZ_NONE */
	double *moved_score;
};

static enum fz_side side_of(const struct linker *l, uint32_t f)
{
	return l->d->functions[f].on_side[FZ_BASE] == FZ_NONE ? FZ_HEAD : FZ_BASE;
}

static const struct fz_name *name_of(const struct linker *l, uint32_t f)
{
	enum fz_side side = side_of(l, f);

	return &l->names[side][l->d->functions[f].on_side[side]];
}

static uint8_t kind_of(const struct linker *l, uint32_t f)
{
	enum fz_side side = side_of(l, f);

	return l->d->profile[side]->functions[l->d->functions[f].on_side[side]].kind;
}

static bool is_orphan(const struct linker *l, uint32_t f)
{
	return l->partner[f] == FZ_NONE;
}

static bool may_link(const struct linker *l, uint32_t f)
{
	return is_orphan(l, f) && !l->fixed[f] && kind_of(l, f) != FZ_KIND_MARKER;
}

static void link_pair(struct linker *l, uint32_t base, uint32_t head, enum fz_link_how how,
		      double score)
{
	l->partner[base] = head;
	l->partner[head] = base;
	l->d->functions[head].link = (struct fz_link){ .how = (uint8_t)how, .score = score };
}

/* ---- names and files as numbers ---- */

static int compare_names(const void *pa, const void *pb, void *arg)
{
	const struct linker *l = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int c = fz_str_cmp(name_of(l, a)->name, name_of(l, b)->name);

	return c ? c : (kind_of(l, a) > kind_of(l, b)) - (kind_of(l, a) < kind_of(l, b));
}

static int compare_files(const void *pa, const void *pb, void *arg)
{
	const struct linker *l = arg;

	return fz_str_cmp(name_of(l, *(const uint32_t *)pa)->key,
			  name_of(l, *(const uint32_t *)pb)->key);
}

static uint32_t number(struct linker *l, uint32_t *list, uint32_t n, uint32_t *ret,
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

/* Those of code that has no name of its own, or a name that every class has. */
static bool says_nothing(struct fz_str name)
{
	bool special = fz_str_starts(name, "__") && fz_str_ends(name, "__") &&
		       !memchr(name.p, '.', name.n);
	const char *last = memrchr(name.p, '.', name.n);
	struct fz_str tail =
		last ? (struct fz_str){ last + 1, name.n - (size_t)(last + 1 - name.p) } : name;

	return name.n == 0 || special || (fz_str_starts(tail, "<") && fz_str_ends(tail, ">"));
}

/* Orphans in order of name, then file, then side, then as they stood in the file. */
static int compare_orphans(const void *pa, const void *pb, void *arg)
{
	const struct linker *l = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (l->name_id[a] != l->name_id[b])
		return l->name_id[a] < l->name_id[b] ? -1 : 1;
	if (side_of(l, a) != side_of(l, b))
		return side_of(l, a) < side_of(l, b) ? -1 : 1;
	if (l->file_id[a] != l->file_id[b])
		return l->file_id[a] < l->file_id[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static uint32_t *list_orphans(struct linker *l, uint32_t *ret_n)
{
	uint32_t *list = fz_calloc(FZ_MAX(l->n, 1), sizeof(*list));

	*ret_n = 0;
	for (uint32_t f = 0; f < l->n; f++)
		if (may_link(l, f))
			list[(*ret_n)++] = f;
	return list;
}

/* Orphans of one name: those of the base in [base, head), those of the head in [head, end). */
struct namesakes {
	const uint32_t *base, *head, *end;
};

static struct namesakes namesakes_at(const struct linker *l, const uint32_t *at,
				     const uint32_t *end)
{
	struct namesakes s = { .base = at };
	uint32_t name = l->name_id[*at];

	while (at < end && l->name_id[*at] == name && side_of(l, *at) == FZ_BASE)
		at++;
	s.head = at;
	while (at < end && l->name_id[*at] == name)
		at++;
	s.end = at;
	return s;
}

/* ---- moved files ---- */

struct vote {
	uint32_t base, head; /* files */
	uint32_t count;
};

struct ballot {
	struct fz_map map;
	struct vote *votes;
	uint32_t n, cap;
	uint32_t *names; /* of a file: different names among its orphans */
};

static void cast_vote(struct ballot *b, uint32_t base, uint32_t head)
{
	uint32_t *slot = fz_map_slot(&b->map, FZ_KEY(base, head));

	if (*slot == FZ_NONE) {
		*slot = b->n;
		fz_grow(b->votes, b->n, b->cap);
		b->votes[b->n++] = (struct vote){ .base = base, .head = head };
	}
	b->votes[*slot].count++;
}

/* The first orphan of each file among those of one side and name. */
static uint32_t first_of_files(const struct linker *l, const uint32_t *from, const uint32_t *end,
			       struct ballot *b, uint32_t ret[SAME_NAME_MAX + 1])
{
	uint32_t n = 0;

	for (const uint32_t *f = from; f < end; f++) {
		if (f > from && l->file_id[f[-1]] == l->file_id[*f])
			continue;
		b->names[l->file_id[*f]]++;
		if (n <= SAME_NAME_MAX)
			ret[n++] = *f;
	}
	return n;
}

static bool is_evidence(const struct linker *l, uint32_t base, uint32_t head)
{
	const struct fz_name *a = name_of(l, base), *b = name_of(l, head);

	if (l->file_id[base] == l->file_id[head] || !a->key.n || !b->key.n)
		return false;
	return !says_nothing(a->name) || fz_str_eq(fz_path_base(a->key), fz_path_base(b->key));
}

static void vote_with_name(const struct linker *l, struct ballot *b, const struct namesakes *s)
{
	uint32_t base[SAME_NAME_MAX + 1], head[SAME_NAME_MAX + 1];
	uint32_t base_n = first_of_files(l, s->base, s->head, b, base);
	uint32_t head_n = first_of_files(l, s->head, s->end, b, head);

	if (base_n > SAME_NAME_MAX || head_n > SAME_NAME_MAX)
		return;
	for (uint32_t i = 0; i < base_n; i++)
		for (uint32_t k = 0; k < head_n; k++)
			if (is_evidence(l, base[i], head[k]))
				cast_vote(b, l->file_id[base[i]], l->file_id[head[k]]);
}

struct best {
	uint32_t vote, count;
	bool tie;
};

static void note_best(struct best *best, uint32_t vote, uint32_t count)
{
	if (count > best->count)
		*best = (struct best){ .vote = vote, .count = count };
	else if (count == best->count)
		best->tie = true;
}

/* Two files are one when each is the other's clear favourite. */
static void elect(struct linker *l, const struct ballot *b)
{
	struct best *of_base = fz_calloc(FZ_MAX(l->file_count, 1), sizeof(*of_base));
	struct best *of_head = fz_calloc(FZ_MAX(l->file_count, 1), sizeof(*of_head));

	for (uint32_t i = 0; i < b->n; i++) {
		note_best(&of_base[b->votes[i].base], i, b->votes[i].count);
		note_best(&of_head[b->votes[i].head], i, b->votes[i].count);
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const struct vote *v = &b->votes[i];
		const struct best *x = &of_base[v->base], *y = &of_head[v->head];
		if (x->vote != i || x->tie || y->vote != i || y->tie)
			continue;
		l->moved_to[v->base] = v->head;
		l->moved_score[v->base] = 2.0 * v->count / (b->names[v->base] + b->names[v->head]);
	}
	free(of_base);
	free(of_head);
}

/* The orphans of one name in a file and in what became of it, in order, when equally many. */
static void link_in_files(struct linker *l, const struct namesakes *s)
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
			link_pair(l, a[i], b[i], FZ_LINK_MOVED, l->moved_score[file]);
	}
}

static void link_moved(struct linker *l, const uint32_t *list, uint32_t n)
{
	struct ballot b = { .names = fz_calloc(FZ_MAX(l->file_count, 1), sizeof(uint32_t)) };
	struct namesakes s;

	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		vote_with_name(l, &b, &s);
	}
	elect(l, &b);
	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		link_in_files(l, &s);
	}
	free(b.names);
	free(b.votes);
	fz_map_release(&b.map);
}

/* ---- unique names ---- */

static uint32_t only_orphan(const struct linker *l, const uint32_t *from, const uint32_t *end)
{
	uint32_t found = FZ_NONE;

	for (; from < end; from++) {
		if (!is_orphan(l, *from))
			continue;
		if (found != FZ_NONE)
			return FZ_NONE;
		found = *from;
	}
	return found;
}

static void link_unique(struct linker *l, const uint32_t *list, uint32_t n)
{
	struct namesakes s;

	for (const uint32_t *at = list; at < list + n; at = s.end) {
		s = namesakes_at(l, at, list + n);
		uint32_t base = only_orphan(l, s.base, s.head);
		uint32_t head = only_orphan(l, s.head, s.end);
		if (base != FZ_NONE && head != FZ_NONE && !says_nothing(name_of(l, base)->name))
			link_pair(l, base, head, FZ_LINK_NAME, 1);
	}
}

/* ---- neighbourhoods ---- */

struct edge {
	uint32_t orphan, neighbour; /* functions; neighbour n: the root */
	uint8_t direction;
	double weight; /* then its share of the orphan's weight in that direction */
};

struct graph {
	struct edge *edges; /* by orphan, direction, neighbour */
	uint32_t n, cap;
	uint32_t *start; /* of each function's edges; n + 1 entries */
	double *size;    /* of each function: weight, scaled */
	double *samples; /* in which it was */
};

static int compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->orphan != b->orphan)
		return a->orphan < b->orphan ? -1 : 1;
	if (a->direction != b->direction)
		return a->direction < b->direction ? -1 : 1;
	return (a->neighbour > b->neighbour) - (a->neighbour < b->neighbour);
}

static void add_edge(struct graph *g, struct fz_map *map, uint32_t orphan, enum direction direction,
		     uint32_t neighbour, double weight)
{
	uint32_t *slot = fz_map_slot(map, FZ_KEY(orphan << 1 | direction, neighbour));

	if (*slot == FZ_NONE) {
		*slot = g->n;
		fz_grow(g->edges, g->n, g->cap);
		g->edges[g->n++] = (struct edge){ .orphan = orphan,
						  .neighbour = neighbour,
						  .direction = (uint8_t)direction };
	}
	g->edges[*slot].weight += weight;
}

/* A call of itself is no neighbourhood. */
static void collect_edges(const struct linker *l, enum fz_side side, struct graph *g)
{
	const struct fz_tree *t = l->d->tree[side];
	const uint32_t *function_of = l->d->function_of[side];
	struct fz_map map = { 0 };

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = function_of[t->function[i]];
		uint32_t caller =
			t->parent[i] == FZ_NONE ? l->n : function_of[t->function[t->parent[i]]];
		double w = (double)t->total[i];
		if (caller == f || w <= 0)
			continue;
		if (is_orphan(l, f))
			add_edge(g, &map, f, CALLERS, caller, w);
		if (caller < l->n && is_orphan(l, caller))
			add_edge(g, &map, caller, CALLEES, f, w);
	}
	fz_map_release(&map);
	if (g->n)
		qsort(g->edges, g->n, sizeof(*g->edges), compare_edges);
	g->start = fz_calloc((size_t)l->n + 2, sizeof(*g->start));
	for (uint32_t i = 0; i < g->n; i++)
		g->start[g->edges[i].orphan + 1]++;
	for (uint32_t f = 0; f <= l->n; f++)
		g->start[f + 1] += g->start[f];
}

static void share_weights(const struct linker *l, struct graph *g)
{
	for (uint32_t f = 0; f < l->n; f++) {
		double sum[DIRECTIONS] = { 0 };
		for (uint32_t i = g->start[f]; i < g->start[f + 1]; i++)
			sum[g->edges[i].direction] += g->edges[i].weight;
		for (uint32_t i = g->start[f]; i < g->start[f + 1]; i++)
			g->edges[i].weight /= sum[g->edges[i].direction];
	}
}

/* Weight and samples of each function, a sample once however often the function recurs in it. */
static void measure(const struct linker *l, enum fz_side side, struct graph *g)
{
	const struct fz_tree *t = l->d->tree[side];
	const struct fz_profile *p = l->d->profile[side];
	double factor = side == FZ_BASE ? l->d->factor : 1;
	fz_auto(fz_free_ptr) double *samples = fz_calloc(FZ_MAX(t->n, 1), sizeof(*samples));
	fz_auto(fz_free_ptr) uint32_t *open_until = fz_calloc(l->n, sizeof(*open_until));

	g->size = fz_calloc(l->n, sizeof(*g->size));
	g->samples = fz_calloc(l->n, sizeof(*g->samples));
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.stack[row] != FZ_NONE)
			samples[t->stack_node[p->samples.stack[row]]] += fz_sample_count(p, row);
	for (uint32_t i = t->n; i-- > 0;)
		if (t->parent[i] != FZ_NONE)
			samples[t->parent[i]] += samples[i];
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t f = l->d->function_of[side][t->function[i]];
		if (i < open_until[f])
			continue;
		g->size[f] += factor * (double)t->total[i];
		g->samples[f] += samples[i];
		open_until[f] = i + t->size[i];
	}
}

static void graph_init(const struct linker *l, enum fz_side side, struct graph *g)
{
	collect_edges(l, side, g);
	share_weights(l, g);
	measure(l, side, g);
}

static void graph_release(struct graph *g)
{
	free(g->edges);
	free(g->start);
	free(g->size);
	free(g->samples);
}

/* The matched functions that stand next to an orphan in its file; FZ_NONE: not known. */
struct place {
	uint32_t before, after;
};

struct search {
	struct linker *l;
	struct graph graph[FZ_SIDES];
	struct place *place[FZ_SIDES]; /* of a function */
	/* Head orphans by the matched neighbour and direction that they have in common:
	 * around[at[2 * neighbour + direction] ...], those for which it weighs most first. */
	struct edge *around;
	uint32_t *at;
	/* scratch, by function */
	double *share[DIRECTIONS]; /* of the base orphan looked at */
	double *common;            /* with a head orphan */
	uint32_t *touched;
	/* results of a round */
	struct rank {
		double best, second;
	} * rank; /* of a function */
	struct pair {
		uint32_t base, head;
		double score;
	} * pairs;
	uint32_t n, cap;
};

/* The head's function that a neighbour is, matched or the root; else FZ_NONE. */
static uint32_t known(const struct linker *l, uint32_t neighbour)
{
	if (neighbour == l->n || is_orphan(l, neighbour))
		return neighbour == l->n ? l->n : FZ_NONE;
	return l->d->functions[neighbour].on_side[FZ_HEAD] == FZ_NONE ? l->partner[neighbour]
								      : neighbour;
}

struct line {
	struct fz_str file;
	int32_t line;
	uint32_t function;
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	int c = fz_str_cmp(a->file, b->file);

	if (!c)
		c = (a->line > b->line) - (a->line < b->line);
	return c ? c : (a->function > b->function) - (a->function < b->function);
}

/* All functions of a side whose line is known, in order of files and lines. */
static struct line *list_lines(const struct linker *l, enum fz_side side, uint32_t *ret_n)
{
	struct line *list = fz_calloc(FZ_MAX(l->n, 1), sizeof(*list));
	uint32_t n = 0;

	for (uint32_t f = 0; f < l->n; f++) {
		uint32_t of_profile = l->d->functions[f].on_side[side];
		if (of_profile == FZ_NONE || l->lines[side][of_profile] <= 0 ||
		    !l->names[side][of_profile].key.n)
			continue;
		list[n++] = (struct line){ .file = l->names[side][of_profile].key,
					   .line = l->lines[side][of_profile],
					   .function = f };
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_lines);
	*ret_n = n;
	return list;
}

/* The nearest matched function of the file on another line than each orphan's. */
static struct place *find_places(const struct linker *l, enum fz_side side)
{
	struct place *places = fz_reallocarray(NULL, FZ_MAX(l->n, 1), sizeof(*places));
	uint32_t n;
	fz_auto(fz_free_ptr) struct line *list = list_lines(l, side, &n);

	memset(places, 0xff, l->n * sizeof(*places));
	for (int back = 0; back < 2; back++) {
		/* next: of this line, once it is behind us; two on a line say nothing */
		uint32_t near = FZ_NONE, next = FZ_NONE;
		bool seen = false;
		for (uint32_t k = 0; k < n; k++) {
			const struct line *at = &list[back ? n - 1 - k : k];
			const struct line *last = k ? &list[back ? n - k : k - 1] : at;
			bool other_file = !fz_str_eq(last->file, at->file);
			if (other_file || last->line != at->line) {
				near = other_file ? FZ_NONE : next;
				next = near;
				seen = false;
			}
			if (!is_orphan(l, at->function)) {
				next = seen ? FZ_NONE : known(l, at->function);
				seen = true;
			} else if (back) {
				places[at->function].after = near;
			} else {
				places[at->function].before = near;
			}
		}
	}
	return places;
}

static bool may_guess(const struct search *s, enum fz_side side, uint32_t f)
{
	return may_link(s->l, f) && s->graph[side].samples[f] >= SAMPLES_MIN;
}

static int compare_around(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->orphan > b->orphan) - (a->orphan < b->orphan);
}

static void index_head(struct search *s)
{
	const struct graph *g = &s->graph[FZ_HEAD];
	size_t slots = 2 * ((size_t)s->l->n + 1);

	memset(s->at, 0, (slots + 1) * sizeof(*s->at));
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < g->n; i++) {
			const struct edge *e = &g->edges[i];
			uint32_t neighbour = known(s->l, e->neighbour);
			if (neighbour == FZ_NONE || !may_guess(s, FZ_HEAD, e->orphan))
				continue;
			size_t slot = 2 * (size_t)neighbour + e->direction;
			if (fill)
				s->around[s->at[slot]++] = *e;
			else
				s->at[slot + 1]++;
		}
		if (!fill)
			for (size_t i = 0; i < slots; i++)
				s->at[i + 1] += s->at[i];
	}
	for (size_t i = slots; i > 0; i--) /* filling moved every start on */
		s->at[i] = s->at[i - 1];
	s->at[0] = 0;
	for (size_t i = 0; i < slots; i++)
		if (s->at[i + 1] - s->at[i] > CANDIDATES_MAX)
			qsort(s->around + s->at[i], s->at[i + 1] - s->at[i], sizeof(*s->around),
			      compare_around);
}

/* Head orphans that share a matched neighbour with base orphan a, and how much. */
static uint32_t find_candidates(struct search *s, uint32_t a)
{
	const struct graph *g = &s->graph[FZ_BASE];
	uint32_t n = 0;

	for (uint32_t i = g->start[a]; i < g->start[a + 1]; i++) {
		const struct edge *e = &g->edges[i];
		uint32_t neighbour = known(s->l, e->neighbour);
		if (neighbour == FZ_NONE)
			continue;
		s->share[e->direction][neighbour] = e->weight;
		size_t slot = 2 * (size_t)neighbour + e->direction;
		uint32_t end = FZ_MIN(s->at[slot + 1], s->at[slot] + CANDIDATES_MAX);
		for (uint32_t k = s->at[slot]; k < end; k++) {
			const struct edge *other = &s->around[k];
			if (s->common[other->orphan] == 0)
				s->touched[n++] = other->orphan;
			s->common[other->orphan] += FZ_MIN(e->weight, other->weight);
		}
	}
	return n;
}

static int compare_common(const void *pa, const void *pb, void *arg)
{
	const struct search *s = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (s->common[a] != s->common[b])
		return s->common[a] > s->common[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* -1: a file is not known. */
static double same_file(const struct linker *l, uint32_t a, uint32_t b)
{
	uint32_t from = l->file_id[a], to = l->file_id[b];

	if (!name_of(l, a)->key.n || !name_of(l, b)->key.n)
		return -1;
	return from == to || l->moved_to[from] == to ? 1 : 0;
}

/* -1: nothing is known about it. */
static double same_place(const struct search *s, uint32_t a, uint32_t b)
{
	const struct place *x = &s->place[FZ_BASE][a], *y = &s->place[FZ_HEAD][b];
	int known = 0, same = 0;

	if (x->before != FZ_NONE && y->before != FZ_NONE) {
		known++;
		same += x->before == y->before;
	}
	if (x->after != FZ_NONE && y->after != FZ_NONE) {
		known++;
		same += x->after == y->after;
	}
	return known ? (double)same / known : -1;
}

static double size_ratio(const struct search *s, uint32_t a, uint32_t b)
{
	double x = s->graph[FZ_BASE].size[a], y = s->graph[FZ_HEAD].size[b];

	return FZ_MAX(x, y) > 0 ? FZ_MIN(x, y) / FZ_MAX(x, y) : 0;
}

/* Parts that nothing is known about are left out of the mean. */
static double score(const struct search *s, uint32_t a, uint32_t b)
{
	const struct graph *ga = &s->graph[FZ_BASE], *gb = &s->graph[FZ_HEAD];
	bool has[FZ_SIDES][DIRECTIONS] = { 0 };
	double overlap[DIRECTIONS] = { 0 }, sum = 0, weights = 0;

	for (uint32_t i = ga->start[a]; i < ga->start[a + 1]; i++)
		has[FZ_BASE][ga->edges[i].direction] = true;
	for (uint32_t i = gb->start[b]; i < gb->start[b + 1]; i++) {
		const struct edge *e = &gb->edges[i];
		uint32_t neighbour = known(s->l, e->neighbour);
		has[FZ_HEAD][e->direction] = true;
		if (neighbour != FZ_NONE)
			overlap[e->direction] +=
				FZ_MIN(s->share[e->direction][neighbour], e->weight);
	}
	for (int k = 0; k < DIRECTIONS; k++) {
		if (!has[FZ_BASE][k] && !has[FZ_HEAD][k])
			continue;
		sum += weight_neighbours * overlap[k];
		weights += weight_neighbours;
	}
	double file = same_file(s->l, a, b);
	if (file >= 0) {
		sum += weight_file * file;
		weights += weight_file;
	}
	double place = file > 0 ? same_place(s, a, b) : -1;
	if (place >= 0) {
		sum += weight_place * place;
		weights += weight_place;
	}
	sum += weight_size * size_ratio(s, a, b);
	return sum / (weights + weight_size);
}

static void clear_scratch(struct search *s, uint32_t a, uint32_t candidates)
{
	const struct graph *g = &s->graph[FZ_BASE];

	for (uint32_t i = g->start[a]; i < g->start[a + 1]; i++) {
		uint32_t neighbour = known(s->l, g->edges[i].neighbour);
		if (neighbour != FZ_NONE)
			s->share[g->edges[i].direction][neighbour] = 0;
	}
	for (uint32_t i = 0; i < candidates; i++)
		s->common[s->touched[i]] = 0;
}

static void note_score(struct rank *r, double score)
{
	if (score > r->best) {
		r->second = r->best;
		r->best = score;
	} else if (score > r->second) {
		r->second = score;
	}
}

/* A lead on both sides makes it mutual, and no function can be in two such pairs. */
static bool leads(const struct rank *r, double score)
{
	return score == r->best && score - r->second >= accept_lead;
}

/* Only the best candidate of an orphan can become its partner. */
static void score_candidates(struct search *s, uint32_t a)
{
	uint32_t n = find_candidates(s, a);
	struct pair best = { .base = a, .head = FZ_NONE };

	if (n > CANDIDATES_MAX)
		qsort_r(s->touched, n, sizeof(*s->touched), compare_common, s);
	for (uint32_t i = 0; i < n && i < CANDIDATES_MAX; i++) {
		uint32_t b = s->touched[i];
		if (kind_of(s->l, a) != kind_of(s->l, b) || size_ratio(s, a, b) < least_size)
			continue;
		double points = score(s, a, b);
		note_score(&s->rank[a], points);
		note_score(&s->rank[b], points);
		if (points > best.score) {
			best.head = b;
			best.score = points;
		}
	}
	clear_scratch(s, a, n);
	if (best.score < accept_score || !leads(&s->rank[a], best.score))
		return;
	fz_grow(s->pairs, s->n, s->cap);
	s->pairs[s->n++] = best;
}

static uint32_t link_best(struct search *s)
{
	uint32_t linked = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct pair *p = &s->pairs[i];
		if (!leads(&s->rank[p->head], p->score))
			continue;
		link_pair(s->l, p->base, p->head, FZ_LINK_NEIGHBOURHOOD, p->score);
		linked++;
	}
	return linked;
}

static bool search_round(struct search *s)
{
	index_head(s);
	memset(s->rank, 0, s->l->n * sizeof(*s->rank));
	s->n = 0;
	for (uint32_t a = 0; a < s->l->n; a++)
		if (side_of(s->l, a) == FZ_BASE && may_guess(s, FZ_BASE, a))
			score_candidates(s, a);
	return link_best(s) > 0;
}

static void link_neighbours(struct linker *l)
{
	struct search s = { .l = l };
	size_t n = (size_t)l->n + 1;

	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		graph_init(l, side, &s.graph[side]);
		s.place[side] = find_places(l, side);
	}
	s.around = fz_calloc(FZ_MAX(s.graph[FZ_HEAD].n, 1), sizeof(*s.around));
	s.at = fz_calloc(2 * n + 2, sizeof(*s.at));
	s.common = fz_calloc(n, sizeof(*s.common));
	s.touched = fz_calloc(n, sizeof(*s.touched));
	s.rank = fz_calloc(n, sizeof(*s.rank));
	for (int k = 0; k < DIRECTIONS; k++)
		s.share[k] = fz_calloc(n, sizeof(*s.share[k]));
	for (int round = 0; round < ROUNDS && search_round(&s);)
		round++;
	for (enum fz_side side = 0; side < FZ_SIDES; side++) {
		graph_release(&s.graph[side]);
		free(s.place[side]);
	}
	for (int k = 0; k < DIRECTIONS; k++)
		free(s.share[k]);
	free(s.around);
	free(s.at);
	free(s.common);
	free(s.touched);
	free(s.rank);
	free(s.pairs);
}

/* ---- all of it ---- */

static bool has_orphans(const struct linker *l)
{
	bool on_side[FZ_SIDES] = { false };

	for (uint32_t f = 0; f < l->n; f++)
		if (may_link(l, f))
			on_side[side_of(l, f)] = true;
	return on_side[FZ_BASE] && on_side[FZ_HEAD];
}

static void linker_init(struct linker *l)
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

static void linker_release(struct linker *l)
{
	free(l->partner);
	free(l->name_id);
	free(l->file_id);
	free(l->moved_to);
	free(l->moved_score);
}

/* The head's function takes over what its partner in the base was. */
static void merge_functions(struct linker *l)
{
	struct fz_diff *d = l->d;
	fz_auto(fz_free_ptr) uint32_t *now = fz_calloc(l->n, sizeof(*now));
	fz_auto(fz_free_ptr) bool *gone = fz_calloc(l->n, sizeof(*gone));
	uint32_t n = 0;

	for (uint32_t f = 0; f < l->n; f++)
		gone[f] = l->partner[f] != f && !is_orphan(l, f) && side_of(l, f) == FZ_BASE;
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

void fz_diff_link(struct fz_diff *d, struct fz_name *const names[FZ_SIDES],
		  int32_t *const lines[FZ_SIDES], const bool *fixed, bool no_rename)
{
	struct linker l = {
		.d = d, .names = names, .lines = lines, .fixed = fixed, .n = d->function_count
	};
	uint32_t n;

	linker_init(&l);
	if (has_orphans(&l)) {
		fz_auto(fz_free_ptr) uint32_t *list = list_orphans(&l, &n);
		number(&l, list, n, l.name_id, compare_names);
		l.file_count = number(&l, list, n, l.file_id, compare_files);
		qsort_r(list, n, sizeof(*list), compare_orphans, &l);
		link_moved(&l, list, n);
		link_unique(&l, list, n);
		if (!no_rename && has_orphans(&l))
			link_neighbours(&l);
		merge_functions(&l);
	}
	linker_release(&l);
}
