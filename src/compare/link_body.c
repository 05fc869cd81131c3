/* SPDX-License-Identifier: MIT */
/* Links orphans by their sources.
 *
 * Files of orphans are outlined on both sides. A definition is lost (base) or fresh (head) if the
 * other side's file lacks it, or if the other side neither has nor imports its file. Definitions
 * without samples compete, too; otherwise a wrong partner would win when the true one has no
 * samples. So do rivals, which both sides have with different code: if readShort and readLong both
 * become calls of a new readValue, it is neither of them.
 *
 *   base  Parser.feed   ...  lost      fresh  ...  HtmlParser.feed  head
 *                  `---- common runs of words -------'
 *
 * Candidates share a rare run. A pair is linked if each is the best of the other by a lead, and the
 * bodies are similar enough: the threshold is low for equal last names, high for different ones.
 */
#include "compare/mutual_choice.h"
#include "compare/link_body.h"

enum { COMMON_MAX = 32, CANDIDATES_MAX = 24, RUNS_MIN = 10, TINY = 6 };

static const double least_unnamed = 0.60; /* similarity if the names have nothing in common */
static const double lead = 0.08;
static const double lead_namesake = 0.30; /* lead over other code under the same name */
static const double bonus_name = 0.20;    /* for equal last names, half of it for similar ones */
static const double bonus_scope = 0.05;

/* ---- the pool ---- */

static struct fz_str tail_at(struct fz_bodies *b, const struct fz_body_entry *e)
{
	return fz_body_definition(b, e)->tail;
}

const struct fz_definition *fz_body_definition(struct fz_bodies *b, const struct fz_body_entry *e)
{
	return &fz_code_outline(b->l->code, e->side, e->at.source)->definitions[e->at.definition];
}

static uint64_t key_of(struct fz_code_place at)
{
	return FZ_KEY(at.source, at.definition);
}

/* Whether code is the definition's own, not a wrapper that took its name and line. An unqualified
 * name may be of any. */
static bool is_own_code(struct fz_bodies *b, enum fz_side side, uint32_t function,
			struct fz_code_place at)
{
	const struct fz_profile *p = b->l->d->profile[side];
	struct fz_str name = p->strings[p->functions[function].name];

	return !memchr(name.p, '.', name.n) ||
	       fz_str_eq(name, fz_code_outline(b->l->code, side, at.source)
				       ->definitions[at.definition]
				       .name);
}

/* Indexes functions of both sides by definition, and the sources with orphans. */
static void index_functions(struct fz_bodies *b, enum fz_side side, uint32_t *other[FZ_SIDES],
			    bool *needed[FZ_SIDES])
{
	const struct fz_diff *d = b->l->d;
	const struct fz_profile *p = d->profile[side];
	bool within;

	for (uint32_t i = 0; i < p->function_count; i++) {
		uint32_t f = d->function_of[side][i], source = fz_code_source(b->l->code, side, i);
		if (source == FZ_NONE)
			continue;
		uint32_t there = fz_code_counterpart(b->l->code, side, i);
		other[side][source] = there;
		if (there != FZ_NONE)
			other[!side][there] = source;
		if (f == FZ_NONE || !fz_link_is_orphan(b->l, f))
			continue;
		needed[side][source] = true;
		if (there != FZ_NONE)
			needed[!side][there] = true;
	}
	for (uint32_t i = 0; i < p->function_count; i++) {
		uint32_t f = d->function_of[side][i], source = fz_code_source(b->l->code, side, i);
		if (f == FZ_NONE || source == FZ_NONE || !needed[side][source])
			continue;
		struct fz_code_place at = fz_code_find(b->l->code, side, i, &within);
		if (at.definition != FZ_NONE && !within && is_own_code(b, side, i, at))
			fz_map_put(&b->functions[side], key_of(at), f);
	}
}

static bool has_equal_words(const struct fz_outline *x, uint32_t i, const struct fz_outline *y,
			    uint32_t k)
{
	const struct fz_definition *a = &x->definitions[i], *b = &y->definitions[k];
	uint32_t n = a->end - a->words;

	return n == b->end - b->words &&
	       memcmp(&x->words[a->words], &y->words[b->words], n * sizeof(*x->words)) == 0;
}

/* Similarity of the other side's definition of the same name: -1 if there is none, 1 if it is
 * certainly the same function. */
