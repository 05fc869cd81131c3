/* SPDX-License-Identifier: MIT */
/* The handlers of all routes; `arg` is the struct fz_server. */
#pragma once

#include "serve/http.h"

void fz_answer_push(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_ingest(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_push_v1(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_otlp(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_release(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_pair(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_health(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_metrics(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_home(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_diff(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_json(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_timeline(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_service(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_recordings(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_recording(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_counts(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_count(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_keep_count(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
/* Benchmarks: results.c, accept.c, repository.c, change.c. */
void fz_answer_run(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_run_page(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_status(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_badge(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_accept(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_accepted(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_repositories(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_repository(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_change(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_report(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
