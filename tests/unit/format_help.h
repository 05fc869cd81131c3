/* SPDX-License-Identifier: MIT */
/* What the tests of formats share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/format.h"

/* Skip the test where the shared reference profiles are absent; first in a test, because skipping
 * jumps over every cleanup. */
static inline void need_shared(void)
{
	const char *root = getenv("FZ_SHARED");

	if (!root || access(root, R_OK) < 0) {
		print_message("the shared reference profiles are not here\n");
		skip();
	}
}

/* Path of a file of the shared reference profiles; skips the test where they are absent. */
static inline char *shared_file(const char *path)
{
	const char *root = getenv("FZ_SHARED");
	char *full = fz_asprintf("%s/profiles/formats/%s", root ? root : "/nonexistent", path);

	if (access(full, R_OK) < 0) {
		free(full);
		skip();
	}
	return full;
}

/* Path of a file of the tests. */
static inline char *tests_file(const char *path)
{
	const char *root = getenv("FZ_TESTS");

	return fz_asprintf("%s/%s", root ? root : "tests", path);
}

/* Of one that a format names: "data/%s.bin". */
static inline char *tests_file_of(const char *format, const char *name)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf(format, name);

	return tests_file(path);
}

static inline struct fz_profile *load_file(const char *path)
{
	struct fz_error err;
	struct fz_profile *p = NULL;

	if (fz_format_load(path, &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static inline int load_bytes(const void *data, size_t n, const char *name, struct fz_profile **ret,
			     struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	int r = fz_input_open_memory(data, n, name, &in, err);

	return r ? r : fz_format_load_input(in, ret, err);
}

/* What a format makes of a profile. The caller releases. */
static inline struct fz_buf save_bytes(const struct fz_profile *p, const struct fz_format *f)
{
	struct fz_output *out = fz_output_memory();
	struct fz_error err;

	if (f->write(p, out, &err))
		fail_msg("%s", err.message);
	struct fz_buf b = *fz_output_buffer(out);
	*fz_output_buffer(out) = (struct fz_buf){ 0 };
	fz_output_abort(out);
	return b;
}

static inline char *read_file(const char *path, size_t *ret_n)
{
	char *text = fz_read_small(path, 64 << 20, ret_n);

	if (!text)
		fail_msg("%s: cannot be read", path);
	return text;
}
