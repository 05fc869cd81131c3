/* SPDX-License-Identifier: MIT */
/* Reads Sentry's sample format: version 1, of a transaction, and version 2, a chunk of continuous
 * profiling.
 *
 *   {"platform": "python", "profile": {
 *     "frames": [{"function", "abs_path", "lineno", "package", ...}, ...]
 *     "stacks": [[1, 0], ...]                                   frames, innermost first
 *     "samples": [{"stack_id", "thread_id", "elapsed_since_start_ns" or "timestamp"}, ...]
 *     "thread_metadata": {"7": {"name": "main"}}}}
 *
 * As in Sentry, a sample lasts until the next of its thread, and the last one only ends that.
 */
#include "format.h"
#include "import.h"
#include "jsonread.h"

#include <inttypes.h>

struct row {
	uint32_t thread, stack;
	int64_t time;   /* ns */
	uint32_t order; /* in the file */
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	const json_t *frames, *stacks, *threads;
	uint32_t *frame_of, *stack_of; /* ours; stacks with an unknown frame are NO_STACK */
	bool first_lines;              /* lines are those of functions, as in V8's profiles */
	bool classes;                  /* modules are classes of Java */
	struct row *rows;
	uint32_t n, cap;
};

enum { NO_STACK = UINT32_MAX - 1 };

static struct fz_str first_of(const json_t *v, const char *key, const char *otherwise)
{
	struct fz_str s = fz_jsonread_kstr(v, key);

	return s.n ? s : fz_jsonread_kstr(v, otherwise);
}

static uint32_t read_frame(struct reader *r, const json_t *v)
{
	fz_auto(fz_buf_release) struct fz_buf method = { 0 };
	struct fz_str class = fz_jsonread_kstr(v, "module");
	int32_t line = fz_import_line(fz_jsonread_int(json_object_get(v, "lineno"), 0));
	struct fz_import_frame f = {
		.name = first_of(v, "function", "symbol"),
		.file = first_of(v, "abs_path", "filename"),
		.first_line = r->first_lines ? line : 0,
		.line = r->first_lines ? 0 : line,
		.column = fz_import_line(fz_jsonread_int(json_object_get(v, "colno"), 0)),
	};

	if (!f.name.n)
		f.name = r->first_lines ? FZ_STR("(anonymous)")
					: fz_jsonread_kstr(v, "instruction_addr");
	if (r->classes && class.n) {
		fz_buf_add(&method, class.p, class.n);
		fz_buf_char(&method, '.');
		fz_buf_add(&method, f.name.p, f.name.n);
		f.name = fz_buf_view(&method);
	}
	return fz_import_frame_in(r->p, &f, fz_jsonread_kstr(v, "package"));
}

static uint32_t read_stack(struct reader *r, const json_t *stack)
{
	uint32_t ret = FZ_NONE;

	for (size_t i = json_array_size(stack); i-- > 0;) {
		int64_t k = fz_jsonread_int(json_array_get(stack, i), -1);
		if (k < 0 || (uint64_t)k >= json_array_size(r->frames))
			return NO_STACK;
		ret = fz_profile_stack(r->p, ret, r->frame_of[k]);
	}
	return ret;
}

static void read_tables(struct reader *r)
{
	size_t n = json_array_size(r->frames), stacks = json_array_size(r->stacks);

	r->frame_of = fz_reallocarray(NULL, n + 1, sizeof(*r->frame_of));
	r->stack_of = fz_reallocarray(NULL, stacks + 1, sizeof(*r->stack_of));
	for (size_t i = 0; i < n; i++)
		r->frame_of[i] = read_frame(r, json_array_get(r->frames, i));
	for (size_t i = 0; i < stacks && !r->p->over_limit; i++)
		r->stack_of[i] = read_stack(r, json_array_get(r->stacks, i));
}

/* Ids are numbers, also as texts, or other texts, which may be names. */
static uint32_t thread_of(struct reader *r, const json_t *id)
{
	char number[24];
	const char *key = json_is_string(id) ? json_string_value(id) : number;
	struct fz_thread t = { .tid = 0 };

	snprintf(number, sizeof(number), "%" PRId64, fz_jsonread_int(id, 0));
	struct fz_str name = fz_jsonread_kstr(json_object_get(r->threads, key), "name");
	if (!fz_parse_u64(fz_str_of(key), UINT64_MAX, &t.tid)) {
		t.tid = fz_map_hash(key, strlen(key)) >> 32;
		name = name.n ? name : fz_str_of(key);
	}
	t.name = fz_profile_string(r->p, name);
	return fz_profile_thread(r->p, &t);
}