static double namesake_similarity(struct fz_bodies *b, const struct fz_body_entry *e)
{
	struct fz_code *code = b->l->code;

	if (e->other == FZ_NONE)
		return -1;
	const struct fz_outline *o = fz_code_outline(code, !e->side, e->other);
	struct fz_code_place there = { e->other,
				       fz_outline_find(o, fz_body_definition(b, e)->name) };
	if (there.definition == FZ_NONE)
		return -1;
	if (!e->at.definition || (e->is_rival && fz_body_definition(b, e)->is_class) ||
	    has_equal_words(fz_code_outline(code, e->side, e->at.source), e->at.definition, o,
			    there.definition))
		return 1;
	return fz_body_similarity(fz_code_body(code, e->side, e->at),
				  fz_code_body(code, !e->side, there));
}

static void add_entries(struct fz_bodies *b, enum fz_side side, uint32_t source, uint32_t other)
{
	const struct fz_outline *o = fz_code_outline(b->l->code, side, source);

	for (uint32_t i = 0; i < o->n; i++) {
		struct fz_body_entry e = {
			.at = { source, i }, .other = other, .partner = FZ_NONE, .side = side
		};
		e.function = fz_map_get(&b->functions[side], key_of(e.at));
		/* Of what both sides have, only a function with samples needs another partner. */
		e.is_rival = e.function == FZ_NONE || !fz_link_is_free(b->l, e.function);
		e.namesake = namesake_similarity(b, &e);
		if (e.namesake > 1 - lead_namesake)
			continue;
		e.is_rival = e.is_rival && e.namesake >= 0;
		if (e.function != FZ_NONE && e.namesake < 0 && !fz_link_allowed(b->l, e.function))
			continue;
		if (!e.is_rival)
			fz_map_put(&b->entry_of[side], key_of(e.at), b->n);
		fz_push(b->entries, b->n, b->cap, e);
	}
}

static void collect(struct fz_bodies *b)
{
	uint32_t *other[FZ_SIDES];
	bool *needed[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		size_t n = FZ_MAX(b->l->code->file_count[s], 1);
		other[s] = fz_calloc(n, sizeof(**other));
		needed[s] = fz_calloc(n, sizeof(**needed));
		memset(other[s], 0xff, n * sizeof(**other));
	}
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		index_functions(b, s, other, needed);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		b->start[s] = b->n;
		for (uint32_t i = 0; i < b->l->code->file_count[s]; i++)
			if (needed[s][i] && (other[s][i] != FZ_NONE ||
					     fz_code_imported(b->l->code, s, i) != FZ_PRESENCE_YES))
				add_entries(b, s, i, other[s][i]);
	}
	b->start[FZ_SIDES] = b->n;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		free(other[s]);
		free(needed[s]);
	}
}

/* ---- candidates ---- */

/* Head entries by run: lists in `next`, from `first`. */
struct index {
	struct fz_map first; /* run -> link */
	struct run_link {
		uint32_t entry, next;
	} * links;
	uint32_t n, cap;
	uint32_t *count;   /* of an entry: runs in common with the current one */
	uint32_t *touched; /* entries with a count */
};

static const struct fz_body *body_of(struct fz_bodies *b, uint32_t entry)
{
	return fz_code_body(b->l->code, b->entries[entry].side, b->entries[entry].at);
}

/* Whether an entry's own code is compared. What a module defines decides about it, in link_scope.c:
 * one with a single function has nearly the text of that function. */
static bool has_body(struct fz_bodies *b, uint32_t entry)
{
	const struct fz_body_entry *e = &b->entries[entry];
	bool defines =
		!e->at.definition && fz_code_outline(b->l->code, e->side, e->at.source)->n > 1;

	return !defines && !fz_body_definition(b, e)->is_class && body_of(b, entry)->n > 0;
}

static void index_init(struct index *x, struct fz_bodies *b)
{
	*x = (struct index){ .count = fz_calloc(b->n + 1, sizeof(uint32_t)),
			     .touched = fz_calloc(b->n + 1, sizeof(uint32_t)) };
	for (uint32_t e = b->start[FZ_HEAD]; e < b->n; e++) {
		const struct fz_body *body = has_body(b, e) ? body_of(b, e) : NULL;
		for (uint32_t i = 0; body && i < body->n; i++) {
			if (i > 0 && body->runs[i] == body->runs[i - 1])
				continue;
			uint32_t *slot = fz_map_slot(&x->first, body->runs[i]);
			fz_grow(x->links, x->n, x->cap);
			x->links[x->n] = (struct run_link){ .entry = e, .next = *slot };
			*slot = x->n++;
		}
	}
}

