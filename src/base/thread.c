/* SPDX-License-Identifier: MIT */
/* Start threads; see thread.h. */
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
