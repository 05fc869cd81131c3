/* SPDX-License-Identifier: MIT */
/* Stacks printed by bpftrace and bcc, one frame per line. */
#include "read_format.h"

static struct fz_profile *check(const char *text, const char *wanted)
{
	struct fz_profile *p = load_text(text);
	fz_auto(fz_buf_release) struct fz_buf got = save_bytes(p, &fz_format_folded);

	assert_string_equal(got.p, wanted);
	return p;
}

static void check_text(const char *text, const char *wanted)
{
	fz_profile_free(check(text, wanted));
}

static bool notes(const struct fz_profile *p, const char *what)
{
	struct fz_str all = fz_profile_fact(p, "notes");

	return all.n && memmem(all.p, all.n, what, strlen(what));
}

/* ---- bpftrace ---- */

static void test_bpftrace(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		check("Attaching 1 probe...\n\n@[\n    leaf+3\n    main+12\n]: 1\n"
		      "@[\n    other+1\n    main+33\n]: 7\n"
		      "@[\n    schedule+5\n    do_nanosleep+11\n,\n    nanosleep+9\n    main+40\n"
		      ", sleeper, 77]: 12\n"
		      "@[\n    leaf+4\n    main+12\n]: 2\n",
		      "sleeper;main;nanosleep;do_nanosleep_[k];schedule_[k] 12\nmain;other 7\n"
		      "main;leaf 3\n");

	(void)state;
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(fz_profile_sample_total(p), 22);
	assert_int_equal(p->skipped_lines, 0);
	assert_int_equal(fz_profile_fact(p, "notes").n, 0);
}

static void test_bpftrace_keys(void **state)
{
	(void)state;
	/* The name of the program before the stack, between two, and alone. */
	check_text("@[bash, \n    f+1\n]: 3\n", "bash;f 3\n");
	check_text("@[\n    k+1\n, my app, \n    u+1\n]: 3\n", "my app;u;k_[k] 3\n");
	check_text("@[\n    f+1\n]: 3\n@[, idle]: 4\n@[\n]: 5\n", "[unknown] 5\nidle 4\nf 3\n");
	/* ustack before kstack. */
	check_text("@[\n    write+1\n    main+1\n,\n    vfs+1\n    entry_SYSCALL_64+2\n]: 3\n",
		   "main;write;entry_SYSCALL_64_[k];vfs_[k] 3\n");
	/* Only the kernel's. */
	check_text("@[\n    vfs+1\n,\n]: 3\n", "vfs 3\n");
}

static void test_bpftrace_frames(void **state)
{
	(void)state;
	check_text("@[\n    a::operator+(int)+17\n    operator new(unsigned long)+0x1f\n"
		   "    f+3@/a b.c:12\n    x;y+1\n    0x7f12\n    +4\n    Fib+e\n    c++\n]: 1\n",
		   "c++;Fib;+4;0x7f12;x\\x3by;f;operator new(unsigned long);a::operator+(int) 1\n");
	/* Stack mode perf. */
	check_text("@[\n\tffffffff81a4 do_mmap+1 ([kernel.kallsyms])\n"
		   "\t7f0011aa main+40 (/usr/bin/app)\n\tdeadbeef f (int)\n]: 1\n",
		   "f;main;do_mmap_[k] 1\n");
}

/* Sums of one map, regardless of other output. */
static void test_bpftrace_maps(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		check("@start[12]: 99\n@b[\n    f+1\n]: count 2, average 8, total 16\n"
		      "@b[\n    f+1\n]: 4\n@other[\n    g+1\n]: 5\n@b[\n    h+1\n]: (1, 2)\n"
		      "@b[\n    h+1\n@b[\n    i+1\n]: 1\n",
		      "f 20\ni 1\n");

	(void)state;
	assert_true(notes(p, "read the sums of map @b; skipped 2 other records"));
	expect_error("@[\n    f+1\n]: (1, 2)\n", "no line has a stack and a number");
	expect_error("@[\n    f+1\n    g+1\n", "no line has a stack and a number");
}

/* ---- bcc ---- */

#define BCC(name, number) "    -                " name " (58804)\n        " number "\n\n"
#define SAMPLING \
	"Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n\n"

static void test_bcc(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		check(SAMPLING "    leaf\n    main\n" BCC("app", "3") "    other\n    main\n" BCC(
			      "app", "5") "    [unknown]\n    f(int, (x) y)\n" BCC("a (b) c", "2")
			      BCC("swapper/0", "1"),
		      "app;main;other 5\napp;main;leaf 3\na (b) c;f(int, (x) y);[unknown] 2\n"
		      "swapper/0 1\n");

	(void)state;
	assert_string_equal(p->metrics[0].name, "samples");
	assert_int_equal(p->recording.interval_ns, 1000000000 / 49);
	assert_int_equal(p->skipped_lines, 0);
	assert_false(p->numbers.bare);
}

static void test_bcc_frames(void **state)
{
	(void)state;
	check_text("    b'schedule'\n    do_idle_[k]\n    --\n    main\n" BCC("b'app'", "3"),
		   "app;main;do_idle_[k];schedule_[k] 3\n");
	/* Text between records, and a number that is not a frame. */
	check_text("    lost\n\n    f\n" BCC(
			   "app",
			   "3") "WARNING: 2 stack traces lost.\n"
				"    -                x (1)\n    g\n        7\n\n    h\n" BCC("app",
											      "4"),
		   "app;h 4\napp;f 3\n");
}

/* Microseconds, according to the first line. */
static void test_bcc_offcpu(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to "
		"end.\n^C\n    schedule\n    main\n" BCC("app", "1500") "    g\n" BCC("app", "7"));

	(void)state;
	assert_string_equal(p->metrics[0].name, "time");
	assert_string_equal(p->metrics[0].unit, "ns");
	assert_int_equal(sum_of(p, 0), 1507000);
	assert_int_equal(cost(p, NULL, "schedule", false), 1500000);
	assert_false(p->numbers.bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bpftrace),
		cmocka_unit_test(test_bpftrace_keys),
		cmocka_unit_test(test_bpftrace_frames),
		cmocka_unit_test(test_bpftrace_maps),
		cmocka_unit_test(test_bcc),
		cmocka_unit_test(test_bcc_frames),
		cmocka_unit_test(test_bcc_offcpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
