/* SPDX-License-Identifier: MIT */
/* Reading single objects of the target: strings, bytes and dicts. Bounded, for hostile memory. */
#pragma once

#include "base/buf.h"
#include "record/process.h"
#include "layouts.h"

enum { FZ_PY_TEXT_MAX = 1 << 16 }; /* characters of a string that are kept */

/* Append a str object in UTF-8. False if it is not one. Surrogates, which UTF-8 cannot represent,
 * become \udcXX as with Python's backslashreplace. */
bool fz_py_read_text(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		     struct fz_buf *out);

/* Is it a str of exactly these few ASCII characters? */
bool fz_py_text_is(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		   const char *word);

/* Append the contents of a bytes object. False if it is not one, or longer than max. */
bool fz_py_read_bytes(struct fz_process *p, const struct fz_py_layout *l, uint64_t object,
		      size_t max, struct fz_buf *out);

/* Encode `n` characters of `kind` bytes each (1: Latin-1, 2, 4), as CPython stores them. */
void fz_py_encode_text(const void *data, size_t n, unsigned kind, struct fz_buf *out);

/* A dict's entries:
 *
 *   dict {keys, values}     values is NULL unless the keys are shared (a "split" dict)
 *   keys {header, indices[1 << n], entries[]}   entries in order of insertion
 *
 * The hash index is not used, since strings hash differently in every process. */
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
