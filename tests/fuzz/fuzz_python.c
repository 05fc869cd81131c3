/* SPDX-License-Identifier: MIT */
/* Forged interpreters. A small world of every version is laid out in this process, which is its own
 * target, by the offsets that the reader goes by; then an input says, piece by piece, what is wrong
 * with it, before it is found and between samples:
 *
 *   world:  runtime -> interpreters -> threads -> frames -> code objects -> strings, line tables
 *                         |              |  +--> tasks -> coroutines, sets of awaiters
 *                         |              +-----> exceptions, pthread
 *                         +--> modules -> threading._active -> names
 *   input:  version, options, damages before the start, {what, which word, argument} ...
 *
 * Words that the world was made of are numbered, so that nearly every damage hits something that is
 * looked at, and can point at any object of it: to itself, to others, to what is not there.
 */
#include "fuzz.h"
#include "python_world.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/python/layouts.h"
#include "record/python/python.h"
#include "unit/python_tables.h"

enum {
	DAMAGES_MAX = 256,
	TAKES_MAX = 64,
	SAMPLES_AT_END = 4,
	INPUT_HEADER = 3,
	LIBC_TID = 720,
	THREAD_BYTES = 1024,
	RUNNING_LOOP = 800,
	RUNNING_TASK = 808,
	TASKS = 816,
};

/* What the reader looks for in the program. */
#define EXPORTED __attribute__((visibility("default"), used))
EXPORTED uint64_t _PyRuntime[512];
EXPORTED uint64_t Py_Version;
EXPORTED uint64_t _Py_NoneStruct[4];

/* task {size, name, awaited_by, is_task, awaited_by_is_set, coro, node}, interpreter {size, tasks},
 * thread {size, loop, task, tasks}. Not const: it is to be mapped in memory. */
__attribute__((section(".AsyncioDebug"), used)) static uint64_t asyncio_table[] = {
	256,  32, 48,           56,           57,           64,    72, /* task */
	8192, 8,  THREAD_BYTES, RUNNING_LOOP, RUNNING_TASK, TASKS,
};

/* By the first byte of an input. */
static const struct version {
	uint8_t minor;
	bool free_threaded;
	const uint64_t *table;
	size_t table_size;
} versions[] = {
	{ .minor = 8 },
	{ .minor = 9 },
	{ .minor = 10 },
	{ .minor = 11 },
	{ .minor = 12 },
	{ 13, false, python_table_313, sizeof(python_table_313) },
	{ 14, false, python_table_314, sizeof(python_table_314) },
	{ 15, false, python_table_315, sizeof(python_table_315) },
	{ 15, true, python_table_315, sizeof(python_table_315) },
};

/* ---- making a world ---- */

static uint64_t typed(uint64_t o, uint64_t type)
{
	put(o, world.l.object.type, type);
	return o;
}

static uint64_t make_tuple(uint64_t first, uint64_t second)
{
	uint64_t tuple = object(64);

	put(tuple, world.l.object.var_size, 2);
	put(tuple, world.l.tuple.items, first);
	put(tuple, world.l.tuple.items + 8, second);
	return tuple;
}

static uint64_t make_int(uint64_t type)
{
	uint64_t number = object(64);

	put(number, world.l.integer.tag, world.l.minor >= 12 ? 1 << 3 : 1);
	put_small(number, world.l.integer.digits, 5, 4);
	return typed(number, type);
}

/* One of each kind, in each other. */
static uint64_t make_values(void)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t str = make_type("str", 1 << 28), class = make_type("K", 1 << 9);
	uint64_t number = make_int(make_type("int", 1 << 24));
	uint64_t text = typed(make_text("text"), str), list = object(64), bytes = object(64);

	put(class, l->type.base, make_type("object", 0));
	put(class, l->type.qualname, text);
	put(class, l->type.dict, make_dict(make_text("__module__"), text));
	uint64_t set = typed(make_set(typed(object(32), class)), make_type("set", 0));
	uint64_t dict = make_dict(text, set);
	put(dict, l->object.var_size, 1);
	typed(dict, make_type("dict", 0));
	put(bytes, l->bytes.size, 3);
	typed(bytes, make_type("bytes", 0));
	uint64_t tuple = typed(make_tuple(dict, bytes), make_type("tuple", 0));
	put(list, l->object.var_size, 2);
	put(list, l->list.items, tuple + l->tuple.items);
	return typed(make_tuple(typed(list, make_type("list", 0)), number), make_type("tuple", 0));
}

