/* SPDX-License-Identifier: MIT */
/* Canonical names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "compare/names.h"
#include "hand_profile.h"

static void assert_str(struct fz_str got, const char *want)
{
	fz_auto(fz_free_ptr) char *text = fz_strndup(got.p, got.n);
	assert_string_equal(text, want);
}

/* File of the function with that name. */
static struct fz_str file_of(const struct fz_profile *p, const struct fz_name *names,
			     const char *name)
{
	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_eq(p->strings[p->functions[i].name], fz_str_of(name)))
			return names[i].file;
	fail_msg("no function %s", name);
	return FZ_STR("");
}

static void library_files_lose_version_and_prefix(void **state)
{
	(void)state;
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile(
		"/usr/lib/python3.11/json/decoder.py:decode:1;"
		"/v/lib/python3.13t/site-packages/x/y.py:y:1;<frozen importlib._bootstrap>:f:1;"
		"\\\\h\\v\\Lib\\site-packages\\w\\w.py:w:1;"
		"/usr/lib/python3/dist-packages/apt.py:a:1;~:<GC>:0;<string>:s:1;/h/p/a.py:m:1;"
		"/h/p/q/b.py:n:1 1\n",
		0);
	const struct fz_name *names = fz_names_of(p, &arena);

	assert_str(file_of(p, names, "decode"), "lib/python3/json/decoder.py");
	assert_str(file_of(p, names, "y"), "site-packages/x/y.py");
	assert_str(file_of(p, names, "f"), "lib/python3/importlib/_bootstrap.py");
	assert_str(file_of(p, names, "w"), "site-packages/w/w.py");
	assert_str(file_of(p, names, "a"), "site-packages/apt.py");
	assert_str(file_of(p, names, "<GC>"), "~");
	assert_str(file_of(p, names, "s"), "<string>");
	assert_str(file_of(p, names, "m"), "a.py");
	assert_str(file_of(p, names, "n"), "q/b.py");
	fz_arena_release(&arena);
}

/* Below Python there is code that was compiled elsewhere. */
static void python_files_show_the_root(void **state)
{
	(void)state;
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p =
		hand_profile("Objects/call.c:c:1;/build/x.c:x:1;/h/p/a.py:m:1;/h/p/q/b.py:n:1;/h/p/"
			     "q/ext.c:e:1 1\n",
			     0);

	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_ends(p->strings[p->functions[i].file], ".c"))
			p->functions[i].kind = FZ_KIND_NATIVE;
	const struct fz_name *names = fz_names_of(p, &arena);
	assert_str(file_of(p, names, "c"), "Objects/call.c");
	assert_str(file_of(p, names, "x"), "/build/x.c");
	assert_str(file_of(p, names, "m"), "a.py");
	assert_str(file_of(p, names, "n"), "q/b.py");
	assert_str(file_of(p, names, "e"), "q/ext.c");
	fz_arena_release(&arena);
}

/* The C library's files name no folder, so they do not hide the program's. */
static void files_without_a_folder_hide_no_root(void **state)
{
	(void)state;
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile(
		"../csu/start.c:s:1;/h/p/main.c:m:1;/h/p/q/t.c:t:1;./libio/genops.c:g:1 1\n", 0);

	const struct fz_name *names = fz_names_of(p, &arena);
	assert_str(file_of(p, names, "s"), "../csu/start.c");
	assert_str(file_of(p, names, "m"), "main.c");
	assert_str(file_of(p, names, "t"), "q/t.c");
	assert_str(file_of(p, names, "g"), "./libio/genops.c");
	fz_arena_release(&arena);
}

static void absolute_paths_keep_their_slash(void **state)
{
	(void)state;
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p =
		hand_profile("/srv/app/a.py:m:1;/opt/shared/b.py:n:1 1\n", 0);

	const struct fz_name *names = fz_names_of(p, &arena);
	assert_str(file_of(p, names, "m"), "/srv/app/a.py");
	assert_str(file_of(p, names, "n"), "/opt/shared/b.py");
	fz_arena_release(&arena);
}

