/* SPDX-License-Identifier: MIT */
/* Profilers of other languages: pyinstrument, stackprof and the text formats of Go, gperftools and
 * jemalloc, on the fuzz targets' seeds. tests/live/test_formats.py uses files of the tools. */
#include "profile/callgraph.h"
#include "read_format.h"

static struct fz_profile *load_seed(const char *name)
{
	fz_auto(fz_free_ptr) char *path = tests_file_of("fuzz/corpus/%s", name);

	return load_file(path);
}

/* The innermost function of a row, its line and what the row weighs. */
static void expect_row(const struct fz_profile *p, size_t row, const char *name, int32_t line,
		       int64_t weight)
{
	const struct fz_frame *frame = &p->frames[p->stacks[p->samples.stack[row]].frame];
	struct fz_str got = fz_profile_text(p, p->functions[frame->function].name);

	assert_true(fz_str_eq(got, fz_str_of(name)));
	assert_int_equal(frame->line, line);
	assert_int_equal(fz_sample_weight(p, p->default_metric, row), weight);
}

static void test_session(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pyinstrument/session");

	(void)state;
	assert_int_equal(p->samples.n, 3);
	expect_row(p, 0, "A.f", 4, 250000000);
	expect_row(p, 1, "<module>", 8, 125000000);
	expect_row(p, 2, "[await]", FZ_NO_LINE, 62500000);
	assert_int_equal(p->samples.time[2], 375000000);
	const struct fz_thread *t = &p->threads[p->samples.thread[0]];
	assert_true(t->is_main && t->tid == 7);
	assert_int_equal(p->threads[p->samples.thread[2]].tid, 8);
	assert_int_equal(p->stacks[p->samples.stack[0]].depth, 2);
	assert_int_equal(p->recording.interval_ns, 1000000);
}

/* What "[self]" and no child takes is the function's own. */
static void test_report(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pyinstrument/report");
	int64_t sum = 0;

	(void)state;
	expect_row(p, 0, "A.f", FZ_NO_LINE, 375000000);
	for (size_t i = 1; i < p->samples.n; i++) {
		expect_row(p, i, "<module>", FZ_NO_LINE, 62500000);
		sum += 62500000;
	}
	assert_int_equal(sum, 125000000);
}

/* Its identifiers contain NUL, and a class is the key of an attribute. */
static void test_pyinstrument_page(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"<!DOCTYPE html><script>var pyinstrumentHTMLRenderer=function(){};</script>\n"
		"<script>const sessionData = {\"session\":{\"target_description\":\"Program: "
		"a.py\","
		"\"duration\":2},\"frame_tree\":{\"identifier\":\"MainThread\\u0000<thread>"
		"\\u000077\","
		"\"time\":2,\"children\":[{\"identifier\":\"run\\u0000a.py\\u00005\",\"time\":2,"
		"\"attributes\":{\"cJob\":2,\"l7\":1.5,\"l8\":0.5},\"children\":[{\"identifier\":"
		"\"[self]\","
		"\"time\":0.5},{\"identifier\":\"sleep\\u0000<built-in>\\u00000\",\"time\":1.5}]}]}"
		"};\n"
		"more</script>");

	assert_int_equal(sum_of(p, 0), 2000000000);
	assert_int_equal(cost(p, NULL, "Job.run", false), 500000000);
	assert_int_equal(cost(p, NULL, "sleep", false), 1500000000);
	assert_int_equal(p->threads[p->samples.thread[0]].tid, 77);
	expect_error("<!DOCTYPE html><script>var pyinstrumentHTMLRenderer=1</script>",
		     "the page has no data");
}

