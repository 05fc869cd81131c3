/* SPDX-License-Identifier: MIT */
/* Allocation that aborts instead of failing, and the assertion that stays on. */
#include "base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void fz_assert_failed(const char *cond, const char *file, int line, const char *func)
{
	fprintf(stderr,
		"fizeau: internal error: %s:%d: %s: assertion '%s' failed; please "
		"report this bug\n",
		file, line, func, cond);
	abort();
}

static void (*_Atomic on_out_of_memory)(size_t bytes);

void fz_on_out_of_memory(void (*handler)(size_t bytes))
{
	on_out_of_memory = handler;
}

static void *checked(void *p, size_t size)
{
	if (!p && size) {
		void (*handler)(size_t bytes) = on_out_of_memory;
		if (handler)
			handler(size);
		fprintf(stderr, "fizeau: out of memory (%zu bytes)\n", size);
		abort();
	}
	return p;
}

void *fz_malloc(size_t size)
{
	return checked(malloc(size ? size : 1), size);
}

void *fz_calloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *fz_realloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1), size);
}

void *fz_reallocarray(void *p, size_t count, size_t size)
{
	size_t bytes;

	fz_assert(!__builtin_mul_overflow(count, size, &bytes));
	return fz_realloc(p, bytes);
}

void *fz_memdup(const void *p, size_t size)
{
	return p ? memcpy(fz_malloc(size), p, size) : NULL;
}

char *fz_strdup(const char *s)
{
	return fz_strndup(s, strlen(s));
}

char *fz_strndup(const char *s, size_t len)
{
	char *copy = fz_malloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *fz_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	int n = vasprintf(&s, fmt, ap);
	va_end(ap);
	checked(n < 0 ? NULL : s, 1);
	return s;
}

void fz_free_ptr(void *pp)
{
	free(*(void **)pp);
}

void fz_close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}
