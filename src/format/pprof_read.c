/* SPDX-License-Identifier: MIT */
/* Reads pprof's profile.proto.
 *
 *   Profile: sample types, samples -> location ids -> lines -> function ids -> string indices
 *
 * Fields may come in any order and ids are arbitrary, so a first pass over the message lists the
 * tables (strings stay in the file) and a second one makes samples. A location with inlined
 * functions is a list of frames, innermost first.
 *
 * A sample with the label "pprof::base" belongs to the subtracted side: its values are negative.
 * They are stored, positive, in a metric "base".
 *
 * Functions that match drop_frames but not keep_frames are dropped with all callees, as in pprof:
 * operator new, or the runtime's part of an allocation. Their cost goes to their caller.
 */
#include "pprof.h"

#include "format.h"
#include "framepattern.h"
#include "import.h"
#include "wire.h"

enum { INLINED_BYTES = 16 };

struct value_type {
	uint64_t type, unit; /* strings */
};

struct function {
	uint64_t name, system_name, file;
	int32_t first_line;
	enum { UNKNOWN, KEPT, DROPPED } fate;
};

struct mapping {
	uint64_t start, offset, file;
};

struct location {
	uint64_t mapping, address;
	struct fz_str message; /* contains its lines */
	uint32_t first;        /* in reader.frames; FZ_NONE: not created yet */
	uint32_t frame_count : 30;
	uint32_t stays : 2; /* enum stays */
};

/* The part of a location that remains after drop_frames; callees of dropped frames are dropped,
 * too. */
enum stays { ALL, OUTER, NOTHING };

#define TABLE(type, name)     \
	struct type *name##s; \
	uint32_t name##_count, name##_cap

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct fz_str message;
	struct fz_str *strings;
	uint32_t string_count, string_cap;
	TABLE(value_type, type);
	TABLE(function, function);
	TABLE(mapping, mapping);
	TABLE(location, location);
	struct fz_map function_of, mapping_of, location_of; /* id -> index */
	uint64_t default_type;                              /* string */
	uint64_t drop_frames, keep_frames;                  /* strings */
	struct fz_framepattern *drop, *keep;                /* NULL: none */
	uint64_t duration_ns, time_ns, period;
	struct value_type period_type;
	bool has_base;
	double scale[FZ_METRICS_MAX];
	uint32_t columns;       /* values used of a sample */
	uint32_t count_column;  /* number of samples, or FZ_NONE */
	int64_t period_of_main; /* cost of a sample in the main metric; 0: unknown */
	uint32_t *frames;       /* of all locations, outermost first */
	uint32_t frame_count, frame_cap;
	uint32_t missing; /* frames whose location is not in the file */
	/* of the current sample */
	uint64_t *ids;
	uint32_t id_count, id_cap;
	int64_t values[FZ_METRICS_MAX];
	uint32_t value_count;
	struct fz_buf labels; /* see fz_sample */
};

static struct fz_str text(const struct reader *r, uint64_t string)
{
	return string < r->string_count ? r->strings[string] : FZ_STR("");
}

/* ---- first pass ---- */

static struct value_type read_value_type(struct fz_str message)
{
	struct value_type t = { 0 };

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &t.type }, { 2, &t.unit }));
	return t;
}

static void read_function(struct reader *r, struct fz_str message)
{
	struct function f = { 0 };
	uint64_t id = 0, line = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &id }, { 2, &f.name }, { 3, &f.system_name },
					     { 4, &f.file }, { 5, &line }));
	f.first_line = fz_import_line((int64_t)line);
	if (!f.name)
		f.name = f.system_name;
	fz_map_put(&r->function_of, id, r->function_count);
	fz_profile_push(r->p, r->functions, r->function_count, r->function_cap, f);
}

static void read_mapping(struct reader *r, struct fz_str message)
{
	struct mapping m = { 0 };
	uint64_t id = 0;

	fz_wire_read(message,
		     FZ_WIRE_FIELDS({ 1, &id }, { 2, &m.start }, { 4, &m.offset }, { 5, &m.file }));
	fz_map_put(&r->mapping_of, id, r->mapping_count);
	fz_profile_push(r->p, r->mappings, r->mapping_count, r->mapping_cap, m);
}