static void index_release(struct index *x)
{
	fz_map_release(&x->first);
	free(x->links);
	free(x->count);
	free(x->touched);
}

static int compare_counts(const void *pa, const void *pb, void *arg)
{
	const struct index *x = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return FZ_CMP(x->count[b], x->count[a]) ?: FZ_CMP(a, b);
}

/* Finds entries that share a rare run with this body, most common runs first; returns their
 * number. */
static uint32_t find_candidates(struct index *x, const struct fz_body *body)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < body->n; i++) {
		if (i > 0 && body->runs[i] == body->runs[i - 1])
			continue;
		uint32_t at = fz_map_get(&x->first, body->runs[i]), length = 0;
		for (uint32_t k = at; k != FZ_NONE && length <= COMMON_MAX; k = x->links[k].next)
			length++;
		for (uint32_t k = at; length <= COMMON_MAX && k != FZ_NONE; k = x->links[k].next)
			if (x->count[x->links[k].entry]++ == 0)
				x->touched[n++] = x->links[k].entry;
	}
	qsort_r(x->touched, n, sizeof(*x->touched), compare_counts, x);
	for (uint32_t i = 0; i < n; i++)
		x->count[x->touched[i]] = 0;
	return FZ_MIN(n, CANDIDATES_MAX);
}

/* ---- pairs ---- */

struct pair {
	uint32_t base, head; /* entries */
	double similarity, score;
};

/* Whether two entries are in matched files and in classes of the same name. */
static bool same_scope(struct fz_bodies *b, const struct fz_body_entry *x,
		       const struct fz_body_entry *y)
{
	const struct fz_definition *p = fz_body_definition(b, x), *q = fz_body_definition(b, y);
	struct fz_str px = { p->name.p, p->name.n - p->tail.n };
	struct fz_str py = { q->name.p, q->name.n - q->tail.n };

	return x->other == y->at.source && fz_str_eq(px, py);
}

static struct pair score_pair(struct fz_bodies *b, uint32_t base, uint32_t head)
{
	const struct fz_body_entry *x = &b->entries[base], *y = &b->entries[head];
	struct fz_str a = tail_at(b, x), t = tail_at(b, y);
	double name = fz_str_eq(a, t) ? 1 : fz_link_alike(a, t) ? 0.5 : 0;
	struct pair p = { .base = base,
			  .head = head,
			  .similarity = fz_body_similarity(body_of(b, base), body_of(b, head)) };

	p.score = p.similarity + bonus_name * name + bonus_scope * same_scope(b, x, y);
	return p;
}

static struct fz_str key_at(struct fz_bodies *b, uint32_t entry)
{
	const struct fz_body_entry *e = &b->entries[entry];

	return b->l->code->files[e->side][e->at.source].key;
}

/* Short bodies are often similar by chance, so their names must agree, too. */
static bool is_enough(struct fz_bodies *b, const struct pair *p)
{
	const struct fz_definition *base = fz_body_definition(b, &b->entries[p->base]);
	const struct fz_definition *head = fz_body_definition(b, &b->entries[p->head]);
	struct fz_str a = base->tail, t = head->tail;
	const struct fz_body *x = body_of(b, p->base), *y = body_of(b, p->head);
	bool named = (!fz_link_is_generic(a) && !fz_link_is_generic(t)) ||
		     (a.n < base->name.n && fz_str_eq(base->name, head->name));
	double namesake = FZ_MAX(b->entries[p->base].namesake, b->entries[p->head].namesake);

	if (b->entries[p->base].is_rival || b->entries[p->head].is_rival)
		return false;
	if (b->no_rename && !fz_str_eq(base->name, head->name))
		return false;
	if (fz_code_is_copy(b->l->code, key_at(b, p->base), key_at(b, p->head)))
		return false;
	if (namesake >= 0)
		return p->similarity >= FZ_MAX(least_unnamed, namesake + lead_namesake) &&
		       fz_body_common(x, y) >= RUNS_MIN;
	if (FZ_MIN(x->n, y->n) < TINY)
		return named && fz_str_eq(a, t) && p->similarity == 1;
	if (named && fz_str_eq(a, t))
		return p->similarity >= FZ_LIKE_NAMESAKES;
	if (named && fz_link_alike(a, t))
		return p->similarity >= FZ_LIKE_OTHERS;
	return p->similarity >= least_unnamed && fz_body_common(x, y) >= RUNS_MIN;
}