static void test_stackprof(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *wall = load_seed("stackprof/wall");
	fz_auto(fz_profile_freep) struct fz_profile *cpu = load_seed("stackprof/cpu");
	fz_auto(fz_profile_freep) struct fz_profile *object = load_seed("stackprof/object");

	(void)state;
	expect_row(wall, 0, "Object#f", 4, 2000000);
	expect_row(wall, 1, "(garbage collection)", FZ_NO_LINE, 1500000);
	assert_int_equal(wall->stacks[wall->samples.stack[0]].depth, 2);
	assert_int_equal(fz_profile_sample_total(wall), 3);
	expect_row(cpu, 1, "(garbage collection)", FZ_NO_LINE, 1000000);
	expect_row(object, 0, "Object#f", 4, 2000);
	assert_string_equal(object->metrics[0].name, "objects");
}

/* 8192 bytes in 2 pieces, seen every 4096: 2 / (1 - e^-1) of them. */
static void test_go_heap(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pprof_text/go-heap");

	(void)state;
	assert_int_equal(p->samples.n, 2);
	assert_string_equal(p->metrics[p->default_metric].name, "inuse_space");
	expect_row(p, 0, "main.grow", 5, 12959);
	expect_row(p, 1, "main.grow", 5, 0);
	assert_int_equal(fz_sample_weight(p, 2, 0), 3);
	assert_int_equal(fz_sample_weight(p, 1, 1), 81920);
	assert_int_equal(p->stacks[p->samples.stack[0]].depth, 2);
}

/* Cycles become time; each written sample stands for a period of them. */
static void test_locks(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *theirs = load_seed("pprof_text/contention");
	fz_auto(fz_profile_freep) struct fz_profile *go = load_seed("pprof_text/mutex");

	(void)state;
	assert_string_equal(theirs->metrics[theirs->default_metric].name, "delay");
	assert_int_equal(sum_of_metric(theirs, "delay"), 608881724);
	assert_int_equal(sum_of_metric(theirs, "contentions"), 2700);
	assert_int_equal(cost(theirs, "contentions", "app+0x7ccc96", false), 2700);
	assert_int_equal(cost(go, "contentions", "sync.(*Mutex).Unlock", false), 39);
	assert_int_equal(cost(go, "delay", "sync.(*Mutex).Unlock", false), 132268652);
}

static void test_goroutines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pprof_text/goroutine");

	(void)state;
	expect_row(p, 0, "main.wait", 8, 2);
	expect_row(p, 1, "0x442bd0", FZ_NO_LINE, 1);
	assert_string_equal(p->metrics[0].name, "goroutine");
}

/* Without names: addresses in the files that were mapped. */
static void test_gperftools(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pprof_text/gperftools");

	(void)state;
	expect_row(p, 0, "prog+0x1011", FZ_NO_LINE, 526338);
	assert_int_equal(p->stacks[p->samples.stack[0]].depth, 2);
}

/* 524288 bytes in 2 pieces, seen every 524288: 524288 / (1 - e^-0.5) of them; in one piece:
 * 524288 / (1 - e^-1). What single threads hold is part of that. */
static void test_jemalloc(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("pprof_text/jemalloc");

	(void)state;
	assert_int_equal(p->samples.n, 2);
	assert_string_equal(p->metrics[p->default_metric].name, "inuse_space");
	expect_row(p, 0, "x+0x1135", FZ_NO_LINE, 1332474);
	expect_row(p, 1, "x+0x116f", FZ_NO_LINE, 829411);
	assert_int_equal(p->stacks[p->samples.stack[0]].depth, 2);
	assert_int_equal(sum_of_metric(p, "inuse_objects"), 5 + 1);
	assert_int_equal(sum_of_metric(p, "alloc_objects"), 6 + 3);
}

static void test_jemalloc_broken(void **state)
{
	(void)state;
	expect_error("heap_v2/524288\n  t*: 3: 1048576 [0: 0]\n", "no stack");
	expect_error("heap_v2/8\n  t*: 3: 9 [0: 0]\n@ 0x4\n  t0: 3: 9 [0: 0]\n", "no stack");
	expect_error("heap_v2/8\n  t*: 3: 9 [0: 0]\n@ 0x4\n  t*: 3: x [0: 0]\n", "no stack");
	expect_error("heap_v2/524288\nnothing\n", "not a profile");
}

