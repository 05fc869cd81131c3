/* SPDX-License-Identifier: MIT */
/* Compare two profiles with libfizeau: what changed most, and along which calls.
 *
 *	cc compare.c $(pkg-config --cflags --libs fizeau) -o compare
 *	./compare before.fz after.fz [report.html]
 */
#include <fizeau.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const struct fizeau_error *err)
{
	fprintf(stderr, "compare: %s\n", err->message);
	return 2;
}

static const char *state_name(enum fizeau_state state)
{
	return state == FIZEAU_NEW ? "new" : state == FIZEAU_REMOVED ? "removed" : "";
}

/* The function whose self cost changed most, up or down. */
static size_t most_changed(const struct fizeau_diff *d)
{
	struct fizeau_diff_function f = { .size = sizeof(f) };
	size_t best = 0;
	double change = -1;

	for (size_t i = 0; fizeau_diff_function(d, i, &f) == 0; i++) {
		if (fabs(f.cost.diff_self) <= change)
			continue;
		change = fabs(f.cost.diff_self);
		best = i;
	}
	return best;
}

/* The calls that lead to a node, outermost first. */
static void print_path(const struct fizeau_diff *d, int64_t index)
{
	struct fizeau_diff_node node = { .size = sizeof(node) };
	struct fizeau_diff_function f = { .size = sizeof(f) };

	if (index < 0 || fizeau_diff_node(d, (size_t)index, &node))
		return;
	print_path(d, node.parent);
	fizeau_diff_function(d, node.function, &f);
	printf("%s%s", node.parent < 0 ? "  " : " > ", f.name);
}

static void print_paths_to(const struct fizeau_diff *d, size_t function)
{
	struct fizeau_diff_node node = { .size = sizeof(node) };

	for (size_t i = 0; fizeau_diff_node(d, i, &node) == 0; i++) {
		if (node.function != function || node.cost.diff_self == 0)
			continue;
		print_path(d, (int64_t)i);
		printf(": %+.0f %s\n", node.cost.diff_self, fizeau_diff_unit(d));
	}
}

static void print_changes(const struct fizeau_diff *d)
{
	struct fizeau_diff_function f = { .size = sizeof(f) };

	printf("%s in %s, base times %.4f\n", fizeau_diff_metric(d), fizeau_diff_unit(d),
	       fizeau_diff_factor(d));
	for (size_t i = 0; fizeau_diff_function(d, i, &f) == 0; i++)
		if (f.cost.diff_self != 0)
			printf("%+14.0f  %-8s %s (%s:%d)\n", f.cost.diff_self, state_name(f.state),
			       f.name, f.file, f.line);
	if (fizeau_diff_function(d, most_changed(d), &f))
		return;
	printf("%s changed most:\n", f.name);
	print_paths_to(d, most_changed(d));
}

int main(int argc, char **argv)
{
	struct fizeau_error err;
	struct fizeau_profile *base = NULL, *head = NULL;
	struct fizeau_diff *diff = NULL;
	int failed;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: compare BASE HEAD [REPORT]\n");
		return 2;
	}
	failed = fizeau_profile_load(argv[1], &base, &err) ||
		 fizeau_profile_load(argv[2], &head, &err) ||
		 fizeau_diff_new(base, head, NULL, &diff, &err) ||
		 (argc == 4 && fizeau_diff_write(diff, NULL, argv[3], &err));
	if (!failed)
		print_changes(diff);
	fizeau_diff_free(diff);
	fizeau_profile_free(head);
	fizeau_profile_free(base);
	return failed ? fail(&err) : EXIT_SUCCESS;
}
