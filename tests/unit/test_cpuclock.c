/* SPDX-License-Identifier: MIT */
/* The CPU clock of a process that does nothing but run. */
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/cpuclock.h"
#include "base/clock.h"
#include "base/map.h"

enum { PERIOD = 1000000, SAMPLES = 400, PATIENCE_S = 30 };

static pid_t spin(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (volatile unsigned i = 0;;)
			i++;
	return pid;
}

/* As in /proc; 0: unknown. */
static char read_state(pid_t pid)
{
	char path[64], letter = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &letter) != 1)
		letter = 0;
	fclose(file);
	return letter;
}

/* What every sample weighs; returns how many there are. */
static size_t take(struct fz_cpuclock *c, pid_t pid, int64_t *weight)
{
	int64_t end = fz_clock_now() + PATIENCE_S * 1000000000LL;
	bool news;
	size_t n = 0;

	while (n < SAMPLES && fz_clock_now() < end) {
		if (!fz_cpuclock_wait(c, 10000000, &news))
			continue;
		weight[n] = fz_cpuclock_charge(c, (uint64_t)pid);
		n += weight[n] > 0;
	}
	return n;
}

/* Whether the periods of a program that spins vary around PERIOD; -1 without a clock or without
 * real-time priority. With that priority, above tests/thief, the program is stopped as soon as it
 * is due, so only a host that stops the whole machine makes a period longer. */
static int do_periods_vary(void)
{
	struct fz_cpuclock *c = NULL;
	struct fz_error err;
	struct sched_param above = { .sched_priority = 2 }, none = { 0 };
	int64_t weight[SAMPLES], sum = 0;
	size_t n = 0, shorter = 0, longer = 0;
	pid_t pid = spin();

	int rc = fz_cpuclock_new(pid, false, PERIOD, &c, &err);
	bool drives = !rc && fz_cpuclock_drives(c) && !sched_setscheduler(0, SCHED_FIFO, &above);
	if (drives)
		n = take(c, pid, weight);
	sched_setscheduler(0, SCHED_OTHER, &none);
	fz_cpuclock_free(c);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(rc, 0);
	if (!drives)
		return -1;
	for (size_t i = 0; i < n; i++) {
		sum += weight[i];
		shorter += weight[i] < PERIOD * 8 / 10;
		longer += weight[i] > PERIOD * 12 / 10;
	}
	print_message("%zu samples: mean %.3f of the period, %zu shorter, %zu longer\n", n,
		      n ? (double)sum / (double)n / PERIOD : 0, shorter, longer);
	return n > SAMPLES / 4 && shorter > n / 16 && longer > n / 16 &&
	       sum > (int64_t)n * PERIOD * 9 / 10;
}

/* A loop as long as a period must not be sampled at the same place each time; the rate is the
 * requested one nevertheless. A fixed period never passes. */
static void periods_vary_around_the_requested_one(void **state)
{
	int vary = 0;

	(void)state;
	for (int tries = 0; tries < 10 && !vary; tries++)
		vary = do_periods_vary();
	if (vary < 0)
		skip();
	assert_true(vary);
}

/* Wait until the program is due; false: it has ended. */
static bool wait_until_due(struct fz_cpuclock *c, pid_t pid)
{
	bool watched;

	while (!fz_cpuclock_due(c, pid)) {
		if (kill(pid, 0))
			return false;
		fz_cpuclock_wait(c, PERIOD, &watched);
	}
	return true;
}

/* A thread that was in Python, then in C code without a stack, then in Python again: its time
 * in C is not charged to the second sample. It blocks at the end, so nothing follows. */
