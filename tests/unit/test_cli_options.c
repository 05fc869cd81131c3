/* SPDX-License-Identifier: MIT */
/* Values of options: what is accepted, what is refused and how, and what contradicts what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/pid.h"
#include "cli/record.h"
#include "cli/revision.h"
#include "cli/system.h"
#include "cli/tasks.h"
#include "refused.h"

/* Texts that are never a number: what strtod would take, and what is longer than any. */
static const char *const no_numbers[] = { "",     " ",   "x",   "-1",   "+1",  "1e3",
					  "0x10", "inf", "nan", "1,5",  "1 2", "1.2.3",
					  " 1",   "1 ",  ".",   "%",    "5%%", "\n",
					  "\xff", "--",  "1;2", "1\x1b" };

static void refuse_no_numbers(int (*call)(const char *, const struct fz_opt *, struct fz_error *),
			      const char *name, void *value)
{
	struct fz_error err;

	for (size_t i = 0; i < FZ_ARRAY_LEN(no_numbers); i++)
		if (set_option(call, name, no_numbers[i], value, &err) != FZ_EUSAGE)
			fail_msg("--%s accepts '%s'", name, no_numbers[i]);
}

/* ---- percentages ---- */

static void test_percentages(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_output_set_threshold, "threshold", "5%", &o, &err), 0);
	assert_true(o.threshold == 0.05 && o.gated);
	assert_int_equal(set_option(fz_cli_output_set_threshold, "threshold", "2.5", &o, &err), 0);
	assert_true(o.threshold == 0.025);
	assert_int_equal(set_option(fz_cli_output_set_threshold, "threshold", "1000000", &o, &err),
			 0);
	assert_int_equal(set_option(fz_cli_output_set_delta, "same-within", "99%", &o, &err), 0);
	assert_true(o.delta == 0.99);
	assert_int_equal(set_option(fz_cli_output_set_min_share, "min-share", "0", &o, &err), 0);
	assert_true(o.min_share == 0);
	assert_int_equal(set_option(fz_cli_output_set_min_share, "min-share", "100%", &o, &err), 0);
	assert_true(o.min_share == 1);
}

static void test_wrong_percentages(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	struct fz_error err;

	(void)state;
	refuse_no_numbers(fz_cli_output_set_threshold, "threshold", &o);
	refuse_no_numbers(fz_cli_output_set_delta, "same-within", &o);
	refuse_no_numbers(fz_cli_output_set_min_share, "min-share", &o);
	assert_refused(set_option(fz_cli_output_set_threshold, "threshold", "4x", &o, &err), err,
		       "--threshold: '4x' is not a percentage, such as 5%");
	assert_refused(set_option(fz_cli_output_set_threshold, "threshold", "1000001", &o, &err),
		       err, "--threshold: 1000001 is more than 1000000%");
	assert_refused(set_option(fz_cli_output_set_delta, "same-within", "0", &o, &err), err,
		       "--same-within must be more than 0%");
	assert_refused(set_option(fz_cli_output_set_delta, "same-within", "99.5%", &o, &err), err,
		       "--same-within: 99.5% is more than 99%");
	assert_refused(set_option(fz_cli_output_set_min_share, "min-share", "101%", &o, &err), err,
		       "--min-share: 101% is more than 100%");
}

/* Of `history` and `bisect`: a share, too. */
static void test_parts(void **state)
{
	double part = 7;
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_parse_threshold, "threshold", "5%", &part, &err), 0);
	assert_true(part == 0.05);
	assert_int_equal(set_option(fz_cli_parse_threshold, "threshold", "0.05", &part, &err), 0);
	assert_true(part == 0.05);
	assert_refused(set_option(fz_cli_parse_threshold, "threshold", "5x", &part, &err), err,
		       "invalid --threshold '5x': use a percentage, such as 5%");
	assert_refused(set_option(fz_cli_parse_threshold, "threshold", "0%", &part, &err), err,
		       "invalid --threshold '0%': use a percentage, such as 5%");
	/* 500 %, which cannot be meant. */
	assert_refused(set_option(fz_cli_parse_threshold, "threshold", "5", &part, &err), err,
		       "invalid --threshold '5': use a percentage, such as 5%");
	assert_true(part == 0.05);
	assert_int_equal(set_option(fz_cli_parse_threshold, "threshold", "150%", &part, &err), 0);
	assert_true(part == 1.5);
	/* 100 % or 1 %? */
	assert_refused(set_option(fz_cli_parse_threshold, "threshold", "1", &part, &err), err,
		       "invalid --threshold '1': use a percentage, such as 5%");
	assert_int_equal(set_option(fz_cli_parse_threshold, "threshold", "-5%", &part, &err),
			 FZ_EUSAGE);
}

