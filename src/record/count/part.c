/* SPDX-License-Identifier: MIT */
/* Moving the stacks of a part below its marker; see part.h.
 *
 * `moved` maps each stack to its replacement. To drop callers, the innermost of them is mapped to
 * the marker; the stacks of its callees follow.
 */
#include "record/count/part.h"

#include "profile/benchmarks.h"

struct mover {
	struct fz_profile *p;
	const struct fz_count_part *part;
	const struct fz_count_options *options;
	uint32_t root;   /* the marker; FZ_NONE: roots stay */
	bool python, v8; /* hide the frames of this interpreter, which ran */
	struct fz_map moved;
	struct fz_map anchors; /* by stack: the result of find_anchor, plus one */
	struct fz_map tops;    /* by stack: its outermost caller */
	uint32_t *path;
	size_t path_cap;
};

static struct fz_str function_name(const struct fz_profile *p, uint32_t stack)
{
	return fz_profile_text(p, fz_profile_stack_function(p, stack)->name);
}

static uint32_t parent_of(const struct mover *m, uint32_t stack)
{
	return m->p->stacks[stack].parent;
}

/* ---- interpreters ---- */

static bool starts_with_one_of(struct fz_str s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fz_str_starts(s, list[i]))
			return true;
	return false;
}

/* True for a native function of the interpreter or of a C library. */
static bool is_common(const struct mover *m, uint32_t stack, bool *ret_interpreter)
{
	static const char *const interpreters[] = { "python", "libpython" };
	static const char *const libraries[] = { "libc.so", "libm.so", "libpthread.so",
						 "ld-linux" };
	const struct fz_function *f = fz_profile_stack_function(m->p, stack);
	struct fz_str object = fz_path_base(fz_module_file(fz_profile_text(m->p, f->module)));

	*ret_interpreter = starts_with_one_of(object, interpreters, FZ_ARRAY_LEN(interpreters));
	return f->kind == FZ_KIND_NATIVE &&
	       (*ret_interpreter || starts_with_one_of(object, libraries, FZ_ARRAY_LEN(libraries)));
}

/* V8 executes a bytecode by jumping to its own code: "Builtins_LdaZeroHandler". */
static bool is_handler(const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str name = fz_profile_text(p, f->name);

	return f->kind == FZ_KIND_NATIVE && fz_str_starts(name, "Builtins_") &&
	       fz_str_ends(name, "Handler");
}

static bool is_bytecode(const struct mover *m, uint32_t stack)
{
	return m->v8 && is_handler(m->p, fz_profile_stack_function(m->p, stack));
}

/* True if a frame belongs to the interpreter that executes the calling function, so its counts
 * belong to that function. C library functions that an extension calls stay callees of the
 * extension. */
static bool is_inside(const struct mover *m, uint32_t stack, uint32_t caller)
{
	bool interpreter;

	if (caller == FZ_NONE)
		return false;
	if (is_bytecode(m, stack))
		return true;
	if (!m->python || !is_common(m, stack, &interpreter))
		return false;
	uint32_t function = m->p->frames[m->p->stacks[caller].frame].function;
	return interpreter || m->p->functions[function].kind != FZ_KIND_NATIVE;
}

/* Find which interpreters ran. */
static void find_interpreters(struct mover *m)
{
	for (uint32_t i = 0; i < m->p->function_count; i++) {
		m->python |= m->p->functions[i].kind == FZ_KIND_PYTHON;
		m->v8 |= is_handler(m->p, &m->p->functions[i]);
	}
}

/* ---- moving ---- */

/* The frames of an interpreter before its first function become one, named after the program. */
static uint32_t start_of(const struct mover *m)
{
	return fz_profile_stack(
		m->p, FZ_NONE,
		fz_profile_frame_named(m->p, m->part->program, FZ_STR(""), 0, FZ_KIND_NATIVE));
}

static bool is_start(const struct mover *m, uint32_t stack, uint32_t caller, uint32_t start)
{
	bool interpreter;

	return start != FZ_NONE && (caller == FZ_NONE || caller == start) &&
	       is_common(m, stack, &interpreter);
}

static uint32_t move(struct mover *m, uint32_t stack)
{
	uint32_t start = m->python && m->root == FZ_NONE ? start_of(m) : FZ_NONE;
	uint32_t parent = m->root, at = stack;
	size_t n = 0;

	for (; at != FZ_NONE; at = parent_of(m, at)) {
		uint32_t known = fz_map_get(&m->moved, at);
		if (known != FZ_NONE) {
			parent = known;
			break;
		}
		fz_push(m->path, n, m->path_cap, at);
	}
	while (n > 0) {
		at = m->path[--n];
		if (is_start(m, at, parent, start))
			parent = start;
		else if (!is_inside(m, at, parent))
			parent = fz_profile_stack(m->p, parent, m->p->stacks[at].frame);
		fz_map_put(&m->moved, at, parent);
	}
	return parent;
}