static uint64_t make_code(const char *name, const char *file, int line)
{
	static const uint8_t lines[] = { 0x80 | 10 << 3 | 7, 4, 9, 0, 2, 1, 2, 1 };
	const struct fz_py_layout *l = &world.l;
	uint64_t code = object(512), table = object(64);

	put(table, l->bytes.size, sizeof(lines));
	memcpy((void *)(uintptr_t)(table + l->bytes.data), lines, sizeof(lines));
	put(code, l->code.filename, make_text(file));
	put(code, l->code.name, make_text(name));
	put(code, l->code.qualname, make_text(name));
	put(code, l->code.line_table, table);
	put_small(code, l->code.first_line, (uint32_t)line, 4);
	put_small(code, l->code.version, (uint32_t)line, 4);
	put(code, l->code.names, make_tuple(make_text("x"), make_text("y")));
	put(code, l->code.cells, make_tuple(make_text("c"), make_text("d")));
	put(code, l->code.frees, make_tuple(make_text("e"), make_text("f")));
	put(code, l->code.kinds, table);
	if (l->frames != FZ_PY_FRAMES_HEAP)
		put(code, l->object.var_size, 8);
	if (l->code.tlbc != FZ_PY_ABSENT) {
		uint64_t copies = object(32);
		put(copies, 0, 2);
		put(copies, 8, code + l->code.bytecode);
		put(copies, 16, object(32));
		put(code, l->code.tlbc, copies);
	}
	return code;
}

static void fill_frame(uint64_t frame, uint64_t code, uint64_t previous, uint8_t owner)
{
	const struct fz_py_layout *l = &world.l;

	put(frame, l->frame.code, code);
	put(frame, l->frame.previous, previous);
	put(frame, l->frame.position,
	    l->frames == FZ_PY_FRAMES_HEAP ? 2 : code + l->code.bytecode + 4);
	put_small(frame, l->frame.owner, owner, 1);
	if (l->frames == FZ_PY_FRAMES_HEAP)
		put_small(frame, l->frame.state, l->frame.running, 1);
	put_small(frame, l->frame.is_entry, previous == 0, 1);
	if (l->frames == FZ_PY_FRAMES_HEAP)
		return; /* it has no room for them */
	put(frame, l->frame.locals, world.values);
	put(frame, l->frame.locals + 8, 1 << 2 | 3);
}

/* The frames of a thread, in a chunk if there are such; returns the innermost. */
static uint64_t make_frames(uint64_t thread, const uint64_t codes[3], uint64_t innermost)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t chunk = object(1024), at = chunk + 24, base = object(128), frame;

	put(chunk, 0, 0);
	put(chunk, 8, 1024);
	put(chunk, 16, 32);
	if (l->thread.stack_chunk != FZ_PY_ABSENT)
		put(thread, l->thread.stack_chunk, chunk);
	fill_frame(base, 0, 0, l->owner_entry);
	put(thread, l->thread.base_frame, base);
	frame = l->owner_entry == 255 ? 0 : base;
	for (int i = 0; i < 3; i++, at += 128) {
		fill_frame(at, codes[i], frame, 0);
		frame = at;
	}
	if (innermost) {
		put(innermost, l->frame.previous, frame);
		frame = innermost;
	}
	return frame;
}

static uint64_t make_thread(uint64_t interp, uint64_t next, uint64_t tid, uint64_t innermost,
			    const uint64_t codes[3])
{
	const struct fz_py_layout *l = &world.l;
	uint64_t thread = object(THREAD_BYTES);
	uint64_t frame = make_frames(thread, codes, innermost);

	put(thread, l->thread.next, next);
	put(thread, l->thread.interp, interp);
	put(thread, l->thread.native_thread_id, tid);
	put(thread, l->thread.thread_id, world.pthread);
	put_small(thread, l->thread.status, 16, 4);
	put(thread, l->thread.raised, 0);
	put(thread, l->thread.exc_info, thread + l->thread.exc_state);
	put(thread, l->thread.exc_state, 0);
	put(thread, l->thread.exc_state + 8, 0);
	if (l->cframe.current != FZ_PY_ABSENT || l->cframe.head != FZ_PY_ABSENT) {
		uint64_t cframe = object(64);
		put(cframe, l->cframe.current, frame);
		put(cframe, l->cframe.previous, thread + 256);
		put(thread, l->cframe.head, cframe);
		if (l->frames == FZ_PY_FRAMES_CFRAME)
			frame = cframe;
	}
	put(thread, l->thread.frame, frame);
	return thread;
}

