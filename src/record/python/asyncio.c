/* SPDX-License-Identifier: MIT */
/* Reading tasks from outside.
 *
 *   thread state {running loop, running task, list of tasks}
 *                                  |                |
 *                                  v                v
 *   task {name, coroutine, awaited by: a task, or a set of tasks, list node}
 *                  |
 *                  v
 *   coroutine {state, frame} -- waits for --> coroutine {state, frame} -> ...
 *
 * All of it is read through copies of pages (pages.h), which are compared later to find out whether
 * it stayed unchanged. Everything is bounded: tasks, frames, awaiters, lengths.
 */
#include "asyncio_tasks.h"

#include "object.h"

enum {
	TASKS_MAX = 1 << 16,
	FRAMES_MAX = 1 << 20,   /* of all tasks together */
	COROUTINES_MAX = 4096,  /* of one task */
	AWAITERS_MAX = 1 << 16, /* slots of a set of awaiters */
	FUTURES_MAX = 16,       /* between two tasks */
	NAME_MAX = 255,         /* characters of a name */
	FRAME_MAX = 1024,       /* bytes of a coroutine up to the end of its frame's fields */
	STACK_MAX = 1 << 20,    /* bytes of a frame's values */
	TABLE_WORDS = 13,
};

enum { INT_SUBCLASS = 1 << 24, STR_SUBCLASS = 1 << 28 };

void fz_py_tasks_release(struct fz_py_tasks *t)
{
	fz_py_pages_release(&t->pages);
	fz_py_pages_release(&t->few);
	fz_map_release(&t->by_address);
	fz_map_release(&t->by_place);
	fz_map_release(&t->old.kinds);
	fz_map_release(&t->old.classes);
	fz_buf_release(&t->text);
	free(t->list);
	free(t->frames);
	free(t->failed);
	free(t->path);
	free(t->stacks);
	*t = (struct fz_py_tasks){ 0 };
}

/* ---- asyncio's table of offsets ---- */

/* Parse the table {task: size, name, awaited_by, is_task, awaited_by_is_set, coro, node;
 * interpreter: size, tasks; thread: size, loop, task, tasks}. False if it is invalid. */
static bool parse_table(struct fz_py_tasks *t, const uint64_t *w)
{
	struct fz_py_layout *l = &t->runtime->layout;
	const uint64_t pointers[] = { w[1], w[2], w[5], w[6] };

	if (w[0] < 16 || w[0] > 2048 || w[3] >= w[0] || w[4] >= w[0])
		return false;
	for (size_t i = 0; i < FZ_ARRAY_LEN(pointers); i++)
		if (pointers[i] % 8 || pointers[i] > w[0] - 8)
			return false;
	if (w[6] > w[0] - 16 || w[9] > 64 << 10)
		return false;
	for (unsigned i = 10; i < TABLE_WORDS; i++)
		if (w[i] % 8 || w[i] > w[9] || w[9] - w[i] < 8)
			return false;
	/* Thread states are copied up to the last field that is used. */
	if (w[10] > 3000 || w[11] > 3000)
		return false;
	t->layout = (struct fz_py_tasks_layout){ .size = (uint32_t)w[0],
						 .name = (uint32_t)w[1],
						 .awaited_by = (uint32_t)w[2],
						 .is_task = (uint32_t)w[3],
						 .by_set = (uint32_t)w[4],
						 .coro = (uint32_t)w[5],
						 .node = (uint32_t)w[6] };
	l->thread.running_loop = (uint32_t)w[10];
	l->thread.running_task = (uint32_t)w[11];
	l->thread.tasks = (uint32_t)w[12];
	return true;
}

void fz_py_tasks_find(struct fz_py_tasks *t)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t at, table[TABLE_WORDS];

	t->pages.process = t->few.process = t->process;
	if (t->found || l->coro.frame == FZ_PY_ABSENT ||
	    l->coro.frame + l->frame.size > FRAME_MAX || l->coro.state + 1 > FRAME_MAX ||
	    l->coro.frame + l->coro.stack + 8 > FRAME_MAX)
		return;
	if (l->minor < 14) {
		t->found = t->by_callbacks = fz_py_old_tasks_find(t);
		return;
	}
	if (fz_py_runtime_section(t->process, t->runtime, "_asyncio.", ".AsyncioDebug",
				  sizeof(table), &at) &&
	    fz_process_read(t->process, at, table, sizeof(table)))
		t->found = parse_table(t, table);
}