static void read_location(struct reader *r, struct fz_str message)
{
	struct location l = { .message = message, .first = FZ_NONE };
	uint64_t id = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &id }, { 2, &l.mapping }, { 3, &l.address }));
	fz_map_put(&r->location_of, id, r->location_count);
	fz_profile_push(r->p, r->locations, r->location_count, r->location_cap, l);
}

static void read_table_entry(struct reader *r, const struct fz_wire *w)
{
	switch (w->field) {
	case 1:
		fz_profile_push(r->p, r->types, r->type_count, r->type_cap,
				read_value_type(w->bytes));
		break;
	case 3:
		read_mapping(r, w->bytes);
		break;
	case 4:
		read_location(r, w->bytes);
		break;
	case 5:
		read_function(r, w->bytes);
		break;
	case 6:
		fz_profile_push(r->p, r->strings, r->string_count, r->string_cap, w->bytes);
		break;
	case 11:
		r->period_type = read_value_type(w->bytes);
		break;
	default:
		fz_wire_take(w, FZ_WIRE_FIELDS({ 7, &r->drop_frames }, { 8, &r->keep_frames },
					       { 9, &r->time_ns }, { 10, &r->duration_ns },
					       { 12, &r->period }, { 14, &r->default_type }));
	}
}

static int fail_damaged(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: incomplete pprof profile", r->name);
}

static int read_tables(struct reader *r, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(r->message);

	while (fz_wire_next(&w)) {
		read_table_entry(r, &w);
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
	}
	if (w.c.bad)
		return fail_damaged(r, err);
	if (!r->type_count)
		return fz_fail(err, FZ_EINPUT, "%s: a pprof profile without sample types", r->name);
	return 0;
}

/* ---- values ---- */

static bool has_base_label(const struct reader *r)
{
	static const char label[] = "pprof::base";

	for (uint32_t i = 0; i < r->string_count; i++)
		if (fz_str_eq(r->strings[i], fz_str_of(label)))
			return true;
	return false;
}

/* The file's default type, or the last one. */
static uint32_t default_column(const struct reader *r)
{
	struct fz_str name = text(r, r->default_type);

	for (uint32_t i = 0; name.n && i < r->columns; i++)
		if (fz_str_eq(text(r, r->types[i].type), name))
			return i;
	return r->columns - 1;
}

static void read_metrics(struct reader *r)
{
	struct fz_profile *p = r->p;

	r->columns = FZ_MIN(r->type_count, (uint32_t)FZ_METRICS_MAX - 1);
	if (r->columns < r->type_count)
		fz_profile_note(p, "%u of %u sample types left out", r->type_count - r->columns,
				r->type_count);
	r->count_column = FZ_NONE;
	for (uint32_t i = 0; i < r->columns; i++) {
		struct fz_import_metric m =
			fz_import_metric(text(r, r->types[i].type), text(r, r->types[i].unit));
		r->scale[i] = m.scale;
		fz_import_add_metric(p, &m, 0, true);
		if (fz_str_eq(m.name, FZ_STR("samples")) && r->count_column == FZ_NONE)
			r->count_column = i;
	}
	p->default_metric = default_column(r);
	r->has_base = has_base_label(r);
	struct fz_import_metric base = { FZ_STR("base"),
					 fz_str_of(p->metrics[p->default_metric].unit), 1 };
	if (r->has_base)
		fz_import_add_metric(p, &base, 0, true);
}

static void read_recording(struct reader *r)
{
	struct fz_import_metric period =
		fz_import_metric(text(r, r->period_type.type), text(r, r->period_type.unit));
	int64_t each = (int64_t)r->period, duration = FZ_MAX((int64_t)r->duration_ns, 0);

	if (fz_str_eq(period.unit, FZ_STR("ns")) && each > 0)
		r->p->recording.interval_ns = fz_import_scaled_int(each, period.scale);
	if (fz_str_eq(period.name, fz_str_of(r->p->metrics[r->p->default_metric].name)))
		r->period_of_main = r->p->recording.interval_ns;
	r->p->recording.duration_ns = duration;
	fz_profile_add_run(r->p, &(struct fz_run){ .start_unix_ns = FZ_MAX((int64_t)r->time_ns, 0),
						   .duration_ns = duration });
}

/* ---- frames ---- */

static void push_frame(struct reader *r, uint32_t frame)
{
	fz_profile_push(r->p, r->frames, r->frame_count, r->frame_cap, frame);
}

