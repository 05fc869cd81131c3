/* SPDX-License-Identifier: MIT */
/* Reads massif.out: which code held the heap's bytes at its peak.
 *
 *   snapshot=5                      one of many; few have a tree
 *   mem_heap_B=70000                requested by the program
 *   mem_heap_extra_B=8000           added by the allocator, and ...
 *   mem_stacks_B=0                  ... the stacks, where they are measured
 *   heap_tree=peak                  or detailed, or empty
 *   n2: 70000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *    n1: 50000 0x10920C: tables (a.c:5)
 *     n0: 50000 0x1092A0: main (a.c:7)
 *    n0: 20000 in 3 places, all below massif's threshold (1.00%)
 *
 * "nN" is the number of children, which are the callers; the indentation is the depth. A node's own
 * bytes are those not in its children. The tree of the peak is read, or the largest tree if the
 * peak has none. Its text is stored and parsed at the end.
 */
#include "format.h"
#include "import.h"
#include "valgrind.h"

enum { DEPTH_MAX = 1 << 14 };

enum { METRIC_HEAP, METRIC_ALL, METRICS };

struct snapshot {
	uint64_t number, heap, extra, stacks;
	uint64_t line_number; /* of its tree's first line */
	bool peak, has_tree;
	struct fz_buf tree;
};

/* An open node while the tree is read. */
struct node {
	uint64_t bytes, explained; /* explained: by its children */
	uint32_t children, seen;
	uint32_t frame;
};

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct snapshot now, best;
	uint64_t line_number;
	struct node *path; /* from the root to the last node: the innermost function first */
	uint32_t depth, cap;
	uint32_t thread;
};

static int fail_line(const struct reader *r, const char *what, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: line %llu: %s", fz_input_name(r->in),
		       (unsigned long long)r->line_number, what);
}

/* ---- snapshots ---- */

static void end_snapshot(struct reader *r)
{
	struct snapshot *now = &r->now, *best = &r->best;
	bool better = !best->has_tree || (now->peak && !best->peak) ||
		      (now->peak == best->peak && now->heap > best->heap);

	if (now->has_tree && better) {
		struct snapshot other = *best;
		*best = *now;
		*now = other;
	}
	now->tree.n = 0;
	*now = (struct snapshot){ .tree = now->tree };
}

static bool read_header(struct reader *r, struct fz_str key, struct fz_str value)
{
	struct snapshot *now = &r->now;
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = { { "mem_heap_B", &now->heap },
			{ "mem_heap_extra_B", &now->extra },
			{ "mem_stacks_B", &now->stacks } };

	if (fz_str_eq(key, FZ_STR("snapshot"))) {
		end_snapshot(r);
		return fz_parse_u64(value, UINT64_MAX, &now->number);
	}
	if (fz_str_eq(key, FZ_STR("heap_tree"))) {
		now->peak = fz_str_eq(value, FZ_STR("peak"));
		now->has_tree = !fz_str_eq(value, FZ_STR("empty"));
		now->line_number = r->line_number + 1;
		return true;
	}
	for (size_t i = 0; i < FZ_ARRAY_LEN(numbers); i++)
		if (fz_str_eq(key, fz_str_of(numbers[i].key)))
			return fz_parse_u64(value, INT64_MAX / 4, numbers[i].to);
	return fz_str_eq(key, FZ_STR("time"));
}

static bool is_node(struct fz_str line)
{
	while (line.n && line.p[0] == ' ')
		line.p++, line.n--;
	return line.n > 1 && line.p[0] == 'n' && line.p[1] >= '0' && line.p[1] <= '9';
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	const char *equals = line.n ? memchr(line.p, '=', line.n) : NULL;

	r->line_number++;
	if (!line.n || line.p[0] == '#')
		return 0;
	if (r->now.has_tree && is_node(line)) {
		fz_profile_takes(r->p, line.n + 1);
		fz_buf_add(&r->now.tree, line.p, line.n);
		fz_buf_char(&r->now.tree, '\n');
		return 0;
	}
	if (fz_str_starts(line, "cmd: ")) {
		fz_profile_set_fact(r->p, "command", (struct fz_str){ line.p + 5, line.n - 5 });
		return 0;
	}
	if (fz_str_starts(line, "desc:") || fz_str_starts(line, "time_unit:"))
		return 0;
	if (!equals)
		return fail_line(r, "is not valid for massif", err);
	size_t n = (size_t)(equals - line.p);
	if (!read_header(r, (struct fz_str){ line.p, n },
			 (struct fz_str){ equals + 1, line.n - n - 1 }))
		return fail_line(r, "has an impossible value", err);
	return 0;
}

