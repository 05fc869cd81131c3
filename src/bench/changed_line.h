/* SPDX-License-Identifier: MIT */
/* The first line of a Python function that was changed. */
#pragma once

#include "compare/diff.h"

/* The line in the head; 0 if the text of a side was not recorded or no line differs. Blank lines
 * and comments do not count. In a function that only the head has, it is the first line. */
int32_t fz_changed_line(const struct fz_diff *d, const struct fz_diff_function *f);
