/* SPDX-License-Identifier: MIT */
/* Reading the tool's file, which valgrind/write.c describes.
 *
 * A node becomes a stack and, if something was counted at the node itself, a row. The evaluation
 * loop of CPython is hidden: its nodes are the Python functions that it runs. The rows of a part
 * are added at its end; see part.h. Code that a program made at run time gets its names from the
 * program's map.
 */
#include "record/count/count.h"

#include "base/arena.h"
#include "base/buf.h"
#include "profile/benchmarks.h"
#include "record/count/part.h"
#include "record/facts.h"
#include "symbol/demangle.h"
#include "symbol/jitmap.h"

#include <unistd.h>

#include <stdio.h>

enum {
	COUNTS_MAX = FZ_METRICS_MAX,
	FUNCTIONS_MAX = 1 << 24,
	DEPTH_MAX = 1 << 20,
	ARGUMENTS_MAX = 1 << 10
};

/* As in valgrind/fzcount.h. */
enum kind { PLAIN, UNNAMED, RESOLVER, EVAL, PYTHON, ALLOC, PROCESS, MEMORY, GO, KINDS };

#define HIDDEN (FZ_NONE - 1) /* instead of a frame: not shown */

struct reader {
	struct fz_cursor in;
	const char *name;
	struct fz_profile *p;
	const struct fz_count_options *options;
	struct fz_str program;
	struct fz_jitmap *map; /* of code that the program made at run time */
	uint32_t process, thread;
	uint32_t columns;
	bool complete;
	bool go; /* the program is Go's */
	struct fz_arena arena;
	char **arguments; /* of the program */

	uint32_t *frames; /* by function id */
	size_t frame_n, frame_cap;
	uint32_t *path; /* stacks from the root to the last node */
	size_t depth, path_cap;
	struct fz_count_row *rows; /* of the current part, whose name comes last */
	size_t row_n, row_cap;
	struct fz_str run; /* the benchmark of a run that a later run may replace */
	size_t run_n;      /* rows of that run, which come first; 0: none */
};

static const struct {
	const char *name, *unit;
} metrics[] = {
	{ "instructions", "count" }, { "calls", "count" },     { "syscalls", "count" },
	{ "allocations", "count" },  { "bytes", "bytes" },     { "peak", "bytes" },
	{ "live", "bytes" },         { "reads", "count" },     { "writes", "count" },
	{ "I1 misses", "count" },    { "D1 misses", "count" }, { "LL misses", "count" },
};
enum { MEMORY_FIRST = 5, CACHE_FIRST = 7 };

void fz_count_add_metrics(struct fz_profile *p, bool cache, bool memory)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(metrics); i++)
		if (i < MEMORY_FIRST || (i < CACHE_FIRST ? memory : cache))
			fz_profile_add_metric(p, fz_str_of(metrics[i].name),
					      fz_str_of(metrics[i].unit), 0, true);
}

bool fz_count_needs(const char *metric, bool *cache, bool *memory)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(metrics); i++) {
		if (strcmp(metric, metrics[i].name) != 0)
			continue;
		*cache |= i >= CACHE_FIRST;
		*memory |= i >= MEMORY_FIRST && i < CACHE_FIRST;
		return true;
	}
	return false;
}

static int damaged(const struct reader *r, const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: corrupt counts: %s", r->name, what);
}

static struct fz_str read_text(struct reader *r)
{
	size_t n = fz_cursor_varint32(&r->in, UINT32_MAX - 1);
	const uint8_t *p = fz_cursor_bytes(&r->in, n);

	return (struct fz_str){ p ? (const char *)p : "", p ? n : 0 };
}

/* ---- functions ---- */

/* The name of code without a symbol: "libc.so.6+0x5fa160". */
static uint32_t unnamed(struct reader *r, struct fz_str object, uint64_t offset)
{
	char name[256];
	struct fz_str base = object.n ? fz_path_base(object) : FZ_STR("[code]");

	snprintf(name, sizeof(name), "%.*s+0x%llx", (int)FZ_MIN(base.n, (size_t)200), base.p,
		 (unsigned long long)offset);
	return fz_profile_string(r->p, fz_str_of(name));
}

/* Demangle a name of C++ or Rust. Names of Go are not mangled, and a suffix after the last dot is
 * not added by a compiler, as in runtime.clone. */
