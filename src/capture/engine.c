/* SPDX-License-Identifier: MIT */
/* Which engine takes the samples: the one in the kernel where it is allowed and can tell all that
 * was asked for, else the reader. */
#include "capture/engine.h"

#ifdef FZ_BPF
#include "capture/bpf/bpf.h"
#endif

const char *const fz_engine_choices[] = { "auto", "bpf", "read", NULL };

enum { RATE_MAX = 50000 };

/* What it cannot do, whatever the kernel allows; NULL: nothing of it was asked for. */
static const char *what_is_beyond(const struct fz_sampler_options *o)
{
	const struct fz_python_options *p = &o->python;
	const struct {
		bool asked;
		const char *answer;
	} limits[] = {
		{ o->clock != FZ_CLOCK_CPU && !o->waits,
		  "samples CPU time and waits; add --mode cpu or --wait" },
		{ o->blocking, "does not stop the program: leave out --blocking" },
		{ o->stacks || p->native, "reads no native frames: leave out --native" },
		{ p->opcodes, "reads no instructions: leave out --opcodes" },
		{ p->tasks != FZ_PYTHON_TASKS_NONE, "reads no tasks: leave out --async-aware" },
		{ o->subprocesses, "samples one process: leave out --subprocesses" },
		{ o->rate.micro_hz > RATE_MAX * (uint64_t)1000000,
		  "takes 50,000 samples a second at most" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(limits); i++)
		if (limits[i].asked)
			return limits[i].answer;
	return NULL;
}

/* What was asked for that takes it. */
static const char *name_of(const struct fz_sampler_options *o)
{
	return o->machine  ? "--system"
	       : o->growth ? "--pagefaults"
	       : o->waits  ? "--wait"
			   : "--engine bpf";
}

enum fz_engine_use fz_engine_use_of(const struct fz_sampler_options *o)
{
	return o->machine  ? FZ_ENGINE_FOR_MACHINE
	       : o->growth ? FZ_ENGINE_FOR_GROWTH
	       : o->waits  ? FZ_ENGINE_FOR_WAITS
			   : FZ_ENGINE_FOR_THREADS;
}

int fz_engine_check(const struct fz_sampler_options *o, struct fz_error *err)
{
	const char *beyond = what_is_beyond(o), *name = name_of(o);
	struct fz_error why;

	if (o->engine != FZ_ENGINE_BPF)
		return 0;
	if (beyond)
		return fz_fail(err, FZ_EUSAGE, "%s: it %s", name, beyond);
	if (fz_engine_check_bpf(fz_engine_use_of(o), &why))
		return fz_fail(err, why.code, "%s: %s", name, why.message);
	return 0;
}

static int try_bpf(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	const char *beyond = what_is_beyond(s->options);

	if (!beyond && !p->target.python)
		beyond = "reads Python only";
	if (beyond)
		return fz_fail(err, FZ_EUNSUPPORTED, "it %s", beyond);
#ifdef FZ_BPF
	return fz_engine_bpf.begin(s, p, err);
#else
	return fz_engine_check_bpf(fz_engine_use_of(s->options), err);
#endif
}

static void use(struct fz_sampler *s, const struct fz_engine *engine, const char *why_not_bpf)
{
	s->engine = engine;
	fz_profile_set_fact(s->profile, "engine", fz_str_of(engine->name));
	fz_profile_set_fact(s->profile, "engine.why_not_bpf", fz_str_of(why_not_bpf));
}

int fz_engine_begin(struct fz_sampler *s, struct fz_target_process *p, struct fz_error *err)
{
	struct fz_error why = { 0 };
	int rc = 0;

	if (s->options->engine != FZ_ENGINE_READ) {
		rc = try_bpf(s, p, &why);
#ifdef FZ_BPF
		if (!rc) {
			use(s, &fz_engine_bpf, "");
			return 0;
		}
#endif
	}
	if (rc && s->options->engine == FZ_ENGINE_BPF)
		return fz_fail(err, rc == FZ_EGONE ? rc : FZ_EUNSUPPORTED, "%s: %s",
			       name_of(s->options), why.message);
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

int fz_engine_check_bpf(enum fz_engine_use use, struct fz_error *err)
{
#ifdef FZ_BPF
	struct fz_bpf *b;
	int rc = use == FZ_ENGINE_FOR_MACHINE ? fz_machine_load(&b, err) : fz_bpf_new(use, &b, err);

	if (!rc)
		fz_bpf_free(b);
	return rc;
#else
	(void)use;
	return fz_fail(err, FZ_EUNSUPPORTED, "it was left out of this build");
#endif
}

void fz_engine_free(struct fz_sampler *s)
{
	fz_engine_read.free(s);
#ifdef FZ_BPF
	fz_engine_bpf.free(s);
	fz_engine_machine.free(s);
#endif
}
