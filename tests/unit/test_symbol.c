/* SPDX-License-Identifier: MIT */
/* Symbolizing addresses of this program, of run-time code, and of broken files. */
#include "symbol/demangle.h"
#include "symbol/images.h"
#include "symbol/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cmocka.h>

static volatile unsigned sink;

static inline __attribute__((always_inline)) void inlined_part(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

/* Not static, so that its symbol is there under every compiler. */
__attribute__((noinline)) void test_symbol_outer(unsigned n);
__attribute__((noinline)) void test_symbol_outer(unsigned n)
{
	inlined_part(n);
	sink++;
}

static struct fz_image *open_self(void)
{
	struct fz_image *image = NULL;
	struct fz_error err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fz_image_open(fd, "/usr/bin/a b", &image, &err), 0);
	return image;
}

/* Bytes after the functions that the unwind table lists. */
const char test_symbol_data[16] = "no code";

static void test_own_function(void **state)
{
	struct fz_symbols_call calls[FZ_SYMBOLS_CALLS_MAX];
	struct fz_image *image = open_self();
	uint64_t lo, hi, start;
	struct fz_row row;

	(void)state;
	test_symbol_outer(1);
	assert_true(fz_image_symbol(image, "test_symbol_outer", &lo, &hi));
	assert_false(fz_image_symbol(image, "test_symbol_nowhere", &start, &start));
	assert_true(fz_image_function_start(image, lo + (hi - lo) / 2, &start));
	assert_int_equal(start, lo);
	uint64_t data, end;
	assert_true(fz_image_symbol(image, "test_symbol_data", &data, &end));
	assert_true(data > lo && !fz_image_function_start(image, data, &start));
	fz_image_row(image, lo, &row);
	assert_true(row.known && !row.outermost && !row.signal_frame);
#if defined(__x86_64__)
	assert_int_equal(row.cfa_reg, FZ_REG_SP);
	assert_int_equal(row.cfa_offset, 8);
#endif
	struct fz_symbols *s = fz_symbols_new(image);
	assert_non_null(s);
	bool inner = false;
	for (uint64_t at = lo; at < hi; at++) {
		unsigned n = fz_symbols_find(s, at, calls);
		assert_in_range(n, 1, 3);
		assert_string_equal(calls[n - 1].name, "test_symbol_outer");
		assert_non_null(strstr(calls[n - 1].file, "test_symbol.c"));
		if (n > 1 && strcmp(calls[0].name, "inlined_part") == 0) {
			inner = true;
			assert_true(calls[1].line > calls[0].line);
		}
	}
	assert_true(inner);
	fz_symbols_free(s);
	fz_image_free(image);
}

/* This program, but like a static one: nothing says where the sorted table of functions is. */
static struct fz_image *open_without_table(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t size = lseek(self, 0, SEEK_END);
	int copy = memfd_create("copy", MFD_CLOEXEC);
	struct fz_image *image = NULL;
	Elf64_Ehdr head;
	Elf64_Phdr part;

	assert_int_equal(sendfile(copy, self, &(off_t){ 0 }, (size_t)size), size);
	close(self);
	assert_int_equal(pread(copy, &head, sizeof(head), 0), sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + i * sizeof(part));
		assert_int_equal(pread(copy, &part, sizeof(part), at), sizeof(part));
		part.p_type = part.p_type == PT_GNU_EH_FRAME ? PT_NULL : part.p_type;
		assert_int_equal(pwrite(copy, &part, sizeof(part), at), sizeof(part));
	}
	assert_int_equal(fz_image_open(copy, "copy", &image, NULL), 0);
	return image;
}

static void test_starts_without_table(void **state)
{
	struct fz_image *image = open_self(), *copy = open_without_table();
	uint64_t lo, hi, start, same, found = 0;

	(void)state;
	assert_true(fz_image_symbol(image, "test_symbol_outer", &lo, &hi));
	for (uint64_t at = lo < 4096 ? 0 : lo - 4096; at < hi + 4096; at++) {
		bool known = fz_image_function_start(image, at, &start);
		assert_int_equal(fz_image_function_start(copy, at, &same), known);
		if (known)
			assert_int_equal(same, start);
		found += known;
	}
	assert_true(found >= hi - lo);
	fz_image_free(copy);
	fz_image_free(image);
}

static void test_module_names(void **state)
{
	struct fz_image *image = open_self();
	struct fz_str module = fz_str_of(fz_image_module(image)), file = fz_module_file(module);

	(void)state;
	assert_true(fz_str_eq(file, FZ_STR("/usr/bin/a b")));
	assert_string_equal(fz_image_name(image), "a b");
	assert_true(fz_str_eq(fz_module_file(FZ_STR("/lib/x cafe")), FZ_STR("/lib/x cafe")));
	fz_image_free(image);
}

