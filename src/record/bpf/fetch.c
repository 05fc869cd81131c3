/* SPDX-License-Identifier: MIT */
/* Passes records from the ring to an engine; fetch.h has the contract. */
#include "record/bpf/fetch.h"

#include "base/clock.h"
#include "base/lineserver.h"
#include "record/engine_host.h"
#include "record/target_process.h"

#include <poll.h>
#include <stdio.h>

enum fz_engine_use fz_bpf_use_of(const struct fz_record_options *o)
{
	return o->machine  ? FZ_ENGINE_FOR_MACHINE
	       : o->growth ? FZ_ENGINE_FOR_GROWTH
	       : o->waits  ? FZ_ENGINE_FOR_WAITS
			   : FZ_ENGINE_FOR_THREADS;
}

int fz_bpf_open(struct fz_sampler *s, enum fz_engine_use use, struct fz_bpf **ret,
		struct fz_error *err)
{
	struct fz_bpf **loaded = s->sampling->loaded;

	if (!loaded || !*loaded)
		return fz_bpf_new(use, ret, err);
	*ret = fz_steal(*loaded);
	return 0;
}

bool fz_bpf_wait(struct fz_sampler *s, const struct fz_bpf *program, int64_t due)
{
	struct pollfd fds[] = {
		{ .fd = fz_bpf_fd(program), .events = POLLIN },
		{ .fd = s->sampling->signal_fd, .events = POLLIN },
		{ .fd = fz_target_process_events(s), .events = POLLIN },
		{ .fd = fz_lineserver_fd(s->sampling->control), .events = POLLIN },
	};
	int64_t until = FZ_MIN(FZ_MIN(fz_sampler_duty(s), s->next_seek), due);
	int64_t left = fz_clock_left(until);
	struct timespec timeout = { .tv_sec = left / FZ_SECOND, .tv_nsec = left % FZ_SECOND };

	int n = ppoll(fds, FZ_ARRAY_LEN(fds), &timeout, NULL);
	s->now = fz_clock_now();
	fz_sampler_poll(s, fds[1].revents || fds[2].revents || fds[3].revents);
	return (n > 0 && fds[0].revents) || s->now >= due;
}

void fz_bpf_fetch(struct fz_sampler *s, struct fz_bpf *program,
		  void (*take)(void *arg, const struct fz_bpf_tick *t))
{
	fz_bpf_drain(program, take, s);
	if (s->profile->over_limit && !s->end) {
		fz_profile_check(s->profile, &s->trouble);
		s->end = FZ_END_OUTPUT;
	}
}

void fz_bpf_note_run_time(struct fz_sampler *s, const struct fz_bpf *program)
{
	char text[96];
	uint64_t runs, ns;

	if (!fz_bpf_run_time(program, &runs, &ns))
		return;
	snprintf(text, sizeof(text), "%llu ticks, %.2f us each", (unsigned long long)runs,
		 (double)ns / 1000 / (double)runs);
	fz_profile_set_fact(s->profile, "engine.in_kernel", fz_str_of(text));
}
