/* SPDX-License-Identifier: MIT */
/* Formats of other tools, on hand-made files: reading, errors of broken files, and that written
 * files can be read back. tests/live/test_formats.py uses files of the tools. */
#include "format/import.h"
#include "format/metric_fit.h"
#include "format/wire.h"
#include "report/report.h"
#include "hand_profile.h"
#include "read_format.h"

/* ---- trace events ---- */

#define PROFILE_EVENT "\"ph\": \"P\", \"id\": \"1\", \"pid\": 1, \"tid\": 2"

/* 3 samples 1 ms apart, the last 2 ms long; `start` and `end` as the file has them. */
static struct fz_profile *load_chunk(const char *event, const char *start, const char *end)
{
	fz_auto(fz_free_ptr) char *text = fz_asprintf(
		"[{" PROFILE_EVENT ", %s \"name\": \"Profile\", \"args\": {\"data\": {%s}}},"
		"{" PROFILE_EVENT ", %s \"name\": \"ProfileChunk\", \"args\": {\"data\": "
		"{\"cpuProfile\": {\"nodes\": ["
		"{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\"}},"
		"{\"id\": 2, \"parent\": 1, \"callFrame\": {\"functionName\": \"work\"}},"
		"{\"id\": 3, \"parent\": 1, \"callFrame\": {\"functionName\": \"(idle)\"}}],"
		"\"samples\": [2, 3, 2], \"endTime\": %s},"
		"\"timeDeltas\": [1000, 1000, 1000]}}}]",
		event, start, event, end);

	return load_text(text);
}

static void test_trace_clock(void **state)
{
	static const struct {
		const char *event, *start, *end;
		int64_t expected;
	} cases[] = {
		{ "\"ts\": 470030000000,", "\"startTime\": 470030000000", "470030005000", 3000 },
		{ "\"ts\": 470030000000,", "\"startTime\": 0", "470030005000", 3000 },
		{ "\"ts\": 470030000000,", "", "470030005000", 3000 },
		{ "\"ts\": 0,", "\"startTime\": 0", "470030005000", 1000 },
		{ "", "\"startTime\": 0", "5000", 3000 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p =
			load_chunk(cases[i].event, cases[i].start, cases[i].end);
		assert_int_equal(sum_of(p, 0), cases[i].expected * 1000);
		assert_int_equal(cost(p, NULL, "work", false), cases[i].expected * 1000);
		/* Idle time is noted, and is not time of the program. */
		assert_int_equal(cost(p, NULL, "(idle)", false), 0);
		assert_true(fz_str_eq(fz_profile_fact(p, "notes"),
				      FZ_STR("1.00 ms of (idle) left out")));
	}
}

/* Times of a chunk that also has its start are on a clock of their own. */
static void test_trace_chunk_clock(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_chunk(
		"\"ts\": 270087,", "\"startTime\": 0", "470030005000, \"startTime\": 470030000000");

	(void)state;
	assert_int_equal(sum_of(p, 0), 3000 * 1000);
}

/* Without times samples are spread evenly; a sample without a node has no function. */
static void test_cpuprofile_times(void **state)
{
#define TWO_NODES                                                                          \
	"{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"f\"}}, {\"id\": 2, " \
	"\"callFrame\": {\"functionName\": \"g\"}}], \"startTime\": 10, \"endTime\": 50, " \
	"\"samples\": "
	fz_auto(fz_profile_freep) struct fz_profile *even = load_text(TWO_NODES "[1, 2, 2, 1]}");
	fz_auto(fz_profile_freep) struct fz_profile *unknown =
		load_text(TWO_NODES "[1, 7, 2], \"timeDeltas\": [0, 10, 10]}");

	(void)state;
	assert_int_equal(cost(even, "wall", "f", false), 20000);
	assert_int_equal(cost(even, "wall", "g", false), 20000);
	assert_int_equal(cost(unknown, "wall", "f", false), 10000);
	assert_int_equal(cost(unknown, "wall", "g", false), 20000);
	assert_int_equal(sum_of(unknown, 0), 40000);
	expect_error(TWO_NODES "[1, 2, 2], \"timeDeltas\": [0, 10]}",
		     "has 3 samples and 2 time deltas");
}

/* A double cannot hold microseconds since 1970 with three decimals: b starts where a ends, and each
 * has its exact length. */
static void test_trace_exact(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"[{\"ph\": \"X\", \"name\": \"m\", \"ts\": 1732107141551429.007, \"dur\": 0.500},"
		"{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1732107141551429.030, \"dur\": 0.181},"
		"{\"ph\": \"X\", \"name\": \"b\", \"ts\": 1732107141551429.211, \"dur\": 0.049},"
		"{\"ts\": 1732107141551430.001, \"args\": {\"ts\": 1.5}, \"ph\": \"B\", \"name\": "
		"\"c\"},"
		"{\"ts\": 1732107141551430.004, \"ph\": \"E\", \"name\": \"c\"}]");

	(void)state;
	assert_int_equal(cost(p, NULL, "m", true), 500);
	assert_int_equal(cost(p, NULL, "m", false), 500 - 181 - 49);
	assert_int_equal(cost(p, NULL, "a", true), 181);
	assert_int_equal(cost(p, NULL, "a", false), 181);
	assert_int_equal(cost(p, NULL, "b", false), 49);
	assert_int_equal(cost(p, NULL, "c", false), 3);
}

