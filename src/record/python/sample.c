/* SPDX-License-Identifier: MIT */
/* Sampling one CPython process; python.h has the contract, walk.h the picture of a thread.
 *
 * A sample needs a single plan, copied in one call:
 *
 *   GILs | interpreters | list of interpreters | thread | thread | ... | GILs again
 *
 * The plan is kept between samples and rebuilt only after a walk met frames outside the regions.
 * A thread runs Python code only while it holds the GIL, and the GIL counts its changes of owner.
 * So if the count is the same in the first and the last part of the plan, only the holder's frames
 * can have changed, and only its regions need to be copied twice. And while it stays the same from
 * sample to sample, the other threads need not be copied at all.
 *
 * A thread whose copies differ is read again, alone, a bounded number of times.
 *
 * Tasks (asyncio.h), if wanted, are copied before the plan and once more after it.
 */
#include <errno.h>

#include "exception.h"
#include "python_state.h"
#include "base/clock.h"

enum {
	/* a Python call can be shorter than a copy, so some tries may be needed */
	TRIES_MAX = 64,
	MIDWAY_TIMES = 8, /* the same impossible state again: the thread hardly runs */
	LEARN_MAX = 64,   /* reads that were interrupted, or only located frames */
	LIST_TRIES_MAX = 4,
	CHANGES_MAX = 4, /* how often a sample's threads may change */
	CHECK_EVERY_NS = 10 * 1000 * 1000,
	EXPIRE_EVERY_NS = 100 * 1000,
	EXPIRE_LAG = 200, /* times longer for unchanged frames */
	LIST_EVERY_NS = 100 * 1000 * 1000,
	YOUNG_EVERY_NS = 1000 * 1000,
	TASK_TRIES_MAX = 24,
};

/* ---- planning ---- */

static bool needs_second_copy(const struct fz_python *py, const struct fz_py_thread *t)
{
	if (py->options.stopped)
		return false;
	return py->layout->free_threaded || t->dual_left > 0 || t->shared ||
	       py->threads.interps[t->interp].gil == FZ_NONE || py->threads.n == 1;
}

static void make_plan(struct fz_python *py)
{
	const struct fz_py_layout *l = py->layout;
	struct fz_py_threads *t = &py->threads;

	fz_py_plan_reset(&py->plan);
	for (uint32_t i = 0; i < t->interp_n; i++)
		t->interps[i].at = fz_py_plan_add(&py->plan, t->interps[i].address + py->block_lo,
						  py->block_size);
	fz_py_gils_plan(py);
	py->interps_at =
		fz_py_plan_add(&py->plan, py->runtime.address + l->runtime.interpreters_head, 8);
	if (t->shared && l->runtime.current != FZ_PY_ABSENT)
		py->current_at =
			fz_py_plan_add(&py->plan, py->runtime.address + l->runtime.current, 8);
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
	fz_py_gils_plan_end(py);
	py->plan_stale = false;
}

/* ---- reading the copy ---- */

static size_t block_field(const struct fz_python *py, const struct fz_py_interp *interp,
			  uint32_t field)
{
	return interp->at + (field - py->block_lo);
}

static bool is_collecting(const struct fz_python *py, const struct fz_py_interp *interp)
{
	const struct fz_py_layout *l = py->layout;

	if (l->runtime.gc_collecting != FZ_PY_ABSENT)
		return fz_py_copied_u32(&py->plan, py->gc_at) != 0;
	return fz_py_copied_u32(&py->plan, block_field(py, interp, l->interp.gc_collecting)) != 0;
}

/* Address of the frame that triggered the running collection; 0 if unknown. */
static uint64_t collecting_frame(const struct fz_python *py, const struct fz_py_interp *interp)
{
	if (!py->options.gc || py->layout->interp.gc_frame == FZ_PY_ABSENT ||
	    !is_collecting(py, interp))
		return 0;
	return fz_py_copied_u64(&py->plan, block_field(py, interp, py->layout->interp.gc_frame));
}

/* Before 3.14 nothing shows that code objects were freed, so cached ones are compared with the
 * target after some time, and at every sample for a while after one was found replaced. */
