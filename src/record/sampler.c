/* SPDX-License-Identifier: MIT */
/* The sampling loop, and opening what it samples.
 *
 * One thread does everything, so that only the sampler itself competes with the target. Chores
 * (writing a block, loading one source file) are done right after an instant, when the next one is
 * furthest away. The engine decides what a sample is and when it is taken: engine.h.
 */
#include "record/sampler.h"

#include "base/clock.h"
#include "base/text.h"
#include "record/cputimes.h"
#include "record/engine_choice.h"
#include "record/engine_host.h"
#include "record/facts.h"
#include "record/load.h"
#include "record/sources.h"
#include "record/speed.h"
#include "record/target_process.h"
#include "profile/runs.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define FLUSH_EVERY (500 * FZ_MS)
#define OPEN_PATIENCE (1 * FZ_SECOND)

/* Maximum time for trying to open processes between two instants. */
#define SEEK_MOST (FZ_MS / 2)
/* Time until the next try if a target was found but cannot be sampled as requested. */
#define REFUSED_PAUSE (500 * FZ_MS)
/* The same for one that is not Python: it may call exec, or be a shell's helper. */
#define HELPER_PAUSE (5 * FZ_MS)

/* Time between two measurements of the machine's speed, of 9 us each: 0.2 % of a core. */
#define PROBE_EVERY (4 * FZ_MS)

/* Time between two reads of the threads' CPU time; at least THREADS_SHARE times what a read takes.
 */
#define THREADS_EVERY (100 * FZ_MS)
#define THREADS_SHARE 500

/* With more CPU time per second than this, we do not count as a thread that mostly sleeps. */
#define PRIORITY_MOST (FZ_SECOND / 4 * 3)

const char *const fz_clock_names[] = { "wall", "cpu", NULL };

/* ---- beginning and end ---- */

/* The default weights, an interval and no wait, take no bytes in the file. */
void fz_sampler_add_metrics(struct fz_profile *p, enum fz_clock clock, struct fz_rate rate)
{
	int64_t each = rate.micro_hz ? fz_rate_time(rate, 1) : 0;

	fz_profile_add_metric(p, fz_str_of(fz_clock_names[clock]), FZ_STR("ns"), each, true);
	if (clock != FZ_CLOCK_WALL)
		return;
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("disk"), FZ_STR("ns"), 0, true);
}

void fz_sampler_add_growth(struct fz_profile *p)
{
	fz_profile_add_metric(p, FZ_STR("resident"), FZ_STR("bytes"), 0, true);
}

void fz_sampler_init(struct fz_sampler *s, const struct fz_record_options *options,
		     const struct fz_sampling *sampling, struct fz_profile *profile)
{
	int64_t now = fz_clock_now();

	fz_assert(profile->metric_count > 0);
	*s = (struct fz_sampler){ .options = options,
				  .sampling = sampling,
				  .engine = &fz_engine_read,
				  .profile = profile,
				  .planned = profile->recording.features,
				  .next_chore = now + FLUSH_EVERY,
				  .next_second = now + FZ_SECOND,
				  .probe_cpu = FZ_NONE,
				  .paused = options->paused,
				  .end_time = now };
	s->images.eager = options->watched;
	if (!options->no_source)
		s->sources = fz_sources_new(profile);
	profile->quality.known = true;
	s->next_seek = INT64_MAX;
	if (options->machine)
		return;
	struct fz_target_process *first = fz_target_process_add(s, sampling->pid, 0);
	first->target.descendants = sampling->started && !options->subprocesses;
	/* It may have run long before a busy machine let us search for it. */
	if (sampling->started)
		first->target.last_try = sampling->start;
	first->target.next_try = s->next_seek = now;
	if (options->subprocesses)
		fz_target_process_start_tree(s);
}

/* Closes all processes, the engine and the process tree. */
static void close_all(struct fz_sampler *s)
{
	for (size_t i = 0; i < s->process_n; i++) {
		fz_target_process_free_stopper(s, s->processes[i]);
		fz_target_process_drop(s, s->processes[i]);
	}
	fz_assert(s->stopper_n == 0 && (s->options->machine || s->open_n == 0));
	fz_engine_free(s);
	fz_process_tree_free(s->tree);
	s->tree = NULL;
	if (s->files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &s->files);
}

void fz_sampler_release(struct fz_sampler *s)
{
	close_all(s);
	while (s->process_n)
		fz_target_process_free(s, s->processes[--s->process_n]);
	free(s->processes);
	s->processes = NULL;
	fz_sources_free(s->sources);
	s->sources = NULL;
	fz_images_release(&s->images);
	fz_silent_release(&s->silent);
}

