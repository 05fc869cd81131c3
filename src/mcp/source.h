/* SPDX-License-Identifier: MIT */
/* The recorded source of functions, and the differences between two versions. */
#pragma once

#include "compare/outline.h"
#include "mcp/subject.h"

/* Lines of a function; `first` is the number of the first one. */
struct fz_mcp_body {
	struct fz_str *lines;
	int32_t first;
	uint32_t n;
};

/* Finds the text of functions of a profile; n is 0 if it was not recorded or the function's end is
 * unknown. Caches outlines. */
struct fz_mcp_source {
	const struct fz_profile *profile;
	struct fz_outline *outlines; /* by source */
	bool *outlined;
};
void fz_mcp_source_init(struct fz_mcp_source *s, const struct fz_profile *p);
void fz_mcp_source_release(struct fz_mcp_source *s);
void fz_mcp_source_body(struct fz_mcp_source *s, uint32_t function, struct fz_mcp_body *ret);
void fz_mcp_body_release(struct fz_mcp_body *b);
/* A line of the file of a function, inside or outside of the function; "" if unknown. */
struct fz_str fz_mcp_source_line(const struct fz_mcp_source *s, uint32_t function, int32_t line);

bool fz_mcp_body_equal(const struct fz_mcp_body *a, const struct fz_mcp_body *b);

/* A line of one text, or an equal line of both. */
struct fz_mcp_line {
	int32_t line[FZ_SIDES]; /* 0: not on this side */
	struct fz_str text;
};
/* Merge both texts in order, with removed lines before the added ones. The caller frees. */
struct fz_mcp_line *fz_mcp_body_align(const struct fz_mcp_body *base,
				      const struct fz_mcp_body *head, uint32_t *ret_n);
