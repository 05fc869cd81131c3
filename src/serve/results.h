/* SPDX-License-Identifier: MIT */
/* Runs of `fizeau ci` on the server: shared by the API and the pages. */
#pragma once

#include "bench/report.h"
#include "fleet/results.h"
#include "serve/server.h"

/* Open a handle for reading. FZ_EINPUT if this server keeps no benchmarks. */
int fz_server_open_results(const struct fz_server *s, struct fz_results **ret,
			   struct fz_error *err);

/* A run with its verdicts, including changes accepted since. Texts are in the result's arena.
 */
struct fz_server_run {
	struct fz_ci_result result;
	int64_t id, received; /* received: seconds since 1970 */
	const char *repository, *commit_pages, *pull, *branch, *into, *patch, *head, *base;
	const char *subject;
	const char *report; /* report.json as received */
};
/* Returns 1 with a run that the caller releases, or 0 if there is none. */
int fz_server_find_run(struct fz_results *r, const struct fz_results_query *q,
		       struct fz_server_run *ret, struct fz_error *err);
void fz_server_run_release(struct fz_server_run *run);

/* Read the parameters repository= and run=, pull=, commit= or branch=; the default is the branch
 * with most commits, whose name is stored in `branch`. */
int fz_server_parse_run_query(struct fz_results *r, const struct fz_http_request *q,
			      struct fz_buf *branch, struct fz_results_query *ret,
			      struct fz_error *err);
/* "passed", "failed" or "not known". */
const char *fz_server_run_status(const struct fz_ci_result *r);

/* Is it a commit hash, or at least 7 digits of one? */
bool fz_server_is_hash(const char *text);
/* Check a line of plain text of limited length; it may be empty. */
int fz_server_check_text(const char *what, const char *text, struct fz_error *err);

/* Respond with 404: no such run. */
void fz_server_no_run(struct fz_http_answer *ret);
/* Respond with the output of `write` or its error, within fz_server_begin_work and
 * fz_server_end_work. `write` returns an error if below 0. */
void fz_server_answer(struct fz_server *s, const struct fz_http_request *q,
		      struct fz_http_answer *ret,
		      int (*write)(struct fz_server *s, const struct fz_http_request *q,
				   struct fz_http_answer *ret, struct fz_error *err));
