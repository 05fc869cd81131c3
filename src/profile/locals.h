/* SPDX-License-Identifier: MIT */
/* Values of the local variables of one stack, as text. */
#pragma once

#include "base/buf.h"

struct fz_local {
	uint32_t depth; /* of its frame; 1 is the outermost */
	size_t name;    /* terminated strings in `text` */
	size_t type, value;
	bool known; /* false: type and value are missing because they changed while they were read
		     */
};

struct fz_locals {
	struct fz_local *list; /* by depth, then in the order of the code */
	uint32_t n, cap;
	struct fz_buf text;
};

static inline const char *fz_locals_text(const struct fz_locals *l, size_t at)
{
	return l->text.p + at;
}
