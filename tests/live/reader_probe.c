/* SPDX-License-Identifier: MIT */
/* Drives the reader alone for tests: attach, take samples, print what was seen as JSON.
 *
 *   reader_probe PID [-n SAMPLES] [-s SECONDS] [-i PAUSE_US] [-a] [-g] [-q] [-S] [-k]
 *
 * Output: {"version", "samples", "retries", "rejected": {...}, "cpu_us", "wall_us",
 *          "stacks": [{"n", "thread", "frames": [[name, file, line], ...] (root first)}]}
 * With -q stacks are left out; with -S the process is stopped for each sample; with -k the kernel
 * samples, each PAUSE_US of a thread's CPU time, for SECONDS. Exit 77: this build cannot.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "record/python/python.h"
#include "record/python/ticks.h"
#include "record/stop.h"
#ifdef FZ_BPF
#include "record/bpf/bpf.h"
#endif

struct probe {
	pid_t pid;
	long samples;
	double seconds;
	long pause_us;
	bool quiet, kernel;
	struct fz_python *python; /* for the kernel's ticks */
	struct fz_python_options options;
	struct fz_stopper *stopper; /* NULL unless it is stopped */
	struct fz_profile *profile;
	struct fz_map counts; /* (thread, stack) -> index */
	struct count {
		uint32_t thread, stack;
		uint64_t n;
		bool rejected;
	} * list;
	size_t n, cap;
	uint64_t taken, stacks, retries, lost, rejected[FZ_REJECTS], statuses[64];
};

static double clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void count(struct probe *p, const struct fz_python_stack *s)
{
	uint32_t *slot = fz_map_slot(&p->counts, FZ_KEY(s->thread, s->stack));

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)p->n;
		fz_grow(p->list, p->n, p->cap);
		p->list[p->n++] = (struct count){ s->thread, s->stack, 0, s->rejected };
	}
	p->list[*slot].n++;
	p->stacks++;
	p->statuses[s->status & 63]++;
	if (s->rejected)
		p->rejected[s->reject]++;
}

static void print_stack(struct fz_json *j, const struct probe *p, uint32_t stack)
{
	const struct fz_profile *f = p->profile;
	uint32_t depth = stack == FZ_NONE ? 0 : f->stacks[stack].depth;
	fz_auto(fz_free_ptr) uint32_t *frames = fz_reallocarray(NULL, depth + 1, sizeof(*frames));

	for (uint32_t i = depth; i-- > 0; stack = f->stacks[stack].parent)
		frames[i] = f->stacks[stack].frame;
	fz_json_key(j, "frames");
	fz_json_open(j, '[');
	for (uint32_t i = 0; i < depth; i++) {
		const struct fz_frame *frame = &f->frames[frames[i]];
		const struct fz_function *fn = &f->functions[frame->function];
		fz_json_open(j, '[');
		fz_json_str(j, f->strings[fn->name]);
		fz_json_str(j, f->strings[fn->file]);
		fz_json_int(j, frame->line);
		fz_json_close(j, ']');
	}
	fz_json_close(j, ']');
}

static void print_stacks(struct fz_json *j, const struct probe *p)
{
	fz_json_key(j, "stacks");
	fz_json_open(j, '[');
	for (size_t i = 0; i < p->n; i++) {
		const struct fz_thread *t = &p->profile->threads[p->list[i].thread];
		fz_json_open(j, '{');
		fz_json_kint(j, "n", (int64_t)p->list[i].n);
		fz_json_kint(j, "tid", (int64_t)t->tid);
		fz_json_kstr(j, "thread", p->profile->strings[t->name]);
		fz_json_kint(j, "interp", t->interp);
		fz_json_kbool(j, "main", t->is_main);
		fz_json_kbool(j, "rejected", p->list[i].rejected);
		print_stack(j, p, p->list[i].stack);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
}

static void print_statuses(struct fz_json *j, const struct probe *p)
{
	fz_json_key(j, "statuses");
	fz_json_open(j, '{');
	for (unsigned i = 0; i < FZ_ARRAY_LEN(p->statuses); i++) {
		char key[16];
		snprintf(key, sizeof(key), "%u", i);
		if (p->statuses[i])
			fz_json_kint(j, key, (int64_t)p->statuses[i]);
	}
	fz_json_close(j, '}');
}

static int print(const struct probe *p, const struct fz_python_info *info, double cpu, double wall)
{
	struct fz_output *out;
	struct fz_error err;
	struct fz_json j;
	char version[32];

	if (fz_output_open("-", &out, &err) < 0)
		return 2;
	snprintf(version, sizeof(version), "%u.%u.%u", info->version[0], info->version[1],
		 info->version[2]);
	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "version", fz_str_of(version));
	fz_json_kint(&j, "samples", (int64_t)p->taken);
	fz_json_kint(&j, "thread_samples", (int64_t)p->stacks);
	fz_json_kint(&j, "retries", (int64_t)p->retries);
	fz_json_kint(&j, "lost", (int64_t)p->lost);
	fz_json_key(&j, "rejected");
	fz_json_open(&j, '{');
	for (unsigned i = 0; i < FZ_REJECTS; i++)
		fz_json_kint(&j, fz_reject_names[i], (int64_t)p->rejected[i]);
	fz_json_close(&j, '}');
	fz_json_kdouble(&j, "cpu_us", cpu);
	fz_json_kdouble(&j, "wall_us", wall);
	print_statuses(&j, p);
	if (!p->quiet)
		print_stacks(&j, p);
	fz_json_close(&j, '}');
	fz_output_str(out, "\n");
	return fz_output_close(out, &err) < 0 ? 2 : 0;
}