/* py-spy writes places as arguments: functions of one name in two files are two. */
static void test_trace_places(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("[{\"ph\": \"B\", \"name\": \"f\", \"ts\": 0, \"args\": "
			  "{\"filename\": \"a.py\", \"line\": 7}},"
			  "{\"ph\": \"E\", \"name\": \"f\", \"ts\": 2, \"args\": "
			  "{\"filename\": \"a.py\", \"line\": 7}},"
			  "{\"ph\": \"X\", \"name\": \"f\", \"ts\": 2, \"dur\": 3, \"args\": "
			  "{\"filename\": \"b.py\", \"line\": 1e12}},"
			  "{\"ph\": \"X\", \"name\": \"f\", \"ts\": 5, \"dur\": 1, \"args\": 5}]");

	(void)state;
	assert_int_equal(p->function_count, 3);
	assert_string_equal(fz_profile_text(p, p->functions[0].file).p, "a.py");
	assert_int_equal(p->frames[0].line, 7);
	assert_string_equal(fz_profile_text(p, p->functions[1].file).p, "b.py");
	assert_int_equal(p->frames[1].line, FZ_NO_LINE);
	assert_int_equal(cost(p, NULL, "f", false), 6000);
}

/* Ids of processes and threads may be texts, which name them. */
static void test_trace_ids(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 0, \"dur\": 9, \"pid\": "
			  "\"p\", \"tid\": \"main loop\"},"
			  "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 1, \"dur\": 9, \"pid\": \"p\", "
			  "\"tid\": \"io\"},"
			  "{\"ph\": \"X\", \"name\": \"c\", \"ts\": 1, \"dur\": 9, \"pid\": \"p\", "
			  "\"tid\": \"12\"}]");

	(void)state;
	assert_int_equal(p->thread_count, 3);
	assert_int_equal(sum_of(p, 0), 27000);
	assert_true(fz_str_eq(fz_profile_text(p, p->threads[0].name), FZ_STR("main loop")));
	assert_true(p->threads[0].pid == p->threads[1].pid && p->threads[2].tid == 12);
}

static void test_cpuprofile_idle(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\"},"
			  "\"children\": [2, 3]},"
			  "{\"id\": 2, \"callFrame\": {\"functionName\": \"(idle)\"}},"
			  "{\"id\": 3, \"callFrame\": {\"functionName\": \"work\"}}],"
			  "\"samples\": [3, 2, 3], \"timeDeltas\": [0, 2, 500], \"startTime\": 7,"
			  "\"endTime\": 512}");

	(void)state;
	assert_int_equal(p->samples.n, 2);
	assert_int_equal(sum_of(p, 0), 5000);
	assert_true(fz_str_eq(fz_profile_fact(p, "notes"), FZ_STR("500 us of (idle) left out")));
}

/* ---- the chosen metric ---- */

/* a 1 ms, b 9 ms, in one sample each; another metric counts bytes. */
static struct fz_profile *uneven_profile(void)
{
	struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("heap"), FZ_STR("bytes"), 0, true);
	fz_profile_thread(p, &(struct fz_thread){ 0 });
	for (int64_t i = 0; i < 2; i++) {
		uint32_t f = fz_profile_frame_named(p, i ? FZ_STR("b") : FZ_STR("a"), FZ_STR(""),
						    FZ_NO_LINE, FZ_KIND_UNKNOWN);
		int64_t weights[2] = { i ? 9000000 : 1000000, i ? 70 : 4000 };
		fz_profile_add_sample(p,
				      &(struct fz_sample){ .stack = fz_profile_stack(p, FZ_NONE, f),
							   .time = i * 1000000 },
				      weights);
	}
	return p;
}

static void expect_text(const struct fz_profile *p, const char *expected)
{
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_folded);

	assert_string_equal(b.p, expected);
}

static void test_folded_metric(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile(), *q = NULL;

	(void)state;
	expect_text(p, "b 9000000\na 1000000\n");
	p->metric_line = true;
	expect_text(p, "# metric: wall ns\nb 9000000\na 1000000\n");
	p->default_metric = 1;
	expect_text(p, "# metric: heap bytes\na 4000\nb 70\n");
	q = load_text("# metric: heap bytes\na 4000\nb 70\n");
	assert_string_equal(q->metrics[0].name, "heap");
	assert_string_equal(q->metrics[0].unit, "bytes");
	assert_int_equal(cost(q, NULL, "a", false), 4000);
	/* Samples of one length are counted, unless their time was requested. */
	p->default_metric = 0;
	p->metrics[0].column[0] = p->metrics[0].column[1] = 5000000;
	expect_text(p, "a 1\nb 1\n");
	p->metric_chosen = true;
	expect_text(p, "# metric: wall ns\na 5000000\nb 5000000\n");
}

/* Samples of ours are counted, late ones too, but not those of the kernel's engine: it takes one
 * for each wait. */
static void test_folded_engines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile();

	(void)state;
	p->quality.known = true;
	fz_profile_set_fact(p, "engine", FZ_STR("read"));
	expect_text(p, "a 1\nb 1\n");
	fz_profile_set_fact(p, "engine", FZ_STR("bpf"));
	expect_text(p, "b 9000000\na 1000000\n");
}

/* Formats that hold times refuse what is none, and give samples a length. */
static void test_times_only(void **state)
{
	static const struct fz_format *const formats[] = { &fz_format_cpuprofile,
							   &fz_format_tachyon };
	struct fz_error err;

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(formats); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile(), *q = NULL;
		fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
		p->default_metric = 1;
		assert_int_equal(formats[i]->write(p, out, &err), FZ_EUNSUPPORTED);
		assert_non_null(strstr(err.message, "stores times, and 'heap' is not a time"));
		fz_auto(fz_profile_freep) struct fz_profile *samples = load_text("a 5\nb 9\n");
		fz_auto(fz_buf_release) struct fz_buf b = save_bytes(samples, formats[i]);
		assert_int_equal(load_bytes(b.p, b.n, "x", &q, &err), 0);
		assert_int_equal(fz_profile_sample_total(q), 14);
		assert_int_equal(cost(q, "wall", "b", false), 9 * 1000000);
	}
}

/* ---- not a profile ---- */

