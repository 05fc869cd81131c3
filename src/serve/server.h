/* SPDX-License-Identifier: MIT */
/* What the answers of the server share. */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "fleet/fleet.h"
#include "serve/commits.h"
#include "serve/http.h"
#include "serve/serve.h"
#include "serve/watcher.h"

struct fz_server {
	struct fz_serve_options options;
	struct fz_fleet *writer;
	pthread_mutex_t writing; /* of writer */
	struct fz_commits commits;
	struct fz_watcher *watcher; /* NULL: nobody watches */
	sem_t work;                 /* how many may read profiles or compare at once */
	void (*say)(const char *text);
};

/* Who pushes, and when; texts are the caller's. */
struct fz_server_push {
	struct fz_fleet_push to;
	int64_t start_unix_ns; /* of what does not say so; 0: now */
	int64_t duration_ns;   /* likewise; 0: unknown */
	double hertz;          /* of samples without an interval; 0: unknown */
	struct fz_str body;
};
struct fz_server_pushed {
	enum fz_fleet_put put;
	uint32_t minutes;
	int64_t samples;
};

/* Read a profile in any format that is known, and store it. An id of "" is made of the content. */
int fz_server_store(struct fz_server *s, struct fz_server_push *push, struct fz_server_pushed *ret,
		    struct fz_error *err);

/* label=, since=, until= and metric= of a request; texts are the request's and the labels'. */
int fz_server_take_query(const struct fz_http_request *q, struct fz_buf *labels,
			 struct fz_fleet_query *ret, struct fz_error *err);
/* A service over time as JSON. */
int fz_server_timeline(struct fz_server *s, const struct fz_http_request *q,
		       struct fz_http_answer *ret, struct fz_error *err);

/* ---- what routes answer; `arg` is the struct fz_server ---- */

void fz_answer_push(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_ingest(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_push_v1(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_otlp(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_release(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_pair(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_home(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_diff(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_json(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_timeline(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
void fz_answer_service(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret);
