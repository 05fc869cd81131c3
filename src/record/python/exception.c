/* SPDX-License-Identifier: MIT */
/* Exceptions in a thread state:
 *
 *   raised      an exception that unwinds frames
 *   exc_state   {value, previous}: the one that an except or finally block handles
 *   exc_info -> the innermost such item: exc_state, or that of the generator that runs, whose
 *               chain of `previous` ends at exc_state
 *
 * A generator can run inside an except block (its own item is empty then) or have an except block
 * itself (exc_state is empty then), so the whole chain must be checked. Generators' items are
 * outside the thread state. They are read together with the pointer to the first, which must not
 * change meanwhile. Nested generators form long chains, so their pages are copied in one call.
 */
#include "exception.h"

enum { CHAIN_MAX = 1024, TRIES_MAX = 3 };

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

/* Check the generators' items from `item` on. False if the thread changed meanwhile. */
static bool check_chain(struct fz_py_pages *pages, const struct fz_py_runtime *runtime,
			uint64_t tstate, uint64_t item, bool *ret)
{
	const struct fz_py_layout *l = &runtime->layout;
	uint64_t value, first;

	*ret = false;
	if (!fz_py_pages_glance(pages, tstate + l->thread.exc_info, &first, 8) || first != item)
		return false;
	for (unsigned i = 0; item && item != tstate + l->thread.exc_state && i < CHAIN_MAX; i++) {
		if (item % 8 || !fz_py_pages_glance(pages, item + l->exc_item.value, &value, 8) ||
		    !fz_py_pages_glance(pages, item + l->exc_item.previous, &item, 8))
			return false;
		*ret = *ret || is_exception(runtime, value);
	}
	return true;
}

bool fz_py_exception(struct fz_py_pages *pages, const struct fz_py_runtime *runtime,
		     uint64_t tstate, const uint8_t *copy)
{
	const struct fz_py_layout *l = &runtime->layout;
	uint64_t item = fz_py_word(copy, l->thread.exc_info);
	bool handled = false;

	if (fz_py_word(copy, l->thread.raised) ||
	    is_exception(runtime, fz_py_word(copy, l->thread.exc_state + l->exc_item.value)))
		return true;
	for (unsigned i = 0; i < TRIES_MAX && item != tstate + l->thread.exc_state; i++) {
		fz_py_pages_begin(pages, false);
		if (check_chain(pages, runtime, tstate, item, &handled))
			return handled;
		if (!fz_py_pages_glance(pages, tstate + l->thread.exc_info, &item, 8))
			return false;
	}
	return false;
}
