/* SPDX-License-Identifier: MIT */
/* What a thread state says about exceptions:
 *
 *   raised      an exception on its way up through frames
 *   exc_state   {value, previous}: what an except or finally block is dealing with
 *   exc_info -> the innermost such item: exc_state, or that of the generator that runs, whose
 *               chain of `previous` ends at exc_state
 *
 * A generator can run inside an except block (its own item is empty then) or have an except block
 * of its own (exc_state is empty then), so the whole chain counts. Items of generators are outside
 * the thread state; they are read together with the pointer to the first, which must not have
 * moved meanwhile.
 */
#include "exception.h"

enum { CHAIN_MAX = 64, TRIES_MAX = 3 };

bool fz_py_exception_known(const struct fz_py_runtime *runtime)
{
	const struct fz_py_layout *l = &runtime->layout;

	return l->thread.raised != FZ_PY_ABSENT && l->thread.exc_state != FZ_PY_ABSENT &&
	       l->thread.exc_info != FZ_PY_ABSENT && (runtime->none || !l->exc_item.none);
}

static bool is_exception(const struct fz_py_runtime *runtime, uint64_t value)
{
	return value && !(runtime->layout.exc_item.none && value == runtime->none);
}

/* Look at the generators' items from `item` on. False: the thread went on meanwhile. */
static bool look_at_chain(struct fz_process *process, const struct fz_py_runtime *runtime,
			  uint64_t tstate, uint64_t item, bool *ret)
{
	const struct fz_py_layout *l = &runtime->layout;
	uint64_t first = item, words[3] = { 0 };

	*ret = false;
	for (unsigned i = 0; item && item != tstate + l->thread.exc_state && i < CHAIN_MAX; i++) {
		struct iovec parts[] = {
			{ (void *)(uintptr_t)(item + l->exc_item.value), 8 },
			{ (void *)(uintptr_t)(item + l->exc_item.previous), 8 },
			{ (void *)(uintptr_t)(tstate + l->thread.exc_info), 8 },
		};
		if (item % 8 ||
		    fz_process_read_parts(process, parts, 3, words, sizeof(words)) != sizeof(words))
			return false;
		if (words[2] != first)
			return false;
		if (is_exception(runtime, words[0])) {
			*ret = true;
			return true;
		}
		item = words[1];
	}
	return true;
}

bool fz_py_exception(struct fz_process *process, const struct fz_py_runtime *runtime,
		     uint64_t tstate, const uint8_t *copy)
{
	const struct fz_py_layout *l = &runtime->layout;
	uint64_t item = fz_py_word(copy, l->thread.exc_info);
	bool handled = false;

	if (fz_py_word(copy, l->thread.raised) ||
	    is_exception(runtime, fz_py_word(copy, l->thread.exc_state + l->exc_item.value)))
		return true;
	for (unsigned i = 0; i < TRIES_MAX && item != tstate + l->thread.exc_state; i++) {
		if (look_at_chain(process, runtime, tstate, item, &handled))
			return handled;
		if (!fz_process_read_u64(process, tstate + l->thread.exc_info, &item))
			return false;
	}
	return false;
}
