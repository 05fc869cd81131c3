/* SPDX-License-Identifier: MIT */
/* Start threads, and do two jobs at once; see thread.h. */
#include "thread.h"

#include <signal.h>

bool fz_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(thread, NULL, run, arg) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

struct job {
	void (*work)(void *arg);
	void *arg;
};

static void *run(void *arg)
{
	const struct job *job = arg;

	job->work(job->arg);
	return NULL;
}

void fz_both(void (*work)(void *arg), void *first, void *second)
{
	struct job job = { work, second };
	pthread_t thread;
	bool started = fz_thread_start(&thread, run, &job);

	work(first);
	if (started)
		pthread_join(thread, NULL);
	else
		work(second); /* no thread available: sequentially */
}