static void test_no_profile(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "{\"a\": [\"x;y\", \"x;y\"]}", "not a profile" },
		{ "[\n\"x;y\", 5 ]", "not a profile" },
		{ "<html><style>a{b:c;d:e}\n</style> 5\n", "not a profile" },
		{ "a;b;c\nx0;y0;0\nx1;y1;1\nx2;y2;2\n", "not a profile" },
		{ "2026-01-01 12:00:00 INFO request; status 200\n", "not a profile" },
		{ "GET /; status 200\nGET /a; status 404\n", "not a profile" },
		{ "hello world 5\nfoo bar 7\n", "not a profile" },
		{ "total 12\nfile one 3\nfile two 4\n", "not a profile" },
		{ "--- contention:\ncycles/second=1\n", "no stack" },
		{ "PeriodType: cpu nanoseconds\nPeriod: 10000000\nSamples:\n"
		  "samples/count cpu/nanoseconds\n          1   10000000: 1 2 3 \n",
		  "pprof -proto FILE" },
		{ "\x04\x22\x4d\x18", "lz4 -d FILE" },
		{ "\xfd\x37zXZ", "xz -d FILE" },
		{ "BZh91AY&SY", "bzip2 -d FILE" },
		{ "\n\n# austin: 3.5.0\n\n# mode: wall\n", "no samples, only comments" },
		{ "goroutine 1 [running]:\nmain.main()\n",
		  "a dump of Go's goroutines is not supported" },
		{ "{\"elapsed_time_sec\": 2.2, \"files\": {}}", "a profile of scalene" },
		{ "\tSun Aug  6 14:52 2023 Time and Allocation Profiling Report  (Final)\n",
		  "inferno-collapse-ghcprof FILE >FILE.folded" },
		{ "Level,Function Name,Number of Calls,Module Name,\n0,\"main\",\"1\",\"a.exe\",\n",
		  "inferno-collapse-vsprof FILE >FILE.folded" },
		{ "v 10300 3\nX ./app\n", "heaptrack_print FILE" },
		{ "PK\x03\x04\x14", "unzip FILE" },
		{ "go 1.26 trace\x01\x01", "go tool trace -pprof=sched FILE" },
		{ "{\"snapshot\": {\"meta\": {}}}", "node --heap-prof" },
		{ "{\"machine_info\": {}, \"benchmarks\": []}", "fizeau ci -- pytest" },
		{ "<?xml version=\"1.0\"?>\n<trace-query-result>\n", "Deep Copy" },
		{ "\n\n              a.out`main+0x20\n              a.out`_start+0x83\n            "
		  "   12\n",
		  "stackcollapse.pl FILE" },
		{ "Nettrace\x14", "dotnet-trace convert" },
		{ "PAR1\x15\x04\x15\x80\x80;", "profilecli query profile" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		expect_error(cases[i].text, cases[i].says);
	/* What begins like it and is folded text. */
	static const char *const stacks[] = { "[unknown];main 5\n", "<module>;f 2\n",
					      "main;f g 5\nmain; 1\n", "main;f\nmain;g\n",
					      "swapper 5\nnginx 4\nCPU 0/KVM 2\n" };
	for (size_t i = 0; i < FZ_ARRAY_LEN(stacks); i++)
		fz_profile_free(load_text(stacks[i]));
}

/* ---- speedscope ---- */

static void test_speedscope_weights(void **state)
{
	static const struct {
		const char *samples, *weights, *says;
	} cases[] = {
		{ "[[0]]", "[-5]", "a weight is negative" },
		{ "[[0], [0]]", "[1]", "has 2 samples and 1 weights" },
		{ "[[0]]", "[1e308]", "a weight is too large" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_free_ptr) char *text = fz_asprintf(
			"{\"shared\": {\"frames\": [{\"name\": \"f\"}]}, \"profiles\": [{\"type\": "
			"\"sampled\", \"unit\": \"seconds\", \"samples\": %s, \"weights\": %s}]}",
			cases[i].samples, cases[i].weights);
		expect_error(text, cases[i].says);
	}
}

/* Negative costs, in a difference of two profiles, are left out, because readers refuse them. */
static void test_speedscope_of_negative_costs(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile(), *q = NULL;
	struct fz_error err;

	(void)state;
	p->metrics[0].column[0] = -500;
	assert_int_equal(fz_fit_negative(p), -500);
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_speedscope);
	assert_int_equal(load_bytes(b.p, b.n, "x", &q, &err), 0);
	assert_int_equal(sum_of(q, 0), 9000000);
	assert_int_equal(cost(q, NULL, "b", false), 9000000);
	fz_auto(fz_buf_release) struct fz_buf remarks = { 0 };
	p->metrics[0].column[0] = -1000000;
	fz_report_remarks(fz_report_by_name("speedscope"), p, &remarks);
	assert_string_equal(remarks.p, "12.5 % of 'wall' is negative and is left out");
}

/* Nanoseconds since 1970. */
static void test_speedscope_exact(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("{\"shared\": {\"frames\": [{\"name\": \"f\"}, {\"name\": \"g\"}]}, "
			  "\"profiles\": [{\"type\": "
			  "\"evented\", \"unit\": \"nanoseconds\", \"endValue\": "
			  "1700000000000000010, \"events\": ["
			  "{\"type\": \"O\", \"frame\": 0, \"at\": 1700000000000000001},"
			  "{\"type\": \"O\", \"frame\": 1, \"at\": 1700000000000000002},"
			  "{\"type\": \"C\", \"frame\": 1, \"at\": 1700000000000000005}]}]}");

	(void)state;
	assert_int_equal(cost(p, NULL, "f", true), 9);
	assert_int_equal(cost(p, NULL, "g", false), 3);
}

