/* SPDX-License-Identifier: MIT */
/* Advice next to a verdict: notes from the recordings' facts, and a command, quoted for a shell,
 * that repeats the measurement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/runs.h"
#include "report/advice.h"
#include "report/diff_brief.h"

#define S INT64_C(1000000000)

static const struct fz_load idle = { S, 0, S, 0, 0, 2 * S };

/* n runs of 1 s that began at start, start + step, ...; in two functions, otherwise shared for each
 * start. */
static struct fz_profile *recorded(const char *command, int64_t start, int64_t step, uint32_t n)
{
	struct fz_profile *p = fz_profile_new();
	struct fz_thread main = { .pid = 1, .tid = 1, .is_main = true };

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), S / 50, false);
	p->recording.complete = true;
	p->recording.interval_ns = S / 50;
	p->samples.ordered = p->samples.timed = true;
	for (uint32_t run = 0; run < n; run++) {
		fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = start + run * step,
							.duration_ns = S,
							.outcome = FZ_OUTCOME_EXIT,
							.load = idle });
		for (int i = 0; i < 50; i++) {
			uint32_t frame = fz_profile_frame_named(
				p, (i + start / S) % 3 ? FZ_STR("a") : FZ_STR("b"), FZ_STR("x.py"),
				1, FZ_KIND_PYTHON);
			struct fz_sample s = { .run = (uint16_t)run,
					       .stack = fz_profile_stack(p, FZ_NONE, frame),
					       .thread = fz_profile_thread(p, &main),
					       .time = i * S / 50 };
			fz_profile_add_sample(p, &s, NULL);
		}
	}
	fz_profile_set_fact(p, "command", fz_str_of(command));
	fz_profile_set_fact(p, "cwd", FZ_STR("/home/me"));
	return p;
}

struct seen {
	struct fz_profile *base, *head;
	struct fz_diff *d;
	struct fz_judgement *j;
	struct fz_advice b;
};

static struct seen see(struct fz_profile *base, struct fz_profile *head)
{
	struct seen s = { .base = base, .head = head };
	struct fz_error err;

	assert_int_equal(fz_diff_new(base, head, &(struct fz_diff_options){ 0 }, &s.d, &err), 0);
	s.j = fz_judge(s.d, &FZ_JUDGE_DEFAULTS);
	/* What the test found is not what is tested here. */
	s.j->run.word = FZ_RUN_UNKNOWN;
	s.j->run.more_runs = 4;
	fz_advice_init(&s.b, s.d, s.j);
	return s;
}

static void again(struct seen *s)
{
	fz_advice_release(&s->b);
	fz_advice_init(&s->b, s->d, s->j);
}

static void forget(struct seen *s)
{
	fz_advice_release(&s->b);
	fz_judgement_free(s->j);
	fz_diff_free(s->d);
	fz_profile_free(s->base);
	fz_profile_free(s->head);
}

static void test_commands(void **state)
{
	(void)state;
	struct seen s = see(recorded("python3 a.py 'x y'", S, S, 1),
			    recorded("python3 b.py", 60 * S, S, 1));
	assert_string_equal(s.b.command,
			    "fizeau compare -n 5 --base-command 'python3 a.py '\\''x y'\\''' "
			    "--head-command 'python3 b.py'");
	/* A verdict that is beyond doubt needs no other. */
	s.j->run.word = FZ_RUN_SLOWER;
	again(&s);
	assert_null(s.b.command);
	s.j->run.word = FZ_RUN_UNKNOWN;
	/* Two folders; a huge number of runs is not advised. */
	s.j->run.more_runs = 1e6;
	fz_profile_set_fact(s.head, "cwd", FZ_STR("/home/me/it's new"));
	again(&s);
	assert_string_equal(
		s.b.command,
		"fizeau compare --base-command 'cd /home/me && python3 a.py '\\''x y'\\''' "
		"--head-command 'cd '\\''/home/me/it'\\''\\'\\'''\\''s new'\\'' && python3 b.py'");
	/* Another profiler's file. */
	fz_profile_set_fact(s.base, "command", FZ_STR(""));
	again(&s);
	assert_string_equal(s.b.command,
			    "fizeau diff BASE... :: HEAD...  # several files per side");
	/* A terminal would not show this unchanged. */
	fz_profile_set_fact(s.base, "command", FZ_STR("a \033[31m"));
	again(&s);
	assert_null(s.b.command);
	forget(&s);
}