/* ---- opening ---- */

/* Can it be sampled as requested? */
static int check_target(struct fz_sampler *s, const struct fz_target *t, struct fz_error *err)
{
	enum fz_mode mode = s->options->mode;

	if (t->python)
		return fz_python_check(t->python, mode, err);
	if (fz_target_process_status(mode))
		return fz_fail(err, FZ_EUSAGE, "--mode %s: process %d is not Python",
			       fz_mode_names[mode], t->pid);
	return 0;
}

static void note_target(struct fz_sampler *s, const struct fz_target_process *p)
{
	struct fz_recording *rec = &s->profile->recording;
	const struct fz_target *t = &p->target;

	fz_facts_process(s->profile, t->pid, t->python ? fz_python_info(t->python) : NULL);
	if (s->tree)
		fz_facts_member(s->profile, t->pid, p->parent);
	if (!t->native)
		return;
	rec->features |= FZ_FEATURE_NATIVE | FZ_FEATURE_BLOCKING;
	if (!t->python)
		rec->features &= ~(unsigned)(FZ_FEATURE_GC | FZ_FEATURE_OPCODES);
}

static void note_sources(struct fz_sampler *s, pid_t pid)
{
	if (!s->sources)
		return;
	/* Files seen so far belong to the previous process. */
	fz_sources_finish(s->sources);
	fz_sources_packages(s->sources);
	fz_sources_process(s->sources, pid, s->sampling->started);
}

/* How long the target may have run unsampled: since the last failed try, which is long ago on a
 * busy machine, but not longer than its CPU time if that is sampled. */
static int64_t find_unseen(const struct fz_sampler *s, const struct fz_target *t)
{
	int64_t passed = fz_clock_now() - t->last_try;
	int64_t used = s->options->clock == FZ_CLOCK_CPU ? fz_cputimes_process(t->pid) : -1;

	return used < 0 ? passed : FZ_MIN(passed, used);
}

/* The target has been found: set up what depends on it. */
static int begin_target(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const struct fz_target *t = &p->target;

	s->found = true;
	p->fresh = true;
	s->open_n++;
	int rc = check_target(s, t, err);
	if (rc)
		return rc;
	if (s->sampling->started && s->samples == 0)
		s->launch_ns = fz_load_read_usage(s->sampling->pid);
	note_target(s, p);
	note_sources(s, t->pid);
	rc = fz_engine_begin(s, p, err);
	if (!rc)
		rc = fz_target_process_start_stopper(s, p, err);
	if (!rc && t->python && fz_profile_fact(s->profile, FZ_UNSEEN_FACT).n == 0)
		fz_profile_set_unseen(s->profile, find_unseen(s, t));
	return rc;
}

/* Discard samples from before a Python process was found. */
static void forget_the_way(struct fz_sampler *s, struct fz_target *t)
{
	s->valid_from = fz_clock_now() - s->sampling->start;
	s->samples = 0;
	s->sampled_ns = 0;
	s->figures = (struct fz_native_figures){ 0 };
	fz_map_clear(&t->left_out);
	s->profile->quality = (struct fz_quality){ .known = true };
	s->profile->recording.features = s->planned;
	memset(s->warnings, 0, sizeof(s->warnings));
	fz_profile_set_fact(s->profile, "program", FZ_STR(""));
	fz_profile_set_fact(s->profile, "executable", FZ_STR(""));
	fz_profile_set_fact(s->profile, "build", FZ_STR(""));
	fz_profile_set_fact(s->profile, "pid", FZ_STR(""));
}

/* Switch from a native process to a Python process, if there is one now. */
static bool replace_native(struct fz_sampler *s, struct fz_target_process *p)
{
	pid_t before = p->target.pid;

	if (!fz_target_seek_python(&p->target))
		return false;
	fz_assert(s->open_n > 0);
	s->engine->drop(s, p, before);
	s->open_n--;
	if (!s->tree)
		forget_the_way(s, &p->target);
	return true;
}

static bool is_sought(const struct fz_target_process *p)
{
	return !p->ended && !p->target.python;
}

/* Find a target. A launcher may run helpers before it becomes or starts Python: discard their
 * samples. */
static bool seek(struct fz_sampler *s, struct fz_target_process *p)
{
	bool helped = p->target.entered > 0 && p->target.opened == 0;

	if (fz_target_is_open(&p->target))
		return replace_native(s, p);
	if (!fz_target_seek(&p->target))
		return false;
	if (helped && p->target.python && !s->tree)
		forget_the_way(s, &p->target);
	return true;
}

