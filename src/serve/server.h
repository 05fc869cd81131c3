/* SPDX-License-Identifier: MIT */
/* Shared by the request handlers of the server. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "fleet/files.h"
#include "fleet/fleet.h"
#include "fleet/results.h"
#include "fleet/sides.h"
#include "format/format.h"
#include "compare/diff.h"
#include "serve/answer_cache.h"
#include "serve/group_commit.h"
#include "serve/http.h"
#include "serve/serve.h"
#include "serve/watcher.h"

struct fz_server {
	struct fz_serve_options options;
	struct fz_fleet *writer;
	pthread_mutex_t writing; /* of writer */
	struct fz_group_commit commits;
	struct fz_results *results; /* NULL: no benchmarks are kept */
	pthread_mutex_t results_writing;
	struct fz_server_tokens {
		struct fz_server_tokens *earlier; /* requests may still refer to them */
		struct fz_tokens tokens;
	} * tokens;                 /* those in use; NULL: not required */
	struct fz_watcher *watcher; /* NULL: not started */
	struct fz_files *files;     /* NULL: no whole files are kept */
	struct fz_answer_cache answers;
	struct fz_budget memory; /* for profiles that are read */
	sem_t work;              /* limits how many threads read profiles or compare at once */
	int64_t started;         /* ns since 1970 */
	struct {
		atomic_ullong stored, known, refused, failed; /* pushes */
		atomic_ullong bytes, samples, unlabelled;     /* of stored pushes */
		atomic_ullong cached, computed;               /* answers */
	} figures;
	void (*say)(const char *text);
};

/* Locks, the group commit and the cache of a server without requests. */
void fz_server_init_locks(struct fz_server *s);
void fz_server_release_locks(struct fz_server *s);

/* A push, its times and its body; texts are borrowed. */
struct fz_server_push {
	struct fz_fleet_push to;
	int64_t start_unix_ns;          /* if the body has no start; 0: now */
	int64_t duration_ns;            /* if the body has no duration; 0: unknown */
	double hertz;                   /* if the body has no interval; 0: unknown */
	bool may_be_idle;               /* accept a profile without samples */
	const struct fz_format *format; /* of the body; NULL: detect it */
	struct fz_str body;
	struct fz_budget_part *memory; /* of the request */
};
struct fz_server_pushed {
	enum fz_fleet_put put;
	uint32_t minutes;
	int64_t samples;
	uint64_t unlabelled;   /* samples whose labels are not kept */
	int64_t start_unix_ns; /* of its first minute */
};

/* Enclose work that takes memory and time, so that only a few threads do it at once. Must not be
 * nested. */
void fz_server_begin_work(struct fz_server *s);
void fz_server_end_work(struct fz_server *s);
/* The memory that one request may take for reading its body: half of the total. Release it when the
 * data that was read is freed. */
struct fz_budget_part fz_server_memory(struct fz_server *s);
/* Open a body, compressed or not, for reading within that memory; an empty one is an error. */
int fz_server_open_body(struct fz_str body, struct fz_budget_part *memory, struct fz_input **ret,
			struct fz_error *err);
/* Read a profile in any supported format and store it. An id of "" is derived from the content. */
int fz_server_store(struct fz_server *s, const struct fz_server_push *push,
		    struct fz_server_pushed *ret, struct fz_error *err);

struct fz_server_item {
	struct fz_server_push push;
	/* results */
	struct fz_server_pushed pushed;
	int result;
	struct fz_error err;
};
/* Store several pushes, each as if alone, but with one write to disk. All are in memory until
 * then. */
void fz_server_store_all(struct fz_server *s, struct fz_server_item *items, size_t n);

/* Keep the body of a push unchanged. *ret: does this server keep recordings? */
int fz_server_keep(struct fz_server *s, const struct fz_server_push *push,
		   const struct fz_server_pushed *pushed, bool *ret, struct fz_error *err);

/* Read label=, since=, until= and metric= of a request; texts borrow from the request and `labels`.
 */
int fz_server_take_query(const struct fz_http_request *q, struct fz_buf *labels,
			 struct fz_fleet_query *ret, struct fz_error *err);

/* A question about the store's data: a comparison, or a service over time. */
struct fz_server_question {
	struct fz_fleet *f; /* the store as of one instant */
	struct fz_fleet_query query;
	struct fz_buf labels;
	const char *texts[FZ_SIDES];         /* as in the request */
	struct fz_fleet_side side[FZ_SIDES]; /* of a comparison */
	struct fz_buf key;                   /* all of it, and the state of the data */
	bool cacheable;                      /* the state is known */
};

/* A kind of answer. */
struct fz_server_answer {
	const char *name;
	bool of_service; /* else of two sides */
	int (*write)(const struct fz_server_question *k, const struct fz_http_request *q,
		     struct fz_http_answer *ret, struct fz_error *err);
};

enum { FZ_TIMELINE_ALARMS = 100 };
/* A service over time as JSON. */
int fz_server_timeline(const struct fz_server_question *k, const struct fz_http_request *q,
		       struct fz_http_answer *ret, struct fz_error *err);

/* ---- handlers of routes; `arg` is the struct fz_server ---- */

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
