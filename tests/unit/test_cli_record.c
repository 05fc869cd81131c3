/* SPDX-License-Identifier: MIT */
/* Options of recorders that contradict each other, which is found before anything starts; and what
 * others mean for the recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/record.h"
#include "refused.h"

enum { WALL, CPU, GIL, EXCEPTION }; /* in fz_cli_mode_names */

/* The defaults with some statements about `o` are refused. */
#define REFUSE(text, ...)                                                          \
	do {                                                                       \
		struct fz_cli_record o = FZ_CLI_RECORD_DEFAULTS;                   \
		struct fz_error err;                                               \
		__VA_ARGS__;                                                       \
		assert_refused(fz_cli_record_check(&o, false, &err), err, (text)); \
		fz_cli_output_release(&o.output);                                  \
	} while (0)

static struct fz_cli_record accepted(struct fz_cli_record o)
{
	struct fz_error err;

	if (fz_cli_record_check(&o, false, &err))
		fail_msg("%s", err.message);
	fz_cli_output_release(&o.output);
	return o;
}

/* ---- modes and clocks ---- */

static void test_modes(void **state)
{
	static const struct {
		int mode, clock;
		enum fz_mode is;
		enum fz_clock by;
	} cases[] = {
		{ FZ_CLI_MODE_NONE, FZ_CLOCK_NONE, FZ_MODE_WALL, FZ_CLOCK_WALL },
		{ FZ_CLI_MODE_NONE, FZ_CLOCK_CPU, FZ_MODE_CPU, FZ_CLOCK_CPU },
		{ FZ_CLI_MODE_NONE, FZ_CLOCK_WALL, FZ_MODE_WALL, FZ_CLOCK_WALL },
		{ CPU, FZ_CLOCK_NONE, FZ_MODE_CPU, FZ_CLOCK_CPU },
		{ GIL, FZ_CLOCK_NONE, FZ_MODE_GIL, FZ_CLOCK_WALL },
		{ GIL, FZ_CLOCK_CPU, FZ_MODE_GIL, FZ_CLOCK_CPU },
		{ EXCEPTION, FZ_CLOCK_WALL, FZ_MODE_EXCEPTION, FZ_CLOCK_WALL },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_cli_record o = FZ_CLI_RECORD_DEFAULTS;

		o.mode = cases[i].mode;
		o.clock = cases[i].clock;
		o = accepted(o);
		assert_int_equal(o.how.mode, cases[i].is);
		assert_int_equal(o.how.clock, cases[i].by);
	}
}

static void test_wrong_modes(void **state)
{
	(void)state;
	REFUSE("--mode wall cannot be combined with --clock cpu", o.mode = WALL,
	       o.clock = FZ_CLOCK_CPU);
	REFUSE("--mode cpu cannot be combined with --clock wall", o.mode = CPU,
	       o.clock = FZ_CLOCK_WALL);
	REFUSE("--clock cpu requires a sampling rate other than 'max'", o.clock = FZ_CLOCK_CPU,
	       o.how.rate.micro_hz = 0);
	REFUSE("--mode cpu requires a sampling rate other than 'max'", o.mode = CPU,
	       o.how.rate.micro_hz = 0);
}

/* ---- tasks and waits ---- */

static void test_tasks(void **state)
{
	(void)state;
	REFUSE("--async-mode requires --async-aware", o.async.mode = 1);
	REFUSE("--async-aware cannot be combined with --native=stacks; use --native to show where "
	       "native code runs",
	       o.async.aware = true, o.how.native = FZ_NATIVE_STACKS);
	REFUSE("--async-mode all cannot be combined with --mode cpu; use --async-mode running",
	       o.async.aware = true, o.async.mode = 1, o.mode = CPU);
}

static void test_waits(void **state)
{
	(void)state;
	REFUSE("--wait cannot be combined with --mode or --clock", o.how.waits = true,
	       o.mode = CPU);
	REFUSE("--wait cannot be combined with --live, which does not show waits",
	       o.how.waits = true, o.live = true);
}

/* ---- counting ---- */

static void test_count(void **state)
{
	(void)state;
	REFUSE("--callgrind requires --count", o.how.engine = FZ_COUNTER_CALLGRIND);
	REFUSE("--cache requires --count", o.how.cache = true);
	REFUSE("--memory requires --count", o.how.memory = true);
	REFUSE("--subprocesses cannot be combined with --count, which does not sample",
	       o.how.count = o.how.subprocesses = true);
	REFUSE("--mode cannot be combined with --count, which does not sample", o.how.count = true,
	       o.mode = WALL);
	REFUSE("--duration cannot be combined with --count, which does not sample",
	       o.how.count = true, o.how.duration = 1);
	REFUSE("--control cannot be combined with --count, which does not sample",
	       o.how.count = true, o.how.control = "unix:x");
	REFUSE("--live cannot be combined with --count, which does not sample",
	       o.how.count = o.live = true);
}

static void test_metrics(void **state)
{
	struct fz_cli_record r = FZ_CLI_RECORD_DEFAULTS;

	(void)state;
	REFUSE("--metric peak requires --count", o.output.metric = "peak");
	REFUSE("--metric wall is not available with --count; use instructions, calls, syscalls, "
	       "allocations, bytes, peak, live, reads, writes, 'I1 misses', 'D1 misses' or "
	       "'LL misses'",
	       o.how.count = true, o.output.metric = "wall");
	/* A metric enables what it needs. */
	r.how.count = true;
	r.output.metric = "peak";
	r = accepted(r);
	assert_true(r.how.memory && !r.how.cache);
	r = (struct fz_cli_record)FZ_CLI_RECORD_DEFAULTS;
	r.how.count = true;
	r.output.metric = "D1 misses";
	r = accepted(r);
	assert_true(r.how.cache && !r.how.memory);
	/* Other metrics may come from the recording. */
	r = (struct fz_cli_record)FZ_CLI_RECORD_DEFAULTS;
	r.output.metric = "cpu";
	accepted(r);
}

/* ---- the rest ---- */

static void test_others(void **state)
{
	(void)state;
	REFUSE("--paused requires --control unix:PATH", o.how.paused = true);
	REFUSE("--realtime-stats cannot be combined with the live view, which shows them",
	       o.live = o.realtime_stats = true);
	/* The output is checked last. */
	REFUSE("--min-share requires --tree", o.output.min_share = 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),  cmocka_unit_test(test_wrong_modes),
		cmocka_unit_test(test_tasks),  cmocka_unit_test(test_waits),
		cmocka_unit_test(test_count),  cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
