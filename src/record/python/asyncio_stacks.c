/* SPDX-License-Identifier: MIT */
/* Stacks of tasks. A stack is, outermost first,
 *
 *   <task A> frames of A's coroutines <task B> frames of B's coroutines
 *
 * where A waits for B, and B waits for no task in the list. The running task has the frames of its
 * thread from its coroutine on, which may include any code.
 *
 * A stack is valid if everything read for it is the same in copies taken before and after. For the
 * running task, these copies are taken before and after that of its thread, so everything belongs
 * to one moment. A waiting task that changed is read again by itself.
 */
#include "asyncio_tasks.h"
#include "opcodes.h"

enum {
	AGAIN_MAX = 12,
	LOOKS_MAX = 1 << 20, /* pieces read again in one sample */
	STEPS_MAX = 1 << 20, /* from task to task, in one sample */
};

/* Names given by programs often end in a number, which is dropped to join tasks of one kind. */
static struct fz_str without_number(struct fz_str s)
{
	size_t n = s.n;

	while (n && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	while (n && n < s.n && strchr(" -_#:.", s.p[n - 1]))
		n--;
	return (struct fz_str){ s.p, n };
}

/* The frame that represents a task; first: the frame of its outermost coroutine, or FZ_NONE. */
static uint32_t marker(struct fz_py_tasks *t, const struct fz_py_task *task, uint32_t first)
{
	struct fz_profile *p = t->codes->into;
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };
	struct fz_str name = { task->text_n ? t->text.p + task->text : "", task->text_n };

	fz_buf_str(&b, "<task ");
	if (t->options.names && task->name == NAME_NUMBER) {
		fz_buf_printf(&b, "Task-%llu", (unsigned long long)task->number);
	} else if (t->options.names && task->name == NAME_TEXT) {
		fz_buf_add(&b, name.p, name.n);
	} else {
		name = task->name == NAME_TEXT ? without_number(name) : (struct fz_str){ "", 0 };
		if ((name.n == 0 || fz_str_eq(name, FZ_STR("Task"))) && first != FZ_NONE)
			name = fz_profile_text(p, p->functions[p->frames[first].function].name);
		fz_buf_add(&b, name.n ? name.p : "?", name.n ? name.n : 1);
	}
	if (task->awaiters > 1 && t->options.names)
		fz_buf_printf(&b, " (%u parents)", task->awaiters);
	else if (task->awaiters > 1)
		fz_buf_str(&b, " (several parents)");
	fz_buf_char(&b, '>');
	return fz_profile_frame_named(p, fz_buf_view(&b), FZ_STR("~"), FZ_NO_LINE, FZ_KIND_TASK);
}

/* Add a task on top of the stack of its awaiters: its marker and, if `frames`, its frames. */
static bool add_to_stack(struct fz_py_tasks *t, struct fz_py_task *task, bool frames, uint32_t base)
{
	const struct fz_py_raw_frame *f = task->frame_n ? t->frames + task->frame : NULL;
	uint64_t codes[64];
	uint32_t first = FZ_NONE, stack = base;

	for (uint32_t i = 0; i < task->frame_n && i < FZ_ARRAY_LEN(codes); i++)
		codes[i] = f[i].code & ((1ull << FZ_PY_CODE_BITS) - 1);
	fz_py_codes_refresh(t->codes, codes, FZ_MIN(task->frame_n, (uint32_t)64));
	fz_auto(fz_free_ptr) uint8_t *opcodes = NULL;
	if (t->options.opcodes && frames) {
		opcodes = fz_malloc(task->frame_n + 1);
		fz_py_opcodes_read(t->codes, f, task->frame_n, opcodes);
	}
	for (uint32_t i = 0; i < (frames ? task->frame_n : FZ_MIN(task->frame_n, 1u)); i++) {
		uint32_t frame =
			fz_py_codes_frame(t->codes, f[i].code & ((1ull << FZ_PY_CODE_BITS) - 1),
					  f[i].position, (uint32_t)(f[i].code >> FZ_PY_CODE_BITS),
					  opcodes ? opcodes[i] : FZ_NO_OPCODE);
		if (frame == FZ_NONE)
			return false;
		if (frame == FZ_PY_FRAME_HIDDEN)
			continue;
		if (first == FZ_NONE) {
			first = frame;
			stack = fz_profile_stack(t->codes->into, stack, marker(t, task, first));
		}
		if (frames)
			stack = fz_profile_stack(t->codes->into, stack, frame);
	}
	if (first == FZ_NONE)
		stack = fz_profile_stack(t->codes->into, stack, marker(t, task, FZ_NONE));
	task->stack = stack;
	return true;
}

