/* SPDX-License-Identifier: MIT */
/* Time saved on removed paths; see page_saved.h for the rule. */
#include "report/page_saved.h"

/* Minimum saving of a function, as a fraction of its cost on removed paths. */
static const double most = 0.5;

static bool is_gone(const struct fz_page *page, uint32_t i)
{
	return page->total[FZ_HEAD][i] == 0 && page->total[FZ_BASE][i] > 0;
}

/* Cost of each function on removed paths, counting only the outermost call of a recursion. */
static double *gone_times(const struct fz_page *page)
{
	double *gone = fz_calloc(page->function_count + 1ul, sizeof(*gone));
	fz_auto(fz_free_ptr) uint32_t *open_until =
		fz_calloc(page->function_count + 1ul, sizeof(*open_until));

	for (uint32_t i = 0; i < page->n; i++) {
		uint32_t f = page->function[i];
		if (i < open_until[f] || !is_gone(page, i))
			continue;
		open_until[f] = i + page->size[i];
		gone[f] += (double)page->total[FZ_BASE][i];
	}
	return gone;
}

static bool is_saved(const struct fz_page *page, const struct fz_page_function *f, double gone)
{
	const int64_t *total = f->cost.total;

	if (gone == 0 || f->judged == FZ_NONE)
		return false;
	if (total[FZ_HEAD] == 0 && f->presence == FZ_PRESENCE_NO)
		return true;
	double less = (double)total[FZ_BASE] * page->factor - (double)total[FZ_HEAD];
	return page->judgement->total[f->judged].verdict == FZ_VERDICT_CHANGED &&
	       less >= most * gone * page->factor;
}

/* Flags by function: it saved time. */
static bool *find_saved(const struct fz_page *page)
{
	bool *saved = fz_calloc(page->function_count + 1ul, sizeof(*saved));
	fz_auto(fz_free_ptr) double *gone = gone_times(page);

	for (uint32_t f = 0; f < page->function_count; f++)
		saved[f] = is_saved(page, &page->functions[f], gone[f]);
	return saved;
}

bool *fz_page_gone(const struct fz_page *page, bool saved_only)
{
	bool *gone = fz_calloc(page->n + 1ul, sizeof(*gone));
	fz_auto(fz_free_ptr) bool *saved = saved_only ? find_saved(page) : NULL;

	for (uint32_t i = 0; i < page->n; i++) {
		uint32_t parent = page->parent[i];
		gone[i] = is_gone(page, i) && (!saved || saved[page->function[i]] ||
					       (parent != FZ_NONE && gone[parent]));
	}
	return gone;
}

int64_t *fz_page_gone_widths(const struct fz_page *page, const bool *gone, int64_t *ret_all)
{
	int64_t *width = fz_calloc(page->n + 1ul, sizeof(*width));

	*ret_all = 0;
	for (uint32_t i = page->n; i-- > 0;) {
		uint32_t parent = page->parent[i];
		if (gone[i])
			width[i] = page->total[FZ_BASE][i];
		if (parent == FZ_NONE)
			*ret_all += width[i];
		else if (!gone[parent])
			width[parent] += width[i];
	}
	return width;
}