/* The checkouts may be NULL. */
static void expect_pair_of(const char *const checkouts[2], const char *base, const char *head,
			   const char *function, const char *base_file, const char *head_file)
{
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile(base, 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(head, 0);
	const struct fz_profile *pair[2] = { a, b };
	struct fz_name *names[2];

	if (checkouts) {
		fz_profile_set_fact(a, "checkout", fz_str_of(checkouts[0]));
		fz_profile_set_fact(b, "checkout", fz_str_of(checkouts[1]));
	}
	assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, NULL), 0);
	assert_str(file_of(a, names[0], function), base_file);
	assert_str(file_of(b, names[1], function), head_file);
	fz_arena_release(&arena);
}

static void expect_pair(const char *base, const char *head, const char *function,
			const char *base_file, const char *head_file)
{
	expect_pair_of(NULL, base, head, function, base_file, head_file);
}

static void roots_of_a_pair(void **state)
{
	(void)state;
	/* another checkout */
	expect_pair("/x/old/app.py:m:1;/x/old/p/u.py:u:1 1", "/y/app.py:m:1;/y/p/u.py:u:1 1", "u",
		    "p/u.py", "p/u.py");
	/* one side sampled one package only */
	expect_pair("/a/proj/pkg/m.py:f:1 1", "/b/proj/main.py:g:1;/b/proj/pkg/m.py:f:1 1", "f",
		    "pkg/m.py", "pkg/m.py");
	/* a folder name that both roots share is not part of the name */
	expect_pair("/a/proj/m.py:f:1 1", "/b/proj/m.py:f:1 1", "f", "m.py", "m.py");
	/* the same checkout */
	expect_pair("/a/m.py:f:1;/a/lib/z.py:z:1 1", "/a/m.py:f:1 1", "f", "m.py", "m.py");
	/* a moved file does not carry the others along */
	expect_pair("/a/m.py:m:1;/a/n.py:n:1;/a/u.py:u:1 1",
		    "/b/m.py:m:1;/b/n.py:n:1;/b/lib/u.py:u:1 1", "u", "u.py", "lib/u.py");
	/* Windows, and the same files elsewhere */
	expect_pair("\\\\h\\a\\app.py:m:1;\\\\h\\a\\p\\u.py:u:1 1",
		    "\\\\k\\b\\c\\app.py:m:1;\\\\k\\b\\c\\p\\u.py:u:1 1", "u", "p/u.py", "p/u.py");
	expect_pair("\\\\h\\a\\app.py:m:1;\\\\h\\a\\p\\u.py:u:1 1", "/y/app.py:m:1;/y/p/u.py:u:1 1",
		    "u", "p/u.py", "p/u.py");
	/* only the slash in common: it stays */
	expect_pair("/a/m.py:f:1;/opt/z.py:z:1 1", "/a/m.py:f:1;/opt/z.py:z:1 1", "f", "/a/m.py",
		    "/a/m.py");
	/* nothing in common: each its own */
	expect_pair("/a/old.py:f:1 1", "/b/c/new.py:f:1 1", "f", "old.py", "new.py");
}

/* Sources of the C library are at the same place for both sides, however many there are. */
static void files_outside_the_checkouts_have_no_vote(void **state)
{
	(void)state;
	const char *const apart[] = { "/w/b", "/home/me/app" };
	const char *const same[] = { "/a", "/a" };
#define LIBC "./elf/rtld.c:s:1;../csu/libc-start.c:l:1;/usr/include/emm.h:e:1;"
	expect_pair_of(apart, LIBC "/w/b/m.c:m:1 1", LIBC "/home/me/app/m.c:m:1 1", "m", "m.c",
		       "m.c");
	expect_pair_of(apart, LIBC "/w/b/m.c:m:1 1", LIBC "/home/me/app/m.c:m:1 1", "e",
		       "/usr/include/emm.h", "/usr/include/emm.h");
	/* the same sources by two names */
	expect_pair_of(apart,
		       "./s/../x/i.h:i:1;../x/i.h:j:1;./s/../x/k.h:k:1;../x/k.h:l:1;"
		       "/w/b/m.c:m:1 1",
		       "./s/../x/i.h:i:1;../x/i.h:j:1;./s/../x/k.h:k:1;../x/k.h:l:1;"
		       "/home/me/app/m.c:m:1 1",
		       "m", "m.c", "m.c");
	/* a moved file, and one that only starts like the checkout's path */
	expect_pair_of(same, "/a/m.c:m:1;/a/p/u.c:u:1 1", "/a/m.c:m:1;/a/q/u.c:u:1 1", "u", "p/u.c",
		       "q/u.c");
	expect_pair_of(apart, "/w/b2/x.c:x:1;/w/b/m.c:m:1 1",
		       "/w/b2/x.c:x:1;/home/me/app/m.c:m:1 1", "m", "m.c", "m.c");
#undef LIBC
}