/* Units of pprof and others; a unit of neither time nor size is a count. */
static void test_units(void **state)
{
	static const struct {
		const char *unit, *ours;
		double scale;
	} cases[] = {
		{ "nanoseconds", "ns", 1 },
		{ "Milliseconds", "ns", 1e6 },
		{ "\xc2\xb5s", "ns", 1e3 },
		{ "sec", "ns", 1e9 },
		{ "minutes", "ns", 60e9 },
		{ "hours", "ns", 3600e9 },
		{ "B", "bytes", 1 },
		{ "By", "bytes", 1 },
		{ "kB", "bytes", 1024 },
		{ "KB", "bytes", 1024 },
		{ "KiB", "bytes", 1024 },
		{ "kilobytes", "bytes", 1024 },
		{ "MB", "bytes", 1048576 },
		{ "MiB", "bytes", 1048576 },
		{ "gigabyte", "bytes", 1 << 30 },
		{ "count", "count", 1 },
		{ "ops", "count", 1 },
		{ "bytes/sec", "count", 1 },
		{ "", "count", 1 },
		{ "m", "count", 1 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		struct fz_import_metric m = fz_import_metric(FZ_STR("x"), fz_str_of(cases[i].unit));
		assert_true(fz_str_eq(m.unit, fz_str_of(cases[i].ours)));
		assert_true(m.scale == cases[i].scale);
	}
}

/* ---- names ---- */

/* Symbols of C++ and Rust, also with the underscore of macOS; other names are not symbols. */
static void test_symbols(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"_ZN3foo3barEi;_ZN1a1b17h0123456789abcdefE 3\n_RNvCs1234_7mycrate4main;_Zebra 4\n"
		"__ZN3foo3barEi;_RNot;_Z;_R 5\n");
	fz_auto(fz_profile_freep) struct fz_profile *perf =
		load_text("a 1 1.000000: 7 cycles:\n\t     55d0 _ZN3foo3barEi+0x1 (/a)\n\n");

	(void)state;
	assert_int_equal(cost(p, NULL, "foo::bar", true), 8);
	assert_int_equal(cost(p, NULL, "a::b", false), 3);
	assert_int_equal(cost(p, NULL, "mycrate::main", true), 4);
	assert_int_equal(cost(p, NULL, "_Zebra", false), 4);
	assert_int_equal(cost(p, NULL, "_RNot", true), 5);
	assert_int_equal(cost(p, NULL, "_Z", true), 5);
	assert_int_equal(cost(p, NULL, "_R", false), 5);
	assert_int_equal(cost(perf, NULL, "foo::bar", false), 7);
	/* Demangled as C++, as by dtrace, old bpftrace and macOS. */
	fz_auto(fz_profile_freep) struct fz_profile *half =
		load_text("a.out`_ZN3foo3barEi;std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::"
			  "h2fb226322c254680 1\n"
			  "_$LT$alloc..boxed..Box$LT$F$GT$$u20$as$u20$core..ops..FnOnce$GT$::call::"
			  "h0123456789abcdef;"
			  "a::b::h0123456789abcdeg 2\n"
			  "a.out`__ZN3foo3barEi;_$LT$T$u20$as$u20$core..clone..Clone$GT$::clone::"
			  "h0123456789abcdef 4\n");
	assert_int_equal(cost(half, NULL, "a.out`foo::bar", true), 5);
	assert_int_equal(cost(half, NULL, "<T as core::clone::Clone>::clone", false), 4);
	assert_int_equal(cost(half, NULL, "std::rt::lang_start::{{closure}}", true), 1);
	assert_int_equal(
		cost(half, NULL, "<alloc::boxed::Box<F> as core::ops::FnOnce>::call", true), 2);
	assert_int_equal(cost(half, NULL, "a::b::h0123456789abcdeg", false), 2);
}

/* ---- fractions of folded text ---- */

static void test_fractions(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("m;a 0.4\nm;b 0.4\nm;c 0.4\nm;d 0.4\nm;e 0.4\nm;f 2.5\n");

	(void)state;
	/* in millionths */
	assert_int_equal(cost(p, NULL, "m", true), 4500000);
	assert_int_equal(cost(p, NULL, "e", false), 400000);
	assert_int_equal(cost(p, NULL, "f", false), 2500000);
	/* 100.5 samples, rounded */
	fz_auto(fz_profile_freep) struct fz_profile *q =
		load_text("m;a 50.25\nm;b 25.25\nm;c 25\n");
	assert_int_equal(cost(q, NULL, "c", false), 25);
	assert_in_range(sum_of(q, 0), 100, 101);
}

/* ---- pprof ---- */

/* A type without counts is not the main one. */
static void test_pprof_values(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile(), *q = NULL;
	struct fz_error err;

	(void)state;
	p->default_metric = 1;
	p->metrics[1].column[0] = p->metrics[1].column[1] = 0;
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_pprof);
	assert_int_equal(load_bytes(b.p, b.n, "x.pb.gz", &q, &err), 0);
	assert_string_equal(q->metrics[q->default_metric].name, "wall");
}

/* Sums that no report could add are refused, with the reason. */
static void test_huge_values(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = uneven_profile();
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	struct fz_error err;

	(void)state;
	p->metrics[1].column[0] = p->metrics[1].column[1] = INT64_MAX / 2 + 1;
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_pprof);
	assert_int_equal(load_bytes(b.p, b.n, "x.pb.gz", &q, &err), FZ_ELIMIT);
	assert_string_equal(err.message, "x.pb.gz: the values of 'heap' add up to 2^63 or more");
	expect_error("a;b 18446744073709551615\na;c 9223372036854775807\n",
		     "file: no line has a stack and a number from 0 to 2^60");
	expect_error("a;b -5\na;c -7\n", "file: no line has a stack and a number from 0 to 2^60");
}

/* ---- callgrind ---- */

