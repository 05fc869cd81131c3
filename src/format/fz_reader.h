/* SPDX-License-Identifier: MIT */
/* Shared by the readers of the blocks of .fz. */
#pragma once

#include "fz_layout.h"

/* Translation of a table: file index -> profile index, FZ_NONE where lost. */
struct fz_file_table {
	uint32_t *at;
	uint32_t n, cap;
};

static inline uint32_t fz_file_translate(const struct fz_file_table *t, uint64_t index)
{
	return index < t->n ? t->at[index] : FZ_NONE;
}

/* Reads a length and that many bytes; borrowed from the block. */
static inline struct fz_str fz_file_text(struct fz_cursor *c)
{
	uint64_t n = fz_cursor_varint(c);
	const uint8_t *p = fz_cursor_bytes(c, n);

	return p ? (struct fz_str){ (const char *)p, n } : FZ_STR("");
}

/* The remaining bytes. */
static inline struct fz_str fz_file_rest(const struct fz_cursor *c)
{
	return (struct fz_str){ (const char *)c->p, fz_cursor_left(c) };
}

/* The part of the recorded call graph that was read. */
struct fz_file_graph_reader {
	struct fz_profile *p;
	const struct fz_file_table *strings, *frames;
	struct fz_callgraph *graph;
	uint32_t whole[FZ_FZ_GRAPHS], done[FZ_FZ_GRAPHS]; /* entries */
};

/* False if the block is invalid. */
bool fz_file_graph_read(struct fz_file_graph_reader *r, struct fz_cursor *c);
/* Adds the graph to the profile, unless any part of it or of the file is missing. */
void fz_file_graph_finish(struct fz_file_graph_reader *r, bool damaged);

/* Adds wakes to the profile; false if the block is invalid. */
bool fz_file_wakes_read(struct fz_profile *p, const struct fz_file_table *threads, int64_t quantum,
			struct fz_cursor *c);

/* Sets the facts of the profile. A block with facts has all of them, so missing ones are removed.
 * False if invalid from some point on; earlier fields are kept. */
bool fz_file_read_facts(struct fz_profile *p, const struct fz_file_table *threads,
			struct fz_cursor *c);
