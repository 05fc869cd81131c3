/* SPDX-License-Identifier: MIT */
/* Parsing names of code generated at run time. */
#include "symbol/jitmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(const char *text, const char *name, const char *file, int32_t line)
{
	struct fz_made_code made = fz_jitmap_split(fz_str_of(text));

	if (!fz_str_eq(made.name, fz_str_of(name)) || !fz_str_eq(made.file, fz_str_of(file)) ||
	    made.line != line)
		fail_msg("%s: '%.*s' '%.*s' %d", text, (int)made.name.n, made.name.p,
			 (int)made.file.n, made.file.p, made.line);
}

static void test_names(void **state)
{
	(void)state;
	check("JS:~parse file:///a/b.js:3:7", "parse", "/a/b.js", 3);
	check("JS:*parse file:///a/b.mjs:17", "parse", "/a/b.mjs", 17); /* V8 10 */
	check("LazyCompile:* /a/b.js:3:7", "(anonymous)", "/a/b.js", 3);
	check("LazyCompile:~run node:internal/main:12:3", "run", "node:internal/main", 12);
	check("py::Thing.method:/a/b.py", "Thing.method", "/a/b.py", 0);
	check("Builtin:ArrayMap", "Builtin:ArrayMap", "", 0);
	check("JS:~parse", "parse", "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
