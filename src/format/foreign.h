/* SPDX-License-Identifier: MIT */
/* Recognizes files of other profilers that cannot be read, and the remedy for each. */
#pragma once

#include "base/base.h"

struct fz_foreign {
	const char *what;   /* "a recording of perf" */
	const char *remedy; /* a command, or the end of a sentence */
};

/* Recognizes a file by its first bytes; NULL if unknown. */
const struct fz_foreign *fz_foreign_recognise(const uint8_t *head, size_t n);
/* Whether text looks like JSON, HTML, XML or source code rather than stacks. */
bool fz_foreign_is_markup(const uint8_t *head, size_t n);