static void test_callgrind(void **state)
{
	/* work costs 60 below main, 30 below other: what it calls is divided 2 to 1. */
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"# callgrind format\npositions: line\nevents: Ir Dr\n\nob=(1) a.out\nfl=(1) a.c\n"
		"fn=(1) main\n10 5 1\ncfn=(2) work\ncalls=2 3\n11 60 6\ncfn=(3) other\ncalls=1 4\n"
		"12 40 4\n\nfn=(2)\n+1 45 3\n-2 15 2\ncfn=(4) leaf\ncalls=3 +4\n* 30 4\n\n"
		"fn=(3)\n20 10 1\ncfn=(2)\ncalls=1 5\n21 30 3\n\nfn=(4)\nfi=(9) inline.h\n30 20 4\n"
		"fe=(1)\n31 10\n");

	(void)state;
	assert_true(p->recording.reconstructed);
	assert_string_equal(p->metrics[0].name, "instructions");
	assert_int_equal(sum_of(p, 0), 5 + 45 + 15 + 10 + 30);
	assert_int_equal(sum_of(p, 1), 1 + 3 + 2 + 1 + 4);
	assert_int_equal(cost(p, NULL, "work", false), 60);
	assert_int_equal(cost(p, NULL, "leaf", false), 30);
	assert_int_equal(cost(p, NULL, "main", true), 105);
	assert_int_equal(cost(p, NULL, "other", true), 10 + 30);
	/* Code inlined from another file has no line of this one. */
	bool inlined = false;
	for (uint32_t i = 0; i < p->frame_count; i++)
		inlined |= p->frames[i].line == 30;
	assert_false(inlined);
}

/* A cycle with a caller, and one without. */
static void test_callgrind_cycles(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 1\n1 99\nfn=a\n2 33\ncfn=b\ncalls=5 1\n"
		"2 66\nfn=b\n3 66\ncfn=a\ncalls=4 1\n3 50\nfn=x\n4 7\ncfn=y\ncalls=1 1\n4 5\nfn=y\n"
		"5 5\ncfn=x\ncalls=1 1\n5 12\nfn=y\n6 4\ncfn=y\ncalls=9 1\n6 4\n");

	(void)state;
	assert_int_equal(sum_of(p, 0), 1 + 33 + 66 + 7 + 5 + 4);
	assert_int_equal(cost(p, NULL, "a", false), 33);
	assert_int_equal(cost(p, NULL, "b", false), 66);
	assert_int_equal(cost(p, NULL, "main", true), 100);
	assert_int_equal(cost(p, NULL, "y", true), 16);
}

static void test_callgrind_errors(void **state)
{
	(void)state;
	expect_error("events: Ir\nfn=f\n1 x\n", "line 3: has an invalid number");
	expect_error("events: Ir\nfn=f\n+x 1\n", "line 3: has no position");
	expect_error("# callgrind format\nfn=f\n1 1\n", "line 3: has costs before the 'events:'");
	expect_error("# callgrind format\nfn=f\n", "has no line 'events:'");
}

/* ---- JSON ---- */

static void test_json_errors(void **state)
{
	(void)state;
	expect_error("{\"traceEvents\": [{\"ph\": \"X\", ts}]}", "is not valid JSON");
	expect_error("{\"traceEvents\": [{\"ph\": \"i\"}]}", "no calls and no samples");
	expect_error("{\"shared\": {\"frames\": []}, \"profiles\": []}", "no profiles");
	expect_error("{\"shared\": {\"frames\": []}, \"profiles\": [{\"type\": \"sampled\", "
		     "\"unit\": \"none\", \"samples\": [[3]], \"weights\": [1]}]}",
		     "refers to a frame missing from shared.frames");
	expect_error("{\"shared\": {\"frames\": []}, \"profiles\": [{\"type\": \"graph\"}]}",
		     "type 'graph', which is unknown");
	expect_error("{\"shared\": {}, \"profiles\": [1, }", "is not valid JSON");
	expect_error("{\"nodes\": [], \"timeDeltas\": []}", "has no nodes");
	expect_error("{\"meta\": {\"interval\": 1}, \"threads\": []}", "no thread with samples");
}

/* Python's json writes NaN and half surrogate pairs, and C programs write bytes as they are: only
 * the name suffers, wherever it is. */
static void test_json_of_others(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "caf\\udce9", "caf\xef\xbf\xbd" },
		{ "\\ud83d\\ude00\\ud83d", "\xf0\x9f\x98\x80\xef\xbf\xbd" },
		{ "caf\xe9", "caf\xef\xbf\xbd" },
		{ "a\tb\x01\\\"\\\\", "a\tb\x01\"\\" },
		{ "NaN", "NaN" },
	};
	static const char *const forms[] = {
		"[{\"ph\": \"X\", \"ts\": 0, \"dur\": 5, \"args\": [NaN, -Infinity], \"name\": "
		"\"%s\"}]",
		"{\"shared\": {\"x\": [Infinity], \"frames\": [{\"name\": \"%s\"}]}, \"profiles\": "
		"[{\"type\": \"sampled\", \"unit\": \"microseconds\", \"samples\": [[0]], "
		"\"weights\": [5]}]}",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		for (size_t k = 0; k < FZ_ARRAY_LEN(forms); k++) {
			fz_auto(fz_free_ptr) char *text = fz_asprintf(forms[k], cases[i].text);
			fz_auto(fz_profile_freep) struct fz_profile *p = load_text(text);
			assert_int_equal(cost(p, NULL, cases[i].name, false), 5000);
		}
	expect_error("{\"shared\": {\"frames\": [{}]}, \"profiles\": [{\"type\": \"sampled\", "
		     "\"samples\": [[0]], \"weights\": [NaN]}]}",
		     "a weight is not a number");
}