static void add_sample(struct fz_profile *p, uint32_t stack, int64_t time)
{
	struct fz_thread thread = { .pid = 1, .tid = 1 };
	struct fz_sample s = { .thread = fz_profile_thread(p, &thread),
			       .stack = stack,
			       .time = time };

	fz_profile_add_sample(p, &s, NULL);
}

/* An address becomes a call and what is inlined in it; what came too early is dropped. */
static void test_resolve(void **state)
{
	struct fz_images images = { 0 };
	struct fz_image *image = open_self();
	struct fz_profile *p = fz_profile_new();
	uint64_t lo, hi;

	(void)state;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 5, false);
	assert_true(fz_image_symbol(image, "test_symbol_outer", &lo, &hi));
	uint32_t entry = fz_images_add_image(&images, image);
	uint32_t python =
		fz_profile_frame_named(p, FZ_STR("f+0x12"), FZ_STR("f.py"), 3, FZ_KIND_PYTHON);
	uint32_t stack = fz_profile_stack(p, FZ_NONE, python);
	add_sample(p, stack, 0);
	add_sample(p, fz_profile_stack(p, stack, fz_images_raw_frame(&images, entry, hi - 1, p)),
		   10);
	add_sample(p, fz_profile_stack(p, stack, fz_images_raw_frame(&images, FZ_NONE, lo, p)), 11);
	/* Nothing is known about these two. */
	for (uint64_t at = 1; at < 3; at++)
		add_sample(p,
			   fz_profile_stack(p, stack, fz_images_raw_frame(&images, entry, at, p)),
			   12);
	p = fz_images_resolve(&images, p, 5);
	assert_int_equal(p->samples.n, 4);
	assert_int_equal(p->stack_count, 4);
	const struct fz_stack *leaf = &p->stacks[p->samples.stack[0]];
	const struct fz_function *f = &p->functions[p->frames[leaf->frame].function];
	assert_true(fz_str_eq(fz_profile_text(p, f->name), FZ_STR("test_symbol_outer")));
	assert_int_equal(f->kind, FZ_KIND_NATIVE);
	assert_true(f->first_line > 0);
	f = &p->functions[p->frames[p->stacks[leaf->parent].frame].function];
	assert_true(fz_str_eq(fz_profile_text(p, f->name), FZ_STR("f+0x12")));
	leaf = &p->stacks[p->samples.stack[1]];
	f = &p->functions[p->frames[leaf->frame].function];
	assert_true(fz_str_eq(fz_profile_text(p, f->name), FZ_STR("[unknown]")));
	assert_int_equal(p->samples.stack[2], p->samples.stack[3]);
	leaf = &p->stacks[p->samples.stack[2]];
	f = &p->functions[p->frames[leaf->frame].function];
	assert_true(fz_str_eq(fz_profile_text(p, f->name), FZ_STR("[a b]")));
	fz_profile_free(p);
	fz_images_release(&images);
}

static void test_demangle(void **state)
{
	static const char *const cases[][2] = {
		{ "_ZN6shapes4MeshIdE5churnEi", "shapes::Mesh<double>::churn" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "work.constprop.0.cold", "work" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "main", "main" },
		{ "_Z", "_Z" },
		{ "a.coldish", "a.coldish" },
		{ "@", "@" },
		{ "", "" },
		/* Cython 3.3 */
		{ "__pyx_f_4cmod_inner", "cmod.inner" },
		{ "__pyx_pf_4cmod_hot.isra.0", "cmod.hot" },
		{ "__pyx_pw_4cmod_1hot", "cmod.hot" },
		{ "__pyx_pw_4cmod_5Thing_1method", "cmod.Thing.method" },
		{ "__pyx_pw_3pkg_3sub_3Ext_3cpm", "pkg.sub.Ext.cpm" },
		{ "__pyx_pw_3pkg_3sub_3Ext_11__reduce_cython__", "pkg.sub.Ext.__reduce_cython__" },
		{ "__pyx_pw_3pkg_3sub_15_private", "pkg.sub._private" },
		{ "__pyx_pw_3pkg_3sub_5outer_1inner", "pkg.sub.outer.inner" },
		{ "__pyx_pw_3pkg_3sub_3lam___pyx_lambda_funcdef_lambda", "pkg.sub.lam.<lambda>" },
		{ "__pyx_gb_3pkg_3sub_3lam_3generator3", "pkg.sub.lam.<generator>" },
		{ "__pyx_getprop_3pkg_3sub_3Ext_prop", "pkg.sub.Ext.prop" },
		{ "__pyx_fuse_1__pyx_pw_3pkg_3sub_21fusedef", "pkg.sub.fusedef" },
		{ "__pyx_pymod_exec_sub", "__pyx_pymod_exec_sub" },
		{ "__pyx_f_", "__pyx_f_" },
		{ "__pyx_f_4cmod_", "__pyx_f_4cmod_" },
		{ "__pyx_f_4cmod_1", "__pyx_f_4cmod_1" },
		{ "__pyx_f_99999999999999999999cmod_x", "__pyx_f_99999999999999999999cmod_x" },
		{ "_ZN40_$LT$T$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
		  "<T as core::clone::Clone>::clone" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *name = fz_demangle(cases[i][0]);
		assert_string_equal(name, cases[i][1]);
	}
}

static struct fz_jitmap *map_of(const char *text)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fz_jitmap_new(fd);
}

