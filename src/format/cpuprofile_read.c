/* SPDX-License-Identifier: MIT */
/* Reads V8's profiles.
 *
 *   {nodes: [{id, callFrame, hitCount, children, positionTicks}], samples: [id], timeDeltas: [us]}
 *   {head: {functionName, ..., hitCount, children: [...]}, samples, timestamps}     until 2017
 *   {head: {callFrame, selfSize, children: [...]}}                                  .heapprofile
 *
 * A sample lasts until the next one, the last one until endTime. positionTicks has the number of
 * samples of a node on each line, but not which ones: lines are assigned in order. Samples of
 * "(idle)" are omitted, with a note.
 */
#include "cpuprofile.h"

#include "base/text.h"
#include "format.h"
#include "import.h"

struct node {
	const json_t *v;
	uint32_t stack; /* FZ_NONE: the root */
	uint32_t frame;
	uint32_t parent; /* node */
	bool made, root, idle;
	/* lines not assigned yet */
	size_t tick;
	int64_t used;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	json_t *root;
	struct node *nodes;
	uint32_t n, cap;
	struct fz_map node_of; /* id -> node */
};

static bool is_special(struct fz_str name)
{
	return name.n > 2 && name.p[0] == '(' && name.p[name.n - 1] == ')' &&
	       !fz_str_eq(name, FZ_STR("(anonymous)"));
}

uint32_t fz_cpuprofile_frame(struct fz_profile *p, const json_t *call, int64_t line, bool *ret_root)
{
	struct fz_str name = fz_jsonread_kstr(call, "functionName");
	struct fz_import_frame f = {
		.name = name.n ? name : FZ_STR("(anonymous)"),
		.file = fz_jsonread_kstr(call, "url"),
		.line = fz_import_line(line),
		.kind = is_special(name) ? FZ_KIND_MARKER : FZ_KIND_UNKNOWN,
	};
	int64_t first = fz_jsonread_int(json_object_get(call, "lineNumber"), -1);

	/* Lines count from 0; -1: unknown. */
	if (first >= 0 && first < INT32_MAX)
		f.first_line = (int32_t)first + 1;
	f.kind = f.kind == FZ_KIND_MARKER ? f.kind : fz_import_kind(f.file, f.module, f.kind);
	*ret_root = fz_str_eq(name, FZ_STR("(root)"));
	return fz_import_frame(p, &f);
}

bool fz_cpuprofile_is_idle(const json_t *call)
{
	return fz_str_eq(fz_jsonread_kstr(call, "functionName"), FZ_STR("(idle)"));
}

void fz_cpuprofile_note_idle(struct fz_profile *p, int64_t ns)
{
	char number[FZ_NUMBER_SIZE];

	if (ns > 0)
		fz_profile_note(p, "%s of (idle) left out", fz_format_ns((double)ns, number));
}

static const json_t *call_frame(const json_t *node)
{
	const json_t *call = json_object_get(node, "callFrame");

	return call ? call : node;
}

/* ---- the tree ---- */

static void add_node(struct reader *r, const json_t *v, uint32_t parent)
{
	int64_t id = fz_jsonread_int(json_object_get(v, "id"), -1);

	if (id >= 0)
		fz_map_put(&r->node_of, (uint64_t)id, r->n);
	fz_profile_push(r->p, r->nodes, r->n, r->cap,
			(struct node){ .v = v, .stack = FZ_NONE, .parent = parent });
}

/* Lists nested nodes, parents first. */
static void list_head(struct reader *r, const json_t *head)
{
	size_t i;
	json_t *v;

	add_node(r, head, FZ_NONE);
	for (uint32_t at = 0; at < r->n; at++)
		json_array_foreach(json_object_get(r->nodes[at].v, "children"), i, v)
			add_node(r, v, at);
}

static uint32_t find_node(const struct reader *r, const json_t *id)
{
	int64_t n = fz_jsonread_int(id, -1);

	return n < 0 ? FZ_NONE : fz_map_get(&r->node_of, (uint64_t)n);
}

