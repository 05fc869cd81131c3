/* SPDX-License-Identifier: MIT */
/* How often verdicts of made-up recordings are wrong, and how often they find what was planted.
 *
 *   program     functions under main, shares after Zipf's law, each with visits of its own length;
 *               and at first, below one of its own, 40 that take two samples each
 *   run         every function's cost times the noise of the run, times its own, times the pace of
 *               the machine, which the recording's speed track knows or not; visits in any order
 *   comparison  N runs of the program against M of the same, or of one in which a function changed
 *
 * The generator has a fixed seed: rates are the same in every run. */
#pragma once

#include "chance.h"
#include "compare/diff.h"
#include "compare/judge.h"
#include "profile/speed.h"

enum { FUNCTIONS = 15, STARTED = 40, PLANTED = 3, RUNS_MOST = 5 };

/* Deviations of log costs. */
struct machine {
	const char *name;
	const char *clock;
	double run, own; /* of each run; of each function in each run */
	double modes;    /* runs are slower or faster by so much, evenly often */
	double between;  /* all of the head */
	double pace;     /* of the machine's speed, which is recorded when it is not 0 */
	double stalls;   /* visits of a run that last 20 samples more */
	double waits;    /* for a processor, in samples; for each sample's worth of work */
};

static const struct machine machines[] = {
	{ .name = "speed known, ±15 %",
	  .clock = "perf task-clock",
	  .run = 0.02,
	  .own = 0.03,
	  .pace = 0.15 },
	{ .name = "speed known and even, processes 5 % apart",
	  .clock = "perf task-clock",
	  .run = 0.053,
	  .own = 0.03,
	  .pace = 0.01 },
	{ .name = "CPU clock, 10 %", .clock = "perf task-clock", .run = 0.10, .own = 0.04 },
	{ .name = "CPU clock, two modes 16 % apart",
	  .clock = "perf task-clock",
	  .own = 0.03,
	  .modes = 0.08 },
	{ .name = "CPU clock, 3 % between the sides",
	  .clock = "perf task-clock",
	  .run = 0.04,
	  .own = 0.03,
	  .between = 0.03 },
	{ .name = "wall clock, 12 %, stalls",
	  .clock = "wall",
	  .run = 0.12,
	  .own = 0.06,
	  .stalls = 3 },
	{ .name = "wall clock, speed known, starved",
	  .clock = "wall",
	  .run = 0.02,
	  .own = 0.03,
	  .pace = 0.15,
	  .waits = 10 },
};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

enum {
	MADE_INTERVAL = 1000000,
	MADE_SAMPLES = 2500,
	MADE_PROBE_EVERY = 4000000,
	MADE_PIECE = 8000
};

struct made_visit {
	uint32_t stack;
	unsigned samples;
};

struct made_program {
	double share[FUNCTIONS];
	double visit[FUNCTIONS]; /* mean length in samples */
};

static inline struct made_program made_program(double planted)
{
	struct made_program p;
	double sum = 0;

	for (int i = 0; i < FUNCTIONS; i++)
		sum += p.share[i] = 1 / pow(i + 1, 0.9);
	for (int i = 0; i < FUNCTIONS; i++) {
		p.share[i] /= sum;
		p.visit[i] = 1 + i % 5 * 2;
	}
	p.share[PLANTED] *= planted;
	return p;
}

static inline uint32_t made_stack(struct fz_profile *p, int function)
{
	char name[16];
	bool starts = function >= FUNCTIONS;
	uint32_t caller = fz_profile_stack(
		p, FZ_NONE,
		fz_profile_frame_named(p, starts ? FZ_STR("start") : FZ_STR("main"),
				       FZ_STR("app.py"), 1 + starts, FZ_KIND_PYTHON));

	snprintf(name, sizeof(name), "f%d", function);
	return fz_profile_stack(p, caller,
				fz_profile_frame_named(p, fz_str_of(name), FZ_STR("app.py"),
						       10 + (uint32_t)function, FZ_KIND_PYTHON));
}

static inline size_t made_start(struct chance *c, struct fz_profile *p, double common,
				struct made_visit *out)
{
	size_t n = 0;

