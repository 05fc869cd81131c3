/* SPDX-License-Identifier: MIT */
/* The table of offsets comes from the target: no contents of it may cause a read or an index out of
 * bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "record/python/layouts.h"
#include "python_tables.h"

enum { SIZE_LIMIT = 16 << 20 };

struct real_table {
	const uint64_t *words;
	size_t size;
	unsigned minor;
};

static const struct real_table tables[] = {
	{ python_table_313, sizeof(python_table_313), 13 },
	{ python_table_314, sizeof(python_table_314), 14 },
	{ python_table_315, sizeof(python_table_315), 15 },
};

static void test_real_tables(void **state)
{
	(void)state;
	struct fz_py_layout l;

	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++) {
		assert_int_equal(
			fz_py_layout_parse(tables[i].words, tables[i].size, false, &l, NULL), 0);
		assert_int_equal(l.minor, tables[i].minor);
		assert_false(l.free_threaded);
		assert_int_equal(l.frames, FZ_PY_FRAMES_DIRECT);
		assert_int_equal(l.thread.next, 8);
		assert_int_equal(l.thread.frame, 72);
		assert_int_equal(l.frame.previous, 8);
		assert_int_equal(l.frame.position, 56);
		assert_int_equal(l.code.line_table, 136);
		assert_int_equal(l.unicode.ascii_data, 40);
		assert_int_equal(l.unicode.compact_data, 56);
		assert_int_equal(l.frame.tlbc_index, FZ_PY_ABSENT);
		assert_int_equal(l.frame.locals, l.minor == 13 ? 72 : 80);
		assert_int_equal(l.code.names, 96);
		assert_int_equal(l.code.kinds, 104);
		assert_int_equal(l.type.flags, 168);
		assert_int_equal(l.type.base, 256);
		assert_int_equal(l.type.dict, 264);
		assert_int_equal(l.type.qualname, l.minor == 15 ? 880 : 872);
		assert_int_equal(l.tuple.items, l.minor == 13 ? 24 : 32);
		assert_int_equal(l.list.items, 24);
		assert_int_equal(l.set.used, 24);
		assert_int_equal(l.set.mask, 32);
		assert_int_equal(l.set.table, 40);
		assert_int_equal(l.real.value, 16);
	}
	assert_int_equal(l.thread.base_frame, 80);
	assert_int_equal(l.interp.gc_collecting, 7512);
	assert_int_equal(l.interp.gc_frame, 7520);
	assert_int_equal(l.interp.code_generation, 7944);
}

static void test_static_tables(void **state)
{
	(void)state;
	for (unsigned minor = 8; minor <= 12; minor++) {
		const struct fz_py_layout *l = fz_py_layout_static(minor);
		assert_non_null(l);
		assert_int_equal(l->minor, minor);
		assert_true(l->frame.position + 8 <= l->frame.size);
		assert_true(l->frame.previous + 8 <= l->frame.size);
		assert_true(l->code.line_table + 8 <= l->code.size);
		assert_true(l->object.var_size + 8 <= l->code.size);
	}
	assert_null(fz_py_layout_static(7));
	assert_null(fz_py_layout_static(13));
}

static void test_versions(void **state)
{
	(void)state;
	uint64_t copy[FZ_ARRAY_LEN(python_table_315)];
	struct fz_py_layout l;
	struct fz_error err;

	memcpy(copy, python_table_315, sizeof(copy));
	copy[1] = 0x03100000;
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), false, &l, &err), FZ_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "3.16"));
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), true, &l, &err), 0);
	copy[1] = 0x030c0000; /* had no table */
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), true, &l, &err), FZ_EINPUT);
	copy[1] = 0x04000000;
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), true, &l, &err), FZ_EINPUT);
	copy[1] = UINT64_MAX;
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), true, &l, &err), FZ_EINPUT);
	memcpy(copy, python_table_315, sizeof(copy));
	assert_int_equal(fz_py_layout_parse(copy, 880, false, &l, &err), FZ_EINPUT);
	assert_int_equal(fz_py_layout_parse(copy, 16, false, &l, &err), FZ_EINPUT);
	copy[0]++;
	assert_int_equal(fz_py_layout_parse(copy, sizeof(copy), false, &l, &err), FZ_EINPUT);
}

/* Offsets used to index copies must be inside what is copied; all must be inside a structure. */
static void check_invariants(const struct fz_py_layout *l)
{
	const uint32_t *p = &l->runtime.interpreters_head;
	const uint32_t *end = &l->coro.stack + 1;

	for (; p < end; p++)
		assert_true(*p == FZ_PY_ABSENT || *p <= 2 * SIZE_LIMIT);
	const uint32_t in_frame[] = { l->frame.previous, l->frame.code, l->frame.position };
	for (size_t i = 0; i < FZ_ARRAY_LEN(in_frame); i++)
		assert_true(in_frame[i] + 8 <= l->frame.size);
	assert_true(l->frame.owner < l->frame.size);
	assert_true(l->frame.size <= 1024 + 8);
	const uint32_t in_code[] = { l->code.filename, l->code.name, l->code.qualname,
				     l->code.line_table, l->object.var_size };
	for (size_t i = 0; i < FZ_ARRAY_LEN(in_code); i++)
		assert_true(in_code[i] + 8 <= l->code.size);
	assert_true(l->code.first_line + 4 <= l->code.size);
	assert_true(l->code.size <= 4096);
	assert_true(l->unicode.length + 8 <= l->unicode.compact_data);
	assert_true(l->unicode.state + 4 <= l->unicode.compact_data);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void test_damaged_tables(void **state)
{
	(void)state;
	const uint64_t odd[] = {
		0,       1,        3,          7,          8,          4095,       4096,
		1 << 20, 1u << 31, UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX, UINT64_MAX - 7
	};
	uint64_t copy[FZ_ARRAY_LEN(python_table_315)], seed = 7;
	struct fz_py_layout l;
	unsigned refused = 0, tried = 0;

	for (size_t t = 0; t < FZ_ARRAY_LEN(tables); t++)
		for (unsigned round = 0; round < 20000; round++) {
			memcpy(copy, tables[t].words, tables[t].size);
			for (unsigned k = next_random(&seed) % 4 + 1; k > 0; k--) {
				size_t at = 2 + next_random(&seed) % (tables[t].size / 8 - 2);
				copy[at] = next_random(&seed) % 2
						   ? odd[next_random(&seed) % FZ_ARRAY_LEN(odd)]
						   : next_random(&seed) % 8192;
			}
			tried++;
			if (fz_py_layout_parse(copy, tables[t].size, false, &l, NULL) == 0)
				check_invariants(&l);
			else
				refused++;
		}
	assert_true(refused > tried / 10 && refused < tried);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_tables),
		cmocka_unit_test(test_static_tables),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_damaged_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
