/* SPDX-License-Identifier: MIT */
/* One stop:
 *
 *   stopped |  read the registers of each thread, then copy all stacks in one call
 *           |  (the Python frames are read now, too)
 *   running |  unwind the copies, merge, intern
 *
 * A stack is copied from its pointer to the thread's outermost call, whose position never changes.
 * While that is not known, it is copied to the end of the writable memory.
 */
#include "record/native/native.h"

#include "base/clock.h"
#include "record/native/merge.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

enum {
	RED_ZONE = 128, /* bytes below the stack pointer that leaf functions use */
	COPY_MAX = 16 << 20,
	CHECK_EVERY_NS = 10000000,
	ABOVE_ROOT = 256, /* bytes to copy beyond the outermost call */
};

/* State of a thread that is kept between samples. */
struct thread {
	pid_t tid;
	uint32_t thread;           /* in the profile */
	uint64_t area_end;         /* end of the memory with its stack */
	uint64_t root;             /* end of its outermost call; 0: unknown */
	uint32_t *frames, *stacks; /* of the last sample, outermost first */
	uint32_t n, cap;
	uint32_t samples;
};

/* A copied stack. */
struct copy {
	uint32_t thread; /* in threads */
	uint64_t registers[FZ_REGS];
	struct fz_unwind_stack stack;
	size_t at; /* in the buffer */
};

struct fz_native {
	struct fz_process process;
	struct fz_native_options options;
	struct fz_profile *into;
	struct fz_space space;
	struct fz_unwind unwind;
	struct fz_merge merge;
	struct fz_merge_loop loop;
	bool loop_tried;

	struct thread *threads;
	uint32_t thread_n, thread_cap;
	struct fz_map by_tid;
	struct copy *copies;
	uint32_t copy_n, copy_cap;
	struct iovec *parts;
	size_t part_cap;
	uint8_t *buffer;
	size_t buffer_size;
	struct fz_python_stack *stacks;
	uint32_t stack_n, stack_cap;
	int64_t next_check;
	struct fz_native_figures figures;
};

int fz_native_open(pid_t pid, const struct fz_native_options *options, struct fz_images *images,
		   struct fz_profile *into, struct fz_native **ret, struct fz_error *err)
{
	struct fz_native *n = fz_calloc(1, sizeof(*n));
	int rc = fz_process_open(&n->process, pid, err);

	n->options = *options;
	n->into = into;
	fz_space_init(&n->space, &n->process, images);
	fz_unwind_init(&n->unwind, &n->space, into);
	if (!rc)
		rc = fz_process_check_started(&n->process, err);
	if (rc) {
		fz_native_close(n);
		return rc;
	}
	*ret = n;
	return 0;
}

void fz_native_close(struct fz_native *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->thread_n; i++) {
		free(n->threads[i].frames);
		free(n->threads[i].stacks);
	}
	free(n->threads);
	fz_map_release(&n->by_tid);
	free(n->copies);
	free(n->parts);
	free(n->buffer);
	free(n->stacks);
	fz_merge_release(&n->merge);
	fz_unwind_release(&n->unwind);
	fz_space_release(&n->space);
	fz_process_release(&n->process);
	free(n);
}

struct fz_native_figures fz_native_figures(const struct fz_native *n)
{
	return n->figures;
}

/* ---- registers ---- */

#if defined(__x86_64__)
/* False for a 32-bit thread, which has fewer registers. */
static bool read_registers(pid_t tid, uint64_t *out)
{
	struct user_regs_struct r;
	struct iovec io = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) || io.iov_len != sizeof(r))
		return false;
	const uint64_t numbered[FZ_REGS] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
					     r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
					     r.r12, r.r13, r.r14, r.r15, r.rip };
	memcpy(out, numbered, sizeof(numbered));
	return true;
}
#else
static bool read_registers(pid_t tid, uint64_t *out)
{
	struct user_regs_struct r;
	struct iovec io = { &r, sizeof(r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) || io.iov_len != sizeof(r))
		return false;
	memcpy(out, r.regs, 31 * sizeof(uint64_t));
	out[FZ_REG_SP] = r.sp;
	out[FZ_REG_RETURN] = r.pc;
	return true;
}
#endif

/* ---- while it is stopped ---- */

static uint32_t find_thread(struct fz_native *n, pid_t tid)
{
	uint32_t i = fz_map_get(&n->by_tid, (uint64_t)tid);

	if (i != FZ_NONE)
		return i;
	struct fz_thread t = { .pid = (uint64_t)n->process.pid,
			       .tid = (uint64_t)tid,
			       .is_main = tid == n->process.pid };
	fz_grow(n->threads, n->thread_n, n->thread_cap);
	n->threads[n->thread_n] =
		(struct thread){ .tid = tid, .thread = fz_profile_thread(n->into, &t) };
	fz_map_put(&n->by_tid, (uint64_t)tid, n->thread_n);
	return n->thread_n++;
}