void fz_py_tasks_begin(struct fz_py_tasks *t)
{
	fz_py_pages_begin(&t->pages, false);
}

struct fz_py_tasks_thread fz_py_tasks_thread(struct fz_py_tasks *t, uint64_t tstate,
					     const uint8_t *copy)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	struct fz_py_tasks_thread old = { .address = tstate };

	if (t->by_callbacks) {
		t->from = &t->pages;
		fz_py_old_tasks_current(t, tstate, &old.loop, &old.task);
		return old;
	}
	return (struct fz_py_tasks_thread){ tstate, fz_py_word(copy, l->thread.running_loop),
					    fz_py_word(copy, l->thread.running_task) };
}

/* ---- reading ---- */

bool fz_py_tasks_current(struct fz_py_tasks *t, uint64_t tstate, uint64_t *ret_loop,
			 uint64_t *ret_task)
{
	const struct fz_py_layout *l = &t->runtime->layout;

	if (t->by_callbacks)
		return fz_py_old_tasks_current(t, tstate, ret_loop, ret_task);
	return fz_py_tasks_word(t, tstate + l->thread.running_loop, ret_loop) &&
	       fz_py_tasks_word(t, tstate + l->thread.running_task, ret_task);
}

/* References carry tags in their low bits. */
static uint64_t untagged(uint64_t reference)
{
	return reference & ~(uint64_t)7;
}

uint64_t fz_py_tasks_frame(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread)
{
	uint64_t coro;

	t->from = &t->pages;
	if (!thread->loop || !thread->task ||
	    !fz_py_tasks_word(t, thread->task + t->layout.coro, &coro) || !untagged(coro))
		return 0;
	return untagged(coro) + t->runtime->layout.coro.frame;
}

/* Types in a chain of coroutines. A step is the object that an asynchronous generator returns to
 * `async for`, anext() and aclose(): its first field is the generator. */
enum kind { KIND_OTHER, KIND_COROUTINE, KIND_GENERATOR, KIND_ASYNC_GENERATOR, KIND_STEP };

static const struct {
	const char *name;
	enum kind kind;
} types[FZ_PY_CORO_TYPES] = {
	{ "coroutine", KIND_COROUTINE },
	{ "generator", KIND_GENERATOR },
	{ "async_generator", KIND_ASYNC_GENERATOR },
	{ "async_generator_asend", KIND_STEP },
	{ "async_generator_athrow", KIND_STEP },
};

/* Types are recognised by name once: names do not change. */
static enum kind kind_of(struct fz_py_tasks *t, uint64_t type)
{
	enum { BEGINNING = sizeof("coroutine") };
	char name[sizeof("async_generator_athrow")];
	uint64_t at;

	for (size_t i = 0; i < FZ_ARRAY_LEN(types); i++)
		if (type && type == t->coroutine_types[i])
			return types[i].kind;
	if (!fz_py_tasks_word(t, type + t->runtime->layout.object.type_name, &at) ||
	    !fz_py_pages_read(t->from, at, name, BEGINNING))
		return KIND_OTHER;
	for (size_t i = 0; i < FZ_ARRAY_LEN(types); i++) {
		size_t n = strlen(types[i].name) + 1;
		if (memcmp(name, types[i].name, FZ_MIN(n, (size_t)BEGINNING)) != 0)
			continue;
		if (n > BEGINNING && (!fz_py_pages_read(t->from, at, name, n) ||
				      memcmp(name, types[i].name, n) != 0))
			continue;
		t->coroutine_types[i] = type;
		return types[i].kind;
	}
	return KIND_OTHER;
}

/* Does an object of this kind continue the chain after one of kind `before`? A chain may end in any
 * object, such as a future's generator. */
static bool continues(enum kind before, enum kind kind)
{
	if (before == KIND_OTHER)
		return kind == KIND_COROUTINE || kind == KIND_GENERATOR;
	if (before == KIND_GENERATOR)
		return kind == KIND_GENERATOR;
	return kind == KIND_COROUTINE || kind == KIND_ASYNC_GENERATOR;
}

enum coro_state { CORO_OVER, CORO_RUNS, CORO_STOPPED, CORO_WAITS };