/* ---- names of threads ---- */

/* `asyncio`: the dict of that module, or 0. */
static uint64_t make_names(uint64_t asyncio)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t ident = object(64), holder = object(128), thread = holder + 64;
	uint64_t attributes = make_dict(make_text("_name"), make_text("Worker"));
	unsigned shift = l->minor >= 12 ? 3 : 0;

	put(ident, 16, 3ull << shift);
	put_small(ident, 24, world.pthread & 0x3fffffff, 4);
	put_small(ident, 28, world.pthread >> 30 & 0x3fffffff, 4);
	put_small(ident, 32, (uint32_t)(world.pthread >> 60), 4);
	put(thread, 16, attributes);
	put(thread - 24, 0, attributes);
	put(thread - 32, 0, 0);
	uint64_t active = make_dict(ident, thread), module = object(64);
	put(module, 16, make_dict(make_text("_active"), active));
	if (!asyncio)
		return make_dict(make_text("threading"), module);
	uint64_t other = object(64);
	put(other, 16, asyncio);
	return make_dict_of((struct pair[]){ { make_text("threading"), module },
					     { make_text("_asyncio"), other } },
			    2);
}

/* ---- tasks ---- */

static uint64_t make_coroutine(uint64_t type, uint64_t code, uint64_t awaits)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t coro = object(512), frame = coro + l->coro.frame;
	bool waits = awaits != 0;

	put(coro, l->object.type, type);
	fill_frame(frame, code, 0, 1);
	if (l->minor < 14) /* and the next instruction is that after an await */
		put_small(frame, l->coro.stack, (200 - l->frame.locals) / 8, 4);
	else
		put(frame, l->coro.stack, frame + 200);
	if (l->minor < 13)
		put_small(code, l->code.bytecode + 6, 151 | 3 << 8, 2);
	put(frame, 192, awaits);
	put(frame, 184, awaits);
	put_small(coro, l->coro.state,
		  (uint32_t)(l->minor < 15 ? (waits ? -1 : 0)
			     : waits       ? 2
					   : 4),
		  1);
	return coro;
}

static uint64_t make_task(uint64_t name, uint64_t coro, uint64_t awaiter, bool set)
{
	uint64_t task = object(asyncio_table[0]);

	put(task, 32, name);
	put(task, 48, awaiter);
	put_small(task, 56, 1, 1);
	put_small(task, 57, set, 1);
	put(task, 64, coro);
	return task;
}

static void link_task(uint64_t task, uint64_t after)
{
	uint64_t node = task + asyncio_table[6], next;

	memcpy(&next, (void *)(uintptr_t)after, sizeof(next));
	put(node, 0, next);
	put(node, 8, after);
	put(next, 8, node);
	put(after, 0, node);
}

enum { BEFORE = 64 }; /* bytes of an object before its address */

/* An instance of a class of Python, with its attributes in a dict. */
static uint64_t make_instance(uint64_t type, uint64_t attributes)
{
	uint64_t start = object(BEFORE + 64);

	put(start, BEFORE + world.l.object.type, type);
	put(start, BEFORE - 24, attributes);
	return start + BEFORE;
}

/* One that has its only attribute among its values. */
static uint64_t make_compact(uint64_t type, const char *name, uint64_t value)
{
	uint64_t keys_of = make_dict(make_text(name), 0), values = object(64), keys;
	uint64_t instance = make_instance(type, world.l.minor == 12 ? values - 1 : 0);

	memcpy(&keys, (void *)(uintptr_t)(keys_of + world.l.dict.keys), sizeof(keys));
	put(type, world.l.minor == 11 ? 872 : 880, keys);
	put(values, 0, value);
	put(instance, 24, value);
	if (world.l.minor == 11)
		put(instance - 32, 0, values);
	return instance;
}

