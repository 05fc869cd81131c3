/* SPDX-License-Identifier: MIT */
/* Reads OpenTelemetry profiles (OTLP) as protocol buffers; JSON is converted to these first. A file
 * may have several messages (otlp_file.h).
 *
 *   ProfilesData: resources -> scopes -> profiles -> samples
 *                 dictionary: strings, functions, locations, mappings, stacks, attributes
 *
 * Everything refers to the dictionary by index, and index 0 means none. A profile has one type of
 * value; the types of a file become metrics.
 *
 * The format is called "v1development" and has changed incompatibly several times under that name.
 * The table of versions has the differences in field numbers. Messages do not name their version:
 * find_version detects it by how fields are encoded. An unknown version is refused, never guessed.
 */
#include "format.h"
#include "import.h"
#include "otlp_file.h"
#include "otlp_json.h"
#include "pprof.h"
#include "wire.h"

/* Field numbers. */
struct version {
	uint32_t dictionary;                                                  /* of ProfilesData */
	uint32_t mappings, locations, functions, strings, attributes, stacks; /* of a dictionary */
	uint32_t samples, time, duration, period_type, period;                /* of a profile */
	uint32_t stack, sample_attributes, values, times;                     /* of a sample */
};

/* Since 1.8: stacks in the dictionary. */
#define SINCE_1_8                                                                               \
	.dictionary = 2, .mappings = 1, .locations = 2, .functions = 3, .strings = 5,           \
	.attributes = 6, .stacks = 7, .samples = 2, .time = 3, .duration = 4, .period_type = 5, \
	.period = 6, .stack = 1, .times = 5

/* From opentelemetry-proto, profiles/v1development/profiles.proto. */
enum { VERSION_1_8, VERSION_1_10 };
static const struct version versions[] = {
	[VERSION_1_8] = { SINCE_1_8, .values = 2, .sample_attributes = 3 },
	[VERSION_1_10] = { SINCE_1_8, .values = 4, .sample_attributes = 2 },
};

struct table {
	struct fz_str *list; /* messages */
	uint32_t n, cap;
};

struct reader {
	const struct version *v;
	struct fz_profile *p;
	const char *name; /* of the file */
	struct fz_str message;
	struct table strings, functions, locations, mappings, stacks, attributes, profiles;
	uint32_t *stack_of; /* FZ_NONE - 1: not created yet */
	/* of the current list of numbers */
	uint64_t *numbers;
	uint32_t number_count, number_cap;
	double scale;
	uint32_t metric;
	int64_t period; /* cost of a sample in this metric; 0: unknown */
	int64_t sum;    /* of a sample's values */
	uint64_t value_count, time_count;
	struct fz_thread thread;
	struct fz_buf labels; /* see fz_sample */
	/* of the messages so far, in ns since 1970; 0: none has a time */
	int64_t start, end;
	int64_t longest; /* duration in ns */
};

#define TABLES(r)                                                                      \
	&(r)->strings, &(r)->functions, &(r)->locations, &(r)->mappings, &(r)->stacks, \
		&(r)->attributes, &(r)->profiles

enum { NOT_MADE = UINT32_MAX - 1, INLINED_BYTES = 16 };

static void add_message(struct reader *r, struct table *t, struct fz_str message)
{
	if (r->p->over_limit)
		return;
	fz_profile_push(r->p, t->list, t->n, t->cap, message);
}

/* A message or string by its index; empty if there is none. */
static struct fz_str message_at(const struct table *t, uint64_t index)
{
	return index < t->n ? t->list[index] : FZ_STR("");
}

static struct fz_str text(const struct reader *r, uint64_t string)
{
	return message_at(&r->strings, string);
}

static int fail_damaged(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: damaged: incomplete OTLP profile", r->name);
}

static void add_number(void *arg, uint64_t number)
{
	struct reader *r = arg;

	fz_profile_push(r->p, r->numbers, r->number_count, r->number_cap, number);
}

/* ---- tables ---- */

