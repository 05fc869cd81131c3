/* SPDX-License-Identifier: MIT */
/* Folded text of every dialect, read and written. */
#include "format_help.h"

static struct fz_profile *load_text(const char *text)
{
	struct fz_profile *p = NULL;
	struct fz_error err;

	if (load_bytes(text, strlen(text), "test", &p, &err))
		fail_msg("%s", err.message);
	return p;
}

static void check_text(const char *text, const struct fz_format *f, const char *want)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(text);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, f);

	assert_string_equal(got.p ? got.p : "", want);
}

/* "name file line" of the leaf of a row. */
static char *leaf(const struct fz_profile *p, size_t row)
{
	const struct fz_frame *f = &p->frames[p->stacks[p->samples.stack[row]].frame];
	const struct fz_function *function = &p->functions[f->function];

	return fz_asprintf("%s|%s|%d", fz_profile_text(p, function->name).p,
			   fz_profile_text(p, function->file).p, f->line);
}

static void check_leaf(const struct fz_profile *p, size_t row, const char *want)
{
	fz_auto(fz_free_ptr) char *got = leaf(p, row);

	assert_string_equal(got, want);
}

static void test_plain(void **state)
{
	(void)state;
	check_text("a;b;c 1\na;b;c 1\na;b;d 4\na;b;c 3\na;b 5", &fz_format_folded,
		   "a;b 5\na;b;c 5\na;b;d 4\n");
}

static void test_order(void **state)
{
	(void)state;
	/* by falling count, then by text */
	check_text("z 1\na 1\nm;n 7\n", &fz_format_folded, "m;n 7\na 1\nz 1\n");
}

static void test_line_ends(void **state)
{
	(void)state;
	check_text("a;b 1\r\na;b 2\r\na 4", &fz_format_folded, "a 4\na;b 3\n");
	check_text("\xef\xbb\xbf\x61;b 1\n\n\na;b 2\n", &fz_format_folded, "a;b 3\n");
}

static void test_utf16(void **state)
{
	static const char little[] = "\xff\xfe"
				     "a\0;\0b\0 \0"
				     "1\0\r\0\n\0a\0;\0\x3d\xd8\x00\xde \0"
				     "2\0";
	static const char big[] = "\xfe\xff\0a\0;\0b\0 \0"
				  "1\0\n\0a\0;\xd8\x3d\xde\x00\0 \0"
				  "2";
	struct fz_error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		int r = i ? load_bytes(big, sizeof(big) - 1, "x", &p, &err)
			  : load_bytes(little, sizeof(little) - 1, "x", &p, &err);
		if (r)
			fail_msg("%s", err.message);
		fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_folded);
		assert_string_equal(got.p, "a;\xf0\x9f\x98\x80 2\na;b 1\n");
	}
}

/* Threads of our own are threads also if few frames have a file. */
static void test_threads_of_names(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("tid:7;main;std::sort;x.py:f:3 1\ntid:7;main 2\ntid:8;other 4\n");

	(void)state;
	assert_int_equal(p->thread_count, 2);
	check_leaf(p, 0, "f|x.py|3");
	check_leaf(p, 1, "main||-1");
	check_text("tid:7;main;std::sort 1\n", &fz_format_folded, "main;std::sort 1\n");
}

/* Only what the writer escapes is an escape: x64 and x86 are folders. */
static void test_windows_paths(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *colon =
		load_text("C:\\x64\\a b\\y.py:go:1;C:\\x64\\a b\\x.py:run:7 1\n");
	fz_auto(fz_profile_freep) struct fz_profile *paren =
		load_text("go (C:\\proj\\y.py:1);run (C:\\proj\\x86\\x.py:7) 1\n");

	(void)state;
	check_leaf(colon, 0, "run|C:\\x64\\a b\\x.py|7");
	check_leaf(paren, 0, "run|C:\\proj\\x86\\x.py|7");
	check_text("C:\\x64\\y\\x y.dll!f;a\\x3b\\x5cx3b 1\n", &fz_format_folded,
		   "C:\\x64\\y\\x y.dll!f;a\\x3b\\x5cx3b 1\n");
	check_text("m.py:m:1;C:\\x64\\x.py:run:7 1\n", &fz_format_collapsed,
		   "m.py:m:1;x.py:run:7 1\n");
}

static void test_invalid_lines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("# comment\n// other comment\na;b 1\ninvalid line\n 7\na;c x\n");

	(void)state;
	assert_int_equal(p->skipped_lines, 4);
	assert_int_equal(fz_profile_sample_total(p), 1);
}

