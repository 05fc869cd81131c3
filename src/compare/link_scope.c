/* SPDX-License-Identifier: MIT */
/* Links members of a class, function or file that was renamed.
 *
 * Paired definitions vote for their enclosing scopes. Two scopes that exist on one side only are
 * paired if each is the favourite of the other, without a tie, with votes of at least half of the
 * smaller one's members. Files also need a vote of functions that were sampled: the classes of one
 * plug-in are often like those of another. Then members with equal last names are paired, whatever
 * their bodies; they may be scopes in turn.
 *
 *   Parser     feed  1.00  feed     HtmlParser      2 of 3 members: the classes are paired,
 *              close 0.92  close                    and then their __init__
 *              __init__    __init__
 */
#include "compare/mutual_choice.h"
#include "compare/link_body.h"

enum { ROUNDS = 4, AMBIGUOUS = FZ_NONE - 1 };

static const double least_part = 0.5;

static uint32_t scope_of(struct fz_bodies *b, uint32_t entry)
{
	const struct fz_body_entry *e = &b->entries[entry];
	const struct fz_definition *d = fz_body_definition(b, e);

	return d->parent == FZ_NONE || e->is_rival
		       ? FZ_NONE
		       : fz_map_get(&b->entry_of[e->side], FZ_KEY(e->at.source, d->parent));
}

/* Casts the votes of all pairs whose scopes have no partner yet. */
static void cast_votes(struct fz_bodies *b, struct fz_ballot *ballot)
{
	for (uint32_t e = 0; e < b->start[FZ_HEAD]; e++) {
		uint32_t to = b->entries[e].partner;
		uint32_t x = to == FZ_NONE ? FZ_NONE : scope_of(b, e);
		uint32_t y = x == FZ_NONE ? FZ_NONE : scope_of(b, to);
		if (y == FZ_NONE || b->entries[x].partner != FZ_NONE ||
		    b->entries[y].partner != FZ_NONE)
			continue;
		fz_ballot_cast(ballot, x, y);
	}
}

/* Whether an entry's module is a package on the other side, without a file of its own. */
static bool is_of_other_layout(struct fz_bodies *b, uint32_t entry)
{
	const struct fz_body_entry *e = &b->entries[entry];
	struct fz_code *code = b->l->code;

	return fz_code_other_layout(code, e->side, code->files[e->side][e->at.source].key).n > 0;
}

/* Whether a vote can pair two scopes: both must be classes, or both files. A single member suffices
 * only if there is no other, or if the names are alike. */
static bool can_pair(struct fz_bodies *b, const struct fz_vote *v, const uint32_t *members,
		     double *ret_part)
{
	const struct fz_definition *x = fz_body_definition(b, &b->entries[v->base]);
	const struct fz_definition *y = fz_body_definition(b, &b->entries[v->head]);
	uint32_t smaller = FZ_MIN(members[v->base], members[v->head]);

	*ret_part = FZ_MIN((double)v->count / smaller, 1);
	if (x->is_class != y->is_class || (x->parent == FZ_NONE) != (y->parent == FZ_NONE))
		return false;
	if (x->parent == FZ_NONE && is_of_other_layout(b, v->base))
		return false;
	if (b->no_rename && x->parent != FZ_NONE && !fz_str_eq(x->name, y->name))
		return false;
	return *ret_part >= least_part &&
	       (v->count > 1 || FZ_MAX(members[v->base], members[v->head]) == 1 ||
		fz_link_alike(x->tail, y->tail));
}

/* Marks base scopes with a linked pair of functions in them. */
static void mark_sampled(struct fz_bodies *b, bool *sampled)
{
	for (uint32_t e = 0; e < b->start[FZ_HEAD]; e++) {
		uint32_t to = b->entries[e].partner;
		if (to == FZ_NONE || b->entries[e].function == FZ_NONE ||
		    b->entries[to].function == FZ_NONE)
			continue;
		for (uint32_t x = scope_of(b, e); x != FZ_NONE; x = scope_of(b, x))
			sampled[x] = true;
	}
}

static bool pair_scopes(struct fz_bodies *b, const uint32_t *members)
{
	fz_auto(fz_free_ptr) bool *sampled = fz_calloc(b->n + 1, sizeof(*sampled));
	struct fz_ballot ballot = { 0 };
	bool any = false;
	double part;

	mark_sampled(b, sampled);
	cast_votes(b, &ballot);
	fz_ballot_count(&ballot, b->n);
	for (uint32_t i = 0; i < ballot.n; i++) {
		const struct fz_vote *v = &ballot.votes[i];
		bool is_file = fz_body_definition(b, &b->entries[v->base])->parent == FZ_NONE;
		if (!v->is_mutual || (is_file && !sampled[v->base]) ||
		    !can_pair(b, v, members, &part))
			continue;
		fz_body_pair(b, v->base, v->head, FZ_LINK_SCOPE, part);
		any = true;
	}
	fz_ballot_release(&ballot);
	return any;
}

