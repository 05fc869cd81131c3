/* SPDX-License-Identifier: MIT */
/* Find the enclosing git checkout without running git. */
#pragma once

#include <stddef.h>

enum { FZ_NO_CHECKOUT = -1 };

/* How much of the path is the checkout's top, the nearest folder at or above it that holds ".git";
 * 0 is the root folder. FZ_NO_CHECKOUT: it is in none. */
long fz_checkout_length(const char *path);