static void test_blanks_in_names(void **state)
{
	(void)state;
	check_text("main;operator new(unsigned long) \t 3\nmain;a b;c d 2\n", &fz_format_folded,
		   "main;operator new(unsigned long) 3\nmain;a b;c d 2\n");
}

static void test_fractions(void **state)
{
	(void)state;
	check_text("a;b 100.6\na;b 100.8\na;c 2.\na;d 0.2\n", &fz_format_folded,
		   "a;b 201\na;c 2\na;d 1\n");
}

/* As awk, Perl and Python print them; a word of a name may end in digits. */
static void test_exponents(void **state)
{
	(void)state;
	check_text("a;b 2.5e+09\na;b;c 7.5E9\na;d 1e-10\n", &fz_format_folded,
		   "a;b;c 7500000000\na;b 2500000000\n");
	check_text("a;b 30\na;b 1.5e2\na;c 2.5e-01\na;c 7.5e-1\n", &fz_format_folded,
		   "a;b 180\na;c 1\n");
	check_text("a;f1e5 1\na;sha 1e5 2\na;e5 3\na;g 1e+2\n", &fz_format_folded,
		   "a;g 100\na;e5 3\na;sha 1e5 2\na;f1e5 1\n");
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("a;b 2\na;c e5\na;d 1e\na;d 1e+\na;d 1e400\na;d 1e2e3\na;d 0x1e5\n");
	assert_int_equal(p->skipped_lines, 6);
	assert_int_equal(fz_profile_sample_total(p), 2);
}

/* Two columns of difffolded.pl -n. */
static void test_two_columns_of_exponents(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("a;b 1e+06 2.5e+06\na;c 4 1e1\n");

	(void)state;
	assert_int_equal(p->metric_count, 2);
	assert_int_equal(p->metrics[0].column[0], 1000000);
	assert_int_equal(p->metrics[1].column[0], 2500000);
	assert_int_equal(p->metrics[1].column[1], 10);
}

/* V8 names a function by how it was compiled, and its names look like "file:function:line". */
static void test_names_of_v8(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"LazyCompile:~main /a.js:30;LazyCompile:*f /a.js:3 3\n"
		"LazyCompile:~main /a.js:30;LazyCompile:~f /a.js:3_[j] 2\n"
		"JS:~main file:///a.js:30:1;JS:^f file:///a.js:3:9;Function::~Function 1\n");

	check_leaf(p, 0, "f|/a.js|-1");
	assert_int_equal(p->function_count, 3);
	assert_int_equal(p->functions[p->frames[p->stacks[1].frame].function].first_line, 3);
	check_leaf(p, 2, "Function::~Function||-1");
}

/* A Java method that is interpreted, compiled or inlined is one function. */
static void test_states_of_a_function(void **state)
{
	(void)state;
	static const char text[] = "B.main_[0];B.a_[j] 3\nB.main_[1];B.a_[i] 2\n"
				   "B.main;B.a_[1] 1\nB.main;B.b_[2] 1\n";
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(text);

	assert_int_equal(p->function_count, 3);
	check_text(text, &fz_format_folded, "B.main;B.a 6\nB.main;B.b_[2] 1\n");
}

static void test_kernel(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text("java;read;sys_read_[k] 1\n");

	(void)state;
	check_leaf(p, 0, "sys_read||-1");
	assert_int_equal(
		p->functions[p->frames[p->stacks[p->samples.stack[0]].frame].function].kind,
		FZ_KIND_KERNEL);
	check_text("java;read;sys_read_[k] 1\n", &fz_format_folded, "java;read;sys_read_[k] 1\n");
}

static void test_tachyon(void **state)
{
	static const char text[] = "tid:12;<frozen runpy>:_run_code:87;work.py:one:32;<native> 5\n"
				   "tid:13;ab.py:C.f:3 2\n"
				   "tid:12;work.py:one:32;<GC> 1\n";
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(text);

	(void)state;
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[0].tid, 12);
	check_leaf(p, 1, "C.f|ab.py|3");
	check_leaf(p, 0, "<native>|~|-1");
	check_text(text, &fz_format_collapsed, text);
}

