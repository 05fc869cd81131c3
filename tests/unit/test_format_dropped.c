/* SPDX-License-Identifier: MIT */
/* pprof's drop_frames and keep_frames: the patterns, and the remaining stacks. */
#include "format/framepattern.h"
#include "format/wire.h"
#include "read_format.h"

/* ---- patterns ---- */

static bool matches(const char *pattern, const char *name)
{
	struct fz_framepattern *p = fz_framepattern_new(fz_str_of(pattern));

	if (!p)
		fail_msg("'%s' is refused", pattern);
	bool yes = fz_framepattern_matches(p, fz_str_of(name));
	/* Matching a name does not depend on earlier ones. */
	assert_true(fz_framepattern_matches(p, fz_str_of(name)) == yes);
	fz_framepattern_free(p);
	return yes;
}

static void test_matches(void **state)
{
	static const struct {
		const char *pattern, *yes, *no;
	} cases[] = {
		{ "malloc", "malloc", "malloc2" },
		{ "calloc|malloc|free", "malloc", "alloc" },
		{ "malloc|", "", "m" },
		{ "(__)?posix_memalign", "__posix_memalign", "_posix_memalign" },
		{ "runtime\\..*", "runtime.mallocgc", "runtimeXmallocgc" },
		{ "operator new(\\[\\])?", "operator new[]", "operator new[" },
		{ "__builtin_(vec_)?(new|delete)", "__builtin_vec_delete", "__builtin_vec_" },
		{ "runtime\\.call[0-9]*", "runtime.call32", "runtime.callx" },
		{ "a+b*c?", "aab", "b" },
		{ "(?:ab)+?", "abab", "aba" },
		{ "a{2}", "aa", "aaa" },
		{ "a{2,}", "aaaa", "a" },
		{ "a{2,3}b", "aaab", "aaaab" },
		{ "a{0,1}", "", "aa" },
		{ "xa{0}y", "xy", "xay" },
		{ "(a|b{2}){2}", "bba", "bb" },
		{ "a{x", "a{x", "a" },
		{ "[^a-c]x", "dx", "bx" },
		{ "[\\]\\-a]", "]", "b" },
		{ "[\\d_]+", "1_2", "a" },
		{ "\\w\\s\\D", "a b", "a 1" },
		{ "[a-]", "-", "b" },
		{ "^f$", "f", "^f$" },
		{ "(a*)*", "aaa", "b" },
		{ "(|a)+", "a", "b" },
		{ "f.", "f\xc3\xa9", "f" },
		{ "[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", "e" },
		{ ".", "\xff", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		if (!matches(cases[i].pattern, cases[i].yes))
			fail_msg("'%s' does not match '%s'", cases[i].pattern, cases[i].yes);
		if (matches(cases[i].pattern, cases[i].no))
			fail_msg("'%s' matches '%s'", cases[i].pattern, cases[i].no);
	}
}

static void test_refused(void **state)
{
	static const char *const patterns[] = {
		"(",
		")",
		"a)",
		"(a",
		"*",
		"a**",
		"[a",
		"[]",
		"\\",
		"\\b",
		"\\pL",
		"(?i)a",
		"(?P<n>a)",
		"[[:alpha:]]",
		"a{3,2}",
		"[\\x41]",
		"(a{1000}){1000}",
		"[a\\",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(patterns); i++)
		if (fz_framepattern_new(fz_str_of(patterns[i])))
			fail_msg("'%s' is not refused", patterns[i]);
}

/* What takes other matchers years. */
static void test_hostile(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf deep = { 0 }, name = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++) {
		fz_buf_char(&deep, '(');
		fz_buf_char(&name, 'a');
	}
	assert_null(fz_framepattern_new(fz_buf_view(&deep)));
	fz_buf_char(&name, 'b');
	assert_false(matches("(a*)*(a|aa)+(.*)*c", name.p));
}

/* ---- profiles ---- */

struct builder {
	struct fz_buf locations, functions, strings, ids;
	uint8_t n;
};

static void add_function(struct builder *b, struct fz_buf *location, struct fz_str name)
{
	uint8_t id = ++b->n;
	const char function[] = { 0x08, (char)id, 0x10, (char)(id + 4) },
		   line[] = { 0x08, (char)id };

	fz_wire_put_bytes(location, 4, (struct fz_str){ line, sizeof(line) });
	fz_wire_put_bytes(&b->functions, 5, (struct fz_str){ function, sizeof(function) });
	fz_wire_put_bytes(&b->strings, 6, name);
}

