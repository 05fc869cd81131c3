/* SPDX-License-Identifier: MIT */
/* Graph of waits: joined by the waiting function and the one that ended the wait, over all kinds of
 * waits and lines.
 *
 *   fetch --lock 1.2 s, GIL 0.1 s--> refresh --socket 0.9 s--> answer
 *
 * The ender of a wait is known by name, file and first line (profile/waits.h), which also identify
 * a node that both waits and ends waits. */
#pragma once

#include "profile/waits.h"

struct fz_wait_edge {
	uint32_t function;  /* the waiting function; FZ_NONE: no code of its own */
	uint32_t by;        /* one of the markers that name the ender */
	struct fz_str name; /* of the ender; borrowed from the profile */
	uint32_t ender;     /* the same number for all waits that one function ended */
	uint64_t n;
	int64_t ns, kind_ns[FZ_WAIT_KINDS];
};

struct fz_wait_graph {
	/* by ender, in descending order of total time, then of own time */
	struct fz_wait_edge *edges;
	uint32_t n, cap;
};

/* Builds the graph from a table of waits of the profile, without waits of unknown ender. */
void fz_wait_graph_init(struct fz_wait_graph *g, const struct fz_profile *p,
			const struct fz_wait_table *t);
void fz_wait_graph_release(struct fz_wait_graph *g);
/* "refresh" for the marker "<lock released by refresh>" of that kind. */
struct fz_str fz_wait_ender(const struct fz_profile *p, uint32_t by, enum fz_wait kind);
/* Key of a function as in such markers, which have its file and first line, and its name
 * separately. */
uint64_t fz_wait_ender_key(struct fz_str name, const struct fz_function *f);
