/* SPDX-License-Identifier: MIT */
/* Reads one process: finds its interpreter, copies its memory, walks its objects, fills the
 * profile. */
#include "heap.h"

#include "base/clock.h"
#include "record/python/runtime.h"
#include "walk.h"

#include <errno.h>

enum { METRIC_BYTES, METRIC_OBJECTS, METRICS };

void fz_heap_result_release(struct fz_heap_result *r)
{
	free(r->types);
	*r = (struct fz_heap_result){ 0 };
}

/* Reads the copy, for readers of single objects. */
static ssize_t copy(void *arg, const struct iovec *parts, size_t n, void *out, size_t total)
{
	struct fz_heap_memory *m = arg;
	uint8_t *to = out;

	(void)total;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p =
			fz_heap_memory_at(m, (uintptr_t)parts[i].iov_base, parts[i].iov_len);
		if (!p) {
			errno = EFAULT;
			return to == out ? -1 : to - (uint8_t *)out;
		}
		memcpy(to, p, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	return to - (uint8_t *)out;
}

void fz_heap_view(struct fz_heap_walk *w)
{
	w->view = *w->process;
	w->view.copy = copy;
	w->view.copy_arg = &w->memory;
}

static int by_bytes(const void *a, const void *b, void *arg)
{
	const struct fz_heap_type *x = a, *y = b;
	const struct fz_profile *p = arg;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return fz_str_cmp(fz_profile_text(p, x->name), fz_profile_text(p, y->name));
}

/* Adds types, merging those with the same name. */
static void add_types(struct fz_heap_walk *w, struct fz_heap_result *r)
{
	struct fz_map by_name = { 0 };

	r->types = fz_reallocarray(NULL, w->type_n + 1, sizeof(*r->types));
	for (uint32_t i = 0; i < w->type_n; i++) {
		const struct fz_heap_type_info *t = &w->types[i];
		if (!t->objects)
			continue;
		uint32_t index = fz_map_get(&by_name, t->name);
		if (index == FZ_NONE) {
			index = r->n++;
			fz_map_put(&by_name, t->name, index);
			r->types[index] = (struct fz_heap_type){ .name = t->name };
		}
		r->types[index].bytes += t->bytes;
		r->types[index].objects += t->objects;
		r->bytes += t->bytes;
		r->objects += t->objects;
	}
	fz_map_release(&by_name);
	qsort_r(r->types, r->n, sizeof(*r->types), by_bytes, w->profile);
}

static void add_samples(struct fz_heap_walk *w)
{
	struct fz_profile *p = w->profile;
	const struct fz_thread thread = { .pid = (uint64_t)w->process->pid,
					  .tid = (uint64_t)w->process->pid,
					  .name = fz_profile_string(p, FZ_STR("heap")),
					  .is_main = true };
	uint32_t index = fz_profile_thread(p, &thread);

	for (uint32_t i = 0; i < FZ_MIN(w->stack_cap, p->stack_count); i++) {
		const struct fz_sample s = { .thread = index,
					     .stack = i,
					     .status = FZ_STATUS_UNKNOWN };
		const int64_t weights[METRICS] = { [METRIC_BYTES] = (int64_t)w->bytes[i],
						   [METRIC_OBJECTS] = (int64_t)w->objects[i] };
		if (w->objects[i])
			fz_profile_add_sample(p, &s, weights);
	}
}

static int walk(struct fz_heap_walk *w, struct fz_heap_result *ret, struct fz_error *err)
{
	int64_t start = fz_clock_now();
	int rc = fz_heap_memory_read(w->process, &w->memory, err);

	if (rc)
		return rc;
	ret->read_ns = fz_clock_now() - start;
	ret->read_bytes = w->memory.bytes;
	rc = fz_heap_walk(w, err);
	if (rc)
		return rc;
	add_types(w, ret);
	add_samples(w);
	ret->changed = w->changed;
	return fz_profile_check(w->profile, err);
}

int fz_heap_record(pid_t pid, struct fz_profile *into, struct fz_heap_result *ret,
		   struct fz_error *err)
{
	struct fz_process process;
	struct fz_py_runtime runtime = { 0 };
	struct fz_heap_walk w = { .process = &process, .profile = into };
	const struct fz_py_steps steps = { 0 };

	*ret = (struct fz_heap_result){ 0 };
	int rc = fz_process_open(&process, pid, err);
	if (rc)
		return rc;
	rc = fz_process_check_started(&process, err);
	if (!rc)
		rc = fz_py_runtime_find(&process, &steps, &runtime, err);
	memcpy(ret->python, runtime.version, sizeof(ret->python));
	if (!rc && runtime.layout.free_threaded)
		rc = fz_fail(err, FZ_EUNSUPPORTED,
			     "process %d: reading the heap of free-threaded Python %u.%u is not "
			     "supported; run the program on the default build of Python %u.%u",
			     (int)pid, runtime.version[0], runtime.version[1], runtime.version[0],
			     runtime.version[1]);
	if (!rc) {
		fz_heap_view(&w);
		w.layout = &runtime.layout;
		w.shape = fz_heap_layout_of(runtime.layout.minor);
		w.runtime = runtime.address;
		fz_profile_add_metric(into, FZ_STR("memory"), FZ_STR("bytes"), 0, true);
		fz_profile_add_metric(into, FZ_STR("objects"), FZ_STR("count"), 0, true);
		/* Sums at one instant. */
		into->samples.ordered = into->samples.timed = false;
		rc = walk(&w, ret, err);
	}
	fz_heap_walk_release(&w);
	fz_py_runtime_release(&runtime);
	fz_process_release(&process);
	return rc;
}