static void expire_by_time(struct fz_python *py, int64_t now)
{
	if (py->codes.changes != py->seen_changes)
		py->churn_end = now + FZ_PY_CHURN_NS;
	py->seen_changes = py->codes.changes;
	bool churning = now < py->churn_end;
	if (churning || now >= py->next_expiry) {
		fz_py_codes_expire(&py->codes);
		py->next_expiry = now + EXPIRE_EVERY_NS;
	}
	py->codes.lag = churning ? 0 : EXPIRE_LAG;
}

/* Call when a code object was found replaced, which may have happened after the frames that run it
 * were copied: expires the cache. Does nothing and returns false if that is impossible, because the
 * target is stopped or counts freed code. */
static bool expire_codes(struct fz_python *py)
{
	if (py->options.stopped || py->layout->interp.code_generation != FZ_PY_ABSENT)
		return false;
	fz_py_codes_expire(&py->codes);
	py->codes.lag = 0;
	return true;
}

/* Expire the cache if an interpreter's count of freed code objects changed. */
static void check_generations(struct fz_python *py, int64_t now)
{
	const struct fz_py_layout *l = py->layout;

	if (l->interp.code_generation == FZ_PY_ABSENT) {
		expire_by_time(py, now);
		return;
	}
	for (uint32_t i = 0; i < py->threads.interp_n; i++) {
		struct fz_py_interp *interp = &py->threads.interps[i];
		uint64_t count = fz_py_copied_u64(
			&py->plan, block_field(py, interp, l->interp.code_generation));
		if (count != interp->code_generation)
			fz_py_codes_expire(&py->codes);
		interp->code_generation = count;
	}
}

/* Does a change of the interpreter's list of threads matter? If only the main thread is wanted, it
 * does not in the first interpreter (last in the list), where that thread stays; only its states in
 * others come and go. */
static bool counts_threads(const struct fz_python *py, uint32_t interp)
{
	return py->options.all_threads || py->by_task || interp + 1 < py->threads.interp_n;
}

static bool interp_changed(const struct fz_python *py, uint32_t i)
{
	const struct fz_py_layout *l = py->layout;
	const struct fz_py_interp *interp = &py->threads.interps[i];
	const struct fz_py_plan *plan = &py->plan;

	return fz_py_copied_u64(plan, block_field(py, interp, l->interp.next)) != interp->next ||
	       (uint32_t)fz_py_copied_u64(plan, block_field(py, interp, l->interp.id)) !=
		       interp->id ||
	       (counts_threads(py, i) &&
		fz_py_copied_u64(plan, block_field(py, interp, l->interp.threads_head)) !=
			interp->head);
}

static bool thread_changed(const struct fz_python *py, const struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	size_t at = t->walk.at_tstate;

	if (at == FZ_PY_NO_COPY)
		return false;
	return !fz_py_walk_is_same(&t->walk, l, &py->plan) ||
	       (counts_threads(py, t->interp) &&
		fz_py_copied_u64(&py->plan, at + l->thread.next) != t->next);
}

/* Have interpreters or threads started or ended since they were listed? */
static bool lists_changed(const struct fz_python *py)
{
	const struct fz_py_threads *t = &py->threads;

	if (fz_py_copied_u64(&py->plan, py->interps_at) !=
	    (t->interp_n ? t->interps[0].address : 0))
		return true;
	for (uint32_t i = 0; i < t->interp_n; i++)
		if (interp_changed(py, i))
			return true;
	for (uint32_t i = 0; i < t->n; i++)
		if (thread_changed(py, &t->list[i]))
			return true;
	return false;
}

/* ---- one thread ---- */

static uint8_t thread_status(struct fz_python *py, struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	size_t at = t->walk.at_tstate;
	uint8_t status = FZ_STATUS_UNKNOWN;

	if (t->is_main)
		status |= FZ_STATUS_MAIN_THREAD;
	if (at != FZ_PY_NO_COPY) {
		if (fz_py_gils_is_held(py, t)) {
			status |= FZ_STATUS_HAS_GIL;
			if (is_collecting(py, &py->threads.interps[t->interp]))
				status |= FZ_STATUS_GC;
		} else if (l->thread.gil_requested != FZ_PY_ABSENT &&
			   fz_py_copied_u32(&py->plan, at + l->thread.gil_requested) != 0) {
			status |= FZ_STATUS_GIL_REQUESTED;
		}
		/* The exceptions of a waiting thread do not change. */
		if (!t->waits && fz_py_exception_known(&py->runtime))
			t->exception = fz_py_exception(&t->exceptions, &py->runtime, t->walk.tstate,
						       py->plan.buffer + at);
	}
	if (t->exception)
		status |= FZ_STATUS_HAS_EXCEPTION;
	return status;
}

