/* SPDX-License-Identifier: MIT */
/* From ticks to stacks; ticks.h has the contract.
 *
 * A thread stood still while its frames were read, so they are consistent. It may have been in the
 * middle of a change. As in any other read, the chain then ends at no valid root, and the stack is
 * rejected. So is one with a code object that was freed before its name could be read.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "exception.h"
#include "profile/origin.h"
#include "python_state.h"
#include "ticks.h"

/* ---- configuration of the program in the kernel ---- */

/* Compute the size of a copy that includes 8 bytes at each offset. Fails if it exceeds `most`, the
 * limit of the program's index masks. */
static int take_span(const char *what, const uint32_t *at, size_t n, uint32_t from, uint32_t most,
		     uint32_t *ret, struct fz_error *err)
{
	uint32_t end = from;

	for (size_t i = 0; i < n; i++)
		if (at[i] != FZ_PY_ABSENT)
			end = FZ_MAX(end, at[i] + 8);
	if (end - from >= most)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "its %s has %u bytes, more than the %u that the kernel can read",
			       what, end - from, most - 1);
	*ret = end - from;
	return 0;
}

static int thread_config(const struct fz_python *py, struct fz_bpf_config *c, struct fz_error *err)
{
	const struct fz_py_layout *l = py->layout;
	bool exceptions = fz_py_exception_known(&py->runtime);
	/* In 3.12 the lock does not notice when a thread changes from one state to another. */
	bool by_status = l->thread.status != FZ_PY_ABSENT &&
			 (l->free_threaded || l->frames == FZ_PY_FRAMES_CFRAME);
	const uint32_t at[] = { l->thread.next,      l->thread.interp,
				l->thread.frame,     l->thread.base_frame,
				l->thread.status,    l->thread.native_thread_id,
				l->thread.holds_gil, l->thread.gil_requested,
				l->thread.raised,    l->thread.exc_state,
				l->thread.exc_info,  l->thread.thread_id };

	c->thread.next = l->thread.next;
	c->thread.interp = l->thread.interp;
	c->thread.libc = l->thread.thread_id;
	c->thread.native_id = l->thread.native_thread_id == FZ_PY_ABSENT
				      ? l->thread.thread_id
				      : l->thread.native_thread_id;
	c->thread.libc_tid = FZ_PY_LIBC_TID;
	c->thread.frame = l->thread.frame;
	c->thread.base_frame = l->thread.base_frame;
	c->thread.attached = by_status ? l->thread.status : l->thread.holds_gil;
	c->thread.attached_mask = by_status ? FZ_PY_STATUS_ACTIVE : UINT32_MAX;
	c->thread.status = l->thread.status;
	c->thread.bound = FZ_PY_STATUS_BOUND;
	c->thread.gil_requested = l->thread.gil_requested;
	c->thread.raised = exceptions ? l->thread.raised : FZ_BPF_ABSENT;
	c->thread.exc_state = l->thread.exc_state;
	c->thread.exc_value = l->thread.exc_state + l->exc_item.value;
	c->thread.exc_info = l->thread.exc_info;
	c->exc_item.value = l->exc_item.value;
	c->exc_item.previous = l->exc_item.previous;
	c->none = l->exc_item.none ? py->runtime.none : 0;
	return take_span("thread state", at, FZ_ARRAY_LEN(at), 0, FZ_BPF_THREAD, &c->thread.size,
			 err);
}

static int code_config(const struct fz_py_layout *l, struct fz_bpf_config *c, struct fz_error *err)
{
	uint32_t name = l->code.qualname != FZ_PY_ABSENT ? l->code.qualname : l->code.name;
	const uint32_t at[] = { l->code.filename, name, l->code.line_table, l->code.first_line,
				l->code.version };
	uint32_t from = UINT32_MAX;

	for (size_t i = 0; i < FZ_ARRAY_LEN(at); i++)
		from = FZ_MIN(from, at[i]);
	c->code.from = from;
	c->code.filename = l->code.filename - from;
	c->code.name = name - from;
	c->code.line_table = l->code.line_table - from;
	c->code.first_line = l->code.first_line - from;
	c->code.version = l->code.version == FZ_PY_ABSENT ? FZ_BPF_ABSENT : l->code.version - from;
	return take_span("code object", at, FZ_ARRAY_LEN(at), from, FZ_BPF_CODE, &c->code.size,
			 err);
}