static void test_py_spy(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("<module> (app.py:12);f (pkg/mod.py:3) 4\n"
			  "<module> (app.py:12);g (b) (pkg/mod.py:9) 1\n<module> (app.py:12) 2\n");

	(void)state;
	check_leaf(p, 0, "f|pkg/mod.py|3");
	check_leaf(p, 1, "g (b)|pkg/mod.py|9");
	fz_auto(fz_profile_freep) struct fz_profile *q = load_text("f (a.py);g (b.py) 4\n");
	check_leaf(q, 0, "g|b.py|-1");
	/* C++ has parentheses too */
	fz_auto(fz_profile_freep) struct fz_profile *c =
		load_text("main;ns::f (anonymous namespace) 4\n");
	check_leaf(c, 0, "ns::f (anonymous namespace)||-1");
}

static void test_austin(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"# austin: 4.0.0\n# interval: 1000\n# mode: cpu\n# python: 3.13.1\n\n"
		"P7;T7 21\nP7;T0:8;/a:b/x.py:f:3;:GC: 1000\nP7;T0:8;/a:b/x.py:f:3;:GC: 1100\n");

	(void)state;
	assert_int_equal(p->recording.interval_ns, 1000000);
	assert_int_equal(p->recording.python[1], 13);
	assert_int_equal(p->recording.mode, FZ_MODE_CPU);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[1].pid, 7);
	assert_int_equal(p->threads[1].tid, 8);
	assert_string_equal(p->metrics[0].name, "cpu");
	assert_int_equal(p->metrics[0].column[1], 2100000);
	assert_int_equal(fz_sample_count(p, 1), 2);
	check_leaf(p, 1, "<GC>|~|-1");
	const struct fz_stack *s = &p->stacks[p->samples.stack[1]];
	assert_string_equal(
		fz_profile_text(p,
				p->functions[p->frames[p->stacks[s->parent].frame].function].file)
			.p,
		"/a:b/x.py");
}

static void test_austin_full(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text("# austin: 3.0.0\n# interval: 100\n# mode: full\n\n"
			  "P1;T2;x.py:f:3 100,0,4096\nP1;T2;x.py:f:3 200,1,-96\n");

	(void)state;
	assert_int_equal(p->metric_count, 3);
	assert_int_equal(p->metrics[0].column[0], 300000);
	assert_int_equal(p->metrics[1].column[0], 100000);
	assert_int_equal(p->metrics[2].column[0], 4000);
}

/* Two numbers on every line: a differential file. On some lines: names that end in a number. */
static void test_two_columns(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text("a;b 1 2\na;c 0 4.0\n");
	fz_auto(fz_profile_freep) struct fz_profile *q = load_text("a;b 1 2\na;c 4\na;d 5 6\n");

	(void)state;
	assert_int_equal(p->metric_count, 2);
	assert_string_equal(p->metrics[0].name, "base");
	assert_int_equal(p->metrics[0].column[0], 1);
	assert_int_equal(p->metrics[1].column[0], 2);
	assert_int_equal(p->metrics[0].column[1], 0);
	assert_int_equal(p->metrics[1].column[1], 4);
	check_leaf(p, 0, "b||-1");
	assert_int_equal(q->metric_count, 1);
	check_leaf(q, 0, "b 1||-1");
	check_leaf(q, 2, "d 5||-1");
}

/* One line for each sample (Pyroscope's "lines"), which needs every line to be one. */
static void test_bare_lines(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text("a;b\na;c\na;b\n");
	struct fz_profile *q = NULL;
	struct fz_error err;
	static const char c[] = "int a;\nint b;\nreturn c;\n";

	(void)state;
	assert_int_equal(fz_profile_sample_total(p), 3);
	assert_int_equal(p->skipped_lines, 0);
	check_text("a;b\na;c\na;b\n", &fz_format_folded, "a;b 2\na;c 1\n");
	fz_auto(fz_profile_freep) struct fz_profile *mixed = load_text("a;b\na;c 5\na;d 6\na;b\n");
	assert_int_equal(mixed->skipped_lines, 2);
	assert_int_equal(fz_profile_sample_total(mixed), 11);
	assert_int_equal(load_bytes(c, sizeof(c) - 1, "x.c", &q, &err), FZ_EINPUT);
}

static void test_gprofiler(void **state)
{
	(void)state;
	check_text("#{\"application_metadata_enabled\": true}\n0;host;a;b 3\n;host;a 1\n",
		   &fz_format_folded, "host;a;b 3\nhost;a 1\n");
	check_text("0;host;a;b 3\n", &fz_format_folded, "0;host;a;b 3\n");
}

static void test_large_values(void **state)
{
	(void)state;
	check_text("heap;a 5000000000\nheap;b 1\n", &fz_format_folded,
		   "heap;a 5000000000\nheap;b 1\n");
}

