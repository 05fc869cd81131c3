/* SPDX-License-Identifier: MIT */
/* Clear favourites, by score and by votes. */
#include "compare/mutual_choice.h"

#include <stdlib.h>

void fz_rank_note(struct fz_rank *r, double score)
{
	if (score > r->best) {
		r->second = r->best;
		r->best = score;
	} else if (score > r->second) {
		r->second = score;
	}
}

bool fz_rank_leads(const struct fz_rank *r, double score, double lead)
{
	return score == r->best && score - r->second >= lead;
}

void fz_ballot_cast(struct fz_ballot *b, uint32_t base, uint32_t head)
{
	uint32_t *slot = fz_map_slot(&b->map, FZ_KEY(base, head));

	if (*slot == FZ_NONE) {
		*slot = b->n;
		fz_push(b->votes, b->n, b->cap, (struct fz_vote){ .base = base, .head = head });
	}
	b->votes[*slot].count++;
}

struct best {
	uint32_t vote, count;
	bool tie;
};

static void note(struct best *best, uint32_t vote, uint32_t count)
{
	if (count > best->count)
		*best = (struct best){ .vote = vote, .count = count };
	else if (count == best->count)
		best->tie = true;
}

void fz_ballot_count(struct fz_ballot *b, uint32_t n)
{
	struct best *of_base = fz_calloc(n + 1, sizeof(*of_base));
	struct best *of_head = fz_calloc(n + 1, sizeof(*of_head));

	for (uint32_t i = 0; i < b->n; i++) {
		fz_assert(b->votes[i].base < n && b->votes[i].head < n);
		note(&of_base[b->votes[i].base], i, b->votes[i].count);
		note(&of_head[b->votes[i].head], i, b->votes[i].count);
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct best x = of_base[b->votes[i].base], y = of_head[b->votes[i].head];
		b->votes[i].is_mutual = x.vote == i && !x.tie && y.vote == i && !y.tie;
	}
	free(of_base);
	free(of_head);
}

void fz_ballot_release(struct fz_ballot *b)
{
	free(b->votes);
	fz_map_release(&b->map);
}