/* States are numbered from -3 up to 3.14, and from 0 later. */
static enum coro_state coro_state(const struct fz_py_layout *l, int8_t state)
{
	if (l->minor < 15)
		return state == 0                   ? CORO_RUNS
		       : state == -1                ? CORO_WAITS
		       : state == -2 || state == -3 ? CORO_STOPPED
						    : CORO_OVER;
	return state == 4                 ? CORO_RUNS
	       : state == 2 || state == 3 ? CORO_WAITS
	       : state == 0 || state == 1 ? CORO_STOPPED
					  : CORO_OVER;
}

/* Does the coroutine wait, rather than `yield`? Up to 3.12 only the next instruction shows that. */
static bool waits(struct fz_py_tasks *t, uint64_t position)
{
	enum { RESUME_QUICK = 150, RESUME, INSTRUMENTED_RESUME = 240, AFTER_YIELD_FROM = 2 };
	unsigned minor = t->runtime->layout.minor;
	uint8_t next[2], other = minor == 11 ? RESUME_QUICK : INSTRUMENTED_RESUME;

	return minor > 12 ||
	       (fz_py_pages_read(t->from, position + 2, next, sizeof(next)) &&
		(next[0] == RESUME || next[0] == other) && next[1] >= AFTER_YIELD_FROM);
}

/* The object that a coroutine waits for: the last value on its frame's stack, or (3.15) the one
 * before it. */
static uint64_t awaited(struct fz_py_tasks *t, uint64_t frame, const uint8_t *copy)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t end = fz_py_word(copy, l->coro.stack), value;
	uint32_t back = l->minor < 15 ? 8 : 16;

	if (l->minor < 14)
		end = frame + l->frame.locals + 8 * (end & UINT32_MAX);
	if (!waits(t, fz_py_word(copy, l->frame.position)))
		return 0;

	if (end < frame + back || end - frame > STACK_MAX ||
	    !fz_py_tasks_word(t, end - back, &value))
		return 0;
	return untagged(value);
}

static bool add_frame(struct fz_py_tasks *t, const uint8_t *frame)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	const uint64_t mask = (1ull << FZ_PY_CODE_BITS) - 1;
	uint64_t code = fz_py_word(frame, l->frame.code) & mask & ~3ull;
	uint32_t tlbc = 0;

	if (t->frame_n >= FRAMES_MAX)
		return false;
	if (l->frame.tlbc_index != FZ_PY_ABSENT)
		memcpy(&tlbc, frame + l->frame.tlbc_index, sizeof(tlbc));
	fz_push(t->frames, t->frame_n, t->frame_cap,
		(struct fz_py_raw_frame){
			code | (uint64_t)(tlbc & 0xffff) << FZ_PY_CODE_BITS,
			fz_py_word(frame, l->frame.position),
		});
	return true;
}

/* Add a coroutine's frame, and set what it waits for (0: nothing with frames). *kind: kind of the
 * previous object in the chain, replaced by the coroutine's. */
static bool read_coroutine(struct fz_py_tasks *t, uint64_t coro, enum kind *kind,
			   uint64_t *ret_next, bool *ret_runs)
{
	enum { OWNED_BY_GENERATOR = 1 };
	const struct fz_py_layout *l = &t->runtime->layout;
	uint8_t object[FRAME_MAX], *frame = object + l->coro.frame;
	uint32_t size = FZ_MAX(l->coro.state + 1, l->coro.frame + l->frame.size);
	uint64_t this_type;

	*ret_next = 0;
	size = FZ_MAX(size, l->coro.frame + l->coro.stack + 8);
	if (coro % 8 || !fz_py_tasks_word(t, coro + l->object.type, &this_type))
		return false;
	enum kind this_kind = kind_of(t, this_type);
	if (this_kind == KIND_STEP && *kind != KIND_GENERATOR)
		return fz_py_tasks_word(t, coro + l->object.type + 8, ret_next);
	if (!continues(*kind, this_kind))
		return true;
	*kind = this_kind;
	/* Not compared later, because the frame of a running coroutine changes all the time. */
	if (!fz_py_pages_glance(t->from, coro, object, size))
		return false;
	enum coro_state state = coro_state(l, (int8_t)object[l->coro.state]);
	if (state == CORO_OVER)
		return true;
	if (frame[l->frame.owner] != OWNED_BY_GENERATOR)
		return false;
	if (state == CORO_RUNS) {
		uint64_t code;
		if (!fz_py_pages_read(t->from, coro + l->coro.state, object, 1) ||
		    !fz_py_tasks_word(t, coro + l->coro.frame + l->frame.code, &code))
			return false;
		*ret_runs = true;
		return add_frame(t, frame);
	}
	/* Without the header: the reference count may change. */
	if (!fz_py_pages_read(t->from, coro + l->coro.state, object, 1) ||
	    !fz_py_pages_read(t->from, coro + l->coro.frame, object + l->coro.frame,
			      size - l->coro.frame) ||
	    !add_frame(t, frame))
		return false;
	if (state == CORO_WAITS)
		*ret_next = awaited(t, coro + l->coro.frame, frame);
	return true;
}

