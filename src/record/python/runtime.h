/* SPDX-License-Identifier: MIT */
/* Finding the interpreter in a process: where _PyRuntime is, which version, which layout. */
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
	char *module;  /* path of the file that holds it, as the target maps it; owned */
};

/* FZ_EAGAIN: there is none, or it has not started; FZ_EUNSUPPORTED: one that cannot be read. */
int fz_py_runtime_find(struct fz_process *process, bool best_effort,
		       const struct fz_py_steps *steps, struct fz_py_runtime *ret,
		       struct fz_error *err);
/* Address of a section in one of the mapped files whose base name contains `base`, or in the file
 * that holds the interpreter. */
bool fz_py_runtime_section(struct fz_process *process, const struct fz_py_runtime *r,
			   const char *base, const char *section, size_t size, uint64_t *ret);
void fz_py_runtime_release(struct fz_py_runtime *r);
