/* SPDX-License-Identifier: MIT */
/* Sampling one CPython process; python.h has the contract, walk.h the picture of a thread.
 *
 * All that a sample needs is one plan, copied by one call:
 *
 *   GILs | interpreters | thread | thread | ... | GILs again
 *
 * The plan is kept from sample to sample and made anew only when a walk had to learn something.
 * A thread runs Python code only while it holds the GIL, and the GIL counts its changes of owner.
 * So while the count stands still between the first and the last part of the plan, only the
 * holder's frames can have changed, and only its regions need to be copied twice. And as long as
 * it stands still from sample to sample, the others need not be copied at all.
 *
 * A thread whose copies contradict each other is read again, alone, a bounded number of times.
 *
 * Where tasks are asked for (asyncio.h) they are copied before the plan and once more after it.
 */
#include <errno.h>

#include "asyncio.h"
#include "code.h"
#include "exception.h"
#include "python.h"
#include "runtime.h"
#include "threads.h"
#include "base/clock.h"

enum {
	TRIES_MAX = 24, /* a call takes less time than a copy: some tries meet no change */
	LEARN_MAX = 64, /* reads that were held up or only told a walk where frames are */
	BLOCK_MAX = 64 << 10,
	LIST_TRIES_MAX = 4,
	DUAL_SAMPLES = 64, /* samples for which a thread that ran is copied twice */
	LOOK_EVERY_NS = 10 * 1000 * 1000,
	EXPIRE_EVERY_NS = 100 * 1000,
	EXPIRE_LAG = 200, /* times as long for frames that did not change */
	HOLD_OFF_MAX = 63,
	CHURN_NS = 2000 * 1000 * 1000,
	LIST_EVERY_NS = 100 * 1000 * 1000,
	YOUNG_EVERY_NS = 1000 * 1000,
	TASK_TRIES_MAX = 24,
};

struct fz_python {
	struct fz_process process;
	struct fz_py_runtime runtime;
	const struct fz_py_layout *layout;
	struct fz_python_info info;
	struct fz_python_options options;
	struct fz_profile *into;
	struct fz_py_codes codes;
	struct fz_py_walk_context context;
	struct fz_py_threads threads;
	struct fz_py_tasks tasks;
	struct fz_py_tasks_thread task_thread; /* of the walk that was last accepted */
	bool by_task; /* tasks are asked for; asyncio may not be there yet */

	struct fz_py_plan plan;  /* of all threads */
	struct fz_py_plan again; /* of one that is read again */
	bool plan_stale, threads_stale;
	uint32_t block_lo, block_size; /* part of an interpreter that is copied */
	size_t gc_at;                  /* 3.8: copy of the runtime's gc.collecting */

	struct fz_python_stack *stacks;
	size_t stack_n, stack_cap;
	int64_t next_look, next_list, next_expiry, churn_end;
	uint32_t seen_changes;
};

/* ---- opening ---- */

/* The stretch of an interpreter that holds everything a sample looks at. */
static int find_block(struct fz_python *py, struct fz_error *err)
{
	const struct fz_py_layout *l = py->layout;
	const uint32_t fields[] = { l->interp.threads_head, l->interp.gc_collecting,
				    l->interp.gc_frame, l->interp.code_generation,
				    l->interp.tlbc_generation };
	uint32_t lo = l->interp.threads_head, hi = lo + 8;

	for (size_t i = 0; i < FZ_ARRAY_LEN(fields); i++) {
		if (fields[i] == FZ_PY_ABSENT)
			continue;
		lo = FZ_MIN(lo, fields[i]);
		hi = FZ_MAX(hi, fields[i] + 8);
	}
	py->block_lo = lo & ~7u;
	py->block_size = ((hi + 7) & ~7u) - py->block_lo;
	if (py->block_size > BLOCK_MAX)
		return fz_fail(
			err, FZ_EINPUT,
			"process %d: its table of offsets is damaged: an interpreter's fields "
			"lie %u bytes apart",
			(int)py->process.pid, py->block_size);
	return 0;
}