/* Copy one thread's memory again, with a separate plan. */
static enum fz_py_outcome read_again(struct fz_python *py, struct fz_py_thread *t)
{
	size_t got;

	t->walk.dual = !py->options.stopped;
	t->walk.focused = py->layout->frames == FZ_PY_FRAMES_HEAP;
	py->plan_stale = true;
	fz_py_plan_reset(&py->again);
	fz_py_walk_plan(&t->walk, py->layout, &py->again);
	t->walk.focused = false;
	if (fz_py_plan_read(&py->again, &py->process, &got) == 0)
		return FZ_PY_WALK_OK;
	if (errno != EFAULT || !fz_py_walk_unmapped(&t->walk, got))
		return FZ_PY_WALK_GONE;
	return FZ_PY_WALK_UNMAPPED;
}

/* Reason for rejecting a sample, or -1 if the outcome only requires reading it again. */
static int reject_reason(enum fz_py_outcome outcome)
{
	static const int reasons[] = {
		[FZ_PY_WALK_OK] = -1,
		[FZ_PY_WALK_CHANGED] = FZ_REJECT_CHANGED,
		[FZ_PY_WALK_MISSING] = -1,
		[FZ_PY_WALK_UNSURE] = -1,
		[FZ_PY_WALK_ROOT] = FZ_REJECT_ROOT,
		[FZ_PY_WALK_CORRUPT] = FZ_REJECT_CORRUPT,
		[FZ_PY_WALK_UNMAPPED] = FZ_REJECT_UNMAPPED,
		[FZ_PY_WALK_GONE] = -1,
	};

	return reasons[outcome];
}

/* The failed tries of one thread. */
struct tries {
	unsigned failed, learned; /* learned: those that only require reading again */
	int reject;               /* the last reason for rejecting it */
	uint64_t state;           /* an impossible state, and how often it was found again */
	unsigned same;
};

/* Find the running task in this copy of the thread, and its coroutine's place in the stack. */
static void find_task(struct fz_python *py, struct fz_py_thread *t, const struct fz_py_plan *plan)
{
	if (!py->tasks.found)
		return;
	py->task_thread =
		fz_py_tasks_thread(&py->tasks, t->walk.tstate, plan->buffer + t->walk.at_tstate);
	t->walk.mark = fz_py_tasks_frame(&py->tasks, &py->task_thread);
}

/* Was the thread found in the same impossible state often enough? If it ran, it would have left it.
 */
static bool is_midway(const struct fz_py_walk *w, const struct fz_python *py,
		      const struct fz_py_plan *plan, enum fz_py_outcome rc, struct tries *t)
{
	/* An interrupted read says nothing about the thread. */
	if (rc == FZ_PY_WALK_MISSING && plan->interrupted)
		return false;
	bool possible = rc != FZ_PY_WALK_ROOT && rc != FZ_PY_WALK_CORRUPT;
	uint64_t state = possible ? 0 : fz_py_walk_state(w, py->layout, plan);

	t->same = possible || state != t->state ? 0 : t->same + 1;
	t->state = state;
	return t->same >= MIDWAY_TIMES;
}

/* Count a failed try. Enough of them reject the stack: true. */
static bool gives_up(struct fz_python *py, struct fz_py_thread *t, const struct fz_py_plan *plan,
		     enum fz_py_outcome rc, struct tries *tries, struct fz_python_stack *ret)
{
	int reason = reject_reason(rc);

	if (reason >= 0)
		tries->reject = reason;
	ret->midway = is_midway(&t->walk, py, plan, rc, tries);
	ret->rejected = reason < 0 ? ++tries->learned > LEARN_MAX : ++tries->failed >= TRIES_MAX;
	ret->rejected |= ret->midway;
	if (!ret->rejected)
		return false;
	ret->reject = (uint8_t)tries->reject;
	ret->stack = fz_py_walk_salvage(&t->walk, &py->context);
	return true;
}

