/* SPDX-License-Identifier: MIT */
/* Call trees folded for reading: whatever is folded, no cost is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/call_tree.h"

#define LIB "/usr/lib/python3.11/"

/* Functions of the trees below. */
enum { MODULE, MAIN, DUMPS, ENCODE, FLOATS, FIND, EXEC, JSON, UTIL, RUNPY, SITE, FUNCTIONS };

static const struct fz_call_function functions[FUNCTIONS] = {
	[MODULE] = { .name = { "<module>", 8 },
		     .place.file = { "main.py", 7 },
		     .own = true,
		     .recurs = true },
	[MAIN] = { .name = { "main", 4 },
		   .place.file = { "main.py", 7 },
		   .own = true,
		   .recurs = true },
	[DUMPS] = { .name = { "dumps", 5 }, .place.file = { LIB "json/__init__.py", 36 } },
	[ENCODE] = { .name = { "encode", 6 }, .place.file = { LIB "json/encoder.py", 35 } },
	[FLOATS] = { .name = { "floatstr", 8 },
		     .place.file = { LIB "json/encoder.py", 35 },
		     .keep = true },
	[FIND] = { .name = { "_find_and_load", 14 },
		   .place.file = { LIB "importlib/_bootstrap.py", 43 },
		   .keep = true },
	[EXEC] = { .name = { "exec_module", 11 },
		   .place.file = { LIB "importlib/_bootstrap_external.py", 52 } },
	[JSON] = { .name = { "<module>", 8 }, .place.file = { LIB "json/__init__.py", 36 } },
	[UTIL] = { .name = { "<module>", 8 },
		   .place.file = { "app/util.py", 11 },
		   .own = true,
		   .recurs = true },
	[RUNPY] = { .name = { "_run_code", 9 }, .place.file = { "<frozen runpy>", 14 } },
	[SITE] = { .name = { "main", 4 }, .place.file = { LIB "site.py", 27 } },
};

enum { NODES_MAX = 400 };

struct source {
	struct fz_call_source s;
	uint32_t function[NODES_MAX], parent[NODES_MAX];
	int64_t base[NODES_MAX], head[NODES_MAX];
	bool marked[NODES_MAX];
};

static void begin(struct source *s)
{
	memset(s, 0, sizeof(*s));
	s->s = (struct fz_call_source){ .function = s->function,
					.parent = s->parent,
					.self = { s->base, s->head },
					.marked = s->marked };
}

static uint32_t node(struct source *s, uint32_t parent, uint32_t function, int64_t self)
{
	s->parent[s->s.n] = parent;
	s->function[s->s.n] = function;
	s->head[s->s.n] = self;
	return s->s.n++;
}

static struct fz_call_tree tree_of(const struct source *s, enum fz_call_fold fold)
{
	struct fz_call_tree t = { .functions = functions, .function_count = FUNCTIONS };

	fz_call_tree_add(&t, FZ_NONE, &s->s, fold);
	fz_call_tree_sum(&t);
	return t;
}

/* "kind function total": the row's children in order of their making. */
static const struct fz_call *child(const struct fz_call_tree *t, const struct fz_call *parent,
				   enum fz_call_kind kind)
{
	uint32_t at = parent ? (uint32_t)(parent - t->calls) : FZ_NONE;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->calls[i].parent == at && t->calls[i].kind == kind)
			return &t->calls[i];
	fail_msg("there is no such row");
	return NULL;
}

static uint32_t count_children(const struct fz_call_tree *t, const struct fz_call *parent)
{
	uint32_t at = parent ? (uint32_t)(parent - t->calls) : FZ_NONE, n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->calls[i].parent == at;
	return n;
}

static void a_library_is_one_row_below_its_entry(void **state)
{
	static struct source s;

	(void)state;
	begin(&s);
	uint32_t main = node(&s, node(&s, FZ_NONE, MODULE, 1), MAIN, 2);
	uint32_t dumps = node(&s, main, DUMPS, 4);
	uint32_t encode = node(&s, dumps, ENCODE, 8);
	node(&s, node(&s, encode, SITE, 16), MAIN, 32);
	node(&s, encode, FLOATS, 64);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_FOREIGN);
	const struct fz_call *entry =
		child(&t, child(&t, child(&t, NULL, FZ_CALL_FUNCTION), FZ_CALL_FUNCTION),
		      FZ_CALL_FUNCTION);
	assert_int_equal(entry->function, DUMPS);
	assert_int_equal(entry->self[FZ_HEAD], 4);
	assert_int_equal(count_children(&t, entry), 1);
	const struct fz_call *hidden = child(&t, entry, FZ_CALL_HIDDEN);
	assert_int_equal(hidden->frames, 2);
	assert_int_equal(hidden->self[FZ_HEAD], 24);
	assert_int_equal(hidden->total[FZ_HEAD], 120);
	assert_int_equal(count_children(&t, hidden), 2); /* own code, and what is to be kept */
	struct fz_buf names = { 0 };
	fz_call_packages(&t, (uint32_t)(hidden - t.calls), &names);
	assert_string_equal(names.p, "json, site"); /* packages that load modules come last */
	fz_buf_release(&names);
	fz_call_tree_release(&t);
}

