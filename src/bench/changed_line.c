/* SPDX-License-Identifier: MIT */
/* Finding the first changed line of a function; see changed_line.h.
 *
 *   base                     head
 *   8 def parse(text):       8 def parse(text):
 *   9     out = []           9     out = []
 *  10     out.sort()        10     return out      <- the line after a removed one
 *  11     return out
 *
 * The whole files of both sides are aligned, so a function that moved in its file has no other
 * changed lines. The outline of the head shows where the function ends.
 */
#include "bench/changed_line.h"

#include "compare/lines.h"
#include "compare/outline.h"

static const struct fz_source_text *text_of(const struct fz_diff *d,
					    const struct fz_diff_function *f, enum fz_side s)
{
	const struct fz_profile *p = d->profile[s];

	return f->on_side[s] == FZ_NONE ? NULL
					: fz_profile_source(p, p->functions[f->on_side[s]].file);
}

/* Find lines [first, last] of the function at a line, from 1. */
static bool find_extent(const struct fz_source_text *text, int32_t line, int32_t *ret_first,
			int32_t *ret_last)
{
	struct fz_outline o;

	fz_outline_init(&o, (struct fz_str){ text->text, text->size });
	uint32_t at = fz_outline_at(&o, line);
	bool found = at != FZ_NONE && at != 0;
	if (found) {
		*ret_first = o.definitions[at].first_line;
		*ret_last = o.definitions[at].last_line;
	}
	fz_outline_release(&o);
	return found;
}

static bool is_code(struct fz_str line)
{
	line = fz_str_trimmed(line);
	return line.n && *line.p != '#';
}

/* The first line in [first, last] that only the head has, or before which the base has another. */
static int32_t find_changed(const struct fz_line_list sides[FZ_SIDES], int32_t first, int32_t last)
{
	uint32_t n;
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(sides, &n);
	bool removed = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t base = pairs[i].on_side[FZ_BASE], head = pairs[i].on_side[FZ_HEAD];
		bool both = base != FZ_NONE && head != FZ_NONE;
		int32_t line = head == FZ_NONE ? 0 : (int32_t)head + 1;
		if (line > last)
			break;
		if (!line) {
			removed = removed || is_code(sides[FZ_BASE].list[base]);
			continue;
		}
		/* Lines removed before the function belong to another one. */
		bool here = line > first || !both;
		if (line >= first && here && is_code(sides[FZ_HEAD].list[head]) &&
		    (removed || !both))
			return line;
		removed = removed && !is_code(sides[FZ_HEAD].list[head]);
	}
	return 0;
}

int32_t fz_changed_line(const struct fz_diff *d, const struct fz_diff_function *f)
{
	const struct fz_source_text *base = text_of(d, f, FZ_BASE), *head = text_of(d, f, FZ_HEAD);
	struct fz_line_list sides[FZ_SIDES];
	int32_t first, last;

	if (f->kind != FZ_KIND_PYTHON || f->line <= 0 || !head)
		return 0;
	if (f->on_side[FZ_BASE] == FZ_NONE)
		return f->line;
	if (!base || !find_extent(head, f->line, &first, &last))
		return 0;
	fz_lines_init(&sides[FZ_BASE], (struct fz_str){ base->text, base->size });
	fz_lines_init(&sides[FZ_HEAD], (struct fz_str){ head->text, head->size });
	int32_t line = find_changed(sides, first, last);
	fz_lines_release(&sides[FZ_BASE]);
	fz_lines_release(&sides[FZ_HEAD]);
	return line;
}