/* Tasks of 3.11 to 3.13. */
struct old_asyncio {
	uint64_t task_type, loop, key, holder, dict;
};

static uint64_t make_old_task(const struct old_asyncio *a, uint64_t name, uint64_t coro,
			      uint64_t callback)
{
	bool later = world.l.minor == 13;
	uint64_t task = object(256);

	put(task, world.l.object.type, a->task_type);
	put(task, 16, a->loop);
	put(task, 24, callback);
	put_small(task, later ? 96 : 88, 0, 4);
	put(task, later ? 120 : 136, coro);
	put(task, later ? 128 : 144, name);
	return task;
}

/* Each waits for the next one: by a gather(), a task group and by itself. */
static struct old_asyncio make_old_asyncio(uint64_t runs, uint64_t waits, uint64_t name)
{
	bool later = world.l.minor == 13;
	struct old_asyncio a = { .task_type = make_type("_asyncio.Task", 0), .loop = object(64) };
	uint64_t future_type = make_type("_asyncio.Future", 0), group, future = object(256);
	uint64_t wakeup = object(64), gather = object(128), cell = object(64), cells = object(64);
	uint64_t method = object(64), holder = object(64);

	put(a.task_type, 32, later ? 144 : 176);
	put(future_type, 32, later ? 104 : 128);
	put(a.task_type, 256, future_type);
	uint64_t running = make_old_task(&a, name, runs, 0);
	put(wakeup, world.l.object.type, make_type("builtin_function_or_method", 0));
	put(wakeup, 24, running);
	put(future, world.l.object.type, future_type);
	put(future, 24, wakeup);
	put(cell, 16, future);
	put(cells, 16, 1);
	put(cells, 24, cell);
	put(gather, world.l.object.type, make_type("function", 0));
	put(gather, 72, cells);
	uint64_t waiting = make_old_task(&a, name, waits, gather);
	group = make_compact(make_type("TaskGroup", 0), "_parent_task", waiting);
	put(method, world.l.object.type, make_type("method", 0));
	put(method, 24, group);
	uint64_t third = make_old_task(&a, name, waits, method), reference = object(64);
	put(reference, world.l.object.type, make_type("weakref.ReferenceType", 0));
	put(reference, 16, third);
	a.key = make_text("__asyncio_running_event_loop__");
	put(holder, 16, a.loop);
	a.holder = world.l.minor == 11 ? holder : a.loop;
	a.dict = make_dict_of(
		(struct pair[]){
			{ make_text("Task"), a.task_type },
			{ make_text("Future"), future_type },
			{ make_text("_current_tasks"), make_dict(a.loop, running) },
			{ make_text(world.l.minor == 11 ? "_all_tasks" : "_scheduled_tasks"),
			  make_instance(future_type,
					make_dict(make_text("data"), make_set(reference))) },
			{ make_text("_eager_tasks"), make_set(waiting) },
		},
		5);
	return a;
}

/* Returns the frame of the coroutine that runs. */
static uint64_t make_tasks(const uint64_t codes[3], uint64_t *ret_task, uint64_t waiting[2],
			   struct old_asyncio *ret_old)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t type = make_type("coroutine", 0), text = make_text("job-1");
	uint64_t number = object(64);

	put(text, l->object.type, make_type("str", 1 << 28));
	put(number, l->object.type, make_type("int", 1 << 24));
	put(number, l->integer.tag, 1 << 3);
	put_small(number, l->integer.digits, 5, 4);
	uint64_t runs = make_coroutine(type, codes[2], 0);
	uint64_t inner = make_coroutine(type, codes[1], make_coroutine(type, codes[0], text));
	if (l->minor < 14) {
		*ret_old = make_old_asyncio(runs, inner, number);
		return runs + l->coro.frame;
	}
	waiting[0] = make_task(text, inner, 0, false);
	put(waiting[0], l->object.type, type);
	waiting[1] = make_task(number, make_coroutine(type, codes[0], text), waiting[0], false);
	*ret_task = make_task(number, runs, make_set(waiting[0]), true);
	return runs + l->coro.frame;
}

/* ---- the whole ---- */

