/* SPDX-License-Identifier: MIT */
/* Find the enclosing git checkout without running git. */
#pragma once

#include <stddef.h>

enum { FZ_NO_CHECKOUT = -1 };

/* Returns the length of the prefix of a path that is the top of its checkout, the nearest folder at
 * or above it with ".git"; 0 is the root folder. FZ_NO_CHECKOUT if there is none. */
long fz_checkout_length(const char *path);
