/* SPDX-License-Identifier: MIT */
/* Chooses the engine: bpf if it is permitted and supports all options, else read. */
#include "record/engine_choice.h"

#include "record/asleep.h"

#include <unistd.h>

#ifdef FZ_BPF
#include "record/bpf/fetch.h"
#endif

const char *const fz_engine_choices[] = { "auto", "bpf", "read", NULL };

enum { RATE_MAX = 50000 };

/* Why bpf does not support these options on any kernel; NULL if it does. */
static const char *what_is_beyond(const struct fz_record_options *o)
{
	const struct {
		bool asked;
		const char *answer;
	} limits[] = {
		{ o->clock != FZ_CLOCK_CPU && !o->waits, "requires --mode cpu or --wait" },
		{ o->blocking, "cannot be combined with --blocking" },
		{ o->native != FZ_NATIVE_NONE, "cannot be combined with --native" },
		{ o->opcodes, "cannot be combined with --opcodes" },
		{ o->tasks != FZ_PYTHON_TASKS_NONE, "cannot be combined with --async-aware" },
		{ o->subprocesses && o->growth, "cannot be combined with --subprocesses" },
		{ o->rate.micro_hz > RATE_MAX * (uint64_t)1000000,
		  "supports at most 50,000 samples per second" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(limits); i++)
		if (limits[i].asked)
			return limits[i].answer;
	return NULL;
}

/* The option that requires bpf. */
static const char *name_of(const struct fz_record_options *o)
{
	return o->machine ? "--system" : o->growth ? "--pagefaults" : "--engine bpf";
}

int fz_engine_check_bpf(enum fz_engine_use use, struct fz_error *err)
{
#ifdef FZ_BPF
	struct fz_bpf *loaded = NULL;
	int rc = fz_bpf_new(use, &loaded, err);

	fz_bpf_free(loaded);
	return rc;
#else
	(void)use;
	return fz_fail(err, FZ_EUNSUPPORTED, "not included in this build");
#endif
}

static int load(const struct fz_record_options *o, struct fz_bpf **ret, struct fz_error *err)
{
#ifdef FZ_BPF
	return fz_bpf_new(fz_bpf_use_of(o), ret, err);
#else
	(void)o;
	(void)ret;
	return fz_engine_check_bpf(FZ_ENGINE_FOR_THREADS, err);
#endif
}

void fz_engine_unload(struct fz_bpf *loaded)
{
#ifdef FZ_BPF
	fz_bpf_free(loaded);
#else
	(void)loaded;
#endif
}

/* Can the reader sample waits with these options? */
static int check_sampled_waits(const struct fz_record_options *o, struct fz_error *err)
{
	struct fz_error why;

	if (o->blocking || o->native == FZ_NATIVE_STACKS)
		return fz_fail(err, FZ_EUSAGE,
			       "--wait cannot be combined with %s, which stops the program for "
			       "each sample",
			       o->native == FZ_NATIVE_STACKS ? "--native=stacks" : "--blocking");
	if (o->tasks != FZ_PYTHON_TASKS_NONE)
		return fz_fail(err, FZ_EUSAGE, "--wait cannot be combined with --async-aware");
	return fz_asleep_check(getpid(), &why) ? fz_fail(err, why.code, "--wait: %s", why.message)
					       : 0;
}

int fz_engine_load(const struct fz_record_options *o, struct fz_bpf **ret, struct fz_error *err)
{
	const char *beyond = what_is_beyond(o);
	struct fz_error why;

	*ret = NULL;
	if (beyond && o->sampled_by == FZ_ENGINE_BPF)
		return fz_fail(err, FZ_EUSAGE, "%s %s", name_of(o), beyond);
	if (!beyond && o->sampled_by != FZ_ENGINE_READ && !load(o, ret, &why))
		return 0;
	if (o->sampled_by == FZ_ENGINE_BPF)
		return fz_fail(err, why.code, "%s: %s", name_of(o), why.message);
	return o->waits ? check_sampled_waits(o, err) : 0;
}

int fz_engine_check(const struct fz_record_options *o, struct fz_error *err)
{
	struct fz_bpf *loaded = NULL;
	int rc = o->sampled_by == FZ_ENGINE_BPF || o->waits ? fz_engine_load(o, &loaded, err) : 0;

	fz_engine_unload(loaded);
	return rc;
}

static int try_bpf(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const char *beyond = what_is_beyond(s->options);

	if (!beyond && !p->target.python)
		beyond = "reads only Python";
	if (beyond)
		return fz_fail(err, FZ_EUNSUPPORTED, "bpf %s", beyond);
#ifdef FZ_BPF
	return fz_engine_bpf.begin(s, p, err);
#else
	return fz_engine_check_bpf(FZ_ENGINE_FOR_THREADS, err);
#endif
}

/* Note how waits are recorded. If exec changes the engine, they count as sampled. */
static void note_waits(struct fz_sampler *s, const char *why_not_bpf)
{
	unsigned *features = &s->profile->recording.features;

	if (s->engine == &fz_engine_read)
		*features = (*features & ~(unsigned)FZ_FEATURE_WAITS) | FZ_FEATURE_SAMPLED_WAITS;
	fz_profile_set_fact(s->profile, "waits",
			    *features & FZ_FEATURE_SAMPLED_WAITS ? FZ_STR("sampled")
								 : FZ_STR("exact"));
	if (!*why_not_bpf)
		return;
	fz_fail(&s->sampled_waits, FZ_EUNSUPPORTED,
		"--wait: waits are sampled, without exact durations or who ended them: %s",
		why_not_bpf);
	s->warnings[FZ_WARN_WAITS] = s->sampled_waits.message;
}

static void use(struct fz_sampler *s, const struct fz_engine *engine, const char *why_not_bpf)
{
	s->engine = engine;
	fz_profile_set_fact(s->profile, "engine", fz_str_of(engine->name));
	fz_profile_set_fact(s->profile, "engine.why_not_bpf", fz_str_of(why_not_bpf));
	if (s->options->waits)
		note_waits(s, why_not_bpf);
}

int fz_engine_begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	struct fz_error why = { 0 };
	bool settled = s->open_n > 1; /* all processes of a tree use the first one's engine */
	int rc = 0;

	fz_assert(fz_target_is_open(&p->target) && s->open_n > 0);
	if (settled && s->engine == &fz_engine_read)
		return s->engine->begin(s, p, err);
	if (s->options->sampled_by != FZ_ENGINE_READ) {
		rc = try_bpf(s, p, &why);
#ifdef FZ_BPF
		if (!rc) {
			use(s, &fz_engine_bpf, "");
			return 0;
		}
#endif
	}
	bool insists = s->options->sampled_by == FZ_ENGINE_BPF;
	if (rc && (settled || insists))
		return fz_fail(err, rc == FZ_EGONE ? rc : FZ_EUNSUPPORTED, "%s: %s%s",
			       name_of(s->options), why.message,
			       insists ? "" : "; use --engine read to sample every process");
	use(s, &fz_engine_read, why.message);
	return s->engine->begin(s, p, err);
}

int fz_engine_begin_machine(struct fz_sampler *s, struct fz_error *err)
{
#ifdef FZ_BPF
	s->engine = &fz_engine_machine;
	return s->engine->begin(s, NULL, err);
#else
	(void)s;
	return fz_engine_check_bpf(FZ_ENGINE_FOR_MACHINE, err);
#endif
}

void fz_engine_free(struct fz_sampler *s)
{
	fz_engine_read.free(s);
#ifdef FZ_BPF
	fz_engine_bpf.free(s);
	fz_engine_machine.free(s);
#endif
	for (size_t i = 0; i < FZ_ENGINE_SLOTS; i++)
		fz_assert(!s->states[i]);
}