/* Functions of one location are joined by "<", innermost first. */
static void add_location(struct builder *b, struct fz_str text)
{
	fz_auto(fz_buf_release) struct fz_buf location = { 0 };

	fz_buf_char(&location, 0x08);
	fz_buf_char(&location, (char)(b->n + 1));
	fz_buf_char(&b->ids, (char)(b->n + 1));
	while (text.n) {
		const char *end = memchr(text.p, '<', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		add_function(b, &location, (struct fz_str){ text.p, n });
		text = (struct fz_str){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
	}
	fz_wire_put_bytes(&b->locations, 4, fz_buf_view(&location));
}

static void put_sample(struct fz_buf *file, const struct builder *b)
{
	fz_auto(fz_buf_release) struct fz_buf sample = { 0 };

	fz_wire_put_bytes(&sample, 1, fz_buf_view(&b->ids));
	fz_wire_put_bytes(&sample, 2, FZ_STR("\x05"));
	fz_wire_put_bytes(file, 2, fz_buf_view(&sample));
}

/* A profile of one stack; locations are joined by "|", innermost first. */
static struct fz_profile *load_stack(const char *drop, const char *keep, const char *stack)
{
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	struct builder b = { 0 };
	struct fz_profile *p = NULL;
	struct fz_error err;

	const char *const strings[] = { "", "samples", "count", drop, keep };
	for (size_t i = 0; i < FZ_ARRAY_LEN(strings); i++)
		fz_wire_put_bytes(&b.strings, 6, fz_str_of(strings[i]));
	for (struct fz_str text = fz_str_of(stack); text.n;) {
		const char *end = memchr(text.p, '|', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		add_location(&b, (struct fz_str){ text.p, n });
		text = (struct fz_str){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
	}
	fz_wire_put_bytes(&file, 1, FZ_STR("\x08\x01\x10\x02"));
	put_sample(&file, &b);
	struct fz_buf *const parts[] = { &b.locations, &b.functions, &b.strings };
	for (size_t i = 0; i < FZ_ARRAY_LEN(parts); i++)
		fz_buf_add(&file, parts[i]->p, parts[i]->n);
	fz_buf_add(&file, "\x38\x03\x40\x04", 4);
	for (size_t i = 0; i < FZ_ARRAY_LEN(parts); i++)
		fz_buf_release(parts[i]);
	fz_buf_release(&b.ids);
	if (load_bytes(file.p, file.n, "x", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

/* As profile.Prune of Go's pprof leaves them. */
static void test_stacks(void **state)
{
	static const struct {
		const char *drop, *keep, *stack, *wanted;
	} cases[] = {
		{ "", "", "new|reserve|main", "main;reserve;new" },
		{ "new", "", "new|reserve|main", "main;reserve" },
		{ "new|malloc", "", "sbrk|malloc|new|reserve|main", "main;reserve" },
		/* The outermost that matches: what a dropped function calls goes with it. */
		{ "new", "", "new|hook|new|main", "main" },
		{ "new.*", "new_hook", "new_hook|main", "main;new_hook" },
		{ "", "main", "new|main", "main;new" },
		/* Frames before the first that stays are kept. */
		{ "main|new", "", "new|load|main", "main;load" },
		{ "main|new", "", "new|main", "main;new" },
		/* Inlined: what is outside of the match stays. */
		{ "new", "", "hook<new<reserve|main", "main;reserve" },
		{ "new", "", "hook|new<reserve|main", "main;reserve" },
		{ "reserve", "", "new<reserve|main", "main" },
		{ "new", "", "a|new<reserve", "reserve;a" },
		/* Arguments are not part of the name. */
		{ "operator new", "", "operator new(unsigned long)|main", "main" },
		{ "\\(anonymous namespace\\)::f", "", "(anonymous namespace)::f(int)|main",
		  "main" },
		{ "T::operator\\(\\)", "", "T::operator()(int) const|main", "main" },
		{ "f", "", ".f|main", "main" },
		{ "f", "", "f1|main", "main;f1" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p =
			load_stack(cases[i].drop, cases[i].keep, cases[i].stack);
		fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_folded);
		fz_auto(fz_free_ptr) char *wanted = fz_asprintf("%s 5\n", cases[i].wanted);
		assert_string_equal(got.p, wanted);
		assert_int_equal(fz_profile_fact(p, "notes").n, 0);
	}
}

/* Then nothing is dropped, which reports show. */
static void test_unreadable_pattern(void **state)
{
	static const char *const patterns[][2] = { { "(?i)new", "" }, { "new", "\\pL" } };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(patterns); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p =
			load_stack(patterns[i][0], patterns[i][1], "new|main");
		fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_folded);
		struct fz_str notes = fz_profile_fact(p, "notes");
		assert_string_equal(got.p, "main;new 5\n");
		assert_non_null(memmem(notes.p, notes.n, i ? "keep_frames" : "drop_frames", 11));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_unreadable_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