static int frame_config(const struct fz_py_layout *l, struct fz_bpf_config *c, struct fz_error *err)
{
	c->cframe_current = l->frames == FZ_PY_FRAMES_CFRAME ? l->cframe.current : FZ_BPF_ABSENT;
	c->cframe_head = l->frames == FZ_PY_FRAMES_CFRAME ? l->thread.frame : l->cframe.head;
	c->frame.size = l->frame.size;
	c->frame.code = l->frame.code;
	c->frame.previous = l->frame.previous;
	c->frame.position = l->frame.position;
	c->frame.position_mask = l->frames == FZ_PY_FRAMES_HEAP ? UINT32_MAX : UINT64_MAX;
	c->frame.owner = l->frame.owner;
	c->frame.is_entry = l->frame.is_entry;
	c->frame.object = l->frame.object;
	c->frame.tlbc = l->frame.tlbc_index;
	c->owner_entry = l->owner_entry == 255 ? FZ_BPF_ABSENT : l->owner_entry;
	if (l->frame.size >= FZ_BPF_FRAME)
		return fz_fail(err, FZ_EUNSUPPORTED, "its frames have %u bytes", l->frame.size);
	return 0;
}

int fz_python_ticks_config(const struct fz_python *py, struct fz_bpf_config *ret,
			   struct fz_error *err)
{
	const struct fz_py_layout *l = py->layout;
	struct fz_bpf_config c = { .runtime = py->runtime.address };
	struct stat space;
	char path[64];

	int rc = thread_config(py, &c, err);
	if (!rc)
		rc = frame_config(l, &c, err);
	if (!rc)
		rc = code_config(l, &c, err);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)fz_process_live(py->process.pid));
	if (stat(path, &space))
		return fz_fail_errno(err, "%s", path);
	c.namespace_device = space.st_dev;
	c.namespace_inode = space.st_ino;
	c.pid = (uint32_t)py->process.inner_pid;
	c.all_threads = py->options.all_threads;
	c.interpreters_head = l->runtime.interpreters_head;
	c.current = l->runtime.current;
	c.interp.next = l->interp.next;
	c.interp.threads_head = l->interp.threads_head;
	c.interp.gil_pointer = l->interp.gil_pointer;
	c.interp.gil = l->runtime.gil;
	c.interp.gc_collecting = l->interp.gc_collecting;
	c.gc_collecting = l->runtime.gc_collecting;
	c.interp.gc_frame = py->options.gc ? l->interp.gc_frame : FZ_BPF_ABSENT;
	fz_assert(l->gil.locked == l->gil.last_holder + sizeof(uint64_t));
	c.gil_holder = l->gil.last_holder;
	c.text_length = l->unicode.length;
	c.text_data = l->unicode.ascii_data;
	*ret = c;
	return 0;
}

/* Is it a fork of this parent, running the same image? An exec would have changed the stack. */
static bool is_forked(const struct fz_python *py, const struct fz_python *parent)
{
	const struct fz_process_image *a = &py->process.image, *b = &parent->process.image;

	return a->device == b->device && a->inode == b->inode && a->start_stack &&
	       a->start_stack == b->start_stack && py->runtime.address == parent->runtime.address;
}

void fz_python_ticks_set_parent(struct fz_python *py, struct fz_python *parent)
{
	fz_py_codes_set_kin(&py->codes, parent && is_forked(py, parent) ? &parent->codes : NULL);
}

/* ---- threads ---- */

int fz_python_ticks_begin(struct fz_python *py, struct fz_error *err)
{
	int64_t now = fz_clock_now();

	py->ticks.listed = false;
	return now < py->next_check ? 0 : fz_py_recheck(py, now, err);
}

static const struct fz_py_thread *find_listed(const struct fz_python *py,
					      const struct fz_bpf_tick *t)
{
	for (uint32_t i = 0; i < py->threads.n; i++)
		if (py->threads.list[i].inner_tid == t->tid &&
		    (!t->tstate || py->threads.list[i].walk.tstate == t->tstate))
			return &py->threads.list[i];
	return NULL;
}

static const struct fz_py_thread *find_thread(struct fz_python *py, const struct fz_bpf_tick *t)
{
	const struct fz_py_thread *thread = find_listed(py, t);

	if (thread || py->ticks.listed)
		return thread;
	py->ticks.listed = true;
	fz_py_list_threads(py);
	return find_listed(py, t);
}

/* Add a thread that is not listed, under the kernel's name: it ended too early, or will be listed
 * later. */
static uint32_t add_thread(struct fz_python *py, const struct fz_bpf_tick *t)
{
	struct fz_thread thread = { .pid = (uint64_t)py->process.pid,
				    .tid = t->watched ? t->watched : t->tid };

	for (uint32_t i = 0; i < py->threads.interp_n; i++)
		if (py->threads.interps[i].address == t->interp)
			thread.interp = py->threads.interps[i].id;
	thread.is_main = t->tid == (uint32_t)py->process.inner_pid;
	if (thread.is_main)
		thread.name = fz_profile_string(py->into, FZ_STR("MainThread"));
	else if (t->kind == FZ_BPF_TICK)
		thread.name = fz_profile_string(
			py->into, (struct fz_str){ t->comm, strnlen(t->comm, sizeof(t->comm)) });
	return fz_profile_thread(py->into, &thread);
}

