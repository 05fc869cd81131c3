/* SPDX-License-Identifier: MIT */
/* Opening and closing an interpreter; python.h has the contract, sample.c takes the samples. */
#include "exception.h"
#include "python_state.h"
#include "base/clock.h"

enum { BLOCK_MAX = 64 << 10 };

/* Find the range of an interpreter's structure that contains all fields that a sample reads. */
static int find_block(struct fz_python *py, struct fz_error *err)
{
	const struct fz_py_layout *l = py->layout;
	const uint32_t fields[] = { l->interp.next,           l->interp.id,
				    l->interp.threads_head,   l->interp.gc_collecting,
				    l->interp.gc_frame,       l->interp.code_generation,
				    l->interp.tlbc_generation };
	uint32_t lo = l->interp.threads_head, hi = lo + 8;

	for (size_t i = 0; i < FZ_ARRAY_LEN(fields); i++) {
		if (fields[i] == FZ_PY_ABSENT)
			continue;
		lo = FZ_MIN(lo, fields[i]);
		hi = FZ_MAX(hi, fields[i] + 8);
	}
	py->block_lo = lo & ~7u;
	py->block_size = ((hi + 7) & ~7u) - py->block_lo;
	if (py->block_size > BLOCK_MAX)
		return fz_fail(err, FZ_EINPUT,
			       "process %d: corrupt offset table: an interpreter's fields are %u "
			       "bytes apart",
			       (int)py->process.pid, py->block_size);
	return 0;
}

static uint32_t marker(struct fz_profile *p, const char *name, const char *file)
{
	return fz_profile_frame_named(p, fz_str_of(name), fz_str_of(file), FZ_NO_LINE,
				      FZ_KIND_MARKER);
}

static void prepare_tasks(struct fz_python *py)
{
	const struct fz_python_options *o = &py->options;

	py->tasks = (struct fz_py_tasks){
		.process = &py->process,
		.runtime = &py->runtime,
		.codes = &py->codes,
		.unreadable_frame = py->context.unreadable_frame,
		.options = { .all = o->tasks == FZ_PYTHON_TASKS_ALL,
			     .stopped = o->stopped,
			     .names = o->task_names,
			     .opcodes = o->opcodes },
	};
	fz_py_tasks_find(&py->tasks);
}

int fz_python_open(pid_t pid, const struct fz_python_options *options, struct fz_profile *into,
		   struct fz_python **ret, struct fz_error *err)
{
	struct fz_python *py = fz_calloc(1, sizeof(*py));
	struct fz_py_steps steps = { options->step, options->step_arg };
	int rc = fz_process_open(&py->process, pid, err);

	py->options = *options;
	py->into = into;
	py->layout = &py->runtime.layout;
	py->threads_stale = py->plan_stale = true;
	py->ticks.root = FZ_NONE;
	/* A starting program imports modules, whose code is run and freed. */
	py->churn_end = fz_clock_now() + FZ_PY_CHURN_NS;
	if (rc == 0)
		rc = fz_process_check_started(&py->process, err);
	if (rc == 0)
		rc = fz_py_runtime_find(&py->process, &steps, &py->runtime, err);
	if (rc == 0)
		rc = find_block(py, err);
	if (rc < 0) {
		fz_python_close(py);
		return rc;
	}
	py->info = (struct fz_python_info){
		.free_threaded = py->layout->free_threaded,
		.exact = py->layout->frames != FZ_PY_FRAMES_HEAP,
		.runtime = py->runtime.address,
		.module = py->runtime.module,
	};
	memcpy(py->info.version, py->runtime.version, sizeof(py->info.version));
	fz_py_codes_init(&py->codes, &py->process, py->layout, into);
	py->context = (struct fz_py_walk_context){
		.process = &py->process,
		.layout = py->layout,
		.codes = &py->codes,
		.native = options->native,
		.opcodes = options->opcodes,
		.gc_frame = marker(into, "<GC>", "~"),
		.native_frame = marker(into, "<native>", "~"),
		.unreadable_frame = marker(into, "[unreadable]", ""),
		.addresses = options->locals > 0 || options->tasks == FZ_PYTHON_TASKS_ALL,
		.segments = options->segments,
	};
	py->by_task = options->tasks != FZ_PYTHON_TASKS_NONE;
	if (py->by_task)
		prepare_tasks(py);
	*ret = py;
	return 0;
}

int fz_python_check(const struct fz_python *py, enum fz_mode mode, struct fz_error *err)
{
	const uint8_t *v = py->runtime.version;

	if (py->by_task && py->layout->coro.frame == FZ_PY_ABSENT)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--async-aware requires Python 3.11 or later, not %u.%u%s", v[0],
			       v[1], py->layout->free_threaded ? " free-threaded" : "");
	if (py->options.opcodes && py->layout->frames == FZ_PY_FRAMES_HEAP)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--opcodes requires Python 3.11 or later, not %u.%u", v[0], v[1]);
	if (py->options.native && py->layout->frames == FZ_PY_FRAMES_HEAP)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--native requires Python 3.11 or later, not %u.%u", v[0], v[1]);
	if (mode == FZ_MODE_EXCEPTION && !fz_py_exception_known(&py->runtime))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "--mode exception is not supported for this build of Python %u.%u: "
			       "the address of None is unknown",
			       v[0], v[1]);
	return 0;
}

void fz_python_close(struct fz_python *py)
{
	if (!py)
		return;
	fz_py_threads_release(&py->threads);
	fz_py_tasks_release(&py->tasks);
	fz_py_locals_release(&py->locals);
	fz_py_plan_release(&py->plan);
	fz_py_plan_release(&py->again);
	fz_py_codes_release(&py->codes);
	fz_py_runtime_release(&py->runtime);
	fz_process_release(&py->process);
	free(py->stacks);
	free(py->ticks.frames);
	free(py->ticks.stacks);
	free(py);
}

const struct fz_python_info *fz_python_info(const struct fz_python *py)
{
	return &py->info;
}