uint64_t fz_pprof_line(struct fz_str message, struct fz_import_frame *ret)
{
	uint64_t function = 0, line = 0, column = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &function }, { 2, &line }, { 3, &column }));
	ret->line = fz_import_line((int64_t)line);
	ret->column = fz_import_line((int64_t)column);
	return function;
}

/* Strips a suffix. */
static bool cut(struct fz_str *text, struct fz_str end)
{
	if (text->n < end.n || !fz_str_eq((struct fz_str){ text->p + text->n - end.n, end.n }, end))
		return false;
	text->n -= end.n;
	return true;
}

static bool cut_number(struct fz_str *text, char mark, int32_t *ret)
{
	const char *at = text->n ? memrchr(text->p, mark, text->n) : NULL;
	uint64_t n;

	if (!at || !fz_parse_u64((struct fz_str){ at + 1, (size_t)(text->p + text->n - at - 1) },
				 INT32_MAX, &n))
		return false;
	*ret = (int32_t)n;
	text->n = (size_t)(at - text->p);
	return true;
}

/* Strips line numbers, which change with every edit of the file, from names written by Pyroscope's
 * client for Node ("FILE:NAME:LINE", with NAME as system name) and by V8
 * ("(anonymous:L#7:C#9)"). */
static void take_line_out(struct fz_import_frame *f, struct fz_str system_name)
{
	struct fz_str rest = f->name;
	int32_t line = 0, column;

	if (system_name.n && cut_number(&rest, ':', &line) && cut(&rest, system_name) &&
	    cut(&rest, FZ_STR(":")))
		f->name = system_name;
	else
		line = 0;
	rest = f->name;
	if (fz_str_starts(rest, "(anonymous:L#") && cut(&rest, FZ_STR(")")) &&
	    cut_number(&rest, '#', &column) && cut(&rest, FZ_STR(":C")) &&
	    cut_number(&rest, '#', &line))
		f->name = FZ_STR("(anonymous)");
	if (!f->first_line)
		f->first_line = line;
}

/* Length of leading parentheses that are part of a name; 0 if none. */
static size_t named_parentheses(struct fz_str s)
{
	static const char *const kept[] = { "(anonymous namespace)", "operator()" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(kept); i++)
		if (fz_str_starts(s, kept[i]))
			return strlen(kept[i]);
	return 0;
}

/* Strips the arguments, as pprof does for matching: "std::vector<int>::reserve(unsigned long)". */
static struct fz_str simple_name(struct fz_str name)
{
	size_t n = 0;

	if (fz_str_starts(name, "."))
		name = (struct fz_str){ name.p + 1, name.n - 1 };
	while (n < name.n) {
		size_t kept = named_parentheses((struct fz_str){ name.p + n, name.n - n });
		if (!kept && name.p[n] == '(')
			break;
		n += kept ? kept : 1;
	}
	return (struct fz_str){ name.p, n };
}

static bool is_dropped(struct reader *r, struct function *f)
{
	struct fz_str name = text(r, f->name);

	if (f->fate == UNKNOWN) {
		struct fz_str simple = simple_name(name);
		bool dropped = name.n && fz_framepattern_matches(r->drop, simple) &&
			       !(r->keep && fz_framepattern_matches(r->keep, simple));
		f->fate = dropped ? DROPPED : KEPT;
	}
	return f->fate == DROPPED;
}

/* Adds a line if its function has a name; returns whether that function is dropped. */
static bool add_line(struct reader *r, struct fz_str message, struct fz_str module)
{
	struct fz_import_frame f = { 0 };
	uint32_t at = fz_map_get(&r->function_of, fz_pprof_line(message, &f));

	if (at == FZ_NONE || !text(r, r->functions[at].name).n)
		return false;
	f.name = text(r, r->functions[at].name);
	f.file = text(r, r->functions[at].file);
	f.first_line = r->functions[at].first_line;
	take_line_out(&f, text(r, r->functions[at].system_name));
	push_frame(r, fz_import_frame_in(r->p, &f, module));
	return r->drop && is_dropped(r, &r->functions[at]);
}

/* Address in the module's file, if known. */
static uint64_t address_in(const struct location *l, const struct mapping *m)
{
	return m ? l->address - m->start + m->offset : l->address;
}