static void test_byte_order_mark(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *trace =
		load_text("\xef\xbb\xbf[{\"ph\": \"X\", \"ts\": 0, \"dur\": 5, \"name\": \"f\"}]");
	fz_auto(fz_profile_freep) struct fz_profile *graph =
		load_text("\xef\xbb\xbf# callgrind format\nevents: Ir\nfn=f\n1 7\n");

	(void)state;
	assert_int_equal(cost(trace, NULL, "f", false), 5000);
	assert_int_equal(cost(graph, NULL, "f", false), 7);
}

/* Lines of a node are dealt out to its samples; the last sample lasts until the end. */
static void test_cpuprofile(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\"}, "
		"\"children\": [7]}, {\"id\": 7, \"callFrame\": {\"functionName\": \"\", \"url\": "
		"\"a.js\", \"lineNumber\": 4}, \"positionTicks\": [{\"line\": 6, \"ticks\": 1}, "
		"{\"line\": 8, \"ticks\": 1}]}], \"samples\": [7, 1, 7], \"timeDeltas\": [5, 10, "
		"20], \"startTime\": 100, \"endTime\": 200}");

	(void)state;
	assert_int_equal(cost(p, "wall", "(anonymous)", false), 10000 + 65000);
	assert_int_equal(sum_of(p, 0), 95000);
	assert_int_equal(p->frames[p->stacks[p->samples.stack[0]].frame].line, 6);
	assert_int_equal(p->frames[p->stacks[p->samples.stack[2]].frame].line, 8);
	assert_int_equal(
		p->functions[p->frames[p->stacks[p->samples.stack[0]].frame].function].first_line,
		5);
}

/* Parents that form a circle, and children without a parent. */
static void test_circles(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"{\"nodes\": [{\"id\": 1, \"children\": [2], \"callFrame\": {\"functionName\": "
		"\"a\"}}, {\"id\": 2, \"children\": [1], \"callFrame\": {\"functionName\": "
		"\"b\"}}], "
		"\"samples\": [1, 2, 9], \"timeDeltas\": [1, 1, 1], \"endTime\": 9}");

	(void)state;
	assert_int_equal(p->samples.n, 3);
	assert_int_equal(p->samples.stack[2], FZ_NONE);
}

static void test_numbers(void **state)
{
	/* Too large for 64 bits, and texts for numbers. */
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("[{\"ph\": \"X\", \"name\": \"a\", \"ts\": \"5\", \"dur\": 2, \"id\": "
			  "99999999999999999999, \"pid\": 1, \"tid\": 1}]");

	(void)state;
	assert_int_equal(cost(p, NULL, "a", false), 2000);
}

/* ---- perf ---- */

static void test_perf(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("my app  7/9 [001] d..1.  12.000001:  1001001 cpu-clock:u: \n"
			  "\t  5601 operator()(int)+0x1f (/bin/x (deleted))\n"
			  "\t  5602 [unknown] (/bin/x (deleted))\n"
			  "\t  7f10 py::Class.walk:/app/w.py+0xa (/run/perf.map)\n\n"
			  "my app  7/9 [001]  12.5:  1001001 cpu-clock:u: \n"
			  "\tffffffff81000000 do_idle+0x3 ([kernel.kallsyms])\n  sched.c:44\n\n"
			  "dd 77 13.5:  9 cycles:  1f read (/lib/libc.so.6)\n");
	const struct fz_thread *t = &p->threads[p->samples.thread[0]];

	(void)state;
	assert_int_equal(p->samples.n, 3);
	assert_true(t->pid == 7 && t->tid == 9 && !t->is_main);
	assert_true(fz_str_eq(fz_profile_text(p, t->name), FZ_STR("my app")));
	assert_int_equal(cost(p, "cpu", "operator()(int)", false), 1001001);
	assert_int_equal(cost(p, "cpu", "[x]", true), 1001001);
	assert_int_equal(cost(p, "cpu", "Class.walk", true), 1001001);
	const struct fz_function *own = fz_profile_stack_function(p, p->samples.stack[0]);
	assert_string_equal(fz_profile_text(p, own->module).p, "/bin/x");
	assert_int_equal(cost(p, "cycles", "read", false), 9);
	assert_int_equal(sum_of(p, fz_profile_find_metric(p, FZ_STR("samples"))), 3);
	assert_int_equal(p->samples.time[1], 499999000);
	const struct fz_frame *kernel = &p->frames[p->stacks[p->samples.stack[1]].frame];
	assert_int_equal(kernel->line, 44);
	assert_int_equal(p->functions[kernel->function].kind, FZ_KIND_KERNEL);
}

/* Other output of perf in between is not an event. */
static void test_perf_words(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"Warning:\nProcessed 100 events and lost 2 chunks!\n\nCheck IO/CPU overload!\n\n"
		"a 1 1.000000: 7 cycles:\n\t     55d0 f+0x1 (/a)\n\n");

	(void)state;
	assert_int_equal(p->metric_count, 2);
	assert_string_equal(p->metrics[p->default_metric].name, "cycles");
	assert_int_equal(cost(p, NULL, "f", false), 7);
	assert_int_equal(p->skipped_lines, 3);
}

/* ---- written and read ---- */

static const char *const app = "app.py:main:1;app.py:work:5 3\n"
			       "app.py:main:1;app.py:work:7;lib.py:leaf:2 40\n"
			       "app.py:main:2;app.py:main:2;lib.py:leaf:3 5\n"
			       "2@app.py:other:9;app.py:work:5 11\n";

static void test_written(void **state)
{
	const struct fz_format *formats[] = { &fz_format_pprof, &fz_format_speedscope,
					      &fz_format_cpuprofile, &fz_format_callgrind };
	static const char *const names[] = { "main", "work", "leaf", "other" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(formats); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile(app, 1000000);
		fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, formats[i]);
		fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
		struct fz_error err;
		if (load_bytes(b.p, b.n, "written", &q, &err))
			fail_msg("%s: %s", formats[i]->name, err.message);
		for (size_t n = 0; n < FZ_ARRAY_LEN(names); n++)
			assert_int_equal(cost(q, "wall", names[n], false),
					 cost(p, "wall", names[n], false));
		assert_int_equal(cost(q, "wall", "main", true), cost(p, "wall", "main", true));
		/* The same again, byte for byte. */
		fz_auto(fz_buf_release) struct fz_buf c = save_bytes(p, formats[i]);
		assert_true(b.n == c.n && memcmp(b.p, c.p, b.n) == 0);
	}
}

