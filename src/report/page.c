/* SPDX-License-Identifier: MIT */
/* The title of a page and the order of its functions. */
#include "report/page.h"

#include "profile/heap_fact.h"

#include <math.h>

const char *fz_page_kind(const struct fz_page *page, bool inverted)
{
	static const char *const kinds[2][2][2] = {
		{ { "Flame graph", "Inverted flame graph" },
		  { "Differential flame graph", "Inverted differential flame graph" } },
		{ { "Heap", "Inverted heap" }, { "Heap difference", "Inverted heap difference" } },
	};

	return kinds[fz_profile_is_heap(page->profile[FZ_HEAD])][page->is_diff][inverted];
}

struct fz_str fz_page_root(const struct fz_page *page)
{
	bool selected = fz_profile_fact(page->profile[FZ_HEAD], "root").n > 0;
	bool one = page->n && page->size[0] == page->n;

	return selected && one ? page->functions[page->function[0]].name : FZ_STR("");
}

static double rank_weight(const struct fz_page *page, const struct fz_page_function *f)
{
	return fabs((double)f->cost.self[FZ_HEAD] - page->factor * (double)f->cost.self[FZ_BASE]);
}

static int compare_rank(const void *pa, const void *pb, void *arg)
{
	const struct fz_page *page = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fz_page_function *a = &page->functions[ia], *b = &page->functions[ib];
	double wa = rank_weight(page, a), wb = rank_weight(page, b);

	return FZ_CMP(wb, wa) ?: FZ_CMP(b->cost.total[FZ_HEAD], a->cost.total[FZ_HEAD]) ?:
	       fz_str_cmp(a->name, b->name) ?: FZ_CMP(ia, ib);
}

uint32_t *fz_page_rank_functions(const struct fz_page *page)
{
	uint32_t *order = fz_reallocarray(NULL, page->function_count + 1ul, sizeof(*order));

	for (uint32_t i = 0; i < page->function_count; i++)
		order[i] = i;
	if (page->function_count)
		qsort_r(order, page->function_count, sizeof(*order), compare_rank, (void *)page);
	return order;
}