static int read_snapshots(struct reader *r, struct fz_error *err)
{
	int code = fz_import_lines(r->in, r->p, FZ_IMPORT_LINE_MAX, read_line, r, err);

	if (code)
		return code;
	end_snapshot(r);
	if (!r->best.has_tree)
		return fz_fail(err, FZ_EINPUT,
			       "%s: no snapshot has allocation stacks: record with a larger "
			       "--max-snapshots or a smaller --detailed-freq",
			       fz_input_name(r->in));
	return 0;
}

/* ---- the tree ---- */

static void add_bytes(struct reader *r, uint32_t stack, uint64_t heap, uint64_t all)
{
	const struct fz_sample s = { .thread = r->thread,
				     .stack = stack,
				     .status = FZ_STATUS_UNKNOWN };
	const int64_t weights[METRICS] = {
		[METRIC_HEAP] = (int64_t)heap, [METRIC_ALL] = (int64_t)all
	};

	if (all)
		fz_profile_add_sample(r->p, &s, weights);
}

/* The stack of the top node; the root is not a function. */
static uint32_t stack_of_top(struct reader *r)
{
	uint32_t stack = FZ_NONE;

	for (uint32_t i = r->depth; i-- > 1;)
		stack = fz_profile_stack(r->p, stack, r->path[i].frame);
	return stack;
}

static int close_node(struct reader *r, struct fz_error *err)
{
	const struct node *top = &r->path[r->depth - 1];

	if (top->seen != top->children)
		return fail_line(r,
				 "a node before it lacks callers: the file is truncated or "
				 "modified; record it again",
				 err);
	if (top->explained > top->bytes)
		return fail_line(r, "the callers of a node before it exceed its value", err);
	uint64_t own = top->bytes - top->explained;
	if (own)
		add_bytes(r, stack_of_top(r), own, own);
	r->depth--;
	return 0;
}

/* "in 3 places, all below massif's threshold (1.00%)": callers without further data. */
static bool is_rest(struct fz_str place)
{
	return fz_str_starts(place, "in ") &&
	       memmem(place.p, place.n, "below massif's threshold", 24);
}

static uint32_t frame_of(struct reader *r, struct fz_str place)
{
	if (is_rest(place))
		return fz_profile_frame_named(r->p, FZ_STR("[below massif's threshold]"),
					      FZ_STR("~"), FZ_NO_LINE, FZ_KIND_MARKER);
	return fz_valgrind_frame(r->p, place);
}

/* "n2: 16480 0x109180: grab (a.c:4)" */
static bool parse_node(struct reader *r, struct fz_str s, struct node *ret)
{
	struct fz_str children = fz_str_take_word(&s), bytes = fz_str_take_word(&s);
	uint64_t n;

	if (children.n < 3 || children.p[children.n - 1] != ':' ||
	    !fz_parse_u64((struct fz_str){ children.p + 1, children.n - 2 }, UINT32_MAX, &n) ||
	    !fz_parse_u64(bytes, INT64_MAX / 4, &ret->bytes))
		return false;
	ret->children = (uint32_t)n;
	ret->explained = ret->seen = 0;
	s = fz_str_trimmed(s);
	ret->frame = r->depth ? frame_of(r, s) : FZ_NONE;
	return true;
}