/* Lists nodes that refer to their children, or to their parent as in trace events. */
static void list_nodes(struct reader *r, const json_t *nodes)
{
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v) add_node(r, v, FZ_NONE);
	for (uint32_t at = 0; at < r->n; at++) {
		json_array_foreach(json_object_get(r->nodes[at].v, "children"), i, v)
		{
			uint32_t child = find_node(r, v);
			if (child != FZ_NONE)
				r->nodes[child].parent = at;
		}
		uint32_t parent = find_node(r, json_object_get(r->nodes[at].v, "parent"));
		if (parent != FZ_NONE)
			r->nodes[at].parent = parent;
	}
}

static void make_node(struct reader *r, struct node *n)
{
	uint32_t above = n->parent == FZ_NONE ? FZ_NONE : r->nodes[n->parent].stack;

	n->frame = fz_cpuprofile_frame(r->p, call_frame(n->v), 0, &n->root);
	n->stack = n->root ? above : fz_profile_stack(r->p, above, n->frame);
	n->idle = fz_cpuprofile_is_idle(call_frame(n->v));
	n->made = true;
}

/* Makes stacks, parents before children in any order of nodes; loops are cut. */
static void make_stacks(struct reader *r)
{
	fz_auto(fz_free_ptr) uint32_t *path = fz_calloc(FZ_MAX(r->n, 1), sizeof(*path));

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t depth = 0;
		for (uint32_t at = i; at != FZ_NONE && !r->nodes[at].made && depth < r->n;
		     at = r->nodes[at].parent)
			path[depth++] = at;
		while (depth-- > 0)
			if (!r->nodes[path[depth]].made)
				make_node(r, &r->nodes[path[depth]]);
	}
}

/* ---- samples ---- */

/* The line of the next sample of this node; 0 if unknown. */
static int32_t next_line(struct node *n)
{
	const json_t *ticks = json_object_get(n->v, "positionTicks");

	while (n->tick < json_array_size(ticks)) {
		const json_t *tick = json_array_get(ticks, n->tick);
		if (n->used++ < fz_jsonread_int(json_object_get(tick, "ticks"), 0))
			return fz_import_line(fz_jsonread_int(json_object_get(tick, "line"), 0));
		n->tick++;
		n->used = 0;
	}
	return 0;
}

static uint32_t stack_on_line(struct reader *r, struct node *n, int32_t line)
{
	bool root;

	if (!line || n->root)
		return n->stack;
	uint32_t frame = fz_cpuprofile_frame(r->p, call_frame(n->v), line, &root);
	uint32_t above = n->parent == FZ_NONE ? FZ_NONE : r->nodes[n->parent].stack;
	return fz_profile_stack(r->p, above, frame);
}

struct moment {
	double at;
	uint32_t order, node;
};

static int by_time(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;

	return FZ_CMP(a->at, b->at) ?: FZ_CMP(a->order, b->order);
}

/* The old form has seconds in startTime and endTime, microseconds in timestamps. */
static double edge_of(const struct reader *r, const char *key)
{
	double at = fz_jsonread_number(json_object_get(r->root, key), 0);

	return json_object_get(r->root, "head") ? at * 1e6 : at;
}

/* Lists the times of samples in microseconds, sorted, because V8's threads may store them out of
 * order. Without times, samples are spread evenly, as in Chrome. */
static struct moment *list_moments(struct reader *r, size_t n)
{
	const json_t *samples = json_object_get(r->root, "samples");
	const json_t *deltas = json_object_get(r->root, "timeDeltas");
	const json_t *stamps = json_object_get(r->root, "timestamps");
	size_t i;
	double now = edge_of(r, "startTime");
	double even = FZ_MAX(edge_of(r, "endTime") - now, 0) / (double)n;
	struct moment *list = fz_calloc(n + 1, sizeof(*list));
	json_t *v;

	json_array_foreach(samples, i, v)
	{
		if (json_is_array(stamps))
			now = fz_jsonread_number(json_array_get(stamps, i), now);
		else if (json_array_size(deltas))
			now += fz_jsonread_number(json_array_get(deltas, i), 0);
		else
			now += i ? even : 0;
		list[i] = (struct moment){ now, (uint32_t)i, find_node(r, v) };
	}
	qsort(list, n, sizeof(*list), by_time);
	return list;
}