static uint32_t readable(struct reader *r, struct fz_str symbol)
{
	if (r->go && !fz_str_starts(symbol, "_"))
		return fz_profile_string(r->p, symbol);
	fz_auto(fz_free_ptr) char *mangled = fz_strndup(symbol.p, symbol.n);
	fz_auto(fz_free_ptr) char *name = fz_demangle(mangled);

	return fz_profile_string(r->p, name ? fz_str_of(name) : symbol);
}

/* Make a path relative to the top of the checkout, so that it is the same in every worktree. */
static struct fz_str from_root(const struct reader *r, struct fz_str file)
{
	const char *root = r->options->root;
	size_t n = root ? strlen(root) : 0;

	if (n && fz_str_starts(file, "file://"))
		file = (struct fz_str){ file.p + 7, file.n - 7 };
	if (n && file.n > n + 1 && fz_str_starts(file, root) && file.p[n] == '/')
		return (struct fz_str){ file.p + n + 1, file.n - n - 1 };
	return file;
}

/* Find a function of V8 by its line in the map, such as "JS:~name file:///a.js:3:7"; "*" and "~"
 * show how it was compiled. */
static bool find_made(struct reader *r, uint64_t address, struct fz_function *f, int32_t *ret_line)
{
	struct fz_str name;

	if (!fz_jitmap_find(r->map, address, &name))
		return false;
	struct fz_made_code made = fz_jitmap_split(name);
	f->name = fz_profile_string(r->p, made.name);
	f->file = fz_profile_string(r->p, from_root(r, made.file));
	f->first_line = *ret_line = made.line;
	return true;
}

static uint32_t function_name(struct reader *r, enum kind kind, struct fz_str name,
			      struct fz_str object, uint64_t offset)
{
	if (kind == UNNAMED)
		return unnamed(r, object, offset);
	return kind == PYTHON ? fz_profile_string(r->p, name) : readable(r, name);
}

static uint32_t function_frame(struct reader *r, enum kind kind)
{
	uint64_t offset = fz_cursor_varint(&r->in);
	uint32_t line = fz_cursor_varint32(&r->in, INT32_MAX);
	struct fz_str name = read_text(r), object = read_text(r), file = read_text(r);

	if (kind == EVAL || kind == PROCESS)
		return HIDDEN;
	struct fz_function f = {
		.name = function_name(r, kind, name, object, offset),
		.file = fz_profile_string(r->p, from_root(r, file)),
		.module = fz_profile_string(r->p, object),
		.first_line = kind == PYTHON ? (int32_t)line : 0,
		.kind = kind == PYTHON ? FZ_KIND_PYTHON : FZ_KIND_NATIVE,
	};
	int32_t at = (int32_t)line;
	if (kind == UNNAMED && !object.n)
		find_made(r, offset, &f, &at);
	struct fz_frame frame = fz_frame_at(fz_profile_function(r->p, &f), at ? at : FZ_NO_LINE);

	return fz_profile_frame(r->p, &frame);
}

static int read_function(struct reader *r, struct fz_error *err)
{
	uint32_t id = fz_cursor_varint32(&r->in, FUNCTIONS_MAX);
	uint32_t kind = fz_cursor_varint32(&r->in, KINDS - 1);

	if (r->in.bad)
		return damaged(r, "a function", err);
	while (r->frame_n <= id) {
		fz_push(r->frames, r->frame_n, r->frame_cap, FZ_NONE);
	}
	r->frames[id] = function_frame(r, (enum kind)kind);
	return 0;
}

/* ---- nodes ---- */

/* The metric of a column of the file. */
static uint32_t metric_of(const struct reader *r, uint32_t column)
{
	bool skips = r->options->columns == FZ_COUNT_ALL_BUT_MEMORY && column >= MEMORY_FIRST;

	return skips ? column + CACHE_FIRST - MEMORY_FIRST : column;
}

static bool is_wanted(const struct reader *r, uint32_t column)
{
	bool is_memory = column >= MEMORY_FIRST && column < CACHE_FIRST;

	return is_memory || r->options->columns != FZ_COUNT_MEMORY_ALONE;
}

