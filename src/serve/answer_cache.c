/* SPDX-License-Identifier: MIT */
/* A list of at most FZ_ANSWERS answers; see answer_cache.h. Comparing a key with all others takes
 * microseconds, an answer milliseconds or more. */
#include "serve/answer_cache.h"

void fz_answer_cache_init(struct fz_answer_cache *c)
{
	*c = (struct fz_answer_cache){ 0 };
	pthread_mutex_init(&c->lock, NULL);
}

static void drop(struct fz_answer_cache *c, uint32_t i)
{
	c->bytes -= c->list[i].key_n + c->list[i].body_n;
	free(c->list[i].key);
	free(c->list[i].body);
	c->list[i] = c->list[--c->n];
}

void fz_answer_cache_release(struct fz_answer_cache *c)
{
	while (c->n)
		drop(c, 0);
	fz_assert(c->bytes == 0);
	pthread_mutex_destroy(&c->lock);
}

static struct fz_kept_answer *find(struct fz_answer_cache *c, struct fz_str key)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (fz_str_eq((struct fz_str){ c->list[i].key, c->list[i].key_n }, key))
			return &c->list[i];
	return NULL;
}

bool fz_answer_cache_get(struct fz_answer_cache *c, struct fz_str key, struct fz_http_answer *ret)
{
	pthread_mutex_lock(&c->lock);
	struct fz_kept_answer *kept = find(c, key);
	if (kept) {
		fz_buf_add(&ret->body, kept->body, kept->body_n);
		ret->type = kept->type;
		ret->policy = kept->policy;
		kept->used = ++c->uses;
	}
	pthread_mutex_unlock(&c->lock);
	return kept != NULL;
}

static void drop_oldest(struct fz_answer_cache *c)
{
	uint32_t oldest = 0;

	fz_assert(c->n > 0);
	for (uint32_t i = 1; i < c->n; i++)
		if (c->list[i].used < c->list[oldest].used)
			oldest = i;
	drop(c, oldest);
}

void fz_answer_cache_put(struct fz_answer_cache *c, struct fz_str key,
			 const struct fz_http_answer *answer)
{
	struct fz_str body = fz_buf_view(&answer->body);
	size_t bytes = key.n + body.n;

	if (bytes > FZ_ANSWERS_BYTES / 4)
		return;
	pthread_mutex_lock(&c->lock);
	/* Another thread may have computed the same answer meanwhile. */
	if (!find(c, key)) {
		while (c->n == FZ_ANSWERS || c->bytes + bytes > FZ_ANSWERS_BYTES)
			drop_oldest(c);
		c->list[c->n++] = (struct fz_kept_answer){ .key = fz_strndup(key.p, key.n),
							   .key_n = key.n,
							   .body = fz_strndup(body.p, body.n),
							   .body_n = body.n,
							   .type = answer->type,
							   .policy = answer->policy,
							   .used = ++c->uses };
		c->bytes += bytes;
	}
	pthread_mutex_unlock(&c->lock);
}