static bool read_dictionary(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	const struct {
		uint32_t field;
		struct table *table;
	} tables[] = {
		{ r->v->mappings, &r->mappings },   { r->v->locations, &r->locations },
		{ r->v->functions, &r->functions }, { r->v->strings, &r->strings },
		{ r->v->stacks, &r->stacks },       { r->v->attributes, &r->attributes },
	};

	while (fz_wire_next(&w))
		for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++)
			if (w.field == tables[i].field && w.type == FZ_WIRE_BYTES)
				add_message(r, tables[i].table, w.bytes);
	return !w.c.bad;
}

/* Adds all messages in a field of a message to a table. */
static bool collect(struct reader *r, struct fz_str message, uint32_t field, struct table *to)
{
	struct fz_wire w = fz_wire_of(message);

	while (fz_wire_next(&w))
		if (w.field == field && w.type == FZ_WIRE_BYTES)
			add_message(r, to, w.bytes);
	return !w.c.bad;
}

static bool read_profiles(struct reader *r, const struct table *resources)
{
	struct table scopes = { 0 };
	bool ok = true;

	for (uint32_t i = 0; i < resources->n; i++)
		ok &= collect(r, resources->list[i], 2, &scopes);
	for (uint32_t i = 0; i < scopes.n; i++)
		ok &= collect(r, scopes.list[i], 2, &r->profiles);
	free(scopes.list);
	return ok;
}

static int read_tables(struct reader *r, struct fz_error *err)
{
	struct fz_wire w = fz_wire_of(r->message);
	struct table resources = { 0 };
	bool ok = true, dictionary = false;

	while (fz_wire_next(&w)) {
		if (w.field == r->v->dictionary && w.type == FZ_WIRE_BYTES)
			ok &= dictionary = read_dictionary(r, w.bytes);
		else if (w.field == 1 && w.type == FZ_WIRE_BYTES)
			add_message(r, &resources, w.bytes);
	}
	ok &= !w.c.bad && read_profiles(r, &resources);
	free(resources.list);
	if (!ok)
		return fail_damaged(r, err);
	if (!r->profiles.n)
		return 0;
	/* Older versions had locations in each profile, and no stacks. */
	if (!dictionary || (r->stacks.n == 0 && r->locations.n > 1))
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: unsupported version of OTLP profiles (supported: v1development "
			       "since 1.8, with stacks in the dictionary); export pprof instead",
			       r->name);
	return 0;
}

/* ---- frames ---- */

static uint32_t push_line(struct reader *r, uint32_t stack, struct fz_str message,
			  struct fz_str module)
{
	struct fz_import_frame f = { 0 };
	uint64_t name = 0, system_name = 0, file = 0, line = 0;

	fz_wire_read(message_at(&r->functions, fz_pprof_line(message, &f)),
		     FZ_WIRE_FIELDS({ 1, &name }, { 2, &system_name }, { 3, &file }, { 4, &line }));
	f.name = text(r, text(r, name).n ? name : system_name);
	f.file = text(r, file);
	f.first_line = fz_import_line((int64_t)line);
	return fz_profile_stack(r->p, stack, fz_import_frame_in(r->p, &f, module));
}

static struct fz_str module_of(const struct reader *r, uint64_t mapping)
{
	uint64_t file = FZ_NONE;

	if (mapping)
		fz_wire_read(message_at(&r->mappings, mapping), FZ_WIRE_FIELDS({ 4, &file }));
	return text(r, file);
}

/* Lines are innermost first, so they are pushed from the last one on. */
static uint32_t push_location(struct reader *r, uint32_t stack, uint64_t index)
{
	struct fz_str message = message_at(&r->locations, index);
	struct table lines = { 0 };
	uint64_t mapping = 0, address = 0;

	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &mapping }, { 2, &address }));
	collect(r, message, 3, &lines);
	struct fz_str module = module_of(r, mapping);
	if (!lines.n && (address || module.n))
		stack = fz_profile_stack(r->p, stack, fz_import_address(r->p, module, address));
	/* One or two bytes may refer to any number of frames. */
	fz_profile_takes(r->p, lines.n * (uint64_t)INLINED_BYTES);
	for (uint32_t i = r->p->over_limit ? 0 : lines.n; i-- > 0;)
		stack = push_line(r, stack, lines.list[i], module);
	free(lines.list);
	return stack;
}