/* ---- work ---- */

static void test_work(void **state)
{
	static const char *const wrong[] = { "1000",
					     "1000:",
					     ":1000",
					     "0:5",
					     "5:0",
					     "-1:5",
					     "5:-1",
					     "1:2:3",
					     "0x10:5",
					     "1e3:5",
					     "inf:5",
					     "nan:1",
					     " 1:2",
					     "1: 2",
					     ":",
					     "1e18:1",
					     "1000000000000000000:1",
					     "1:1000000000000000000" };
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_output_set_work, "work", "1000:1200.5", &o, &err), 0);
	assert_true(o.work[FZ_BASE] == 1000 && o.work[FZ_HEAD] == 1200.5);
	refuse_no_numbers(fz_cli_output_set_work, "work", &o);
	for (size_t i = 0; i < FZ_ARRAY_LEN(wrong); i++)
		if (set_option(fz_cli_output_set_work, "work", wrong[i], &o, &err) != FZ_EUSAGE)
			fail_msg("--work accepts '%s'", wrong[i]);
	assert_true(o.work[FZ_BASE] == 1000 && o.work[FZ_HEAD] == 1200.5);
	assert_refused(set_option(fz_cli_output_set_work, "work", "1000", &o, &err), err,
		       "--work: '1000' is not two positive numbers, such as 1000:1200");
}

/* ---- names ---- */

static void test_scales(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	fz_auto(fz_buf_release) struct fz_buf list = { 0 };
	struct fz_error err;

	(void)state;
	assert_int_equal(set_option(fz_cli_output_set_scale, "scale", "work", &o, &err), 0);
	assert_int_equal(o.scale, FZ_SCALE_UNIT);
	assert_int_equal(set_option(fz_cli_output_set_scale, "scale", "share", &o, &err), 0);
	assert_int_equal(o.scale, FZ_SCALE_SHARE);
	/* The former name. */
	assert_int_equal(set_option(fz_cli_output_set_scale, "scale", "unit", &o, &err), 0);
	assert_int_equal(o.scale, FZ_SCALE_UNIT);
	assert_refused(set_option(fz_cli_output_set_scale, "scale", "sha", &o, &err), err,
		       "--scale: 'sha' is not one of auto, time, share, reference, work, window, "
		       "amount");
	fz_cli_output_list_scales(&list);
	assert_string_equal(list.p, "auto time share reference work window amount");
}

