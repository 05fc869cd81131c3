/* SPDX-License-Identifier: MIT */
/* Up-to-date lists of the target's interpreters and threads, with the threads' identities. */
#pragma once

#include "pages.h"
#include "runtime.h"
#include "walk.h"

/* Offset of the kernel's thread id in glibc's thread structure, to which a state's thread_id
 * points.
 */
#if defined(__x86_64__)
enum { FZ_PY_LIBC_TID = 720 };
#else
enum { FZ_PY_LIBC_TID = 208 };
#endif

struct fz_py_gil {
	uint64_t address;
	size_t at, at_end; /* copies taken first and last */
	/* Samples until waiting threads may be left out again, and the previous such number. */
	uint32_t hold_off, last_hold_off, calm;
};

struct fz_py_interp {
	uint64_t address;
	uint32_t id;
	uint32_t gil;  /* index; FZ_NONE */
	size_t at;     /* copy of the interpreter's block */
	uint64_t next; /* when listed: next interpreter, */
	uint64_t head; /* and first thread */
	uint64_t code_generation;
};

/* Ranks of the states of one kernel thread; states.c has the rules. */
enum fz_py_state_rank {
	FZ_PY_STATE_RUNS,   /* the thread runs with it, or it is the only one */
	FZ_PY_STATE_BESIDE, /* another state is more likely */
	FZ_PY_STATE_ASIDE,  /* the thread runs with another state */
};

struct fz_py_thread {
	struct fz_py_walk walk;
	uint32_t interp; /* index */
	uint32_t thread; /* in the profile */
	uint64_t inner_tid;
	uint64_t next; /* next thread state in the target's list */
	bool is_main;
	bool kept;          /* used while listing */
	bool shared;        /* its kernel thread has other states, too */
	uint32_t first;     /* index of the first of these, possibly itself */
	uint32_t best;      /* in the first: index of the one that the thread runs with */
	uint8_t rank;       /* enum fz_py_state_rank, in this sample */
	uint64_t pthread;   /* the C library's structure of the thread that made it */
	uint32_t dual_left; /* samples until its second copy may be left out again */
	/* It waits: its stack stays the same while its GIL's count of switches does. */
	bool waits;
	uint64_t switches;
	uint32_t stack;
	uint32_t name_asks;
	bool exception; /* it had one when copied last */
	struct fz_py_pages exceptions;
};

struct fz_py_threads {
	struct fz_py_thread *list;
	uint32_t n, cap;
	struct fz_py_interp *interps;
	uint32_t interp_n, interp_cap;
	struct fz_py_gil *gils;
	uint32_t gil_n, gil_cap;
	bool young;         /* some threads have not begun or have no name: list them again soon */
	bool ids_are_known; /* a state's thread id was one of the process */
	bool shared;        /* some kernel thread has several states */
	/* threading._active of the interpreter whose names were last requested; 0: not known
	 */
	uint64_t active;
	uint32_t active_id; /* of that interpreter */
};

struct fz_py_threads_context {
	struct fz_process *process;
	const struct fz_py_runtime *runtime;
	struct fz_profile *into;
	bool all;
	struct fz_map *left_out; /* receives ids of threads that are not sampled; may be NULL */
};

/* List them anew, keeping the state of threads that still exist. False if the list could not be
 * read completely (it may be changing). */
bool fz_py_threads_refresh(struct fz_py_threads *t, const struct fz_py_threads_context *c);
void fz_py_threads_release(struct fz_py_threads *t);
