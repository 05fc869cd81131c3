/* SPDX-License-Identifier: MIT */
/* Matches several functions of one name by the texts of both sides.
 *
 * A lambda or a comprehension has no name of its own, and a recording has only those with samples.
 * So neither order nor number identifies one; its first line does, within the text of the enclosing
 * definition:
 *
 *   base               head               spots
 *   def f():           def f():           1
 *       a = [...]          a = [...]      3      one line of both
 *       b = [...]          b = [.....]    4      lines of one side alone, between those of both
 *       return             return         5
 *
 * A lambda is also the same if it is the only one in the definition on both sides.
 *
 * Functions at one spot may be the same; at different spots they are different. Repeated
 * definitions of a name (a property and its setter) are matched by position, if both files have
 * equally many.
 */
#include "compare/code.h"

#include "compare/lines.h"

#include <ctype.h>

bool fz_code_spot_is_common(uint32_t spot)
{
	return spot != FZ_NONE && spot % 2 == 1;
}

/* Lines without letters or digits occur in many places. */
static bool has_word_character(struct fz_str line)
{
	for (size_t i = 0; i < line.n; i++)
		if (isalnum((unsigned char)line.p[i]) || (unsigned char)line.p[i] >= 0x80)
			return true;
	return false;
}

static void number_lines(struct fz_code_text *t, const struct fz_line_list lines[FZ_SIDES])
{
	uint32_t n, spot = 0;
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(lines, &n);

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		t->n[s] = lines[s].n;
		t->spots[s] = fz_calloc(FZ_MAX(lines[s].n, 1), sizeof(*t->spots[s]));
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *at = pairs[i].on_side;
		bool common = at[FZ_BASE] != FZ_NONE && at[FZ_HEAD] != FZ_NONE &&
			      has_word_character(lines[FZ_BASE].list[at[FZ_BASE]]);
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			if (at[s] != FZ_NONE)
				t->spots[s][at[s]] = spot + common;
		spot += common ? 2 : 0;
	}
}

static void read_text(struct fz_code *c, struct fz_code_text *t)
{
	struct fz_line_list all[FZ_SIDES], lines[FZ_SIDES];

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_definition *d = &fz_code_outline(c, s, t->place[s].source)
							 ->definitions[t->place[s].definition];
		fz_lines_init(&all[s], c->files[s][t->place[s].source].text);
		uint32_t from = FZ_MIN((uint32_t)d->first_line - 1, all[s].n);
		uint32_t end = FZ_MIN((uint32_t)d->last_line, all[s].n);
		lines[s] = (struct fz_line_list){ all[s].list + from, end - from };
		t->first[s] = d->first_line;
	}
	number_lines(t, lines);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		fz_lines_release(&all[s]);
}

static const struct fz_code_text *text_of(struct fz_code *c,
					  const struct fz_code_place place[FZ_SIDES])
{
	const struct fz_code_place *base = &place[FZ_BASE], *head = &place[FZ_HEAD];
	uint64_t key = fz_hash64(FZ_KEY(base->source, base->definition)) +
		       FZ_KEY(head->source, head->definition);
	uint32_t *slot = fz_map_slot(&c->by_text, key);

	if (*slot == FZ_NONE) {
		*slot = c->text_count;
		fz_grow(c->texts, c->text_count, c->text_cap);
		struct fz_code_text *t = &c->texts[c->text_count++];
		*t = (struct fz_code_text){ .place = { *base, *head } };
		read_text(c, t);
	}
	return &c->texts[*slot];
}

static const struct fz_definition *definition_at(struct fz_code *c, enum fz_side side,
						 struct fz_code_place at)
{
	return &fz_code_outline(c, side, at.source)->definitions[at.definition];
}

/* Returns the number of definitions of a name; *ret_before is the number before `one`. */
static uint32_t count_definitions(const struct fz_outline *o, struct fz_str name, uint32_t one,
				  uint32_t *ret_before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		if (i == one)
			*ret_before = n;
		n += fz_str_eq(o->definitions[i].name, name);
	}
	return n;
}

static uint32_t spot_of_definition(struct fz_code *c, enum fz_side side, struct fz_code_place at,
				   uint32_t other)
{
	const struct fz_outline *mine = fz_code_outline(c, side, at.source);
	struct fz_str name = mine->definitions[at.definition].name;
	uint32_t before = 0, n = count_definitions(mine, name, at.definition, &before);

	if (n != count_definitions(fz_code_outline(c, !side, other), name, FZ_NONE, NULL))
		return FZ_NONE;
	return 2 * before + 1;
}

bool fz_code_is_one_of_several(struct fz_code *c, enum fz_side side, uint32_t function)
{
	bool within;
	struct fz_code_place at = fz_code_find(c, side, function, &within);
	uint32_t before;

	if (at.definition == FZ_NONE || within)
		return false;
	return count_definitions(fz_code_outline(c, side, at.source),
				 definition_at(c, side, at)->name, at.definition, &before) > 1;
}

/* Whether a definition has one lambda, and no nested definition has any. */
static bool has_one_lambda(struct fz_code *c, enum fz_side side, struct fz_code_place at)
{
	const struct fz_outline *o = fz_code_outline(c, side, at.source);
	const struct fz_definition *d = &o->definitions[at.definition];
	uint32_t n = 0, found = 0, word = fz_outline_word(FZ_STR("lambda"));

	for (uint32_t i = d->words; i < d->end; i++) {
		n += o->words[i] == word;
		found = o->words[i] == word ? i : found;
	}
	for (uint32_t k = at.definition + 1; n == 1 && k < o->n; k++)
		if (o->definitions[k].words <= found && found < o->definitions[k].end)
			return false;
	return n == 1;
}

uint32_t fz_code_spot(struct fz_code *c, enum fz_side side, uint32_t function)
{
	uint32_t other = fz_code_counterpart(c, side, function);
	int32_t line = c->profile[side]->functions[function].first_line;
	struct fz_code_place place[FZ_SIDES];
	bool within;

	place[side] = fz_code_find(c, side, function, &within);
	if (place[side].definition == FZ_NONE || other == FZ_NONE || line <= 0)
		return FZ_NONE;
	if (!within)
		return spot_of_definition(c, side, place[side], other);
	struct fz_str name = definition_at(c, side, place[side])->name;
	place[!side].source = other;
	place[!side].definition = fz_outline_find(fz_code_outline(c, !side, other), name);
	if (place[!side].definition == FZ_NONE ||
	    fz_outline_find(fz_code_outline(c, side, place[side].source), name) !=
		    place[side].definition)
		return FZ_NONE;
	struct fz_str function_name =
		c->profile[side]->strings[c->profile[side]->functions[function].name];
	if (fz_str_eq(fz_outline_tail(function_name), FZ_STR("<lambda>")) &&
	    has_one_lambda(c, side, place[side]) && has_one_lambda(c, !side, place[!side]))
		return 1;
	const struct fz_code_text *t = text_of(c, place);
	uint32_t at = (uint32_t)(line - t->first[side]);
	return at < t->n[side] ? t->spots[side][at] : FZ_NONE;
}
