/* SPDX-License-Identifier: MIT */
/* Shared by the benchmark pages: one document, web/gate.html, and its parts. */
#pragma once

#include "serve/results.h"

struct fz_gate_page {
	struct fz_buf title, subtitle, content; /* HTML */
	bool asks_token;                        /* changes require a token */
};
void fz_gate_page_release(struct fz_gate_page *p);
/* Write the whole document as the response. */
void fz_gate_page_write(const struct fz_gate_page *p, struct fz_http_answer *ret);

void fz_gate_text(struct fz_buf *out, const char *text);
/* Append "2026-11-23 06:15". */
void fz_gate_time(struct fz_buf *out, int64_t unix_seconds);
/* Append the first ten digits of a hash, linked to its page unless `pages` is "". */
void fz_gate_commit(struct fz_buf *out, const char *pages, const char *hash);
/* Append path?repository=R, and name=value unless value is NULL; escaped. */
void fz_gate_address(struct fz_buf *out, const char *path, const char *repository, const char *name,
		     const char *value);
