/* SPDX-License-Identifier: MIT */
/* Two agents of one host are recognised, restarts and late pushes are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "serve/agents.h"

/* "A10 B10 A11": agents and minutes of the pushes of a host. Returns the number of reports. */
static int reports(struct fz_agents *a, const char *host, const char *pushes)
{
	char agent[2] = "";
	int n = 0, minute, used;

	for (; sscanf(pushes, " %1[A-Z]%d%n", agent, &minute, &used) == 2; pushes += used)
		n += fz_agents_note(a, "p", host, agent, minute);
	return n;
}

static void test_two_agents(void **state)
{
	struct fz_agents a;

	(void)state;
	fz_agents_init(&a);
	assert_int_equal(reports(&a, "alone", "A10 A10 A11 A12 A3"), 0);
	assert_int_equal(reports(&a, "restarted", "A10 A11 B11 B12 A11 A9 B13 C13 C14 B13"), 0);
	assert_int_equal(reports(&a, "two", "A10 B10 A11"), 1);
	assert_int_equal(reports(&a, "two", "B11 A12 B12"), 0);
	assert_int_equal(reports(&a, "second later", "A10 A11 B11 B12 A12 A13"), 1);
	/* Other hosts and projects are others'. */
	assert_false(fz_agents_note(&a, "q", "h", "A", 10));
	assert_false(fz_agents_note(&a, "p", "h", "B", 10));
	assert_false(fz_agents_note(&a, "q", "h", "A", 11));
	fz_agents_release(&a);
}

static void test_many_hosts(void **state)
{
	struct fz_agents a;
	char host[16];

	(void)state;
	fz_agents_init(&a);
	for (int i = 0; i < FZ_AGENTS_HOSTS + 10; i++) {
		snprintf(host, sizeof(host), "h%d", i);
		assert_false(fz_agents_note(&a, "p", host, "A", 1));
	}
	assert_int_equal(a.n, 10);
	fz_agents_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_agents),
		cmocka_unit_test(test_many_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
