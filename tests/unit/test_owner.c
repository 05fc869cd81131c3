/* SPDX-License-Identifier: MIT */
/* Names of users and control groups. */
#include "record/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NUMBER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void check(const char *text, const char *expected)
{
	fz_auto(fz_free_ptr) char *name = fz_owner_cgroup_of(fz_str_of(text));

	assert_string_equal(name, expected);
}

static void cgroups(void **state)
{
	(void)state;
	check("", "");
	check("0::/\n", "");
	check("no colons\n", "");
	check("0::/system.slice/nginx.service\n", "nginx.service");
	check("0::/user.slice/user-0.slice/session-3.scope\n", "session-3");
	check("0::/system.slice/docker-" NUMBER ".scope\n", "docker-0123456789ab");
	check("0::/docker/" NUMBER "\n", "docker/0123456789ab");
	check("0::/" NUMBER "\n", "0123456789ab");
	check("0::/a/b:c\n", "b:c");
	/* The old hierarchies count if the unified one has no entry. */
	check("9:name=systemd:/\n4:memory:/docker/" NUMBER "\n0::/\n", "docker/0123456789ab");
	check("4:memory:/old\n0::/new\n", "new");
	check("4:memory:/old\n3:cpu:/other", "old");
}

static void users(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *root = fz_owner_user(0);
	fz_auto(fz_free_ptr) char *none = fz_owner_user(3999999999);

	assert_string_equal(root, "root");
	assert_string_equal(none, "3999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cgroups), cmocka_unit_test(users) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
