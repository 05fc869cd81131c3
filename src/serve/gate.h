/* SPDX-License-Identifier: MIT */
/* Shared by the benchmark pages: one document, web/gate.html, and its parts. */
#pragma once

#include "serve/results.h"

struct fz_gate_page {
	struct fz_buf title, subtitle, content; /* HTML */
	bool asks_token;                        /* whoever changes something has to show one */
};
void fz_gate_page_release(struct fz_gate_page *p);
/* The whole document, as the answer. */
void fz_gate_page_write(const struct fz_gate_page *p, struct fz_http_answer *ret);

void fz_gate_text(struct fz_buf *out, const char *text);
/* " · " before all but the first */
void fz_gate_dot(struct fz_buf *out);
/* "2026-11-23 06:15" */
void fz_gate_time(struct fz_buf *out, int64_t unix_seconds);
/* The first ten digits of a hash, which lead to its page where there are such. */
void fz_gate_commit(struct fz_buf *out, const char *pages, const char *hash);
/* An address of ours: path?repository=R, and name=value where that is not NULL; escaped. */
void fz_gate_address(struct fz_buf *out, const char *path, const char *repository, const char *name,
		     const char *value);
