/* SPDX-License-Identifier: MIT */
/* Matching functions, stage by stage, on profiles small enough to see why. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "compare/comparison.h"
#include "compare/comprehensions.h"
#include "hand_profile.h"
#include "named.h"
#include "profile/fold.h"

struct both {
	struct fz_profile *a, *b;
	struct fz_diff *d;
};

static void pair_release(struct both *p)
{
	fz_diff_free(p->d);
	fz_profile_free(p->a);
	fz_profile_free(p->b);
}
#define pair fz_auto(pair_release) struct both

static struct both compare_with(const char *base, const char *head, struct fz_diff_options o)
{
	struct both p = { .a = hand_profile(base, 0), .b = hand_profile(head, 0) };
	struct fz_error err;

	if (!o.scale)
		o.scale = FZ_SCALE_TIME;
	if (fz_diff_new(p.a, p.b, &o, &p.d, &err))
		fail_msg("%s", err.message);
	return p;
}

static struct both compare(const char *base, const char *head)
{
	return compare_with(base, head, (struct fz_diff_options){ 0 });
}

/* "main/f/g" */
static const struct fz_diff_node *node_at(const struct fz_diff *d, const char *path)
{
	uint32_t at = 0, end = d->node_count, found = FZ_NONE;

	while (*path) {
		size_t n = strcspn(path, "/");
		found = FZ_NONE;
		for (uint32_t i = at; i < end; i += d->nodes[i].size)
			if (fz_str_eq(d->functions[d->nodes[i].function].name,
				      (struct fz_str){ path, n }))
				found = i;
		if (found == FZ_NONE)
			fail_msg("no node %s", path);
		at = found + 1;
		end = found + d->nodes[found].size;
		path += n + (path[n] == '/');
	}
	return &d->nodes[found];
}

static void expect_node(const struct fz_diff *d, const char *path, enum fz_state state,
			int64_t base_total, int64_t head_total, bool wraps)
{
	const struct fz_diff_node *n = node_at(d, path);

	assert_string_equal(fz_state_names[n->state], fz_state_names[state]);
	assert_int_equal(n->cost.total[FZ_BASE], base_total);
	assert_int_equal(n->cost.total[FZ_HEAD], head_total);
	assert_int_equal(n->wraps, wraps);
}

static void expect_link(const struct fz_diff *d, const char *name, enum fz_link_how how,
			const char *from)
{
	const struct fz_diff_function *f = function_named(d, name);

	assert_string_equal(fz_link_names[f->link.how], fz_link_names[how]);
	if (how != FZ_LINK_NONE)
		assert_true(fz_str_eq(f->link.name, fz_str_of(from)));
}

/* ---- functions ---- */

static void a_moved_file_is_found_by_its_functions(void **state)
{
	(void)state;
	pair p = compare("a.py:main:1;util.py:load:1 5\na.py:main:1;util.py:save:9 5\n",
			 "a.py:main:1;lib/tools.py:load:3 5\na.py:main:1;lib/tools.py:save:7 5\n");

	assert_int_equal(p.d->function_count, 3);
	assert_int_equal(p.d->link_count, 2);
	expect_link(p.d, "main", FZ_LINK_EXACT, "main");
	expect_link(p.d, "load", FZ_LINK_MOVED, "load");
	expect_link(p.d, "save", FZ_LINK_MOVED, "save");
	assert_true(function_named(p.d, "load")->link.score == 1);
	assert_true(fz_str_eq(function_named(p.d, "load")->link.file, FZ_STR("util.py")));
	expect_node(p.d, "main/load", FZ_COMMON, 5, 5, false);
}

static void a_tie_moves_no_file(void **state)
{
	(void)state;
	/* run could have come from either file, and both are gone */
	pair p = compare("m.py:main:1;x.py:run:1 5\nm.py:main:1;y.py:run:1 5\n",
			 "m.py:main:1;z.py:run:1 5\n");

	assert_int_equal(p.d->link_count, 0);
	assert_int_equal(p.d->function_count, 4);
}

static void half_a_file_that_moved_has_half_the_score(void **state)
{
	(void)state;
	pair p = compare("m.py:main:1;x.py:f:1 5\nm.py:main:1;x.py:g:5 5\n",
			 "m.py:main:1;y.py:f:1 5\nm.py:main:1;y.py:h:5 5\n");

	expect_link(p.d, "f", FZ_LINK_MOVED, "f");
	assert_true(function_named(p.d, "f")->link.score == 0.5);
	assert_int_equal(function_named(p.d, "g")->state, FZ_REMOVED);
	assert_int_equal(function_named(p.d, "h")->state, FZ_NEW);
}

static void files_that_share_little_do_not_match(void **state)
{
	(void)state;
	pair p = compare("m.py:main:1;x.py:f:1 5\nm.py:main:1;x.py:g:5 5\nm.py:main:1;x.py:h:9 5\n"
			 "m.py:main:1;x.py:i:12 5\n",
			 "m.py:main:1;y.py:f:1 5\nm.py:main:1;y.py:p:5 5\nm.py:main:1;y.py:q:9 5\n"
			 "m.py:main:1;y.py:r:12 5\n");

	expect_link(p.d, "f", FZ_LINK_NAME, "f"); /* by its caller, not by its file */
	assert_int_equal(p.d->link_count, 1);
}