	for (int i = 0; i < STARTED; i++) {
		unsigned samples = (unsigned)(2 * exp(common) + chance_uniform(c));

		if (samples)
			out[n++] = (struct made_visit){ made_stack(p, FUNCTIONS + i), samples };
	}
	return n;
}

/* The visits of a run, behind its start in any order. Returns how many. */
static inline size_t made_visits(struct chance *c, struct fz_profile *p,
				 const struct made_program *program, const struct machine *m,
				 double common, struct made_visit *out, size_t room)
{
	size_t started = made_start(c, p, common, out), n = started;

	for (int i = 0; i < FUNCTIONS; i++) {
		double cost =
			MADE_SAMPLES * program->share[i] * exp(common + m->own * chance_normal(c));
		uint32_t stack = made_stack(p, i);

		while (cost > 0 && n < room) {
			double length = program->visit[i] * chance_exponential(c);
			double left = FZ_MIN(length, cost);
			/* A sample each interval: the rest of one is seen by chance. */
			unsigned samples = (unsigned)(left + chance_uniform(c));
			cost -= length;
			if (samples)
				out[n++] = (struct made_visit){ stack, samples };
		}
	}
	for (double k = m->stalls * chance_exponential(c); n > 0 && k > 0; k--)
		out[(size_t)(chance_uniform(c) * (double)n)].samples += 20;
	for (size_t i = n; i > started + 1; i--) {
		size_t k = started + (size_t)(chance_uniform(c) * (double)(i - started));
		struct made_visit last = out[i - 1];
		out[i - 1] = out[k];
		out[k] = last;
	}
	return n;
}

static inline void made_sample(struct fz_profile *p, struct fz_sample *s, bool on_cpu)
{
	int64_t weights[] = { MADE_INTERVAL, on_cpu ? 0 : MADE_INTERVAL };

	s->status = on_cpu ? FZ_STATUS_ON_CPU : 0;
	s->time += MADE_INTERVAL;
	fz_profile_add_sample(p, s, weights);
}

/* A sample's worth of work in slices that are shorter than that, with waits between them: how many
 * of them are seen is chance. */
static inline void made_slices(struct chance *c, struct fz_profile *p, struct fz_sample *s,
			       double waits)
{
	for (double at = chance_exponential(c); at < 1; at += chance_exponential(c))
		made_sample(p, s, true);
	for (double left = waits * chance_exponential(c); left > 0; left--)
		made_sample(p, s, false);
}

/* The machine's speed wanders within a run; a sample of a slow moment is time, not work. */
static inline void made_run(struct chance *c, struct fz_profile *p, uint32_t thread, uint16_t run,
			    const struct made_program *program, const struct machine *m,
			    double side)
{
	enum { ROOM = 4 * MADE_SAMPLES };
	fz_auto(fz_free_ptr) struct made_visit *visits = fz_calloc(ROOM, sizeof(*visits));
	double common = m->run * chance_normal(c) + side;
	double pace = m->pace * chance_normal(c), at = 0, work = 0;
	int64_t time = (int64_t)(c->seed % 1000); /* no two begin alike, as recordings do not */
	int64_t look = 0;

	common += chance_uniform(c) < 0.5 ? m->modes : -m->modes;
	size_t n = made_visits(c, p, program, m, common, visits, ROOM);
	for (size_t i = 0; i < n; i++) {
		for (double left = visits[i].samples; left >= 1 || work >= 1;) {
			if (m->pace > 0 && time >= look) {
				at += 0.1 * (pace - at) + 0.02 * chance_normal(c);
				fz_speed_add(&p->speed,
					     &(struct fz_speed_probe){
						     .run = run,
						     .time = time,
						     .cost = (uint32_t)(MADE_PIECE * exp(at)) });
				look += MADE_PROBE_EVERY;
			}
			if (work < 1) {
				work += exp(at);
				left--;
				if (work < 1)
					continue;
			}
			work -= 1;
			struct fz_sample s = {
				.run = run, .thread = thread, .stack = visits[i].stack, .time = time
			};
			if (m->waits > 0)
				made_slices(c, p, &s, m->waits);
			else
				made_sample(p, &s, true);
			time = s.time;
		}
	}
}