static void weaker_side_decides_about_files(void **state)
{
	(void)state;
	static const char *const heads[] = { "a.py:f:1 1", "f 1" };
	static const char *const keys[] = { "a.py", "" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(heads); i++) {
		struct fz_arena arena = { 0 };
		fz_auto(fz_profile_freep) struct fz_profile *a =
			hand_profile("/r/s.py:g:1;/r/p/a.py:f:1 1", 0);
		fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(heads[i], 0);
		const struct fz_profile *pair[2] = { a, b };
		struct fz_name *names[2];

		assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, NULL), 0);
		assert_str(names[0][1].key, keys[i]);
		assert_str(names[1][0].key, keys[i]);
		fz_arena_release(&arena);
	}
}

static void expect_keys(const char *base, const char *head, const char *key)
{
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile(base, 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile(head, 0);
	const struct fz_profile *pair[2] = { a, b };
	struct fz_name *names[2];

	assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, NULL), 0);
	for (int s = 0; s < 2; s++)
		assert_str(names[s][pair[s]->function_count - 1].key, key);
	fz_arena_release(&arena);
}

/* What one format has of a function and another one has not. */
static void formats_without_files_or_objects(void **state)
{
	(void)state;
	/* markers: CPython's "~" is not a file */
	expect_keys("a.py:f:1;<CPU wait> 1", "a.py:f:1;~:<CPU wait>:0 1", "");
	/* speedscope, V8: the object takes the place of the file, with its build id, in any folder
	 */
	expect_keys("a.py:f:1;/usr/lib/libz.so.1.2 4ca7b79d949e1c43:deflate:0 1",
		    "a.py:f:1;/opt/libz.so.1.2 0123456789abcdef:deflate:0 1", "libz.so.1.2");
	expect_keys("a.py:f:1;/usr/bin/cc1 4ca7b79d949e1c43:main:0 1",
		    "a.py:f:1;/opt/cc1 0123456789abcdef:main:0 1", "cc1");
	/* CPython's binary format: neither */
	expect_keys("a.py:f:1;/usr/lib/libz.so.1.2:deflate:0 1", "a.py:f:1;~:deflate:0 1", "");
	/* a module of Python's is none */
	expect_keys("/p/a.py:f:1;/p/x.so.py:g:1 1", "/q/a.py:f:1;/q/x.so.py:g:1 1", "x.so.py");
}

static void function_names(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
		enum fz_kind kind;
	} cases[] = {
		{ "work.isra.0.constprop.12", "work", FZ_KIND_NATIVE },
		{ "work.cold", "work", FZ_KIND_NATIVE },
		{ "Cache.cold", "Cache.cold", FZ_KIND_PYTHON },
		{ "part.1", "part.1", FZ_KIND_NATIVE },
		{ "write@plt", "write", FZ_KIND_NATIVE },
		{ "core::fmt::h0123456789abcdef", "core::fmt", FZ_KIND_NATIVE },
		{ "Foo$$Lambda$12/0x7f001", "Foo$$Lambda", FZ_KIND_UNKNOWN },
		{ "<lambda at 0x7f01ab>", "<lambda at 0x...>", FZ_KIND_PYTHON },
		{ "0x1f and 0x2e", "0x... and 0x...", FZ_KIND_UNKNOWN },
		{ "0x", "0x", FZ_KIND_UNKNOWN },
		{ "Task-12", "Task", FZ_KIND_TASK },
		{ "<task Task-12>", "<task Task>", FZ_KIND_TASK },
		{ "<task Task-x>", "<task Task-x>", FZ_KIND_TASK },
		{ "<task Task-7 (2 parents)>", "<task Task (2 parents)>", FZ_KIND_TASK },
		{ "Task-12", "Task-12", FZ_KIND_PYTHON },
		{ "42", "42", FZ_KIND_NATIVE },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_arena arena = { 0 };
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		fz_profile_frame_named(p, fz_str_of(cases[i].in), FZ_STR(""), 0, cases[i].kind);
		assert_str(fz_names_of(p, &arena)[0].name, cases[i].out);
		fz_arena_release(&arena);
	}
}