static void make_runtime(const struct version *v)
{
	memset(_PyRuntime, 0, sizeof(_PyRuntime));
	Py_Version = 3u << 24 | (uint32_t)v->minor << 16 | 1 << 8;
	if (!v->table) {
		world.l = *fz_py_layout_static(v->minor);
		return;
	}
	memcpy(_PyRuntime, v->table, v->table_size);
	for (size_t i = 0; v->free_threaded && i < FZ_ARRAY_LEN(python_free_threaded_315); i++)
		_PyRuntime[python_free_threaded_315[i].at / 8] = python_free_threaded_315[i].value;
	fz_assert(fz_py_layout_parse(_PyRuntime, sizeof(_PyRuntime), false, &world.l, NULL) == 0);
	for (size_t i = 0; i < v->table_size / 8; i++)
		put(address(_PyRuntime), (uint32_t)(8 * i), _PyRuntime[i]);
}

static uint64_t make_interp(uint64_t next, uint64_t id, uint64_t modules)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t interp = object(9216), gil = object(64);

	put(interp, l->interp.next, next);
	put(interp, l->interp.id, id);
	put(interp, l->interp.modules, modules);
	put(interp, l->interp.gil_pointer, gil);
	put_small(interp, l->interp.gc_collecting, 1, 4);
	put(interp, l->interp.code_generation, 3);
	put(gil, l->gil.last_holder, 0);
	put(gil, l->gil.switches, 9);
	return interp;
}

static void make_world(const struct version *v)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t waiting[2] = { 0 }, task = 0, runs = 0, codes[3];
	struct old_asyncio old = { 0 };

	memset(world.bytes, 0, world.used);
	world.used = world.mark_n = world.object_n = 0;
	make_runtime(v);
	world.pthread = object(1024);
	put_small(world.pthread, LIBC_TID, (uint32_t)getpid(), 4);
	world.values = make_values();
	codes[0] = make_code("<module>", "app.py", 1);
	codes[1] = make_code("outer", "/app.py", 10);
	codes[2] = make_code("inner", "/app.py", 20);
	if (l->coro.frame != FZ_PY_ABSENT)
		runs = make_tasks(codes, &task, waiting, &old);
	uint64_t other = make_interp(0, 1, 0);
	put(other, l->interp.threads_head, make_thread(other, 0, 77, 0, codes));
	uint64_t interp = make_interp(other, 0, l->minor <= 13 ? make_names(old.dict) : 0);
	uint64_t first = make_thread(interp, 0, (uint64_t)getpid(), runs, codes);
	uint64_t second = make_thread(interp, first, 78, 0, codes);
	put(interp, l->interp.threads_head, second);
	put(interp, l->interp.gc_frame, runs);
	put(address(_PyRuntime), l->runtime.interpreters_head, interp);
	if (old.dict) {
		put(first, l->thread.exc_info + 8, make_dict(old.key, old.holder));
		put(first, l->coro.running_loop, old.loop);
	}
	if (task) {
		put(first, RUNNING_LOOP, task);
		put(first, RUNNING_TASK, task);
		put(first, TASKS, first + TASKS);
		put(first, TASKS + 8, first + TASKS);
		link_task(waiting[0], first + TASKS);
		link_task(waiting[1], first + TASKS);
		link_task(task, first + TASKS);
	}
	for (uint32_t i = 0; i < world.mark_n; i++)
		world.marks[i].value = *world.marks[i].at;
}

/* ---- what is wrong with it ---- */

enum what { ZERO, SMALL, ONES, POINT, ADD, BIT, COPY, NEIGHBOUR, MENDED, GONE, TAKE, WHATS };

static void damage(enum what what, uint32_t which, uint32_t argument)
{
	uint64_t *at = world.marks[which % world.mark_n].at;
	const uint64_t there = *at;

	switch (what) {
	case ZERO:
		*at = 0;
		break;
	case SMALL:
		*at = argument;
		break;
	case ONES:
		*at = UINT64_MAX >> argument % 64;
		break;
	case POINT:
		*at = world.objects[argument % world.object_n];
		break;
	case ADD:
		*at = there + (uint64_t)(int16_t)argument;
		break;
	case BIT:
		*at = there ^ 1ull << argument % 64;
		break;
	case COPY:
		*at = *world.marks[argument % world.mark_n].at;
		break;
	case NEIGHBOUR:
		*at = address(at) + 8 * (uint64_t)(int16_t)argument;
		break;
	case MENDED:
		*at = world.marks[which % world.mark_n].value;
		break;
	/* So close to the end of what is mapped that nothing larger than that fits. */
	case GONE:
		*at = address(world.bytes) + WORLD_BYTES - argument % 256;
		break;
	case TAKE:
	case WHATS:
		break;
	}
}

