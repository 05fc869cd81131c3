/* SPDX-License-Identifier: MIT */
/* Finding the interpreter in a process: the address of _PyRuntime, its version and layout. */
#pragma once

#include "record/process.h"
#include "layouts.h"

/* Reports one step of the search, for `fizeau doctor`; fn may be NULL. */
struct fz_py_steps {
	void (*fn)(void *arg, const char *what, const char *found);
	void *arg;
};

struct fz_py_runtime {
	uint64_t address;
	uint8_t version[3];
	struct fz_py_layout layout;
	uint64_t none; /* address of None; 0: not found */
	char *module;  /* path of the file that contains it, from the target's map; owned */
};

/* FZ_EAGAIN: there is none, or it has not started; FZ_EUNSUPPORTED: it cannot be read. */
int fz_py_runtime_find(struct fz_process *process, const struct fz_py_steps *steps,
		       struct fz_py_runtime *ret, struct fz_error *err);
/* Find a section in one of the mapped files whose base name contains `base`, or in the
 * interpreter's file. */
bool fz_py_runtime_section(struct fz_process *process, const struct fz_py_runtime *r,
			   const char *base, const char *section, size_t size, uint64_t *ret);
void fz_py_runtime_release(struct fz_py_runtime *r);
