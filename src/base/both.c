/* SPDX-License-Identifier: MIT */
/* Run two jobs at once; see both.h. */
#include "both.h"

#include "thread.h"

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