/* Makes the frames of a location, outermost first; its lines are innermost first. */
static void make_location(struct reader *r, struct location *l)
{
	struct fz_wire w = fz_wire_of(l->message);
	uint32_t mapping = fz_map_get(&r->mapping_of, l->mapping);
	const struct mapping *m = mapping == FZ_NONE ? NULL : &r->mappings[mapping];
	struct fz_str module = m ? text(r, m->file) : FZ_STR("");
	uint32_t inner = 0; /* frames up to the outermost dropped one */

	l->first = r->frame_count;
	while (fz_wire_next(&w))
		if (w.field == 4 && w.type == FZ_WIRE_BYTES && add_line(r, w.bytes, module))
			inner = r->frame_count - l->first;
	if (r->frame_count == l->first)
		push_frame(r, fz_import_address(r->p, module, address_in(l, m)));
	l->frame_count = r->frame_count - l->first;
	for (uint32_t i = 0; i < l->frame_count / 2; i++) {
		uint32_t *a = &r->frames[l->first + i];
		uint32_t *b = &r->frames[l->first + l->frame_count - 1 - i];
		uint32_t saved = *a;
		*a = *b;
		*b = saved;
	}
	l->stays = !inner ? ALL : inner == l->frame_count ? NOTHING : OUTER;
	if (l->stays == OUTER)
		l->frame_count -= inner;
}

/* Makes the stack. Only frames below the first undropped one are dropped, so that no stack becomes
 * empty. */
static uint32_t make_stack(struct reader *r)
{
	uint32_t stack = FZ_NONE;
	bool dropping = false;

	for (uint32_t i = r->id_count; i-- > 0;) {
		uint32_t at = fz_map_get(&r->location_of, r->ids[i]);
		if (at == FZ_NONE) {
			r->missing++;
			continue;
		}
		struct location *l = &r->locations[at];
		if (l->first == FZ_NONE)
			make_location(r, l);
		if (dropping && l->stays == NOTHING)
			break;
		/* One or two bytes may refer to any number of frames. */
		if (!fz_profile_takes(r->p, (l->frame_count - 1) * (uint64_t)INLINED_BYTES))
			break;
		for (uint32_t k = 0; k < l->frame_count; k++)
			stack = fz_profile_stack(r->p, stack, r->frames[l->first + k]);
		if (dropping && l->stays == OUTER)
			break;
		dropping |= l->stays == ALL;
	}
	return stack;
}

/* ---- second pass ---- */

static void add_id(void *arg, uint64_t id)
{
	struct reader *r = arg;

	fz_profile_push(r->p, r->ids, r->id_count, r->id_cap, id);
}

static void add_value(void *arg, uint64_t value)
{
	struct reader *r = arg;

	if (r->value_count < FZ_METRICS_MAX)
		r->values[r->value_count++] = (int64_t)value;
}

struct labels {
	struct fz_thread thread;
	bool base;
};

/* Reads labels that contain a thread, under the names that various tools use; other labels with a
 * text are kept. */
static void read_label(struct reader *r, struct fz_str message, struct labels *labels)
{
	uint64_t key_string = FZ_NONE, value_string = FZ_NONE, number = 0;

	fz_wire_read(message,
		     FZ_WIRE_FIELDS({ 1, &key_string }, { 2, &value_string }, { 3, &number }));
	struct fz_str key = text(r, key_string), value = text(r, value_string);
	if (value.n)
		fz_parse_u64(value, INT64_MAX, &number);
	if (fz_str_eq(key, FZ_STR("pprof::base")))
		labels->base = fz_str_eq(value, FZ_STR("true"));
	else if (fz_str_eq(key, FZ_STR("pid")) || fz_str_eq(key, FZ_STR("process_id")))
		labels->thread.pid = number;
	else if (fz_str_eq(key, FZ_STR("tid")) || fz_str_eq(key, FZ_STR("thread_id")) ||
		 fz_str_eq(key, FZ_STR("thread id")))
		labels->thread.tid = number;
	else if (fz_str_eq(key, FZ_STR("thread_name")) || fz_str_eq(key, FZ_STR("thread name")))
		labels->thread.name = fz_profile_string(r->p, value);
	else if (value.n)
		fz_import_keep_label(&r->labels, key, value);
}