/* Commands that compare ran by a shell are advised as they were specified. */
static void test_shell(void **state)
{
	static const struct {
		const char *command, *advised;
	} cases[] = {
		{ "sh -c 'make && ./a'", "'make && ./a'" },
		{ "sh -c 'a '\\''x y'\\'''", "'a '\\''x y'\\'''" },
		{ "sh -c 'a' b", "'sh -c '\\''a'\\'' b'" },
		{ "sh -c 'a' 'b'", "'sh -c '\\''a'\\'' '\\''b'\\'''" },
		{ "sh -c ./a", "./a" },
		{ "sh -c a b", "'sh -c a b'" },
		{ "sh -c 'a''", "'sh -c '\\''a'\\'''\\'''" },
		{ "sh -c '", "'sh -c '\\'''" },
		{ "sh -c ''", "'sh -c '\\'''\\'''" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct seen s =
			see(recorded("b", S, S, 1), recorded(cases[i].command, 9 * S, S, 1));
		fz_auto(fz_free_ptr) char *advised = fz_asprintf(
			"fizeau compare -n 5 --base-command b --head-command %s", cases[i].advised);
		assert_string_equal(s.b.command, advised);
		forget(&s);
	}
}

/* The command in the short text, and its remark on a head that it shows as slower than it was. */
static void test_brief(void **state)
{
	static const struct fz_style plain = { .columns = 200 };
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	(void)state;
	struct seen s =
		see(recorded("python3 a.py", S, S, 1), recorded("python3 a.py", 9 * S, S, 1));
	fz_report_brief_basis(s.d, s.j, &plain, &text);
	assert_non_null(
		strstr(text.p, "\nNext, with each version: fizeau run --runs 5 -- python3 a.py"));
	assert_null(strstr(text.p, "the head took"));
	s.d->speed_scale.used = true;
	s.d->speed_scale.total = s.d->total[FZ_HEAD] * 102 / 100;
	fz_buf_reset(&text);
	fz_report_brief_basis(s.d, s.j, &plain, &text);
	assert_null(strstr(text.p, "the head took"));
	s.d->speed_scale.total = s.d->total[FZ_HEAD] / 2;
	fz_buf_reset(&text);
	fz_report_brief_basis(s.d, s.j, &plain, &text);
	assert_non_null(strstr(text.p, "machine speed (the head took 500 ms)"));
	s.d->speed_scale.used = false;
	forget(&s);
}

static void test_edited(void **state)
{
	(void)state;
	struct seen s =
		see(recorded("python3 a.py", S, S, 1), recorded("python3 a.py", 9 * S, S, 1));
	/* Nobody has the base's code any more. */
	assert_string_equal(s.b.command, "fizeau run --runs 5 -- python3 a.py");
	fz_profile_set_fact(s.base, "git.commit", FZ_STR("0123456789abcdef"));
	fz_profile_set_fact(s.base, "git.dirty", FZ_STR("no"));
	fz_profile_set_fact(s.head, "git.commit", FZ_STR("0123456789abcdef"));
	fz_profile_set_fact(s.head, "git.dirty", FZ_STR("yes"));
	again(&s);
	assert_string_equal(s.b.command, "fizeau compare -n 5 0123456789 -- python3 a.py");
	fz_profile_set_fact(s.head, "setup", FZ_STR("make -j2"));
	again(&s);
	assert_string_equal(s.b.command,
			    "fizeau compare --setup 'make -j2' -n 5 0123456789 -- python3 a.py");
	fz_profile_set_fact(s.head, "setup", FZ_STR(""));
	/* The same code twice. */
	fz_profile_set_fact(s.head, "git.dirty", FZ_STR("no"));
	again(&s);
	assert_string_equal(s.b.command, "fizeau run --runs 5 -- python3 a.py");
	fz_profile_set_fact(s.base, "git.commit", FZ_STR("fedcba98765"));
	fz_profile_set_fact(s.base, "git.dirty", FZ_STR("yes"));
	again(&s);
	assert_string_equal(s.b.command, "fizeau run --runs 5 -- python3 a.py");
	/* The base ran in a tree that compare made for its revision, and took away again. */
	fz_profile_set_fact(s.base, "git.dirty", FZ_STR("no"));
	fz_profile_set_fact(s.base, "checkout", FZ_STR("/run/xy/shop"));
	fz_profile_set_fact(s.base, "cwd", FZ_STR("/run/xy/shop/bench"));
	fz_profile_set_fact(s.head, "checkout", FZ_STR("/home/me/shop"));
	fz_profile_set_fact(s.head, "cwd", FZ_STR("/home/me/shop/bench"));
	again(&s);
	assert_string_equal(s.b.command, "fizeau compare -n 5 fedcba9876 -- python3 a.py");
	/* In another folder of the tree it is another command. */
	fz_profile_set_fact(s.head, "cwd", FZ_STR("/home/me/shop"));
	again(&s);
	assert_string_equal(
		s.b.command,
		"fizeau compare -n 5 --base-command 'cd /run/xy/shop/bench && python3 a.py' "
		"--head-command 'cd /home/me/shop && python3 a.py'");
	forget(&s);
}

static void test_order(void **state)
{
	(void)state;
	struct seen s = see(recorded("a", S, S, 1), recorded("b", 8 * S, S, 1));
	assert_int_equal(s.b.n, 1);
	assert_string_equal(s.b.notes[0], "Runs were not interleaved: the head was recorded "
					  "7.00 s after the base");
	s.head->runs[0].start_unix_ns = 1 + 3 * 3600 * S;
	s.base->runs[0].start_unix_ns = 6 * 3600 * S;
	again(&s);
	assert_non_null(strstr(s.b.notes[0], "recorded 3.0 hours before the base"));
	/* Nothing is printed if the time is unknown. */
	s.base->runs[0].start_unix_ns = 0;
	again(&s);
	assert_int_equal(s.b.n, 0);
	forget(&s);
	s = see(recorded("a", S, S, 3), recorded("b", 60 * S, S, 3));
	assert_non_null(strstr(s.b.notes[0], "all base runs came before the head runs"));
	/* Beyond doubt or not: a drift would look the same. */
	s.j->run.word = FZ_RUN_SLOWER;
	again(&s);
	assert_non_null(s.b.command);
	forget(&s);
	s = see(recorded("a", 2 * S, 3 * S, 3), recorded("b", S, 3 * S, 3));
	assert_int_equal(s.b.n, 0);
	/* Run in turn, on a quiet machine: only a count, which noise does not affect, would help.
	 */
	s.j->run.more_runs = 1000;
	again(&s);
	assert_string_equal(s.b.command,
			    "fizeau compare --count --base-command a --head-command b");
	forget(&s);
}

static void test_busy(void **state)
{
	(void)state;
	struct seen s = see(recorded("a", S, S, 1), recorded("b", 2 * S, S, 1));
	s.base->runs[0].start_unix_ns = 0;
	again(&s);
	assert_int_equal(s.b.n, 0);
	s.head->runs[0].load.waited_ns = S;
	s.base->runs[0].load.others_ns = s.head->runs[0].load.others_ns = S;
	s.j->run.word = FZ_RUN_SAME;
	again(&s);
	assert_string_equal(
		s.b.notes[0],
		"The machine was busy: threads waited for a CPU (base 0.0 %, head 50.0 %), "
		"other processes used the CPUs (base 50.0 %, head 50.0 %)");
	assert_string_equal(s.b.command, "fizeau compare --base-command a --head-command b");
	/* A program that mostly waits for something else is measured by time. */
	s.base->runs[0].load = s.head->runs[0].load =
		(struct fz_load){ S / 10, 0, S / 10, S, 0, 2 * S };
	again(&s);
	assert_string_equal(s.b.command,
			    "fizeau compare --clock wall --base-command a --head-command b");
	s.base->recording.features = s.head->recording.features = FZ_FEATURE_ALL_THREADS;
	again(&s);
	assert_string_equal(s.b.command,
			    "fizeau compare --clock wall -a --base-command a --head-command b");
	forget(&s);
	/* A change that is certain from alternating runs needs no further runs, even on a busy
	 * machine. */
	s = see(recorded("a", 2 * S, 3 * S, 3), recorded("b", S, 3 * S, 3));
	s.head->runs[0].load.others_ns = s.head->runs[1].load.others_ns = 2 * S;
	s.j->run.word = FZ_RUN_SLOWER;
	again(&s);
	assert_int_equal(s.b.n, 1);
	assert_null(s.b.command);
	s.j->run.word = FZ_RUN_UNKNOWN;
	again(&s);
	assert_string_equal(s.b.command, "fizeau compare -n 7 --base-command a --head-command b");
	/* As many as before would show the same. */
	s.j->run.more_runs = 0;
	again(&s);
	assert_string_equal(s.b.command, "fizeau compare -n 6 --base-command a --head-command b");
	forget(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands), cmocka_unit_test(test_shell),
		cmocka_unit_test(test_edited),   cmocka_unit_test(test_brief),
		cmocka_unit_test(test_order),    cmocka_unit_test(test_busy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
