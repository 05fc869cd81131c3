/* SPDX-License-Identifier: MIT */
/* Files of profilers that cannot be read: what they are, and what makes of them one that can. */
#pragma once

#include "base/base.h"

struct fz_foreign {
	const char *what;   /* "a recording of perf" */
	const char *remedy; /* a command or a sentence's end */
};

/* From the first bytes of a file; NULL: nothing that is known. */
const struct fz_foreign *fz_foreign_recognise(const uint8_t *head, size_t n);
/* Whether text looks like JSON, HTML, XML or source code rather than stacks. */
bool fz_foreign_is_markup(const uint8_t *head, size_t n);