/* The stack of task i and its awaiters, each once. frames: include its own. False if one of them
 * changed meanwhile. */
static bool stack_of(struct fz_py_tasks *t, uint32_t i, bool frames, uint32_t *ret)
{
	uint32_t n = 0, stack = FZ_NONE;
	bool ok = true, cycle = false;

	for (uint32_t k = i; k != FZ_NONE;
	     k = t->list[k].awaiter ? fz_py_task_find(t, t->list[k].awaiter) : FZ_NONE) {
		cycle = t->list[k].on_path;
		if (cycle || !t->list[k].whole || t->steps++ >= STEPS_MAX)
			break;
		if (k != i && t->list[k].stack != FZ_NONE) {
			stack = t->list[k].stack;
			break;
		}
		fz_push(t->path, n, t->path_cap, k);
		t->list[k].on_path = t->list[k].shown = true;
	}
	ok = n > 0 && t->steps < STEPS_MAX;
	if (ok && stack == FZ_NONE && !cycle) {
		const struct fz_py_task *last = &t->list[t->path[n - 1]];
		ok = !last->awaiter;
	}
	for (uint32_t k = n; k-- > 0;) {
		struct fz_py_task *task = &t->list[t->path[k]];
		task->on_path = false;
		ok = ok && add_to_stack(t, task, frames || t->path[k] != i, stack);
		stack = ok ? task->stack : stack;
		if (cycle || (t->path[k] == i && !frames))
			task->stack = FZ_NONE;
	}
	*ret = stack;
	return ok;
}

static void put_stack(struct fz_py_tasks *t, uint32_t stack, bool rejected)
{
	fz_push(t->stacks, t->stack_n, t->stack_cap, (struct fz_py_task_stack){ stack, rejected });
}

/* A task that runs an eager one is not the running task, but its frames are in the thread's stack,
 * up to those of the eager one. False if its state belongs to another moment than that stack. */
static bool put_creators(struct fz_py_tasks *t, const struct fz_py_walk *w, uint32_t running)
{
	const struct fz_py_chain *now = &w->now;
	struct fz_py_task *task = NULL;

	fz_map_clear(&t->by_place);
	for (uint32_t i = 0; i < t->n; i++) {
		struct fz_py_task *k = &t->list[i];
		if (i != running && !k->runs)
			continue;
		if (i != running &&
		    (!k->whole || (!t->options.stopped &&
				   !fz_py_pages_agree(&t->pages, k->piece, k->piece_end, true))))
			return false;
		fz_map_put(&t->by_place, k->place, i);
	}
	for (uint32_t j = t->by_place.len > 1 ? now->n : 0; j-- > 0;) {
		if (now->frames[j].code <= FZ_PY_CODE_NATIVE)
			continue;
		uint32_t i = fz_map_get(&t->by_place, w->addresses[j]);
		if (i == running && i != FZ_NONE)
			break;
		if (i != FZ_NONE) {
			task = &t->list[i];
			task->frame = t->frame_n;
			task->frame_n = 0;
		}
		if (!task)
			continue;
		fz_push(t->frames, t->frame_n, t->frame_cap, now->frames[j]);
		task->frame_n++;
	}
	return true;
}

/* Rebuild the part of `stack` above `from` on top of `base`. */
static uint32_t transplant(struct fz_py_tasks *t, uint32_t stack, uint32_t from, uint32_t base)
{
	const struct fz_profile *p = t->codes->into;
	uint32_t n = 0;

	for (uint32_t s = stack; s != from && s != FZ_NONE; s = p->stacks[s].parent) {
		fz_push(t->path, n, t->path_cap, p->stacks[s].frame);
	}
	while (n-- > 0)
		base = fz_profile_stack(t->codes->into, base, t->path[n]);
	return base;
}