static uint32_t marker(struct fz_profile *p, const char *name, const char *file)
{
	return fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), FZ_NO_LINE,
				      FZ_KIND_MARKER);
}

static void prepare_tasks(struct fz_python *py)
{
	const struct fz_python_options *o = &py->options;

	py->tasks = (struct fz_py_tasks){
		.process = &py->process,
		.runtime = &py->runtime,
		.codes = &py->codes,
		.unreadable_frame = py->context.unreadable_frame,
		.options = { .all = o->tasks == FZ_PYTHON_TASKS_ALL,
			     .stopped = o->stopped,
			     .names = o->task_names,
			     .opcodes = o->opcodes },
	};
	fz_py_tasks_look(&py->tasks);
}

int fz_python_open(pid_t pid, const struct fz_python_options *options, struct fz_profile *into,
		   struct fz_python **ret, struct fz_error *err)
{
	struct fz_python *py = fz_calloc(1, sizeof(*py));
	struct fz_py_steps steps = { options->step, options->step_arg };
	int rc = fz_process_open(&py->process, pid, err);

	py->options = *options;
	py->into = into;
	py->layout = &py->runtime.layout;
	py->threads_stale = py->plan_stale = true;
	/* A program that begins imports: the code of modules is run and freed. */
	py->churn_end = fz_clock_now() + CHURN_NS;
	if (rc == 0)
		rc = fz_py_runtime_find(&py->process, options->best_effort, &steps, &py->runtime,
					err);
	if (rc == 0)
		rc = find_block(py, err);
	if (rc < 0) {
		fz_python_close(py);
		return rc;
	}
	py->info = (struct fz_python_info){
		.free_threaded = py->layout->free_threaded,
		.exact = py->layout->frames != FZ_PY_FRAMES_HEAP,
		.runtime = py->runtime.address,
		.module = py->runtime.module,
	};
	memcpy(py->info.version, py->runtime.version, sizeof(py->info.version));
	fz_py_codes_init(&py->codes, &py->process, py->layout, into);
	py->context = (struct fz_py_walk_context){
		.process = &py->process,
		.layout = py->layout,
		.codes = &py->codes,
		.native = options->native,
		.opcodes = options->opcodes,
		.gc_frame = marker(into, "<GC>", "~"),
		.native_frame = marker(into, "<native>", "~"),
		.unreadable_frame = marker(into, "[unreadable]", ""),
		.segments = options->segments,
	};
	py->by_task = options->tasks != FZ_PYTHON_TASKS_NONE;
	if (py->by_task)
		prepare_tasks(py);
	*ret = py;
	return 0;
}

int fz_python_check(const struct fz_python *py, enum fz_mode mode, struct fz_error *err)
{
	const uint8_t *v = py->runtime.version;

	if (py->by_task && py->layout->coro.frame == FZ_PY_ABSENT)
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"--async-aware: Python %u.%u does not tell where its tasks are; 3.14 "
			"and later do",
			v[0], v[1]);
	if (py->options.opcodes && py->layout->frames == FZ_PY_FRAMES_HEAP)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--opcodes: Python %u.%u does not specialise instructions; 3.11 and "
			       "later do",
			       v[0], v[1]);
	if (py->options.native && py->layout->frames == FZ_PY_FRAMES_HEAP)
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"--native: Python %u.%u does not tell calls of Python functions by C "
			"code from others; 3.11 and later do",
			v[0], v[1]);
	if (mode == FZ_MODE_EXCEPTION && !fz_py_exception_known(&py->runtime))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--mode exception: this build of Python %u.%u does not tell where "
			       "None is, which stands for 'no exception'; record all samples "
			       "instead",
			       v[0], v[1]);
	return 0;
}

void fz_python_close(struct fz_python *py)
{
	if (!py)
		return;
	fz_py_threads_release(&py->threads);
	fz_py_tasks_release(&py->tasks);
	fz_py_plan_release(&py->plan);
	fz_py_plan_release(&py->again);
	fz_py_codes_release(&py->codes);
	fz_py_runtime_release(&py->runtime);
	fz_process_release(&py->process);
	free(py->stacks);
	free(py);
}