static void unsampled_cpu_time_adds_no_samples(void **state)
{
	struct fz_cpuclock *c = NULL;
	struct fz_cpuclock_sum before = { 0 }, passed = { 0 }, after = { 0 };
	struct fz_error err;
	int64_t first = 0, second = 0;
	pid_t pid = spin();
	bool lives = true;

	(void)state;
	int rc = fz_cpuclock_new(pid, true, PERIOD, &c, &err);
	bool drives = !rc && fz_cpuclock_drives(c);
	if (drives) {
		lives = wait_until_due(c, pid);
		first = fz_cpuclock_charge(c, (uint64_t)pid);
		before = fz_cpuclock_sum(c);
		for (int i = 0; i < 8; i++) {
			lives &= wait_until_due(c, pid);
			fz_cpuclock_pass(c, pid);
		}
		passed = fz_cpuclock_sum(c);
		lives &= wait_until_due(c, pid);
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		second = fz_cpuclock_charge(c, (uint64_t)pid);
		after = fz_cpuclock_sum(c);
	}
	fz_cpuclock_free(c);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(rc, 0);
	if (!drives)
		skip();
	assert_true(lives && first > 0 && second > 0);
	assert_int_equal(before.silent, 0);
	assert_true(passed.silent > 2 * PERIOD);
	assert_true(after.silent >= passed.silent);
	assert_true(first + second + after.silent <= after.used + PERIOD);
}

/* Periods are half to one and a half of the requested one and right on average; the next reading is
 * at least a quarter of a period after the last. */
static void next_refresh_is_never_too_soon(void **state)
{
	int64_t planned = 0, sum = 0, least = INT64_MAX, most = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		int64_t next = fz_cpuclock_next(planned, planned, PERIOD, fz_hash64(i));
		sum += next - planned;
		least = FZ_MIN(least, next - planned);
		most = FZ_MAX(most, next - planned);
		planned = next;
	}
	assert_true(least >= PERIOD / 2 && least < PERIOD * 51 / 100);
	assert_true(most < PERIOD * 3 / 2 && most > PERIOD * 149 / 100);
	assert_true(sum > 10000LL * PERIOD * 99 / 100 && sum < 10000LL * PERIOD * 101 / 100);
	/* It came so late that the next one was due before. */
	assert_int_equal(fz_cpuclock_next(60 * PERIOD, 100 * PERIOD, PERIOD, 7),
			 100 * PERIOD + PERIOD / 4);
}

/* Perf does not know a process that has ended and was not waited for; schedstat would, and be the
 * clock of all that come after it. */
static void ended_process_does_not_choose_the_clock(void **state)
{
	struct fz_cpuclock *c = NULL;
	struct fz_error err = { 0 };
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	int rc = fz_cpuclock_new(pid, true, PERIOD, &c, &err);
	fz_cpuclock_free(c);
	waitpid(pid, NULL, 0);
	assert_int_equal(rc, FZ_EGONE);
}

static void *outlive(void *arg)
{
	(void)arg;
	for (volatile unsigned i = 0;;)
		i++;
	return NULL;
}

/* Its first thread has ended: what is allowed of it another one shows. */
static void a_process_outlives_its_first_thread(void **state)
{
	struct fz_cpuclock *living = NULL, *headless = NULL;
	struct fz_error err = { 0 };
	int64_t end = fz_clock_now() + PATIENCE_S * 1000000000LL;
	pid_t one = spin(), other = fork();
	char state_of = 0;

	(void)state;
	if (other == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	while (state_of != 'Z' && fz_clock_now() < end)
		state_of = read_state(other);
	int rc = fz_cpuclock_new(one, true, PERIOD, &living, &err);
	int other_rc = fz_cpuclock_new(other, true, PERIOD, &headless, &err);
	enum fz_cpuclock_kind kind = living ? fz_cpuclock_kind(living) : 0;
	enum fz_cpuclock_kind other_kind = headless ? fz_cpuclock_kind(headless) : 0;
	fz_cpuclock_free(living);
	fz_cpuclock_free(headless);
	kill(one, SIGKILL);
	kill(other, SIGKILL);
	waitpid(one, NULL, 0);
	waitpid(other, NULL, 0);
	assert_int_equal(state_of, 'Z');
	assert_int_equal(rc, 0);
	assert_int_equal(other_rc, 0);
	assert_int_equal(kind, other_kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ended_process_does_not_choose_the_clock),
		cmocka_unit_test(a_process_outlives_its_first_thread),
		cmocka_unit_test(next_refresh_is_never_too_soon),
		cmocka_unit_test(unsampled_cpu_time_adds_no_samples),
		cmocka_unit_test(periods_vary_around_the_requested_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
