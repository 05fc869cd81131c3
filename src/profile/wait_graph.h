/* SPDX-License-Identifier: MIT */
/* Who waits for whom: waits joined by the function that waits and the one that ended them, whatever
 * was waited for and in which line.
 *
 *   fetch --lock 1.2 s, GIL 0.1 s--> refresh --socket 0.9 s--> answer
 *
 * What ended a wait is known by name, file and first line (profile/waits.h), so a node that others
 * wait for and that waits itself is the same by these. */
#pragma once

#include "profile/waits.h"

struct fz_wait_edge {
	uint32_t function;  /* that waits; FZ_NONE: no code of its own */
	uint32_t by;        /* one of the markers that say who ended it */
	struct fz_str name; /* of who did; borrowed from the profile */
	uint32_t ender;     /* the same number for all that one function ended */
	uint64_t n;
	int64_t ns, kind_ns[FZ_WAIT_KINDS];
};

struct fz_wait_graph {
	struct fz_wait_edge *edges; /* by who ended them, whoever made others wait longest first; of
				       one, most time first */
	uint32_t n, cap;
};

/* Of a table of waits of that profile; those that nobody is known to have ended are not in it. */
void fz_wait_graph_init(struct fz_wait_graph *g, const struct fz_profile *p,
			const struct fz_wait_table *t);
void fz_wait_graph_release(struct fz_wait_graph *g);
/* "refresh" of the marker "<lock released by refresh>" of such a kind. */
struct fz_str fz_wait_ender(const struct fz_profile *p, uint32_t by, enum fz_wait kind);
/* A function as those markers know it, which have its file and first line and, apart, its name. */
uint64_t fz_wait_ender_key(struct fz_str name, const struct fz_function *f);
