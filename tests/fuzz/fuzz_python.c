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

#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "capture/python/layouts.h"
#include "capture/python/python.h"
#include "unit/python_tables.h"

enum {
	WORLD_BYTES = 128 << 10,
	MARKS_MAX = 2048,
	OBJECTS_MAX = 128,
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

static struct world {
	uint8_t *bytes; /* an unmapped page follows */
	size_t used;
	struct fz_py_layout l;
	struct {
		uint64_t *at, value;
	} marks[MARKS_MAX];
	uint32_t mark_n;
	uint64_t objects[OBJECTS_MAX];
	uint32_t object_n;
	uint64_t pthread;
} world;

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static uint64_t object(size_t n)
{
	uint8_t *p = world.bytes + world.used;

	world.used += (n + 15) & ~15ull;
	fz_assert(world.used <= WORLD_BYTES && world.object_n < OBJECTS_MAX);
	world.objects[world.object_n++] = address(p);
	return address(p);
}

/* An absent field lies nowhere. */
static void put(uint64_t base, uint32_t offset, uint64_t value)
{
	if (offset == FZ_PY_ABSENT)
		return;
	uint64_t *at = (uint64_t *)(uintptr_t)((base + offset) & ~7ull);
	memcpy((void *)(uintptr_t)(base + offset), &value, sizeof(value));
	fz_assert(world.mark_n < MARKS_MAX);
	world.marks[world.mark_n++].at = at;
}

static void put_small(uint64_t base, uint32_t offset, uint32_t value, size_t width)
{
	if (offset == FZ_PY_ABSENT)
		return;
	memcpy((void *)(uintptr_t)(base + offset), &value, width);
	world.marks[world.mark_n++].at = (uint64_t *)(uintptr_t)((base + offset) & ~7ull);
}

static uint64_t make_text(const char *text)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t s = object(128);

	put(s, l->unicode.length, strlen(text));
	put_small(s, l->unicode.state, 1u << l->unicode_shift | 3u << (l->unicode_shift + 3), 4);
	memcpy((void *)(uintptr_t)(s + l->unicode.ascii_data), text, strlen(text));
	return s;
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
	put_small(frame, l->frame.is_entry, previous == 0, 1);
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

static uint64_t make_dict(uint64_t key, uint64_t value)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t dict = object(64), keys = object(128);
	bool old = l->minor <= 10;

	put(keys, 8, old ? 8 : 0 | 3 << 8 | 0 << 16);
	put(keys, old ? 32 : 24, 1);
	uint64_t entry = keys + (old ? 48 : 40);
	put(entry, 8, key);
	put(entry, 16, value);
	put(dict, l->dict.keys, keys);
	put(dict, l->dict.values, 0);
	return dict;
}

static uint64_t make_names(void)
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
	return make_dict(make_text("threading"), module);
}

/* ---- tasks ---- */

static uint64_t make_type(const char *name, uint64_t flags)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t type = object(1024), text = object(32);

	memcpy((void *)(uintptr_t)text, name, strlen(name));
	put(type, l->object.type_name, text);
	put(type, l->coro.type_flags, flags);
	return type;
}

static uint64_t make_coroutine(uint64_t type, uint64_t code, uint64_t awaits)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t coro = object(512), frame = coro + l->coro.frame;
	bool waits = awaits != 0;

	put(coro, l->object.type, type);
	fill_frame(frame, code, 0, 1);
	put(frame, l->coro.stack, frame + 200);
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

static uint64_t make_set(uint64_t key)
{
	const struct fz_py_layout *l = &world.l;
	uint64_t set = object(128), table = object(128);

	put(set, l->coro.set_used, 1);
	put(set, l->coro.set_mask, 7);
	put(set, l->coro.set_table, table);
	put(table, 16, key);
	put(table, 24, 77);
	return set;
}

/* Returns the frame of the coroutine that runs. */
static uint64_t make_tasks(const uint64_t codes[3], uint64_t *ret_task, uint64_t waiting[2])
{
	const struct fz_py_layout *l = &world.l;
	uint64_t type = make_type("coroutine", 0), text = make_text("job-1");
	uint64_t number = object(64);

	put(text, l->object.type, make_type("str", 1 << 28));
	put(number, l->object.type, make_type("int", 1 << 24));
	put(number, l->coro.int_tag, 1 << 3);
	put_small(number, l->coro.int_digits, 5, 4);
	uint64_t runs = make_coroutine(type, codes[2], 0);
	uint64_t inner = make_coroutine(type, codes[1], make_coroutine(type, codes[0], text));
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

	memset(world.bytes, 0, world.used);
	world.used = world.mark_n = world.object_n = 0;
	make_runtime(v);
	world.pthread = object(1024);
	put_small(world.pthread, LIBC_TID, (uint32_t)getpid(), 4);
	codes[0] = make_code("<module>", "app.py", 1);
	codes[1] = make_code("outer", "/app.py", 10);
	codes[2] = make_code("inner", "/app.py", 20);
	if (l->coro.frame != FZ_PY_ABSENT)
		runs = make_tasks(codes, &task, waiting);
	uint64_t other = make_interp(0, 1, 0);
	put(other, l->interp.threads_head, make_thread(other, 0, 77, 0, codes));
	uint64_t interp = make_interp(other, 0, l->minor <= 13 ? make_names() : 0);
	uint64_t first = make_thread(interp, 0, (uint64_t)getpid(), runs, codes);
	uint64_t second = make_thread(interp, first, 78, 0, codes);
	put(interp, l->interp.threads_head, second);
	put(interp, l->interp.gc_frame, runs);
	put(address(_PyRuntime), l->runtime.interpreters_head, interp);
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

	while (n-- > 0 && fz_python_take(py, &sample, NULL) == 0) {
		check_sample(p, &sample);
		fz_assert(!whole || sample.n > 0);
		for (uint32_t i = 0; whole && i < sample.n; i++)
			fz_assert(!sample.stacks[i].rejected &&
				  p->stacks[sample.stacks[i].stack].depth >= 2);
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
