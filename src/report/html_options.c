/* SPDX-License-Identifier: MIT */
/* The words of the options of a page or a picture. */
#include "report/html_options.h"

const char *const fz_palette_names[] = { "fizeau", "tachyon", NULL };
