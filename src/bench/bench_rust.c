/* SPDX-License-Identifier: MIT */
/* Reading the times of divan and bencher; see bench_times.h.
 *
 *   program: sums
 *   test plain    ... bench:       1,234 ns/iter (+/- 56)
 *   program: trees
 *   trees             fastest       | slowest       | median        | mean          | samples | ...
 *   |- args                         |               |               |               |         |
 *   |  |- 1000        278.8 ns      | 280.2 ns      | 278.8 ns      | 279.1 ns      | 100     | 800
 *
 * Bars and branches are characters of three bytes; each level of the tree is three characters wide.
 * A name ends at two blanks.
 */
#include "bench/bench_times.h"

#include "base/io.h"

#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, DEPTH_MAX = 32, MEDIAN = 2 };

static const char bar[] = "\xe2\x94\x82"; /* between columns */

struct reading {
	fz_bench_google_visit *visit;
	void *arg;
	char *path[DEPTH_MAX]; /* of the last line, by depth: "a", "a::b"; NULL below it */
	char *program;
};

char *fz_bench_rust_path(const char *times)
{
	return fz_asprintf("%s.rust", times);
}

static void skip(struct fz_str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

/* ---- bencher ---- */

/* Parse a number with commas: "1,234 ns/iter"; -1 if there is none. */
static double number_with_commas(struct fz_str s)
{
	double value = 0;
	size_t i = 0;

	for (; i < s.n && s.p[i] == ' '; i++)
		;
	size_t begin = i;
	for (; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == ','); i++)
		if (s.p[i] != ',')
			value = 10 * value + (s.p[i] - '0');
	return i > begin ? value : -1;
}

static void read_test(struct reading *r, struct fz_str line)
{
	static const char dots[] = " ... bench:";
	const char *at = memmem(line.p, line.n, dots, sizeof(dots) - 1);

	if (!at)
		return;
	struct fz_str name = { line.p + 5, (size_t)(at - line.p) - 5 };
	while (name.n && name.p[name.n - 1] == ' ')
		name.n--;
	skip(&line, (size_t)(at - line.p) + sizeof(dots) - 1);
	fz_auto(fz_free_ptr) char *full =
		fz_asprintf("%s::%.*s", r->program ? r->program : "", (int)name.n, name.p);
	double ns = number_with_commas(line);
	if (ns > 0)
		r->visit(r->arg, fz_str_of(full), ns, FZ_STR(""));
}

/* ---- divan ---- */

/* The ns of a time such as "278.8 ns"; -1 if it is not a time. */
static double time_of(struct fz_str s)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	fz_auto(fz_free_ptr) char *text = fz_strndup(s.p, s.n);
	char *end;
	double value = strtod(text, &end);

	end += strspn(end, " ");
	end[strcspn(end, " ")] = '\0';
	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++)
		if (strcmp(end, units[i].name) == 0)
			return value * units[i].ns;
	return -1;
}

/* The text after n bars. */
static struct fz_str column(struct fz_str line, int n)
{
	for (; n > 0; n--) {
		const char *at = memmem(line.p, line.n, bar, sizeof(bar) - 1);
		if (!at)
			return FZ_STR("");
		skip(&line, (size_t)(at - line.p) + sizeof(bar) - 1);
	}
	return line;
}

/* Remove the branches of a line, so that it starts with its name; returns its depth. */
static size_t take_depth(struct fz_str *line)
{
	size_t depth = 0;

	while (line->n && ((unsigned char)*line->p == 0xe2 || *line->p == ' ')) {
		for (int i = 0; i < 3 && line->n; i++)
			skip(line, FZ_MIN(line->n, (unsigned char)*line->p == 0xe2 ? 3ul : 1ul));
		depth++;
	}
	return depth;
}

static void read_row(struct reading *r, struct fz_str line)
{
	size_t depth = take_depth(&line);
	const char *blanks = memmem(line.p, line.n, "  ", 2);
	struct fz_str name = { line.p, blanks ? (size_t)(blanks - line.p) : line.n };

	if (!name.n || depth >= DEPTH_MAX || (depth && !r->path[depth - 1]))
		return;
	for (size_t i = depth; i < DEPTH_MAX; i++) {
		free(r->path[i]);
		r->path[i] = NULL;
	}
	r->path[depth] = depth ? fz_asprintf("%s::%.*s", r->path[depth - 1], (int)name.n, name.p)
			       : fz_strndup(name.p, name.n);
	double ns = time_of(column(line, MEDIAN));
	if (depth && ns > 0)
		r->visit(r->arg, fz_str_of(r->path[depth]), ns, FZ_STR(""));
}

/* ---- a file ---- */

static void read_line(void *arg, struct fz_str line)
{
	static const char program[] = "program: ";
	struct reading *r = arg;

	if (fz_str_starts(line, program)) {
		skip(&line, sizeof(program) - 1);
		free(r->program);
		r->program = fz_strndup(line.p, line.n);
	} else if (fz_str_starts(line, "test ")) {
		read_test(r, line);
	} else {
		read_row(r, line);
	}
}

int fz_bench_rust_read(const char *times, fz_bench_google_visit *visit, void *arg,
		       struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_bench_rust_path(times);
	struct reading r = { .visit = visit, .arg = arg };

	if (access(path, R_OK))
		return 0;
	int rc = fz_input_each_line(path, LINE_MAX_BYTES, read_line, &r, err);
	for (size_t i = 0; i < DEPTH_MAX; i++)
		free(r.path[i]);
	free(r.program);
	unlink(path);
	return rc;
}