static void test_broken(void **state)
{
	(void)state;
	expect_error("{\"target_description\":\"\",\"root_frame\":null}", "no frames");
	expect_error("{\"gc_samples\":0,\"missed_samples\":0,\"frames\":{}}", "raw: true");
	expect_error("goroutine profile: total 3\n\n", "no stack");
	expect_error("{\"gc_samples\":0,\"missed_samples\":0,\"frames\":{},\"raw\":[1,5,1]}",
		     "damaged");
	expect_error("{\"gc_samples\":0,\"missed_samples\":0,\"frames\":{},\"raw\":[9,5,1]}",
		     "damaged");
	expect_error("{\"gc_samples\":0,\"missed_samples\":0,\"frames\":{},\"raw\":[0,-1]}",
		     "damaged");
}

/* What a converter of pprof files sends has values and no times: 370 ms in periods of 10 ms. */
static void test_otlp_periods(void **state)
{
	fz_auto(fz_free_ptr) char *path = tests_file("data/otlp/collector.json");
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);

	(void)state;
	assert_int_equal(p->samples.n, 6);
	assert_int_equal(fz_profile_sample_total(p), 37);
	assert_int_equal(fz_sample_count(p, 0), 22);
	assert_int_equal(fz_sample_weight(p, 0, 0), 220000000);
}

/* What the collector's file exporter writes: twice the message of the seed "all". */
static void test_otlp_messages(void **state)
{
	static const char *const seeds[] = { "otlp/lengths", "otlp/packed" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(seeds); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_seed(seeds[i]);
		assert_int_equal(sum_of(p, 0), 204);
		assert_int_equal(cost(p, NULL, "libc.so.6+0x1234", false), 200);
		assert_int_equal(p->run_count, 1);
	}
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("otlp/lines");
	assert_int_equal(cost(p, NULL, "leaf", false), 70);
	assert_int_equal(cost(p, NULL, "next", false), 30);
	assert_int_equal(p->recording.duration_ns, 1000);
}

