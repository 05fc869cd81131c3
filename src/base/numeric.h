/* SPDX-License-Identifier: MIT */
/* Writes numbers in files with a decimal point in any locale.
 *
 * printf and strtod follow LC_NUMERIC, which a host program may have set, but "0,5" is not valid in
 * JSON, SVG and CSS. During calls of the library its thread uses the C locale for numbers; the
 * process's locale and other threads are not affected.
 */
#pragma once

#include <locale.h>

struct fz_numeric {
	locale_t before, ours; /* ours: 0 if unchanged */
};

struct fz_numeric fz_numeric_enter(void);
void fz_numeric_leave(struct fz_numeric *n); /* for fz_auto */
