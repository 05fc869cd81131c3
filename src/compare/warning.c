/* SPDX-License-Identifier: MIT */
/* Warnings of a comparison, and the names of its sides. All stages use them. */
#include "compare/stages.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX = 16 };

const char *const fz_side_names[] = { "base", "head" };

void fz_diff_warn(struct fz_diff *d, const char *fmt, ...)
{
	char text[1024], safe[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	size_t n = fz_str_printable(text, strlen(text), safe, sizeof(safe));
	if (!d->warnings)
		d->warnings = fz_arena_alloc(&d->arena, MAX * sizeof(*d->warnings));
	if (d->warning_count < MAX)
		d->warnings[d->warning_count++] = fz_arena_strndup(&d->arena, safe, n);
}

void fz_diff_make_urgent(struct fz_diff *d)
{
	fz_assert(d->urgent < d->warning_count);
	char *last = d->warnings[d->warning_count - 1], **to = d->warnings + d->urgent;

	memmove(to + 1, to, (d->warning_count - 1 - d->urgent) * sizeof(*to));
	*to = last;
	d->urgent++;
}
