/* SPDX-License-Identifier: MIT */
/* Locating a dict's entries:
 *
 *   dict {keys, values}     values is NULL unless the keys are shared (a "split" dict)
 *   keys {header, indices[1 << n], entries[]}   entries in order of insertion
 *
 * The hash index is not used, since strings hash differently in every process. */
#pragma once

#include "layouts.h"

enum { FZ_PY_KEYS_WORDS = 5 }; /* of the header of a keys object */

struct fz_py_entries {
	uint64_t at, n;         /* n is untrusted: check it against a limit */
	unsigned words;         /* per entry; the last two are its key and its value */
	uint64_t slots, usable; /* of the index; how many entries can still be added */
};

/* Parse a copy of the header of the keys object at that address. False if it is invalid. */
bool fz_py_dict_entries(const struct fz_py_layout *l, uint64_t keys,
			const uint64_t head[FZ_PY_KEYS_WORDS], struct fz_py_entries *ret);
/* Address of a split dict's array of values, from the pointer in the dict. */
uint64_t fz_py_dict_values(const struct fz_py_layout *l, uint64_t values);