static void test_sorts(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	fz_auto(fz_buf_release) struct fz_buf list = { 0 };
	struct fz_error err;
	char *rest = NULL;

	(void)state;
	assert_int_equal(set_option(fz_cli_output_set_sort, "sort", "cumtime", &o, &err), 0);
	assert_true(o.sort == FZ_TEXT_SORT_TOTAL && o.sorted);
	assert_int_equal(set_option(fz_cli_output_set_sort, "sort", "tottime", &o, &err), 0);
	assert_int_equal(o.sort, FZ_TEXT_SORT_SELF);
	assert_refused(set_option(fz_cli_output_set_sort, "sort", "Self", &o, &err), err,
		       "--sort: 'Self' is not one of self, total, name");
	/* Completion offers only accepted words. */
	fz_cli_output_list_sorts(&list);
	for (char *w = strtok_r(list.p, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		assert_int_equal(set_option(fz_cli_output_set_sort, "sort", w, &o, &err), 0);
}

static void test_formats(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	fz_auto(fz_buf_release) struct fz_buf list = { 0 };
	struct fz_error err;
	char *rest = NULL;

	(void)state;
	assert_int_equal(set_option(fz_cli_output_set_format, "format", "svg", &o, &err), 0);
	assert_int_equal(set_option(fz_cli_output_set_format, "format", "svg", &o, &err), 0);
	assert_false(o.switched);
	assert_refused(set_option(fz_cli_output_set_format, "format", "html", &o, &err), err,
		       "formats html and svg cannot be combined; use 'fizeau replay' to convert "
		       "the recording to a second format");
	o = (struct fz_cli_output)FZ_CLI_OUTPUT_DEFAULTS;
	assert_int_equal(set_option(fz_cli_output_set_format, "format", "HTML", &o, &err),
			 FZ_EUSAGE);
	assert_true(strncmp(err.message, "--format: 'HTML' is not one of text, tree, html, ", 49) ==
		    0);
	assert_int_equal(set_option(fz_cli_output_set_switch, "gecko", NULL, &o, &err), 0);
	assert_true(o.switched);
	assert_string_equal(o.format, "gecko");
	fz_cli_output_list_formats(&list);
	assert_null(strchr(list.p, ','));
	for (char *w = strtok_r(list.p, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		o = (struct fz_cli_output)FZ_CLI_OUTPUT_DEFAULTS;
		assert_int_equal(set_option(fz_cli_output_set_format, "format", w, &o, &err), 0);
	}
}

/* ---- options that can be given several times ---- */

static void test_rules(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	struct fz_error err;

	(void)state;
	for (int i = 0; i < FZ_CLI_RULES_MAX; i++) {
		assert_int_equal(set_option(fz_cli_output_add_map, "map", "a=b", &o, &err), 0);
		assert_int_equal(set_option(fz_cli_output_add_rename, "rename", "a.*=b", &o, &err),
				 0);
		assert_int_equal(set_option(fz_cli_output_add_thread, "thread", "main", &o, &err),
				 0);
		assert_int_equal(
			set_option(fz_cli_output_add_source_root, "source-root", "/a=/b", &o, &err),
			0);
	}
	assert_refused(set_option(fz_cli_output_add_map, "map", "a=b", &o, &err), err,
		       "--map can be given at most 64 times");
	assert_refused(set_option(fz_cli_output_add_rename, "rename", "a=b", &o, &err), err,
		       "--rename can be given at most 64 times");
	assert_refused(set_option(fz_cli_output_add_thread, "thread", "main", &o, &err), err,
		       "--thread can be given at most 64 times");
	assert_refused(set_option(fz_cli_output_add_source_root, "source-root", "/a=/b", &o, &err),
		       err, "--source-root can be given at most 64 times");
	/* The lists end. */
	assert_true(!o.maps.list[o.maps.n] && !o.renames.list[o.renames.n] &&
		    !o.threads.list[o.threads.n]);
}

static void test_wrong_rules(void **state)
{
	struct fz_cli_output o = FZ_CLI_OUTPUT_DEFAULTS;
	struct fz_error err;

	(void)state;
	assert_refused(set_option(fz_cli_output_add_map, "map", "a", &o, &err), err,
		       "--map: invalid value 'a' (expected OLD=NEW, each FUNCTION or "
		       "FILE:FUNCTION; OLD= for a removed function)");
	assert_int_equal(set_option(fz_cli_output_add_rename, "rename", "(=b", &o, &err),
			 FZ_EUSAGE);
	assert_true(o.maps.n == 0 && o.renames.n == 0);
	assert_refused(set_option(fz_cli_output_add_source_root, "source-root", "/a", &o, &err),
		       err,
		       "invalid --source-root '/a': use OLD=NEW, such as /build=/home/me/app; an "
		       "empty OLD stands for relative names");
	assert_int_equal(set_option(fz_cli_output_add_source_root, "source-root", "/a=", &o, &err),
			 FZ_EUSAGE);
	assert_int_equal(o.source_root_n, 0);
	assert_int_equal(
		set_option(fz_cli_output_add_source_root, "source-root", "=/b=c", &o, &err), 0);
	assert_true(o.source_roots[0].from.n == 0);
	assert_true(fz_str_eq(o.source_roots[0].to, FZ_STR("/b=c")));
}

/* ---- rates and durations ---- */

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		uint64_t micro_hz;
	} cases[] = {
		{ "1000", 1000000000 }, { "2.5khz", 2500000000 },
		{ "10k", 10000000000 }, { "1MHz", 1000000000000 },
		{ "max", 0 },           { " 99 ", 99000000 },
		{ "0.000001", 1 },
	};
	struct fz_rate rate;
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		assert_int_equal(
			set_option(fz_cli_parse_rate, "sampling-rate", cases[i].text, &rate, &err),
			0);
		assert_int_equal(rate.micro_hz, cases[i].micro_hz);
	}
}

