/* SPDX-License-Identifier: MIT */
/* Any object as text: plain values and containers of them like repr, all others as <module.Class at
 * 0x...>. No code of the target runs; memory is read through pages (pages.h), which are compared
 * later to find out whether it stayed unchanged. Bounded by limits, for hostile memory. */
#pragma once

#include "base/buf.h"
#include "layouts.h"
#include "pages.h"

struct fz_py_value_limits {
	unsigned levels;     /* depth of nested containers whose items are shown */
	uint32_t items;      /* of a container */
	uint32_t characters; /* of a string */
	uint32_t digits;     /* of an int */
	uint32_t bytes;      /* of the whole text, roughly */
};

struct fz_py_value_reader {
	struct fz_py_pages *pages;
	const struct fz_py_layout *layout;
	struct fz_py_value_limits limits;
};

/* Append an object's type and value. False if it is invalid or unreadable. */
bool fz_py_value_read(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *type,
		      struct fz_buf *value);
/* Append a str that is a name, in UTF-8. */
bool fz_py_value_name(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *out);
/* Replace a cell by its contents (0: empty); other objects stay. */
bool fz_py_value_open_cell(struct fz_py_value_reader *r, uint64_t *object);
/* Item i of a tuple, which must be below its size. */
bool fz_py_value_tuple_item(struct fz_py_value_reader *r, uint64_t tuple, uint64_t i,
			    uint64_t *ret);
bool fz_py_value_tuple_size(struct fz_py_value_reader *r, uint64_t tuple, uint64_t *ret);
