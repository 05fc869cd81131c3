/* SPDX-License-Identifier: MIT */
/* The line of a change's diff that made a Python function slower. */
#pragma once

#include "compare/diff.h"

/* Both return a line of the head that the diff has, or one after removed lines; 0 if there is none
 * or the text of a side was not recorded. Blank lines and comments do not count. */

/* The first line of the function, below its "def" if possible. In a function that only the head
 * has, it is the "def". */
int32_t fz_changed_line(const struct fz_diff *d, const struct fz_diff_function *f);
/* The first line of the function that names another function. */
int32_t fz_changed_call(const struct fz_diff *d, const struct fz_diff_function *f,
			const struct fz_diff_function *callee);