/* Read tasks that changed again, one by one, each with its awaiters. */
static void retry_failed(struct fz_py_tasks *t)
{
	uint32_t stack, looks = 0;

	t->from = &t->few;
	for (uint32_t i = 0; i < t->failed_n; i++) {
		bool ok = false, there = true;
		for (unsigned k = 0; k < AGAIN_MAX && !ok && there; k++) {
			if (looks > LOOKS_MAX)
				break;
			fz_py_tasks_forget(t);
			fz_py_pages_begin(t->from, true);
			fz_py_task_add(t, t->failed[i]);
			t->list[0].listed = true;
			there = fz_py_task_is_linked(t, t->failed[i]);
			fz_py_tasks_read(t);
			fz_py_tasks_confirm(t, false);
			ok = stack_of(t, 0, true, &stack);
			looks += t->from->piece_n;
		}
		if (ok)
			put_stack(t, stack, false);
		else if (there)
			put_stack(t, fz_profile_stack(t->codes->into, FZ_NONE, t->unreadable_frame),
				  true);
	}
	t->from = &t->pages;
}

/* Make a stack for each task that waits for none in the list; then for those in cycles. */
static void add_waiting(struct fz_py_tasks *t, uint32_t running)
{
	uint32_t stack;

	t->failed_n = 0;
	for (unsigned circles = 0; circles < 2; circles++)
		for (uint32_t i = 0; i < t->n; i++) {
			const struct fz_py_task *task = &t->list[i];
			if (i == running || !task->listed || (circles ? task->shown : task->awaits))
				continue;
			if (stack_of(t, i, true, &stack)) {
				put_stack(t, stack, false);
			} else if (!circles || !task->whole) {
				fz_push(t->failed, t->failed_n, t->failed_cap, task->address);
				t->list[i].shown = true;
			}
		}
	if (t->failed_n)
		retry_failed(t);
}

enum fz_py_outcome fz_py_tasks_read_stacks(struct fz_py_tasks *t,
					   const struct fz_py_tasks_thread *thread,
					   const struct fz_py_walk *walk, uint32_t stack,
					   bool *ret_runs)
{
	uint32_t running = FZ_NONE, first = t->pages.piece_n, under;
	uint64_t loop, task;

	fz_py_tasks_forget(t);
	t->from = &t->pages;
	t->stack_n = t->steps = 0;
	*ret_runs = false;
	if (!fz_py_tasks_current(t, thread->address, &loop, &task))
		return FZ_PY_WALK_UNMAPPED;
	uint32_t end = t->pages.piece_n;
	if (loop != thread->loop || task != thread->task)
		return FZ_PY_WALK_CHANGED;
	if (loop && task)
		running = fz_py_task_add(t, task);
	if (t->options.all && !fz_py_tasks_list(t, thread))
		return FZ_PY_WALK_CHANGED;
	fz_py_tasks_read(t);
	bool *whole = running == FZ_NONE ? NULL : &t->list[running].whole;
	fz_py_tasks_confirm(t, !t->options.all);
	if (!t->options.stopped && running != FZ_NONE && t->options.all)
		*whole = *whole && fz_py_pages_agree(&t->pages, t->list[running].piece,
						     t->list[running].piece_end, true);
	if (!t->options.stopped && !fz_py_pages_agree(&t->pages, first, end, true))
		return FZ_PY_WALK_CHANGED;
	if (t->options.all && stack != FZ_NONE && !put_creators(t, walk, running))
		return FZ_PY_WALK_CHANGED;
	if (running != FZ_NONE && stack != FZ_NONE && walk->mark && walk->mark_at != FZ_NONE) {
		if (!stack_of(t, running, false, &under))
			return FZ_PY_WALK_CHANGED;
		put_stack(t, transplant(t, stack, fz_py_walk_marked(walk), under), false);
		*ret_runs = true;
	}
	if (t->options.all)
		add_waiting(t, running);
	return FZ_PY_WALK_OK;
}