/* Begin with a target that was found. One that has ended is ignored: it was a helper. */
static void begin_or_lose(struct fz_sampler *s, struct fz_target_process *p)
{
	bool python = p->target.python != NULL;
	struct fz_error err;

	if (!begin_target(s, p, &err))
		return;
	fz_target_process_lost(s, p);
	if (err.code == FZ_EGONE)
		return;
	s->refusal = err;
	if (p != s->processes[0])
		s->warnings[FZ_WARN_SUBPROCESSES] = s->refusal.message;
	p->target.next_try = s->now + (python ? REFUSED_PAUSE : HELPER_PAUSE);
}

static void try_target(struct fz_sampler *s, struct fz_target_process *p)
{
	if (seek(s, p))
		begin_or_lose(s, p);
}

static void seek_targets(struct fz_sampler *s)
{
	int64_t give_up = fz_clock_now() + SEEK_MOST;

	for (size_t i = 0; i < s->process_n; i++) {
		struct fz_target_process *p = s->processes[i];
		if (!is_sought(p) || s->now < p->target.next_try)
			continue;
		try_target(s, p);
		if (fz_clock_now() > give_up)
			break;
	}
	s->next_seek = INT64_MAX;
	for (size_t i = 0; i < s->process_n; i++)
		if (is_sought(s->processes[i]))
			s->next_seek = FZ_MIN(s->next_seek, s->processes[i]->target.next_try);
}

/* ---- the machine's speed ---- */

/* Measure the speed of the CPU on which the sampled thread runs, while it is there. */
static void probe_speed(struct fz_sampler *s)
{
	struct fz_speed_probe probe = { .cpu = (uint16_t)s->probe_cpu,
					.time = s->now - s->sampling->start,
					.cost = fz_speed_time_piece(s->probe_cpu) };

	s->probe_cpu = FZ_NONE;
	s->next_probe = s->now + PROBE_EVERY;
	if (!probe.cost)
		return;
	if (!fz_profile_fact(s->profile, "speed").n)
		fz_profile_set_fact(s->profile, "speed", fz_str_of(fz_speed_kind));
	fz_file_writer_add_probe(s->writer, &probe);
}

/* ---- threads without a stack ---- */

static void read_thread_times(struct fz_sampler *s)
{
	int64_t begun = fz_clock_now();

	for (size_t i = 0; i < s->process_n; i++)
		if (fz_target_is_open(&s->processes[i]->target))
			fz_target_process_read_threads(s, s->processes[i]);
	int64_t now = fz_clock_now();
	s->silent.next = now + FZ_MAX(THREADS_EVERY, THREADS_SHARE * (now - begun));
}

/* ---- getting a turn ---- */

/* Request precise timers, and priority on a busy machine. */
static void start_waking(struct fz_sampler *s)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (s->options->rate.micro_hz)
		s->priority = fz_priority_raise();
	fz_profile_set_fact(s->profile, "priority", fz_str_of(fz_priority_names[s->priority]));
	s->cpu_time = fz_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* Give up our priority if the rate keeps us busy, so that other processes can run. */
static void check_priority(struct fz_sampler *s)
{
	int64_t used = fz_clock_read(CLOCK_THREAD_CPUTIME_ID) - s->cpu_time;

	s->cpu_time += used;
	if (s->priority != FZ_PRIORITY_NORMAL && used > PRIORITY_MOST) {
		fz_priority_lower();
		s->priority = FZ_PRIORITY_NORMAL;
		fz_profile_set_fact(s->profile, "priority", FZ_STR("normal, after being busy"));
	}
}

/* ---- the loop ---- */

static void flush(struct fz_sampler *s)
{
	if (fz_file_writer_flush(s->writer, &s->trouble))
		s->end = FZ_END_OUTPUT;
}

static void do_chores(struct fz_sampler *s)
{
	int64_t now = s->now;

	if (now >= fz_sampler_deadline(s) && !s->end)
		s->end = FZ_END_TIME;
	if (s->probe_cpu != FZ_NONE)
		probe_speed(s);
	if (s->sources)
		fz_sources_step(s->sources);
	if (now >= s->silent.next)
		read_thread_times(s);
	if (now >= s->next_chore) {
		if (s->writer)
			flush(s);
		s->next_chore = now + FLUSH_EVERY;
	}
	if (now >= s->next_second) {
		check_priority(s);
		s->sampling->on_second(s->sampling->arg, s);
		s->next_second += FZ_SECOND * (1 + (now - s->next_second) / FZ_SECOND);
	}
}