static uint32_t thread_of(struct fz_python *py, const struct fz_bpf_tick *t)
{
	const struct fz_py_thread *thread = find_thread(py, t);

	return thread ? thread->thread : add_thread(py, t);
}

uint32_t fz_python_ticks_thread(struct fz_python *py, const struct fz_bpf_tick *t)
{
	const struct fz_py_thread *thread = find_thread(py, t);

	if (thread)
		return thread->thread;
	return t->tstate ? add_thread(py, t) : FZ_NONE;
}

/* ---- stacks ---- */

/* Does the chain end at a valid root for this version? A frame that runs no code is the first one
 * of a call from C, and is linked to its caller before others are linked to it. */
static bool root_is_right(const struct fz_py_layout *l, const struct fz_bpf_tick *t)
{
	uint32_t owner = FZ_BPF_OWNER(t->flags);

	/* Frame objects are checked once their code is known. */
	if (l->frames == FZ_PY_FRAMES_HEAP)
		return true;
	if (!t->last)
		return !(t->flags & FZ_BPF_IN_CALL);
	if (l->thread.base_frame != FZ_PY_ABSENT && t->last == t->base)
		return true;
	/* The outermost frame of a greenlet that is being switched: see walk.c. */
	if (owner == FZ_PY_OWNER_THREAD && t->flags & FZ_BPF_ROOT_OBJECT)
		return true;
	if (l->owner_entry != 255)
		return owner == l->owner_entry;
	return t->flags & FZ_BPF_ROOT_ENTRY && owner == FZ_PY_OWNER_THREAD;
}

/* A function's frame object is linked to its caller before it becomes the innermost one. But when
 * 3.9 throws an exception into a generator that waits for another, the frame of the first becomes
 * the innermost one without a link to its caller. */
static bool heap_root_is_right(const struct fz_python *py, const struct fz_bpf_tick *t)
{
	if (py->layout->frames != FZ_PY_FRAMES_HEAP || t->trouble != FZ_BPF_WHOLE || !t->frame_n)
		return true;
	return !fz_py_codes_is_generator(&py->codes, t->frames[t->frame_n - 1].code);
}

static int reject_reason(const struct fz_py_layout *l, const struct fz_bpf_tick *t)
{
	switch (t->trouble) {
	case FZ_BPF_CUT:
		return -1;
	case FZ_BPF_WHOLE:
		return root_is_right(l, t) ? -1 : FZ_REJECT_ROOT;
	case FZ_BPF_UNMAPPED:
		return FZ_REJECT_UNMAPPED;
	case FZ_BPF_UNSURE:
		return FZ_REJECT_CHANGED;
	default:
		return FZ_REJECT_CORRUPT;
	}
}

/* Number of frames, from the root, that are the same as in the previous tick. */
static uint32_t common_prefix(struct fz_py_ticks *k, const struct fz_bpf_tick *t, uint32_t changes)
{
	uint32_t n = k->changes == changes ? FZ_MIN(k->n, t->frame_n) : 0, i = 0;

	while (i < n &&
	       memcmp(&k->frames[i], &t->frames[t->frame_n - 1 - i], sizeof(k->frames[i])) == 0)
		i++;
	return i;
}

static uint32_t intern(struct fz_python *py, const struct fz_bpf_frame *f)
{
	enum { CODE_BITS = 48 };

	if (f->code == FZ_BPF_CODE_GC)
		return py->context.gc_frame;
	return fz_py_codes_marked(&py->codes, f->code & ((1ull << CODE_BITS) - 1), f->position,
				  (uint32_t)(f->code >> CODE_BITS), f->mark);
}

static uint32_t cut_frame(struct fz_python *py)
{
	if (!py->ticks.cut_frame)
		py->ticks.cut_frame = fz_profile_frame_named(
			py->into, FZ_STR("[truncated]"), FZ_STR(""), FZ_NO_LINE, FZ_KIND_MARKER);
	return py->ticks.cut_frame;
}

