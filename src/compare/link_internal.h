/* SPDX-License-Identifier: MIT */
/* Shared by the stages that find partners for orphans; see link.c. */
#pragma once

#include "compare/code.h"
#include "compare/stages.h"

struct fz_linker {
	struct fz_diff *d;
	struct fz_name *const *names;
	const bool *fixed;
	struct fz_code *code;
	const bool *elsewhere; /* of an orphan: the other side has it or its file */
	int32_t *const *lines; /* of a profile function, by side */
	uint32_t n;            /* functions */
	uint32_t *partner;     /* itself if both sides have it; FZ_NONE if still an orphan */
	uint32_t *name_id;     /* of orphans: the same number for the same name and kind */
	uint32_t *file_id;
	uint32_t file_count;
	uint32_t *moved_to; /* of a base file: its match in the head, or FZ_NONE */
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

/* Whether a function has no partner and may have one, unless the other side has it as well. */
static inline bool fz_link_is_free(const struct fz_linker *l, uint32_t f)
{
	return fz_link_is_orphan(l, f) && !l->fixed[f] && fz_link_kind(l, f) != FZ_KIND_MARKER;
}

static inline bool fz_link_allowed(const struct fz_linker *l, uint32_t f)
{
	return fz_link_is_free(l, f) && !l->elsewhere[f];
}

/* The head's function of a matched neighbour, or the root; else FZ_NONE. */
static inline uint32_t fz_link_known(const struct fz_linker *l, uint32_t neighbour)
{
	if (neighbour == l->n || fz_link_is_orphan(l, neighbour))
		return neighbour == l->n ? l->n : FZ_NONE;
	return l->d->functions[neighbour].on_side[FZ_HEAD] == FZ_NONE ? l->partner[neighbour]
								      : neighbour;
}

static inline void fz_link_pair(struct fz_linker *l, uint32_t base, uint32_t head,
				enum fz_link_how how, double score)
{
	fz_assert(fz_link_side(l, base) == FZ_BASE && fz_link_side(l, head) == FZ_HEAD);
	l->partner[base] = head;
	l->partner[head] = base;
	l->d->functions[head].link = (struct fz_link){ .how = (uint8_t)how, .score = score };
}

/* Least similarity of the bodies of linked functions: with equal last names, and with names that
 * are alike. */
#define FZ_LIKE_NAMESAKES 0.30
#define FZ_LIKE_OTHERS 0.45

/* ---- link_names.c ---- */

/* Whether a name is <lambda>, <module> or similar, qualified or not. */
bool fz_link_is_anonymous(struct fz_str name);
/* Whether a name is anonymous, or one that every class has. */
bool fz_link_is_generic(struct fz_str name);
/* Whether a file has a base name that every project has. */
bool fz_link_is_generic_file(struct fz_str file);
/* Whether the last components are versions of one name. */
bool fz_link_alike(struct fz_str a, struct fz_str b);

/* ---- link_body.c ---- */

/* Whether both bodies are known and too different for one function. */
bool fz_link_contradicted(const struct fz_linker *l, uint32_t base, uint32_t head);

/* ---- link_graph.c ---- */

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
	uint32_t *caller; /* of each function: its only caller, else FZ_NONE */
	double *size;     /* of each function: weight, scaled */
	double *samples;  /* samples with the function */
};

void fz_link_graph_init(const struct fz_linker *l, enum fz_side side, struct fz_link_graph *g);
void fz_link_graph_release(struct fz_link_graph *g);

/* The matched functions next to an orphan in its file; FZ_NONE: unknown. */
struct fz_link_place {
	uint32_t before, after;
};

/* Returns, per function, the nearest matched functions of the file on other lines. */
struct fz_link_place *fz_link_places(const struct fz_linker *l, enum fz_side side);

/* Whether two orphans have a common matched caller or callee other than the root. */
bool fz_link_share_neighbour(const struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES],
			     uint32_t base, uint32_t head);

/* link_neighbours.c: links orphans by their callers and callees. */
void fz_link_neighbours(struct fz_linker *l, const struct fz_link_graph graph[FZ_SIDES]);

/* link_wakers.c: links markers of wakers by the links of the functions that they name. */
void fz_link_wakers(struct fz_linker *l);
