/* SPDX-License-Identifier: MIT */
/* The recorded source of functions, and the differences between two versions. */
#pragma once

#include "compare/outline.h"
#include "mcp/subject.h"

/* Lines of a function, one of `first` on. */
struct fz_mcp_body {
	struct fz_str *lines;
	int32_t first;
	uint32_t n;
};

/* The text of a function of a profile; none (n is 0) where the recording has none, or where it is
 * not known where the function ends. Outlines are kept for the next one. */
struct fz_mcp_source {
	const struct fz_profile *profile;
	struct fz_outline *outlines; /* by source */
	bool *outlined;
};
void fz_mcp_source_init(struct fz_mcp_source *s, const struct fz_profile *p);
void fz_mcp_source_release(struct fz_mcp_source *s);
void fz_mcp_source_body(struct fz_mcp_source *s, uint32_t function, struct fz_mcp_body *ret);
void fz_mcp_body_release(struct fz_mcp_body *b);
/* A line of the file that a function is in, wherever the function ends; "": there is none. */
struct fz_str fz_mcp_source_line(const struct fz_mcp_source *s, uint32_t function, int32_t line);

bool fz_mcp_body_equal(const struct fz_mcp_body *a, const struct fz_mcp_body *b);

/* A line of either text, or of both where they say the same. */
struct fz_mcp_line {
	int32_t line[FZ_SIDES]; /* 0: not there */
	struct fz_str text;
};
/* Both texts as one, in order; what was removed stands before what came in its place. The caller
 * frees. */
struct fz_mcp_line *fz_mcp_body_align(const struct fz_mcp_body *base,
				      const struct fz_mcp_body *head, uint32_t *ret_n);
