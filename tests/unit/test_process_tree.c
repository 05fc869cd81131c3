/* SPDX-License-Identifier: MIT */
/* Trees of real processes, with both ways of following them. Each process executes commands from a
 * pipe of its own, so nothing here depends on timing:
 *
 *   f: fork the next process    x: become cat, which ends with its pipe    q: end
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/process_tree.h"

enum { PROCESSES = 4, EVENTS = 64, PATIENCE_S = 30 };

struct shared {
	pid_t pids[PROCESSES]; /* as they are forked */
	int n;
};

struct cast {
	struct shared *shared;
	int pipes[PROCESSES][2];
	struct fz_process_tree *tree;
	struct fz_process_tree_event seen[EVENTS];
	size_t n;
};

static void serve(struct cast *c, int self)
{
	char command;

	for (int i = 0; i < PROCESSES; i++)
		close(c->pipes[i][1]);
	while (read(c->pipes[self][0], &command, 1) == 1 && command != 'q') {
		if (command == 'x') {
			dup2(c->pipes[self][0], STDIN_FILENO);
			execlp("cat", "cat", NULL);
			_exit(1);
		}
		int next = c->shared->n;
		pid_t pid = fork();
		if (pid == 0) {
			self = next;
		} else {
			c->shared->pids[next] = pid;
			__atomic_store_n(&c->shared->n, next + 1, __ATOMIC_RELEASE);
		}
	}
	_exit(0);
}

static void tell(struct cast *c, int who, char what)
{
	assert_int_equal(write(c->pipes[who][1], &what, 1), 1);
}

static bool has_seen(const struct cast *c, enum fz_process_tree_what what, pid_t pid, pid_t parent)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->seen[i].what == what && c->seen[i].pid == pid &&
		    (!parent || c->seen[i].parent == parent))
			return true;
	return false;
}

static void look(struct cast *c)
{
	struct pollfd fd = { .fd = fz_process_tree_fd(c->tree), .events = POLLIN };

	poll(&fd, 1, 10);
	fz_process_tree_update(c->tree);
	while (c->n < EVENTS && fz_process_tree_next(c->tree, &c->seen[c->n]))
		c->n++;
}

static void wait_for(struct cast *c, enum fz_process_tree_what what, pid_t pid, pid_t parent)
{
	int64_t end = fz_clock_now() + PATIENCE_S * 1000000000LL;

	while (!has_seen(c, what, pid, parent) && fz_clock_now() < end)
		look(c);
	assert_true(has_seen(c, what, pid, parent));
}

/* Tell a process to fork; returns the child. */
static pid_t fork_in(struct cast *c, int who)
{
	int before = c->shared->n;
	int64_t end = fz_clock_now() + PATIENCE_S * 1000000000LL;

	tell(c, who, 'f');
	while (__atomic_load_n(&c->shared->n, __ATOMIC_ACQUIRE) == before && fz_clock_now() < end)
		usleep(1000);
	assert_int_equal(c->shared->n, before + 1);
	return c->shared->pids[before];
}

static int set_up(void **state)
{
	struct cast *c = fz_calloc(1, sizeof(*c));

	c->shared = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		return 1;
	for (int i = 0; i < PROCESSES; i++)
		if (pipe(c->pipes[i]))
			return 1;
	pid_t pid = fork();
	if (pid == 0)
		serve(c, 0);
	c->shared->pids[0] = pid;
	c->shared->n = 1;
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct cast *c = *state;

	fz_process_tree_free(c->tree);
	for (int i = 0; i < c->shared->n; i++)
		kill(c->shared->pids[i], SIGKILL);
	waitpid(c->shared->pids[0], NULL, 0);
	for (int i = 0; i < PROCESSES; i++) {
		close(c->pipes[i][0]);
		close(c->pipes[i][1]);
	}
	munmap(c->shared, sizeof(*c->shared));
	free(c);
	return 0;
}

/* A descriptor that was hung up does not wake the loop forever. */
static void assert_quiet(struct cast *c)
{
	struct pollfd fd = { .fd = fz_process_tree_fd(c->tree), .events = POLLIN };

	fz_process_tree_update(c->tree);
	assert_int_equal(poll(&fd, 1, 0), 0);
}

/* Root forks a child, that one a grandchild and ends, the grandchild a child of its own. */
static void follow(struct cast *c, enum fz_process_tree_kind kind)
{
	const pid_t *pids = c->shared->pids;

	assert_int_equal(fz_process_tree_new(pids[0], kind, &c->tree, NULL), 0);
	if (fz_process_tree_kind(c->tree) != kind)
		skip(); /* perf is not allowed here: the other test is what is left */
	wait_for(c, FZ_PROCESS_TREE_NEW, pids[0], getpid());
	wait_for(c, FZ_PROCESS_TREE_NEW, fork_in(c, 0), pids[0]);
	wait_for(c, FZ_PROCESS_TREE_NEW, fork_in(c, 1), pids[1]);
	assert_int_equal(fz_process_tree_count(c->tree), 3);
	tell(c, 1, 'q');
	/* Its parent does not wait for it: also one that only its number is left of has ended. */
	wait_for(c, FZ_PROCESS_TREE_END, pids[1], 0);
	wait_for(c, FZ_PROCESS_TREE_NEW, fork_in(c, 2), pids[2]);
	assert_int_equal(fz_process_tree_count(c->tree), 3);
	if (kind == FZ_PROCESS_TREE_PERF) {
		tell(c, 3, 'x');
		wait_for(c, FZ_PROCESS_TREE_EXEC, pids[3], 0);
	}
	kill(pids[3], SIGKILL);
	wait_for(c, FZ_PROCESS_TREE_END, pids[3], 0);
	tell(c, 2, 'q');
	tell(c, 0, 'q');
	wait_for(c, FZ_PROCESS_TREE_END, pids[2], 0);
	wait_for(c, FZ_PROCESS_TREE_END, pids[0], 0);
	assert_int_equal(fz_process_tree_count(c->tree), 0);
	if (kind == FZ_PROCESS_TREE_PERF)
		assert_quiet(c);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(c->seen[i].what == c->seen[k].what &&
				     c->seen[i].pid == c->seen[k].pid);
}

static void test_perf(void **state)
{
	follow(*state, FZ_PROCESS_TREE_PERF);
}

static void test_proc(void **state)
{
	follow(*state, FZ_PROCESS_TREE_PROC);
}

/* What was there before is found, with its parents. */
static void test_late(void **state)
{
	struct cast *c = *state;

	fork_in(c, 0);
	fork_in(c, 1);
	fork_in(c, 1);
	assert_int_equal(
		fz_process_tree_new(c->shared->pids[0], FZ_PROCESS_TREE_PERF, &c->tree, NULL), 0);
	wait_for(c, FZ_PROCESS_TREE_NEW, c->shared->pids[1], c->shared->pids[0]);
	wait_for(c, FZ_PROCESS_TREE_NEW, c->shared->pids[2], c->shared->pids[1]);
	wait_for(c, FZ_PROCESS_TREE_NEW, c->shared->pids[3], c->shared->pids[1]);
	assert_int_equal(fz_process_tree_count(c->tree), 4);
}

static void test_nobody(void **state)
{
	struct cast *c = *state;
	struct fz_error err = { 0 };

	tell(c, 0, 'q');
	waitpid(c->shared->pids[0], NULL, 0);
	assert_int_equal(
		fz_process_tree_new(c->shared->pids[0], FZ_PROCESS_TREE_PERF, &c->tree, &err),
		FZ_EGONE);
	assert_non_null(strstr(err.message, "ended"));
	fz_process_tree_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_perf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_proc, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
