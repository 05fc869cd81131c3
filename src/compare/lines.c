/* SPDX-License-Identifier: MIT */
/* Texts line by line; see lines.h. */
#include "compare/lines.h"

/* Largest table of the longest common subsequence. */
enum { CELLS_MAX = 1 << 20 };

void fz_lines_init(struct fz_line_list *l, struct fz_str text)
{
	uint32_t cap = 0;

	*l = (struct fz_line_list){ 0 };
	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		fz_grow(l->list, l->n, cap);
		l->list[l->n++] = line;
	}
}

void fz_lines_release(struct fz_line_list *l)
{
	free(l->list);
	*l = (struct fz_line_list){ 0 };
}

struct alignment {
	const struct fz_line_list *side;
	struct fz_line_pair *pairs;
	uint32_t n;
};

static bool same(struct fz_str a, struct fz_str b)
{
	return fz_str_eq(fz_str_trimmed(a), fz_str_trimmed(b));
}

static void add(struct alignment *a, uint32_t base, uint32_t head)
{
	a->pairs[a->n++] = (struct fz_line_pair){ { base, head } };
}

/* Aligns lines [from, from + n) of both sides, whose first and last lines differ. */
static void align_middle(struct alignment *a, uint32_t from, const uint32_t n[FZ_SIDES])
{
	const struct fz_str *b = a->side[FZ_BASE].list + from;
	const struct fz_str *h = a->side[FZ_HEAD].list + from;
	uint32_t width = n[FZ_HEAD] + 1, i = 0, j = 0;
	bool small = (uint64_t)(n[FZ_BASE] + 1) * width <= CELLS_MAX;
	/* common[i * width + j]: length for the rest from i and j on */
	fz_auto(fz_free_ptr) uint16_t *common =
		fz_calloc(small ? (size_t)(n[FZ_BASE] + 1) * width : 1, sizeof(*common));

	for (uint32_t x = small ? n[FZ_BASE] : 0; x-- > 0;)
		for (uint32_t y = n[FZ_HEAD]; y-- > 0;) {
			uint16_t *at = &common[(size_t)x * width + y];
			*at = same(b[x], h[y]) ? (uint16_t)(at[width + 1] + 1)
					       : FZ_MAX(at[width], at[1]);
		}
	while (i < n[FZ_BASE] || j < n[FZ_HEAD]) {
		const uint16_t *at = small ? &common[(size_t)i * width + j] : NULL;
		if (at && i < n[FZ_BASE] && j < n[FZ_HEAD] && same(b[i], h[j]))
			add(a, from + i++, from + j++);
		else if (i < n[FZ_BASE] && (j == n[FZ_HEAD] || !at || at[width] >= at[1]))
			add(a, from + i++, FZ_NONE);
		else
			add(a, FZ_NONE, from + j++);
	}
}

struct fz_line_pair *fz_lines_align(const struct fz_line_list sides[FZ_SIDES], uint32_t *ret_n)
{
	const struct fz_line_list *base = &sides[FZ_BASE], *head = &sides[FZ_HEAD];
	uint32_t least = FZ_MIN(base->n, head->n), before = 0, behind = 0;
	struct alignment a = { .side = sides };

	a.pairs = fz_calloc((size_t)base->n + head->n, sizeof(*a.pairs));
	while (before < least && same(base->list[before], head->list[before]))
		before++;
	while (behind < least - before &&
	       same(base->list[base->n - 1 - behind], head->list[head->n - 1 - behind]))
		behind++;
	for (uint32_t i = 0; i < before; i++)
		add(&a, i, i);
	align_middle(&a, before,
		     (uint32_t[]){ base->n - before - behind, head->n - before - behind });
	for (uint32_t i = behind; i > 0; i--)
		add(&a, base->n - i, head->n - i);
	*ret_n = a.n;
	return a.pairs;
}