static inline struct fz_profile *made_side(struct chance *c, const struct machine *m, unsigned runs,
					   double side, double planted)
{
	struct fz_profile *p = fz_profile_new();
	struct made_program program = made_program(planted);
	uint32_t thread =
		fz_profile_thread(p, &(struct fz_thread){ .pid = 1, .tid = 1, .is_main = true });
	bool by_cpu = strcmp(m->clock, "wall") != 0;

	p->recording.interval_ns = MADE_INTERVAL;
	p->recording.complete = true;
	p->samples.ordered = p->samples.timed = true;
	fz_profile_set_fact(p, "clock", fz_str_of(m->clock));
	fz_profile_set_fact(p, "cpu", FZ_STR("made up"));
	fz_profile_set_fact(p, "speed", FZ_STR("made up"));
	fz_profile_add_metric(p, by_cpu ? FZ_STR("cpu") : FZ_STR("wall"), FZ_STR("ns"),
			      MADE_INTERVAL, true);
	fz_profile_add_metric(p, FZ_STR("wait"), FZ_STR("ns"), 0, true);
	for (uint16_t run = 0; run < runs; run++) {
		fz_profile_add_run(p, &(struct fz_run){ 0 });
		made_run(c, p, thread, run, &program, m, side);
	}
	return p;
}

/* Parts of the comparisons. */
struct verdict_rates {
	double false_function, false_run; /* have any */
	double holds;                     /* the run's interval has what was planted */
	double found;                     /* the planted function is called changed */
	double half_width;                /* of the run's interval; the median is near the mean */
};

struct made_question {
	const struct machine *machine;
	unsigned runs; /* a side */
	enum fz_scale_mode scale;
	double planted; /* factor of one function's cost; 1: nothing changed */
};

static inline bool is_planted(const struct fz_diff *d, uint32_t i)
{
	return fz_str_eq(d->functions[i].name, FZ_STR("f3")) ||
	       fz_str_eq(d->functions[i].name, FZ_STR("main"));
}

static inline void count_verdicts(const struct fz_diff *d, const struct fz_judgement *j,
				  const struct made_question *q, struct verdict_rates *sum)
{
	const struct made_program program = made_program(1);
	double truth = program.share[PLANTED] * (q->planted - 1);
	bool any = false;

	for (uint32_t i = 0; i < d->function_count; i++) {
		bool changed = j->self[i].verdict == FZ_VERDICT_CHANGED ||
			       j->total[i].verdict == FZ_VERDICT_CHANGED;

		if (q->planted != 1 && is_planted(d, i))
			sum->found += j->self[i].verdict == FZ_VERDICT_CHANGED;
		else
			any |= changed;
	}
	sum->false_function += any;
	sum->false_run +=
		q->planted == 1 && (j->run.word == FZ_RUN_SLOWER || j->run.word == FZ_RUN_FASTER);
	sum->holds += j->run.low <= truth && truth <= j->run.high;
	sum->half_width += (j->run.high - j->run.low) / 2;
}

static inline struct verdict_rates verdict_rates(const struct made_question *q,
						 unsigned comparisons)
{
	struct chance c = { .seed = 7 + q->runs * 1000 };
	struct verdict_rates sum = { 0 };

	for (unsigned k = 0; k < comparisons; k++) {
		struct fz_diff_options options = { .scale = q->scale, .match = FZ_MATCH_NAMES };
		struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
		struct fz_profile *base = made_side(&c, q->machine, q->runs, 0, 1);
		struct fz_profile *head =
			made_side(&c, q->machine, q->runs, q->machine->between, q->planted);
		struct fz_diff *d = NULL;
		struct fz_error err;

		if (fz_diff_new(base, head, &options, &d, &err) < 0)
			abort();
		/* What is to be measured is measured. */
		if (d->speed_scale.used != (q->machine->pace > 0))
			abort();
		struct fz_judgement *j = fz_judge(d, &how);
		count_verdicts(d, j, q, &sum);
		fz_judgement_free(j);
		fz_diff_free(d);
		fz_profile_free(base);
		fz_profile_free(head);
	}
	sum.false_function /= comparisons;
	sum.false_run /= comparisons;
	sum.holds /= comparisons;
	sum.found /= comparisons;
	sum.half_width /= comparisons;
	return sum;
}