static bool read_coroutines(struct fz_py_tasks *t, uint64_t coro, struct fz_py_task *task)
{
	enum kind kind = KIND_OTHER;

	task->frame = t->frame_n;
	task->place = coro + t->runtime->layout.coro.frame;
	for (unsigned i = 0; coro && i < COROUTINES_MAX; i++)
		if (!read_coroutine(t, coro, &kind, &coro, &task->runs))
			return false;
	task->frame_n = t->frame_n - task->frame;
	return coro == 0;
}

/* ---- names ---- */

static bool read_number(struct fz_py_tasks *t, uint64_t object, struct fz_py_task *task)
{
	enum { SHIFT = 3, DIGIT = 30 };
	const struct fz_py_layout *l = &t->runtime->layout;
	uint32_t digits[2] = { 0 };
	uint64_t tag;

	if (!fz_py_tasks_word(t, object + l->integer.tag, &tag))
		return false;
	unsigned n = (unsigned)FZ_MIN(tag >> SHIFT, 3ull);
	if (n > 2 || (n && !fz_py_pages_read(t->from, object + l->integer.digits, digits, 4 * n)))
		return false;
	task->name = NAME_NUMBER;
	task->number = digits[0] | (uint64_t)digits[1] << DIGIT;
	return true;
}

static bool read_text(struct fz_py_tasks *t, uint64_t object, struct fz_py_task *task)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint32_t data[NAME_MAX]; /* of the largest kind */
	uint64_t length;
	uint32_t state;

	if (!fz_py_tasks_word(t, object + l->unicode.length, &length) ||
	    !fz_py_pages_read(t->from, object + l->unicode.state, &state, sizeof(state)))
		return false;
	unsigned kind = state >> l->unicode_shift & 7;
	bool compact = state >> (l->unicode_shift + 3) & 1;
	bool ascii = state >> (l->unicode_shift + 4) & 1;
	if (!compact || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1))
		return false;
	uint32_t n = (uint32_t)FZ_MIN(length, (uint64_t)NAME_MAX);
	if (n &&
	    !fz_py_pages_read(t->from,
			      object + (ascii ? l->unicode.ascii_data : l->unicode.compact_data),
			      data, n * kind))
		return false;
	task->name = NAME_TEXT;
	task->text = (uint32_t)t->text.n;
	fz_py_encode_text(data, n, kind, &t->text);
	task->text_n = (uint32_t)t->text.n - task->text;
	return true;
}

static bool read_name(struct fz_py_tasks *t, uint64_t object, struct fz_py_task *task)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t type, flags;

	if (!object)
		return true;
	if (!fz_py_tasks_word(t, object + l->object.type, &type))
		return false;
	if (type && type == t->int_type)
		return read_number(t, object, task);
	if (type && type == t->str_type)
		return read_text(t, object, task);
	if (!fz_py_tasks_word(t, type + l->type.flags, &flags))
		return false;
	if (flags & INT_SUBCLASS) {
		t->int_type = type;
		return read_number(t, object, task);
	}
	if (flags & STR_SUBCLASS) {
		t->str_type = type;
		return read_text(t, object, task);
	}
	return true;
}

/* ---- tasks ---- */

bool fz_py_task_is_linked(struct fz_py_tasks *t, uint64_t task)
{
	uint64_t node = task + t->layout.node, next, back;

	if (t->by_callbacks)
		return fz_py_old_tasks_is_live(t, task);
	return fz_py_tasks_word(t, node, &next) && fz_py_tasks_word(t, next + 8, &back) &&
	       back == node;
}

