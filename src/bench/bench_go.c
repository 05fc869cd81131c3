/* SPDX-License-Identifier: MIT */
/* Reading Go's times; see bench_times.h.
 *
 *   pkg: example.org/sort
 *   BenchmarkSort/100          	    1000	      1234.5 ns/op	      16 B/op
 *   --- FAIL: BenchmarkBroken
 *       sort_test.go:7: it is broken
 */
#include "bench/bench_times.h"

#include "base/io.h"

#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20 };

struct reading {
	fz_bench_google_visit *visit;
	void *arg;
	char *package;
	char *failed; /* a benchmark that failed; the next line is the reason */
};

char *fz_bench_go_path(const char *times)
{
	return fz_asprintf("%s.go", times);
}

static bool take_prefix(struct fz_str *s, const char *prefix)
{
	if (!fz_str_starts(*s, prefix))
		return false;
	s->p += strlen(prefix);
	s->n -= strlen(prefix);
	return true;
}

static struct fz_str word_of(struct fz_str s)
{
	size_t n = 0;

	while (n < s.n && (unsigned char)s.p[n] > ' ')
		n++;
	return (struct fz_str){ s.p, n };
}

static struct fz_str trim(struct fz_str s)
{
	for (; s.n && (unsigned char)*s.p <= ' '; s.n--)
		s.p++;
	return s;
}

static char *full_name(const struct reading *r, struct fz_str name)
{
	return r->package ? fz_asprintf("%s.%.*s", r->package, (int)name.n, name.p)
			  : fz_strndup(name.p, name.n);
}

/* The number before " ns/op"; -1 if there is none. */
static double time_of(struct fz_str line)
{
	fz_auto(fz_free_ptr) char *text = fz_strndup(line.p, line.n);
	char *at = strstr(text, " ns/op"), *end;

	while (at && at > text && at[-1] != '\t')
		at--;
	double value = at ? strtod(at, &end) : -1;
	return at && end != at ? value : -1;
}

static void read_line(void *arg, struct fz_str line)
{
	struct reading *r = arg;

	if (r->failed) {
		r->visit(r->arg, fz_str_of(r->failed), 0, trim(line));
		free(r->failed);
		r->failed = NULL;
	} else if (take_prefix(&line, "pkg: ")) {
		struct fz_str name = word_of(line);
		free(r->package);
		r->package = fz_strndup(name.p, name.n);
	} else if (take_prefix(&line, "--- FAIL: ")) {
		r->failed = full_name(r, word_of(line));
	} else if (fz_str_starts(line, "Benchmark")) {
		fz_auto(fz_free_ptr) char *name = full_name(r, word_of(line));
		double ns = time_of(line);
		if (ns > 0)
			r->visit(r->arg, fz_str_of(name), ns, FZ_STR(""));
	}
}

int fz_bench_go_read(const char *times, fz_bench_google_visit *visit, void *arg,
		     struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_bench_go_path(times);
	struct reading r = { .visit = visit, .arg = arg };

	if (access(path, R_OK))
		return 0;
	int rc = fz_input_each_line(path, LINE_MAX_BYTES, read_line, &r, err);
	if (r.failed)
		visit(arg, fz_str_of(r.failed), 0, FZ_STR("it failed"));
	free(r.failed);
	free(r.package);
	unlink(path);
	return rc;
}