/* If a row moved to its caller, its calls are not calls of the caller. */
static void forget_calls(const struct mover *m, uint32_t from, uint32_t to, int64_t *counts)
{
	uint32_t calls = fz_profile_find_metric(m->p, FZ_STR("calls"));
	bool interpreter;

	if (calls == FZ_NONE || m->p->stacks[from].frame == m->p->stacks[to].frame)
		return;
	if (is_bytecode(m, from) || (m->python && is_common(m, from, &interpreter)))
		counts[calls] = 0;
}

static void add_row(struct mover *m, const struct fz_count_row *row)
{
	struct fz_sample s = { .thread = m->part->thread, .stack = row->stack };
	int64_t counts[FZ_METRICS_MAX];

	memcpy(counts, row->counts, sizeof(counts));
	if (m->root != FZ_NONE || m->python || m->v8)
		s.stack = move(m, row->stack);
	if (row->stack != FZ_NONE)
		forget_calls(m, row->stack, s.stack, counts);
	fz_profile_add_sample(m->p, &s, counts);
}

static void add_all(struct mover *m)
{
	for (size_t i = 0; i < m->part->n; i++)
		add_row(m, &m->part->rows[i]);
}

/* ---- Go ---- */

#define GO_HARNESS "testing.(*B).runN"

/* True if the stack is Go's scheduler preempting a goroutine, which happens at random times. */
static bool is_preemption(const struct mover *m, uint32_t stack)
{
	struct fz_str name, caller;

	for (; stack != FZ_NONE && parent_of(m, stack) != FZ_NONE; stack = parent_of(m, stack)) {
		caller = function_name(m->p, parent_of(m, stack));
		if (!fz_str_eq(caller, FZ_STR("runtime.newstack")))
			continue;
		name = function_name(m->p, stack);
		if (fz_str_eq(name, FZ_STR("runtime.gopreempt_m")) ||
		    fz_str_eq(name, FZ_STR("runtime.goschedImpl")))
			return true;
	}
	return false;
}

/* True for a goroutine of Go's runtime, such as the garbage collector's. */
static bool is_of_runtime(const struct mover *m, uint32_t top)
{
	return fz_str_starts(function_name(m->p, top), "runtime.");
}

/* ---- frames at which a body begins ---- */

static bool is_root_frame(struct fz_str name)
{
	static const char *const names[] = { "__bench_root_frame__", "__codspeed_root_frame__",
					     GO_HARNESS };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (memmem(name.p, name.n, names[i], strlen(names[i])))
			return true;
	return false;
}

/* True for the symbol itself, or followed by arguments. */
static bool is_symbol(struct fz_str name, const char *symbol)
{
	size_t n = strlen(symbol);

	return fz_str_starts(name, symbol) && (name.n == n || name.p[n] == '(');
}

static bool selects_main(const struct fz_count_options *options)
{
	return options->symbol && strcmp(options->symbol, "main") == 0;
}

static bool is_python(const struct mover *m, uint32_t stack)
{
	return fz_profile_stack_function(m->p, stack)->kind == FZ_KIND_PYTHON;
}

/* Python functions named main are not anchors: the module site has one. */
static bool is_anchor(const struct mover *m, uint32_t stack)
{
	struct fz_str name = function_name(m->p, stack);

	if (m->part->marked)
		return is_root_frame(name);
	return is_symbol(name, m->options->symbol) &&
	       !(selects_main(m->options) && is_python(m, stack));
}

/* The outermost anchor of a stack; FZ_NONE if it has none. */
static uint32_t find_anchor(struct mover *m, uint32_t stack)
{
	uint32_t at = stack, anchor = FZ_NONE;
	size_t n = 0;

	for (; at != FZ_NONE; at = parent_of(m, at)) {
		uint32_t known = fz_map_get(&m->anchors, at);
		if (known != FZ_NONE) {
			anchor = known - 1;
			break;
		}
		fz_push(m->path, n, m->path_cap, at);
	}
	/* FZ_NONE is stored as 0. */
	anchor = at == FZ_NONE ? FZ_NONE : anchor;
	while (n > 0) {
		at = m->path[--n];
		if (anchor == FZ_NONE && is_anchor(m, at))
			anchor = at;
		fz_map_put(&m->anchors, at, anchor + 1);
	}
	return anchor;
}

/* The outermost caller of a stack. *ret_known: the first of its callers (itself included) that an
 * earlier call has visited; FZ_NONE if none. Stacks may be deep, so each is visited only once. */
static uint32_t find_top(struct mover *m, uint32_t stack, uint32_t *ret_known)
{
	uint32_t at = stack, top = FZ_NONE;
	size_t n = 0;

	for (; at != FZ_NONE; at = parent_of(m, at)) {
		uint32_t known = fz_map_get(&m->tops, at);
		if (known != FZ_NONE) {
			top = known;
			break;
		}
		fz_push(m->path, n, m->path_cap, at);
	}
	if (top == FZ_NONE && n)
		top = m->path[n - 1];
	while (n > 0)
		fz_map_put(&m->tops, m->path[--n], top);
	*ret_known = at;
	return top;
}

static uint32_t outermost(struct mover *m, uint32_t stack)
{
	uint32_t known;

	return find_top(m, stack, &known);
}

