/* SPDX-License-Identifier: MIT */
/* Finds new functions whose code was part of another one in the same file.
 *
 *   base                    head
 *   def parse(): a b c d    def parse(): a d part()      `part` is new; most of its code was in
 *                           def part(): b c              `parse`, which now calls it
 *
 * This does not change the comparison: the cost of `part` has no counterpart in the base, and
 * `parse` is compared with `parse`. It is only reported, so that moved code is not mistaken for
 * added code.
 */
#include "compare/code.h"
#include "compare/stages.h"

enum { RUNS_LEAST = 10 };             /* of a body: shorter bodies are not specific enough */
static const double part_least = .60; /* fraction of its runs that the other one lost */
static const double ahead = .20;      /* of all other candidates */

/* Runs of a function's body in the base but not in the head; none if unknown. */
static void find_lost(struct fz_code *code, const struct fz_diff_function *f, struct fz_body *ret)
{
	struct fz_code_place at[FZ_SIDES];
	const struct fz_body *body[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		bool within;
		at[s] = fz_code_find(code, s, f->on_side[s], &within);
		if (within || at[s].definition == FZ_NONE || at[s].definition == 0)
			return;
		body[s] = fz_code_body(code, s, at[s]);
	}
	fz_body_subtract(body[FZ_BASE], body[FZ_HEAD], ret);
}

/* A new function that may have been a part of another one. */
struct part {
	uint32_t function, source; /* of the base */
	const struct fz_body *body;
	uint32_t name; /* as a word */
};

static bool is_part(const struct fz_diff *d, struct fz_code *code, uint32_t function,
		    struct part *ret)
{
	const struct fz_diff_function *f = &d->functions[function];
	bool within;

	if (f->state != FZ_NEW || f->presence != FZ_PRESENCE_NO)
		return false;
	uint32_t source = fz_code_counterpart(code, FZ_HEAD, f->on_side[FZ_HEAD]);
	struct fz_code_place at = fz_code_find(code, FZ_HEAD, f->on_side[FZ_HEAD], &within);
	if (source == FZ_NONE || within || at.definition == FZ_NONE || at.definition == 0)
		return false;
	struct fz_str tail =
		fz_code_outline(code, FZ_HEAD, at.source)->definitions[at.definition].tail;
	*ret = (struct part){ function, source, fz_code_body(code, FZ_HEAD, at),
			      fz_outline_word(tail) };
	return ret->body->n >= RUNS_LEAST;
}

/* The runs that each function of the wanted base sources lost; empty for others. */
static struct fz_body *collect_losses(struct fz_diff *d, struct fz_code *code, const bool *wanted)
{
	struct fz_body *lost = fz_calloc(d->function_count, sizeof(*lost));

	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_function *f = &d->functions[i];
		if (f->state != FZ_COMMON)
			continue;
		uint32_t source = fz_code_source(code, FZ_BASE, f->on_side[FZ_BASE]);
		if (source != FZ_NONE && wanted[source])
			find_lost(code, f, &lost[i]);
	}
	return lost;
}

/* Whether a function's text in the head mentions a name. */
static bool mentions(struct fz_code *code, const struct fz_diff_function *f, uint32_t word)
{
	bool within;
	struct fz_code_place at = fz_code_find(code, FZ_HEAD, f->on_side[FZ_HEAD], &within);
	const struct fz_outline *o = fz_code_outline(code, FZ_HEAD, at.source);
	const struct fz_definition *d = &o->definitions[at.definition];

	for (uint32_t i = d->words; i < d->end; i++)
		if (o->words[i] == word)
			return true;
	return false;
}

/* The function that contained the code of a new one, or FZ_NONE. */
static uint32_t find_origin(const struct fz_diff *d, struct fz_code *code,
			    const struct fz_body *lost, const struct part *p)
{
	uint32_t best = FZ_NONE, most = 0, second = 0;

	for (uint32_t i = 0; i < d->function_count; i++) {
		if (!lost[i].n ||
		    fz_code_source(code, FZ_BASE, d->functions[i].on_side[FZ_BASE]) != p->source ||
		    !mentions(code, &d->functions[i], p->name))
			continue;
		uint32_t common = fz_body_common(p->body, &lost[i]);
		second = FZ_MAX(second, FZ_MIN(common, most));
		if (common > most) {
			most = common;
			best = i;
		}
	}
	bool sure = most >= part_least * p->body->n && most - second >= ahead * p->body->n;
	return sure ? best : FZ_NONE;
}

const struct fz_diff_function *fz_diff_origin(const struct fz_diff *d,
					      const struct fz_diff_function *f)
{
	for (uint32_t i = 0; i < d->split_count; i++)
		if (&d->functions[d->splits[i].function] == f)
			return &d->functions[d->splits[i].from];
	return NULL;
}

void fz_diff_find_splits(struct fz_diff *d, struct fz_code *code)
{
	uint32_t n = 0, cap = 0, split_cap = 0;
	fz_auto(fz_free_ptr) struct part *parts = NULL;
	fz_auto(fz_free_ptr) bool *wanted =
		fz_calloc(FZ_MAX(code->file_count[FZ_BASE], 1), sizeof(*wanted));

	for (uint32_t i = 0; i < d->function_count; i++) {
		struct part part;
		if (!is_part(d, code, i, &part))
			continue;
		wanted[part.source] = true;
		fz_push(parts, n, cap, part);
	}
	if (!n)
		return;
	struct fz_body *lost = collect_losses(d, code, wanted);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = find_origin(d, code, lost, &parts[i]);
		if (from == FZ_NONE)
			continue;
		fz_push(d->splits, d->split_count, split_cap,
			(struct fz_diff_split){ parts[i].function, from });
	}
	for (uint32_t i = 0; i < d->function_count; i++)
		fz_body_release(&lost[i]);
	free(lost);
}