/* Take the thread's stack from the common copy or, if that is inconsistent or `anew` is set, from a
 * separate one. False if the thread ended. */
static bool take_thread(struct fz_python *py, struct fz_py_thread *t, bool anew,
			struct fz_python_stack *ret, unsigned *retries)
{
	const struct fz_py_interp *interp = &py->threads.interps[t->interp];
	uint64_t gc_frame = collecting_frame(py, interp);
	struct tries tries = { .reject = FZ_REJECT_CHANGED };
	enum fz_py_outcome rc;
	const struct fz_py_plan *plan = &py->plan;

	/* The state's offset in the common copy is lost once the thread was read alone. */
	uint8_t status = anew ? ret->status : thread_status(py, t);
	bool unsaid = anew ? ret->gil_unsaid : fz_py_gils_is_unsaid(py, t);
	*ret = (struct fz_python_stack){ .thread = t->thread,
					 .status = status,
					 .gil_unsaid = unsaid };
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
		/* Copies taken far apart can agree by chance. */
		if (rc == FZ_PY_WALK_OK && plan->interrupted && t->walk.dual)
			rc = FZ_PY_WALK_MISSING;
		if (rc == FZ_PY_WALK_OK) {
			find_task(py, t, plan);
			rc = fz_py_walk_run(&t->walk, &py->context, plan, gc_frame);
		}
		uint32_t changes = py->codes.changes;
		if (rc == FZ_PY_WALK_OK)
			rc = fz_py_walk_accept(&t->walk, &py->context, gc, &ret->stack);
		if (rc == FZ_PY_WALK_OK && py->codes.changes != changes && expire_codes(py))
			rc = FZ_PY_WALK_CHANGED;
		if (rc == FZ_PY_WALK_OK && py->options.segments)
			fz_py_walk_calls(&t->walk, &py->context, plan, gc, &ret->calls);
		if (rc == FZ_PY_WALK_OK)
			break;
		if (rc == FZ_PY_WALK_GONE)
			return false;
		if (gives_up(py, t, plan, rc, &tries, ret))
			break;
		++*retries;
		plan = &py->again;
		rc = read_again(py, t);
	}
	if (fz_py_walk_is_due(&t->walk))
		py->plan_stale = true;
	fz_py_gils_let_wait(py, t, ret);
	return true;
}

/* ---- the tasks of a thread ---- */

static struct fz_python_stack *next_stack(struct fz_python *py)
{
	fz_grow(py->stacks, py->stack_n, py->stack_cap);
	return &py->stacks[py->stack_n++];
}

/* Is a thread's own stack shown when no task runs in it? A thread with a loop shows it only while
 * it holds the GIL (when it waits, its tasks are shown instead) or if it is unreadable; a thread
 * without asyncio, as usual. */
static bool shows_itself(const struct fz_python *py, const struct fz_py_thread *t,
			 const struct fz_python_stack *own)
{
	if (py->tasks.found && py->task_thread.loop)
		return own->rejected || own->status & FZ_STATUS_HAS_GIL;
	return t->is_main || py->options.all_threads;
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
		/* The first stack of an instant is that of the thread. */
		to->waiting = py->stack_n - first > 1;
		if (to->waiting)
			to->status = (own->status & FZ_STATUS_MAIN_THREAD) | FZ_STATUS_BESIDE;
	}
}

/* Take the stacks of a thread's tasks, retrying until the copy of the thread and those of its tasks
 * around it are consistent. */
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
		rc = fz_py_tasks_read_stacks(&py->tasks, &py->task_thread, &t->walk, own.stack,
					     &runs);
	}
	if (py->tasks.found && !own.rejected && rc != FZ_PY_WALK_OK) {
		own.rejected = true;
		own.reject = FZ_REJECT_CHANGED;
		own.stack = fz_profile_stack(py->into, FZ_NONE, py->context.unreadable_frame);
	}
	put_tasks(py, t, &own, runs);
}

/* ---- a sample ---- */