/* Number of bytes to copy from lo; 0 if sp is not in writable memory. */
static size_t stack_size(struct fz_native *n, struct thread *t, uint64_t lo, uint64_t sp)
{
	uint64_t end;

	if (t->root && sp < t->root && t->root - sp < COPY_MAX && t->area_end > sp)
		return t->root - lo;
	end = fz_space_area_end(&n->space, sp);
	if (end != t->area_end)
		t->root = 0;
	t->area_end = end;
	return end ? FZ_MIN(end - lo, (uint64_t)COPY_MAX) : 0;
}

static void plan_copy(struct fz_native *n, pid_t tid, size_t *bytes)
{
	fz_grow(n->copies, n->copy_n, n->copy_cap);
	struct copy *c = &n->copies[n->copy_n];

	if (!read_registers(tid, c->registers))
		return;
	c->thread = find_thread(n, tid);
	uint64_t sp = c->registers[FZ_REG_SP];
	c->stack.lo = (sp - FZ_MIN(sp, (uint64_t)RED_ZONE)) & ~7ull;
	c->stack.n = stack_size(n, &n->threads[c->thread], c->stack.lo, sp);
	c->at = *bytes;
	*bytes += c->stack.n;
	n->copy_n++;
}

/* Copy all stacks in one call, or one by one if some memory is not mapped. */
static int read_stacks(struct fz_native *n, size_t bytes)
{
	size_t parts = 0;

	if (n->part_cap < n->copy_n) {
		n->part_cap = n->copy_n * 2;
		n->parts = fz_reallocarray(n->parts, n->part_cap, sizeof(*n->parts));
	}
	if (n->buffer_size < bytes) {
		n->buffer_size = bytes + bytes / 2;
		free(n->buffer);
		n->buffer = fz_malloc(n->buffer_size);
	}
	for (uint32_t i = 0; i < n->copy_n; i++) {
		struct copy *c = &n->copies[i];
		c->stack.bytes = n->buffer + c->at;
		if (c->stack.n)
			n->parts[parts++] =
				(struct iovec){ (void *)(uintptr_t)c->stack.lo, c->stack.n };
	}
	if (parts == 0)
		return 0;
	if (parts <= FZ_PROCESS_PARTS_MAX &&
	    fz_process_read_parts(&n->process, n->parts, parts, n->buffer, bytes) == (ssize_t)bytes)
		return 0;
	for (uint32_t i = 0; i < n->copy_n; i++) {
		struct copy *c = &n->copies[i];
		if (c->stack.n &&
		    !fz_process_read(&n->process, c->stack.lo, n->buffer + c->at, c->stack.n)) {
			if (errno == ESRCH)
				return FZ_EGONE;
			c->stack.n = 0;
		}
	}
	return 0;
}

static int check_process(struct fz_native *n, int64_t now, struct fz_error *err)
{
	if (now < n->next_check)
		return 0;
	n->next_check = now + CHECK_EVERY_NS;
	if (!fz_process_alive(&n->process))
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)n->process.pid);
	if (!fz_process_same_image(&n->process))
		return fz_fail(err, FZ_EAGAIN, "process %d now runs another program",
			       (int)n->process.pid);
	fz_space_refresh(&n->space, now);
	return 0;
}

int fz_native_copy(struct fz_native *n, const struct fz_stopper *stopper, struct fz_error *err)
{
	size_t bytes = 0;
	int rc = check_process(n, fz_clock_now(), err);

	n->copy_n = 0;
	if (rc)
		return rc;
	for (size_t i = 0; i < fz_stop_count(stopper); i++) {
		pid_t tid = fz_stop_standing(stopper, i);
		if (tid && (n->options.all_threads || tid == n->process.pid))
			plan_copy(n, tid, &bytes);
		else if (tid && n->options.left_out)
			fz_map_put(n->options.left_out, (uint64_t)tid, 0);
	}
	if (read_stacks(n, bytes))
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)n->process.pid);
	return 0;
}

/* ---- afterwards ---- */

/* Find the interpreter's loop by its symbol, for versions whose calls are not linked. */
static void find_loop(struct fz_native *n)
{
	static const char *const names[] = { "_PyEval_EvalFrameDefault",
					     "_PyEval_EvalFrameDefault.cold" };
	uint64_t lo, hi, address;

	for (size_t i = 0; i < n->space.n; i++) {
		struct fz_space_range *r = &n->space.ranges[i];
		if (r->image == FZ_NONE || strcmp(r->path, n->options.python) != 0)
			continue;
		struct fz_image *image = n->space.images->list[r->image].image;
		if (!fz_image_address(image, r->offset, &address))
			continue;
		for (size_t k = 0; k < FZ_ARRAY_LEN(names); k++) {
			struct fz_merge_loop *l = &n->loop;
			if (!fz_image_symbol(image, names[k], &lo, &hi) || l->n == 2)
				continue;
			l->lo[l->n] = r->start + (lo - address);
			l->hi[l->n++] = r->start + (hi - address);
			n->loop_tried = true;
		}
	}
}