static void add_row(struct reader *r, uint32_t stack)
{
	struct fz_count_row row = { .stack = stack };
	bool any = false;

	for (uint32_t i = 0; i < r->columns; i++) {
		uint64_t v = fz_cursor_varint(&r->in);
		if (!v || !is_wanted(r, i))
			continue;
		row.counts[metric_of(r, i)] = (int64_t)FZ_MIN(v, (uint64_t)INT64_MAX);
		any = true;
	}
	if (!any)
		return;
	fz_push(r->rows, r->row_n, r->row_cap, row);
}

static int read_node(struct reader *r, struct fz_error *err)
{
	uint32_t up = fz_cursor_varint32(&r->in, DEPTH_MAX);
	uint32_t id = fz_cursor_varint32(&r->in, FUNCTIONS_MAX);

	if (r->in.bad || up > r->depth || id >= r->frame_n || r->frames[id] == FZ_NONE)
		return damaged(r, "a node", err);
	r->depth -= up;
	if (r->depth >= DEPTH_MAX)
		return fz_fail(err, FZ_ELIMIT, "%s: calls are nested more than %d deep", r->name,
			       DEPTH_MAX);
	uint32_t stack = r->depth ? r->path[r->depth - 1] : FZ_NONE;
	if (r->frames[id] != HIDDEN)
		stack = fz_profile_stack(r->p, stack, r->frames[id]);
	fz_push(r->path, r->depth, r->path_cap, stack);
	add_row(r, stack);
	return 0;
}

/* ---- parts ---- */

static int add_part(struct reader *r, struct fz_str name, bool marked,
		    const struct fz_count_row *rows, size_t n, struct fz_error *err)
{
	struct fz_count_part part = { .name = name,
				      .program = r->program,
				      .marked = marked,
				      .thread = r->thread,
				      .rows = rows,
				      .n = n };

	fz_count_part_add(r->p, &part, r->options);
	return fz_profile_check(r->p, err);
}

static int end_part(struct reader *r, bool marked, struct fz_error *err)
{
	struct fz_str name = marked ? read_text(r) : FZ_STR("");

	fz_cursor_varint(&r->in); /* the total, which equals the sum of the rows */
	if (r->in.bad)
		return damaged(r, "the end of a part", err);
	int rc = add_part(r, name, marked, r->rows + r->run_n, r->row_n - r->run_n, err);
	r->row_n = r->run_n;
	r->depth = 0;
	return rc;
}

/* ---- runs of a benchmark, of which the last one counts ---- */

/* Add the last run, which no later run can replace. */
static int close_run(struct reader *r, struct fz_error *err)
{
	size_t n = r->run_n;

	r->run_n = 0;
	return n ? add_part(r, r->run, true, r->rows, n, err) : 0;
}

static int end_run(struct reader *r, struct fz_error *err)
{
	struct fz_str name = read_text(r);
	size_t first = r->run_n;

	fz_cursor_varint(&r->in);
	if (r->in.bad)
		return damaged(r, "the end of a run", err);
	int rc = fz_str_eq(name, r->run) ? 0 : close_run(r, err);
	r->row_n -= first;
	if (r->row_n)
		memmove(r->rows, r->rows + first, r->row_n * sizeof(*r->rows));
	r->run = name;
	r->run_n = r->row_n;
	r->depth = 0;
	return rc;
}

/* Store a note about a part. */
static int read_note(struct reader *r, const char *what, struct fz_error *err)
{
	struct fz_str name = read_text(r);

	if (r->in.bad)
		return damaged(r, "a note", err);
	if (fz_benchmark_wanted(name, r->options->filter))
		fz_benchmark_add_trouble(r->p, name, what);
	return 0;
}

static int read_failure(struct reader *r, struct fz_error *err)
{
	struct fz_str name = read_text(r), why = read_text(r);

	if (r->in.bad)
		return damaged(r, "a failure", err);
	if (fz_benchmark_wanted(name, r->options->filter))
		fz_benchmark_add_failure(r->p, name, why);
	return 0;
}

/* ---- a file ---- */

static void open_map(struct reader *r, uint64_t pid)
{
	fz_auto(fz_free_ptr) char *path =
		fz_asprintf("/tmp/perf-%llu.map", (unsigned long long)pid);

	fz_jitmap_free(r->map);
	r->map = fz_jitmap_open(path, geteuid());
}

