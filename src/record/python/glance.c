/* SPDX-License-Identifier: MIT */
/* Takes samples of all threads into a scratch profile; python.h has the contract. If only one
 * thread runs Python code it is sampled several times: a server may have a thread per request, and
 * none at that moment. */

#include <time.h>

#include "record/process.h"
#include "python.h"

enum { LOOKS = 32, PAUSE_NS = 1000000 };

bool fz_python_is_idle(unsigned status, char state)
{
	return strchr("SD", state) && state &&
	       !(status & (FZ_STATUS_HAS_GIL | FZ_STATUS_GIL_REQUESTED));
}

static bool take(struct fz_python *python, pid_t pid, const struct fz_profile *profile,
		 struct fz_python_glance *ret)
{
	struct fz_python_sample sample;
	struct fz_error err;

	if (fz_python_sample_take(python, &sample, &err))
		return false;
	*ret = (struct fz_python_glance){ 0 };
	for (uint32_t i = 0; i < sample.n; i++) {
		const struct fz_python_stack *s = &sample.stacks[i];
		uint64_t tid = profile->threads[s->thread].tid;
		if (s->stack == FZ_NONE)
			continue;
		ret->threads++;
		ret->idle += fz_python_is_idle(s->status, fz_process_thread_state(pid, (pid_t)tid));
	}
	return true;
}

bool fz_python_glance(pid_t pid, struct fz_python_glance *ret)
{
	const struct fz_python_options options = { .all_threads = true };
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	fz_auto(fz_profile_freep) struct fz_profile *profile = fz_profile_new();
	struct fz_python_glance now;
	struct fz_python *python;
	bool ok = false;
	struct fz_error err;

	if (fz_python_open(pid, &options, profile, &python, &err))
		return false;
	*ret = (struct fz_python_glance){ 0 };
	for (unsigned i = 0; i < LOOKS && ret->threads < 2; i++) {
		if (i)
			nanosleep(&pause, NULL);
		if (!take(python, pid, profile, &now))
			continue;
		ok = true;
		if (now.threads > ret->threads)
			*ret = now;
	}
	fz_python_close(python);
	return ok;
}