const struct fz_python_info *fz_python_info(const struct fz_python *py)
{
	return &py->info;
}

/* ---- planning ---- */

static uint32_t gil_size(const struct fz_py_layout *l)
{
	return l->gil.switches + 8 - l->gil.last_holder;
}

static bool needs_second_copy(const struct fz_python *py, const struct fz_py_thread *t)
{
	if (py->options.stopped)
		return false;
	return py->layout->free_threaded || t->dual_left > 0 ||
	       py->threads.interps[t->interp].gil == FZ_NONE || py->threads.n == 1;
}

/* A lock that is part of an interpreter's structure (from 3.12 on) lies in its block already. */
static size_t plan_gil(struct fz_python *py, uint64_t at)
{
	uint32_t size = gil_size(py->layout);

	for (uint32_t i = 0; i < py->threads.interp_n; i++) {
		const struct fz_py_interp *interp = &py->threads.interps[i];
		uint64_t lo = interp->address + py->block_lo;
		if (at >= lo && at - lo <= py->block_size && py->block_size - (at - lo) >= size)
			return interp->at + (size_t)(at - lo);
	}
	return fz_py_plan_add(&py->plan, at, size);
}

static void make_plan(struct fz_python *py)
{
	const struct fz_py_layout *l = py->layout;
	struct fz_py_threads *t = &py->threads;
	bool watch_gil = t->n > 1 && !py->options.stopped && !l->free_threaded;

	fz_py_plan_reset(&py->plan);
	for (uint32_t i = 0; i < t->interp_n; i++)
		t->interps[i].at = fz_py_plan_add(&py->plan, t->interps[i].address + py->block_lo,
						  py->block_size);
	for (uint32_t i = 0; i < t->gil_n; i++)
		t->gils[i].at = plan_gil(py, t->gils[i].address + l->gil.last_holder);
	if (l->runtime.gc_collecting != FZ_PY_ABSENT)
		py->gc_at = fz_py_plan_add(&py->plan,
					   py->runtime.address + l->runtime.gc_collecting, 8);
	for (uint32_t i = 0; i < t->n; i++) {
		struct fz_py_walk *w = &t->list[i].walk;
		w->dual = needs_second_copy(py, &t->list[i]);
		if (t->list[i].waits)
			fz_py_walk_plan_state(w, l, &py->plan,
					      l->thread.gil_requested != FZ_PY_ABSENT);
		else
			fz_py_walk_plan(w, l, &py->plan);
	}
	for (uint32_t i = 0; i < t->gil_n; i++) {
		t->gils[i].at_end = FZ_PY_NO_COPY;
		if (watch_gil)
			t->gils[i].at_end = fz_py_plan_add(
				&py->plan, t->gils[i].address + l->gil.last_holder, gil_size(l));
	}
	py->plan_stale = false;
}

/* ---- reading what was copied ---- */

static uint64_t u64_at(const struct fz_py_plan *plan, size_t at)
{
	uint64_t v;

	memcpy(&v, plan->buffer + at, sizeof(v));
	return v;
}

static uint32_t u32_at(const struct fz_py_plan *plan, size_t at)
{
	uint32_t v;

	memcpy(&v, plan->buffer + at, sizeof(v));
	return v;
}

struct gil_state {
	uint64_t holder, switches;
	bool locked;
};

static struct gil_state read_gil(const struct fz_python *py, size_t at)
{
	const struct fz_py_layout *l = py->layout;

	return (struct gil_state){
		.holder = u64_at(&py->plan, at),
		.locked = (int32_t)u32_at(&py->plan, at + l->gil.locked - l->gil.last_holder) > 0,
		.switches = u64_at(&py->plan, at + l->gil.switches - l->gil.last_holder),
	};
}

static size_t block_field(const struct fz_python *py, const struct fz_py_interp *interp,
			  uint32_t field)
{
	return interp->at + (field - py->block_lo);
}

