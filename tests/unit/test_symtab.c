/* SPDX-License-Identifier: MIT */
/* Sorted symbol tables give the same names as libdwfl, for all functions of real files; and cached
 * names. */
#include "symbol/names.h"
#include "symbol/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_build_id_find_elf,
					  .find_debuginfo = dwfl_standard_find_debuginfo,
					  .section_address = dwfl_offline_section_address };

enum { ASKED = 40 };

static void compare_at(Dwfl_Module *module, const struct fz_symtab *t, uint64_t at, unsigned *found)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *theirs = dwfl_module_addrinfo(module, at, &offset, &sym, NULL, NULL, NULL);
	const char *ours = fz_symtab_find(t, at);

	if (theirs && sym.st_size && offset < sym.st_size) {
		assert_non_null(ours);
		assert_string_equal(ours, theirs);
		(*found)++;
	} else {
		assert_null(ours);
		assert_true(!theirs || !fz_symtab_is_whole(t));
	}
}

/* Looks up the first, middle and last byte of some of its symbols, and the byte after them. */
static void compare_file(const char *path, unsigned least)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	unsigned found = 0;

	dwfl_report_begin(dwfl);
	Dwfl_Module *module = dwfl_report_offline(dwfl, path, path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module)
		fail_msg("%s cannot be read", path);
	struct fz_symtab *t = fz_symtab_new(module);
	int n = dwfl_module_getsymtab(module);
	for (int i = 1; i < n; i += n / ASKED + 1) {
		GElf_Sym sym;
		GElf_Addr at;
		if (!dwfl_module_getsym_info(module, i, &sym, &at, NULL, NULL, NULL) || !at)
			continue;
		compare_at(module, t, at, &found);
		compare_at(module, t, at + sym.st_size / 2, &found);
		compare_at(module, t, at + sym.st_size - 1, &found);
		compare_at(module, t, at + sym.st_size, &found);
	}
	fz_symtab_free(t);
	dwfl_end(dwfl);
	assert_true(found >= least);
}

static void real_files(void **state)
{
	char line[4200] = "";
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)state;
	while (fgets(line, sizeof(line), maps) && !strstr(line, "/libc"))
		;
	fclose(maps);
	assert_non_null(strchr(line, '/'));
	line[strcspn(line, "\n")] = '\0';
	compare_file("/proc/self/exe", 20);
	compare_file(strchr(line, '/'), 20);
}

static void kept_names(void **state)
{
	static const char module[] = "/lib/x.so 0123";
	struct fz_symbols_call calls[FZ_SYMBOLS_CALLS_MAX] = { { "f", "f.c", 2, 1 } };
	struct fz_names *names = fz_names_new();
	unsigned n = 9;

	(void)state;
	assert_true(fz_names_can_cache(module));
	assert_false(fz_names_can_cache("/lib/x.so"));
	assert_false(fz_names_can_cache("[jit]"));
	assert_false(fz_names_get(names, module, 1, calls, &n));
	fz_names_put(names, module, 1, calls, 1);
	fz_names_put(names, module, 2, NULL, 0);
	memset(calls, 0, sizeof(calls));
	assert_true(fz_names_get(names, module, 1, calls, &n));
	assert_int_equal(n, 1);
	assert_string_equal(calls[0].name, "f");
	assert_string_equal(calls[0].file, "f.c");
	assert_true(fz_names_get(names, module, 2, calls, &n));
	assert_int_equal(n, 0);
	assert_false(fz_names_get(names, "/lib/y.so 0123", 1, calls, &n));
	/* Without end it would be no bound. */
	for (uint64_t at = 10; at < 100000; at++)
		fz_names_put(names, module, at, calls, 0);
	assert_false(fz_names_get(names, module, 1, calls, &n));
	assert_true(fz_names_get(names, module, 99999, calls, &n));
	fz_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_files),
		cmocka_unit_test(kept_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
