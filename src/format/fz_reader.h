/* SPDX-License-Identifier: MIT */
/* What the readers of .fz's blocks share. */
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

/* A length and so many bytes; borrowed from the block. */
static inline struct fz_str fz_file_text(struct fz_cursor *c)
{
	uint64_t n = fz_cursor_varint(c);
	const uint8_t *p = fz_cursor_bytes(c, n);

	return p ? (struct fz_str){ (const char *)p, n } : FZ_STR("");
}

/* All that is left, as text. */
static inline struct fz_str fz_file_rest(const struct fz_cursor *c)
{
	return (struct fz_str){ (const char *)c->p, fz_cursor_left(c) };
}

/* The recorded graph of calls, as far as it was read. */
struct fz_file_graph_reader {
	struct fz_profile *p;
	const struct fz_file_table *strings, *frames;
	struct fz_callgraph *graph;
	uint32_t whole[FZ_FZ_GRAPHS], done[FZ_FZ_GRAPHS]; /* entries */
};

/* False: the block makes no sense. */
bool fz_file_graph_read(struct fz_file_graph_reader *r, struct fz_cursor *c);
/* Give the profile the graph, unless something of it or of the file is missing. */
void fz_file_graph_finish(struct fz_file_graph_reader *r, bool damaged);

/* Into the profile. False: the block makes no sense. */
bool fz_file_wakes_read(struct fz_profile *p, const struct fz_file_table *threads, int64_t quantum,
			struct fz_cursor *c);

/* Into the profile. A block that has facts has them all: what is not there any more was taken back.
 * False: it makes no sense from some point on; what came before is kept. */
bool fz_file_read_facts(struct fz_profile *p, const struct fz_file_table *threads,
			struct fz_cursor *c);