static bool is_collecting(const struct fz_python *py, const struct fz_py_interp *interp)
{
	const struct fz_py_layout *l = py->layout;

	if (l->runtime.gc_collecting != FZ_PY_ABSENT)
		return u32_at(&py->plan, py->gc_at) != 0;
	return u32_at(&py->plan, block_field(py, interp, l->interp.gc_collecting)) != 0;
}

/* Frame under which the collection runs, where the interpreter says so. */
static uint64_t collecting_frame(const struct fz_python *py, const struct fz_py_interp *interp)
{
	if (!py->options.gc || py->layout->interp.gc_frame == FZ_PY_ABSENT ||
	    !is_collecting(py, interp))
		return 0;
	return u64_at(&py->plan, block_field(py, interp, py->layout->interp.gc_frame));
}

/* Before 3.14 nothing tells that code objects were freed: cached ones are compared with the target
 * after some time, and at every sample for a while after one turned out to be another. */
static void expire_by_time(struct fz_python *py, int64_t now)
{
	if (py->codes.changes != py->seen_changes)
		py->churn_end = now + CHURN_NS;
	py->seen_changes = py->codes.changes;
	bool churning = now < py->churn_end;
	if (churning || now >= py->next_expiry) {
		fz_py_codes_expire(&py->codes);
		py->next_expiry = now + EXPIRE_EVERY_NS;
	}
	py->codes.lag = churning ? 0 : EXPIRE_LAG;
}

/* Code turned out to be another after the frames that run it were copied: was it already when they
 * were? False: the interpreter's count says so, or it stands still. */
static bool doubt_codes(struct fz_python *py)
{
	if (py->options.stopped || py->layout->interp.code_generation != FZ_PY_ABSENT)
		return false;
	fz_py_codes_expire(&py->codes);
	py->codes.lag = 0;
	return true;
}

/* Interpreters count the code objects they free; a cached one may be another from then on. */
static void check_generations(struct fz_python *py, int64_t now)
{
	const struct fz_py_layout *l = py->layout;

	if (l->interp.code_generation == FZ_PY_ABSENT) {
		expire_by_time(py, now);
		return;
	}
	for (uint32_t i = 0; i < py->threads.interp_n; i++) {
		struct fz_py_interp *interp = &py->threads.interps[i];
		uint64_t count =
			u64_at(&py->plan, block_field(py, interp, l->interp.code_generation));
		if (count != interp->code_generation)
			fz_py_codes_expire(&py->codes);
		interp->code_generation = count;
	}
}

static void check_lists(struct fz_python *py)
{
	const struct fz_py_layout *l = py->layout;

	if (!py->options.all_threads && !py->by_task)
		return;
	for (uint32_t i = 0; i < py->threads.interp_n; i++) {
		const struct fz_py_interp *interp = &py->threads.interps[i];
		if (u64_at(&py->plan, block_field(py, interp, l->interp.threads_head)) !=
		    interp->head)
			py->threads_stale = true;
	}
	for (uint32_t i = 0; i < py->threads.n; i++) {
		const struct fz_py_thread *t = &py->threads.list[i];
		if (t->walk.at_tstate != FZ_PY_NO_COPY &&
		    u64_at(&py->plan, t->walk.at_tstate + l->thread.next) != t->next)
			py->threads_stale = true;
	}
}

/* Mark threads that may have run since they were copied: they need a second copy. */
static void find_runners(struct fz_python *py)
{
	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_py_thread *t = &py->threads.list[i];
		uint32_t gil = py->threads.interps[t->interp].gil;

		if (gil == FZ_NONE || py->threads.gils[gil].at_end == FZ_PY_NO_COPY)
			continue;
		struct gil_state first = read_gil(py, py->threads.gils[gil].at);
		struct gil_state end = read_gil(py, py->threads.gils[gil].at_end);
		if (t->walk.tstate == first.holder || t->walk.tstate == end.holder ||
		    end.switches - first.switches > 1)
			t->dual_left = DUAL_SAMPLES;
		else if (t->dual_left > 0 && --t->dual_left == 0)
			py->plan_stale = true;
	}
}

