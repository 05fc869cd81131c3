/* SPDX-License-Identifier: MIT */
/* Reading the stacks of a running CPython 3.8 - 3.15 from outside. docs/cpython.md has the details.
 *
 * Nothing is ever written to the target. One process_vm_readv per sample in the common case: the
 * memory of the frames that the last sample predicts is copied twice in one call, the copies are
 * compared, and the walk over the copy must end at the thread's root. The target's memory is
 * hostile input: every pointer, length and loop is bounded.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "profile/locals.h"
#include "profile/profile.h"
#include "base/base.h"

struct fz_python;

/* Samples by asyncio task instead of by thread. */
enum fz_python_tasks {
	FZ_PYTHON_TASKS_NONE,
	FZ_PYTHON_TASKS_RUNNING, /* the running one of each thread */
	FZ_PYTHON_TASKS_ALL,     /* waiting ones, too */
};

struct fz_python_options {
	bool all_threads; /* else only the main thread */
	bool stopped;     /* the caller stops the target around each sample: no retries needed */
	bool gc;          /* show <GC> while a collection runs */
	bool native;      /* show <native> for C code between Python frames */
	bool opcodes;     /* record the instruction of each frame */
	bool segments;    /* report which C frame runs which Python frames */
	unsigned locals;  /* 0, or read local variables, with values 1: short, 2: longer, 3: long */
	enum fz_python_tasks tasks;
	bool task_names; /* show each task by its own name, not by its kind */
	/* Ids of threads that are not sampled are added here from time to time; may be NULL. */
	struct fz_map *left_out;
	/* Called for every step of finding the interpreter, for `fizeau doctor`; may be NULL. */
	void (*step)(void *arg, const char *what, const char *found);
	void *step_arg;
};

struct fz_python_info {
	uint8_t version[3]; /* 3, 15, 0 */
	bool free_threaded;
	bool exact;         /* false if samples are exact only while stopped (3.8 - 3.10) */
	uint64_t runtime;   /* address of _PyRuntime in the target */
	const char *module; /* path of the file that contains it, from the target's map */
};

/* Find the interpreter in a process. Frames and names of samples are interned in `into`.
 * FZ_EAGAIN: no interpreter, or it has not started yet: try again later (the message says which).
 * FZ_EUNSUPPORTED: PyPy, too new, 32-bit, ... FZ_EPERM: the message has the exact remedy.
 * FZ_EGONE: no such process, or it ended. */
int fz_python_open(pid_t pid, const struct fz_python_options *options, struct fz_profile *into,
		   struct fz_python **ret, struct fz_error *err);
void fz_python_close(struct fz_python *py);
/* Check that samples of this mode are supported for this version, with the options in use. */
int fz_python_check(const struct fz_python *py, enum fz_mode mode, struct fz_error *err);
const struct fz_python_info *fz_python_info(const struct fz_python *py);

/* Python frames that one call of the interpreter's loop runs. `address` is inside that call's frame
 * on the C stack; 0 before 3.10, where it is unknown. */
struct fz_python_segment {
	uint64_t address;
	uint64_t frame; /* address of the innermost of them */
	uint32_t end;   /* index in `frames` behind the last of them */
};

/* Data for merging with the C stack, with the option `segments`. */
struct fz_python_calls {
	const uint32_t *frames; /* of the profile, innermost first */
	uint32_t frame_n;
	struct fz_python_segment *segments; /* innermost first */
	uint32_t segment_n;
	/* 3.10 and 3.11: the addresses are those of the CFrames, a list on the C stack that begins
	 * here and is linked by the pointer at that offset; else 0. */
	uint64_t cframe;
	uint32_t cframe_previous;
	uint32_t cframe_current; /* offset in each of its innermost frame (3.11); else UINT32_MAX */
};

/* One thread at one instant. */
struct fz_python_stack {
	uint32_t thread; /* in the profile */
	uint32_t stack;  /* in the profile; FZ_NONE if the thread runs no Python code */
	uint8_t status;  /* enum fz_status bits */
	uint8_t reject;  /* enum fz_reject, meaningful when `rejected` */
	bool waiting;    /* a waiting task, independent of its thread */
	bool rejected;   /* stack is [unreadable] on top of the frames that are certain */
	bool midway;     /* ... and stays so: its thread seems to be off the CPU, within a change */
	bool gil_unsaid; /* another thread holds the GIL, and this interpreter does not show which
			    threads wait for it */
	struct fz_python_calls calls;
};

/* Valid until the next call. */
struct fz_python_sample {
	const struct fz_python_stack *stacks;
	const struct fz_locals *locals; /* one per stack; NULL without the option */
	uint32_t n;
	bool torn;        /* some of them could not be read */
	unsigned retries; /* reads repeated for this sample */
};

/* Take one sample of all selected threads. FZ_EGONE: the process ended. FZ_EAGAIN: its memory was
 * replaced (exec): close and open again. Other failures show as rejected stacks. */
int fz_python_sample_take(struct fz_python *py, struct fz_python_sample *ret, struct fz_error *err);

/* ---- glance.c ---- */

struct fz_python_glance {
	uint32_t threads; /* those that run Python code */
	uint32_t idle;    /* those of them that wait for something other than the GIL */
};

/* Takes some 30 ms if only one thread runs. False if it cannot be read, or is not CPython. */
bool fz_python_glance(pid_t pid, struct fz_python_glance *ret);
/* Does a thread wait, by its status in a sample and its state in the kernel ('S')? */
bool fz_python_is_idle(unsigned status, char state);
