/* SPDX-License-Identifier: MIT */
/* The line of a Python function's head that a change of its text made. */
#pragma once

#include "compare/diff.h"

/* 0: the text of a side is not recorded, or no line of the function differs. Blank lines and
 * comments do not count. A function that only the head has begins with a changed line. */
int32_t fz_changed_line(const struct fz_diff *d, const struct fz_diff_function *f);