/* In /tmp any user could create a map of another's process. */
static void test_jitmap_owner(void **state)
{
	char path[] = "/tmp/fz-unit-XXXXXX";
	int fd = mkstemp(path);
	struct fz_str name;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "10 10 mine\n", 11), 11);
	struct fz_jitmap *map = fz_jitmap_open(path, geteuid());
	assert_true(fz_jitmap_find(map, 0x10, &name));
	fz_jitmap_free(map);
	if (geteuid() == 0) {
		assert_int_equal(fchown(fd, 65534, 65534), 0);
		assert_null(fz_jitmap_open(path, 0));
		assert_null(fz_jitmap_open(path, 1000));
		map = fz_jitmap_open(path, 65534);
		assert_non_null(map);
		fz_jitmap_free(map);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(fz_jitmap_open(path, geteuid()));
	assert_int_equal(unlink(path), 0);
	assert_false(fz_jitmap_find(NULL, 0x10, &name));
	close(fd);
}

static void test_jitmap(void **state)
{
	struct fz_jitmap *map = map_of("2000 100 second\n"
				       "1000 10 first\n"
				       "zz nonsense\n"
				       "\n"
				       "1000 20 first again, moved\n"
				       "ffffffffffffff00 200 over the end\n"
				       "3000 50 cut off");
	struct fz_str name;

	(void)state;
	assert_true(fz_jitmap_find(map, 0x101f, &name));
	assert_true(fz_str_eq(name, FZ_STR("first again, moved")));
	assert_false(fz_jitmap_find(map, 0x1020, &name));
	assert_true(fz_jitmap_find(map, 0x2000, &name));
	assert_true(fz_str_eq(name, FZ_STR("second")));
	assert_false(fz_jitmap_find(map, 0x3000, &name));
	assert_false(fz_jitmap_find(map, 0, &name));
	fz_jitmap_free(map);
	map = map_of("");
	assert_false(fz_jitmap_find(map, 0x1000, &name));
	fz_jitmap_free(map);
}

/* Whatever is in a file, nothing worse than no answer comes of it. */
static void test_damaged(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *good = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	uint32_t seed = 1;

	(void)state;
	assert_true(good != MAP_FAILED);
	for (int round = 0; round < 60; round++) {
		int copy = memfd_create("damaged", MFD_CLOEXEC);
		size_t n = (size_t)size >> (round % 4);
		assert_int_equal(write(copy, good, n), (ssize_t)n);
		for (int k = 0; k < 40; k++) {
			seed = seed * 1664525 + 1013904223;
			/* half of them in the headers */
			off_t at = (off_t)(seed % (k % 2 ? 1024 : n));
			uint8_t byte = (uint8_t)(seed >> 24);
			if (at > 6)
				assert_int_equal(pwrite(copy, &byte, 1, at), 1);
		}
		struct fz_image *image;
		if (fz_image_open(copy, "damaged", &image, NULL))
			continue;
		struct fz_symbols_call calls[FZ_SYMBOLS_CALLS_MAX];
		struct fz_symbols *s = fz_symbols_new(image);
		for (uint64_t at = 0; at < (uint64_t)size; at += 4001) {
			struct fz_row row;
			uint64_t address;
			if (!fz_image_address(image, at, &address))
				continue;
			fz_image_row(image, address, &row);
			fz_image_function_start(image, address, &address);
			if (s)
				fz_symbols_find(s, address, calls);
		}
		fz_symbols_free(s);
		fz_image_free(image);
	}
	munmap(good, (size_t)size);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_function), cmocka_unit_test(test_starts_without_table),
		cmocka_unit_test(test_module_names), cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_demangle),     cmocka_unit_test(test_jitmap),
		cmocka_unit_test(test_jitmap_owner), cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
