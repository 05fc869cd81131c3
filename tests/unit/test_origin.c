/* SPDX-License-Identifier: MIT */
/* Classifying functions by origin: the program's own code, libraries, and so on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/heap_fact.h"
#include "profile/origin.h"

static void files_show_their_owner(void **state)
{
	static const struct {
		const char *path, *cwd;
		enum fz_origin origin;
	} cases[] = {
		{ "/srv/app/main.py", "", FZ_ORIGIN_OWN },
		{ "main.py", "", FZ_ORIGIN_OWN },
		{ "/srv/app/.venv/lib/python3.13/site-packages/rich/text.py", "/srv/app",
		  FZ_ORIGIN_LIBRARY },
		{ "site-packages/rich/text.py", "", FZ_ORIGIN_LIBRARY },
		{ "/usr/lib/python3/dist-packages/six.py", "", FZ_ORIGIN_LIBRARY },
		{ "/usr/lib/python3.11/json/decoder.py", "", FZ_ORIGIN_STDLIB },
		{ "/usr/lib64/python3.13/json/decoder.py", "", FZ_ORIGIN_STDLIB },
		{ "lib/python3/json/decoder.py", "", FZ_ORIGIN_STDLIB },
		{ "/srv/lib/python/tool.py", "", FZ_ORIGIN_OWN },
		{ "/srv/mylib/python3/tool.py", "", FZ_ORIGIN_OWN },
		{ "<frozen importlib._bootstrap>", "", FZ_ORIGIN_STDLIB },
		{ "<string>", "", FZ_ORIGIN_OTHER },
		{ "~", "", FZ_ORIGIN_OTHER },
		{ "", "", FZ_ORIGIN_OTHER },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "", FZ_ORIGIN_OTHER },
		{ "/usr/src/app/main.py", "/usr/src/app", FZ_ORIGIN_OWN },
		{ "/usr/src/application/main.py", "/usr/src/app", FZ_ORIGIN_OTHER },
		{ "/opt/tool/main.py", "", FZ_ORIGIN_OTHER },
		{ "/srv/versions/3.11.7/bin/python3.11", "/srv", FZ_ORIGIN_OTHER },
		{ "/srv/versions/3.14t/bin/python3.14t", "", FZ_ORIGIN_OTHER },
		{ "/srv/versions/3.11.7/lib/libpython3.11.so.1.0", "", FZ_ORIGIN_OTHER },
		{ "/srv/app/python_tool.py", "", FZ_ORIGIN_OWN },
		{ "/srv/app/python.py", "", FZ_ORIGIN_OWN },
		{ "/srv/app/node_modules/left-pad/index.js", "/srv/app", FZ_ORIGIN_LIBRARY },
		{ "node:internal/modules/run_main", "", FZ_ORIGIN_STDLIB },
		{ "/usr/local/go/src/runtime/proc.go", "", FZ_ORIGIN_STDLIB },
		{ "/srv/go/pkg/mod/github.com/a/b@v1/c.go", "", FZ_ORIGIN_LIBRARY },
		{ "/rustc/90b35a6/library/core/src/iter.rs", "", FZ_ORIGIN_STDLIB },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		if (fz_origin_of_file(fz_str_of(cases[i].path), fz_str_of(cases[i].cwd)) !=
		    cases[i].origin)
			fail_msg("%s in '%s'", cases[i].path, cases[i].cwd);
}

static uint32_t add(struct fz_profile *p, const char *file, const char *module, enum fz_kind kind)
{
	struct fz_function f = {
		.name = fz_profile_string(p, FZ_STR("f")),
		.file = fz_profile_string(p, fz_str_of(file)),
		.module = fz_profile_string(p, fz_str_of(module)),
		.kind = (uint8_t)kind,
	};

	return fz_profile_function(p, &f);
}

static void module_knows_more_than_debug_information(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_set_fact(p, "cwd", FZ_STR("/srv/app"));
	uint32_t libc = add(p, "./malloc/malloc.c", "/usr/lib/libc.so.6", FZ_KIND_NATIVE);
	uint32_t tool = add(p, "", "/srv/app/build/tool", FZ_KIND_NATIVE);
	uint32_t source = add(p, "src/tool.c", "/srv/app/build/tool", FZ_KIND_NATIVE);
	uint32_t marker = add(p, "", "", FZ_KIND_MARKER);
	fz_auto(fz_free_ptr) uint8_t *origins = fz_profile_origins(p);
	assert_int_equal(origins[libc], FZ_ORIGIN_OTHER);
	assert_int_equal(origins[tool], FZ_ORIGIN_OWN);
	assert_int_equal(origins[source], FZ_ORIGIN_OWN);
	assert_int_equal(origins[marker], FZ_ORIGIN_OTHER);
}

static void types_of_a_heap_are_own(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	(void)state;
	fz_profile_set_fact(p, "clock", FZ_STR(FZ_HEAP_CLOCK));
	uint32_t type = add(p, "", "", FZ_KIND_UNKNOWN);
	uint32_t module = add(p, "/usr/lib/python3.11/json/decoder.py", "", FZ_KIND_PYTHON);
	fz_auto(fz_free_ptr) uint8_t *origins = fz_profile_origins(p);
	assert_int_equal(origins[type], FZ_ORIGIN_OWN);
	assert_int_equal(origins[module], FZ_ORIGIN_STDLIB);
}

static void user_paths_replace_the_rules(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	(void)state;
	uint32_t main = add(p, "/srv/app/main.py", "", FZ_KIND_PYTHON);
	uint32_t rich = add(p, "/usr/lib/python3/dist-packages/rich/text.py", "", FZ_KIND_PYTHON);
	uint32_t six = add(p, "/usr/lib/python3/dist-packages/six.py", "", FZ_KIND_PYTHON);
	fz_profile_set_fact(p, FZ_ORIGIN_FACT, FZ_STR("/(rich|other)/"));
	fz_auto(fz_free_ptr) uint8_t *origins = fz_profile_origins(p);
	assert_int_equal(origins[main], FZ_ORIGIN_LIBRARY);
	assert_int_equal(origins[rich], FZ_ORIGIN_OWN);
	assert_int_equal(origins[six], FZ_ORIGIN_LIBRARY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_show_their_owner),
		cmocka_unit_test(module_knows_more_than_debug_information),
		cmocka_unit_test(types_of_a_heap_are_own),
		cmocka_unit_test(user_paths_replace_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
