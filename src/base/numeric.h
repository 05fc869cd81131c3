/* SPDX-License-Identifier: MIT */
/* Numbers of files have a point, whatever the host's language.
 *
 * printf and strtod follow LC_NUMERIC, which a host program may have set: "0,5" is no JSON, no SVG
 * and no CSS. While the library works its thread has the C language's numbers; the process's locale
 * and other threads are not touched.
 */
#pragma once

#include <locale.h>

struct fz_numeric {
	locale_t before, ours; /* ours: 0, nothing was changed */
};

struct fz_numeric fz_numeric_enter(void);
void fz_numeric_leave(struct fz_numeric *n); /* for fz_auto */
