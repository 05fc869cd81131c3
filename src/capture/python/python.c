/* SPDX-License-Identifier: MIT */
/* Sampling the threads of one CPython process; python.h has the contract. */
#include <errno.h>
#include <time.h>

#include "code.h"
#include "python.h"
#include "runtime.h"

enum {
	INTERPRETERS_MAX = 4096,
	THREADS_MAX = 1 << 16,
	DEPTH_MAX = 100000,
	TRIES_MAX = 8,
};

struct raw_frame {
	uint64_t address, code, position, previous;
	uint8_t owner;
	bool is_entry;
	uint32_t tlbc_index;
};

struct thread {
	uint64_t tstate, interp;
	uint32_t thread; /* in the profile */
	bool is_main;
};

struct fz_python {
	struct fz_process process;
	struct fz_py_runtime runtime;
	const struct fz_py_layout *layout;
	struct fz_python_info info;
	struct fz_python_options options;
	struct fz_profile *into;
	struct fz_py_codes codes;
	struct thread *threads;
	size_t thread_n, thread_cap;
	struct fz_python_stack *stacks;
	size_t stack_n, stack_cap;
	struct raw_frame *frames;
	size_t frame_n, frame_cap;
	uint32_t unreadable, gc;
	int64_t checked;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static uint32_t marker(struct fz_profile *p, const char *name, const char *file)
{
	return fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), FZ_NO_LINE,
				      FZ_KIND_MARKER);
}

int fz_python_open(pid_t pid, const struct fz_python_options *options, struct fz_profile *into,
		   struct fz_python **ret, struct fz_error *err)
{
	struct fz_python *py = fz_calloc(1, sizeof(*py));
	struct fz_py_steps steps = { options->step, options->step_arg };
	int rc = fz_process_open(&py->process, pid, err);

	if (rc == 0)
		rc = fz_py_runtime_find(&py->process, options->best_effort, &steps, &py->runtime,
					err);
	if (rc < 0) {
		fz_python_close(py);
		return rc;
	}
	py->options = *options;
	py->into = into;
	py->layout = &py->runtime.layout;
	py->info = (struct fz_python_info){
		.free_threaded = py->layout->free_threaded,
		.exact = py->layout->frames != FZ_PY_FRAMES_HEAP,
		.runtime = py->runtime.address,
		.module = py->runtime.module,
	};
	memcpy(py->info.version, py->runtime.version, sizeof(py->info.version));
	fz_py_codes_init(&py->codes, &py->process, py->layout, into);
	py->unreadable = marker(into, "[unreadable]", "");
	py->gc = marker(into, "<GC>", "~");
	*ret = py;
	return 0;
}

void fz_python_close(struct fz_python *py)
{
	if (!py)
		return;
	fz_py_codes_release(&py->codes);
	fz_py_runtime_release(&py->runtime);
	fz_process_release(&py->process);
	free(py->threads);
	free(py->stacks);
	free(py->frames);
	free(py);
}

const struct fz_python_info *fz_python_info(const struct fz_python *py)
{
	return &py->info;
}

static bool read_u64(struct fz_python *py, uint64_t at, uint64_t *ret)
{
	return fz_process_read_u64(&py->process, at, ret);
}

static uint64_t native_tid(struct fz_python *py, uint64_t tstate)
{
	uint64_t id = 0;
	uint32_t tid = 0;

	if (py->layout->thread.native_thread_id != FZ_PY_ABSENT)
		read_u64(py, tstate + py->layout->thread.native_thread_id, &id);
	else if (read_u64(py, tstate + py->layout->thread.thread_id, &id) &&
		 fz_process_read(&py->process, id + 720, &tid, sizeof(tid)))
		id = tid;
	return id;
}

static void add_thread(struct fz_python *py, uint64_t tstate, uint64_t interp, uint64_t id)
{
	char name[64];
	uint64_t inner = native_tid(py, tstate);
	struct fz_thread t = { .pid = (uint64_t)py->process.pid,
			       .tid = inner,
			       .interp = (uint32_t)id };

	t.is_main = inner == (uint64_t)py->process.inner_pid;
	if (t.is_main)
		t.tid = (uint64_t)py->process.pid;
	if (fz_process_thread_name(&py->process, (pid_t)t.tid, name, sizeof(name)))
		t.name = fz_profile_string(py->into, fz_str_of(name));
	if (!t.is_main && !py->options.all_threads)
		return;
	fz_grow(py->threads, py->thread_n, py->thread_cap);
	py->threads[py->thread_n++] = (struct thread){
		.tstate = tstate,
		.interp = interp,
		.is_main = t.is_main,
		.thread = fz_profile_thread(py->into, &t),
	};
}

