/* SPDX-License-Identifier: MIT */
/* Names of benchmarks for people, short and different. */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* Names that agree in this many bytes are cut there. */
enum { FZ_SHORT_SAME = 20 };

struct fz_short_name {
	struct fz_str shown; /* without its file, and without what it shares with others */
	struct fz_str file;  /* "" if `shown` includes it or the name has none */
};

/* Shorten names, which may repeat. Different names stay different. Texts are those of the names or
 * in the arena. */
void fz_short_names(struct fz_arena *arena, const struct fz_str *names, uint32_t n,
		    struct fz_short_name *ret);