static void check_sample(const struct fz_profile *p, const struct fz_python_sample *sample)
{
	for (uint32_t i = 0; i < sample->n; i++) {
		const struct fz_python_stack *s = &sample->stacks[i];
		fz_assert(s->thread < p->thread_count);
		fz_assert(s->stack == FZ_NONE || s->stack < p->stack_count);
		for (uint32_t k = 0; k < s->calls.frame_n; k++)
			fz_assert(s->calls.frames[k] < p->frame_count);
		for (uint32_t k = 0; k < s->calls.segment_n; k++)
			fz_assert(s->calls.segments[k].end <= s->calls.frame_n);
	}
}

/* whole: nothing is wrong with the world, so nothing may be wrong with its samples. */
static void take(struct fz_python *py, const struct fz_profile *p, uint32_t n, bool whole)
{
	struct fz_python_sample sample;

	while (n-- > 0 && fz_python_sample_take(py, &sample, NULL) == 0) {
		check_sample(p, &sample);
		fz_assert(!whole || sample.n > 0);
		for (uint32_t i = 0; whole && i < sample.n; i++)
			fz_assert(!sample.stacks[i].rejected &&
				  p->stacks[sample.stacks[i].stack].depth >= 2);
		fz_assert(!whole || !sample.locals || world.l.frames == FZ_PY_FRAMES_HEAP ||
			  sample.locals[0].n > 0);
	}
}

/* The damages from here on: up to `n` of them, samples between them if there is an interpreter. */
static void go_wrong(struct fz_cursor *c, uint32_t n, struct fz_python *py,
		     const struct fz_profile *p)
{
	for (uint32_t takes = 0; n > 0 && !c->bad && fz_cursor_left(c); n--) {
		enum what what = fz_cursor_u8(c) % WHATS;
		uint32_t word = fz_cursor_u32(c);
		if (c->bad)
			break;
		if (what != TAKE)
			damage(what, word & 0xffff, word >> 16);
		else if (py && takes++ < TAKES_MAX)
			take(py, p, 1, false);
	}
}

static void map_world(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (world.bytes)
		return;
	world.bytes = mmap(NULL, WORLD_BYTES + page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fz_assert(world.bytes != MAP_FAILED);
	fz_assert(munmap(world.bytes + WORLD_BYTES, page) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fz_cursor c = fz_cursor_of(data, n);
	uint8_t version = fz_cursor_u8(&c), flags = fz_cursor_u8(&c), before = fz_cursor_u8(&c);
	struct fz_python_options options = {
		.all_threads = flags & 1,
		.stopped = flags & 2,
		.gc = flags & 4,
		.native = flags & 8,
		.opcodes = flags & 16,
		.segments = flags & 32,
		.task_names = flags & 64,
		.locals = (flags & 130) == 130 ? 3 : 0, /* of what runs they take long */
	};
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	struct fz_error err = { 0 };
	struct fz_python *py;

	if (c.bad)
		return 0;
	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	map_world();
	make_world(&versions[version % FZ_ARRAY_LEN(versions)]);
	if (world.l.coro.frame != FZ_PY_ABSENT)
		options.tasks = before >> 6 & 1 ? FZ_PYTHON_TASKS_ALL : FZ_PYTHON_TASKS_RUNNING;
	if (before >> 7)
		options.tasks = FZ_PYTHON_TASKS_NONE;
	go_wrong(&c, before & 63, NULL, p);
	if (fz_python_open(getpid(), &options, p, &py, &err) < 0) {
		fz_assert(err.message[0] && !strchr(err.message, '\n'));
		return 0;
	}
	go_wrong(&c, DAMAGES_MAX, py, p);
	take(py, p, SAMPLES_AT_END, n == INPUT_HEADER);
	fz_python_close(py);
	fuzz_check(p);
	return 0;
}
