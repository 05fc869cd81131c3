/* SPDX-License-Identifier: MIT */
/* Our line tables against each installed interpreter's: the position of each instruction in parts
 * of its standard library must agree. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "record/python/lines.h"

static const char *script(void)
{
	static char path[1024];
	const char *tests = getenv("FZ_TESTS");

	snprintf(path, sizeof(path), "%s/unit/dump_lines.py", tests ? tests : "tests");
	return path;
}

static enum fz_py_lines kind_of(unsigned minor)
{
	return minor <= 9    ? FZ_PY_LINES_LNOTAB
	       : minor == 10 ? FZ_PY_LINES_310
			     : FZ_PY_LINES_LOCATION;
}

static size_t from_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t n = 0;
	unsigned byte;

	while (n < max && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		out[n++] = (uint8_t)byte;
	return n;
}

/* Compare one line of the dump; `line` is what the decoder decodes. */
static void check_position(unsigned minor, const uint8_t *table, size_t n, int first,
			   const char *text)
{
	struct fz_py_position want, got = { -2, -2, -2, -2 };
	unsigned offset;

	assert_int_equal(sscanf(text, "%u %d %d %d %d", &offset, &want.line, &want.end_line,
				&want.column, &want.end_column),
			 5);
	assert_true(fz_py_line_lookup(kind_of(minor), table, n, first, offset, &got));
	if (got.line != want.line || got.end_line != want.end_line || got.column != want.column ||
	    got.end_column != want.end_column)
		fail_msg("3.%u: offset %u of a code object at line %d: %d-%d:%d-%d, not %s", minor,
			 offset, first, got.line, got.end_line, got.column, got.end_column, text);
}

/* Run one interpreter over the script. Returns the instructions compared. */
static unsigned long check_interpreter(const char *command, unsigned minor)
{
	static uint8_t table[1 << 20];
	fz_auto(fz_free_ptr) char *run = fz_asprintf("%s 2>/dev/null", command);
	FILE *pipe = popen(run, "r");
	char *line = NULL;
	size_t cap = 0, n = 0;
	unsigned long checked = 0;
	int first = 0, ended = 0;

	assert_non_null(pipe);
	while (getline(&line, &cap, pipe) > 0) {
		int hex = 0;
		if (sscanf(line, "code %d %n", &first, &hex) == 1 && hex) {
			n = from_hex(line + hex, table, sizeof(table));
		} else if (strcmp(line, "end\n") == 0) {
			ended = 1;
		} else {
			check_position(minor, table, n, first, line);
			checked++;
		}
	}
	free(line);
	pclose(pipe);
	return ended ? checked : 0;
}

static unsigned minor_of(const char *python)
{
	fz_auto(fz_free_ptr) char *run =
		fz_asprintf("%s -c 'import sys; print(*sys.version_info[:2])' 2>/dev/null", python);
	FILE *pipe = popen(run, "r");
	unsigned major = 0, minor = 0;

	if (pipe && fscanf(pipe, "%u %u", &major, &minor) != 2)
		major = 0;
	if (pipe)
		pclose(pipe);
	return major == 3 && minor >= 8 && minor <= 15 ? minor : 0;
}

static void check_python(const char *python, const char *argument, unsigned *tested)
{
	unsigned minor = minor_of(python);
	fz_auto(fz_free_ptr) char *command = fz_asprintf("%s %s", python, argument);

	if (!minor)
		return;
	unsigned long n = check_interpreter(command, minor);
	assert_true(n > 10000);
	print_message("3.%u: %lu instructions\n", minor, n);
	++*tested;
}

static void test_installed(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *pattern = fz_asprintf("%s/.pyenv/versions/3.*/bin/python3",
							 getenv("HOME") ? getenv("HOME") : "");
	unsigned tested = 0;
	glob_t found = { 0 };

	if (access(script(), R_OK) != 0)
		skip();

	check_python("/usr/bin/python3", script(), &tested);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			check_python(found.gl_pathv[i], script(), &tested);
	globfree(&found);
	if (!tested)
		skip();
}

/* The versions of the newer Debian kept for tests, entered with chroot. */
static void check_forky(unsigned *tested)
{
	const char *root = getenv("FIZEAU_FORKY"), *home = getenv("HOME");
	const char *cache = getenv("XDG_CACHE_HOME");
	fz_auto(fz_free_ptr) char *path =
		root    ? fz_strdup(root)
		: cache ? fz_asprintf("%s/fizeau/roots/forky", cache)
			: fz_asprintf("%s/.cache/fizeau/roots/forky", home ? home : "");
	fz_auto(fz_free_ptr) char *argument = fz_asprintf("- < %s", script());

	if (geteuid() != 0 || access(path, X_OK) != 0 || access(script(), R_OK) != 0)
		return;
	for (unsigned minor = 13; minor <= 15; minor++) {
		fz_auto(fz_free_ptr) char *python =
			fz_asprintf("chroot %s python3.%u", path, minor);
		check_python(python, argument, tested);
	}
}

static void test_forky(void **state)
{
	unsigned tested = 0;

	(void)state;
	check_forky(&tested);
	if (!tested) /* this leaves the function without cleaning up */
		skip();
}

/* Whatever a table holds, the decoder ends and stays inside it. */
static void test_random_tables(void **state)
{
	(void)state;
	uint64_t seed = 3;
	struct fz_py_position at;

	for (unsigned round = 0; round < 20000; round++) {
		size_t n = round % 64;
		uint8_t *table = fz_malloc(n + 1); /* exact size: a sanitizer sees one byte more */
		for (size_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			table[i] = (uint8_t)(seed >> 40);
		}
		uint8_t *exact = fz_realloc(table, n ? n : 1);
		for (unsigned kind = 0; kind <= FZ_PY_LINES_LOCATION; kind++)
			fz_py_line_lookup((enum fz_py_lines)kind, exact, n, (int32_t)(seed >> 32),
					  round % 200, &at);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_installed),
		cmocka_unit_test(test_forky),
		cmocka_unit_test(test_random_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