static void pair_bodies(struct fz_bodies *b)
{
	struct fz_rank *rank = fz_calloc(b->n + 1, sizeof(*rank));
	struct pair *pairs = fz_calloc(b->start[FZ_HEAD] + 1, sizeof(*pairs));
	struct index x;

	index_init(&x, b);
	for (uint32_t a = 0; a < b->start[FZ_HEAD]; a++) {
		uint32_t n = has_body(b, a) ? find_candidates(&x, body_of(b, a)) : 0;
		pairs[a].head = FZ_NONE;
		for (uint32_t i = 0; i < n; i++) {
			struct pair p = score_pair(b, a, x.touched[i]);
			fz_rank_note(&rank[a], p.score);
			fz_rank_note(&rank[p.head], p.score);
			if (pairs[a].head == FZ_NONE || p.score > pairs[a].score)
				pairs[a] = p;
		}
	}
	for (uint32_t a = 0; a < b->start[FZ_HEAD]; a++) {
		const struct pair *p = &pairs[a];
		if (p->head != FZ_NONE && fz_rank_leads(&rank[a], p->score, lead) &&
		    fz_rank_leads(&rank[p->head], p->score, lead) && is_enough(b, p))
			fz_body_pair(b, p->base, p->head, FZ_LINK_BODY, p->similarity);
	}
	index_release(&x);
	free(pairs);
	free(rank);
}

void fz_body_pair(struct fz_bodies *b, uint32_t base, uint32_t head, enum fz_link_how how,
		  double score)
{
	struct fz_body_entry *x = &b->entries[base], *y = &b->entries[head];
	bool same_name = fz_str_eq(fz_body_definition(b, x)->name, fz_body_definition(b, y)->name);

	x->partner = head;
	y->partner = base;
	x->score = y->score = score;
	if (same_name)
		how = FZ_LINK_MOVED;
	if (x->function != FZ_NONE && y->function != FZ_NONE)
		fz_link_pair(b->l, x->function, y->function, how, score);
}

/* Similarity of the bodies of two orphans; -1 if one is unknown. */
static double similarity_of(const struct fz_linker *l, uint32_t base, uint32_t head)
{
	struct fz_code_place x, y;
	bool within[FZ_SIDES];

	x = fz_code_find(l->code, FZ_BASE, l->d->functions[base].on_side[FZ_BASE],
			 &within[FZ_BASE]);
	y = fz_code_find(l->code, FZ_HEAD, l->d->functions[head].on_side[FZ_HEAD],
			 &within[FZ_HEAD]);
	if (x.definition == FZ_NONE || y.definition == FZ_NONE || within[FZ_BASE] ||
	    within[FZ_HEAD])
		return -1;
	return fz_body_similarity(fz_code_body(l->code, FZ_BASE, x),
				  fz_code_body(l->code, FZ_HEAD, y));
}

bool fz_link_contradicted(const struct fz_linker *l, uint32_t base, uint32_t head)
{
	if (fz_code_is_copy(l->code, fz_link_name(l, base)->key, fz_link_name(l, head)->key))
		return true;
	double similarity = similarity_of(l, base, head);
	bool same_name = fz_str_eq(fz_outline_tail(fz_link_name(l, base)->name),
				   fz_outline_tail(fz_link_name(l, head)->name));

	return similarity >= 0 && similarity < (same_name ? FZ_LIKE_NAMESAKES : FZ_LIKE_OTHERS);
}

void fz_bodies_init(struct fz_bodies *b, struct fz_linker *l, bool no_rename)
{
	*b = (struct fz_bodies){ .l = l, .no_rename = no_rename };
	collect(b);
	if (fz_bodies_on_both(b))
		pair_bodies(b);
}

void fz_bodies_release(struct fz_bodies *b)
{
	free(b->entries);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_map_release(&b->functions[s]);
		fz_map_release(&b->entry_of[s]);
	}
}