/* ---- threads that wait ---- */

/* A thread that did not hold the GIL while it was copied has the same stack until the GIL changes
 * hands: it need not be copied again. Where that happens all the time, it is tried less often. */
static void let_wait(struct fz_python *py, struct fz_py_thread *t, const struct fz_python_stack *s)
{
	uint32_t i = py->threads.interps[t->interp].gil;

	/* Whose tasks another thread may have woken. */
	if (py->by_task || i == FZ_NONE || py->threads.gils[i].at_end == FZ_PY_NO_COPY ||
	    s->rejected || py->threads.gils[i].hold_off > 0)
		return;
	struct gil_state first = read_gil(py, py->threads.gils[i].at);
	struct gil_state end = read_gil(py, py->threads.gils[i].at_end);
	if (first.switches != end.switches || t->walk.tstate == first.holder ||
	    t->walk.tstate == end.holder)
		return;
	t->waits = true;
	t->switches = end.switches;
	t->stack = s->stack;
	py->plan_stale = true;
}

/* Has a GIL changed hands since threads were left out of the plan? Then they are in it again. */
static bool waiting_is_over(struct fz_python *py)
{
	bool over = false;

	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_py_thread *t = &py->threads.list[i];
		if (!t->waits)
			continue;
		uint32_t gil = py->threads.interps[t->interp].gil;
		struct fz_py_gil *g = gil == FZ_NONE ? NULL : &py->threads.gils[gil];
		if (g && g->at_end != FZ_PY_NO_COPY &&
		    read_gil(py, g->at_end).switches == t->switches)
			continue;
		t->waits = false;
		py->plan_stale = over = true;
		if (g && g->hold_off == 0) {
			g->last_hold_off = FZ_MIN(g->last_hold_off * 2 + 1, HOLD_OFF_MAX);
			g->hold_off = g->last_hold_off;
		}
	}
	return over;
}

static void count_down(struct fz_python *py)
{
	for (uint32_t i = 0; i < py->threads.gil_n; i++) {
		struct fz_py_gil *g = &py->threads.gils[i];
		if (g->hold_off > 0)
			g->hold_off--;
		else if (g->last_hold_off > 0 && ++g->calm % HOLD_OFF_MAX == 0)
			g->last_hold_off /= 2;
	}
}

/* ---- one thread ---- */

/* Without a GIL every thread that is not parked outside the interpreter counts as holding it. */
static bool holds_gil(const struct fz_python *py, const struct fz_py_thread *t)
{
	enum { STATUS_ACTIVE = 16 };
	const struct fz_py_layout *l = py->layout;
	uint32_t i = py->threads.interps[t->interp].gil;
	size_t at = t->walk.at_tstate;

	if (l->free_threaded && l->thread.status != FZ_PY_ABSENT)
		return u32_at(&py->plan, at + l->thread.status) & STATUS_ACTIVE;
	if (l->thread.holds_gil != FZ_PY_ABSENT)
		return u32_at(&py->plan, at + l->thread.holds_gil) != 0;
	if (i == FZ_NONE)
		return false;
	struct gil_state gil = read_gil(py, py->threads.gils[i].at);
	return gil.locked && gil.holder == t->walk.tstate;
}

static uint8_t thread_status(struct fz_python *py, struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	size_t at = t->walk.at_tstate;
	uint8_t status = FZ_STATUS_UNKNOWN;

	if (t->is_main)
		status |= FZ_STATUS_MAIN_THREAD;
	if (at != FZ_PY_NO_COPY) {
		if (holds_gil(py, t)) {
			status |= FZ_STATUS_HAS_GIL;
			if (is_collecting(py, &py->threads.interps[t->interp]))
				status |= FZ_STATUS_GC;
		} else if (l->thread.gil_requested != FZ_PY_ABSENT &&
			   u32_at(&py->plan, at + l->thread.gil_requested) != 0) {
			status |= FZ_STATUS_GIL_REQUESTED;
		}
		/* A thread that waits changes nothing. */
		if (!t->waits && fz_py_exception_known(&py->runtime))
			t->exception = fz_py_exception(&py->process, &py->runtime, t->walk.tstate,
						       py->plan.buffer + at);
	}
	if (t->exception)
		status |= FZ_STATUS_HAS_EXCEPTION;
	return status;
}