static bool read_arguments(struct reader *r)
{
	uint32_t n = fz_cursor_varint32(&r->in, ARGUMENTS_MAX);

	free(r->arguments);
	r->arguments = fz_calloc(n + 1ul, sizeof(*r->arguments));
	for (uint32_t i = 0; i < n && !r->in.bad; i++) {
		struct fz_str word = read_text(r);
		r->arguments[i] = fz_arena_strndup(&r->arena, word.p, word.n);
	}
	return !r->in.bad;
}

/* The number of columns that a file must have. */
static uint32_t columns_of(const struct reader *r)
{
	uint32_t n = r->p->metric_count - r->options->wall;

	return r->options->columns == FZ_COUNT_ALL_BUT_MEMORY ? n - (CACHE_FIRST - MEMORY_FIRST)
							      : n;
}

static int read_head(struct reader *r, struct fz_error *err)
{
	if (!fz_str_eq(read_text(r), FZ_STR("fzcount 6")))
		return damaged(r, "written by another version", err);
	uint64_t pid = fz_cursor_varint(&r->in); /* differs between runs: not stored */
	r->columns = fz_cursor_varint32(&r->in, COUNTS_MAX);
	r->go = fz_cursor_varint32(&r->in, 1);
	int rc = close_run(r, err);
	struct fz_str program = r->program = fz_path_base(read_text(r));
	if (r->in.bad || r->columns != columns_of(r))
		return damaged(r, "its head", err);
	if (!read_arguments(r))
		return damaged(r, "its arguments", err);
	r->thread = fz_profile_thread(r->p,
				      &(struct fz_thread){ .pid = r->process,
							   .tid = r->process,
							   .name = fz_profile_string(r->p, program),
							   .is_main = true });
	r->frame_n = r->row_n = r->depth = 0;
	r->complete = false;
	open_map(r, pid);
	return rc;
}

static int read_record(struct reader *r, struct fz_error *err)
{
	switch (fz_cursor_u8(&r->in)) {
	case 'D':
		r->row_n = r->run_n;
		r->depth = 0;
		return 0;
	case 'E':
		r->depth = 0;
		return 0;
	case 'F':
		return read_function(r, err);
	case 'I':
		return read_head(r, err);
	case 'M':
		return read_note(r,
				 "peak and live exclude memory of Python's own allocator, which "
				 "ignored PYTHONMALLOC=malloc (-E, -I)",
				 err);
	case 'N':
		return read_node(r, err);
	case 'P':
		return end_part(r, true, err);
	case 'R':
		return end_run(r, err);
	case 'S':
		return read_failure(r, err);
	case 'U':
		return read_note(r,
				 r->options->late ? "was still running at the time limit"
						  : "was started but not stopped",
				 err);
	case 'W':
		return end_part(r, false, err);
	case 'X':
		return read_note(r, "started other processes, which were not counted", err);
	case 'Z':
		r->complete = true;
		return 0;
	default:
		return damaged(r, "an unknown record", err);
	}
}

/* If a program with benchmarks was killed, its complete parts are valid. */
static int check_end(struct reader *r, struct fz_error *err)
{
	if (!r->in.bad && r->complete)
		return 0;
	if (!r->options->benchmarks)
		return damaged(r, "truncated; was the program killed, or is the disk full?", err);
	fz_benchmark_add_trouble(r->p, r->program, "was killed: its last counts are missing");
	return 0;
}

int fz_count_read(const void *data, size_t n, const char *name, struct fz_profile *into,
		  uint32_t process, const struct fz_count_options *options, struct fz_error *err)
{
	struct reader r = { .in = fz_cursor_of(data, n),
			    .name = name,
			    .p = into,
			    .options = options,
			    .process = process,
			    .program = FZ_STR("the program") };
	int rc = 0;

	while (rc == 0 && !r.in.bad && fz_cursor_left(&r.in))
		rc = read_record(&r, err);
	if (rc == 0)
		rc = close_run(&r, err);
	if (rc == 0)
		rc = check_end(&r, err);
	/* The recording is named after the last program of the first process. */
	if (rc == 0 && process == 1 && r.arguments && r.arguments[0])
		fz_facts_words(into, r.arguments, options->cwd);
	free(r.arguments);
	fz_arena_release(&r.arena);
	free(r.frames);
	free(r.path);
	free(r.rows);
	fz_jitmap_free(r.map);
	return rc;
}
