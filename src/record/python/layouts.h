/* SPDX-License-Identifier: MIT */
/* The layout of data structures in each CPython version.
 *
 * 3.8 - 3.12 come from tables that were generated from each version's own headers; from 3.13 on the
 * interpreter contains its own table (_Py_DebugOffsets, at the start of _PyRuntime), which is
 * checked once as untrusted input so that nothing has to be checked again while sampling.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

/* This version has no such field. */
#define FZ_PY_ABSENT UINT32_MAX

enum { FZ_PY_MINOR_MIN = 8, FZ_PY_MINOR_MAX = 15 };

/* How the innermost frame of a thread is found, and what a frame is. */
enum fz_py_frames {
	FZ_PY_FRAMES_HEAP,   /* 3.8 - 3.10: tstate->frame, frame objects linked by f_back */
	FZ_PY_FRAMES_CFRAME, /* 3.11, 3.12: tstate->cframe->current_frame */
	FZ_PY_FRAMES_DIRECT, /* 3.13 on: tstate->current_frame */
};

enum fz_py_lines {
	FZ_PY_LINES_LNOTAB,   /* 3.8, 3.9 */
	FZ_PY_LINES_310,      /* 3.10 */
	FZ_PY_LINES_LOCATION, /* 3.11 on: with columns */
};

/* Value of a frame's owner: a function's. Others are a generator's and entry frames. */
enum { FZ_PY_OWNER_THREAD = 0 };

/* Bits of a thread state's status. */
enum fz_py_status {
	/* The kernel thread runs with this one of its states, or did last. */
	FZ_PY_STATUS_BOUND = 8,
	FZ_PY_STATUS_ACTIVE = 16, /* it runs Python code */
};

struct fz_py_layout {
	uint8_t minor;
	bool free_threaded;
	uint8_t frames;         /* enum fz_py_frames */
	uint8_t lines;          /* enum fz_py_lines */
	uint8_t unicode_shift;  /* position of the `kind` bits in PyASCIIObject.state */
	uint8_t position_scale; /* bytes of bytecode in a unit of a heap frame's f_lasti */
	uint8_t owner_entry;    /* value of frame.owner for entry frames; 255: none (see entry) */

	struct {
		uint32_t interpreters_head, gc_collecting, gil;
		uint32_t current; /* the thread state that runs Python code; up to 3.11 */
	} runtime;
	struct {
		uint32_t next, id, threads_head, threads_main, modules;
		uint32_t gil_pointer; /* to the GIL in force; absent: the GIL is in the runtime */
		uint32_t gc_collecting, gc_frame, code_generation, tlbc_generation;
	} interp;
	struct {
		uint32_t last_holder, locked, switches;
	} gil;
	struct {
		uint32_t next, interp, frame, base_frame;
		uint32_t status; /* bits of enum fz_py_status; from 3.12 on */
		uint32_t id;     /* serial number; up to 3.10, where there is no native_thread_id */
		uint32_t thread_id, native_thread_id, stack_chunk, holds_gil, gil_requested;
		uint32_t tracing;   /* a trace function runs: 4 bytes; of heap frames only */
		uint32_t raised;    /* exception being raised, or its type */
		uint32_t exc_state; /* exception being handled, outside generators */
		uint32_t exc_info;  /* pointer to the innermost exception being handled */
		/* Of asyncio; absent until its own table has been found. */
		uint32_t running_loop, running_task, tasks;
	} thread;
	struct {
		uint32_t value, previous;
		bool none; /* up to 3.12 None also means no exception */
	} exc_item;
	struct {
		uint32_t current; /* in a CFrame */
		/* Where entry frames are not on the C stack CFrames are, one for each call of the
		 * loop: link to the next outer one, and (3.10) the innermost one in a thread. */
		uint32_t previous, head;
	} cframe;
	struct {
		uint32_t size; /* bytes that hold all fields used here */
		uint32_t previous, code, position, owner, is_entry, tlbc_index;
		uint32_t object; /* its frame object, if it has one; from 3.12 on */
		uint32_t locals; /* the first variable; the others follow it */
		uint32_t state;  /* of a heap frame: one byte */
		uint8_t running; /* its value while the frame runs */
	} frame;
	struct {
		uint32_t size; /* bytes that hold all fields used here */
		uint32_t filename, name, qualname, line_table, first_line, flags, bytecode, tlbc;
		uint32_t version; /* serial number: no other code object has the same */
		uint32_t names;   /* tuple: names of all variables; up to 3.10 of the plain ones */
		uint32_t kinds;   /* bytes: what each of them is (3.11 on) */
		uint32_t cells, frees; /* tuples: the other names (3.8 - 3.10) */
	} code;
	struct {
		uint32_t type, var_size, type_name;
	} object;
	struct {
		uint32_t flags, base, dict, qualname;
	} type;
	struct {
		uint32_t length, state, ascii_data, compact_data;
	} unicode;
	struct {
		uint32_t size, data;
	} bytes;
	struct {
		uint32_t previous, size, top, data;
	} chunk;
	/* Values. */
	struct {
		uint32_t keys, values;
	} dict;
	struct {
		uint32_t used, table, mask;
	} set;
	struct {
		uint32_t tag, digits; /* up to 3.11 the tag is the signed number of digits */
	} integer;
	struct {
		uint32_t items; /* in a tuple the items themselves, in a list the address of them */
	} tuple, list;
	struct {
		uint32_t value;
	} real;
	/* Coroutines, for asyncio's tasks, from 3.11 on. */
	struct {
		uint32_t frame, state; /* in a coroutine; the state is one byte */
		uint32_t stack;        /* in a frame: the end of its values, up to 3.13 counted */
		uint32_t running_loop; /* in a thread state; of 3.13 alone */
	} coro;
};

/* A 64-bit field in a copy of an object. */
static inline uint64_t fz_py_word(const uint8_t *copy, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, copy + offset, sizeof(v));
	return v;
}

/* The table of a version before 3.13, or NULL. */
const struct fz_py_layout *fz_py_layout_static(unsigned minor);

/* The most bytes of _Py_DebugOffsets that fz_py_layout_parse reads, of any version. */
enum { FZ_PY_DEBUG_OFFSETS_MAX = 888 };
#define FZ_PY_COOKIE "xdebugpy"

/* Parse a copy of the target's _Py_DebugOffsets. An unknown newer version is refused unless
 * best_effort, which treats it as the newest known. */
int fz_py_layout_parse(const void *table, size_t n, bool best_effort, struct fz_py_layout *ret,
		       struct fz_error *err);