/* Copy one thread's memory again, by a plan of its own. */
static enum fz_py_outcome read_again(struct fz_python *py, struct fz_py_thread *t)
{
	size_t got;

	t->walk.dual = !py->options.stopped;
	py->plan_stale = true;
	fz_py_plan_reset(&py->again);
	fz_py_walk_plan(&t->walk, py->layout, &py->again);
	if (fz_py_plan_read(&py->again, &py->process, &got) == 0)
		return FZ_PY_WALK_OK;
	if (errno != EFAULT || !fz_py_walk_unmapped(&t->walk, got))
		return FZ_PY_WALK_GONE;
	return FZ_PY_WALK_UNMAPPED;
}

/* Why a sample is rejected, or -1 when the outcome only means that it must be read again. */
static int reject_reason(enum fz_py_outcome outcome)
{
	static const int reasons[] = {
		[FZ_PY_WALK_OK] = -1,
		[FZ_PY_WALK_CHANGED] = FZ_REJECT_CHANGED,
		[FZ_PY_WALK_MISSING] = -1,
		[FZ_PY_WALK_ROOT] = FZ_REJECT_ROOT,
		[FZ_PY_WALK_CORRUPT] = FZ_REJECT_CORRUPT,
		[FZ_PY_WALK_UNMAPPED] = FZ_REJECT_UNMAPPED,
		[FZ_PY_WALK_GONE] = -1,
	};

	return reasons[outcome];
}

/* Which task runs, by this copy of the thread, and where in its stack that one's coroutine is. */
static void find_task(struct fz_python *py, struct fz_py_thread *t, const struct fz_py_plan *plan)
{
	if (!py->tasks.found)
		return;
	py->task_thread =
		fz_py_tasks_thread(&py->tasks, t->walk.tstate, plan->buffer + t->walk.at_tstate);
	t->walk.mark = fz_py_tasks_frame(&py->tasks, &py->task_thread);
}

/* The thread's stack from the common copy or, when that contradicts itself or is not wanted, from
 * its own. False: the thread ended. */
static bool take_thread(struct fz_python *py, struct fz_py_thread *t, bool anew,
			struct fz_python_stack *ret, unsigned *retries)
{
	const struct fz_py_interp *interp = &py->threads.interps[t->interp];
	uint64_t gc_frame = collecting_frame(py, interp);
	unsigned tries = 0, learned = 0;
	int reject = FZ_REJECT_CHANGED;
	enum fz_py_outcome rc;
	const struct fz_py_plan *plan = &py->plan;

