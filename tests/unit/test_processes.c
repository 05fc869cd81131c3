/* SPDX-License-Identifier: MIT */
/* Processes of a recording: identified by its facts, labelled for display, and selected by a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/processes.h"

static struct fz_profile *with_thread(struct fz_profile *p, uint64_t pid, uint64_t tid,
				      uint32_t samples)
{
	struct fz_thread thread = { .pid = pid, .tid = tid };
	uint32_t main =
		fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);
	struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, main),
			       .thread = fz_profile_thread(p, &thread),
			       .count = samples };

	if (samples)
		fz_profile_add_sample(p, &s, NULL);
	return p;
}

static void set(struct fz_profile *p, uint64_t pid, uint64_t parent, const char *command)
{
	fz_profile_set_process(p, pid, parent, fz_str_of(command));
}

static struct fz_profile *new_profile(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	return p;
}

static void assert_text(struct fz_str s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_memory_equal(s.p, want, s.n);
}

static void test_in_order_of_appearance(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = new_profile();

	with_thread(p, 20, 20, 3);
	with_thread(p, 10, 10, 0);
	with_thread(p, 20, 21, 4);
	set(p, 20, 10, "python3 -u dir/app.py x y");
	set(p, 30, 20, "without threads");
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	assert_int_equal(ps.n, 2);
	assert_int_equal(fz_processes_sampled(&ps), 1);
	assert_int_equal(ps.list[0].pid, 20);
	assert_int_equal(ps.list[0].parent, 10);
	assert_int_equal(ps.list[0].threads, 2);
	assert_int_equal(ps.list[0].samples, 7);
	assert_text(ps.list[0].command, "python3 -u dir/app.py x y");
	assert_int_equal(ps.list[1].pid, 10);
	assert_int_equal(ps.list[1].parent, 0);
	assert_int_equal(ps.list[1].samples, 0);
	assert_text(ps.list[1].command, "");
	assert_int_equal(ps.of_thread[0], 0);
	assert_int_equal(ps.of_thread[1], 1);
	assert_int_equal(ps.of_thread[2], 0);
}

static void test_nothing(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = new_profile();
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);

	assert_int_equal(ps.n, 0);
	assert_int_equal(fz_processes_sampled(&ps), 0);
}

static void test_commands_run(void **state)
{
	(void)state;
	static const struct {
		const char *command, *name;
	} cases[] = {
		{ "python3 app.py", "app.py" },
		{ "/usr/bin/python3.11 -u -X dev /srv/app.py --port 1", "app.py" },
		{ "python3 -m pip install", "pip" },
		{ "python3 -I -m http.server", "http.server" },
		{ "python3 -c code", "python3" },
		{ "python3", "python3" },
		{ "python3 -m", "python3" },
		{ "python3 -u ", "python3" },
		{ "/usr/bin/make -j2", "make" },
		{ "pytho app.py", "pytho" },
		{ "", "" },
		{ " leading", "" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = new_profile();
		with_thread(p, 5, 5, 1);
		set(p, 5, 1, cases[i].command);
		fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
		assert_text(ps.list[0].name, cases[i].name);
		assert_text(ps.list[0].command, cases[i].command);
	}
}

/* With several kinds of events, a process has the samples of the main one. */
static void test_samples_of_one_event(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	uint32_t f = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR("a.py"), 1, FZ_KIND_PYTHON);

	fz_profile_add_metric(p, FZ_STR("cycles"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 0, true);
	for (uint64_t i = 0; i < 3; i++) {
		struct fz_thread thread = { .pid = 1 + i / 2, .tid = 1 + i };
		struct fz_sample s = { .stack = fz_profile_stack(p, FZ_NONE, f),
				       .thread = fz_profile_thread(p, &thread) };
		fz_profile_add_sample(p, &s, (int64_t[]){ i == 0, i != 0 });
	}
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	assert_int_equal(ps.n, 2);
	assert_int_equal(ps.list[0].samples, 1);
	assert_int_equal(ps.list[1].samples, 0);
}

/* Facts come from files, so they may contain anything. */
static void test_odd_facts(void **state)
{
	(void)state;
	static const char *const values[] = { "", " ", "x", "-1 a", "99999999999999999999 b", "7" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(values); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = new_profile();
		with_thread(p, UINT64_MAX, 5, 1);
		fz_profile_set_fact(p, "process.18446744073709551615", fz_str_of(values[i]));
		fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
		assert_int_equal(ps.n, 1);
		assert_int_equal(ps.list[0].parent, i == 5 ? 7 : 0);
		fz_auto(fz_free_ptr) char *label = fz_process_label(&ps.list[0]);
		assert_non_null(strstr(label, "18446744073709551615"));
	}
}

static void test_named_by_a_word(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = new_profile();

	set(with_thread(p, 12, 12, 1), 12, 1, "python3 worker.py 123");
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	const struct fz_profile_process *process = &ps.list[0];
	assert_true(fz_process_is_named(process, FZ_STR("12")));
	assert_true(fz_process_is_named(process, FZ_STR("worker.py")));
	assert_true(fz_process_is_named(process, FZ_STR("python")));
	/* A number is a process, never a part of a command. */
	assert_false(fz_process_is_named(process, FZ_STR("123")));
	assert_false(fz_process_is_named(process, FZ_STR("1")));
	assert_false(fz_process_is_named(process, FZ_STR("")));
	assert_false(fz_process_is_named(process, FZ_STR("other")));
	fz_auto(fz_free_ptr) char *label = fz_process_label(process);
	assert_string_equal(label, "worker.py 12");
}

static void test_facts_of_processes(void **state)
{
	(void)state;
	assert_true(fz_is_process_fact(FZ_STR("process.7")));
	assert_false(fz_is_process_fact(FZ_STR("process.")));
	assert_false(fz_is_process_fact(FZ_STR("processes")));
	assert_false(fz_is_process_fact(FZ_STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order_of_appearance),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_commands_run),
		cmocka_unit_test(test_samples_of_one_event),
		cmocka_unit_test(test_odd_facts),
		cmocka_unit_test(test_named_by_a_word),
		cmocka_unit_test(test_facts_of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