static bool list_threads(struct fz_python *py)
{
	const struct fz_py_layout *l = py->layout;
	uint64_t interp, tstate, id;

	py->thread_n = 0;
	if (!read_u64(py, py->runtime.address + l->runtime.interpreters_head, &interp))
		return false;
	for (unsigned i = 0; interp && i < INTERPRETERS_MAX; i++) {
		if (!read_u64(py, interp + l->interp.id, &id) ||
		    !read_u64(py, interp + l->interp.threads_head, &tstate))
			return false;
		for (unsigned k = 0; tstate && k < THREADS_MAX; k++) {
			add_thread(py, tstate, interp, id);
			if (!read_u64(py, tstate + l->thread.next, &tstate))
				return false;
		}
		if (!read_u64(py, interp + l->interp.next, &interp))
			return false;
	}
	return true;
}

static uint64_t at64(const uint8_t *p, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, p + offset, 8);
	return v;
}

static int read_frames(struct fz_python *py, const struct thread *t, int *ret_reject)
{
	const struct fz_py_layout *l = py->layout;
	uint8_t b[256];
	uint64_t at;

	py->frame_n = 0;
	*ret_reject = FZ_REJECT_UNMAPPED;
	if (!read_u64(py, t->tstate + l->thread.frame, &at))
		return -1;
	if (l->frames == FZ_PY_FRAMES_CFRAME && !read_u64(py, at + l->cframe.current, &at))
		return -1;
	while (at) {
		*ret_reject = FZ_REJECT_UNMAPPED;
		if (!fz_process_read(&py->process, at, b, l->frame.size))
			return -1;
		struct raw_frame f = { .address = at,
				       .code = at64(b, l->frame.code) & ~3ull,
				       .position = at64(b, l->frame.position),
				       .previous = at64(b, l->frame.previous) };
		if (l->frames == FZ_PY_FRAMES_HEAP)
			f.position &= UINT32_MAX;
		if (l->frame.owner != FZ_PY_ABSENT)
			f.owner = b[l->frame.owner];
		*ret_reject = FZ_REJECT_CORRUPT;
		if (py->frame_n >= DEPTH_MAX)
			return -1;
		fz_grow(py->frames, py->frame_n, py->frame_cap);
		py->frames[py->frame_n++] = f;
		at = f.previous;
	}
	if (l->owner_entry != 255 && py->frame_n &&
	    py->frames[py->frame_n - 1].owner != l->owner_entry) {
		*ret_reject = FZ_REJECT_ROOT;
		return -1;
	}
	return 0;
}

static int intern_frames(struct fz_python *py, uint32_t *ret)
{
	uint32_t stack = FZ_NONE;

	for (size_t i = py->frame_n; i-- > 0;) {
		const struct raw_frame *f = &py->frames[i];
		if (f->owner == py->layout->owner_entry || f->code == 0)
			continue;
		uint32_t frame = fz_py_codes_frame(&py->codes, f->code, f->position, f->tlbc_index);
		if (frame == FZ_NONE)
			return -1;
		stack = fz_profile_stack(py->into, stack, frame);
	}
	*ret = stack;
	return 0;
}

static void take_thread(struct fz_python *py, const struct thread *t, struct fz_python_stack *s,
			unsigned *retries)
{
	int reject = FZ_REJECT_CHANGED;

	*s = (struct fz_python_stack){ .thread = t->thread, .status = FZ_STATUS_UNKNOWN };
	if (t->is_main)
		s->status |= FZ_STATUS_MAIN_THREAD;
	for (unsigned i = 0; i < TRIES_MAX; i++, (*retries)++) {
		uint64_t before, after;
		if (!read_u64(py, t->tstate + py->layout->thread.frame, &before) ||
		    read_frames(py, t, &reject) < 0)
			continue;
		reject = FZ_REJECT_CHANGED;
		if (!read_u64(py, t->tstate + py->layout->thread.frame, &after) || before != after)
			continue;
		reject = FZ_REJECT_CORRUPT;
		if (intern_frames(py, &s->stack) == 0)
			return;
	}
	s->rejected = true;
	s->reject = (uint8_t)reject;
	s->stack = fz_profile_stack(py->into, FZ_NONE, py->unreadable);
}

int fz_python_take(struct fz_python *py, struct fz_python_sample *ret, struct fz_error *err)
{
	int64_t now = now_ns();
	struct fz_python_sample sample = { 0 };

	if (now - py->checked > 10000000) {
		py->checked = now;
		if (!fz_process_alive(&py->process))
			return fz_fail(err, FZ_EGONE, "process %d: it ended", (int)py->process.pid);
		if (!fz_process_same_image(&py->process))
			return fz_fail(err, FZ_EAGAIN, "process %d: it runs another program now",
				       (int)py->process.pid);
		fz_py_codes_expire(&py->codes);
		list_threads(py);
	}
	py->stack_n = 0;
	for (size_t i = 0; i < py->thread_n; i++) {
		fz_grow(py->stacks, py->stack_n, py->stack_cap);
		take_thread(py, &py->threads[i], &py->stacks[py->stack_n++], &sample.retries);
	}
	sample.stacks = py->stacks;
	sample.n = (uint32_t)py->stack_n;
	*ret = sample;
	return 0;
}