static uint32_t stack_at(struct reader *r, uint64_t index)
{
	if (index >= r->stacks.n)
		return FZ_NONE;
	if (r->stack_of[index] != NOT_MADE)
		return r->stack_of[index];
	struct fz_wire w = fz_wire_of(r->stacks.list[index]);
	uint32_t stack = FZ_NONE;

	r->number_count = 0;
	while (fz_wire_next(&w))
		if (w.field == 1)
			fz_wire_numbers(&w, add_number, r);
	for (uint32_t i = r->number_count; i-- > 0;)
		stack = push_location(r, stack, r->numbers[i]);
	return r->stack_of[index] = stack;
}

/* ---- samples ---- */

static void add_value(void *arg, uint64_t value)
{
	struct reader *r = arg;
	int64_t scaled = fz_import_scaled_int((int64_t)value, r->scale);

	r->value_count++;
	if (__builtin_add_overflow(r->sum, scaled, &r->sum))
		r->p->over_limit = true;
}

/* {key, value {string, its number in the dictionary, or a number}}: a thread, or a label if it has
 * a text */
static void read_attribute(void *arg, uint64_t index)
{
	struct reader *r = arg;
	struct fz_str any = FZ_STR(""), value = FZ_STR("");
	uint64_t key_string = FZ_NONE, value_string = FZ_NONE, number = 0;

	fz_wire_read(message_at(&r->attributes, index),
		     FZ_WIRE_FIELDS({ 1, &key_string }, { 2, .bytes = &any }));
	fz_wire_read(any,
		     FZ_WIRE_FIELDS({ 1, .bytes = &value }, { 3, &number }, { 8, &value_string }));
	struct fz_str key = text(r, key_string);
	if (value_string != FZ_NONE)
		value = text(r, value_string);
	if (fz_str_eq(key, FZ_STR("thread.name")))
		r->thread.name = fz_profile_string(r->p, value);
	else if (fz_str_eq(key, FZ_STR("thread.id")))
		r->thread.tid = number;
	else if (fz_str_eq(key, FZ_STR("process.pid")))
		r->thread.pid = number;
	else if (value.n)
		fz_import_keep_label(&r->labels, key, value);
}

/* Detects the version of a sample. Lists are packed bytes and a link is a number; the link's field
 * in each version is a list in the other. Without times, field 2 must be values, because attributes
 * alone have no cost. With times it may be either, unless the file has no attributes. Index 0 means
 * none. */
static bool shows_version(const struct reader *r, struct fz_str sample, const struct version **ret)
{
	const struct version *old = &versions[VERSION_1_8], *new = &versions[VERSION_1_10];
	struct fz_wire w = fz_wire_of(sample);
	bool values = false, times = false;

	while (fz_wire_next(&w)) {
		bool list = w.type == FZ_WIRE_BYTES;
		if (w.field == old->sample_attributes || w.field == new->values) {
			*ret = list == (w.field == new->values) ? new : old;
			return true;
		}
		values |= w.field == old->values;
		times |= w.field == old->times;
	}
	*ret = old;
	return values && (!times || r->attributes.n <= 1);
}

/* Finds the version by the first sample that identifies it. */
static const struct version *find_version(const struct reader *r)
{
	const struct version *ret = NULL;

	for (uint32_t i = 0; i < r->profiles.n; i++) {
		struct fz_wire w = fz_wire_of(r->profiles.list[i]);
		while (fz_wire_next(&w))
			if (w.field == r->v->samples && w.type == FZ_WIRE_BYTES &&
			    shows_version(r, w.bytes, &ret))
				return ret;
	}
	return &versions[VERSION_1_10];
}