	/* Where its state is in the common copy is not known any more once it was read alone. */
	uint8_t status = anew ? ret->status : thread_status(py, t);
	*ret = (struct fz_python_stack){ .thread = t->thread, .status = status };
	if (t->waits) {
		ret->stack = t->stack;
		return true;
	}
	bool gc = py->options.gc && py->layout->interp.gc_frame == FZ_PY_ABSENT &&
		  (ret->status & FZ_STATUS_GC);
	fz_py_walk_begin(&t->walk);
	rc = anew || (t->dual_left && !t->walk.dual && !py->options.stopped) ? FZ_PY_WALK_MISSING
									     : FZ_PY_WALK_OK;
	for (;;) {
		/* Two copies taken far apart can agree by chance. */
		if (rc == FZ_PY_WALK_OK && plan->interrupted && t->walk.dual)
			rc = FZ_PY_WALK_MISSING;
		if (rc == FZ_PY_WALK_OK) {
			find_task(py, t, plan);
			rc = fz_py_walk_run(&t->walk, &py->context, plan, gc_frame);
		}
		uint32_t changes = py->codes.changes;
		if (rc == FZ_PY_WALK_OK)
			rc = fz_py_walk_accept(&t->walk, &py->context, gc, &ret->stack);
		if (rc == FZ_PY_WALK_OK && py->codes.changes != changes && doubt_codes(py))
			rc = FZ_PY_WALK_CHANGED;
		if (rc == FZ_PY_WALK_OK && py->options.segments)
			fz_py_walk_calls(&t->walk, &py->context, plan, gc, &ret->calls);
		if (rc == FZ_PY_WALK_OK)
			break;
		if (rc == FZ_PY_WALK_GONE)
			return false;
		if (reject_reason(rc) >= 0)
			reject = reject_reason(rc);
		if (rc == FZ_PY_WALK_MISSING ? ++learned > LEARN_MAX : ++tries >= TRIES_MAX) {
			ret->rejected = true;
			ret->reject = (uint8_t)reject;
			ret->stack = fz_py_walk_salvage(&t->walk, &py->context);
			break;
		}
		++*retries;
		plan = &py->again;
		rc = read_again(py, t);
	}
	if (fz_py_walk_is_due(&t->walk))
		py->plan_stale = true;
	let_wait(py, t, ret);
	return true;
}

/* ---- the tasks of a thread ---- */

static struct fz_python_stack *next_stack(struct fz_python *py)
{
	fz_grow(py->stacks, py->stack_n, py->stack_cap);
	return &py->stacks[py->stack_n++];
}

/* Does a thread show its own stack where no task runs in it? One that only waits is there for the
 * tasks that wait; one without asyncio is shown as without tasks. */
static bool shows_itself(const struct fz_python *py, const struct fz_py_thread *t,
			 const struct fz_python_stack *own)
{
	if (py->tasks.stack_n)
		return own->status & FZ_STATUS_HAS_GIL;
	return t->is_main || py->options.all_threads || (py->tasks.found && py->task_thread.loop);
}

static void put_tasks(struct fz_python *py, const struct fz_py_thread *t,
		      const struct fz_python_stack *own, bool runs)
{
	size_t first = py->stack_n;

	if (!runs && shows_itself(py, t, own))
		*next_stack(py) = *own;
	for (uint32_t i = 0; i < py->tasks.stack_n; i++) {
		const struct fz_py_task_stack *from = &py->tasks.stacks[i];
		struct fz_python_stack *to = next_stack(py);
		*to = *own;
		to->stack = from->stack;
		to->rejected = from->rejected;
		to->reject = FZ_REJECT_CHANGED;
		/* The first stack of an instant is the one that says what the thread does. */
		to->waiting = py->stack_n - first > 1;
		if (to->waiting)
			to->status = (own->status & FZ_STATUS_MAIN_THREAD) | FZ_STATUS_BESIDE;
	}
}

/* The copy of the thread and those of its tasks around it must fit together. */
static void take_tasks(struct fz_python *py, struct fz_py_thread *t, unsigned *retries)
{
	struct fz_python_stack own;
	enum fz_py_outcome rc = FZ_PY_WALK_CHANGED;
	bool runs = false;

	py->tasks.stack_n = 0;
	for (unsigned i = 0; i < TASK_TRIES_MAX && rc != FZ_PY_WALK_OK; i++) {
		if (i) {
			++*retries;
			fz_py_tasks_begin(&py->tasks);
		}
		if (!take_thread(py, t, i > 0, &own, retries)) {
			py->threads_stale = true;
			return;
		}
		if (!py->tasks.found || own.rejected)
			break;
		bool there = own.stack != FZ_NONE && t->walk.mark && t->walk.mark_at != FZ_NONE;
		rc = fz_py_tasks_take(&py->tasks, &py->task_thread, own.stack, there,
				      there ? fz_py_walk_marked(&t->walk) : FZ_NONE, &runs);
	}
	if (py->tasks.found && !own.rejected && rc != FZ_PY_WALK_OK) {
		own.rejected = true;
		own.reject = FZ_REJECT_CHANGED;
		own.stack = fz_profile_stack(py->into, FZ_NONE, py->context.unreadable_frame);
	}
	put_tasks(py, t, &own, runs);
}