static void numbers_in_generated_names_are_ignored(void **state)
{
	(void)state;
	pair moved = compare("m:main:1;<made 5>:f_5:1 5\n", "m:main:1;<made 14>:f_14:1 5\n");
	pair same = compare("m:main:1;<made 1>:f:1 5\nm:main:1;<made 2>:f:1 5\n",
			    "m:main:1;<made 1>:f:1 5\nm:main:1;<made 2>:f:1 5\n");
	/* 2 may be what 1 was, or what 2 was */
	pair shifted = compare("m:main:1;<made 1>:f:1 5\nm:main:1;<made 2>:f:1 5\n",
			       "m:main:1;<made 2>:f:1 5\nm:main:1;<made 3>:f:1 5\n");
	pair names = compare("m:main:1;<Point2>:f:1 5\n", "m:main:1;<Point3>:f:1 5\n");

	assert_int_equal(moved.d->function_count, 2);
	expect_node(moved.d, "main/f_#", FZ_COMMON, 5, 5, false);
	assert_int_equal(same.d->function_count, 3);
	assert_int_equal(shifted.d->function_count, 2);
	expect_node(shifted.d, "main/f", FZ_COMMON, 10, 10, false);
	assert_int_equal(names.d->function_count, 2); /* the only f's, of one caller */
	assert_int_equal(names.d->link_count, 1);
}

static void name_left_once_on_both_sides_links(void **state)
{
	(void)state;
	/* x.py and y.py vote for z.py with one function each: a tie for the file, none for names */
	pair p = compare("m.py:main:1;x.py:f:1 5\nm.py:main:1;y.py:g:1 5\n",
			 "m.py:main:1;z.py:f:1 5\nm.py:main:1;z.py:g:1 5\n");

	expect_link(p.d, "f", FZ_LINK_NAME, "f");
	expect_link(p.d, "g", FZ_LINK_NAME, "g");
}

static void generic_names_are_not_evidence(void **state)
{
	(void)state;
	pair p = compare("m.py:main:1;old.py:<module>:1 5\nm.py:main:1;old.py:__init__:1 5\n",
			 "m.py:main:1;new.py:<module>:1 5\nm.py:main:1;new.py:__init__:1 5\n");
	pair moved =
		compare("m.py:main:1;a/b.py:<module>:1 5\n", "m.py:main:1;c/b.py:<module>:1 5\n");

	assert_int_equal(p.d->link_count, 0);
	assert_int_equal(moved.d->link_count, 1); /* the files have one name */
}

/* main calls `name`, which calls a and b as it always did. */
static char *caller(const char *name, const char *file, int a, int b)
{
	return fz_asprintf("m.py:main:1;%s:%s:1;m.py:a:1 %d\nm.py:main:1;%s:%s:1;m.py:b:1 %d\n"
			   "m.py:main:1;m.py:rest:1 30\n",
			   file, name, a, file, name, b);
}

static void renamed_function_is_found_by_its_neighbours(void **state)
{
	(void)state;
	fz_auto(fz_free_ptr) char *base = caller("old", "m.py", 10, 30);
	fz_auto(fz_free_ptr) char *head = caller("fresh", "m.py", 20, 20);
	pair p = compare(base, head);
	const struct fz_diff_function *f = function_named(p.d, "fresh");

	expect_link(p.d, "fresh", FZ_LINK_NEIGHBOURHOOD, "old");
	/* callees .25 + .5 of .35, callers all of .35, the same file .20, the same size .10 */
	assert_true(fabs(f->link.score - (0.35 * 0.75 + 0.35 + 0.20 + 0.10)) < 1e-9);
	assert_int_equal(f->state, FZ_COMMON);
	expect_node(p.d, "main/fresh/a", FZ_COMMON, 10, 20, false);

	pair vetoed = compare_with(base, head, (struct fz_diff_options){ .no_rename = true });
	assert_int_equal(vetoed.d->link_count, 0);
	pair names = compare_with(base, head, (struct fz_diff_options){ .match = FZ_MATCH_NAMES });
	assert_int_equal(names.d->link_count, 0);
	expect_node(names.d, "main/old", FZ_REMOVED, 40, 0, false);
}