/* The lowest address in a set of awaiters, and their number. */
static bool read_awaiters(struct fz_py_tasks *t, uint64_t set, uint64_t *ret, uint32_t *ret_n)
{
	const struct fz_py_layout *l = &t->runtime->layout;
	uint64_t used, mask, table, key;

	if (!fz_py_tasks_word(t, set + l->set.used, &used) ||
	    !fz_py_tasks_word(t, set + l->set.mask, &mask) ||
	    !fz_py_tasks_word(t, set + l->set.table, &table) || mask >= AWAITERS_MAX ||
	    used > mask + 1)
		return false;
	*ret = *ret_n = 0;
	for (uint64_t i = 0; i <= mask && *ret_n < used; i++) {
		uint64_t type;
		if (!fz_py_tasks_word(t, table + 16 * i, &key))
			return false;
		/* A removed key leaves a dummy object, which is not a task. */
		if (!key || !fz_py_tasks_word(t, key + l->object.type, &type) || key % 8)
			continue;
		uint64_t hash;
		if (!fz_py_tasks_word(t, table + 16 * i + 8, &hash))
			return false;
		if (hash == UINT64_MAX)
			continue;
		*ret = *ret_n && *ret < key ? *ret : key;
		++*ret_n;
	}
	return true;
}

/* The task that waits for this one, perhaps through futures that are not tasks. */
static bool read_awaiter(struct fz_py_tasks *t, uint64_t object, uint64_t *ret, uint32_t *ret_n)
{
	if (t->by_callbacks)
		return fz_py_old_tasks_awaiter(t, object, ret, ret_n);
	*ret = *ret_n = 0;
	for (unsigned i = 0; i < FUTURES_MAX; i++) {
		uint64_t by;
		uint8_t is_set, is_task;
		uint32_t n = 1;
		if (!fz_py_tasks_word(t, object + t->layout.awaited_by, &by) ||
		    !fz_py_pages_read(t->from, object + t->layout.by_set, &is_set, 1))
			return false;
		by = untagged(by);
		if (!by || (is_set && !read_awaiters(t, by, &by, &n)))
			return by == 0;
		if (!by)
			return true;
		*ret_n = FZ_MAX(*ret_n, n);
		if (!fz_py_pages_read(t->from, by + t->layout.is_task, &is_task, 1))
			return false;
		if (is_task) {
			*ret = by;
			return true;
		}
		object = by;
	}
	return true;
}

/* Read everything about task i, and add the tasks that wait for it to the list. */
static void read_task(struct fz_py_tasks *t, uint32_t i)
{
	struct fz_py_task task = t->list[i];
	uint64_t name, coro;

	task.piece = t->from->piece_n;
	task.whole = task.address % 8 == 0 &&
		     (!task.listed || fz_py_task_is_linked(t, task.address)) &&
		     fz_py_tasks_word(t, task.address + t->layout.name, &name) &&
		     fz_py_tasks_word(t, task.address + t->layout.coro, &coro) &&
		     read_name(t, untagged(name), &task) &&
		     read_awaiter(t, task.address, &task.awaiter, &task.awaiters) &&
		     read_coroutines(t, untagged(coro), &task);
	task.piece_end = t->from->piece_n;
	task.runs = task.runs && task.whole;
	t->list[i] = task;
	if (task.whole && task.awaiter && t->n < TASKS_MAX) {
		uint32_t awaiter = fz_py_task_add(t, task.awaiter);
		t->list[awaiter].awaits = true;
	}
}

void fz_py_tasks_read(struct fz_py_tasks *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		read_task(t, i);
}

bool fz_py_tasks_list(struct fz_py_tasks *t, const struct fz_py_tasks_thread *thread)
{
	uint64_t head = thread->address + t->runtime->layout.thread.tasks, node;

	if (t->by_callbacks)
		return !thread->loop || fz_py_old_tasks_list(t, thread->loop);
	if (!fz_py_pages_glance(t->from, head, &node, sizeof(node)))
		return false;
	for (uint32_t i = 0; node && node != head; i++) {
		if (node % 8 || i >= TASKS_MAX || node < t->layout.node)
			return false;
		uint32_t task = fz_py_task_add(t, node - t->layout.node);
		if (t->list[task].listed)
			return false; /* a cycle */
		t->list[task].listed = true;
		if (!fz_py_pages_glance(t->from, node, &node, sizeof(node)))
			return false;
	}
	return true;
}

void fz_py_tasks_confirm(struct fz_py_tasks *t, bool old)
{
	if (t->options.stopped)
		return;
	fz_py_pages_confirm(t->from);
	for (uint32_t i = 0; i < t->n; i++) {
		struct fz_py_task *task = &t->list[i];
		task->whole = task->whole &&
			      fz_py_pages_agree(t->from, task->piece, task->piece_end, old);
	}
}