void fz_sampler_pause(struct fz_sampler *s, bool paused)
{
	int64_t now = fz_clock_now();

	if (paused == s->paused)
		return;
	s->paused = paused;
	if (paused) {
		s->paused_since = now;
		if (s->engine->pause)
			s->engine->pause(s);
	} else {
		s->paused_ns += now - s->paused_since;
		fz_silent_restart(&s->silent);
		s->engine->resume(s);
	}
}

void fz_sampler_turn(struct fz_sampler *s, struct fz_profile *next, struct fz_images *ret_images)
{
	fz_assert(s->engine->turn);
	s->engine->turn(s, next);
	*ret_images = s->images;
	s->images = (struct fz_images){ .eager = ret_images->eager };
	s->samples = 0;
}

void fz_sampler_run(struct fz_sampler *s)
{
	start_waking(s);
	s->paused_since = s->sampling->start;
	s->paused_ns = 0;
	while (!s->end) {
		if (s->open_n == 0 || s->paused)
			fz_sampler_wait(s, FZ_MIN(s->next_seek, fz_sampler_duty(s)));
		else if (s->engine->wait(s) && !s->end && !s->paused)
			s->engine->take(s);
		if (!s->end && s->now >= s->next_seek)
			seek_targets(s);
		do_chores(s);
	}
	/* Handle commands sent before the end. */
	if (s->sampling->control)
		fz_lineserver_serve(s->sampling->control);
	s->end_time = fz_clock_now();
	if (s->paused)
		s->paused_ns += s->end_time - s->paused_since;
	/* Release traced threads, which could not handle a signal while they are stopped. */
	close_all(s);
	struct fz_silent_sum silent = fz_silent_sum(&s->silent, s->profile);
	fz_sampler_note_silent(s, silent.threads, silent.used);
	fz_priority_lower();
	if (s->sources) {
		fz_sources_finish(s->sources);
		fz_sources_packages(s->sources);
	}
}

int fz_sampler_open(struct fz_sampler *s, struct fz_error *err)
{
	int64_t give_up = fz_clock_now() + OPEN_PATIENCE;
	struct fz_target_process *first;

	if (s->options->machine)
		return fz_engine_begin_machine(s, err);
	first = s->processes[0];
	if (s->tree)
		fz_target_process_follow(s);
	while (!fz_target_seek(&first->target)) {
		*err = first->target.why;
		/* Its children can be sampled nevertheless. */
		if (err->code == FZ_EAGAIN && s->process_n > 1)
			return 0;
		if (err->code != FZ_EAGAIN || fz_clock_now() > give_up)
			return err->code;
		fz_sampler_wait(s, first->target.next_try);
		if (s->end == FZ_END_EXIT)
			return fz_fail(err, FZ_EGONE, "process %d has ended", s->sampling->pid);
		if (s->end)
			return fz_fail(err, FZ_EINTERRUPTED, "interrupted");
	}
	return begin_target(s, first, err);
}

const struct fz_target *fz_sampler_target(const struct fz_sampler *s)
{
	for (size_t i = 0; i < s->process_n; i++)
		if (fz_target_is_open(&s->processes[i]->target))
			return &s->processes[i]->target;
	return s->process_n ? &s->processes[0]->target : NULL;
}

uint64_t fz_sampler_left_out(const struct fz_sampler *s)
{
	uint64_t n = s->left_out;

	for (size_t i = 0; i < s->process_n; i++)
		n += s->processes[i]->target.left_out.len;
	return n;
}

int64_t fz_sampler_unsampled(const struct fz_sampler *s, int64_t used)
{
	const struct fz_record_options *o = s->options;

	if (o->growth || o->machine || s->paused_ns ||
	    (o->mode != FZ_MODE_CPU && o->mode != FZ_MODE_WALL && o->mode != FZ_MODE_ALL))
		return 0;
	if (o->clock == FZ_CLOCK_CPU && !o->waits)
		return FZ_MAX(used - s->launch_ns - s->sampled_ns, 0);
	return FZ_MIN(fz_silent_sum(&s->silent, s->profile).used, used);
}

bool fz_sampler_name(struct fz_sampler *s, struct fz_profile **p)
{
	char text[64];

	if (s->images.n == 0)
		return false;
	*p = fz_images_resolve(&s->images, *p, s->valid_from);
	if (s->sources)
		fz_sources_finish_native(s->sources, *p);
	if (s->figures.incomplete) {
		snprintf(text, sizeof(text), "%llu of %llu",
			 (unsigned long long)s->figures.incomplete,
			 (unsigned long long)s->figures.stacks);
		fz_profile_set_fact(*p, "native.incomplete", fz_str_of(text));
	}
	return true;
}