static int read_row(struct reader *r, const json_t *v, struct fz_error *err)
{
	int64_t stack = fz_jsonread_int(json_object_get(v, "stack_id"), -1);
	const json_t *elapsed = json_object_get(v, "elapsed_since_start_ns");
	double seconds = fz_jsonread_number(json_object_get(v, "timestamp"), 0);

	if (stack < 0 || (uint64_t)stack >= json_array_size(r->stacks) ||
	    r->stack_of[stack] == NO_STACK)
		return fz_fail(err, FZ_EINPUT, "%s: damaged: invalid stacks", r->name);
	struct row row = {
		.thread = thread_of(r, json_object_get(v, "thread_id")),
		.stack = r->stack_of[stack],
		.time = elapsed ? fz_jsonread_int(elapsed, 0) : fz_import_scaled(seconds, 1e9),
	};
	row.time = FZ_MAX(row.time, 0);
	row.order = r->n;
	fz_profile_push(r->p, r->rows, r->n, r->cap, row);
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void add_rows(struct reader *r)
{
	/* Backwards, the sample before is the thread's next. */
	fz_auto(fz_free_ptr) int64_t *next = fz_calloc(r->p->thread_count + 1ul, sizeof(*next));
	fz_auto(fz_free_ptr) int64_t *weights = fz_calloc(r->n + 1ul, sizeof(*weights));

	for (uint32_t i = r->n; i-- > 0;) {
		int64_t *end = &next[r->rows[i].thread];
		weights[i] = *end ? *end - r->rows[i].time : 0;
		*end = r->rows[i].time;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		struct fz_sample s = { .thread = r->rows[i].thread,
				       .stack = r->rows[i].stack,
				       .time = r->rows[i].time - r->rows[0].time,
				       .status = FZ_STATUS_UNKNOWN };
		fz_profile_add_sample(r->p, &s, &weights[i]);
	}
}

static int read_profile(struct reader *r, const json_t *root, struct fz_error *err)
{
	const json_t *profile = json_object_get(root, "profile");
	const json_t *samples = json_object_get(profile, "samples");
	struct fz_str platform = fz_jsonread_kstr(root, "platform");
	int code = 0;

	r->frames = json_object_get(profile, "frames");
	r->stacks = json_object_get(profile, "stacks");
	r->threads = json_object_get(profile, "thread_metadata");
	r->first_lines =
		fz_str_eq(platform, FZ_STR("node")) || fz_str_eq(platform, FZ_STR("javascript"));
	r->classes = fz_str_eq(platform, FZ_STR("android")) || fz_str_eq(platform, FZ_STR("java"));
	if (!json_is_array(r->stacks))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: unsupported version of Sentry's format (supported: the sample "
			       "format, 1 and 2)",
			       r->name);
	read_tables(r);
	for (size_t i = 0; i < json_array_size(samples) && !code && !r->p->over_limit; i++)
		code = read_row(r, json_array_get(samples, i), err);
	if (!code)
		code = fz_profile_check(r->p, err);
	if (!code && !r->n)
		code = fz_fail(err, FZ_EINPUT, "%s: no samples", r->name);
	return code;
}

static void release(struct reader *r)
{
	free(r->frame_of);
	free(r->stack_of);
	free(r->rows);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *root = NULL;
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_jsonread_load(in, &root, err);

	if (!code)
		code = read_profile(&r, root, err);
	if (code)
		return code;
	fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	p->recording.mode = FZ_MODE_WALL;
	p->samples.timed = p->samples.ordered = true;
	qsort(r.rows, r.n, sizeof(*r.rows), by_time);
	add_rows(&r);
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char *const keys[] = { "frames", "samples", "stacks" };

	(void)name;
	if (!fz_jsonread_has_key(head, n, 1, "platform") ||
	    !fz_jsonread_has_key(head, n, 1, "profile"))
		return 0;
	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++)
		if (fz_jsonread_has_key(head, n, 2, keys[i]))
			return 70;
	return 0;
}

const struct fz_format fz_format_sentry = {
	.name = "sentry",
	.title = "Sentry's sample format (profiles and chunks)",
	.suffixes = ".json",
	.notes = "times as in Sentry: until the next sample of the thread",
	.sniff = sniff,
	.read = read,
};