/* What ten stacks of 1, 2, .. times `number` are read as. */
static void check_numbers(const char *number, unsigned unit, const char *metric, int64_t interval,
			  int64_t total)
{
	struct fz_buf text = { 0 };
	struct fz_input *in = NULL;
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
	int64_t sum = 0;

	for (int i = 1; i <= 10; i++)
		fz_buf_printf(&text, "m;f%d %.10g\n", i, i * strtod(number, NULL));
	assert_int_equal(fz_input_open_memory(text.p, text.n, "x", &in, NULL), 0);
	p->numbers.unit = (uint8_t)unit;
	assert_int_equal(fz_format_collapsed.read(in, p, NULL), 0);
	assert_string_equal(p->metrics[0].name, metric);
	assert_int_equal(p->recording.interval_ns, interval);
	for (size_t row = 0; row < p->samples.n; row++)
		sum += fz_sample_weight(p, 0, row);
	assert_int_equal(sum, total);
	assert_int_equal(fz_profile_fact(p, "numbers").n > 0,
			 !unit && strcmp(metric, "samples") != 0);
	fz_input_close(in);
	fz_buf_release(&text);
}

static unsigned unit_named(const char *name)
{
	unsigned i = 0;

	while (strcmp(fz_number_unit_names[i], name) != 0)
		i++;
	return i;
}

/* Where whole numbers would change the shares, none is lost. */
static void test_small_fractions(void **state)
{
	(void)state;
	check_text("a;b 1.6\na;b 1.7\na;c 2.\na;d 0.2\n", &fz_format_folded,
		   "a;b 3300000\na;c 2000000\na;d 200000\n");
	check_numbers("0.25", 0, "millionths", 0, 13750000);
	check_numbers("0.25", unit_named("samples"), "samples", 0, 14);
}

static void test_units(void **state)
{
	(void)state;
	check_numbers("7", 0, "samples", 0, 385);
	check_numbers("1500", 0, "samples", 0, 82500);
	check_numbers("1000", 0, "time", 1000000, 55000000);
	check_numbers("10000000", 0, "time", 10000000, 550000000);
	check_numbers("123456789", 0, "units", 0, 6790123395);
	check_numbers("1000", unit_named("samples"), "samples", 0, 55000);
	check_numbers("1000", unit_named("ns"), "time", 0, 55000);
	check_numbers("10", unit_named("ms"), "time", 10000000, 550000000);
	check_numbers("0.25", unit_named("s"), "time", 0, 13750000000);
	check_numbers("2", unit_named("MiB"), "memory", 0, 110 << 20);
	check_numbers("2", unit_named("count"), "units", 0, 110);
}

static const char *const odd_names[] = {
	"plain",      "semi;colon",  "new\nline", "trailing blank ",
	"ends in 12", "#comment",    "",          "\\x3b",
	"\\x",        "back\\slash", "\xff\xfe",  "\xef\xbb\xbf\x62om",
	"a\tb",       "\x1b[31m",    "tid:5",     "file.py:f:3",
	"f (a.py:3)", "\xc3\x28",    "\r",        "1 2 3",
	" ",          "P1",
};

static void add_odd(struct fz_profile *p, uint32_t kind_of_file)
{
	fz_auto(fz_free_ptr) char *longest = fz_malloc(10001);

	memset(longest, 'x', 10000);
	longest[10000] = '\0';
	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	fz_profile_thread(p, &(struct fz_thread){ .tid = kind_of_file ? 77 : 0 });
	for (size_t i = 0; i <= FZ_ARRAY_LEN(odd_names); i++) {
		const char *name = i < FZ_ARRAY_LEN(odd_names) ? odd_names[i] : longest;
		struct fz_str file = kind_of_file ? FZ_STR("x.py") : FZ_STR("");
		uint32_t frame = fz_profile_frame_named(
			p, fz_str_of(name), file, kind_of_file ? 7 : FZ_NO_LINE, FZ_KIND_PYTHON);
		uint32_t root =
			fz_profile_frame_named(p, FZ_STR("root"), file, FZ_NO_LINE, FZ_KIND_PYTHON);
		uint32_t stack = fz_profile_stack(p, FZ_NONE, frame);
		fz_profile_add_sample(p, &(struct fz_sample){ .stack = stack, .count = 3 }, NULL);
		stack = fz_profile_stack(p, fz_profile_stack(p, FZ_NONE, root), frame);
		fz_profile_add_sample(p, &(struct fz_sample){ .stack = stack, .count = 2 }, NULL);
	}
}

