/* SPDX-License-Identifier: MIT */
/* sums N DEPTH: write N sums at random, parse them into trees, evaluate and sort; many small calls,
 * recursion, the allocator and libc. */
#include <stdio.h>
#include <stdlib.h>

struct node {
	char what;
	long value;
	struct node *left, *right;
};

static const char *text;
static unsigned seed = 1;

static unsigned any(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static char *write_sum(char *out, int depth)
{
	if (depth == 0 || any(9) == 0)
		return out + snprintf(out, 8, "%u", any(1000));
	*out++ = '(';
	out = write_sum(out, depth - 1);
	*out++ = "+-*"[any(3)];
	out = write_sum(out, depth - 1);
	*out++ = ')';
	return out;
}

static struct node *make(char what, long value, struct node *left, struct node *right)
{
	struct node *n = malloc(sizeof(*n));

	*n = (struct node){ what, value, left, right };
	return n;
}

static long parse_number(void)
{
	long n = 0;

	while (*text >= '0' && *text <= '9')
		n = n * 10 + *text++ - '0';
	return n;
}

static struct node *parse(void)
{
	if (*text != '(')
		return make('n', parse_number(), NULL, NULL);
	text++;
	struct node *left = parse();
	char what = *text++;
	struct node *right = parse();
	text++;
	return make(what, 0, left, right);
}

static long evaluate(const struct node *n)
{
	switch (n->what) {
	case '+':
		return evaluate(n->left) + evaluate(n->right);
	case '-':
		return evaluate(n->left) - evaluate(n->right);
	case '*':
		return evaluate(n->left) * evaluate(n->right) % 1000003;
	default:
		return n->value;
	}
}

static void drop(struct node *n)
{
	if (!n)
		return;
	drop(n->left);
	drop(n->right);
	free(n);
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, depth = argc > 2 ? atoi(argv[2]) : 8;
	static char buffer[1 << 20];
	long *values = calloc((size_t)n, sizeof(*values)), sum = 0;

	for (int i = 0; i < n; i++) {
		*write_sum(buffer, depth) = '\0';
		text = buffer;
		struct node *tree = parse();
		values[i] = evaluate(tree);
		drop(tree);
	}
	qsort(values, (size_t)n, sizeof(*values), compare);
	for (int i = 0; i < n; i++)
		sum += values[i] * i % 1000003;
	printf("%ld\n", sum);
	free(values);
	return 0;
}