/* ---- what all stacks have in common ---- */

/* Drop the callers that all rows of a thread share, except the last. Threads are distinguished by
 * their outermost function; `except` is skipped. A row's walk to the root reaches a visited stack
 * where the part that it shares with all earlier rows ends. */
static void drop_common(struct mover *m, uint32_t except)
{
	const struct fz_stack *stacks = m->p->stacks;
	struct fz_map last = { 0 };

	for (size_t i = 0; i < m->part->n; i++) {
		uint32_t stack = m->part->rows[i].stack, met;
		uint32_t top = find_top(m, stack, &met);
		if (top == FZ_NONE || top == except)
			continue;
		uint32_t *slot = fz_map_slot(&last, top);
		if (*slot == FZ_NONE)
			*slot = stack;
		else if (stacks[met].depth < stacks[*slot].depth)
			*slot = met;
	}
	for (size_t i = 0; last.slots && i <= last.mask; i++) {
		if (last.slots[i].value == FZ_NONE)
			continue;
		uint32_t parent = parent_of(m, last.slots[i].value);
		if (parent != FZ_NONE)
			fz_map_put(&m->moved, parent, m->root);
	}
	fz_map_release(&last);
}

/* ---- a part ---- */

/* Add the body of a benchmark whose harness has a root frame. */
static void add_body(struct mover *m, uint32_t anchor)
{
	uint32_t top = outermost(m, anchor);
	bool go = fz_str_eq(function_name(m->p, anchor), FZ_STR(GO_HARNESS));

	drop_common(m, top);
	for (size_t i = 0; i < m->part->n; i++) {
		uint32_t stack = m->part->rows[i].stack, own = find_anchor(m, stack);
		if (own != FZ_NONE)
			fz_map_put(&m->moved, own, m->root);
		if (own == FZ_NONE && (stack == FZ_NONE || outermost(m, stack) == top ||
				       (go && is_of_runtime(m, outermost(m, stack)))))
			continue;
		if (!go || !is_preemption(m, stack))
			add_row(m, &m->part->rows[i]);
	}
}

static void add_marked(struct mover *m)
{
	uint32_t anchor = FZ_NONE;

	for (size_t i = 0; i < m->part->n && anchor == FZ_NONE; i++)
		anchor = find_anchor(m, m->part->rows[i].stack);
	if (m->options->harness || !(m->options->benchmarks || m->options->bodies)) {
		add_all(m);
	} else if (anchor != FZ_NONE) {
		add_body(m, anchor);
	} else {
		drop_common(m, FZ_NONE);
		add_all(m);
	}
}

/* Add only the calls of options->symbol with their callees. */
static void add_symbol(struct mover *m)
{
	for (size_t i = 0; i < m->part->n; i++) {
		uint32_t anchor = find_anchor(m, m->part->rows[i].stack);
		if (anchor == FZ_NONE)
			continue;
		if (!m->options->harness && parent_of(m, anchor) != FZ_NONE)
			fz_map_put(&m->moved, parent_of(m, anchor), m->root);
		add_row(m, &m->part->rows[i]);
	}
}

static bool has_symbol(struct mover *m)
{
	for (size_t i = 0; i < m->part->n; i++)
		if (find_anchor(m, m->part->rows[i].stack) != FZ_NONE)
			return true;
	return false;
}

/* True for main of a Python interpreter, whose symbol distributions strip. */
static bool is_nameless_main(const struct mover *m)
{
	if (!selects_main(m->options))
		return false;
	for (size_t i = 0; i < m->part->n; i++)
		if (m->part->rows[i].stack != FZ_NONE && is_python(m, m->part->rows[i].stack))
			return true;
	return false;
}

/* CodSpeed's plug-ins report their own name as if it were a benchmark. */
static bool is_signature(struct fz_str name)
{
	return fz_str_starts(name, "Metadata: ");
}

void fz_count_part_add(struct fz_profile *p, const struct fz_count_part *part,
		       const struct fz_count_options *options)
{
	struct mover m = { .p = p, .part = part, .options = options, .root = FZ_NONE };
	struct fz_str name = part->name;

	if (is_signature(name))
		return;
	if (options->outline)
		find_interpreters(&m);
	if (!name.n && options->benchmarks)
		name = part->marked || selects_main(options)
			       ? part->program
			       : fz_str_of(options->symbol ? options->symbol : "");
	bool wanted = !options->benchmarks || fz_benchmark_wanted(name, options->filter);
	if (wanted && part->marked && !options->symbol) {
		m.root = name.n ? fz_benchmark_root(p, name) : FZ_NONE;
		add_marked(&m);
	} else if (wanted && !part->marked && options->symbol && has_symbol(&m)) {
		m.root = fz_benchmark_root(p, name);
		add_symbol(&m);
	} else if (wanted && !part->marked && is_nameless_main(&m)) {
		m.root = fz_benchmark_root(p, name);
		add_all(&m);
	} else if (!options->benchmarks) {
		add_all(&m);
	}
	fz_map_release(&m.moved);
	fz_map_release(&m.anchors);
	fz_map_release(&m.tops);
	free(m.path);
}
