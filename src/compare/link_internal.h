/* SPDX-License-Identifier: MIT */
/* What the ways to find partners for orphans share; link.c has the whole picture. */
#pragma once

#include "compare/code.h"
#include "compare/internal.h"

struct fz_linker {
	struct fz_diff *d;
	struct fz_name *const *names;
	const bool *fixed;
	struct fz_code *code;
	const bool *elsewhere; /* of an orphan: the other side has it, too, or its file */
	int32_t *const *lines; /* of a profile function, by side */
	uint32_t n;            /* functions */
	uint32_t *partner;     /* both sides have it: itself; FZ_NONE: still an orphan */
	uint32_t *name_id;     /* of orphans: equal names and kinds, equal numbers */
	uint32_t *file_id;
	uint32_t file_count;
	uint32_t *moved_to; /* of a file of the base: the file of the head; FZ_NONE */
	double *moved_score;
};

static inline enum fz_side fz_link_side(const struct fz_linker *l, uint32_t f)
{
	return l->d->functions[f].on_side[FZ_BASE] == FZ_NONE ? FZ_HEAD : FZ_BASE;
}

static inline const struct fz_name *fz_link_name(const struct fz_linker *l, uint32_t f)
{
	enum fz_side side = fz_link_side(l, f);

	return &l->names[side][l->d->functions[f].on_side[side]];
}

static inline uint8_t fz_link_kind(const struct fz_linker *l, uint32_t f)
{
	enum fz_side side = fz_link_side(l, f);

	return l->d->profile[side]->functions[l->d->functions[f].on_side[side]].kind;
}

static inline bool fz_link_is_orphan(const struct fz_linker *l, uint32_t f)
{
	return l->partner[f] == FZ_NONE;
}

static inline bool fz_link_allowed(const struct fz_linker *l, uint32_t f)
{
	return fz_link_is_orphan(l, f) && !l->fixed[f] && !l->elsewhere[f] &&
	       fz_link_kind(l, f) != FZ_KIND_MARKER;
}

/* The head's function that a neighbour is, matched or the root; else FZ_NONE. */
static inline uint32_t fz_link_known(const struct fz_linker *l, uint32_t neighbour)
{
	if (neighbour == l->n || fz_link_is_orphan(l, neighbour))
		return neighbour == l->n ? l->n : FZ_NONE;
	return l->d->functions[neighbour].on_side[FZ_HEAD] == FZ_NONE ? l->partner[neighbour]
								      : neighbour;
}

void fz_link_pair(struct fz_linker *l, uint32_t base, uint32_t head, enum fz_link_how how,
		  double score);

/* How alike bodies must be to be one function's: of functions with the same last name, and of
 * others whose names are alike at least. */
#define FZ_LIKE_NAMESAKES 0.30
#define FZ_LIKE_OTHERS 0.45

/* Both bodies are known, and they are too unlike to be one function's. */
bool fz_link_contradicted(const struct fz_linker *l, uint32_t base, uint32_t head);

/* ---- link_names.c: what names say ---- */

/* The last component of a qualified name. */
struct fz_str fz_link_tail(struct fz_str name);
/* <lambda>, <module> and their like, qualified or not. */
bool fz_link_is_anonymous(struct fz_str name);
/* Those of code that has no name of its own, or a name that every class has. */
bool fz_link_says_nothing(struct fz_str name);
/* A base name that every project has. */
bool fz_link_file_says_nothing(struct fz_str file);
/* Whether the last components are versions of one name. */
bool fz_link_alike(struct fz_str a, struct fz_str b);

/* ---- link_body.c: what sources say ---- */

void fz_link_bodies(struct fz_linker *l, bool no_rename);
/* How alike the bodies of two orphans are; -1 where one is not known. */
double fz_link_similarity(const struct fz_linker *l, uint32_t base, uint32_t head);

/* ---- link_graph.c: what stands around orphans ---- */

enum fz_link_direction { FZ_LINK_CALLEES, FZ_LINK_CALLERS, FZ_LINK_DIRECTIONS };

struct fz_link_edge {
	uint32_t orphan, neighbour; /* functions; neighbour n: the root */
	uint8_t direction;
	double weight; /* then its share of the orphan's weight in that direction */
};

struct fz_link_graph {
	struct fz_link_edge *edges; /* by orphan, direction, neighbour */
	uint32_t n, cap;
	uint32_t *start;  /* of each function's edges; n + 1 entries */
	uint32_t *caller; /* of each function: the only one that calls it; else FZ_NONE */
	double *size;     /* of each function: weight, scaled */
	double *samples;  /* in which it was */
};

void fz_link_graph_init(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g);
void fz_link_graph_release(struct fz_link_graph *g);

/* The matched functions that stand next to an orphan in its file; FZ_NONE: not known. */
struct fz_link_place {
	uint32_t before, after;
};

/* The nearest matched function of the file on another line than each orphan's. */
struct fz_link_place *fz_link_places(const struct fz_linker *l, enum fz_side side);

/* Whether two orphans have a matched caller or callee in common; the root is none. */
bool fz_link_meet(const struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES],
		  uint32_t base, uint32_t head);

/* link_neighbours.c: links orphans whose callers and callees say that they are one. */
void fz_link_neighbours(struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES]);

/* link_wakers.c: links markers of who ended a wait by the links of the functions that they name. */
void fz_link_wakers(struct fz_linker *l);