static void one_hidden_frame_is_shown(void **state)
{
	static struct source s;

	(void)state;
	begin(&s);
	uint32_t dumps = node(&s, node(&s, FZ_NONE, MODULE, 1), DUMPS, 1);
	node(&s, node(&s, dumps, ENCODE, 1), ENCODE, 1);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_FOREIGN);
	const struct fz_call *entry =
		child(&t, child(&t, NULL, FZ_CALL_FUNCTION), FZ_CALL_FUNCTION);
	const struct fz_call *encode = child(&t, entry, FZ_CALL_FUNCTION);
	assert_int_equal(encode->function, ENCODE);
	assert_int_equal(encode->self[FZ_HEAD], 2);
	fz_call_tree_release(&t);
}

static void imports_are_below_their_importer(void **state)
{
	static struct source s;

	(void)state;
	begin(&s);
	uint32_t module = node(&s, FZ_NONE, MODULE, 1);
	uint32_t exec = node(&s, node(&s, module, FIND, 2), EXEC, 4);
	uint32_t json = node(&s, exec, JSON, 8);
	node(&s, node(&s, json, FIND, 16), ENCODE, 32);
	node(&s, exec, UTIL, 64);
	node(&s, exec, SITE, 128);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_FOREIGN);
	const struct fz_call *top = child(&t, NULL, FZ_CALL_FUNCTION);
	assert_int_equal(child(&t, top, FZ_CALL_MACHINERY)->total[FZ_HEAD], 2 + 4 + 128);
	const struct fz_call *import = child(&t, top, FZ_CALL_IMPORT);
	assert_int_equal(import->function, JSON);
	assert_int_equal(import->total[FZ_HEAD], 8 + 16 + 32);
	assert_int_equal(count_children(&t, top), 3);
	fz_call_tree_release(&t);
}

static void startup_is_one_row(void **state)
{
	static struct source s;

	(void)state;
	begin(&s);
	node(&s, node(&s, node(&s, FZ_NONE, FIND, 1), SITE, 2), ENCODE, 4);
	node(&s, node(&s, FZ_NONE, RUNPY, 8), MODULE, 16);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_FOREIGN);
	assert_int_equal(child(&t, NULL, FZ_CALL_STARTUP)->total[FZ_HEAD], 15);
	assert_int_equal(child(&t, NULL, FZ_CALL_FUNCTION)->total[FZ_HEAD], 16);
	fz_call_tree_release(&t);
}

static void deep_recursion_is_one_row(void **state)
{
	static struct source s;

	(void)state;
	for (uint32_t deep = 3; deep < 7; deep++) {
		begin(&s);
		uint32_t at = FZ_NONE;
		for (uint32_t i = 0; i < deep; i++)
			at = node(&s, node(&s, at, MAIN, 1), UTIL, 10);
		struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_NOTHING);
		const struct fz_call *top = child(&t, NULL, FZ_CALL_FUNCTION);
		assert_int_equal(top->total[FZ_HEAD], 11 * deep);
		assert_int_equal(top->self[FZ_HEAD], deep > 4 ? deep : 1);
		assert_int_equal(top->deep, deep > 4 ? deep : 1);
		assert_int_equal(top->entries, 1);
		assert_int_equal(t.n, deep > 4 ? 2 : 2 * deep);
		fz_call_tree_release(&t);
	}
}

static void without_own_code_only_imports_are_folded(void **state)
{
	static struct source s;

	(void)state;
	begin(&s);
	uint32_t dumps = node(&s, FZ_NONE, DUMPS, 1);
	node(&s, node(&s, dumps, ENCODE, 2), FLOATS, 4);
	uint32_t exec = node(&s, node(&s, dumps, FIND, 8), EXEC, 16);
	node(&s, exec, JSON, 32);
	node(&s, node(&s, FZ_NONE, FIND, 64), SITE, 128);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_IMPORTS);
	const struct fz_call *top = child(&t, NULL, FZ_CALL_FUNCTION);
	assert_int_equal(count_children(&t, top), 3);
	assert_int_equal(child(&t, top, FZ_CALL_FUNCTION)->function, ENCODE);
	assert_int_equal(child(&t, top, FZ_CALL_MACHINERY)->total[FZ_HEAD], 24);
	assert_int_equal(child(&t, top, FZ_CALL_IMPORT)->total[FZ_HEAD], 32);
	assert_int_equal(child(&t, NULL, FZ_CALL_STARTUP)->total[FZ_HEAD], 192);
	fz_call_tree_release(&t);
}