/* Make the stack on top of `root`. False if a code object is unknown: *ret is the part below. */
static bool make_stack(struct fz_python *py, const struct fz_bpf_tick *t, uint32_t root,
		       uint32_t *ret)
{
	struct fz_py_ticks *k = &py->ticks;
	uint32_t same = root == k->root ? common_prefix(k, t, py->codes.changes) : 0;
	uint32_t stack = same ? k->stacks[same - 1] : root;

	if (k->cap < t->frame_n) {
		k->cap = t->frame_n * 2;
		k->frames = fz_reallocarray(k->frames, k->cap, sizeof(*k->frames));
		k->stacks = fz_reallocarray(k->stacks, k->cap, sizeof(*k->stacks));
	}
	k->n = same;
	for (uint32_t i = same; i < t->frame_n; i++) {
		const struct fz_bpf_frame *f = &t->frames[t->frame_n - 1 - i];
		uint32_t frame = intern(py, f);
		*ret = stack;
		if (frame == FZ_NONE)
			return false;
		if (frame != FZ_PY_FRAME_HIDDEN)
			stack = fz_profile_stack(py->into, stack, frame);
		k->frames[i] = *f;
		k->stacks[i] = stack;
	}
	k->n = root == k->root ? t->frame_n : 0;
	k->changes = py->codes.changes;
	*ret = stack;
	return true;
}

static uint8_t status_of(const struct fz_python *py, const struct fz_bpf_tick *t, uint32_t thread)
{
	uint8_t status = py->into->threads[thread].is_main ? FZ_STATUS_MAIN_THREAD : 0;

	if (t->flags & FZ_BPF_HAS_GIL)
		status |= FZ_STATUS_HAS_GIL | (t->flags & FZ_BPF_COLLECTING ? FZ_STATUS_GC : 0);
	if (t->flags & FZ_BPF_GIL_REQUESTED)
		status |= FZ_STATUS_GIL_REQUESTED;
	if (t->flags & FZ_BPF_EXCEPTION)
		status |= FZ_STATUS_HAS_EXCEPTION;
	return status;
}

void fz_python_ticks_set_root(struct fz_python *py, uint32_t stack)
{
	py->ticks.root = stack;
	py->ticks.n = 0;
}

void fz_python_ticks_read(struct fz_python *py, const struct fz_bpf_tick *t,
			  struct fz_python_stack *ret)
{
	int reject = reject_reason(py->layout, t);
	uint32_t thread = thread_of(py, t), root = py->ticks.root;
	struct fz_python_stack s = { .thread = thread, .stack = root };

	s.status = status_of(py, t, thread);
	if (t->trouble == FZ_BPF_CUT)
		root = fz_profile_stack(py->into, root, cut_frame(py));
	if (reject < 0 && !make_stack(py, t, root, &s.stack))
		reject = FZ_REJECT_CHANGED;
	if (reject < 0 && !heap_root_is_right(py, t)) {
		reject = FZ_REJECT_ROOT;
		s.stack = root;
	}
	bool gc = py->options.gc && py->layout->interp.gc_frame == FZ_PY_ABSENT &&
		  (s.status & FZ_STATUS_GC);
	if (reject >= 0) {
		s.rejected = true;
		s.reject = (uint8_t)reject;
		s.stack = fz_profile_stack(py->into, s.stack, py->context.unreadable_frame);
	} else if (gc) {
		s.stack = fz_profile_stack(py->into, s.stack, py->context.gc_frame);
	}
	*ret = s;
}

/* ---- waits ---- */

static bool is_own(const struct fz_profile *p, uint32_t frame)
{
	const struct fz_function *f = &p->functions[p->frames[frame].function];

	return f->kind == FZ_KIND_PYTHON &&
	       fz_origin_of_file(p->strings[f->file], fz_profile_fact(p, "cwd")) !=
		       FZ_ORIGIN_STDLIB;
}

uint32_t fz_python_ticks_waker(struct fz_python *py, const struct fz_bpf_tick *t)
{
	const struct fz_profile *p = py->into;
	uint32_t innermost = FZ_NONE;

	for (uint32_t i = 0; i < t->frame_n; i++) {
		uint32_t frame = intern(py, &t->frames[i]);
		if (frame == FZ_NONE)
			break;
		if (frame == FZ_PY_FRAME_HIDDEN || frame == py->context.gc_frame)
			continue;
		if (is_own(p, frame))
			return frame;
		innermost = innermost == FZ_NONE ? frame : innermost;
	}
	return innermost;
}

uint32_t fz_python_ticks_entry(const struct fz_python *py, uint32_t stack)
{
	const struct fz_profile *p = py->into;
	uint32_t outermost = FZ_NONE;

	for (; stack != FZ_NONE; stack = p->stacks[stack].parent)
		if (is_own(p, p->stacks[stack].frame))
			outermost = p->stacks[stack].frame;
	return outermost;
}

struct fz_process *fz_python_process(struct fz_python *py)
{
	return &py->process;
}

/* The GIL has two conditions, each with a mutex, after the fields of its state. */
bool fz_python_ticks_is_gil(const struct fz_python *py, uint64_t address)
{
	uint64_t size = 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t));

	for (uint32_t i = 0; i < py->threads.gil_n; i++)
		if (address - py->threads.gils[i].address - py->layout->gil.switches <=
		    sizeof(uint64_t) + size)
			return true;
	return false;
}
