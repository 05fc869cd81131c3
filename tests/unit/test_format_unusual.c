/* SPDX-License-Identifier: MIT */
/* What few files have: functions without a name, negative numbers of samples, only idle ones. */
#include "format/import.h"
#include "format/wire.h"
#include "read_format.h"

static void expect_only(const struct fz_profile *p, const char *name)
{
	assert_int_equal(p->function_count, 1);
	assert_string_equal(p->strings[p->functions[0].name].p, name);
}

static void test_unnamed(void **state)
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
static void test_pprof_unnamed(void **state)
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

/* A difference of two profiles has negative numbers of samples. */
static void test_pprof_negative(void **state)
{
	static const uint8_t bytes[] = "\x0a\x04\x08\x01\x10\x02"
				       "\x12\x05\x0a\x01\x07\x12\x00"
				       "\x12\x07\x08\x07\x10\x0a\x1a\x01\x00"
				       "\x12\x0d\x08\x07\x10"
				       "\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01"
				       "\x32\x00\x32\x07samples\x32\x05"
				       "count";
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(load_bytes(bytes, sizeof(bytes) - 1, "x", &p, &err), 0);
	assert_int_equal(sum_of(p, 0), 5);
	assert_int_equal(fz_profile_sample_total(p), 15);
	assert_int_equal(fz_import_periods(-50, 10), 5);
	assert_int_equal(fz_import_count(INT64_MIN), UINT32_MAX);
}

/* More sample types than a profile has room for. */
static void test_pprof_many_types(void **state)
{
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	(void)state;
	for (int i = 0; i < 40; i++)
		fz_wire_put_bytes(&file, 1, FZ_STR("\x08\x01\x10\x02"));
	fz_wire_put_bytes(&file, 2, FZ_STR("\x0a\x01\x07\x12\x02\x05\x05"));
	fz_wire_put_bytes(&file, 4, FZ_STR("\x08\x07\x18\x09"));
	fz_wire_put_bytes(&file, 6, FZ_STR(""));
	fz_wire_put_bytes(&file, 6, FZ_STR("x"));
	fz_wire_put_bytes(&file, 6, FZ_STR("count"));
	assert_int_equal(load_bytes(file.p, file.n, "x", &p, &err), 0);
	assert_int_equal(p->metric_count, FZ_METRICS_MAX - 1);
	assert_string_equal(fz_profile_fact(p, "notes").p, "9 of 40 sample types left out");
}

/* perf script --show-mmap-events --show-task-events, with times and without. */
static void test_perf_records(void **state)
{
	static const char *const texts[] = {
		"swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0x1(0x2) @ 0x1]: x [k]_text\n"
		"cc   849 53731.030738: PERF_RECORD_COMM exec: cc:849/849\n"
		"cc   849 53731.030787:          1 page-faults: \n"
		"\tffffffff8175336a elf_load+0x28a ([kernel.kallsyms])\n\n"
		"cc   849 53731.030788: PERF_RECORD_EXIT(849:849):(1:1)\n",
		"cc   849 PERF_RECORD_MMAP2 849/849: [0x5(0x1000) @ 0x1000 fe:00 1 1]: r-xp /cc\n"
		"cc   849          1 page-faults: \n"
		"\tffffffff8175336a elf_load+0x28a ([kernel.kallsyms])\n\n",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(texts[i]);
		assert_int_equal(fz_profile_sample_total(p), 1);
		assert_string_equal(p->metrics[p->default_metric].name, "page-faults");
		assert_int_equal(cost(p, NULL, "elf_load", false), 1);
	}
}

/* The main metric does not depend on the order of samples. */
static void test_perf_events(void **state)
{
	static const char *const texts[] = {
		"cc 8 1.000001:      10 cpu-clock: \n\t55d5c0de1234 f+0x4 (/x)\n\n"
		"cc 8 1.000002:       3 page-faults: \n\t55d5c0de1235 g+0x5 (/x)\n\n",
		"cc 8 1.000001:       3 page-faults: \n\t55d5c0de1235 g+0x5 (/x)\n\n"
		"cc 8 1.000002:      10 cpu-clock: \n\t55d5c0de1234 f+0x4 (/x)\n\n",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(texts[i]);
		assert_string_equal(p->metrics[p->default_metric].name, "cpu");
		assert_int_equal(cost(p, NULL, "f", false), 10);
		assert_int_equal(cost(p, "page-faults", "g", false), 3);
	}
}

/* Texts of other tools that have numbers, colons and addresses at the same places. */
static void test_not_perf(void **state)
{
	(void)state;
	expect_error("Disassembly of section .plt:\n\n0000000000001020 <fib(int)@plt-0x10>:\n"
		     "    1020:\tff 35 ca 2f 00 00\tpush   0x2fca(%rip)\n",
		     "not a profile in a supported format");
	expect_error("PeriodType: contentions count\nPeriod: 100\nSamples:\n"
		     "contentions/count delay/nanoseconds\n"
		     "          1  608881724: 2 3 4\nLocations\n"
		     "     1: 0xbccc97 M=1 \n    10: 0xcdef01 M=1 \n    11: 0xcdef02 M=1 \n",
		     "the text of pprof -raw");
}

