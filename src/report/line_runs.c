/* SPDX-License-Identifier: MIT */
/* Aligned texts as runs; see line_runs.h.
 *
 *   a b c d        same gone added
 *   a x c e   ->   1    1    1         a, then b became x
 *                  1    1    1         c, then d became e
 */
#include "report/line_runs.h"

static void add_run(struct fz_line_runs *r)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 64;
		for (int k = 0; k < FZ_LINE_RUN_KINDS; k++)
			r->length[k] = fz_reallocarray(r->length[k], r->cap, sizeof(int64_t));
	}
	for (int k = 0; k < FZ_LINE_RUN_KINDS; k++)
		r->length[k][r->n] = 0;
	r->n++;
}

size_t fz_line_runs_add(struct fz_line_runs *r, const struct fz_line_list texts[FZ_SIDES])
{
	enum { SAME, GONE, ADDED };
	size_t before = r->n;
	uint32_t n;
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(texts, &n);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *on = pairs[i].on_side;
		int kind = on[FZ_HEAD] == FZ_NONE ? GONE : on[FZ_BASE] == FZ_NONE ? ADDED : SAME;
		if (r->n == before ||
		    (kind == SAME && (r->length[GONE][r->n - 1] || r->length[ADDED][r->n - 1])))
			add_run(r);
		r->length[kind][r->n - 1]++;
	}
	return r->n - before;
}

void fz_line_runs_columns(const struct fz_line_runs *r, struct fz_columns *columns)
{
	static const char *const names[] = { "align.same", "align.gone", "align.added" };

	for (int k = 0; k < FZ_LINE_RUN_KINDS; k++)
		fz_columns_numbers(columns, names[k], r->length[k], r->n);
}

void fz_line_runs_release(struct fz_line_runs *r)
{
	for (int k = 0; k < FZ_LINE_RUN_KINDS; k++)
		free(r->length[k]);
	*r = (struct fz_line_runs){ 0 };
}
