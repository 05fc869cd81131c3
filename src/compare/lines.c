/* SPDX-License-Identifier: MIT */
/* Texts line by line; see lines.h. */
#include "compare/lines.h"

enum {
	CELLS_MAX = 1 << 20, /* size limit of the table for a longest common subsequence */
	DEPTH_MAX = 16,      /* of ranges between anchors */
};

void fz_lines_init(struct fz_line_list *l, struct fz_str text)
{
	uint32_t cap = 0;

	*l = (struct fz_line_list){ 0 };
	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		fz_push(l->list, l->n, cap, line);
	}
}

void fz_lines_release(struct fz_line_list *l)
{
	free(l->list);
	*l = (struct fz_line_list){ 0 };
}

/* Both texts as numbers of lines: equal lines have equal numbers. */
struct alignment {
	uint32_t *line[FZ_SIDES];
	uint32_t *place[FZ_SIDES]; /* by number: its only line in a range, or one of these two */
	struct fz_line_pair *pairs;
	uint32_t n;
};

enum { NOWHERE = FZ_NONE, SEVERAL = FZ_NONE - 1u };

/* Lines [from, to) of each side. */
struct range {
	uint32_t from[FZ_SIDES], to[FZ_SIDES];
};

static void number_lines(struct alignment *a, const struct fz_line_list sides[FZ_SIDES])
{
	uint32_t lines = sides[FZ_BASE].n + sides[FZ_HEAD].n, n = 0;
	fz_auto(fz_free_ptr) struct fz_str *known = fz_calloc(lines + 1ul, sizeof(*known));
	struct fz_map map = { 0 };

	for (int s = 0; s < FZ_SIDES; s++) {
		a->line[s] = fz_calloc(sides[s].n + 1ul, sizeof(*a->line[s]));
		a->place[s] = fz_malloc((lines + 1ul) * sizeof(*a->place[s]));
		memset(a->place[s], 0xff, (lines + 1ul) * sizeof(*a->place[s]));
		for (uint32_t i = 0; i < sides[s].n; i++) {
			struct fz_str line = fz_str_trimmed(sides[s].list[i]);
			uint64_t key = fz_map_hash(line.p, line.n);
			uint32_t *slot = fz_map_slot(&map, key);
			while (*slot != FZ_NONE && !fz_str_eq(known[*slot], line))
				slot = fz_map_slot(&map, ++key);
			if (*slot == FZ_NONE) {
				*slot = n;
				known[n++] = line;
			}
			a->line[s][i] = *slot;
		}
	}
	fz_map_release(&map);
}

static void add(struct alignment *a, uint32_t base, uint32_t head)
{
	a->pairs[a->n++] = (struct fz_line_pair){ { base, head } };
}

static void add_changed(struct alignment *a, const struct range *r)
{
	for (uint32_t i = r->from[FZ_BASE]; i < r->to[FZ_BASE]; i++)
		add(a, i, FZ_NONE);
	for (uint32_t j = r->from[FZ_HEAD]; j < r->to[FZ_HEAD]; j++)
		add(a, FZ_NONE, j);
}

/* Aligns a small range by a longest common subsequence. */
static void align_exactly(struct alignment *a, const struct range *r)
{
	const uint32_t *b = a->line[FZ_BASE] + r->from[FZ_BASE];
	const uint32_t *h = a->line[FZ_HEAD] + r->from[FZ_HEAD];
	uint32_t n = r->to[FZ_BASE] - r->from[FZ_BASE], m = r->to[FZ_HEAD] - r->from[FZ_HEAD];
	uint32_t width = m + 1, i = 0, j = 0;
	/* common[i * width + j]: length for the rest from i and j on */
	fz_auto(fz_free_ptr) uint16_t *common = fz_calloc((size_t)(n + 1) * width, sizeof(*common));

	for (uint32_t x = n; x-- > 0;)
		for (uint32_t y = m; y-- > 0;) {
			uint16_t *at = &common[(size_t)x * width + y];
			*at = b[x] == h[y] ? (uint16_t)(at[width + 1] + 1)
					   : FZ_MAX(at[width], at[1]);
		}
	while (i < n || j < m) {
		const uint16_t *at = &common[(size_t)i * width + j];
		if (i < n && j < m && b[i] == h[j]) {
			add(a, r->from[FZ_BASE] + i++, r->from[FZ_HEAD] + j++);
		} else if (i < n && (j == m || at[width] >= at[1])) {
			add(a, r->from[FZ_BASE] + i++, FZ_NONE);
		} else {
			add(a, FZ_NONE, r->from[FZ_HEAD] + j++);
		}
	}
}

/* Lines that are unique on both sides of a range and in the same order: the longest such run, as
 * lines of the base; a->place[FZ_HEAD] of each is its line of the head. The caller frees them. */
