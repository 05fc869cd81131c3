/* SPDX-License-Identifier: MIT */
/* Refusals with their exact messages, and what a call prints to standard error. cmocka.h comes
 * first. */
#pragma once

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opt.h"

/* `expr` fills `err`. */
#define assert_fails(expr, fails_as, err, text)             \
	do {                                                \
		(err) = (struct fz_error){ 0 };             \
		assert_int_equal((expr), (fails_as));       \
		assert_int_equal((err).code, (fails_as));   \
		assert_string_equal((err).message, (text)); \
	} while (0)
#define assert_refused(expr, err, text) assert_fails(expr, FZ_EUSAGE, err, text)

/* Call an option's callback as the parser would. */
static inline int set_option(int (*call)(const char *, const struct fz_opt *, struct fz_error *),
			     const char *name, const char *text, void *value, struct fz_error *err)
{
	const struct fz_opt opt = { .kind = FZ_OPT_CALL, .long_name = name, .value = value };

	return call(text, &opt, err);
}

/* Standard error goes to memory until it is read. */
struct heard {
	int saved, fd;
	char text[2 * 4096];
};

static inline struct heard hear(void)
{
	struct heard h = { .saved = dup(STDERR_FILENO), .fd = memfd_create("stderr", MFD_CLOEXEC) };

	assert_true(h.saved >= 0 && h.fd >= 0);
	fflush(stderr);
	dup2(h.fd, STDERR_FILENO);
	return h;
}

static inline const char *heard(struct heard *h)
{
	fflush(stderr);
	dup2(h->saved, STDERR_FILENO);
	ssize_t n = pread(h->fd, h->text, sizeof(h->text) - 1, 0);
	assert_true(n >= 0);
	h->text[n] = 0;
	close(h->saved);
	close(h->fd);
	return h->text;
}