/* Maps (scope, name) to the only member; AMBIGUOUS if there are several. */
static struct fz_map index_members(struct fz_bodies *b, enum fz_side side)
{
	struct fz_map map = { 0 };

	for (uint32_t e = b->start[side]; e < b->start[side + 1]; e++) {
		uint32_t scope = scope_of(b, e);
		struct fz_str tail = fz_body_definition(b, &b->entries[e])->tail;
		if (scope == FZ_NONE)
			continue;
		uint32_t *slot =
			fz_map_slot(&map, FZ_KEY(scope, (uint32_t)fz_hash_bytes(tail.p, tail.n)));
		*slot = *slot == FZ_NONE ? e : AMBIGUOUS;
	}
	return map;
}

static bool pair_members(struct fz_bodies *b)
{
	struct fz_map base = index_members(b, FZ_BASE), head = index_members(b, FZ_HEAD);
	bool any = false;

	for (uint32_t e = 0; e < b->start[FZ_HEAD]; e++) {
		uint32_t scope = b->entries[e].partner == FZ_NONE ? scope_of(b, e) : FZ_NONE;
		uint32_t to = scope == FZ_NONE ? FZ_NONE : b->entries[scope].partner;
		if (to == FZ_NONE)
			continue;
		struct fz_str tail = fz_body_definition(b, &b->entries[e])->tail;
		uint32_t name = (uint32_t)fz_hash_bytes(tail.p, tail.n);
		uint32_t other = fz_map_get(&head, FZ_KEY(to, name));
		if (fz_map_get(&base, FZ_KEY(scope, name)) != e || other >= AMBIGUOUS ||
		    b->entries[other].partner != FZ_NONE)
			continue;
		fz_body_pair(b, e, other, FZ_LINK_SCOPE, b->entries[scope].score);
		any = true;
	}
	fz_map_release(&base);
	fz_map_release(&head);
	return any;
}

/* ---- lambdas and comprehensions ---- */

/* Returns the head's definition for one of the base. */
static struct fz_code_place head_of(struct fz_bodies *b, struct fz_code_place at, uint32_t other)
{
	uint32_t entry = fz_map_get(&b->entry_of[FZ_BASE], FZ_KEY(at.source, at.definition));
	const struct fz_definition *d =
		&fz_code_outline(b->l->code, FZ_BASE, at.source)->definitions[at.definition];

	if (entry != FZ_NONE && b->entries[entry].partner != FZ_NONE)
		return b->entries[b->entries[entry].partner].at;
	if (entry != FZ_NONE || other == FZ_NONE)
		return (struct fz_code_place){ FZ_NONE, FZ_NONE };
	return (struct fz_code_place){
		other, fz_outline_find(fz_code_outline(b->l->code, FZ_HEAD, other), d->name)
	};
}

/* Maps the head's enclosing definition to orphans without a name, except those that differ
 * according to the texts. */
static struct fz_map index_anonymous(struct fz_bodies *b, enum fz_side side)
{
	struct fz_linker *l = b->l;
	struct fz_map map = { 0 };
	bool within;

	for (uint32_t f = 0; f < l->n; f++) {
		uint32_t function = l->d->functions[f].on_side[side];
		if (function == FZ_NONE || !fz_link_allowed(l, f) ||
		    !fz_link_is_anonymous(fz_link_name(l, f)->name))
			continue;
		struct fz_code_place at = fz_code_find(l->code, side, function, &within);
		if (!within || at.definition == FZ_NONE ||
		    fz_code_spot(l->code, side, function) != FZ_NONE)
			continue;
		if (side == FZ_BASE)
			at = head_of(b, at, fz_code_counterpart(l->code, side, function));
		if (at.definition == FZ_NONE)
			continue;
		struct fz_str tail = fz_outline_tail(fz_link_name(l, f)->name);
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(at.source, at.definition) +
							   fz_hash_bytes(tail.p, tail.n));
		*slot = *slot == FZ_NONE ? f : AMBIGUOUS;
	}
	return map;
}

static void pair_anonymous(struct fz_bodies *b)
{
	struct fz_map base = index_anonymous(b, FZ_BASE), head = index_anonymous(b, FZ_HEAD);

	for (size_t i = 0; base.slots && i <= base.mask; i++) {
		uint32_t f = base.slots[i].value, to = FZ_NONE;
		if (f < AMBIGUOUS)
			to = fz_map_get(&head, base.slots[i].key);
		if (to < AMBIGUOUS)
			fz_link_pair(b->l, f, to, FZ_LINK_SCOPE, 1);
	}
	fz_map_release(&base);
	fz_map_release(&head);
}

void fz_link_scopes(struct fz_bodies *b)
{
	fz_auto(fz_free_ptr) uint32_t *members = fz_calloc(b->n + 1, sizeof(*members));

	for (uint32_t e = 0; e < b->n; e++) {
		uint32_t scope = scope_of(b, e);
		if (scope != FZ_NONE)
			members[scope]++;
	}
	for (int round = 0; round < ROUNDS; round++) {
		bool elected = pair_scopes(b, members);
		if (!pair_members(b) && !elected)
			break;
	}
	pair_anonymous(b);
}
