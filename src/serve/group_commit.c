/* SPDX-License-Identifier: MIT */
/* A disk does a few hundred synchronised writes per second, however small they are. Requests that
 * arrive during a write wait for its end; then one of them writes the data of all.
 *
 *   a  |== writes a ==|
 *   b     ............|== writes b, c, d ==|
 *   c        .........|....................|
 *   d              ...|....................|
 *
 * Each request returns after the write with its data has reached the disk.
 */
#include "serve/group_commit.h"

enum { TOGETHER = 256 };

struct fz_commit {
	struct fz_commit *next;
	struct fz_fleet_item *item;
	bool done;
};

void fz_commits_init(struct fz_group_commit *c)
{
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, NULL);
}

void fz_commits_release(struct fz_group_commit *c)
{
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
}

/* Take waiting commits, at most TOGETHER, oldest first. */
static size_t take(struct fz_group_commit *c, struct fz_commit *ret[TOGETHER])
{
	size_t n = 0;

	while (c->waiting && n < TOGETHER) {
		ret[n++] = c->waiting;
		c->waiting = c->waiting->next;
	}
	return n;
}

static void lead(struct fz_group_commit *c, struct fz_fleet *f, pthread_mutex_t *writing)
{
	struct fz_commit *taken[TOGETHER];
	struct fz_fleet_item *items[TOGETHER];
	size_t n = take(c, taken);

	fz_assert(!c->leading && n > 0);
	c->leading = true;
	pthread_mutex_unlock(&c->lock);
	for (size_t i = 0; i < n; i++)
		items[i] = taken[i]->item;
	pthread_mutex_lock(writing);
	fz_fleet_put_all(f, items, n);
	pthread_mutex_unlock(writing);
	pthread_mutex_lock(&c->lock);
	c->leading = false;
	for (size_t i = 0; i < n; i++)
		taken[i]->done = true;
	pthread_cond_broadcast(&c->done);
}

static bool are_done(const struct fz_commit *own, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!own[i].done)
			return false;
	return true;
}

void fz_commits_put(struct fz_group_commit *c, struct fz_fleet *f, pthread_mutex_t *writing,
		    struct fz_fleet_item *const *items, size_t n)
{
	fz_auto(fz_free_ptr) struct fz_commit *own = fz_calloc(FZ_MAX(n, 1), sizeof(*own));
	struct fz_commit **last = &c->waiting;

	pthread_mutex_lock(&c->lock);
	while (*last)
		last = &(*last)->next;
	for (size_t i = 0; i < n; i++) {
		own[i].item = items[i];
		*last = &own[i];
		last = &own[i].next;
	}
	while (!are_done(own, n)) {
		if (c->leading)
			pthread_cond_wait(&c->done, &c->lock);
		else
			lead(c, f, writing);
	}
	pthread_mutex_unlock(&c->lock);
}
