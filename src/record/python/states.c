/* SPDX-License-Identifier: MIT */
/* Finds the state with which a kernel thread runs. C code can give a thread several: one in each
 * interpreter that it enters, or two of one interpreter. It runs Python code with one of them at a
 * time; the calls below that in the C stack belong to the others:
 *
 *   state of the first interpreter:  main -> outer -> C code
 *   state of the second one:                            `-> PyThreadState_Swap -> hot
 *
 * From 3.12 on each state has a flag for whether its thread runs with it, or did last. Before that,
 * the runtime has the state that holds the GIL, and (3.10, 3.11) each state has the address of its
 * calls in the C stack, of which the innermost counts. The stack's owner is checked, too, because
 * up to 3.11 a state keeps the ids of the thread that made it.
 *
 * A state without frames, or certainly below another, has no stack in the sample. In 3.8 and 3.9
 * two states with frames are both taken, the one that holds the GIL first.
 */
#include "python_state.h"

static const uint8_t *state_of(const struct fz_python *py, const struct fz_py_thread *t)
{
	return py->plan.buffer + t->walk.at_tstate;
}

/* Address in the C stack of a state's innermost call of Python's loop; 0 if unknown, or none. */
static uint64_t loop_of(const struct fz_python *py, const struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	uint32_t at = l->frames == FZ_PY_FRAMES_CFRAME ? l->thread.frame : l->cframe.head;
	uint64_t cframe = at == FZ_PY_ABSENT ? 0 : fz_py_word(state_of(py, t), at);

	return cframe - t->walk.tstate < FZ_PY_STATE_MAX ? 0 : cframe;
}

static bool has_frames(const struct fz_python *py, const struct fz_py_thread *t)
{
	const struct fz_py_layout *l = py->layout;
	const uint8_t *state = state_of(py, t);

	if (l->frames == FZ_PY_FRAMES_CFRAME)
		return loop_of(py, t) != 0;
	uint64_t frame = fz_py_word(state, l->thread.frame);
	return frame && (l->thread.base_frame == FZ_PY_ABSENT ||
			 frame != fz_py_word(state, l->thread.base_frame));
}

bool fz_py_states_runs(const struct fz_python *py, const struct fz_py_thread *t,
		       enum fz_py_status as)
{
	const struct fz_py_layout *l = py->layout;

	if (l->thread.status != FZ_PY_ABSENT)
		return fz_py_word(state_of(py, t), l->thread.status) & as;
	return fz_py_copied_u64(&py->plan, py->current_at) == t->walk.tstate;
}

/* Strength of the evidence that the thread runs with this state, 0 to 3; -1 if it was not copied.
 */
static int claim_of(const struct fz_python *py, const struct fz_py_thread *t)
{
	if (t->walk.at_tstate == FZ_PY_NO_COPY)
		return -1;
	return 2 * has_frames(py, t) + fz_py_states_runs(py, t, FZ_PY_STATUS_BOUND);
}

static bool has_better_claim(const struct fz_python *py, const struct fz_py_thread *t,
			     const struct fz_py_thread *than)
{
	int a = claim_of(py, t), b = claim_of(py, than);

	return a != b ? a > b : a > 0 && loop_of(py, t) < loop_of(py, than);
}

/* Index of the thread whose C stack contains an address, or FZ_NONE for the main thread. A thread's
 * structure is at the top of its stack; the main thread's stack is above all others. */
static uint32_t owner_of(const struct fz_python *py, uint64_t address)
{
	uint32_t owner = FZ_NONE;
	uint64_t nearest = UINT64_MAX;

	for (uint32_t i = 0; i < py->threads.n; i++) {
		const struct fz_py_thread *t = &py->threads.list[i];
		if (t->is_main || t->pthread < address || t->pthread >= nearest)
			continue;
		owner = i;
		nearest = t->pthread;
	}
	return owner;
}

/* Is it certain that the thread runs with `best` and not with this state? */
static bool is_aside(const struct fz_python *py, const struct fz_py_thread *t,
		     const struct fz_py_thread *best)
{
	int claim = claim_of(py, t);

	if (t == best || claim < 0)
		return false;
	if (claim < 2)
		return true;
	if (py->layout->thread.status != FZ_PY_ABSENT)
		return claim_of(py, best) == 3;
	uint64_t a = loop_of(py, t), b = loop_of(py, best);
	return a && b && owner_of(py, a) == owner_of(py, b);
}

void fz_py_states_choose(struct fz_python *py)
{
	struct fz_py_thread *list = py->threads.list;

	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_py_thread *first = &list[list[i].first];
		if (first == &list[i])
			first->best = i;
		else if (has_better_claim(py, &list[i], &list[first->best]))
			first->best = i;
	}
	for (uint32_t i = 0; i < py->threads.n; i++) {
		struct fz_py_thread *t = &list[i], *best = &list[list[t->first].best];
		t->rank = t == best || !t->shared ? FZ_PY_STATE_RUNS
			  : is_aside(py, t, best) ? FZ_PY_STATE_ASIDE
						  : FZ_PY_STATE_BESIDE;
	}
}
