/* SPDX-License-Identifier: MIT */
/* Names of kernel code by address. */
#include "symbol/kallsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

static const char text[] = "ffffffff81000000 T srso_alias_untrain_ret\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T __pi__text\n"
			   "ffffffff81000100 T __memset\n"
			   "ffffffff81000100 T __pi_memset\n"
			   "ffffffff81000100 T memset\n"
			   "ffffffff81000200 T __pi___x86_indirect_thunk_rcx\n"
			   "ffffffff81000200 T __x86_indirect_thunk_rcx\n"
			   "ffffffff81000300 t __do_sys_getppid\n"
			   "ffffffff81000300 T __ia32_sys_getppid\n"
			   "ffffffff81000300 T __x64_sys_getppid\n"
			   "ffffffff81000400 T __pi_alone\n"
			   "ffffffff81000500 D data\n"
			   "ffffffffc0000000 t probe\t[a_module]\n";

static void expect(const struct fz_kallsyms *k, uint64_t address, const char *name,
		   const char *module)
{
	struct fz_str got, of;

	assert_true(fz_kallsyms_find(k, address, &got, &of));
	if (!fz_str_eq(got, fz_str_of(name)) || !fz_str_eq(of, fz_str_of(module)))
		fail_msg("%.*s %.*s instead of %s %s", (int)got.n, got.p, (int)of.n, of.p, name,
			 module);
}

static void test_names(void **state)
{
	char path[] = "/tmp/fizeau-kallsyms-XXXXXX";
	struct fz_str none;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	struct fz_kallsyms *k = fz_kallsyms_open(path);
	assert_non_null(k);
	assert_int_equal(fz_kallsyms_text(k), 0xffffffff81000000);
	expect(k, 0xffffffff81000100, "memset", "");
	expect(k, 0xffffffff81000207, "__x86_indirect_thunk_rcx", "");
	expect(k, 0xffffffff81000300, "__x64_sys_getppid", "");
	expect(k, 0xffffffff810005ff, "__pi_alone", "");
	expect(k, 0xffffffffc0000010, "probe", "[a_module]");
	assert_false(fz_kallsyms_find(k, 0xffffffff80ffffff, &none, &none));
	fz_kallsyms_free(k);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