static int check_root(const struct reader *r, struct fz_str line, struct fz_error *err)
{
	if (memmem(line.p, line.n, " : ", 3) && !memmem(line.p, line.n, "functions)", 10))
		return fz_fail(
			err, FZ_EUNSUPPORTED,
			"%s: has several trees, from --xtree-memory; write callgrind's format "
			"with --xtree-memory-file=NAME.kcg",
			fz_input_name(r->in));
	if (memmem(line.p, line.n, "(page allocation syscalls)", 26))
		fz_profile_add_metric(r->p, FZ_STR("pages"), FZ_STR("bytes"), 0, true);
	else
		fz_profile_add_metric(r->p, FZ_STR("peak"), FZ_STR("bytes"), 0, true);
	fz_profile_add_metric(r->p, FZ_STR("peak_all"), FZ_STR("bytes"), 0, true);
	return 0;
}

static int read_node(struct reader *r, struct fz_str line, struct fz_error *err)
{
	struct node node;
	uint32_t depth = 0;
	int code = 0;

	while (depth < line.n && line.p[depth] == ' ')
		depth++;
	if (depth > r->depth || depth > DEPTH_MAX || (!depth && r->depth))
		return fail_line(r, "has an invalid depth", err);
	if (!depth)
		code = check_root(r, line, err);
	while (!code && r->depth > depth)
		code = close_node(r, err);
	if (code)
		return code;
	if (!parse_node(r, line, &node))
		return fail_line(r, "is not a tree node", err);
	if (depth) {
		struct node *caller_of = &r->path[depth - 1];
		caller_of->seen++;
		caller_of->explained += node.bytes;
		if (caller_of->explained > caller_of->bytes)
			return fail_line(r, "with the nodes before it, it exceeds its parent", err);
	}
	fz_profile_push(r->p, r->path, r->depth, r->cap, node);
	return 0;
}

static int read_tree(struct reader *r, struct fz_error *err)
{
	struct fz_str left = fz_buf_view(&r->best.tree);
	int code = 0;

	r->line_number = r->best.line_number;
	while (left.n && !code) {
		const char *end = memchr(left.p, '\n', left.n);
		struct fz_str line = { left.p, (size_t)(end - left.p) };
		code = read_node(r, line, err);
		if (!code && r->p->over_limit)
			code = fz_profile_check(r->p, err);
		left = (struct fz_str){ end + 1, left.n - line.n - 1 };
		r->line_number++;
	}
	while (!code && r->depth)
		code = close_node(r, err);
	if (!code && !r->p->metric_count)
		return fail_line(r, "the tree of the peak is missing: the file is truncated", err);
	return code;
}

/* ---- the end ---- */

static void add_named(struct reader *r, struct fz_str name, uint64_t bytes)
{
	uint32_t frame =
		fz_profile_frame_named(r->p, name, FZ_STR("~"), FZ_NO_LINE, FZ_KIND_MARKER);

	if (bytes)
		add_bytes(r, fz_profile_stack(r->p, FZ_NONE, frame), 0, bytes);
}

static void release(struct reader *r)
{
	fz_buf_release(&r->now.tree);
	fz_buf_release(&r->best.tree);
	free(r->path);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p };
	int code = read_snapshots(&r, err);

	if (code)
		return code;
	p->samples.ordered = p->samples.timed = false;
	r.thread = fz_profile_thread(p, &(struct fz_thread){ 0 });
	code = read_tree(&r, err);
	if (code)
		return code;
	add_named(&r, FZ_STR("[extra heap]"), r.best.extra);
	add_named(&r, FZ_STR("[stacks]"), r.best.stacks);
	if (!r.best.heap)
		p->default_metric = fz_profile_find_metric(p, FZ_STR("peak_all"));
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str s = { (const char *)head, n };

	(void)name;
	return fz_str_starts(s, "desc:") && memmem(head, n, "\ntime_unit: ", 12) ? 95 : 0;
}

const struct fz_format fz_format_massif = {
	.name = "massif",
	.title = "Valgrind's massif",
	.suffixes = ".massif",
	.notes = "the snapshot of the peak; how the heap grew and shrank is dropped",
	.sniff = sniff,
	.read = read,
};