static uint32_t count_of(const struct reader *r, int64_t cost)
{
	return r->count_column == FZ_NONE ? fz_import_periods(cost, r->period_of_main)
					  : fz_import_count(r->values[r->count_column]);
}

static void add_sample(struct reader *r, const struct labels *labels)
{
	int64_t weights[FZ_METRICS_MAX + 1] = { 0 };
	bool any = false;

	for (uint32_t i = 0; i < r->columns && i < r->value_count; i++) {
		weights[i] = fz_import_scaled_int(r->values[i], r->scale[i]);
		any |= weights[i] != 0;
	}
	if (!any)
		return;
	if (labels->base) {
		int64_t base = -weights[r->p->default_metric];
		memset(weights, 0, sizeof(weights));
		weights[r->columns] = base;
	}
	struct fz_sample s = {
		.thread = fz_profile_thread(r->p, &labels->thread),
		.stack = make_stack(r),
		.status = FZ_STATUS_UNKNOWN,
		.count = labels->base ? 1 : count_of(r, weights[r->p->default_metric]),
		.labels = fz_buf_view(&r->labels),
	};
	fz_profile_add_sample(r->p, &s, weights);
}

static bool read_sample(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	struct labels labels = { 0 };

	r->id_count = r->value_count = 0;
	fz_buf_reset(&r->labels);
	while (fz_wire_next(&w)) {
		if (w.field == 1)
			fz_wire_numbers(&w, add_id, r);
		else if (w.field == 2)
			fz_wire_numbers(&w, add_value, r);
		else if (w.field == 3 && w.type == FZ_WIRE_BYTES)
			read_label(r, w.bytes, &labels);
	}
	if (!w.c.bad)
		add_sample(r, &labels);
	return !w.c.bad;
}

static int read_samples(struct reader *r, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(r->message);

	while (fz_wire_next(&w)) {
		if (w.field == 2 && !read_sample(r, w.bytes))
			return fail_damaged(r, err);
		if (r->p->over_limit)
			return fz_profile_check(r->p, err);
	}
	return 0;
}

static struct fz_framepattern *pattern(struct reader *r, uint64_t string, const char *field)
{
	struct fz_str s = text(r, string);
	struct fz_framepattern *p = s.n ? fz_framepattern_new(s) : NULL;

	if (s.n && !p)
		fz_profile_note(r->p,
				"%s of the profile is not a supported pattern, so no frames are "
				"dropped",
				field);
	return p;
}

/* keep_frames only matters with drop_frames. */
static void read_patterns(struct reader *r)
{
	r->drop = pattern(r, r->drop_frames, "drop_frames");
	if (!r->drop)
		return;
	r->keep = pattern(r, r->keep_frames, "keep_frames");
	if (text(r, r->keep_frames).n && !r->keep) {
		fz_framepattern_free(r->drop);
		r->drop = NULL;
	}
}

/* Prefers types with values; some files have types without any (.NET's allocations, if not
 * recorded). */
static void prefer_values(struct reader *r)
{
	for (uint32_t i = r->columns;
	     i-- > 0 && !fz_profile_has_values(r->p, r->p->default_metric);)
		if (fz_profile_has_values(r->p, i))
			r->p->default_metric = i;
}

static void release(struct reader *r)
{
	free(r->strings);
	free(r->types);
	free(r->functions);
	free(r->mappings);
	free(r->locations);
	free(r->frames);
	free(r->ids);
	fz_buf_release(&r->labels);
	fz_framepattern_free(r->drop);
	fz_framepattern_free(r->keep);
	fz_map_release(&r->function_of);
	fz_map_release(&r->mapping_of);
	fz_map_release(&r->location_of);
}

int fz_pprof_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_input_read_all(in, &bytes, FZ_IMPORT_FILE_MAX, err);

	if (code)
		return code;
	r.message = fz_buf_view(&bytes);
	code = read_tables(&r, err);
	if (code)
		return code;
	p->samples.ordered = p->samples.timed = false;
	read_metrics(&r);
	read_recording(&r);
	read_patterns(&r);
	code = read_samples(&r, err);
	if (!code)
		prefer_values(&r);
	if (r.missing)
		fz_profile_note(p, "%u frame%s whose location is not in the file left out",
				r.missing, r.missing == 1 ? "" : "s");
	return code;
}