/* Names that are addresses: kept alone, and in a pair only where they mean the same. */
static void addresses_as_names(void **state)
{
	static const char *const of_base[] = { "0x1163", "0x115f", "0x11a4" };
	static const char *const near[] = { "0x1163", "0x115f", "0x2000" };
	static const char *const far[] = { "0x1163", "0x515f", "0x51a4" };
	const struct {
		const char *const *head;
		const char *expected;
	} cases[] = { { near, "0x1163" }, { far, "0x..." } };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_arena arena = { 0 };
		fz_auto(fz_profile_freep) struct fz_profile *base = fz_profile_new();
		fz_auto(fz_profile_freep) struct fz_profile *head = fz_profile_new();
		struct fz_name *names[2];
		struct fz_error err;
		for (int k = 0; k < 3; k++) {
			fz_profile_frame_named(base, fz_str_of(of_base[k]), FZ_STR(""), 0,
					       FZ_KIND_NATIVE);
			fz_profile_frame_named(head, fz_str_of(cases[i].head[k]), FZ_STR(""), 0,
					       FZ_KIND_NATIVE);
		}
		assert_str(fz_names_of(base, &arena)[0].name, "0x1163");
		const struct fz_profile *const pair[] = { base, head };
		assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, &err), 0);
		assert_str(names[0][0].name, cases[i].expected);
		fz_arena_release(&arena);
	}
}

/* Names of both sides by index; their functions are native and have no file. */
static void expect_names(const char *const base[], const char *const head[],
			 const char *const base_names[], const char *const head_names[], size_t n)
{
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *b = fz_profile_new();
	const struct fz_profile *const pair[] = { a, b };
	struct fz_name *names[2];
	struct fz_error err;

	for (size_t i = 0; i < n; i++) {
		fz_profile_frame_named(a, fz_str_of(base[i]), FZ_STR(""), 0, FZ_KIND_NATIVE);
		fz_profile_frame_named(b, fz_str_of(head[i]), FZ_STR(""), 0, FZ_KIND_NATIVE);
	}
	assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, &err), 0);
	for (size_t i = 0; i < n; i++) {
		assert_str(names[0][i].name, base_names[i]);
		assert_str(names[1][i].name, head_names[i]);
	}
	fz_arena_release(&arena);
}

static void names_of_two_rust_manglings(void **state)
{
	(void)state;
	static const char *const legacy[] = {
		"a::Tree<T>::sum",
		"a::sort_by::{{closure}}::h0123456789abcdef",
		"alloc::slice::<impl [T]>::sort_by_key",
		"core::num::<impl u64>::wrapping_mul",
		"core::iter::range::<impl core::Iterator for core::Range<A>>::next",
		"<T as alloc::ToString>::to_string",
		"core::Iterator::fold",
		"core::ptr::drop_in_place<alloc::Vec<u8>>",
	};
	static const char *const v0[] = {
		"<a::Tree<fn(u32) -> u32>>::sum",
		"a::sort_by::<u64, a::main::{closure#0}>::{closure#2}",
		"<[u64]>::sort_by_key::<u64, a::f<u64>::{closure#0}>",
		"<u64>::wrapping_mul",
		"<core::Range<usize> as core::Iterator>::next",
		"<i32 as alloc::ToString>::to_string",
		"<core::Map<I> as core::Iterator>::fold::<()>",
		"core::ptr::drop_in_place::<alloc::Vec<u8>>",
	};
	static const char *const both[] = {
		"a::Tree::sum",
		"a::sort_by::{closure}",
		"[_]::sort_by_key",
		"u64::wrapping_mul",
		"<core::Range as core::Iterator>::next",
		"alloc::ToString::to_string",
		"core::Iterator::fold",
		"core::ptr::drop_in_place",
	};
	static const char *const plain[] = { "a::sum::<u8>", "a::sum::<u64>" };
	static const char *const broken[] = { "a::{{closure}}", "b::<c", "::", "d>::e", "<<f as" };
	static const char *const odd[] = { "a::f::<u8>", "<>::b", "a::", "<", "" };
	static const char *const kept[] = { "a::{closure}", "b::<c", "::", "d>::e", "<<f as" };
	static const char *const kept_odd[] = { "a::f", "<>::b", "a", "<", "" };

	expect_names(legacy, v0, both, both, FZ_ARRAY_LEN(both));
	expect_names(plain, plain, plain, plain, FZ_ARRAY_LEN(plain));
	expect_names(broken, odd, kept, kept_odd, FZ_ARRAY_LEN(odd));
}

