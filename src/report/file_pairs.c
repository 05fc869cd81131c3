/* SPDX-License-Identifier: MIT */
/* Files of both sides in pairs; see file_pairs.h. */
#include "report/file_pairs.h"

#include <stdlib.h>

void fz_file_pairs_add(struct fz_file_pairs *p, uint32_t base, uint32_t head, double cost)
{
	uint32_t *slot = fz_map_slot(&p->known, FZ_KEY(base, head));

	if (*slot == FZ_NONE) {
		*slot = p->n;
		fz_push(p->list, p->n, p->cap, (struct fz_file_pair){ base, head, 0 });
	}
	p->list[*slot].cost += cost;
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct fz_file_pair *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (a->base != b->base)
		return a->base < b->base ? -1 : 1;
	return (a->head > b->head) - (a->head < b->head);
}

void fz_file_pairs_choose(struct fz_file_pairs *p)
{
	struct fz_map base = { 0 }, head = { 0 };
	uint32_t kept = 0;

	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), compare_pairs);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct fz_file_pair *pair = &p->list[i];
		if (fz_map_get(&base, pair->base) != FZ_NONE ||
		    fz_map_get(&head, pair->head) != FZ_NONE)
			continue;
		fz_map_put(&base, pair->base, i);
		fz_map_put(&head, pair->head, i);
		p->list[kept++] = *pair;
	}
	p->n = kept;
	fz_map_release(&base);
	fz_map_release(&head);
}

void fz_file_pairs_release(struct fz_file_pairs *p)
{
	fz_map_release(&p->known);
	free(p->list);
}
