/* SPDX-License-Identifier: MIT */
/* Two things at once; see both.h. */
#include "both.h"

#include <pthread.h>
#include <signal.h>

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

static bool start(pthread_t *thread, struct job *job)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(thread, NULL, run, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void fz_both(void (*work)(void *arg), void *first, void *second)
{
	struct job job = { work, second };
	pthread_t thread;
	bool started = start(&thread, &job);

	work(first);
	if (started)
		pthread_join(thread, NULL);
	else
		work(second); /* no room for a thread: one after the other */
}