static int take_all(struct probe *p, struct fz_python *py, struct fz_error *err)
{
	double end = clock_us(CLOCK_MONOTONIC) + p->seconds * 1e6;
	struct fz_python_sample sample;
	struct timespec pause = { 0, p->pause_us * 1000 };

	while (p->samples == 0 || p->taken < (uint64_t)p->samples) {
		int rc = p->stopper ? fz_stop_all(p->stopper, false) : 0;
		if (rc == 0)
			rc = fz_python_sample_take(py, &sample, err);
		if (p->stopper)
			fz_stop_resume(p->stopper);
		if (rc < 0)
			return rc;
		p->taken++;
		p->retries += sample.retries;
		for (uint32_t i = 0; i < sample.n; i++)
			count(p, &sample.stacks[i]);
		if (p->seconds > 0 && p->taken % 16 == 0 && clock_us(CLOCK_MONOTONIC) > end)
			break;
		if (p->pause_us)
			nanosleep(&pause, NULL);
	}
	return 0;
}

#ifdef FZ_BPF
static void take_tick(void *arg, const struct fz_bpf_tick *t)
{
	struct probe *p = arg;
	struct fz_python_stack stack;

	fz_python_ticks_read(p->python, t, &stack);
	count(p, &stack);
	p->taken++;
}

static int take_ticks(struct probe *p, struct fz_python *py, struct fz_error *err)
{
	double end = clock_us(CLOCK_MONOTONIC) + p->seconds * 1e6;
	struct fz_bpf_config config;
	struct fz_bpf *b = NULL;
	int rc = fz_python_ticks_config(py, &config, err);

	p->python = py;
	if (!rc)
		rc = fz_bpf_new(FZ_ENGINE_FOR_THREADS, &b, err);
	if (!rc)
		rc = fz_bpf_watch(b, p->pid, p->options.all_threads, p->pause_us * 1000, &config,
				  err);
	while (!rc && clock_us(CLOCK_MONOTONIC) < end) {
		struct pollfd fd = { .fd = fz_bpf_fd(b), .events = POLLIN };
		poll(&fd, 1, 50);
		rc = fz_python_ticks_begin(py, err);
		fz_bpf_drain(b, take_tick, p);
		fz_bpf_draw(b);
	}
	if (b)
		p->lost = fz_bpf_counts(b).lost;
	fz_bpf_free(b);
	return rc;
}
#else
static int take_ticks(struct probe *p, struct fz_python *py, struct fz_error *err)
{
	(void)p;
	(void)py;
	(void)err;
	fprintf(stderr, "0: built without libbpf, clang and bpftool\n");
	exit(77);
}
#endif

static void step(void *arg, const char *what, const char *found)
{
	(void)arg;
	fprintf(stderr, "%s: %s\n", what, found);
}

static bool parse(struct probe *p, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:i:agqvSk")) != -1) {
		switch (c) {
		case 'n':
			p->samples = atol(optarg);
			break;
		case 's':
			p->seconds = atof(optarg);
			break;
		case 'i':
			p->pause_us = atol(optarg);
			break;
		case 'a':
			p->options.all_threads = true;
			break;
		case 'g':
			p->options.gc = true;
			break;
		case 'q':
			p->quiet = true;
			break;
		case 'S':
			p->options.stopped = true;
			break;
		case 'k':
			p->kernel = true;
			break;
		case 'v':
			p->options.step = step;
			break;
		default:
			return false;
		}
	}
	if (optind + 1 != argc)
		return false;
	p->pid = atoi(argv[optind]);
	if (p->samples == 0 && p->seconds <= 0)
		p->samples = 1;
	return true;
}

int main(int argc, char **argv)
{
	struct probe p = { 0 };
	struct fz_error err = { 0 };
	struct fz_python *py;

	if (!parse(&p, argc, argv)) {
		fprintf(stderr,
			"usage: reader_probe [-n N] [-s SECONDS] [-i US] [-a] [-g] [-q] PID\n");
		return 2;
	}
	p.profile = fz_profile_new();
	if (fz_python_open(p.pid, &p.options, p.profile, &py, &err) < 0) {
		fprintf(stderr, "%d: %s\n", err.code, err.message);
		fz_profile_free(p.profile);
		return 1;
	}
	if (p.options.stopped && fz_stop_new(p.pid, false, &p.stopper, &err)) {
		fprintf(stderr, "%d: %s\n", err.code, err.message);
		return 1;
	}
	double cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID), wall = clock_us(CLOCK_MONOTONIC);
	int rc = p.kernel ? take_ticks(&p, py, &err) : take_all(&p, py, &err);
	cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = clock_us(CLOCK_MONOTONIC) - wall;
	if (rc < 0)
		fprintf(stderr, "%d: %s\n", err.code, err.message);
	int status = print(&p, fz_python_info(py), cpu, wall);
	fz_stop_free(p.stopper);
	fz_python_close(py);
	free(p.list);
	fz_map_release(&p.counts);
	fz_profile_free(p.profile);
	return status;
}
