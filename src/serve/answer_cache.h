/* SPDX-License-Identifier: MIT */
/* A cache of answers computed from the store.
 *
 * A key contains the question and the state of the data (fz_fleet_state), so an answer is never
 * outdated: after a change the question has another key. The least recently used answers are
 * dropped first. All functions may be called from any thread.
 */
#pragma once

#include <pthread.h>

#include "serve/http.h"

enum { FZ_ANSWERS_BYTES = 64 << 20, FZ_ANSWERS = 1000 };

struct fz_answer_cache {
	pthread_mutex_t lock;
	struct fz_kept_answer {
		char *key, *body;
		size_t key_n, body_n;
		const char *type, *policy; /* constants */
		uint64_t used;             /* larger: later */
	} list[FZ_ANSWERS];
	uint32_t n;
	size_t bytes; /* of all keys and bodies; at most FZ_ANSWERS_BYTES */
	uint64_t uses;
};

void fz_answer_cache_init(struct fz_answer_cache *c);
void fz_answer_cache_release(struct fz_answer_cache *c);
/* Append a known answer's body to ret. */
bool fz_answer_cache_get(struct fz_answer_cache *c, struct fz_str key, struct fz_http_answer *ret);
/* Stores an answer, unless it is larger than a quarter of the cache. */
void fz_answer_cache_put(struct fz_answer_cache *c, struct fz_str key,
			 const struct fz_http_answer *answer);