/* Hit counts without a list of samples. */
static void test_idle_hits(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"},"
			  "\"hitCount\":3},{\"id\":2,\"callFrame\":{\"functionName\":"
			  "\"(idle)\"},\"hitCount\":7}],\"startTime\":0,\"endTime\":10}");

	(void)state;
	assert_int_equal(fz_profile_sample_total(p), 3);
	assert_string_equal(fz_profile_fact(p, "notes").p, "7 samples of (idle) left out");
}

/* Xdebug's events name their unit of ten nanoseconds. */
static void test_xdebug(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("version: 1\ncreator: xdebug 3.1.6 (PHP 8.2.7)\ncmd: /a.php\npart: 1\n"
			  "positions: line\n\nevents: Time_(10ns) Memory_(bytes)\n\n"
			  "fl=(1) php:internal\nfn=(1) php::strlen\n5 123 400\n\n"
			  "fl=(2) /a.php\nfn=(2) {main}\n1 77 32\ncfl=(1)\ncfn=(1)\ncalls=1 0 0\n"
			  "5 123 400\n\nsummary: 200 432\n");

	(void)state;
	assert_string_equal(p->metrics[0].name, "wall");
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_string_equal(p->metrics[1].name, "memory");
	assert_string_equal(p->metrics[1].unit, "bytes");
	assert_int_equal(cost(p, NULL, "php::strlen", false), 1230);
	assert_int_equal(sum_of(p, 0), 2000);
	assert_int_equal(sum_of(p, 1), 432);
}

/* Callgrind writes parts in which nothing ran. */
static void test_callgrind_empty(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("version: 1\ncreator: callgrind-3.19.0\npid: 9\npart: 2\n\n"
			  "positions: line\nevents: Ir\nsummary: 0\n\n\ntotals: 0\n");

	(void)state;
	assert_string_equal(p->metrics[p->default_metric].name, "instructions");
	assert_int_equal(sum_of(p, 0), 0);
}

/* Before 2.3 its calls name no file: the callee's is that of its own record. */
static void test_xdebug2(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("version: 0.9.6\ncmd: /a.php\npart: 1\n\nevents: Time Memory\n\n"
			  "fl=php:internal\nfn=php::dirname\n3 40 -264\n\n"
			  "fl=/a.php\nfn={main}\n\nsummary: 100 8\n\n1 60 272\n"
			  "cfn=php::dirname\ncalls=1 0 0\n3 40 -264\n");

	(void)state;
	assert_int_equal(cost(p, "Time", "{main}", true), 100);
	assert_int_equal(cost(p, "Time", "php::dirname", true), 40);
	assert_int_equal(cost(p, "Memory", "php::dirname", false), 0);
	assert_int_equal(sum_of_metric(p, "Memory"), 272);
}

/* The start may be that of the whole profile, in each chunk; the end of a profile is in its last
 * chunk. */
static void test_trace_chunk_ends(void **state)
{
#define CHUNKS(more, end, last)                                                               \
	"[{\"ph\": \"P\", \"name\": \"Profile\", \"pid\": 1, \"tid\": 1, \"id\": \"1\", "     \
	"\"ts\": 1000000, \"args\": {\"data\": {\"startTime\": 1000000}}}, "                  \
	"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"pid\": 1, \"tid\": 1, \"id\": \"1\", " \
	"\"ts\": 1002000, \"args\": {\"data\": {\"cpuProfile\": {" more "\"nodes\": "         \
	"[{\"id\": 2, \"callFrame\": {\"functionName\": \"f\"}}, "                            \
	"{\"id\": 3, \"callFrame\": {\"functionName\": \"g\"}}], \"samples\": [2, 2]}, "      \
	"\"timeDeltas\": [0, 900000]}}}, "                                                    \
	"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"pid\": 1, \"tid\": 1, \"id\": \"1\", " \
	"\"ts\": 2002000, \"args\": {\"data\": {\"cpuProfile\": {" more end                   \
	"\"samples\": [3, 3]}, " last "\"timeDeltas\": [100000, 900000]}}}]"
	static const char *const texts[] = {
		CHUNKS("\"startTime\": 1000000, ", "\"endTime\": 3000000, ", ""),
		CHUNKS("", "\"endTime\": 3000000, ", ""),
		CHUNKS("", "", "\"endTime\": 3000000, "),
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(texts[i]);
		assert_int_equal(cost(p, NULL, "f", false), 1000000000);
		assert_int_equal(cost(p, NULL, "g", false), 1000000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_chunk_ends), cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_pprof_unnamed),    cmocka_unit_test(test_pprof_negative),
		cmocka_unit_test(test_pprof_many_types), cmocka_unit_test(test_perf_records),
		cmocka_unit_test(test_perf_events),      cmocka_unit_test(test_not_perf),
		cmocka_unit_test(test_idle_hits),        cmocka_unit_test(test_xdebug),
		cmocka_unit_test(test_xdebug2),          cmocka_unit_test(test_callgrind_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
