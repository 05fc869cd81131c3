/* SPDX-License-Identifier: MIT */
/* Shared by the stages that read sources: definitions that one side lost and the other gained. */
#pragma once

#include "compare/link_internal.h"

struct fz_body_entry {
	struct fz_code_place at;
	uint32_t other;    /* the other side's source of its file, or FZ_NONE */
	uint32_t function; /* its orphan; FZ_NONE if without samples */
	uint32_t partner;  /* entry; FZ_NONE */
	enum fz_side side;
	double namesake; /* similarity of the other side's code of its name; -1: none */
	double score;    /* of the pair */
	bool is_rival;   /* competes, but has its partner: both sides have it, with other code */
};

struct fz_bodies {
	struct fz_linker *l;
	struct fz_body_entry *entries; /* of the base, then of the head; by source and line */
	uint32_t n, cap;
	uint32_t start[FZ_SIDES + 1];
	struct fz_map functions[FZ_SIDES]; /* definition -> function */
	struct fz_map entry_of[FZ_SIDES];  /* definition -> entry */
	bool no_rename;
};

/* Collects the definitions and pairs those with similar bodies. */
void fz_bodies_init(struct fz_bodies *b, struct fz_linker *l, bool no_rename);
void fz_bodies_release(struct fz_bodies *b);

static inline bool fz_bodies_on_both(const struct fz_bodies *b)
{
	return b->start[FZ_HEAD] > 0 && b->n > b->start[FZ_HEAD];
}

const struct fz_definition *fz_body_definition(struct fz_bodies *b, const struct fz_body_entry *e);
/* Pairs two definitions, and their functions if both have samples. */
void fz_body_pair(struct fz_bodies *b, uint32_t base, uint32_t head, enum fz_link_how how,
		  double score);

/* link_scope.c: pairs members of renamed classes, functions and files. */
void fz_link_scopes(struct fz_bodies *b);
