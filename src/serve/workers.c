/* SPDX-License-Identifier: MIT */
/* For new work a thread is started unless the limit is reached; otherwise the work waits. A thread
 * takes waiting work until there is none, then ends, so an idle server has no threads.
 *
 * Work waits only while all threads run, so no work is left behind when threads end.
 */
#include "serve/workers.h"

#include "base/base.h"

struct start {
	struct fz_workers *workers;
	struct fz_work *work;
};

static struct fz_work *take(struct fz_workers *w)
{
	struct fz_work *work;

	pthread_mutex_lock(&w->lock);
	work = w->first;
	if (work) {
		fz_assert(w->waiting_n > 0);
		w->first = work->next;
		w->last = w->first ? w->last : &w->first;
		w->waiting_n--;
	} else {
		w->thread_n--;
		pthread_cond_broadcast(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return work;
}

static void *work_on(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	for (struct fz_work *work = start.work; work; work = take(start.workers))
		work->run(work);
	return NULL;
}

static bool start_thread(struct fz_workers *w, struct fz_work *work)
{
	struct start *start = fz_malloc(sizeof(*start));
	pthread_attr_t attributes;
	pthread_t thread;

	*start = (struct start){ w, work };
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool ok = pthread_create(&thread, &attributes, work_on, start) == 0;
	pthread_attr_destroy(&attributes);
	if (!ok)
		free(start);
	return ok;
}

void fz_workers_init(struct fz_workers *w, size_t thread_max, size_t waiting_max)
{
	*w = (struct fz_workers){ .thread_max = thread_max, .waiting_max = waiting_max };
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
}

bool fz_workers_do(struct fz_workers *w, struct fz_work *work)
{
	bool ok = false;

	work->next = NULL;
	pthread_mutex_lock(&w->lock);
	if (!w->closed && w->thread_n < w->thread_max)
		ok = start_thread(w, work);
	if (ok) {
		w->thread_n++;
	} else if (!w->closed && w->thread_n && w->waiting_n < w->waiting_max) {
		*w->last = work;
		w->last = &work->next;
		w->waiting_n++;
		ok = true;
	}
	pthread_mutex_unlock(&w->lock);
	return ok;
}

void fz_workers_close(struct fz_workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	while (w->thread_n)
		pthread_cond_wait(&w->done, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

void fz_workers_release(struct fz_workers *w)
{
	fz_assert(!w->thread_n && !w->first);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
}
