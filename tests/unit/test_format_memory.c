/* SPDX-License-Identifier: MIT */
/* Files of Valgrind's massif and DHAT, small ones: what each function held and allocated, and
 * errors of broken files. tests/live/test_formats_memory.py uses files of the tools. */
#include "read_format.h"

/* ---- massif ---- */

#define MASSIF "desc: (none)\ncmd: ./a\ntime_unit: i\n"
#define SNAPSHOT(number, heap, tree)                                                         \
	"#-----------\nsnapshot=" number "\n#-----------\ntime=" number "\nmem_heap_B=" heap \
	"\nmem_heap_extra_B=8\nmem_stacks_B=3\nheap_tree=" tree "\n"

static const char massif[] = MASSIF SNAPSHOT("0", "0", "empty") SNAPSHOT(
	"1", "900",
	"detailed") "n1: 900 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
		    " n0: 900 0x1: early (a.c:1)\n" SNAPSHOT(
			    "2", "700",
			    "peak") "n3: 700 (heap allocation functions) malloc/new/new[], "
				    "--alloc-fns, etc.\n"
				    " n2: 600 0x109180: grab (a.c:4)\n"
				    "  n1: 450 0x10920C: tables (a.c:5)\n"
				    "   n0: 400 0x1092A0: main (a.c:7)\n"
				    "  n0: 150 in 3 places, all below massif's threshold (1.00%)\n"
				    " n0: 60 0x4C: ??? (in /usr/lib/libc.so.6)\n"
				    " n0: 40 0x4D0: ???\n" SNAPSHOT(
					    "3", "800",
					    "detailed") "n1: 800 (heap allocation functions) "
							"malloc/new/new[], --alloc-fns, etc.\n"
							" n0: 800 0x1: late (a.c:1)\n";

static void test_massif(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(massif);

	(void)state;
	assert_string_equal(p->metrics[p->default_metric].name, "peak");
	assert_string_equal(p->metrics[p->default_metric].unit, "bytes");
	assert_true(fz_str_eq(fz_profile_fact(p, "command"), FZ_STR("./a")));
	assert_int_equal(sum_of_metric(p, "peak"), 700);
	assert_int_equal(sum_of_metric(p, "peak_all"), 711);
	assert_int_equal(cost(p, NULL, "grab", false), 600);
	assert_int_equal(cost(p, NULL, "main", true), 400);
	/* What a node's callers do not explain is of a stack that begins there. */
	assert_int_equal(cost(p, NULL, "tables", true), 450);
	assert_int_equal(cost(p, NULL, "[below massif's threshold]", true), 150);
	assert_int_equal(cost(p, NULL, "[libc.so.6]", false), 60);
	assert_int_equal(cost(p, NULL, "0x4D0", false), 40);
	assert_int_equal(cost(p, "peak_all", "[extra heap]", false), 8);
	assert_int_equal(cost(p, "peak_all", "[stacks]", false), 3);
	assert_int_equal(cost(p, NULL, "early", true) + cost(p, NULL, "late", true), 0);
	assert_false(p->samples.ordered);
}

/* Without a peak, the snapshot with most bytes; pages are not a heap. */
static void test_massif_without_peak(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(MASSIF SNAPSHOT(
		"1", "5",
		"detailed") "n0: 5 (page allocation syscalls) "
			    "mmap\n" SNAPSHOT("2", "9",
					      "detailed") "n1: 9 (page allocation "
							  "syscalls) mmap\n"
							  " n0: 9 0x1: operator "
							  "new(unsigned long) (in "
							  "/usr/lib/"
							  "libc++.so)\n" SNAPSHOT("3", "7",
										  "detailed") "n0: "
											      "7 "
											      "(pag"
											      "e "
											      "allo"
											      "cati"
											      "on "
											      "sysc"
											      "alls"
											      ") "
											      "mmap"
											      "\n");

	(void)state;
	assert_int_equal(sum_of_metric(p, "pages"), 9);
	assert_int_equal(cost(p, NULL, "operator new(unsigned long)", false), 9);
}

/* --heap=no --stacks=yes: the memory is in the total alone. */
static void test_massif_stacks(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(MASSIF SNAPSHOT(
		"1", "0", "peak") "n0: 0 (heap allocation functions) malloc/new/new[]\n");

	(void)state;
	assert_string_equal(p->metrics[p->default_metric].name, "peak_all");
	assert_int_equal(cost(p, NULL, "[stacks]", false), 3);
}

static void test_massif_errors(void **state)
{
	(void)state;
	expect_error(MASSIF SNAPSHOT("1", "5", "empty"), "no snapshot has allocation stacks");
	expect_error(MASSIF SNAPSHOT("1", "5", "peak"), "tree of the peak is missing");
	expect_error(MASSIF SNAPSHOT("1", "5", "peak") "n2: 5 (heap\n n0: 3 0x1: f (a.c:1)\n",
		     "truncated");
	expect_error(MASSIF SNAPSHOT("1", "5", "peak") "n1: 5 (heap\n n0: 6 0x1: f (a.c:1)\n",
		     "it exceeds its parent");
	expect_error(MASSIF SNAPSHOT("1", "5", "peak") "n1: 5 (heap\n   n0: 5 0x1: f (a.c:1)\n",
		     "line 13: has an invalid depth");
	expect_error(MASSIF SNAPSHOT("1", "5", "peak") "n1: x (heap\n n0: 6 0x1: f (a.c:1)\n",
		     "is not a tree node");
	expect_error(MASSIF SNAPSHOT("1", "-5", "peak"), "line 8: has an impossible value");
	expect_error(MASSIF "what is this\n", "line 4: is not valid for massif");
	expect_error(MASSIF SNAPSHOT("1", "5", "detailed") "n1: 5 curB : currently allocated "
							   "Bytes\n n0: 5 0x1: f (a.c:1)\n",
		     "--xtree-memory-file=NAME.kcg");
}