static void single_caller_is_not_evidence(void **state)
{
	(void)state;
	/* the same caller, file, place and cost, and nothing of their own in common */
	pair leaf = compare("m:main:1;m:json_dump:5 20\nm:main:1;m:rest:9 20\n",
			    "m:main:1;m:sha_hash:5 20\nm:main:1;m:rest:9 20\n");
	/* everybody calls len */
	pair common = compare("m:main:1;m:dump:5;m:len:20 20\nm:main:1;m:rest:9;m:len:20 20\n",
			      "m:main:1;m:hash:5;m:len:20 20\nm:main:1;m:rest:9;m:len:20 20\n");
	/* a callee without other callers, and the same place in the file */
	pair own = compare("m:main:1;m:dump:5;m:part:20 20\nm:main:1;m:rest:9 20\n",
			   "m:main:1;m:hash:5;m:part:20 20\nm:main:1;m:rest:9 20\n");
	/* the same without a place */
	pair helper = compare("m;h;drop_cache;log 50\nm;h;work 100\n",
			      "m;h;audit;log 50\nm;h;work 100\n");

	assert_int_equal(leaf.d->link_count, 0);
	assert_int_equal(common.d->link_count, 0);
	expect_link(own.d, "hash", FZ_LINK_NEIGHBOURHOOD, "dump");
	assert_int_equal(helper.d->link_count, 0);
	expect_node(helper.d, "m/h/audit", FZ_MOVED, 0, 50, false); /* a shift of 0 */
	expect_node(helper.d, "m/h/drop_cache", FZ_MOVED, 50, 0, false);
}

static void leaf_with_similar_name_is_scored_by_known_facts(void **state)
{
	(void)state;
	/* no callees, no files: callers and size make up all of the score */
	pair p = compare("main;parse 20\nmain;rest 20\n", "main;parse_v2 10\nmain;rest 20\n");

	expect_link(p.d, "parse_v2", FZ_LINK_NEIGHBOURHOOD, "parse");
	assert_true(fabs(function_named(p.d, "parse_v2")->link.score - (0.35 + 0.05) / 0.45) <
		    1e-9);
}

static void fewer_than_ten_samples_are_no_evidence(void **state)
{
	(void)state;
	pair enough = compare("main;work 10\nmain;rest 20\n", "main;work2 10\nmain;rest 20\n");
	pair few_base = compare("main;work 9\nmain;rest 20\n", "main;work2 10\nmain;rest 20\n");
	pair few_head = compare("main;work 10\nmain;rest 20\n", "main;work2 9\nmain;rest 20\n");

	assert_int_equal(enough.d->link_count, 1);
	assert_int_equal(few_base.d->link_count, 0);
	assert_int_equal(few_head.d->link_count, 0);
}

static void identical_candidates_do_not_match(void **state)
{
	(void)state;
	pair head =
		compare("main;f_1 20\nmain;rest 20\n", "main;f_2 20\nmain;f_3 20\nmain;rest 20\n");
	pair base =
		compare("main;f_2 20\nmain;f_3 20\nmain;rest 20\n", "main;f_1 20\nmain;rest 20\n");

	assert_int_equal(head.d->link_count, 0);
	assert_int_equal(base.d->link_count, 0);
}

static void order_in_the_file_separates_twins(void **state)
{
	(void)state;
	pair p = compare("m:main:1;m:P.go:10 20\nm:main:1;m:mid:20 20\nm:main:1;m:Q.go:30 20\n",
			 "m:main:1;m:X.go:15 20\nm:main:1;m:mid:25 20\nm:main:1;m:Y.go:35 20\n");

	assert_int_equal(p.d->link_count, 2);
	expect_link(p.d, "X.go", FZ_LINK_NEIGHBOURHOOD, "P.go");
	expect_link(p.d, "Y.go", FZ_LINK_NEIGHBOURHOOD, "Q.go");
	assert_true(fabs(function_named(p.d, "X.go")->link.score - 1) < 1e-9);
}

static void four_times_the_cost_is_another_function(void **state)
{
	(void)state;
	pair near = compare("main;work 20\nmain;rest 20\n", "main;work2 80\nmain;rest 20\n");
	pair far = compare("main;work 20\nmain;rest 20\n", "main;work2 81\nmain;rest 20\n");

	assert_int_equal(near.d->link_count, 1);
	assert_int_equal(far.d->link_count, 0);
}

static void a_chain_of_renames_takes_several_rounds(void **state)
{
	(void)state;
	/* Only x has a matched caller, only z matched callees at first. */
	pair p = compare("m:main:1;m:x:1;m:y:1;m:z:1;m:end:1 20\n"
			 "m:main:1;m:x:1;m:y:1;m:z:1;m:last:1 20\n"
			 "m:main:1;m:x:1;m:y:1;m:mid:1 20\nm:main:1;m:x:1;m:top:1 20\n",
			 "m:main:1;m:p:1;m:q:1;m:r:1;m:end:1 20\n"
			 "m:main:1;m:p:1;m:q:1;m:r:1;m:last:1 20\n"
			 "m:main:1;m:p:1;m:q:1;m:mid:1 20\nm:main:1;m:p:1;m:top:1 20\n");

	assert_int_equal(p.d->link_count, 3);
	expect_link(p.d, "p", FZ_LINK_NEIGHBOURHOOD, "x");
	expect_link(p.d, "q", FZ_LINK_NEIGHBOURHOOD, "y");
	expect_link(p.d, "r", FZ_LINK_NEIGHBOURHOOD, "z");
}