/* What pprof can hold beyond: all metrics, lines, threads. */
static void test_pprof(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = hand_profile(app, 1000000);
	fz_auto(fz_buf_release) struct fz_buf b = save_bytes(p, &fz_format_pprof);
	fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
	struct fz_error err;

	(void)state;
	assert_int_equal(load_bytes(b.p, b.n, "x", &q, &err), 0);
	assert_int_equal(q->metric_count, 2);
	assert_string_equal(q->metrics[q->default_metric].name, "wall");
	assert_int_equal(q->recording.interval_ns, 1000000);
	assert_int_equal(fz_profile_sample_total(q), 59);
	assert_int_equal(q->thread_count, 2);
	assert_true(q->threads[0].pid == 10 && q->threads[1].tid == 2);
	assert_int_equal(q->frames[q->stacks[q->samples.stack[1]].frame].line, 2);
	/* Cut anywhere it is an error or less, never a crash. */
	for (size_t n = 0; n < b.n; n++) {
		fz_auto(fz_profile_freep) struct fz_profile *less = NULL;
		assert_true(load_bytes(b.p, n, "x", &less, &err) < 0);
	}
}

/* A sample type, two samples of one stack, one of them of the base that was subtracted. */
static void test_pprof_base(void **state)
{
	static const uint8_t bytes[] =
		"\x0a\x04\x08\x01\x10\x02\x12\x05\x0a\x01\x07\x12\x00"
		"\x12\x07\x08\x07\x10\x05\x1a\x01\x00"
		"\x12\x13\x08\x07\x10\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		"\x1a\x04\x08\x03\x10\x04\x22\x02\x08\x07\x32\x00\x32\x03"
		"cpu\x32\x05"
		"count\x32\x0bpprof::base\x32\x04true";
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	(void)state;
	if (load_bytes(bytes, sizeof(bytes) - 1, "x", &p, &err))
		fail_msg("%s", err.message);
	assert_int_equal(p->metric_count, 2);
	assert_int_equal(sum_of(p, 0), 5);
	assert_int_equal(sum_of(p, fz_profile_find_metric(p, FZ_STR("base"))), 3);
}

/* Number of samples of a profile that only has times, such as Pyroscope's: one row of 50 ns, in
 * `type`, with that period in ns of cpu. */
static uint64_t samples_of(int type, uint64_t period)
{
	static const char *const strings[] = { "", "cpu", "nanoseconds", "wall" };
	const char value_type[] = { 8, (char)type, 16, 2 };
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	fz_wire_put_bytes(&file, 1, (struct fz_str){ value_type, sizeof(value_type) });
	fz_wire_put_bytes(&file, 2, FZ_STR("\x0a\x01\x07\x12\x01\x32"));
	fz_wire_put_bytes(&file, 4, FZ_STR("\x08\x07\x22\x02\x08\x01"));
	fz_wire_put_bytes(&file, 5, FZ_STR("\x08\x01\x10\x01\x18\x01"));
	for (size_t i = 0; i < FZ_ARRAY_LEN(strings); i++)
		fz_wire_put_bytes(&file, 6, fz_str_of(strings[i]));
	fz_wire_put_bytes(&file, 11, FZ_STR("\x08\x01\x10\x02"));
	fz_wire_put(&file, 12, period);
	if (load_bytes(file.p, file.n, "x", &p, &err))
		fail_msg("%s", err.message);
	assert_int_equal(sum_of(p, 0), 50);
	return fz_profile_sample_total(p);
}

static void test_pprof_periods(void **state)
{
	(void)state;
	assert_int_equal(samples_of(1, 10), 5);
	assert_int_equal(samples_of(1, 50), 1);
	assert_int_equal(samples_of(1, 20), 1); /* not sampled at this period */
	assert_int_equal(samples_of(1, 0), 1);
	assert_int_equal(samples_of(3, 10), 1); /* the period of another type */
}

/* 5 of cpu in f, which has these names. */
static struct fz_profile *load_named(const char *name, const char *system_name)
{
	const char *const strings[] = { "", "cpu", "count", name, system_name };
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	struct fz_profile *p = NULL;
	struct fz_error err;