#define OTLP_LINE(time)                                                                            \
	"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":"               \
	"{\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,\"values\":[7]}]," \
	"\"timeUnixNano\":" time ",\"durationNano\":500}]}]}],\"dictionary\":{\"stringTable\":"    \
	"[\"\",\"cpu\",\"nanoseconds\",\"f\"],\"functionTable\":[{},{\"nameStrindex\":3}],"        \
	"\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]}],"                              \
	"\"stackTable\":[{},{\"locationIndices\":[1]}]}}"

/* Messages may have no profiles or no time, and the last may be cut after any bracket. */
static void test_otlp_unusual(void **state)
{
	static const char *const texts[] = {
		OTLP_LINE("1000") "\n{\"resourceProfiles\": []}\n{}\n",
		"{}\n" OTLP_LINE("1000") "\n",
		OTLP_LINE("1000") "\n{\"resourceProfiles\":[{}",
		OTLP_LINE("1700000000000000000") "\n" OTLP_LINE("0") "\n",
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_text(texts[i]);
		assert_int_equal(cost(p, NULL, "f", false), i == 3 ? 14 : 7);
		assert_int_equal(p->recording.duration_ns, 500);
		assert_int_equal(fz_profile_fact(p, "notes").n > 0, i == 2);
	}
	expect_error("{\"resourceProfiles\": []}\n{\"resourceProfiles\": []}\n", "no profiles");
	expect_error(OTLP_LINE("1") "\r\n{\"resourceProfiles\":[{}\r\n", "file: ");
	expect_error(OTLP_LINE("1") "\n{\"resourceProfiles\":[{}\n" OTLP_LINE("1") "\n", "file: ");
}

/* A message that was being written is dropped. */
static void test_otlp_cut(void **state)
{
	static const char *const seeds[] = { "lengths", "packed", "lines" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(seeds); i++) {
		fz_auto(fz_free_ptr) char *path = tests_file_of("fuzz/corpus/otlp/%s", seeds[i]);
		size_t n;
		fz_auto(fz_free_ptr) char *bytes = fz_read_small(path, 1 << 20, &n);
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		struct fz_error err;
		assert_int_equal(load_bytes(bytes, n - 3, "file", &p, &err), 0);
		assert_int_equal(sum_of(p, 0), i == 2 ? 70 : 102);
		assert_true(fz_profile_fact(p, "notes").n > 0);
	}
}

#define SAMPLE(inner, outer, object)                                                     \
	"node 5/5 1.5: 1000 cycles: \n\t7f00 " inner "+0x10 (" object ")\n\t7f20 " outer \
	"+0x0 (" object ")\n\n"
#define MAP "/tmp/perf-5.map"

/* A function that V8 compiled in several ways is one; names that only look like V8's are not
 * merged. */
static void test_perf_script_of_node(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		SAMPLE("LazyCompile:*fib /a b/x.js:3", "LazyCompile:~main /a b/x.js:30",
		       MAP) SAMPLE("LazyCompile:~fib /a b/x.js:3", "JS:~main /a b/x.js:30:1", MAP)
			SAMPLE("JS:^fib file:///a b/x.js:3:10", "Function::call", "/lib/x"));
	const struct fz_function *f = &p->functions[p->frames[p->stacks[1].frame].function];

	(void)state;
	assert_int_equal(p->function_count, 4);
	assert_string_equal(fz_profile_text(p, f->name).p, "fib");
	assert_string_equal(fz_profile_text(p, f->file).p, "/a b/x.js");
	assert_int_equal(f->first_line, 3);
	assert_int_equal(cost(p, NULL, "fib", false), 2000);
	assert_int_equal(cost(p, NULL, "main", true), 2000);
	assert_int_equal(cost(p, NULL, "Function::call", true), 1000);
}

static void test_perf_script_events(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("a 5 10 1gb_pages:u: \n\t    560cb47e52e0 f+0x0 (/bin/a)\n\n"
			  "a 5 \n\t    560cb47e52e0 f+0x0 (/bin/a)\n\n");

	(void)state;
	assert_string_equal(p->metrics[0].name, "1gb_pages");
	assert_int_equal(fz_sample_weight(p, 0, 0), 10);
	assert_string_equal(p->metrics[1].name, "unknown");
	assert_int_equal(p->threads[0].tid, 5);
}

/* A sample lasts until the next of its thread; the last one does not. */
static void test_sentry(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("sentry/transaction");
	fz_auto(fz_profile_freep) struct fz_profile *chunk = load_seed("sentry/chunk");

	(void)state;
	assert_int_equal(p->samples.n, 4);
	expect_row(p, 0, "A.f", 3, 10000000);
	expect_row(p, 1, "main", 9, 0);
	expect_row(p, 2, "main", 9, 2000000);
	expect_row(p, 3, "A.f", 3, 0);
	assert_int_equal(cost(p, NULL, "main", true), 12000000);
	const struct fz_thread *t = &p->threads[p->samples.thread[0]];
	assert_int_equal(t->tid, 7);
	assert_string_equal(fz_profile_text(p, t->name).p, "MainThread");
	expect_row(chunk, 0, "f", FZ_NO_LINE, 500000000);
	const struct fz_function *f =
		&chunk->functions[chunk->frames[chunk->stacks[0].frame].function];
	assert_int_equal(f->first_line, 4);
	expect_error("{\"platform\": \"cocoa\", \"profile\": {\"samples\": [{\"frames\": []}]}}",
		     "unsupported version");
}

