/* SPDX-License-Identifier: MIT */
/* Names of threading.Thread objects, for interpreters that don't pass them to the kernel (before
 * 3.14). */
#pragma once

#include "base/buf.h"
#include "runtime.h"

struct fz_py_names {
	struct fz_process *process;
	const struct fz_py_layout *layout;
	struct fz_py_thread_entry {
		uint64_t ident, thread;
	} * list;
	uint32_t n, cap;
};

/* Collect the target's threading._active: {thread ident: Thread}; empty if there is none. *active
 * caches the dict's address (0: not known yet). */
void fz_py_names_read(struct fz_py_names *names, struct fz_process *process,
		      const struct fz_py_runtime *runtime, uint64_t interp, uint64_t *active);
/* These functions return, in this order: the dict of a module (modules_at: address of the
 * interpreter's pointer to sys.modules); an item of such a dict; an attribute of an instance of a
 * Python class; the index of an attribute in instances of a class. They return 0 if there is none,
 * the last one FZ_NONE. Only process and layout need be set. */
uint64_t fz_py_names_module(const struct fz_py_names *names, uint64_t modules_at, const char *name);
uint64_t fz_py_names_item(const struct fz_py_names *names, uint64_t dict, const char *name);
uint64_t fz_py_names_attribute(const struct fz_py_names *names, uint64_t object, const char *name);
uint32_t fz_py_names_slot(const struct fz_py_names *names, uint64_t type, const char *name);
/* Name of the thread with this ident (pthread_t). */
bool fz_py_names_get(const struct fz_py_names *names, uint64_t ident, struct fz_buf *ret);
void fz_py_names_release(struct fz_py_names *names);