static void markers_never_link(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("main;rest 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("main;rest 20\n", 0);
	struct fz_profile *both[] = { a, b };
	static const char *const names[] = { "<GC>", "[unreadable]" };
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { 0 };

	for (int s = 0; s < 2; s++) {
		uint32_t frame = fz_profile_frame_named(both[s], fz_str_of(names[s]), FZ_STR("~"),
							FZ_NO_LINE, FZ_KIND_MARKER);
		struct fz_sample sample = { .stack = fz_profile_stack(both[s], 0, frame),
					    .count = 20 };
		fz_profile_add_sample(both[s], &sample, NULL);
	}
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	assert_int_equal(d->link_count, 0);
}

/* Adds a wait to the only thread. */
static void add_wait(struct fz_profile *p, const char *by, const char *file, int32_t line)
{
	uint32_t stack = 0;

	for (const char *const *name = (const char *const[]){ "<lock wait>", by, NULL }; *name;
	     name++)
		stack = fz_profile_stack(p, stack,
					 fz_profile_frame_named(p, fz_str_of(*name),
								fz_str_of(*name == by ? file : ""),
								*name == by ? line : FZ_NO_LINE,
								FZ_KIND_MARKER));
	for (uint32_t i = 0; i < p->function_count; i++)
		if (fz_str_eq(p->strings[p->functions[i].name], fz_str_of(by)))
			p->functions[i].first_line = line;
	struct fz_sample sample = { .stack = stack, .count = 20 };
	fz_profile_add_sample(p, &sample, NULL);
}

/* The marker "lock released by" is linked if the function that it names moved, but not for another
 * kind of wait, or if that function is unknown. */
static void waker_is_known_by_its_function(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a =
		hand_profile("m.py:main:1 20\nm.py:main:1;old.py:refresh:3 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b =
		hand_profile("m.py:main:1 20\nm.py:main:1;new.py:refresh:5 20\n", 0);
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { 0 };

	for (uint32_t i = 0; i < a->function_count; i++)
		a->functions[i].first_line = b->functions[i].first_line =
			fz_str_eq(a->strings[a->functions[i].name], FZ_STR("refresh")) ? 3 : 1;
	add_wait(a, "<lock released by refresh>", "old.py", 3);
	add_wait(b, "<lock released by refresh>", "new.py", 3);
	add_wait(a, "<woken by refresh>", "old.py", 3);
	add_wait(a, "<lock released by store>", "old.py", 9);
	add_wait(b, "<lock released by store>", "new.py", 9);
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	expect_link(d, "refresh", FZ_LINK_MOVED, "refresh");
	expect_link(d, "<lock released by refresh>", FZ_LINK_MOVED, "<lock released by refresh>");
	expect_link(d, "<woken by refresh>", FZ_LINK_NONE, "");
	expect_link(d, "<lock released by store>", FZ_LINK_NONE, "");
}

/* Names of code that had just been unloaded are no evidence about the project's root. */
static void files_without_frames_are_no_evidence(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *a = hand_profile("/a/x/app.py:main:1 20\n", 0);
	fz_auto(fz_profile_freep) struct fz_profile *b = hand_profile("/b/x/app.py:main:1 20\n", 0);
	struct fz_profile *both[] = { a, b };
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_diff_options o = { 0 };

	for (int s = 0; s < 2; s++) {
		struct fz_function junk = { .name = fz_profile_string(both[s], FZ_STR("__spec__")),
					    .file = fz_profile_string(both[s],
								      FZ_STR("__loader__")),
					    .kind = FZ_KIND_PYTHON };
		fz_profile_function(both[s], &junk);
	}
	assert_int_equal(fz_diff_new(a, b, &o, &d, NULL), 0);
	expect_link(d, "main", FZ_LINK_EXACT, "main");
	assert_true(fz_str_eq(function_named(d, "main")->file, FZ_STR("app.py")));
}

/* ---- the user's word ---- */

static void mappings_have_priority(void **state)
{
	(void)state;
	static const char *const base = "m.py:main:1;m.py:f:1 20\nm.py:main:1;m.py:g:1 7\n";
	static const char *const head = "m.py:main:1;m.py:f:1 20\nm.py:main:1;m.py:h:1 9\n";
	static const char *const map[] = { "m.py:f=h", "g=f", NULL };
	static const char *const exact[] = { "g=h", NULL };
	static const char *const unknown[] = { "nobody=h", "g=nobody", NULL };
	pair p = compare_with(base, head, (struct fz_diff_options){ .maps = map });
	pair e = compare_with(base, head,
			      (struct fz_diff_options){ .maps = exact, .match = FZ_MATCH_EXACT });
	pair u = compare_with(base, head, (struct fz_diff_options){ .maps = unknown });

	expect_link(p.d, "h", FZ_LINK_MAPPED, "f");
	expect_link(p.d, "f", FZ_LINK_MAPPED, "g");
	expect_node(p.d, "main/h", FZ_COMMON, 20, 9, false);
	expect_node(p.d, "main/f", FZ_COMMON, 7, 20, false);
	expect_node(e.d, "main/h", FZ_COMMON, 7, 9, false);
	assert_int_equal(u.d->link_count, 0);
	assert_int_equal(u.d->warning_count, e.d->warning_count + 2);
}

static void a_mapping_to_nothing_forbids_a_link(void **state)
{
	(void)state;
	static const char *const map[] = { "work=", NULL };
	pair p = compare_with("main;work 20\nmain;rest 20\n", "main;work2 20\nmain;rest 20\n",
			      (struct fz_diff_options){ .maps = map });
	pair free = compare("main;work 20\nmain;rest 20\n", "main;work2 20\nmain;rest 20\n");

	assert_int_equal(p.d->link_count, 0);
	assert_int_equal(free.d->link_count, 1);
	expect_link(p.d, "work", FZ_LINK_NONE, "");
}

static void own_rules_change_names_of_both_sides(void **state)
{
	(void)state;
	static const char *const rules[] = { "_v([0-9]+)$=-\\1", "^gen/.*/=gen/", "unused=x",
					     NULL };
	pair p =
		compare_with("gen/3/m.py:load_v2:1 5\n", "gen/44/m.py:load_v2:1 5\n",
			     (struct fz_diff_options){ .renames = rules, .match = FZ_MATCH_NAMES });
	struct fz_error err;

	assert_int_equal(p.d->function_count, 1);
	assert_int_equal(function_named(p.d, "load-2")->state, FZ_COMMON);
	assert_int_equal(fz_diff_check_rename("a(=b", &err), FZ_EUSAGE);
	assert_int_equal(fz_diff_check_rename("=b", &err), FZ_EUSAGE);
	assert_int_equal(fz_diff_check_rename("a\\=b", &err), FZ_EUSAGE);
	assert_int_equal(fz_diff_check_rename("a=", &err), 0);
	assert_int_equal(fz_diff_check_map("a", &err), FZ_EUSAGE);
	assert_int_equal(fz_diff_check_map("=a", &err), FZ_EUSAGE);
	/* Rules are reported; the user's own even if they changed nothing. */
	const struct fz_diff_rule *last = &p.d->rules[p.d->rule_count - 1];
	assert_string_equal(last->text, "unused=x");
	assert_int_equal(last->functions[FZ_BASE], 0);
	assert_int_equal(p.d->rules[p.d->rule_count - 3].functions[FZ_HEAD], 1);
}

/* ---- trees ---- */

static void inserted_wrappers_are_skipped(void **state)
{
	(void)state;
	pair one = compare("main;f;g 5\n", "main;w;f;g 6\nmain;w 1\n");
	expect_node(one.d, "main", FZ_COMMON, 5, 7, false);
	expect_node(one.d, "main/w", FZ_NEW, 0, 7, true);
	expect_node(one.d, "main/w/f/g", FZ_COMMON, 5, 6, false);
	assert_int_equal(function_named(one.d, "w")->cost.total[FZ_BASE], 0);
	assert_int_equal(one.d->elided_count, 0);

	pair three = compare("main;f 5\n", "main;u;v;w;f 6\n");
	expect_node(three.d, "main/u/v/w/f", FZ_COMMON, 5, 6, false);
	pair four = compare("main;f 5\n", "main;t;u;v;w;f 6\n");
	expect_node(four.d, "main/t/u/v/w/f", FZ_NEW, 0, 6, false);
	expect_node(four.d, "main/f", FZ_REMOVED, 5, 0, false);

	pair root = compare("f;g 5\n", "w;f;g 6\n");
	expect_node(root.d, "w/f/g", FZ_COMMON, 5, 6, false);
}

static void removed_wrappers_are_skipped(void **state)
{
	(void)state;
	pair one = compare("main;w;f;g 5\nmain;w 1\n", "main;f;g 6\n");
	expect_node(one.d, "main/f/g", FZ_COMMON, 5, 6, false);
	expect_node(one.d, "main/w", FZ_REMOVED, 1, 0, true);
	assert_int_equal(function_named(one.d, "w")->cost.total[FZ_BASE], 6);

	pair two = compare("main;v;w;f 5\n", "main;f 6\n");
	expect_node(two.d, "main/f", FZ_COMMON, 5, 6, false);
	pair three = compare("main;u;v;w;f 5\n", "main;f 6\n");
	expect_node(three.d, "main/f", FZ_NEW, 0, 6, false);
}

/* What was called through a removed function is not what is called through a new one. */
static void removed_and_new_callers_of_one_helper_stay_apart(void **state)
{
	(void)state;
	pair p = compare("main;handle;old_check;spin 700\n"
			 "main;handle;old_check;deep_a;spin 385\n"
			 "main;handle;validate;spin 248\n",
			 "main;handle;cache_get;spin 89\n"
			 "main;handle;validate;spin 730\n");

	expect_node(p.d, "main/handle/cache_get", FZ_NEW, 0, 89, false);
	expect_node(p.d, "main/handle/cache_get/spin", FZ_NEW, 0, 89, false);
	expect_node(p.d, "main/handle/old_check", FZ_REMOVED, 1085, 0, false);
	expect_node(p.d, "main/handle/old_check/spin", FZ_REMOVED, 700, 0, false);
	assert_int_equal(p.d->elided_count, 2);
	assert_int_equal(p.d->elided_time, 1085);

	pair deep = compare("main;u;v;f 5\n", "main;x;y;f 6\n");
	expect_node(deep.d, "main/x/y/f", FZ_NEW, 0, 6, false);
	expect_node(deep.d, "main/u/v/f", FZ_REMOVED, 5, 0, false);
	pair beside = compare("main;f 5\nmain;v;f 4\n", "main;w;f 6\n");
	expect_node(beside.d, "main/w", FZ_NEW, 0, 6, true);
	expect_node(beside.d, "main/w/f", FZ_COMMON, 5, 6, false);
	expect_node(beside.d, "main/v/f", FZ_REMOVED, 4, 0, false);
}

static void direct_call_is_preferred_to_wrapped_one(void **state)
{
	(void)state;
	pair p = compare("main;f 5\nmain;w;f 9\n", "main;f 6\n");

	expect_node(p.d, "main/f", FZ_COMMON, 5, 6, false);
	expect_node(p.d, "main/w/f", FZ_REMOVED, 9, 0, false);
	/* A function that both sides have is not a wrapper: another path is another path. */
	pair moved = compare("main;f 5\nmain;k 5\n", "main;k;f 5\nmain;k 5\n");
	expect_node(moved.d, "main/f", FZ_REMOVED, 5, 0, false);
}

static void cost_moved_to_other_callees_is_a_shift(void **state)
{
	(void)state;
	static const struct fz_diff_options o = { .no_rename = true };
	pair p = compare_with("main;parse;x 300\nmain;print 50\n",
			      "main;head 90\nmain;body 215\nmain;print 50\n", o);

	assert_int_equal(p.d->shift_count, 1);
	assert_int_equal(p.d->shifts[0].callees[FZ_BASE], 1);
	assert_int_equal(p.d->shifts[0].callees[FZ_HEAD], 2);
	assert_int_equal(p.d->shifts[0].cost[FZ_BASE], 300);
	assert_int_equal(p.d->shifts[0].cost[FZ_HEAD], 305);
	expect_node(p.d, "main/parse/x", FZ_MOVED, 300, 0, false);
	expect_node(p.d, "main/head", FZ_MOVED, 0, 90, false);
	expect_node(p.d, "main/print", FZ_COMMON, 50, 50, false);

	/* twice the standard error is 51 */
	pair more = compare_with("main;parse 300\n", "main;head 135\nmain;body 217\n", o);
	assert_int_equal(more.d->shift_count, 0);
	/* within the error, but not within a fifth of all */
	pair few = compare_with("main;parse 10\n", "main;head 17\n", o);
	assert_int_equal(few.d->shift_count, 0);
	pair tiny = compare_with("main;parse 9\n", "main;head 9\n", o);
	assert_int_equal(tiny.d->shift_count, 0);
}

static void recursion_folds(void **state)
{
	(void)state;
	static const struct {
		const char *text, *path;
		uint32_t nodes;
		int64_t total;
	} cases[] = {
		{ "m;f;f;f;g 5\nm;f 2\n", "m/f/g", 3, 5 },
		{ "m;walk;visit;walk;visit;leaf 5\nm;walk;visit;walk;other 3\n"
		  "m;walk;visit;end 1\n",
		  "m/walk/visit/leaf", 6, 5 },
		{ "m;walk;visit;walk;other 3\nm;walk;visit;end 1\n", "m/walk/visit/end", 5, 1 },
		{ "m;a;b;a;b;c 1\nm;b;a;b 2\n", "m/b", 5, 2 },
		{ "m;f 1\n", "m/f", 2, 1 },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		pair p = { .a = hand_profile(cases[i].text, 0), .b = hand_profile("", 0) };
		struct fz_diff_options o = { .scale = FZ_SCALE_TIME };
		int64_t before = (int64_t)fz_profile_sample_total(p.a);

		assert_int_equal(fz_profile_fold_recursion(p.a, NULL), 0);
		assert_int_equal(fz_diff_new(p.a, p.b, &o, &p.d, NULL), 0);
		assert_int_equal(p.d->total[FZ_BASE], before);
		if (p.d->node_count != cases[i].nodes)
			fail_msg("%s: %u nodes", cases[i].text, p.d->node_count);
		assert_int_equal(node_at(p.d, cases[i].path)->cost.total[FZ_BASE], cases[i].total);
	}
}

/* ---- comprehensions ---- */

#define F "m.py:main:1;m.py:f:5"
static const char called[] =
	F " 1\n" F ";m.py:f.<locals>.<listcomp>:6 4\n" F
	  ";m.py:f.<locals>.<listcomp>:6;m.py:f.<locals>.<listcomp>.<setcomp>:7;"
	  "m.py:g:9 2\n" F ";m.py:f.<locals>.<listcomp>:6;"
	  "m.py:f.<locals>.<listcomp>.<lambda>:6 8\n" F
	  ";m.py:f.<locals>.<genexpr>:8;m.py:f.<locals>.<genexpr>.<dictcomp>:8 3\n"
	  "m.py:main:1;m.py:<listcomp>:2 5\n";
static const char inlined[] = "m.py:main:1;m.py:f:6 5\nm.py:main:1;m.py:f:7;m.py:g:9 2\n" F
			      ";m.py:f.<locals>.<lambda>:6 8\n" F ";m.py:f.<locals>.<genexpr>:8 3\n"
			      "m.py:main:2 5\n";

static struct fz_comparison *compare_versions(struct both *p, uint8_t base, uint8_t head,
					      enum fz_match match)
{
	struct fz_comparison_options o = { .diff = { .match = match, .scale = FZ_SCALE_TIME } };
	struct fz_comparison *c;

	p->a->recording.python[0] = base ? 3 : 0;
	p->b->recording.python[0] = head ? 3 : 0;
	p->a->recording.python[1] = base;
	p->b->recording.python[1] = head;
	assert_int_equal(fz_comparison_new(p->a, p->b, &o, &c, NULL), 0);
	return c;
}

static const char *comprehensions_warning(const struct fz_diff *d)
{
	for (uint32_t i = 0; i < d->warning_count; i++)
		if (fz_str_starts(fz_str_of(d->warnings[i]), "comprehensions count"))
			return d->warnings[i];
	return NULL;
}

static void called_comprehensions_join_their_function(void **state)
{
	(void)state;
	static const struct {
		const char *base, *head;
		uint8_t version[FZ_SIDES];
	} cases[] = {
		{ called, inlined, { 11, 12 } },
		{ inlined, called, { 13, 10 } },
		{ called, inlined, { 0, 0 } }, /* unknown: only one side has any */
		{ inlined, called, { 12, 0 } },
	};

	for (size_t k = 0; k < FZ_ARRAY_LEN(cases); k++) {
		pair p = { .a = hand_profile(cases[k].base, 0),
			   .b = hand_profile(cases[k].head, 0) };
		fz_auto(fz_comparison_freep) struct fz_comparison *c = compare_versions(
			&p, cases[k].version[FZ_BASE], cases[k].version[FZ_HEAD], FZ_MATCH_FULL);
		const struct fz_diff *d = c->diff;

		for (uint32_t i = 0; i < d->function_count; i++) {
			const struct fz_diff_cost *cost = &d->functions[i].cost;
			assert_int_equal(d->functions[i].state, FZ_COMMON);
			assert_int_equal(cost->self[FZ_BASE], cost->self[FZ_HEAD]);
			assert_int_equal(cost->total[FZ_BASE], cost->total[FZ_HEAD]);
		}
		assert_int_equal(d->function_count, 5);
		assert_int_equal(function_named(d, "f")->cost.self[FZ_BASE], 5);
		expect_node(d, "main/f/g", FZ_COMMON, 2, 2, false);
		assert_int_equal(d->rule_count, 1);
		assert_string_equal(d->rules[0].text, "comprehensions around functions");
		const char *warning = comprehensions_warning(d);
		assert_non_null(warning);
		assert_int_equal(strstr(warning, "assumed") != NULL,
				 !cases[k].version[FZ_BASE] || !cases[k].version[FZ_HEAD]);
	}
	pair none = { .a = hand_profile("m.py:main:1 4\n", 0),
		      .b = hand_profile("m.py:main:1 4\n", 0) };
	fz_auto(fz_comparison_freep) struct fz_comparison *c =
		compare_versions(&none, 11, 12, FZ_MATCH_FULL);
	assert_null(comprehensions_warning(c->diff));
}

/* The line is that of the comprehension, as in a version that inlines it. */
static void a_joined_comprehension_keeps_its_line(void **state)
{
	(void)state;
	pair p = { .a = hand_profile(F ";m.py:f.<locals>.<listcomp>:6 4\n", 0),
		   .b = hand_profile("m.py:main:1;m.py:f:6 4\n", 0) };
	fz_auto(fz_comparison_freep) struct fz_comparison *c =
		compare_versions(&p, 11, 12, FZ_MATCH_FULL);
	const struct fz_profile *base = c->diff->profile[FZ_BASE];

	assert_int_equal(base->frames[base->stacks[base->samples.stack[0]].frame].line, 6);
	assert_int_equal(p.a->frames[p.a->stacks[p.a->samples.stack[0]].frame].line, 6);
}

/* One call of f, which calls its comprehension three times. */
static void a_joined_comprehension_is_not_called(void **state)
{
	(void)state;
	fz_auto(fz_profile_freep) struct fz_profile *p = fz_profile_new();

	fz_profile_add_metric(p, FZ_STR("instructions"), FZ_STR("count"), 1, true);
	fz_profile_add_metric(p, FZ_STR("calls"), FZ_STR("count"), 1, true);
	uint32_t f = fz_profile_stack(p, FZ_NONE, hand_frame(p, FZ_STR("m.py:f:5")));
	uint32_t inside =
		fz_profile_stack(p, f, hand_frame(p, FZ_STR("m.py:f.<locals>.<listcomp>:6")));
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = f }, (int64_t[]){ 100, 1 });
	fz_profile_add_sample(p, &(struct fz_sample){ .stack = inside }, (int64_t[]){ 70, 3 });
	assert_int_equal(fz_diff_join_comprehensions(p, NULL), 0);
	assert_int_equal(fz_sample_weight(p, 0, 1), 70);
	assert_int_equal(fz_sample_weight(p, 1, 0), 1);
	assert_int_equal(fz_sample_weight(p, 1, 1), 0);
}