static void test_wrong_rates(void **state)
{
	static const char *const texts[] = { "",      "k",   "-5",  "fast", "1e3", "0x10",
					     "1.2.3", "5 5", "5kk", "\xff", "inf" };
	struct fz_rate rate = { .micro_hz = 77 };
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		if (set_option(fz_cli_parse_rate, "sampling-rate", texts[i], &rate, &err) !=
		    FZ_EUSAGE)
			fail_msg("accepted as a rate: '%s'", texts[i]);
	assert_refused(set_option(fz_cli_parse_rate, "sampling-rate", "0", &rate, &err), err,
		       "invalid sampling rate '0': must be above 0");
	assert_refused(set_option(fz_cli_parse_rate, "sampling-rate", "1.1mhz", &rate, &err), err,
		       "invalid sampling rate '1.1mhz': above 1 MHz; use 'max' to sample as fast "
		       "as possible");
	assert_int_equal(rate.micro_hz, 77);
}

static void test_durations(void **state)
{
	double seconds = 7;
	struct fz_error err;

	(void)state;
	refuse_no_numbers(fz_cli_parse_duration, "timeout", &seconds);
	refuse_no_numbers(fz_cli_parse_time, "duration", &seconds);
	assert_refused(set_option(fz_cli_parse_duration, "timeout", "0", &seconds, &err), err,
		       "invalid duration '0': use seconds, such as 10 or 0.5");
	assert_refused(set_option(fz_cli_parse_duration, "timeout", "1000000001", &seconds, &err),
		       err, "invalid duration '1000000001': use seconds, such as 10 or 0.5");
	assert_true(seconds == 7);
	assert_int_equal(set_option(fz_cli_parse_duration, "timeout", "0.5", &seconds, &err), 0);
	assert_true(seconds == 0.5);
	/* As short as possible, not for ever. */
	assert_int_equal(set_option(fz_cli_parse_time, "duration", "0.0", &seconds, &err), 0);
	assert_true(seconds > 0 && seconds <= 1e-9);
}

/* ---- tasks ---- */

static void test_tasks(void **state)
{
	enum fz_python_tasks tasks;
	struct fz_cli_tasks o = { .mode = FZ_CLI_ASYNC_NOT_GIVEN };
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), 0);
	assert_int_equal(tasks, FZ_PYTHON_TASKS_NONE);
	o.mode = 0; /* the usual one, as CPython's profiler accepts it */
	assert_int_equal(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), 0);
	o.mode = 1;
	assert_refused(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), err,
		       "--async-mode requires --async-aware");
	o = (struct fz_cli_tasks){ .mode = FZ_CLI_ASYNC_NOT_GIVEN, .names = true };
	assert_refused(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), err,
		       "--task-names requires --async-aware");
	o.aware = true;
	assert_int_equal(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), 0);
	assert_int_equal(tasks, FZ_PYTHON_TASKS_RUNNING);
	o.mode = 1;
	assert_int_equal(fz_cli_tasks_check(&o, FZ_PYTHON_TASKS_RUNNING, &tasks, &err), 0);
	assert_int_equal(tasks, FZ_PYTHON_TASKS_ALL);
}

/* ---- the whole machine ---- */

static struct fz_cli_record machine(void)
{
	struct fz_cli_record o = FZ_CLI_RECORD_DEFAULTS;

	fz_cli_system_begin(&o);
	o.how.machine = true;
	return o;
}

static void test_system(void **state)
{
	struct fz_cli_record o = machine();
	struct fz_cli_record usual = FZ_CLI_RECORD_DEFAULTS, plain = usual;
	struct fz_error err;

	(void)state;
	assert_int_equal(fz_cli_system_settle(&o, &err), 0);
	assert_int_equal(o.how.rate.micro_hz, 99000000);
	assert_true(o.clock == FZ_CLOCK_CPU && o.how.sampled_by == FZ_ENGINE_BPF);
	assert_true(o.how.all_threads && o.how.no_source);
	/* Without it the values that mean "not given" are replaced. */
	fz_cli_system_begin(&plain);
	assert_int_equal(fz_cli_system_settle(&plain, &err), 0);
	assert_int_equal(plain.how.rate.micro_hz, usual.how.rate.micro_hz);
	assert_int_equal(plain.how.sampled_by, usual.how.sampled_by);
	assert_int_equal(plain.clock, FZ_CLOCK_NONE);
}

