/* SPDX-License-Identifier: MIT */
/* Basics for all files: assertions, cleanup attributes, allocation that cannot fail.
 *
 * Three kinds of failure are never mixed. Bugs of ours fail an fz_assert, which is enabled in
 * release builds. External failures are an int return and a struct fz_error (error.h). Out of
 * memory aborts here; in exchange, check every size from input against a limit before allocating.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FZ_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define FZ_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FZ_MAX(a, b) ((a) > (b) ? (a) : (b))
/* -1, 0 or 1 for qsort; FZ_CMP(a, b) ?: FZ_CMP(c, d) orders by c where a and b are equal. */
#define FZ_CMP(a, b) (((a) > (b)) - ((a) < (b)))
#define FZ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* "No such index" in every table that is addressed by uint32_t. */
#define FZ_NONE UINT32_MAX

/* Runs the release function of a variable when it leaves scope. */
#define fz_auto(fn) __attribute__((cleanup(fn), unused))

/* Moves a pointer out of a variable with a cleanup, leaving NULL. */
#define fz_steal(p)                            \
	({                                     \
		__typeof__(p) fz_stolen = (p); \
		(p) = NULL;                    \
		fz_stolen;                     \
	})

/* The same for a file descriptor, leaving -1. */
static inline int fz_steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#define fz_assert(cond) ((cond) ? (void)0 : fz_assert_failed(#cond, __FILE__, __LINE__, __func__))

_Noreturn void fz_assert_failed(const char *cond, const char *file, int line, const char *func);

/* Sets the handler to call before an allocator aborts; NULL: none. Process-wide. */
void fz_on_out_of_memory(void (*handler)(size_t bytes));
void *fz_malloc(size_t size);
void *fz_calloc(size_t count, size_t size);
void *fz_realloc(void *p, size_t size);
/* realloc for count * size with the product checked. */
void *fz_reallocarray(void *p, size_t count, size_t size);
/* A copy of size bytes; NULL for NULL. */
void *fz_memdup(const void *p, size_t size);
char *fz_strdup(const char *s);
char *fz_strndup(const char *s, size_t len);
FZ_PRINTF(1, 2)
char *fz_asprintf(const char *fmt, ...);

/* Cleanup helpers for fz_auto: each takes the address of the variable. */
void fz_free_ptr(void *pp); /* free(*(void **)pp) */
void fz_close_fd(int *fd);  /* close when >= 0, which makes it -1; errno kept */

/* Ensures room for one more element: arr[len] is writable afterwards. Growth is geometric. */
#define fz_grow(arr, len, cap)                                                 \
	do {                                                                   \
		if ((len) >= (cap)) {                                          \
			(cap) = (cap) ? (cap)*2 : 16;                          \
			(arr) = fz_reallocarray((arr), (cap), sizeof(*(arr))); \
		}                                                              \
	} while (0)

/* Appends a value. */
#define fz_push(arr, len, cap, ...)           \
	do {                                  \
		fz_grow(arr, len, cap);       \
		(arr)[(len)++] = __VA_ARGS__; \
	} while (0)