/* Text without files and kinds. */
static void comprehensions_of_plain_names_join(void **state)
{
	(void)state;
	pair p = { .a = hand_profile("main;f;f.<locals>.<listcomp>;"
				     "f.<locals>.<listcomp>.<lambda> 4\n",
				     0),
		   .b = hand_profile("main;f;f.<locals>.<lambda> 4\n", 0) };

	for (uint32_t i = 0; i < p.a->function_count; i++)
		p.a->functions[i].kind = FZ_KIND_UNKNOWN;
	fz_auto(fz_comparison_freep) struct fz_comparison *c =
		compare_versions(&p, 0, 0, FZ_MATCH_FULL);
	expect_node(c->diff, "main/f/f.<locals>.<lambda>", FZ_COMMON, 4, 4, false);
}

static void comprehensions_stay_where_versions_agree(void **state)
{
	(void)state;
	static const struct {
		uint8_t base, head;
		enum fz_match match;
		const char *text;
	} cases[] = {
		{ 10, 11, FZ_MATCH_FULL, called },  /* both call them */
		{ 12, 13, FZ_MATCH_FULL, called },  /* both inline them, except in some classes */
		{ 0, 0, FZ_MATCH_FULL, called },    /* unknown, but both call them */
		{ 11, 12, FZ_MATCH_EXACT, called }, /* as recorded */
		{ 11, 12, FZ_MATCH_FULL, "m.py:f.<locals>.<listcomp>:6 4\n" }, /* truncated */
		{ 11, 12, FZ_MATCH_FULL, "n.py:f:6;m.py:f.<locals>.<listcomp>:6 4\n" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(cases); i++) {
		pair p = { .a = hand_profile(cases[i].text, 0),
			   .b = hand_profile(cases[i].text, 0) };
		fz_auto(fz_comparison_freep) struct fz_comparison *c =
			compare_versions(&p, cases[i].base, cases[i].head, cases[i].match);
		assert_int_equal(
			function_named(c->diff, "f.<locals>.<listcomp>")->cost.self[FZ_BASE], 4);
	}
}
#undef F

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moved_file_is_found_by_its_functions),
		cmocka_unit_test(a_tie_moves_no_file),
		cmocka_unit_test(half_a_file_that_moved_has_half_the_score),
		cmocka_unit_test(files_that_share_little_do_not_match),
		cmocka_unit_test(numbers_in_generated_names_are_ignored),
		cmocka_unit_test(name_left_once_on_both_sides_links),
		cmocka_unit_test(generic_names_are_not_evidence),
		cmocka_unit_test(renamed_function_is_found_by_its_neighbours),
		cmocka_unit_test(single_caller_is_not_evidence),
		cmocka_unit_test(leaf_with_similar_name_is_scored_by_known_facts),
		cmocka_unit_test(fewer_than_ten_samples_are_no_evidence),
		cmocka_unit_test(identical_candidates_do_not_match),
		cmocka_unit_test(order_in_the_file_separates_twins),
		cmocka_unit_test(four_times_the_cost_is_another_function),
		cmocka_unit_test(a_chain_of_renames_takes_several_rounds),
		cmocka_unit_test(markers_never_link),
		cmocka_unit_test(waker_is_known_by_its_function),
		cmocka_unit_test(files_without_frames_are_no_evidence),
		cmocka_unit_test(mappings_have_priority),
		cmocka_unit_test(a_mapping_to_nothing_forbids_a_link),
		cmocka_unit_test(own_rules_change_names_of_both_sides),
		cmocka_unit_test(inserted_wrappers_are_skipped),
		cmocka_unit_test(removed_wrappers_are_skipped),
		cmocka_unit_test(removed_and_new_callers_of_one_helper_stay_apart),
		cmocka_unit_test(direct_call_is_preferred_to_wrapped_one),
		cmocka_unit_test(cost_moved_to_other_callees_is_a_shift),
		cmocka_unit_test(recursion_folds),
		cmocka_unit_test(called_comprehensions_join_their_function),
		cmocka_unit_test(a_joined_comprehension_keeps_its_line),
		cmocka_unit_test(a_joined_comprehension_is_not_called),
		cmocka_unit_test(comprehensions_of_plain_names_join),
		cmocka_unit_test(comprehensions_stay_where_versions_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