static uint32_t *find_anchors(struct alignment *a, const struct range *r, uint32_t *ret_n)
{
	uint32_t most = r->to[FZ_BASE] - r->from[FZ_BASE], length = 0;
	uint32_t *anchors = fz_calloc(most + 1ul, sizeof(*anchors));
	/* the last line of the best run of each length, and the line before each in its run */
	fz_auto(fz_free_ptr) uint32_t *last = fz_calloc(most + 1ul, sizeof(*last));
	fz_auto(fz_free_ptr) uint32_t *before = fz_calloc(most + 1ul, sizeof(*before));

	for (int s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = r->from[s]; i < r->to[s]; i++) {
			uint32_t *place = &a->place[s][a->line[s][i]];
			*place = *place == NOWHERE ? i : SEVERAL;
		}
	const uint32_t *head = a->place[FZ_HEAD], *line = a->line[FZ_BASE];
	for (uint32_t i = r->from[FZ_BASE]; i < r->to[FZ_BASE]; i++) {
		uint32_t low = 0, high = length;
		if (a->place[FZ_BASE][line[i]] == SEVERAL || head[line[i]] >= SEVERAL)
			continue;
		while (low < high) {
			uint32_t middle = (low + high) / 2;
			if (head[line[last[middle]]] < head[line[i]])
				low = middle + 1;
			else
				high = middle;
		}
		before[i - r->from[FZ_BASE]] = low ? last[low - 1] : FZ_NONE;
		last[low] = i;
		length = FZ_MAX(length, low + 1);
	}
	for (uint32_t k = length, at = length ? last[length - 1] : 0; k > 0; k--) {
		anchors[k - 1] = at;
		at = before[at - r->from[FZ_BASE]];
	}
	*ret_n = length;
	return anchors;
}

static void forget_places(struct alignment *a, const struct range *r)
{
	for (int s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = r->from[s]; i < r->to[s]; i++)
			a->place[s][a->line[s][i]] = NOWHERE;
}

static void align_range(struct alignment *a, struct range r, uint32_t depth);

/* Aligns a large range between its anchors; without anchors, all of it counts as changed. */
static void align_between_anchors(struct alignment *a, const struct range *r, uint32_t depth)
{
	uint32_t n;
	fz_auto(fz_free_ptr) uint32_t *anchors = find_anchors(a, r, &n);
	fz_auto(fz_free_ptr) uint32_t *heads = fz_calloc(n + 1ul, sizeof(*heads));
	struct range part = *r;

	for (uint32_t k = 0; k < n; k++)
		heads[k] = a->place[FZ_HEAD][a->line[FZ_BASE][anchors[k]]];
	forget_places(a, r);
	for (uint32_t k = 0; k < n; k++) {
		part.to[FZ_BASE] = anchors[k];
		part.to[FZ_HEAD] = heads[k];
		align_range(a, part, depth + 1);
		add(a, anchors[k], heads[k]);
		part.from[FZ_BASE] = anchors[k] + 1;
		part.from[FZ_HEAD] = heads[k] + 1;
	}
	memcpy(part.to, r->to, sizeof(part.to));
	if (n)
		align_range(a, part, depth + 1);
	else
		add_changed(a, &part);
}

static void align_range(struct alignment *a, struct range r, uint32_t depth)
{
	const uint32_t *const *line = (const uint32_t *const *)a->line;
	uint32_t behind = 0;

	for (; r.from[FZ_BASE] < r.to[FZ_BASE] && r.from[FZ_HEAD] < r.to[FZ_HEAD] &&
	       line[FZ_BASE][r.from[FZ_BASE]] == line[FZ_HEAD][r.from[FZ_HEAD]];
	     r.from[FZ_BASE]++, r.from[FZ_HEAD]++)
		add(a, r.from[FZ_BASE], r.from[FZ_HEAD]);
	for (; r.from[FZ_BASE] < r.to[FZ_BASE] && r.from[FZ_HEAD] < r.to[FZ_HEAD] &&
	       line[FZ_BASE][r.to[FZ_BASE] - 1] == line[FZ_HEAD][r.to[FZ_HEAD] - 1];
	     behind++) {
		r.to[FZ_BASE]--;
		r.to[FZ_HEAD]--;
	}
	uint64_t cells = (uint64_t)(r.to[FZ_BASE] - r.from[FZ_BASE] + 1) *
			 (r.to[FZ_HEAD] - r.from[FZ_HEAD] + 1);
	if (cells <= CELLS_MAX)
		align_exactly(a, &r);
	else if (depth < DEPTH_MAX)
		align_between_anchors(a, &r, depth);
	else
		add_changed(a, &r);
	for (uint32_t i = 0; i < behind; i++)
		add(a, r.to[FZ_BASE] + i, r.to[FZ_HEAD] + i);
}

struct fz_line_pair *fz_lines_align(const struct fz_line_list sides[FZ_SIDES], uint32_t *ret_n)
{
	struct alignment a = { 0 };

	number_lines(&a, sides);
	a.pairs = fz_calloc((size_t)sides[FZ_BASE].n + sides[FZ_HEAD].n, sizeof(*a.pairs));
	align_range(&a, (struct range){ { 0, 0 }, { sides[FZ_BASE].n, sides[FZ_HEAD].n } }, 0);
	fz_assert(a.n <= sides[FZ_BASE].n + sides[FZ_HEAD].n);
	for (int s = 0; s < FZ_SIDES; s++) {
		free(a.line[s]);
		free(a.place[s]);
	}
	*ret_n = a.n;
	return a.pairs;
}