/* ---- DHAT ---- */

#define DHAT(rest) "{\"dhatFileVersion\":2,\"cmd\":\"./a\",\"pid\":7," rest "}"
#define TABLE                                                                                   \
	"\"ftbl\":[\"[root]\",\"0x48: malloc (in /usr/libexec/valgrind/vgpreload_dhat.so)\","   \
	"\"0x49: operator new(unsigned long) (vg_replace_malloc.c:9)\",\"0x10: grab (a.c:4)\"," \
	"\"0x11: main (a.c:7)\"]"

static void test_dhat(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(DHAT(
		"\"mode\":\"heap\",\"bklt\":true,\"bkacc\":true,\"pps\":["
		"{\"tb\":500,\"tbk\":5,\"gb\":400,\"gbk\":4,\"eb\":100,\"ebk\":1,\"rb\":9,\"wb\":8,"
		"\"fs\":[1,2,3,4]},"
		"{\"tb\":70,\"tbk\":7,\"gb\":0,\"gbk\":0,\"eb\":70,\"ebk\":7,\"rb\":1,\"wb\":2,"
		"\"fs\":[1,4]},"
		"{\"tb\":1,\"tbk\":1,\"gb\":1,\"gbk\":1,\"eb\":0,\"ebk\":0,\"rb\":0,\"wb\":0,"
		"\"fs\":[1]}]," TABLE));
	static const struct {
		const char *name, *unit;
		int64_t sum, main;
	} told[] = {
		{ "allocated", "bytes", 571, 570 }, { "allocated_blocks", "count", 13, 12 },
		{ "peak", "bytes", 401, 400 },      { "peak_blocks", "count", 5, 4 },
		{ "at_end", "bytes", 170, 170 },    { "at_end_blocks", "count", 8, 8 },
		{ "read", "bytes", 10, 10 },        { "written", "bytes", 10, 10 },
	};

	(void)state;
	assert_int_equal(p->metric_count, FZ_ARRAY_LEN(told));
	for (size_t i = 0; i < FZ_ARRAY_LEN(told); i++) {
		assert_string_equal(p->metrics[i].name, told[i].name);
		assert_string_equal(p->metrics[i].unit, told[i].unit);
		assert_int_equal(sum_of(p, (uint32_t)i), told[i].sum);
		assert_int_equal(cost(p, told[i].name, "main", true), told[i].main);
	}
	assert_int_equal(p->default_metric, 0);
	/* Callers own what malloc allocates, where there is a caller. */
	assert_int_equal(cost(p, NULL, "grab", false), 500);
	assert_int_equal(cost(p, NULL, "main", false), 70);
	assert_int_equal(cost(p, NULL, "malloc", true), 1);
	assert_int_equal(p->threads[0].pid, 7);
}

/* Copies have neither a peak nor accesses; events that the program names are not bytes. */
static void test_dhat_modes(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *copy =
		load_text(DHAT("\"mode\":\"copy\",\"bklt\":false,\"bkacc\":false,"
			       "\"pps\":[{\"tb\":15,\"tbk\":2,\"fs\":[1,4]}]," TABLE));
	fz_auto(fz_profile_freep) struct fz_profile *events =
		load_text(DHAT("\"mode\":\"rust-ad-hoc\",\"bklt\":false,\"bkacc\":false,"
			       "\"pps\":[{\"tb\":15,\"tbk\":2,\"fs\":[4]}]," TABLE));

	(void)state;
	assert_int_equal(copy->metric_count, 2);
	assert_int_equal(sum_of_metric(copy, "copied"), 15);
	assert_int_equal(cost(copy, NULL, "malloc", false), 15);
	assert_int_equal(sum_of_metric(events, "units"), 15);
	assert_string_equal(events->metrics[0].unit, "count");
	assert_int_equal(sum_of_metric(events, "events"), 2);
}

static void test_dhat_errors(void **state)
{
	(void)state;
	expect_error("{\"dhatFileVersion\":3}", "version 3");
	expect_error(DHAT("\"mode\":\"heap\",\"pps\":[],\"ftbl\":[\"[root]\"]"), "no stacks");
	expect_error(DHAT("\"mode\":\"heap\",\"pps\":[{\"tb\":1,\"fs\":[9]}]," TABLE),
		     "a missing frame");
	expect_error(DHAT("\"mode\":\"heap\",\"pps\":[{\"tb\":-1,\"fs\":[3]}]," TABLE),
		     "a stack has a negative 'tb'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_massif),        cmocka_unit_test(test_massif_without_peak),
		cmocka_unit_test(test_massif_stacks), cmocka_unit_test(test_massif_errors),
		cmocka_unit_test(test_dhat),          cmocka_unit_test(test_dhat_modes),
		cmocka_unit_test(test_dhat_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