static int read_samples(struct reader *r, struct fz_error *err)
{
	size_t n = json_array_size(json_object_get(r->root, "samples"));
	size_t deltas = json_array_size(json_object_get(r->root, "timeDeltas"));

	if (deltas && deltas != n)
		return fz_fail(err, FZ_EINPUT, "%s: has %zu samples and %zu time deltas", r->name,
			       n, deltas);
	fz_auto(fz_free_ptr) struct moment *list = list_moments(r, n);
	uint32_t thread = fz_profile_thread(r->p, &(struct fz_thread){ .is_main = true });

	int64_t idle = 0;

	fz_profile_add_metric(r->p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	for (size_t i = 0; i < n; i++) {
		struct node *node = list[i].node == FZ_NONE ? NULL : &r->nodes[list[i].node];
		double until =
			i + 1 < n ? list[i + 1].at : FZ_MAX(edge_of(r, "endTime"), list[i].at);
		struct fz_sample s = {
			.thread = thread,
			.stack = node ? stack_on_line(r, node, next_line(node)) : FZ_NONE,
			.time = fz_import_scaled(list[i].at - list[0].at, 1e3),
			.status = FZ_STATUS_UNKNOWN,
		};
		int64_t weight = fz_import_scaled(until - list[0].at, 1e3) - s.time;
		if (node && node->idle)
			idle += weight;
		else
			fz_profile_add_sample(r->p, &s, &weight);
	}
	fz_cpuprofile_note_idle(r->p, idle);
	if (n > 1)
		r->p->recording.interval_ns =
			fz_import_scaled(list[n - 1].at - list[0].at, 1e3) / (int64_t)(n - 1);
	return 0;
}

/* Reads hit counts of nodes, for files without a list of samples. */
static void read_hits(struct reader *r)
{
	uint32_t thread = fz_profile_thread(r->p, &(struct fz_thread){ .is_main = true });
	uint64_t idle = 0;
	char number[FZ_NUMBER_SIZE];

	r->p->samples.timed = r->p->samples.ordered = false;
	fz_profile_add_metric(r->p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	for (uint32_t i = 0; i < r->n; i++) {
		int64_t hits = fz_jsonread_int(json_object_get(r->nodes[i].v, "hitCount"), 0);
		struct fz_sample s = { .thread = thread,
				       .stack = r->nodes[i].stack,
				       .status = FZ_STATUS_UNKNOWN,
				       .count = (uint32_t)FZ_MIN(hits, (int64_t)UINT32_MAX) };
		if (hits > 0 && r->nodes[i].idle)
			idle += s.count;
		else if (hits > 0)
			fz_profile_add_sample(r->p, &s, NULL);
	}
	if (idle)
		fz_profile_note(r->p, "%s of (idle) left out",
				fz_format_plural((int64_t)idle, "sample", number));
}

static void read_heap(struct reader *r)
{
	uint32_t thread = fz_profile_thread(r->p, &(struct fz_thread){ .is_main = true });

	r->p->samples.timed = r->p->samples.ordered = false;
	fz_profile_add_metric(r->p, FZ_STR("bytes"), FZ_STR("bytes"), 0, true);
	for (uint32_t i = 0; i < r->n; i++) {
		int64_t size = fz_jsonread_int(json_object_get(r->nodes[i].v, "selfSize"), 0);
		struct fz_sample s = { .thread = thread,
				       .stack = r->nodes[i].stack,
				       .status = FZ_STATUS_UNKNOWN };
		if (size > 0)
			fz_profile_add_sample(r->p, &s, &size);
	}
}

static void release(struct reader *r)
{
	json_decref(r->root);
	free(r->nodes);
	fz_map_release(&r->node_of);
}

int fz_cpuprofile_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load(in, &r.root, err);

	if (code)
		return code;
	const json_t *head = json_object_get(r.root, "head");
	const json_t *nodes = json_object_get(r.root, "nodes");
	if (json_is_array(nodes))
		list_nodes(&r, nodes);
	else if (json_is_object(head))
		list_head(&r, head);
	if (!r.n)
		return fz_fail(err, FZ_EINPUT, "%s: has no nodes", r.name);
	make_stacks(&r);
	if (json_object_get(head, "selfSize"))
		read_heap(&r);
	else if (json_array_size(json_object_get(r.root, "samples")))
		code = read_samples(&r, err);
	else
		read_hits(&r);
	return code;
}