/* The names of the leaves in the order of the text. */
static bool has_leaf(const struct fz_profile *p, const char *name, uint32_t count, uint32_t depth)
{
	for (size_t row = 0; row < p->samples.n; row++) {
		const struct fz_stack *s = &p->stacks[p->samples.stack[row]];
		uint32_t string = p->functions[p->frames[s->frame].function].name;
		if (s->depth == depth && fz_sample_count(p, row) == count &&
		    fz_str_eq(fz_profile_text(p, string), fz_str_of(name)))
			return true;
	}
	return false;
}

static void test_odd_names(void **state)
{
	const struct fz_format *formats[] = { &fz_format_folded, &fz_format_collapsed };

	(void)state;
	for (uint32_t f = 0; f < 2; f++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();
		fz_auto(fz_profile_freep) struct fz_profile *q = NULL;
		struct fz_error err;
		add_odd(p, f);
		fz_auto(fz_buf_release) struct fz_buf text = save_bytes(p, formats[f]);
		if (load_bytes(text.p, text.n, "odd", &q, &err))
			fail_msg("%s", err.message);
		assert_int_equal(q->skipped_lines, 0);
		for (size_t i = 0; i < FZ_ARRAY_LEN(odd_names); i++) {
			if (!has_leaf(q, odd_names[i], 3, 1) || !has_leaf(q, odd_names[i], 2, 2))
				fail_msg("%s: lost name %zu '%s'\n%s", formats[f]->name, i,
					 odd_names[i], text.p);
		}
		fz_auto(fz_buf_release) struct fz_buf again = save_bytes(q, formats[f]);
		assert_string_equal(again.p, text.p);
	}
}

static void test_shared_files(void **state)
{
	static const struct {
		const char *path;
		uint64_t samples;
		size_t lines_skipped;
	} files[] = {
		{ "collapsed/simple.txt", 14, 0 },
		{ "collapsed/simple-crlf.txt", 14, 0 },
		{ "collapsed/simple-utf16-le.txt", 14, 0 },
		{ "collapsed/alternating.txt", 0, 0 },
		{ "collapsed/simple-with-invalids.txt", 14, 2 },
		{ "collapsed/recursion.txt", 0, 0 },
		{ "collapsed/perf-vertx-stacks-01-collapsed-all.txt", 0, 0 },
		{ "austin/austin.out", 0, 0 },
		{ "austin/repeat.austin", 0, 0 },
		{ "austin/diff_a.austin", 95, 0 },
		{ "austin/diff_a-b.austin", 38, 0 },
		{ "firefox/flamegraph.txt", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(files); i++) {
		fz_auto(fz_free_ptr) char *path = shared_file(files[i].path);
		fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
		if (files[i].samples)
			assert_int_equal(fz_profile_sample_total(p), files[i].samples);
		assert_int_equal(p->skipped_lines, files[i].lines_skipped);
	}
}

/* Tachyon's own text gives the tree of its recording. */
static void check_tachyon_text(const char *path)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_file(path);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_collapsed);
	fz_auto(fz_free_ptr) char *want = read_file(path, NULL);

	assert_string_equal(got.p, want);
}

static void test_tachyon_text(void **state)
{
	static const char *const names[] = { "plain", "deep", "threads" };

	(void)state;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++) {
		fz_auto(fz_free_ptr) char *path = tests_file_of("data/tachyon/%s.txt", names[i]);
		check_tachyon_text(path);
	}
}

static void test_shared_tachyon(void **state)
{
	fz_auto(fz_free_ptr) char *path = shared_file("tachyon/w1.collapsed");

	(void)state;
	check_tachyon_text(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_utf16),
		cmocka_unit_test(test_threads_of_names),
		cmocka_unit_test(test_windows_paths),
		cmocka_unit_test(test_invalid_lines),
		cmocka_unit_test(test_blanks_in_names),
		cmocka_unit_test(test_names_of_v8),
		cmocka_unit_test(test_states_of_a_function),
		cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_small_fractions),
		cmocka_unit_test(test_exponents),
		cmocka_unit_test(test_two_columns_of_exponents),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_tachyon),
		cmocka_unit_test(test_py_spy),
		cmocka_unit_test(test_austin),
		cmocka_unit_test(test_austin_full),
		cmocka_unit_test(test_two_columns),
		cmocka_unit_test(test_large_values),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_bare_lines),
		cmocka_unit_test(test_gprofiler),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_shared_files),
		cmocka_unit_test(test_tachyon_text),
		cmocka_unit_test(test_shared_tachyon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