static void test_system_rate(void **state)
{
	struct fz_cli_record o = machine();
	struct fz_error err;

	(void)state;
	o.how.rate.micro_hz = 10000 * 1000000ull;
	assert_int_equal(fz_cli_system_settle(&o, &err), 0);
	o = machine();
	o.how.rate.micro_hz = 10000 * 1000000ull + 1;
	assert_refused(fz_cli_system_settle(&o, &err), err,
		       "--system: the maximum --sampling-rate is 10,000 per second on each CPU");
	o = machine();
	o.how.rate.micro_hz = 0; /* max */
	assert_int_equal(fz_cli_system_settle(&o, &err), FZ_EUSAGE);
}

static void test_system_contradictions(void **state)
{
	struct fz_cli_record o = machine();
	struct fz_error err;

	(void)state;
	o.how.growth = true;
	assert_refused(fz_cli_system_settle(&o, &err), err,
		       "--pagefaults cannot be combined with --system");
	o = machine();
	o.how.subprocesses = true;
	assert_refused(fz_cli_system_settle(&o, &err), err,
		       "--subprocesses cannot be combined with --system");
	o = machine();
	o.mode = 0; /* wall */
	assert_refused(fz_cli_system_settle(&o, &err), err,
		       "--mode cannot be combined with --system");
	o = machine();
	o.mode = 1; /* cpu: what it samples */
	assert_int_equal(fz_cli_system_settle(&o, &err), 0);
	o = machine();
	o.how.machine = false;
	o.how.growth = true;
	o.how.rate.micro_hz = 1000000;
	assert_refused(fz_cli_system_settle(&o, &err), err,
		       "--sampling-rate cannot be combined with --pagefaults");
}

/* ---- process ids ---- */

static void test_pids(void **state)
{
	char text[20];
	pid_t pid = 0;
	int fd = -1;
	struct fz_error err;

	(void)state;
	snprintf(text, sizeof(text), "%d", (int)getpid());
	assert_int_equal(fz_cli_pid(text, &pid, &fd, &err), 0);
	assert_true(pid == getpid() && fd >= 0);
	close(fd);
	assert_int_equal(fz_cli_pid(text, &pid, NULL, &err), 0);
}

static void test_wrong_pids(void **state)
{
	static const char *const texts[] = { "",    "0",  "-1",         "+1",
					     "1x",  " 1", "2147483648", "99999999999999999999",
					     "0x1", "1.0" };
	pid_t pid = 77, child;
	char text[20];
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		if (fz_cli_pid(texts[i], &pid, NULL, &err) != FZ_EUSAGE)
			fail_msg("accepted as a pid: '%s'", texts[i]);
	assert_refused(fz_cli_pid("1\033", &pid, NULL, &err), err, "invalid process id '1\\x1b'");
	/* (To the kernel both would be wrong, too, with a misleading reason.) */
	assert_refused(fz_cli_pid("0", &pid, NULL, &err), err, "invalid process id '0'");
	assert_refused(fz_cli_pid("4294967297", &pid, NULL, &err), err,
		       "invalid process id '4294967297'");
	/* One that was here, and is gone. */
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	snprintf(text, sizeof(text), "%d", (int)child);
	assert_int_equal(fz_cli_pid(text, &pid, NULL, &err), FZ_EGONE);
	assert_int_equal(pid, 77);
}

static void test_process_name(void **state)
{
	char name[64], small[4];

	(void)state;
	fz_cli_process_name(getpid(), name, sizeof(name));
	assert_string_equal(name, "test_cli_options");
	fz_cli_process_name(getpid(), small, sizeof(small));
	assert_int_equal(strlen(small), 3);
	fz_cli_process_name(0x7fffffff, name, sizeof(name));
	assert_string_equal(name, "process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentages),  cmocka_unit_test(test_wrong_percentages),
		cmocka_unit_test(test_parts),        cmocka_unit_test(test_work),
		cmocka_unit_test(test_scales),       cmocka_unit_test(test_sorts),
		cmocka_unit_test(test_formats),      cmocka_unit_test(test_rules),
		cmocka_unit_test(test_wrong_rules),  cmocka_unit_test(test_rates),
		cmocka_unit_test(test_wrong_rates),  cmocka_unit_test(test_durations),
		cmocka_unit_test(test_tasks),        cmocka_unit_test(test_system),
		cmocka_unit_test(test_system_rate),  cmocka_unit_test(test_system_contradictions),
		cmocka_unit_test(test_pids),         cmocka_unit_test(test_wrong_pids),
		cmocka_unit_test(test_process_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