/* Ids may be texts, and numbers of any 64 bits. */
static void test_sentry_threads(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"{\"platform\": \"cocoa\", \"profile\": {\"frames\": [{\"function\": \"f\"}],"
		"\"stacks\": [[0]], \"samples\": ["
		"{\"elapsed_since_start_ns\": 1, \"stack_id\": 0, \"thread_id\": \"a\"},"
		"{\"elapsed_since_start_ns\": 2, \"stack_id\": 0, \"thread_id\": \"b\"},"
		"{\"elapsed_since_start_ns\": 3, \"stack_id\": 0,"
		" \"thread_id\": \"18446744073709551615\"},"
		"{\"elapsed_since_start_ns\": 4, \"stack_id\": 0, \"thread_id\": \"a\"}],"
		"\"thread_metadata\": {\"b\": {\"name\": \"named\"}}}}");

	(void)state;
	assert_int_equal(p->thread_count, 3);
	assert_string_equal(fz_profile_text(p, p->threads[0].name).p, "a");
	assert_string_equal(fz_profile_text(p, p->threads[1].name).p, "named");
	assert_int_equal(p->threads[2].tid, UINT64_MAX);
	assert_int_equal(sum_of_metric(p, "wall"), 3);
}

static int64_t recorded_total(const struct fz_profile *p, const char *name)
{
	int64_t totals[8] = { 0 }, ret = 0;

	assert_true(p->function_count <= FZ_ARRAY_LEN(totals));
	fz_callgraph_totals(p, 0, NULL, p->function_count, totals);
	for (uint32_t f = 0; f < p->function_count; f++)
		if (strcmp(fz_profile_text(p, p->functions[f].name).p, name) == 0)
			ret += totals[f];
	return ret;
}

/* Self costs are those of the flat profile, and are not added to those of the graph. */
static void test_gprof(void **state)
{
	static const char *const seeds[] = { "gprof/both", "gprof/graph" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(seeds); i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = load_seed(seeds[i]);
		assert_int_equal(sum_of_metric(p, "cpu"), 100000000);
		assert_int_equal(cost(p, NULL, "leaf(int)", false), 80000000);
		assert_int_equal(cost(p, NULL, "main", false), 20000000);
		assert_int_equal(cost(p, NULL, "even(int)", true), 60000000);
		assert_int_equal(p->callgraph->functions[0].calls, i ? 0 : 500);
		assert_int_equal(recorded_total(p, "main"), 100000000);
		assert_int_equal(recorded_total(p, "even(int)"), 60000000);
	}
}

/* Only an index and a cycle are removed from names; counts do not wrap. */
static void test_gprof_names(void **state)
{
	static const char text[] =
		"  %   cumulative   self              self     total\n"
		" time   seconds   seconds    calls  ms/call  ms/call  name\n"
		" 50.0      0.05     0.05 4611686018427387903  1.00  1.00  sum(int const (&) "
		"[3ul])\n"
		" 25.0      0.07     0.02 4611686018427387903  1.00  1.00  sum(int const (&) "
		"[4ul]) [7]\n"
		" 25.0      0.10     0.03 4611686018427387903  1.00  1.00  odd <cycle 1> [12]\n"
		"  0.0      0.10     0.00 4611686018427387903  1.00  1.00  odd\n"
		"  0.0      0.10     0.00 4611686018427387903  1.00  1.00  odd\n";
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(text);

	(void)state;
	assert_int_equal(cost(p, NULL, "sum(int const (&) [3ul])", false), 50000000);
	assert_int_equal(cost(p, NULL, "sum(int const (&) [4ul])", false), 20000000);
	assert_int_equal(cost(p, NULL, "odd", false), 30000000);
	assert_int_equal(p->callgraph->functions[2].calls, 1l << 60);
}

static void test_gprof_lines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("gprof/lines");
	const struct fz_frame *f = &p->frames[0];

	(void)state;
	assert_int_equal(cost(p, NULL, "leaf(int)", false), 80000000);
	assert_string_equal(fz_profile_text(p, p->functions[f->function].file).p, "a.cpp");
	assert_int_equal(f->line, 4);
	assert_int_equal(p->recording.interval_ns, 10000000);
	/* The graph has no totals, so samples are written. */
	fz_auto(fz_buf_release) struct fz_buf text = save_bytes(p, &fz_format_callgrind);
	fz_auto(fz_profile_freep) struct fz_profile *back = load_text(text.p);
	assert_int_equal(cost(back, "cpu", "leaf(int)", false), 80000000);
}