/* Reads values, times, or both; times alone count 1 each. */
static bool read_sample(struct reader *r, struct fz_str message)
{
	struct fz_wire w = fz_wire_of(message);
	int64_t weights[FZ_METRICS_MAX] = { 0 };
	uint64_t stack = 0;

	r->sum = 0;
	r->value_count = r->time_count = 0;
	r->thread = (struct fz_thread){ 0 };
	fz_buf_reset(&r->labels);
	while (fz_wire_next(&w)) {
		if (w.field == r->v->stack)
			stack = w.value;
		else if (w.field == r->v->sample_attributes)
			fz_wire_numbers(&w, read_attribute, r);
		else if (w.field == r->v->values)
			fz_wire_numbers(&w, add_value, r);
		else if (w.field == r->v->times)
			r->time_count += w.type == FZ_WIRE_BYTES ? w.bytes.n / 8 : 1;
	}
	if (w.c.bad)
		return false;
	if (!r->value_count)
		add_value(r, r->time_count);
	weights[r->metric] = r->sum;
	struct fz_sample s = {
		.thread = fz_profile_thread(r->p, &r->thread),
		.stack = stack_at(r, stack),
		.status = FZ_STATUS_UNKNOWN,
		.count = r->time_count ? (uint32_t)FZ_MIN(r->time_count, (uint64_t)UINT32_MAX)
				       : fz_import_periods(r->sum, r->period),
		.labels = fz_buf_view(&r->labels),
	};
	if (r->sum)
		fz_profile_add_sample(r->p, &s, weights);
	return true;
}

static struct fz_import_metric metric_of(const struct reader *r, struct fz_str profile,
					 uint32_t field)
{
	struct fz_str message = FZ_STR("");
	uint64_t type = 0, unit = 0;

	fz_wire_read(profile, FZ_WIRE_FIELDS({ field, .bytes = &message }));
	fz_wire_read(message, FZ_WIRE_FIELDS({ 1, &type }, { 2, &unit }));
	return fz_import_metric(text(r, type), text(r, unit));
}

/* The messages of a file follow each other: together they are one run. */
static void read_facts(struct reader *r, struct fz_str profile)
{
	struct fz_import_metric m = metric_of(r, profile, r->v->period_type);
	uint64_t time = 0, duration = 0, period = 0;

	fz_wire_read(profile, FZ_WIRE_FIELDS({ r->v->time, &time }, { r->v->duration, &duration },
					     { r->v->period, &period }));
	int64_t start = FZ_MAX((int64_t)time, 0);
	int64_t length = FZ_MIN(FZ_MAX((int64_t)duration, 0), INT64_MAX - start);
	if (start) {
		r->start = r->start ? FZ_MIN(r->start, start) : start;
		r->end = FZ_MAX(r->end, start + length);
	}
	r->longest = FZ_MAX(r->longest, length);
	if (fz_str_eq(m.unit, FZ_STR("ns")))
		r->p->recording.interval_ns =
			fz_import_scaled_int(FZ_MAX((int64_t)period, 0), m.scale);
}

static int64_t period_in(const struct reader *r, struct fz_str profile, struct fz_str metric)
{
	struct fz_import_metric m = metric_of(r, profile, r->v->period_type);
	uint64_t period = 0;

	if (fz_str_eq(metric, FZ_STR("samples")))
		return 1;
	fz_wire_read(profile, FZ_WIRE_FIELDS({ r->v->period, &period }));
	return fz_str_eq(m.name, metric) ? fz_import_scaled_int((int64_t)period, m.scale) : 0;
}

static int read_samples(struct reader *r, struct fz_error *err)
{
	for (uint32_t i = 0; i < r->profiles.n; i++) {
		struct fz_wire w = fz_wire_of(r->profiles.list[i]);
		struct fz_import_metric m = metric_of(r, r->profiles.list[i], 1);
		r->metric = fz_profile_find_metric(r->p, m.name);
		r->scale = m.scale;
		r->period = period_in(r, r->profiles.list[i], m.name);
		while (r->metric != FZ_NONE && fz_wire_next(&w)) {
			if (w.field == r->v->samples && !read_sample(r, w.bytes))
				return fail_damaged(r, err);
			if (r->p->over_limit)
				return fz_profile_check(r->p, err);
		}
		if (w.c.bad)
			return fail_damaged(r, err);
	}
	return 0;
}

static void release(struct reader *r)
{
	struct table *tables[] = { TABLES(r) };

	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++)
		free(tables[i]->list);
	free(r->stack_of);
	free(r->numbers);
	fz_buf_release(&r->labels);
}

