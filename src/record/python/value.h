/* SPDX-License-Identifier: MIT */
/* Any object as text: plain values and containers of them as repr writes them, all else as
 * <module.Class at 0x...>. Nothing of the target runs; memory is read through pages (pages.h),
 * which say later whether it stood still. Bounded by limits, for hostile memory. */
#pragma once

#include "base/buf.h"
#include "layouts.h"
#include "pages.h"

struct fz_py_value_limits {
	unsigned levels;     /* containers in containers whose items are shown */
	uint32_t items;      /* of a container */
	uint32_t characters; /* of a string */
	uint32_t digits;     /* of an int */
	uint32_t bytes;      /* of all the text, more or less */
};

struct fz_py_value_reader {
	struct fz_py_pages *pages;
	const struct fz_py_layout *layout;
	struct fz_py_value_limits limits;
};

/* Append its type and the object. False: it cannot be one, or is not there. */
bool fz_py_value_read(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *type,
		      struct fz_buf *value);
/* Append the UTF-8 form of a str that is a name. */
bool fz_py_value_name(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *out);
/* From a cell to what is in it (0: nothing); another object stays as it is. */
bool fz_py_value_open_cell(struct fz_py_value_reader *r, uint64_t *object);
/* Item i of a tuple that has to have it. */
bool fz_py_value_tuple_item(struct fz_py_value_reader *r, uint64_t tuple, uint64_t i,
			    uint64_t *ret);
bool fz_py_value_tuple_size(struct fz_py_value_reader *r, uint64_t tuple, uint64_t *ret);
