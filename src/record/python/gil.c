/* SPDX-License-Identifier: MIT */
/* Finds out from the GIL which threads ran between two reads of it, and which stand still until it
 * changes hands. */
#include "python_state.h"

enum {
	DUAL_SAMPLES = 64, /* samples for which a thread that ran is copied twice */
	HOLD_OFF_MAX = 63,
};

/* ---- copying ---- */

static uint32_t gil_size(const struct fz_py_layout *l)
{
	return l->gil.switches + 8 - l->gil.last_holder;
}

/* A lock inside the interpreter's structure (from 3.12 on) is already part of its block. */
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

void fz_py_gils_plan(struct fz_python *py)
{
	struct fz_py_threads *t = &py->threads;

	for (uint32_t i = 0; i < t->gil_n; i++)
		t->gils[i].at = plan_gil(py, t->gils[i].address + py->layout->gil.last_holder);
}

void fz_py_gils_plan_end(struct fz_python *py)
{
	const struct fz_py_layout *l = py->layout;
	struct fz_py_threads *t = &py->threads;
	bool watch = t->n > 1 && !py->options.stopped && !l->free_threaded;

	for (uint32_t i = 0; i < t->gil_n; i++) {
		t->gils[i].at_end = FZ_PY_NO_COPY;
		if (watch)
			t->gils[i].at_end = fz_py_plan_add(
				&py->plan, t->gils[i].address + l->gil.last_holder, gil_size(l));
	}
}

/* ---- reading the copy ---- */

struct gil_state {
	uint64_t holder, switches;
	bool locked;
};

static struct gil_state read_gil(const struct fz_python *py, size_t at)
{
	const struct fz_py_layout *l = py->layout;

	return (struct gil_state){
		.holder = fz_py_copied_u64(&py->plan, at),
		.locked = (int32_t)fz_py_copied_u32(&py->plan,
						    at + l->gil.locked - l->gil.last_holder) > 0,
		.switches = fz_py_copied_u64(&py->plan, at + l->gil.switches - l->gil.last_holder),
	};
}

void fz_py_gils_find_runners(struct fz_python *py)
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

/* ---- waiting threads ---- */

void fz_py_gils_let_wait(struct fz_python *py, struct fz_py_thread *t,
			 const struct fz_python_stack *s)
{
	uint32_t i = py->threads.interps[t->interp].gil;

	/* When sampling by task, another thread may have woken some of its tasks. */
	if (py->by_task || t->shared || i == FZ_NONE ||
	    py->threads.gils[i].at_end == FZ_PY_NO_COPY || s->rejected ||
	    py->threads.gils[i].hold_off > 0)
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

bool fz_py_gils_wake(struct fz_python *py)
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

void fz_py_gils_count_down(struct fz_python *py)
{
	for (uint32_t i = 0; i < py->threads.gil_n; i++) {
		struct fz_py_gil *g = &py->threads.gils[i];
		if (g->hold_off > 0)
			g->hold_off--;
		else if (g->last_hold_off > 0 && ++g->calm % HOLD_OFF_MAX == 0)
			g->last_hold_off /= 2;
	}
}

bool fz_py_gils_is_held(const struct fz_python *py, const struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	uint32_t i = py->threads.interps[t->interp].gil;
	size_t at = t->walk.at_tstate;

	if (l->free_threaded && l->thread.status != FZ_PY_ABSENT)
		return fz_py_states_runs(py, t, FZ_PY_STATUS_ACTIVE);
	if (l->thread.holds_gil != FZ_PY_ABSENT)
		return fz_py_copied_u32(&py->plan, at + l->thread.holds_gil) != 0;
	/* The lock does not always notice when a thread changes from one of its states to another.
	 */
	if (t->shared)
		return fz_py_states_runs(py, t, FZ_PY_STATUS_ACTIVE);
	if (i == FZ_NONE)
		return false;
	struct gil_state gil = read_gil(py, py->threads.gils[i].at);
	return gil.locked && gil.holder == t->walk.tstate;
}

bool fz_py_gils_is_unsaid(const struct fz_python *py, const struct fz_py_thread *t)
{
	uint32_t i = py->threads.interps[t->interp].gil;

	if (py->layout->thread.gil_requested != FZ_PY_ABSENT || py->layout->free_threaded ||
	    i == FZ_NONE || t->walk.at_tstate == FZ_PY_NO_COPY)
		return false;
	return read_gil(py, py->threads.gils[i].at).locked && !fz_py_gils_is_held(py, t);
}