	fz_wire_put_bytes(&file, 1, FZ_STR("\x08\x01\x10\x02"));
	fz_wire_put_bytes(&file, 2, FZ_STR("\x0a\x01\x07\x12\x01\x05"));
	fz_wire_put_bytes(&file, 4, FZ_STR("\x08\x07\x22\x02\x08\x01"));
	fz_wire_put_bytes(&file, 5, FZ_STR("\x08\x01\x10\x03\x18\x04"));
	for (size_t i = 0; i < FZ_ARRAY_LEN(strings); i++)
		fz_wire_put_bytes(&file, 6, fz_str_of(strings[i]));
	if (load_bytes(file.p, file.n, "x", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void test_pprof_lines_in_names(void **state)
{
	static const struct {
		const char *name, *system_name, *wanted;
		int first_line;
	} cases[] = {
		{ "./app.js:parse:10", "parse", "parse", 10 },
		{ ":GC:0", "GC", "GC", 0 },
		{ "node:events:(anonymous:L#6:C#42):6", "(anonymous:L#6:C#42)", "(anonymous)", 6 },
		{ "(anonymous:L#7:C#9)", "", "(anonymous)", 7 },
		{ "(anonymous:L#7:C#x)", "", "(anonymous:L#7:C#x)", 0 },
		{ "./app.js:parse:10", "", "./app.js:parse:10", 0 },
		{ "./app.js:parse:ten", "parse", "./app.js:parse:ten", 0 },
		{ "./app.js:reparse:10", "parse", "./app.js:reparse:10", 0 },
		{ "parse:10", "parse", "parse:10", 0 },
		{ "parse", "_Z5parsev", "parse", 0 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p =
			load_named(cases[i].name, cases[i].system_name);
		const struct fz_function *f = &p->functions[p->frames[p->stacks[0].frame].function];

		assert_string_equal(p->strings[f->name].p, cases[i].wanted);
		assert_int_equal(f->first_line, cases[i].first_line);
	}
}

/* A pprof profile with one sample at location 7; `location` has the bytes of one. */
static struct fz_profile *load_pprof_location(const char *location, size_t n)
{
	static const char head[] =
		"\x0a\x04\x08\x01\x10\x02"         /* cpu in count */
		"\x12\x06\x0a\x01\x07\x12\x01\x05" /* 5 at location 7 */
		"\x1a\x0e\x08\x01\x10\x80\x80\x80\x02\x20\x80\x20\x28\x03\x18\x00"
		"\x2a\x04\x08\x01\x10\x04" /* function 1 is "main" */
		"\x32\x00\x32\x03"
		"cpu\x32\x05"
		"count\x32\x08"
		"/lib/x.s\x32\x04main";
	fz_auto(fz_buf_release) struct fz_buf file = { 0 };
	struct fz_profile *p = NULL;
	struct fz_error err;

	fz_buf_add(&file, head, sizeof(head) - 1);
	fz_buf_add(&file, location, n);
	if (load_bytes(file.p, file.n, "x", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void check_pprof_frame(const char *location, size_t n, const char *wanted)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_pprof_location(location, n);

	assert_int_equal(p->stack_count, 1);
	const struct fz_function *f = &p->functions[p->frames[p->stacks[0].frame].function];
	assert_string_equal(p->strings[f->name].p, wanted);
}

/* Without a name a frame is an address in its module's file: what was mapped from 0x1000 of it on
 * at 0x400000. */
static void test_pprof_mapping(void **state)
{
	static const char location[] = "\x22\x09\x08\x07\x10\x01\x18\xb4\x82\x80\x02";

	(void)state;
	check_pprof_frame(location, sizeof(location) - 1, "x.s+0x1134");
}

/* A field that claims one byte more than its message has does not get it from what follows. */
static void test_pprof_bounds(void **state)
{
	static const char whole[] = "\x22\x06\x08\x07\x22\x02\x08\x01\x48\x00",
			  longer[] = "\x22\x06\x08\x07\x22\x03\x08\x01\x48\x00";

	(void)state;
	check_pprof_frame(whole, sizeof(whole) - 1, "main");
	check_pprof_frame(longer, sizeof(longer) - 1, "0x0");
}

/* A stack of the main thread of process 1, in two interpreters. */
/* A location without a known function is an address; a missing location is reported. */
static void test_pprof_dangling(void **state)
{
	static const char function[] = "\x22\x08\x08\x07\x18\x10\x22\x02\x08\x05\x48\x00",
			  location[] = "\x22\x06\x08\x08\x22\x02\x08\x01\x48\x00";

	(void)state;
	check_pprof_frame(function, sizeof(function) - 1, "0x10");
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_pprof_location(location, sizeof(location) - 1);
	assert_true(fz_str_eq(fz_profile_fact(p, "notes"),
			      FZ_STR("1 frame whose location is not in the file left out")));
}

static void test_mojo_interpreters(void **state)
{
	static const char file[] = "MOJ\x03"
				   "\x02\x01\x00"
				   "1\0"
				   "\x09\x05"
				   "\x02\x01\x02"
				   "1\0"
				   "\x09\x07";
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	struct fz_error err;

	(void)state;
	if (load_bytes(file, sizeof(file) - 1, "file", &p, &err))
		fail_msg("%s", err.message);
	assert_int_equal(p->samples.n, 2);
	assert_int_equal(sum_of(p, p->default_metric), 12000);
	for (uint32_t row = 0; row < 2; row++) {
		const struct fz_thread *t = &p->threads[p->samples.thread[row]];
		assert_int_equal(t->interp, 2 * row);
		assert_int_equal(t->tid, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_clock),
		cmocka_unit_test(test_trace_chunk_clock),
		cmocka_unit_test(test_cpuprofile_idle),
		cmocka_unit_test(test_folded_metric),
		cmocka_unit_test(test_folded_engines),
		cmocka_unit_test(test_times_only),
		cmocka_unit_test(test_no_profile),
		cmocka_unit_test(test_pprof_values),
		cmocka_unit_test(test_speedscope_weights),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_callgrind),
		cmocka_unit_test(test_callgrind_cycles),
		cmocka_unit_test(test_callgrind_errors),
		cmocka_unit_test(test_trace_exact),
		cmocka_unit_test(test_trace_places),
		cmocka_unit_test(test_trace_ids),
		cmocka_unit_test(test_speedscope_of_negative_costs),
		cmocka_unit_test(test_speedscope_exact),
		cmocka_unit_test(test_cpuprofile_times),
		cmocka_unit_test(test_huge_values),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_perf_words),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_json_errors),
		cmocka_unit_test(test_json_of_others),
		cmocka_unit_test(test_byte_order_mark),
		cmocka_unit_test(test_cpuprofile),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_pprof_base),
		cmocka_unit_test(test_pprof_periods),
		cmocka_unit_test(test_pprof_lines_in_names),
		cmocka_unit_test(test_pprof_mapping),
		cmocka_unit_test(test_pprof_bounds),
		cmocka_unit_test(test_pprof_dangling),
		cmocka_unit_test(test_mojo_interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