/* Another compiler, and another release of a crate. */
static void rust_libraries_lose_versions(void **state)
{
	(void)state;
	expect_pair("/rustc/59807616/library/core/src/i.rs:i:1;/w/a.rs:a:1 1",
		    "/rustc/e50aa6fb/library/core/src/i.rs:i:1;/w/a.rs:a:1 1", "i",
		    "library/core/src/i.rs", "library/core/src/i.rs");
	expect_pair("/h/.cargo/registry/src/index.crates.io-6f1/once-cell-1.2.0-rc/src/l.rs:l:1 1",
		    "/h/.cargo/registry/src/github.com-1ec/once-cell-1.19.0/src/l.rs:l:1 1", "l",
		    "once-cell/src/l.rs", "once-cell/src/l.rs");
	expect_pair("/rust/deps/hashbrown-0.16.1/src/m.rs:m:1 1",
		    "/rust/deps/hashbrown-0.17.0/src/m.rs:m:1 1", "m", "hashbrown/src/m.rs",
		    "hashbrown/src/m.rs");
	/* a library that is named without a folder says nothing about the program's */
	expect_pair("library/std/src/rt.rs:r:1;library/std/src/panic.rs:p:1;/w/one/a.rs:a:1 1",
		    "library/std/src/rt.rs:r:1;library/std/src/panic.rs:p:1;/v/two/a.rs:a:1 1", "a",
		    "a.rs", "a.rs");
	expect_pair("/h/registry/src/x.rs:x:1;/h/a.rs:a:1 1",
		    "/h/registry/src/x.rs:x:1;/h/a.rs:a:1 1", "x", "registry/src/x.rs",
		    "registry/src/x.rs");
}

/* Of two builds of one program. */
static void programs_of_two_names_are_one_object(void **state)
{
	(void)state;
	struct fz_arena arena = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *a = fz_profile_new();
	fz_auto(fz_profile_freep) struct fz_profile *b = fz_profile_new();
	const struct fz_profile *const pair[] = { a, b };
	struct fz_name *names[2];
	struct fz_error err;

	fz_profile_set_fact(a, "program", FZ_STR("app_old"));
	fz_profile_set_fact(b, "program", FZ_STR("app_new"));
	for (int s = 0; s < 2; s++) {
		struct fz_profile *p = s ? b : a;
		const char *program = s ? "/y/app_new" : "/x/app_old";
		uint32_t frame =
			fz_profile_frame_named(p, FZ_STR("_start"), FZ_STR(""), 0, FZ_KIND_NATIVE);
		p->functions[p->frames[frame].function].module =
			fz_profile_string(p, fz_str_of(program));
		fz_profile_frame_named(p, FZ_STR("main"), FZ_STR("m.c"), 1, FZ_KIND_NATIVE);
		frame = fz_profile_frame_named(p, FZ_STR("f"), FZ_STR(""), 0, FZ_KIND_NATIVE);
		p->functions[p->frames[frame].function].module =
			fz_profile_string(p, FZ_STR("/lib/libx.so"));
	}
	assert_int_equal(fz_names_of_pair(pair, NULL, &arena, names, &err), 0);
	assert_str(names[0][0].key, "app_new");
	assert_str(names[1][0].key, "app_new");
	assert_str(names[0][0].file, "app_old");
	assert_str(names[0][2].key, "libx.so");
	fz_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library_files_lose_version_and_prefix),
		cmocka_unit_test(python_files_show_the_root),
		cmocka_unit_test(files_without_a_folder_hide_no_root),
		cmocka_unit_test(absolute_paths_keep_their_slash),
		cmocka_unit_test(roots_of_a_pair),
		cmocka_unit_test(files_outside_the_checkouts_have_no_vote),
		cmocka_unit_test(weaker_side_decides_about_files),
		cmocka_unit_test(formats_without_files_or_objects),
		cmocka_unit_test(function_names),
		cmocka_unit_test(addresses_as_names),
		cmocka_unit_test(names_of_two_rust_manglings),
		cmocka_unit_test(rust_libraries_lose_versions),
		cmocka_unit_test(programs_of_two_names_are_one_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