static void test_rprof(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_seed("rprof/plain");
	fz_auto(fz_profile_freep) struct fz_profile *lines = load_seed("rprof/lines");
	fz_auto(fz_profile_freep) struct fz_profile *memory = load_seed("rprof/memory");

	(void)state;
	assert_int_equal(p->samples.n, 2);
	assert_int_equal(p->skipped_lines, 1);
	assert_int_equal(p->recording.interval_ns, 20000000);
	expect_row(p, 0, "f", FZ_NO_LINE, 1);
	assert_int_equal(cost(p, NULL, "<GC>", true), 1);
	assert_int_equal(cost(p, NULL, "main", true), 2);
	expect_row(lines, 0, "f", 3, 1);
	assert_int_equal(lines->frames[lines->stacks[0].frame].line, 7);
	expect_row(memory, 0, "f", FZ_NO_LINE, 1);
	assert_int_equal(memory->stacks[memory->samples.stack[0]].depth, 2);
}

/* What cannot be read is refused by name, with the way to convert it. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "NYTProf 5 0\n#Perl profile database.\n", "nytprofcalls FILE" },
		{ "hdrb", "hs-speedscope FILE" },
		{ "JLPROF\x01", "PProf.jl" },
		{ "Overhead | [+additional indent] Count File:Line; Function\n", "PProf.jl" },
		{ "{\"program\": \"a\", \"cost_centres\": []}", "+RTS -p" },
		{ "{\"main()\": {\"ct\": 1, \"wt\": 100}}", "a profile of XHProf" },
		{ "# Samples: 93  of event 'cycles:u'\n#\n    93.55%     0.00%  a  [.] f\n",
		  "perf script >FILE.perf" },
		{ "Version: 3.1.5\nFile format: 4\nTRACE START [2024-01-01 00:00:00]\n",
		  "stackcollapse-xdebug.php" },
		{ "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n",
		  "python -m cProfile -o" },
		{ "Timer unit: 1e-06 s\n\nTotal time: 0.1 s\n", "a table of line_profiler" },
		{ "      flat  flat%   sum%        cum   cum%\n", "pprof -proto FILE" },
		{ "Function\tCPU Time\tModule\nmain\t1.5\ta\n", "inferno-collapse-vtune --help" },
		{ "gmon\x01", "gprof PROGRAM FILE >FILE.txt" },
		{ "Ftrace!", "uftrace dump --flame-graph" },
		{ "SLOW\xf3", "a method trace of Android" },
		{ "{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {}}", "perf script -i" },
		{ "{\"type\":\"meta\",\"v\":0,\"run_id\":\"9\",\"sample_interval_usec\":1000}\n",
		  "--binary writes" },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++)
		expect_error(cases[i].text, cases[i].says);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_pyinstrument_page),
		cmocka_unit_test(test_stackprof),
		cmocka_unit_test(test_go_heap),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_perf_script_of_node),
		cmocka_unit_test(test_perf_script_events),
		cmocka_unit_test(test_sentry),
		cmocka_unit_test(test_rprof),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sentry_threads),
		cmocka_unit_test(test_gprof),
		cmocka_unit_test(test_gprof_names),
		cmocka_unit_test(test_gprof_lines),
		cmocka_unit_test(test_otlp_periods),
		cmocka_unit_test(test_otlp_messages),
		cmocka_unit_test(test_otlp_unusual),
		cmocka_unit_test(test_otlp_cut),
		cmocka_unit_test(test_goroutines),
		cmocka_unit_test(test_gperftools),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_jemalloc),
		cmocka_unit_test(test_jemalloc_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
