/* SPDX-License-Identifier: MIT */
/* Links orphans with different names but the same neighbourhood.
 *
 * Candidates for a base orphan are found through matched neighbours:
 *
 *   base orphan a --caller--> m == m <--caller-- head orphan b        m: matched, or "the root"
 *
 * At most 64 orphans per neighbour and 64 candidates per orphan are tried, so the work is linear in
 * the nodes plus 64 times the edges.
 */
#include "compare/mutual_choice.h"
#include "compare/link_internal.h"

#include <math.h>

enum { ROUNDS = 4, CANDIDATES_MAX = 64, SAMPLES_MIN = 10 };

static const double accept_score = 0.55;
static const double accept_lead = 0.10;
static const double weight_neighbours = 0.35; /* of callees, and of callers */
static const double weight_file = 0.20;
static const double weight_place = 0.20; /* between the same functions of a file */
static const double weight_size = 0.10;
static const double least_callees = 0.6; /* fraction of the calls that go to common callees */
static const double least_size = 0.25;   /* smaller size / larger size */

struct search {
	struct fz_linker *l;
	const struct fz_link_graph *graph;     /* by side */
	struct fz_link_place *place[FZ_SIDES]; /* of a function */
	/* Head orphans by matched neighbour and direction: around[at[2 * neighbour + direction]
	 * ...], by descending share of the neighbour. */
	struct fz_link_edge *around;
	uint32_t *at;
	/* scratch, by function */
	double *share[FZ_LINK_DIRECTIONS]; /* of the current base orphan */
	double *common;                    /* with a head orphan */
	uint32_t *touched;
	/* results of a round */
	struct fz_rank *rank; /* of a function */
	struct pair {
		uint32_t base, head;
		double score;
	} * pairs;
	uint32_t n, cap;
};

static bool may_guess(const struct search *s, enum fz_side side, uint32_t f)
{
	return fz_link_allowed(s->l, f) && s->graph[side].samples[f] >= SAMPLES_MIN;
}

static int compare_around(const void *pa, const void *pb)
{
	const struct fz_link_edge *a = pa, *b = pb;

	return FZ_CMP(b->weight, a->weight) ?: FZ_CMP(a->orphan, b->orphan);
}

static void index_head(struct search *s)
{
	const struct fz_link_graph *g = &s->graph[FZ_HEAD];
	size_t slots = 2 * ((size_t)s->l->n + 1);

	memset(s->at, 0, (slots + 1) * sizeof(*s->at));
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < g->n; i++) {
			const struct fz_link_edge *e = &g->edges[i];
			uint32_t neighbour = fz_link_known(s->l, e->neighbour);
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
	for (size_t i = slots; i > 0; i--) /* filling advanced every start */
		s->at[i] = s->at[i - 1];
	s->at[0] = 0;
	for (size_t i = 0; i < slots; i++)
		if (s->at[i + 1] - s->at[i] > CANDIDATES_MAX)
			qsort(s->around + s->at[i], s->at[i + 1] - s->at[i], sizeof(*s->around),
			      compare_around);
}

/* Finds the head orphans that share a matched neighbour with base orphan a, and how much they
 * share. */