int fz_py_recheck(struct fz_python *py, int64_t now, struct fz_error *err)
{
	if (!fz_process_alive(&py->process))
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)py->process.pid);
	if (!fz_process_same_image(&py->process)) {
		/* An exiting process loses its memory before its pid. */
		char byte;
		if (!fz_process_read(&py->process, py->runtime.address, &byte, 1) && errno == ESRCH)
			return fz_fail(err, FZ_EGONE, "process %d has ended", (int)py->process.pid);
		return fz_fail(err, FZ_EAGAIN, "process %d now runs another program",
			       (int)py->process.pid);
	}
	py->next_check = now + CHECK_EVERY_NS;
	if (now >= py->next_list) {
		if (py->by_task && !py->tasks.found)
			fz_py_tasks_find(&py->tasks);
		py->threads_stale = true;
		py->next_list = now + LIST_EVERY_NS;
	}
	return 0;
}

void fz_py_list_threads(struct fz_python *py)
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
				py->next_check = py->next_list = fz_clock_now() + YOUNG_EVERY_NS;
			return;
		}
	fz_py_threads_release(&py->threads);
	py->threads_stale = true;
}

/* If more of asyncio's code has run, search for its tasks before the next sample. */
static void note_asyncio(struct fz_python *py)
{
	if (py->by_task && !py->tasks.found && py->codes.asyncio_n != py->seen_asyncio)
		py->next_check = py->next_list = 0;
	py->seen_asyncio = py->codes.asyncio_n;
}

/* Copy everything. An unmapped region is dropped, and the rest copied without it. */
static int read_all(struct fz_python *py, unsigned *retries, struct fz_error *err)
{
	size_t got;

	for (unsigned i = 0; i < TRIES_MAX; i++, ++*retries) {
		if (py->threads_stale)
			fz_py_list_threads(py);
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
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)py->process.pid);
	return fz_fail(err, FZ_EAGAIN, "process %d: its interpreter no longer exists",
		       (int)py->process.pid);
}

/* Has the list of threads to read changed? */
static bool is_outdated(struct fz_python *py)
{
	bool woken = fz_py_gils_wake(py);

	if (lists_changed(py))
		py->threads_stale = true;
	return woken || py->threads_stale;
}

static void take_ranked(struct fz_python *py, enum fz_py_state_rank rank, unsigned *retries)
{
	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_py_thread *t = &py->threads.list[i];
		struct fz_python_stack stack;
		if (t->shared ? t->rank != rank : rank != FZ_PY_STATE_RUNS)
			continue;
		if (py->by_task)
			take_tasks(py, t, retries);
		else if (take_thread(py, t, false, &stack, retries))
			*next_stack(py) = stack;
		else
			py->threads_stale = true;
	}
}

static int take_stacks(struct fz_python *py, struct fz_python_sample *ret, struct fz_error *err)
{
	int64_t now = fz_clock_now();
	unsigned retries = 0;
	int rc = 0;

	if (now >= py->next_check)
		rc = fz_py_recheck(py, now, err);
	if (py->tasks.found)
		fz_py_tasks_begin(&py->tasks);
	if (rc == 0)
		rc = read_all(py, &retries, err);
	/* Include new threads at once: they may not live until the next sample. */
	for (int i = 0; i < CHANGES_MAX && rc == 0 && is_outdated(py); i++)
		rc = read_all(py, &retries, err);
	if (rc < 0)
		return rc;
	fz_py_gils_count_down(py);
	check_generations(py, now);
	fz_py_gils_find_runners(py);
	py->stack_n = 0;
	if (py->threads.shared)
		fz_py_states_choose(py);
	take_ranked(py, FZ_PY_STATE_RUNS, &retries);
	if (py->threads.shared)
		take_ranked(py, FZ_PY_STATE_BESIDE, &retries);
	note_asyncio(py);
	*ret = (struct fz_python_sample){ .stacks = py->stacks,
					  .n = (uint32_t)py->stack_n,
					  .retries = retries };
	return 0;
}

int fz_python_sample_take(struct fz_python *py, struct fz_python_sample *ret, struct fz_error *err)
{
	int rc = take_stacks(py, ret, err);

	if (rc < 0 || !py->options.locals)
		return rc;
	fz_py_locals_read(py);
	if (!py->options.stopped)
		rc = take_stacks(py, ret, err);
	if (rc < 0)
		return rc;
	fz_py_locals_settle(py);
	ret->locals = py->locals.list;
	ret->torn = py->locals.torn;
	return 0;
}
