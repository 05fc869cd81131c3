/* SPDX-License-Identifier: MIT */
/* The heap of a waiting program, intact and with bytes of the copy changed: walking any copy stays
 * within bounds, and its sums agree. */
#include "heap/walk.h"
#include "record/python/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char program[] =
	"import collections, os, sys\n"
	"class A:\n"
	"    def __init__(self, n): self.n = [n]; self.next = None\n"
	"a = [A(i) for i in range(1000)]\n"
	"for x, y in zip(a, a[1:]): x.next = y\n"
	"b = [collections.deque(range(100)), {i: str(i) for i in range(1000)}, set(range(99))]\n"
	"g = (i for i in range(3)); next(g)\n"
	"os.write(1, b'x'); sys.stdin.read()\n";

struct target {
	pid_t pid;
	int in, out;
};

static bool start(struct target *t)
{
	int in[2], out[2];
	char ready;

	if (access("/usr/bin/python3", X_OK) != 0)
		return false;
	assert_int_equal(pipe(in) | pipe(out), 0);
	t->pid = fork();
	if (t->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl("/usr/bin/python3", "python3", "-I", "-S", "-c", program, NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	t->in = in[1];
	t->out = out[0];
	assert_int_equal(read(t->out, &ready, 1), 1);
	return true;
}

static void end(struct target *t)
{
	close(t->in);
	close(t->out);
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
}

static uint64_t objects_of(const struct fz_heap_walk *w, const char *name)
{
	for (uint32_t i = 0; i < w->type_n; i++)
		if (fz_str_eq(fz_profile_text(w->profile, w->types[i].name), fz_str_of(name)))
			return w->types[i].objects;
	return 0;
}

/* Forget a walk, but not the copy. */
static void reset(struct fz_heap_walk *w)
{
	struct fz_heap_memory memory = w->memory;

	w->memory = (struct fz_heap_memory){ 0 };
	fz_profile_free(w->profile);
	fz_heap_walk_release(w);
	memset(memory.seen, 0, (memory.bytes / 512 + 1) * 8);
	*w = (struct fz_heap_walk){ .memory = memory,
				    .process = w->process,
				    .layout = w->layout,
				    .shape = w->shape,
				    .runtime = w->runtime,
				    .profile = fz_profile_new() };
	fz_heap_view(w);
}

/* Some words become other words of the copy, or anything. */
static void damage(struct fz_heap_walk *w, uint64_t *dice)
{
	uint64_t words = w->memory.bytes / 8, *copy = (uint64_t *)(void *)w->memory.copy;

	for (int i = 0; i < 2000; i++) {
		uint64_t at = fz_dice_roll(dice) % words;
		uint64_t value = fz_dice_roll(dice);
		copy[at] = i % 3 == 0 ? value : i % 3 == 1 ? copy[value % words] : value & 0xffff;
	}
}

static void check_sums(const struct fz_heap_walk *w)
{
	uint64_t types = 0, stacks = 0;

	for (uint32_t i = 0; i < w->type_n; i++)
		types += w->types[i].bytes;
	for (uint32_t i = 0; i < w->stack_cap; i++)
		stacks += w->bytes[i];
	assert_int_equal(types, stacks);
}

/* A program that waits, and a copy of its memory. */
struct world {
	struct target target;
	struct fz_process process;
	struct fz_py_runtime runtime;
	struct fz_heap_walk w;
};

static bool begin(struct world *o)
{
	const struct fz_py_steps steps = { 0 };
	struct fz_error err;

	*o = (struct world){ 0 };
	if (!start(&o->target))
		return false;
	assert_int_equal(fz_process_open(&o->process, o->target.pid, &err), 0);
	assert_int_equal(fz_py_runtime_find(&o->process, &steps, &o->runtime, &err), 0);
	o->w = (struct fz_heap_walk){ .process = &o->process,
				      .layout = &o->runtime.layout,
				      .shape = fz_heap_layout_of(o->runtime.layout.minor),
				      .runtime = o->runtime.address,
				      .profile = fz_profile_new() };
	fz_heap_view(&o->w);
	assert_int_equal(fz_heap_memory_read(&o->process, &o->w.memory, &err), 0);
	return true;
}

static void finish(struct world *o)
{
	fz_profile_free(o->w.profile);
	fz_heap_walk_release(&o->w);
	fz_py_runtime_release(&o->runtime);
	fz_process_release(&o->process);
	end(&o->target);
}

static void test_damaged(void **state)
{
	enum { ROUNDS = 40 };
	struct world o;
	struct fz_heap_walk *w = &o.w;
	struct fz_error err;
	uint64_t dice = 1;

	(void)state;
	if (!begin(&o))
		skip();
	assert_int_equal(fz_heap_walk(w, &err), 0);
	assert_int_equal(w->changed, 0);
	assert_int_equal(objects_of(w, "__main__.A"), 1000);
	assert_int_equal(objects_of(w, "collections.deque"), 1);
	check_sums(w);
	void *whole = fz_memdup(w->memory.copy, w->memory.bytes);
	for (int i = 0; i < ROUNDS; i++) {
		reset(w);
		memcpy(w->memory.copy, whole, w->memory.bytes);
		damage(w, &dice);
		if (fz_heap_walk(w, &err) == 0)
			check_sums(w);
	}
	free(whole);
	finish(&o);
}

static uint64_t word(struct fz_heap_walk *w, uint64_t at)
{
	uint64_t value;

	assert_true(fz_heap_word(w, at, &value));
	return value;
}

static void put(struct fz_heap_walk *w, uint64_t at, uint64_t value)
{
	const uint8_t *p = fz_heap_memory_at(&w->memory, at, 8);

	assert_non_null(p);
	memcpy(w->memory.copy + (p - w->memory.copy), &value, 8);
}

/* Objects whose holders changed are found by the collector's lists, also if a list is broken. */
static void test_broken_list(void **state)
{
	struct world o;
	struct fz_heap_walk *w = &o.w;
	const struct fz_py_layout *l = &o.runtime.layout;
	struct fz_error err;
	uint64_t heads[FZ_HEAP_LISTS], link[2];

	(void)state;
	if (!begin(&o))
		skip();
	uint64_t interp = word(w, w->runtime + l->runtime.interpreters_head);
	put(w, word(w, interp + l->interp.modules) + l->dict.keys, 0);
	put(w, interp + l->interp.threads_head, 0);
	assert_int_equal(fz_heap_lists(w, interp, heads), FZ_HEAP_LISTS);
	for (int i = 0; i < FZ_HEAP_LISTS; i++)
		if (fz_heap_links(w, heads[i], link) && link[0] != heads[i])
			put(w, link[0], heads[i] + 8); /* where no object is */
	assert_int_equal(fz_heap_walk(w, &err), 0);
	assert_int_equal(objects_of(w, "__main__.A"), 1000);
	assert_true(w->changed > 0);
	finish(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_broken_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