static uint32_t find_candidates(struct search *s, uint32_t a)
{
	const struct fz_link_graph *g = &s->graph[FZ_BASE];
	uint32_t n = 0;

	for (uint32_t i = g->start[a]; i < g->start[a + 1]; i++) {
		const struct fz_link_edge *e = &g->edges[i];
		uint32_t neighbour = fz_link_known(s->l, e->neighbour);
		if (neighbour == FZ_NONE)
			continue;
		s->share[e->direction][neighbour] = e->weight;
		size_t slot = 2 * (size_t)neighbour + e->direction;
		uint32_t end = FZ_MIN(s->at[slot + 1], s->at[slot] + CANDIDATES_MAX);
		for (uint32_t k = s->at[slot]; k < end; k++) {
			const struct fz_link_edge *other = &s->around[k];
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

	return FZ_CMP(s->common[b], s->common[a]) ?: FZ_CMP(a, b);
}

/* 1 if in the same file, 0 if not, -1 if unknown. */
static double same_file(const struct fz_linker *l, uint32_t a, uint32_t b)
{
	uint32_t from = l->file_id[a], to = l->file_id[b];

	if (!fz_link_name(l, a)->key.n || !fz_link_name(l, b)->key.n)
		return -1;
	return from == to || l->moved_to[from] == to ? 1 : 0;
}

/* How well the places in a file agree; -1 if unknown. */
static double same_place(const struct search *s, uint32_t a, uint32_t b)
{
	const struct fz_link_place *x = &s->place[FZ_BASE][a], *y = &s->place[FZ_HEAD][b];
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

/* Weighted mean of the known parts. */
static double score(const struct search *s, uint32_t a, uint32_t b)
{
	const struct fz_link_graph *ga = &s->graph[FZ_BASE], *gb = &s->graph[FZ_HEAD];
	bool has[FZ_SIDES][FZ_LINK_DIRECTIONS] = { 0 };
	double overlap[FZ_LINK_DIRECTIONS] = { 0 }, sum = 0, weights = 0;

	for (uint32_t i = ga->start[a]; i < ga->start[a + 1]; i++)
		has[FZ_BASE][ga->edges[i].direction] = true;
	for (uint32_t i = gb->start[b]; i < gb->start[b + 1]; i++) {
		const struct fz_link_edge *e = &gb->edges[i];
		uint32_t neighbour = fz_link_known(s->l, e->neighbour);
		has[FZ_HEAD][e->direction] = true;
		if (neighbour != FZ_NONE)
			overlap[e->direction] +=
				FZ_MIN(s->share[e->direction][neighbour], e->weight);
	}
	for (int k = 0; k < FZ_LINK_DIRECTIONS; k++) {
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

/* Matched callees of both, with similar weight. */
struct shared_callees {
	uint32_t n;
	double part;  /* fraction of the calls, on the side where it is smaller */
	bool is_only; /* one of them has no other caller */
};

static struct shared_callees share_callees(const struct search *s, uint32_t a, uint32_t b)
{
	const struct fz_link_graph *ga = &s->graph[FZ_BASE], *gb = &s->graph[FZ_HEAD];
	struct shared_callees shared = { 0 };

	for (uint32_t i = ga->start[a]; i < ga->start[a + 1]; i++) {
		uint32_t x = fz_link_known(s->l, ga->edges[i].neighbour);
		for (uint32_t k = gb->start[b]; x != FZ_NONE && k < gb->start[b + 1]; k++) {
			if (ga->edges[i].direction != FZ_LINK_CALLEES ||
			    gb->edges[k].direction != FZ_LINK_CALLEES ||
			    fz_link_known(s->l, gb->edges[k].neighbour) != x)
				continue;
			shared.n++;
			shared.part += FZ_MIN(ga->edges[i].weight, gb->edges[k].weight);
			shared.is_only |= ga->caller[ga->edges[i].neighbour] == a &&
					  gb->caller[gb->edges[k].neighbour] == b;
		}
	}
	return shared;
}

/* Many functions share a caller or a file, so a link needs more specific evidence: a similar name,
 * or common callees (several, or one without other callers if the places in the file agree, too).
 * Without it, a function would be linked with its replacement merely because both call the same
 * helper. Code without a name must also be in the same file.
 */
static bool has_evidence(const struct search *s, uint32_t a, uint32_t b)
{
	struct fz_str x = fz_link_name(s->l, a)->name, y = fz_link_name(s->l, b)->name;
	struct shared_callees shared = share_callees(s, a, b);

	if (fz_link_contradicted(s->l, a, b))
		return false;
	if (fz_link_is_generic(x) || fz_link_is_generic(y))
		return fz_str_eq(fz_outline_tail(x), fz_outline_tail(y)) &&
		       same_file(s->l, a, b) == 1 && shared.n > 1 && shared.part >= least_callees;
	if (fz_link_alike(x, y))
		return true;
	return shared.part >= least_callees &&
	       (shared.n > 1 ||
		(shared.is_only && same_file(s->l, a, b) == 1 && same_place(s, a, b) == 1));
}

static void clear_scratch(struct search *s, uint32_t a, uint32_t candidates)
{
	const struct fz_link_graph *g = &s->graph[FZ_BASE];

	for (uint32_t i = g->start[a]; i < g->start[a + 1]; i++) {
		uint32_t neighbour = fz_link_known(s->l, g->edges[i].neighbour);
		if (neighbour != FZ_NONE)
			s->share[g->edges[i].direction][neighbour] = 0;
	}
	for (uint32_t i = 0; i < candidates; i++)
		s->common[s->touched[i]] = 0;
}

/* Scores all candidates of an orphan; only the best can become its partner. */
static void score_candidates(struct search *s, uint32_t a)
{
	uint32_t n = find_candidates(s, a);
	struct pair best = { .base = a, .head = FZ_NONE };

	if (n > CANDIDATES_MAX)
		qsort_r(s->touched, n, sizeof(*s->touched), compare_common, s);
	for (uint32_t i = 0; i < n && i < CANDIDATES_MAX; i++) {
		uint32_t b = s->touched[i];
		if (fz_link_kind(s->l, a) != fz_link_kind(s->l, b) ||
		    size_ratio(s, a, b) < least_size)
			continue;
		double points = score(s, a, b);
		fz_rank_note(&s->rank[a], points);
		fz_rank_note(&s->rank[b], points);
		if (points > best.score) {
			best.head = b;
			best.score = points;
		}
	}
	clear_scratch(s, a, n);
	if (best.score < accept_score || !fz_rank_leads(&s->rank[a], best.score, accept_lead) ||
	    !has_evidence(s, a, best.head))
		return;
	fz_push(s->pairs, s->n, s->cap, best);
}

static uint32_t link_best(struct search *s)
{
	uint32_t linked = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct pair *p = &s->pairs[i];
		if (!fz_rank_leads(&s->rank[p->head], p->score, accept_lead))
			continue;
		fz_link_pair(s->l, p->base, p->head, FZ_LINK_NEIGHBOURHOOD, p->score);
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
		if (fz_link_side(s->l, a) == FZ_BASE && may_guess(s, FZ_BASE, a))
			score_candidates(s, a);
	return link_best(s) > 0;
}

void fz_link_neighbours(struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES])
{
	struct search s = { .l = l, .graph = graph };
	size_t n = (size_t)l->n + 1;

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		s.place[side] = fz_link_places(l, side);
	s.around = fz_calloc(FZ_MAX(s.graph[FZ_HEAD].n, 1), sizeof(*s.around));
	s.at = fz_calloc(2 * n + 2, sizeof(*s.at));
	s.common = fz_calloc(n, sizeof(*s.common));
	s.touched = fz_calloc(n, sizeof(*s.touched));
	s.rank = fz_calloc(n, sizeof(*s.rank));
	for (int k = 0; k < FZ_LINK_DIRECTIONS; k++)
		s.share[k] = fz_calloc(n, sizeof(*s.share[k]));
	for (int round = 0; round < ROUNDS && search_round(&s);)
		round++;
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		free(s.place[side]);
	for (int k = 0; k < FZ_LINK_DIRECTIONS; k++)
		free(s.share[k]);
	free(s.around);
	free(s.at);
	free(s.common);
	free(s.touched);
	free(s.rank);
	free(s.pairs);
}