/* What recurs because it is what all calls go through. */
static void interpreter_frames_are_not_recursion(void **state)
{
	static struct source s;
	uint32_t at = FZ_NONE;

	(void)state;
	begin(&s);
	for (int i = 0; i < 10; i++)
		at = node(&s, at, ENCODE, 1);
	struct fz_call_tree t = tree_of(&s, FZ_CALL_FOLD_NOTHING);
	assert_int_equal(t.n, 10);
	assert_int_equal(t.calls[0].deep, 1);
	fz_call_tree_release(&t);
}

static uint32_t random_below(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % n;
}

/* A preorder: each node's parent is the node before it or one of that one's callers. */
static void make_random(struct source *s, uint32_t *seed)
{
	begin(s);
	s->s.inverted = random_below(seed, 4) == 0;
	while (s->s.n < NODES_MAX) {
		uint32_t parent = s->s.n - 1; /* FZ_NONE at first */
		for (uint32_t up = random_below(seed, 6); up > 3 && parent != FZ_NONE; up--)
			parent = s->parent[parent];
		uint32_t i = node(s, parent, random_below(seed, FUNCTIONS), random_below(seed, 3));
		s->base[i] = random_below(seed, 3);
		s->marked[i] = random_below(seed, 50) == 0;
	}
}

static void nothing_is_lost(void **state)
{
	static struct source s;
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		int64_t want[FZ_SIDES] = { 0 }, got[FZ_SIDES] = { 0 }, behind = 0, hidden = 0;
		bool marked = false, found = false;
		make_random(&s, &seed);
		struct fz_call_tree t = tree_of(&s, round % 3);
		for (uint32_t i = 0; i < s.s.n; i++) {
			want[FZ_BASE] += s.base[i];
			want[FZ_HEAD] += s.head[i];
			marked |= s.marked[i];
		}
		for (uint32_t i = 0; i < t.n; i++) {
			const struct fz_call *c = &t.calls[i];
			assert_true(c->parent == FZ_NONE || c->parent < i);
			found |= c->marked;
			for (int side = 0; c->parent == FZ_NONE && side < FZ_SIDES; side++)
				got[side] += c->total[side];
			if (c->members != FZ_NONE)
				hidden += c->self[FZ_BASE] + c->self[FZ_HEAD];
		}
		for (uint32_t i = 0; i < t.member_count; i++)
			behind += t.members[i].self;
		assert_int_equal(got[FZ_BASE], want[FZ_BASE]);
		assert_int_equal(got[FZ_HEAD], want[FZ_HEAD]);
		assert_int_equal(behind, hidden);
		assert_int_equal(marked, found);
		fz_call_tree_release(&t);
	}
}

static void callees_of_own_code_are_own(void **state)
{
	static struct source s;
	struct fz_call_tree t = { .functions = functions, .function_count = FUNCTIONS };

	(void)state;
	begin(&s);
	node(&s, node(&s, FZ_NONE, MODULE, 0), DUMPS, 5);
	node(&s, FZ_NONE, ENCODE, 5);
	assert_true(fz_call_source_is_own(&t, &s.s));
	s.head[2] = 6;
	assert_false(fz_call_source_is_own(&t, &s.s));
	begin(&s);
	assert_false(fz_call_source_is_own(&t, &s.s));
}

static void modules_have_the_names_that_import_has(void **state)
{
	static const struct {
		const char *file, *module;
	} cases[] = {
		{ "lib/python3/json/decoder.py", "json.decoder" },
		{ "/usr/lib/python3.11/json/__init__.py", "json" },
		{ "/srv/.venv/lib/python3.13/site-packages/rich/text.py", "rich.text" },
		{ "site-packages/rich/__init__.py", "rich" },
		{ "<frozen importlib._bootstrap>", "importlib._bootstrap" },
		{ "app/util.py", "app.util" },
		{ ".cache/my-app/pkg/util.py", "pkg.util" },
		{ "2nd/_a1/\xc3\xa9t\xc3\xa9.py", "_a1.\xc3\xa9t\xc3\xa9" },
		{ "/srv/app/util.py", "util" },
		{ "/srv/app/__init__.py", "app" },
		{ "__init__.py", "__init__" },
		{ ".py", ".py" },
		{ "/usr/lib/libc.so.6", "libc.so.6" },
		{ "lib/python", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_buf name = { 0 };
		fz_call_module(fz_str_of(cases[i].file), &name);
		assert_string_equal(name.p ? name.p : "", cases[i].module);
		fz_buf_release(&name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_is_one_row_below_its_entry),
		cmocka_unit_test(one_hidden_frame_is_shown),
		cmocka_unit_test(imports_are_below_their_importer),
		cmocka_unit_test(startup_is_one_row),
		cmocka_unit_test(deep_recursion_is_one_row),
		cmocka_unit_test(without_own_code_only_imports_are_folded),
		cmocka_unit_test(interpreter_frames_are_not_recursion),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(callees_of_own_code_are_own),
		cmocka_unit_test(modules_have_the_names_that_import_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
