/* SPDX-License-Identifier: MIT */
/*
 * Mutual favourites. A base and a head candidate are paired only if each prefers the other to all
 * others, so no candidate can be in two pairs.
 */
#pragma once

#include "base/map.h"

/* ---- by score ---- */

struct fz_rank {
	double best, second;
};

void fz_rank_note(struct fz_rank *r, double score);
/* Whether the score is the best recorded one, at least by this lead. */
bool fz_rank_leads(const struct fz_rank *r, double score, double lead);

/* ---- by votes ---- */

struct fz_vote {
	uint32_t base, head, count;
	bool is_mutual; /* each has more votes for the other than for any third */
};

struct fz_ballot {
	struct fz_vote *votes;
	uint32_t n, cap;
	struct fz_map map; /* pair -> vote */
};

void fz_ballot_cast(struct fz_ballot *b, uint32_t base, uint32_t head);
/* Sets is_mutual; candidates are numbered below n. */
void fz_ballot_count(struct fz_ballot *b, uint32_t n);
void fz_ballot_release(struct fz_ballot *b);
