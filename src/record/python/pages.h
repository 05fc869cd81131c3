/* SPDX-License-Identifier: MIT */
/* Reading objects anywhere in the target's heap, as of one moment.
 *
 *   round n:   copy A of the pages that round n-1 used | ... read from it ... | copy B, compare
 *
 * Objects that point at each other cannot be copied in one call the first time, because their
 * addresses are unknown; the second time they can. Each piece that is read is recorded; if both
 * copies of it agree, it had that value at one moment. A new page is copied when it is first
 * needed.
 */
#pragma once

#include "base/map.h"
#include "record/process.h"

struct fz_py_piece {
	uint64_t at;
	uint32_t n;
};

struct fz_py_pages {
	struct fz_process *process;
	struct fz_py_page {
		uint64_t at;
		uint32_t used; /* round */
		bool young;    /* copied later than the others of this round */
	} * list;
	uint32_t n, cap;
	struct fz_map by_address;
	uint32_t hints[64]; /* indices by the page's number: objects of a kind are adjacent */
	uint8_t *a, *b;
	size_t a_size, b_size;
	struct fz_py_piece *pieces;
	uint32_t piece_n, piece_cap;
	uint32_t round;
	bool changed; /* the list needs sorting */
};

void fz_py_pages_release(struct fz_py_pages *p);
/* Start a new round, without pieces. fresh: also forget the pages of earlier rounds. */
void fz_py_pages_begin(struct fz_py_pages *p, bool fresh);
/* Read from copy A, at most a page. False if the memory is gone. */
bool fz_py_pages_read(struct fz_py_pages *p, uint64_t at, void *out, uint32_t n);
/* The same for data that may change; it is not compared later. */
bool fz_py_pages_glance(struct fz_py_pages *p, uint64_t at, void *out, uint32_t n);
/* Take copy B. False if memory is gone. */
bool fz_py_pages_confirm(struct fz_py_pages *p);
/* After that: are pieces [from, to) the same in both copies? old: were they also copied at the
 * start of the round? */
bool fz_py_pages_agree(const struct fz_py_pages *p, uint32_t from, uint32_t to, bool old);