/* True if the loop must be found by its symbol. */
static bool needs_loop(const struct fz_native *n, const struct fz_python_calls *c)
{
	return n->options.python && !n->loop_tried && !c->cframe && c->segment_n &&
	       c->segments[0].address == 0;
}

/* Intern the merged stack, reusing what it shares with the previous one from the root on. */
static uint32_t intern(struct fz_native *n, struct thread *t)
{
	const struct fz_merge *m = &n->merge;
	uint32_t same = 0;

	while (same < t->n && same < m->n && t->frames[same] == m->frames[same])
		same++;
	if (t->cap < m->n) {
		t->cap = m->n * 2;
		t->frames = fz_reallocarray(t->frames, t->cap, sizeof(*t->frames));
		t->stacks = fz_reallocarray(t->stacks, t->cap, sizeof(*t->stacks));
	}
	for (uint32_t i = same; i < m->n; i++) {
		t->frames[i] = m->frames[i];
		t->stacks[i] =
			fz_profile_stack(n->into, i ? t->stacks[i - 1] : FZ_NONE, m->frames[i]);
	}
	t->n = m->n;
	return t->n ? t->stacks[t->n - 1] : FZ_NONE;
}

static uint64_t tid_of(const struct fz_native *n, const struct fz_python_stack *s)
{
	return n->into->threads[s->thread].tid;
}

/* Add the Python stacks of this thread to the merge. Returns the one that has its thread and
 * status, or NULL; if that is rejected, do not merge. */
static const struct fz_python_stack *add_python(struct fz_native *n, const struct copy *c,
						const struct fz_python_sample *python)
{
	uint64_t tid = (uint64_t)n->threads[c->thread].tid;
	const struct fz_python_stack *found = NULL;

	for (uint32_t i = 0; python && i < python->n; i++) {
		const struct fz_python_stack *s = &python->stacks[i];
		if (tid_of(n, s) != tid)
			continue;
		if (!found || s->rejected)
			found = s;
		if (s->rejected)
			break;
		if (needs_loop(n, &s->calls))
			find_loop(n);
		fz_merge_add(&n->merge, &s->calls, &c->stack, &n->unwind);
	}
	return found;
}

static void put(struct fz_native *n, const struct fz_python_stack *s)
{
	fz_push(n->stacks, n->stack_n, n->stack_cap, *s);
}

/* Threads are named after they start, so read the name again, at samples 1, 2, 4, 8... */
static void name_thread(struct fz_native *n, struct thread *t)
{
	char name[64];

	if ((t->samples & (t->samples - 1)) ||
	    !fz_process_thread_name(&n->process, t->tid, name, sizeof(name)))
		return;
	struct fz_thread named = n->into->threads[t->thread];
	named.name = fz_profile_string(n->into, fz_str_of(name));
	fz_profile_thread(n->into, &named);
}

static void unwind_copy(struct fz_native *n, const struct copy *c,
			const struct fz_python_sample *python)
{
	struct thread *t = &n->threads[c->thread];
	enum fz_unwind_end end = fz_unwind_run(&n->unwind, c->registers, &c->stack);

	n->figures.stacks++;
	n->figures.incomplete += end != FZ_UNWIND_ROOT;
	t->root = 0;
	if (end == FZ_UNWIND_ROOT && n->unwind.n)
		t->root = FZ_MIN(n->unwind.frames[n->unwind.n - 1].hi + ABOVE_ROOT, t->area_end);
	fz_merge_begin(&n->merge);
	const struct fz_python_stack *known = add_python(n, c, python);
	if (known && known->rejected) {
		put(n, known);
		return;
	}
	struct fz_python_stack s = { .thread = t->thread, .status = FZ_STATUS_UNKNOWN };
	if (t->tid == n->process.pid)
		s.status |= FZ_STATUS_MAIN_THREAD;
	if (known) {
		s.thread = known->thread;
		s.status = known->status;
	} else {
		t->samples++;
		name_thread(n, t);
	}
	fz_merge_run(&n->merge, &n->unwind, &n->loop);
	s.stack = intern(n, t);
	put(n, &s);
}

static bool was_copied(const struct fz_native *n, uint64_t tid)
{
	uint32_t t = fz_map_get(&n->by_tid, tid);

	for (uint32_t i = 0; t != FZ_NONE && i < n->copy_n; i++)
		if (n->copies[i].thread == t)
			return true;
	return false;
}

void fz_native_unwind(struct fz_native *n, const struct fz_python_sample *python,
		      struct fz_python_sample *ret)
{
	n->stack_n = 0;
	for (uint32_t i = 0; i < n->copy_n; i++)
		unwind_copy(n, &n->copies[i], python);
	/* Threads in an uninterruptible system call were not stopped; use their Python stack. */
	for (uint32_t i = 0; python && i < python->n; i++)
		if (!was_copied(n, tid_of(n, &python->stacks[i])))
			put(n, &python->stacks[i]);
	*ret = (struct fz_python_sample){ .stacks = n->stacks,
					  .n = n->stack_n,
					  .retries = python ? python->retries : 0 };
}
