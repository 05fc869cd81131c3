/* SPDX-License-Identifier: MIT */
/* Runs of `fizeau ci` on the server: shared by the API and the pages. */
#pragma once

#include "bench/report.h"
#include "fleet/results.h"
#include "serve/server.h"

/* A handle to read with; FZ_EINPUT: this server keeps no benchmarks. */
int fz_server_open_results(const struct fz_server *s, struct fz_results **ret,
			   struct fz_error *err);

/* A run with its verdicts, as they are with what was acknowledged since. Texts are the arena's. */
struct fz_server_run {
	struct fz_ci_result result;
	int64_t id, received; /* received: seconds since 1970 */
	const char *repository, *commit_pages, *pull, *branch, *into, *patch, *head, *base;
	const char *subject;
	const char *report; /* as it came */
};
/* 1: it is in ret, to be released; 0: there is none. */
int fz_server_find_run(struct fz_results *r, const struct fz_results_query *q,
		       struct fz_server_run *ret, struct fz_error *err);
void fz_server_run_release(struct fz_server_run *run);

/* repository=, and what says which run of it: run=, pull=, commit= or branch=; without any of them
 * the branch of which most commits are known. `branch` keeps that one's name. */
int fz_server_take_run_query(struct fz_results *r, const struct fz_http_request *q,
			     struct fz_buf *branch, struct fz_results_query *ret,
			     struct fz_error *err);
/* "passed", "failed" or "not known". */
const char *fz_server_run_status(const struct fz_ci_result *r);

/* A hash of a commit, or 7 digits of it or more. */
bool fz_server_is_hash(const char *text);
/* A line of plain text that is not too long; it may be empty. */
int fz_server_check_text(const char *what, const char *text, struct fz_error *err);

/* 404: there is no such run. */
void fz_server_no_run(struct fz_http_answer *ret);
/* What `write` makes of a request, or why not, among the few that may work at once. It returns an
 * error, or what is no error. */
void fz_server_answer(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret,
		      int (*write)(struct fz_server *s, const struct fz_http_request *q,
				   struct fz_http_answer *ret, struct fz_error *err));
