/* SPDX-License-Identifier: MIT */
/* Functions without a name, which no report could show. */
#include "format/wire.h"
#include "read_format.h"

static void expect_only(const struct fz_profile *p, const char *name)
{
	assert_int_equal(p->function_count, 1);
	assert_string_equal(p->strings[p->functions[0].name].p, name);
}

static void test_texts(void **state)
{
	static const char *const texts[] = {
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"shared\":{\"frames\":[{\"name\":\"\"}]},\"profiles\":[{\"type\":\"sampled\","
		"\"unit\":\"none\",\"startValue\":0,\"endValue\":9,\"samples\":[[0]],"
		"\"weights\":[9]}]}",
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"\",\"pid\":1,\"tid\":1,\"ts\":0,"
		"\"dur\":10}]}",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(texts[i]);
		expect_only(p, "[unknown]");
	}
}

/* Go 1.26 writes a function without a name for threads of its runtime. */
static void test_pprof(void **state)
{
	static const char *const strings[] = { "", "threadcreate", "count" };
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	(void)state;
	fz_wire_put_bytes(&file, 1, FZ_STR("\x08\x01\x10\x02"));
	fz_wire_put_bytes(&file, 2, FZ_STR("\x0a\x02\x07\x07\x12\x01\x05"));
	fz_wire_put_bytes(&file, 4, FZ_STR("\x08\x07\x18\xff\x01\x22\x02\x08\x01"));
	fz_wire_put_bytes(&file, 5, FZ_STR("\x08\x01"));
	for (size_t i = 0; i < FZ_ARRAY_LEN(strings); i++)
		fz_wire_put_bytes(&file, 6, fz_str_of(strings[i]));
	assert_int_equal(load_bytes(file.p, file.n, "x", &p, &err), 0);
	expect_only(p, "0xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_pprof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
