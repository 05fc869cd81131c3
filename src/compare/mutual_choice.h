/* SPDX-License-Identifier: MIT */
/*
 * Who is whose clear favourite. Two candidates of base and head are taken for one only where each
 * prefers the other to all others: no candidate can be in two such pairs.
 */
#pragma once

#include "base/map.h"

/* ---- by score ---- */

struct fz_rank {
	double best, second;
};

void fz_rank_note(struct fz_rank *r, double score);
/* It was the best that was noted, by this lead at least. */
bool fz_rank_leads(const struct fz_rank *r, double score, double lead);

/* ---- by votes ---- */

struct fz_vote {
	uint32_t base, head, count;
	bool is_mutual; /* both have more of them for each other than for any other */
};

struct fz_ballot {
	struct fz_vote *votes;
	uint32_t n, cap;
	struct fz_map map; /* of a pair: its vote */
};

void fz_ballot_cast(struct fz_ballot *b, uint32_t base, uint32_t head);
/* Sets is_mutual; numbers of candidates are below n. */
void fz_ballot_count(struct fz_ballot *b, uint32_t n);
void fz_ballot_release(struct fz_ballot *b);