/* ---- a sample ---- */

/* What is looked at now and then: is it the same program, are there new interpreters? */
static int look_around(struct fz_python *py, int64_t now, struct fz_error *err)
{
	if (!fz_process_alive(&py->process))
		return fz_fail(err, FZ_EGONE, "process %d: it ended", (int)py->process.pid);
	if (!fz_process_same_image(&py->process)) {
		/* A process that is ending has lost its memory before its number. */
		char byte;
		if (!fz_process_read(&py->process, py->runtime.address, &byte, 1) && errno == ESRCH)
			return fz_fail(err, FZ_EGONE, "process %d: it ended", (int)py->process.pid);
		return fz_fail(err, FZ_EAGAIN, "process %d: it runs another program now",
			       (int)py->process.pid);
	}
	py->next_look = now + LOOK_EVERY_NS;
	if (now >= py->next_list) {
		if (py->by_task && !py->tasks.found)
			fz_py_tasks_look(&py->tasks);
		py->threads_stale = true;
		py->next_list = now + LIST_EVERY_NS;
	}
	return 0;
}

static void list_threads(struct fz_python *py)
{
	const struct fz_py_threads_context c = {
		.process = &py->process,
		.runtime = &py->runtime,
		.into = py->into,
		.all = py->options.all_threads || py->by_task,
		.left_out = py->options.left_out,
	};

	py->threads_stale = false;
	py->plan_stale = true;
	for (unsigned i = 0; i < LIST_TRIES_MAX; i++)
		if (fz_py_threads_refresh(&py->threads, &c)) {
			if (py->threads.young)
				py->next_look = py->next_list = fz_clock_now() + YOUNG_EVERY_NS;
			return;
		}
	fz_py_threads_release(&py->threads);
	py->threads_stale = true;
}

/* Copy everything. A region that is not there is dropped and the rest copied without it. */
static int read_all(struct fz_python *py, unsigned *retries, struct fz_error *err)
{
	size_t got;

	for (unsigned i = 0; i < TRIES_MAX; i++, ++*retries) {
		if (py->threads_stale)
			list_threads(py);
		if (py->plan_stale)
			make_plan(py);
		if (fz_py_plan_read(&py->plan, &py->process, &got) == 0)
			return 0;
		if (errno != EFAULT)
			return fz_process_trouble(&py->process, errno, err);
		py->threads_stale = py->plan_stale = true;
		for (uint32_t k = 0; k < py->threads.n; k++)
			if (fz_py_walk_unmapped(&py->threads.list[k].walk, got))
				break;
	}
	if (!fz_process_alive(&py->process))
		return fz_fail(err, FZ_EGONE, "process %d: it ended", (int)py->process.pid);
	return fz_fail(err, FZ_EAGAIN, "process %d: its interpreter is gone", (int)py->process.pid);
}

int fz_python_take(struct fz_python *py, struct fz_python_sample *ret, struct fz_error *err)
{
	int64_t now = fz_clock_now();
	unsigned retries = 0;
	int rc = 0;

	if (now >= py->next_look)
		rc = look_around(py, now, err);
	if (py->tasks.found)
		fz_py_tasks_begin(&py->tasks);
	if (rc == 0)
		rc = read_all(py, &retries, err);
	if (rc == 0 && waiting_is_over(py))
		rc = read_all(py, &retries, err);
	if (rc < 0)
		return rc;
	count_down(py);
	check_generations(py, now);
	check_lists(py);
	find_runners(py);
	py->stack_n = 0;
	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_python_stack stack;
		if (py->by_task)
			take_tasks(py, &py->threads.list[i], &retries);
		else if (take_thread(py, &py->threads.list[i], false, &stack, &retries))
			*next_stack(py) = stack;
		else
			py->threads_stale = true;
	}
	*ret = (struct fz_python_sample){ py->stacks, (uint32_t)py->stack_n, retries };
	return 0;
}