static int begin_message(struct reader *r, const struct fz_buf *message, struct fz_error *err)
{
	struct table *tables[] = { TABLES(r) };

	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++)
		tables[i]->n = 0;
	r->v = versions;
	r->message = fz_buf_view(message);
	int code = read_tables(r, err);
	if (code)
		return code;
	r->v = find_version(r);
	r->stack_of = fz_reallocarray(r->stack_of, r->stacks.n + 1, sizeof(*r->stack_of));
	for (uint32_t i = 0; i < r->stacks.n; i++)
		r->stack_of[i] = NOT_MADE;
	return 0;
}

/* A profile gets all its metrics before its first sample. */
static int read_metrics(struct reader *r, const struct fz_buf *message, struct fz_error *err)
{
	int code = begin_message(r, message, err);

	for (uint32_t i = 0; i < r->profiles.n && !code; i++) {
		struct fz_import_metric m = metric_of(r, r->profiles.list[i], 1);
		/* Profiles of one type, from several resources or messages, are one metric. */
		if (fz_profile_find_metric(r->p, m.name) == FZ_NONE)
			fz_import_add_metric(r->p, &m, 0, true);
	}
	if (!code && r->profiles.n)
		read_facts(r, r->profiles.list[0]);
	return code;
}

static int read_messages(struct reader *r, const struct fz_otlp_file *file, struct fz_error *err)
{
	int code = file->n ? 0 : fail_damaged(r, err);

	for (uint32_t i = 0; i < file->n && !code; i++)
		code = read_metrics(r, &file->messages[i], err);
	if (!code && !r->p->metric_count)
		code = fz_fail(err, FZ_EINPUT, "%s: no profiles", r->name);
	if (code)
		return code;
	struct fz_run run = { .start_unix_ns = r->start,
			      .duration_ns = FZ_MAX(r->end - r->start, r->longest) };
	r->p->recording.duration_ns = run.duration_ns;
	fz_profile_add_run(r->p, &run);
	for (uint32_t i = 0; i < file->n && !code; i++) {
		if (file->n > 1)
			code = begin_message(r, &file->messages[i], err);
		if (!code)
			code = read_samples(r, err);
	}
	return code;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_otlp_file_release) struct fz_otlp_file file = { 0 };
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in) };
	int code = fz_otlp_file_read(in, &file, err);

	p->samples.ordered = p->samples.timed = false;
	if (!code)
		code = read_messages(&r, &file, err);
	if (!code && file.cut)
		fz_import_note_cut(p);
	return code;
}

/* A resource starts with its attributes, scopes or schema, a dictionary with one of its tables. */
static bool has_known_start(uint8_t tag, struct fz_cursor c)
{
	uint8_t field = fz_cursor_u8(&c);

	if (tag == 0x0a)
		return c.bad || field == 0x0a || field == 0x12 || field == 0x1a;
	return c.bad || (field % 8 == FZ_WIRE_BYTES && field / 8 >= 1 && field / 8 <= 7);
}

/* Recognizes messages 1 and 2 and nothing else in the visible bytes; the first may extend beyond
 * these. pprof's field 1 has two numbers instead. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_cursor c = fz_cursor_of(head, n);
	int fields = 0;

	(void)name;
	if (fz_otlp_is_json(head, n))
		return 60;
	if (fz_otlp_file_has_lengths((struct fz_str){ (const char *)head, n }))
		return 55;
	while (fz_cursor_left(&c)) {
		uint8_t tag = fz_cursor_u8(&c);
		uint64_t length = fz_cursor_varint(&c);

		if ((tag != 0x0a && tag != 0x12) || c.bad)
			return 0;
		if (length && !has_known_start(tag, c))
			return 0;
		if (length > fz_cursor_left(&c))
			return 50;
		fz_cursor_bytes(&c, length);
		fields++;
	}
	return fields >= 2 ? 50 : 0;
}

const struct fz_format fz_format_otlp = {
	.name = "otlp",
	.title = "OpenTelemetry profiles, protocol buffer or JSON",
	.suffixes = ".otlp .pb",
	.notes = "v1development since 1.8 only; the format is not stable yet; links are dropped",
	.sniff = sniff,
	.read = read,
};
