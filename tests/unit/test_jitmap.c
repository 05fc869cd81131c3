/* SPDX-License-Identifier: MIT */
/* Code generated at run time: its map, and parsing its names. */
#include "symbol/jitmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* ---- the map ---- */

static struct fz_jitmap *map_of(const char *text)
{
	int fd = memfd_create("map", MFD_CLOEXEC);
	size_t n = strlen(text);

	assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	return fz_jitmap_new(fd);
}

static void check_at(struct fz_jitmap *map, uint64_t address, const char *name)
{
	struct fz_str found = { "", 0 };

	assert_int_equal(fz_jitmap_find(map, address, &found), name != NULL);
	if (name && !fz_str_eq(found, fz_str_of(name)))
		fail_msg("%llx: %.*s", (unsigned long long)address, (int)found.n, found.p);
}

/* Not in order, with code that replaced other code, and inside other code. */
static void test_find(void **state)
{
	struct fz_jitmap *map = map_of("3000 100 late\n"
				       "1000 100 moved away\n"
				       "2000 100 outer\n"
				       "1000 80 came later\n"
				       "2010 10 inner\n");

	(void)state;
	check_at(map, 0x1000, "came later");
	check_at(map, 0x107f, "came later");
	check_at(map, 0x1080, NULL);
	check_at(map, 0xfff, NULL);
	check_at(map, 0x2000, "outer");
	check_at(map, 0x2010, "inner");
	check_at(map, 0x2020, "outer");
	check_at(map, 0x30ff, "late");
	check_at(map, 0x3100, NULL);
	check_at(map, UINT64_MAX, NULL);
	fz_jitmap_free(map);
}

static void test_hostile(void **state)
{
	struct fz_jitmap *map = map_of("\n \nx\n1000\n1000 \n1000 10\n1000 10 \n"
				       "ffffffffffffffff ff wraps\n"
				       "-1 10 negative\n"
				       "zz 10 no number\n"
				       "5000 0 empty\n"
				       "6000 10 good\n"
				       "7000 10 without an end");

	(void)state;
	check_at(map, 0x1000, NULL);
	check_at(map, UINT64_MAX, NULL);
	check_at(map, 0x5000, NULL);
	check_at(map, 0x6000, "good");
	check_at(map, 0x7000, NULL);
	check_at(NULL, 0x6000, NULL);
	fz_jitmap_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names),
					    cmocka_unit_test(test_find),
					    cmocka_unit_test(test_hostile) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
