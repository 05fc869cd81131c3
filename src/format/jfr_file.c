/* SPDX-License-Identifier: MIT */
/* Parses a flight recording to values; see jfr_file.h.
 *
 * A chunk is read twice: for its metadata and checkpoints, wherever they are, and then for its
 * events. That needs neither the offsets in the header nor the chain of checkpoints, which are
 * missing in a truncated chunk.
 *
 * Depth is limited to DEPTH_MAX, and each value has at least one byte, so the cost of reading any
 * class is limited to the number of bytes times that depth.
 */
#include "jfr_file.h"

enum { HEADER = 68, DEPTH_MAX = 16, METADATA = 0, CHECKPOINT = 1, CLASSES_MAX = 1 << 16 };
/* Bits of the last byte of the header. */
enum { FEATURE_PACKED = 1 };

/* Kind of the values of a class; the width is that of unpacked integers. */
enum shape { STRUCT, INTEGER, BYTE, REAL, TEXT };

static const struct primitive {
	const char *name;
	enum shape shape;
	unsigned width;
} primitives[] = {
	{ "", STRUCT, 0 },      { "boolean", BYTE, 1 },
	{ "byte", BYTE, 1 },    { "short", INTEGER, 2 },
	{ "char", INTEGER, 2 }, { "int", INTEGER, 4 },
	{ "long", INTEGER, 8 }, { "float", REAL, 4 },
	{ "double", REAL, 8 },  { "java.lang.String", TEXT, 0 },
};

static const char *const key_names[FZ_JFR_KEYS] = {
	[FZ_JFR_START_TIME] = "startTime",
	[FZ_JFR_DURATION] = "duration",
	[FZ_JFR_EVENT_THREAD] = "eventThread",
	[FZ_JFR_SAMPLED_THREAD] = "sampledThread",
	[FZ_JFR_STACK_TRACE] = "stackTrace",
	[FZ_JFR_STATE] = "state",
	[FZ_JFR_WEIGHT] = "weight",
	[FZ_JFR_ALLOCATION_SIZE] = "allocationSize",
	[FZ_JFR_TLAB_SIZE] = "tlabSize",
	[FZ_JFR_SIZE] = "size",
	[FZ_JFR_SAMPLES] = "samples",
	[FZ_JFR_SAMPLING_PERIOD] = "samplingPeriod",
	[FZ_JFR_LOST_SAMPLES] = "lostSamples",
	[FZ_JFR_ID] = "id",
	[FZ_JFR_NAME] = "name",
	[FZ_JFR_VALUE] = "value",
	[FZ_JFR_PID] = "pid",
	[FZ_JFR_JAVA_ARGUMENTS] = "javaArguments",
	[FZ_JFR_TRUNCATED] = "truncated",
	[FZ_JFR_FRAMES] = "frames",
	[FZ_JFR_METHOD] = "method",
	[FZ_JFR_LINE_NUMBER] = "lineNumber",
	[FZ_JFR_TYPE] = "type",
	[FZ_JFR_DESCRIPTOR] = "descriptor",
	[FZ_JFR_DESCRIPTION] = "description",
	[FZ_JFR_STRING] = "string",
	[FZ_JFR_OS_NAME] = "osName",
	[FZ_JFR_OS_THREAD_ID] = "osThreadId",
	[FZ_JFR_JAVA_NAME] = "javaName",
	[FZ_JFR_JAVA_THREAD_ID] = "javaThreadId",
};

/* Units of times in annotations of fields. */
static const struct {
	const char *name;
	double ns;
} spans[] = {
	{ "SECONDS", 1e9 }, { "MILLISECONDS", 1e6 }, { "MICROSECONDS", 1e3 }, { "NANOSECONDS", 1 }
};

void fz_jfr_init(struct fz_jfr *j, struct fz_profile *p, const char *name, struct fz_str file)
{
	*j = (struct fz_jfr){ .p = p, .name = name, .file = file };
}

static void forget_chunk(struct fz_jfr *j)
{
	for (uint32_t i = 0; i < j->class_count; i++)
		fz_map_release(&j->classes[i].pool);
	fz_map_release(&j->class_of);
	fz_arena_release(&j->arena);
	j->class_of = (struct fz_map){ 0 };
	j->arena = (struct fz_arena){ 0 };
	j->class_count = j->field_count = 0;
	j->string_class = FZ_NONE;
}

void fz_jfr_release(struct fz_jfr *j)
{
	forget_chunk(j);
	free(j->classes);
	free(j->fields);
}

/* ---- numbers and texts ---- */

static uint64_t big_endian(struct fz_cursor *c, unsigned width)
{
	const uint8_t *p = fz_cursor_bytes(c, width);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < width; i++)
		v = v << 8 | p[i];
	return v;
}

/* Seven bits per byte, lowest first; a ninth byte has eight. */
static uint64_t packed(struct fz_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint64_t byte = fz_cursor_u8(c);
		if (byte < 0x80 || shift == 56)
			return v | byte << shift;
		v |= (byte & 0x7f) << shift;
	}
	return v;
}

static int64_t integer(const struct fz_jfr *j, struct fz_cursor *c, unsigned width)
{
	unsigned unused = 64 - 8 * width;
	uint64_t v = j->packed ? packed(c) : big_endian(c, width);

	return (int64_t)(v << unused) >> unused;
}

static uint64_t count(const struct fz_jfr *j, struct fz_cursor *c)
{
	int64_t n = integer(j, c, 4);

	/* Each element has at least one byte. */
	c->bad |= n < 0 || (uint64_t)n > fz_cursor_left(c);
	return c->bad ? 0 : (uint64_t)n;
}

static void add_utf8(struct fz_buf *to, uint32_t code)
{
	char text[4];

	fz_buf_add(to, text, fz_utf8_encode(code, text));
}

static void add_utf16(const struct fz_jfr *j, struct fz_cursor *c, uint64_t n, struct fz_buf *to)
{
	uint32_t high = 0;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint32_t unit = (uint32_t)integer(j, c, 2) & 0xffff;
		if (unit >= 0xd800 && unit < 0xdc00) {
			high = unit;
			continue;
		}
		if (high && unit >= 0xdc00 && unit < 0xe000)
			unit = 0x10000 + ((high - 0xd800) << 10 | (unit - 0xdc00));
		high = 0;
		if (to)
			add_utf8(to, unit);
	}
}

enum encoding { NO_TEXT, EMPTY, CONSTANT, UTF8, UTF16, LATIN1 };

/* Reads an inline text and appends it to `to` unless NULL. Returns the key if it is a constant,
 * else 0. */
static int64_t read_text(const struct fz_jfr *j, struct fz_cursor *c, struct fz_buf *to)
{
	uint8_t encoding = fz_cursor_u8(c);

	if (encoding == CONSTANT)
		return integer(j, c, 8);
	if (encoding <= EMPTY)
		return 0;
	c->bad |= encoding > LATIN1;
	uint64_t n = count(j, c);
	if (encoding == UTF16) {
		add_utf16(j, c, n, to);
		return 0;
	}
	const uint8_t *p = fz_cursor_bytes(c, n);
	if (p && to && encoding == UTF8)
		fz_buf_add(to, p, n);
	for (uint64_t i = 0; p && to && encoding == LATIN1 && i < n; i++)
		add_utf8(to, p[i]);
	return 0;
}

/* ---- values ---- */

static bool read_value(struct fz_jfr *j, struct fz_cursor *c, uint32_t class, int depth,
		       struct fz_jfr_record *ret);

/* Reads one value of a field; returns it if it is a number. */
static int64_t read_one(struct fz_jfr *j, struct fz_cursor *c, const struct fz_jfr_field *f,
			int depth)
{
	if (f->constant)
		return integer(j, c, 8);
	c->bad |= f->class == FZ_NONE;
	if (c->bad)
		return 0;
	const struct primitive *is = &primitives[j->classes[f->class].primitive];
	switch (is->shape) {
	case INTEGER:
		return integer(j, c, is->width);
	case BYTE:
		return fz_cursor_u8(c);
	case REAL:
		big_endian(c, is->width);
		return 0;
	case TEXT:
		return read_text(j, c, NULL);
	default:
		read_value(j, c, f->class, depth + 1, NULL);
		return 0;
	}
}

static bool read_value(struct fz_jfr *j, struct fz_cursor *c, uint32_t class, int depth,
		       struct fz_jfr_record *ret)
{
	const struct fz_jfr_class *k = &j->classes[class];
	size_t from = fz_cursor_left(c);
	const uint8_t *base = (const uint8_t *)j->chunk.p;

	c->bad |= depth > DEPTH_MAX;
	for (uint32_t i = k->first; i < k->first + k->count && !c->bad; i++) {
		const struct fz_jfr_field *f = &j->fields[i];
		size_t at = (size_t)(c->p - base);
		int64_t number = 0;
		uint64_t n = f->array ? count(j, c) : 1;
		for (uint64_t item = 0; item < n && !c->bad; item++)
			number = read_one(j, c, f, depth);
		if (ret && f->key < FZ_JFR_KEYS && !c->bad) {
			ret->of[f->key].field = f;
			ret->of[f->key].number = number;
			ret->of[f->key].at = at;
		}
	}
	c->bad |= fz_cursor_left(c) == from;
	return !c->bad;
}

/* ---- metadata ---- */

struct strings {
	struct fz_str *list;
	uint64_t n;
};

struct element {
	struct fz_str tag, name, id, class, constant, dimension, value;
};

static struct fz_str string_at(const struct strings *s, int64_t i)
{
	return i >= 0 && (uint64_t)i < s->n ? s->list[i] : FZ_STR("");
}

static void read_strings(struct fz_jfr *j, struct fz_cursor *c, struct strings *s)
{
	uint64_t n = count(j, c);

	if (!fz_profile_takes(j->p, n * sizeof(*s->list)))
		return;
	s->list = fz_reallocarray(NULL, n + 1, sizeof(*s->list));
	for (; s->n < n && !c->bad; s->n++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };
		read_text(j, c, &text);
		s->list[s->n] =
			(struct fz_str){ fz_arena_strndup(&j->arena, text.p ? text.p : "", text.n),
					 text.n };
	}
}

static void read_attributes(struct fz_jfr *j, struct fz_cursor *c, const struct strings *s,
			    struct element *e)
{
	const struct {
		const char *name;
		struct fz_str *to;
	} known[] = { { "name", &e->name },           { "id", &e->id },
		      { "class", &e->class },         { "constantPool", &e->constant },
		      { "dimension", &e->dimension }, { "value", &e->value } };

	for (uint64_t n = count(j, c); n > 0 && !c->bad; n--) {
		struct fz_str name = string_at(s, integer(j, c, 4));
		struct fz_str value = string_at(s, integer(j, c, 4));
		for (size_t i = 0; i < FZ_ARRAY_LEN(known); i++)
			if (fz_str_eq(name, fz_str_of(known[i].name)))
				*known[i].to = value;
	}
}

static void add_class(struct fz_jfr *j, const struct element *e)
{
	struct fz_jfr_class k = { .name = e->name, .first = j->field_count };

	if (j->class_count >= CLASSES_MAX || !fz_parse_u64(e->id, UINT64_MAX, &k.id))
		return;
	for (uint8_t i = 0; i < FZ_ARRAY_LEN(primitives); i++)
		if (fz_str_eq(e->name, fz_str_of(primitives[i].name)))
			k.primitive = i;
	if (fz_str_eq(e->name, FZ_STR("java.lang.String")))
		j->string_class = j->class_count;
	fz_map_put(&j->class_of, k.id, j->class_count);
	fz_profile_push(j->p, j->classes, j->class_count, j->class_cap, k);
}

static void add_field(struct fz_jfr *j, const struct element *e)
{
	struct fz_jfr_field f = { .constant = fz_str_eq(e->constant, FZ_STR("true")),
				  .array = e->dimension.n > 0 };

	if (!j->class_count || !fz_parse_u64(e->class, UINT64_MAX, &f.type))
		return;
	while (f.key < FZ_JFR_KEYS && !fz_str_eq(e->name, fz_str_of(key_names[f.key])))
		f.key++;
	fz_profile_push(j->p, j->fields, j->field_count, j->field_cap, f);
	j->classes[j->class_count - 1].count++;
}

static void add_annotation(struct fz_jfr *j, const struct element *e)
{
	for (size_t i = 0; j->field_count && i < FZ_ARRAY_LEN(spans); i++)
		if (fz_str_eq(e->value, fz_str_of(spans[i].name)))
			j->fields[j->field_count - 1].ns = spans[i].ns;
}

/* Reads an element, followed by its children; only classes, their fields and annotations of these
 * matter. */
static void read_element(struct fz_jfr *j, struct fz_cursor *c, const struct strings *s, int depth)
{
	struct element e = { .tag = string_at(s, integer(j, c, 4)) };

	read_attributes(j, c, s, &e);
	c->bad |= depth > DEPTH_MAX || j->p->over_limit;
	if (c->bad)
		return;
	if (fz_str_eq(e.tag, FZ_STR("class")))
		add_class(j, &e);
	else if (fz_str_eq(e.tag, FZ_STR("field")))
		add_field(j, &e);
	else if (fz_str_eq(e.tag, FZ_STR("annotation")))
		add_annotation(j, &e);
	for (uint64_t n = count(j, c); n > 0 && !c->bad; n--)
		read_element(j, c, s, depth + 1);
}

/* Links fields to classes; FZ_NONE for an undescribed class, of which only keys can be read. */
static void link_fields(struct fz_jfr *j)
{
	for (uint32_t i = 0; i < j->field_count; i++)
		j->fields[i].class = fz_map_get(&j->class_of, j->fields[i].type);
}

static struct fz_cursor cursor_at(const struct fz_jfr *j, size_t at, size_t end)
{
	return fz_cursor_of(j->chunk.p + at, end - at);
}

/* {time, duration, number; the strings; the elements} */
static bool read_metadata(struct fz_jfr *j, size_t at, size_t end)
{
	struct fz_cursor c = cursor_at(j, at, end);
	struct strings s = { 0 };

	for (int i = 0; i < 3; i++)
		integer(j, &c, 8);
	read_strings(j, &c, &s);
	if (!j->p->over_limit)
		read_element(j, &c, &s, 0);
	free(s.list);
	link_fields(j);
	return !c.bad && j->class_count > 0;
}

/* ---- constants ---- */

static bool read_pool(struct fz_jfr *j, struct fz_cursor *c)
{
	uint32_t class = fz_map_get(&j->class_of, (uint64_t)integer(j, c, 8));
	uint64_t n = count(j, c);

	if (class == FZ_NONE || c->bad ||
	    !fz_profile_takes(j->p, n * sizeof(struct fz_map_slot) * 2))
		return false;
	struct fz_jfr_field f = { .class = class };
	for (; n > 0 && !c->bad; n--) {
		uint64_t key = (uint64_t)integer(j, c, 8);
		fz_map_put(&j->classes[class].pool, key,
			   (uint32_t)((const char *)c->p - j->chunk.p));
		read_one(j, c, &f, 0);
	}
	return !c->bad;
}

/* {time, duration, offset of the previous one, reason; the pools} */
static bool read_checkpoint(struct fz_jfr *j, size_t at, size_t end)
{
	struct fz_cursor c = cursor_at(j, at, end);

	for (int i = 0; i < 3; i++)
		integer(j, &c, 8);
	fz_cursor_u8(&c);
	for (uint64_t n = count(j, &c); n > 0; n--)
		if (!read_pool(j, &c))
			return false;
	return !c.bad;
}

/* Offset of a constant in the chunk, or FZ_NONE. */
static uint32_t place_of(const struct fz_jfr *j, uint32_t class, int64_t key)
{
	return class == FZ_NONE ? FZ_NONE : fz_map_get(&j->classes[class].pool, (uint64_t)key);
}

bool fz_jfr_read_constant(struct fz_jfr *j, const struct fz_jfr_field *f, int64_t key,
			  struct fz_jfr_record *ret)
{
	uint32_t at = place_of(j, f->class, key);

	*ret = (struct fz_jfr_record){ 0 };
	if (at == FZ_NONE)
		return false;
	struct fz_cursor c = cursor_at(j, at, j->chunk.n);
	return read_value(j, &c, f->class, 0, ret);
}

static void text_of_constant(struct fz_jfr *j, uint32_t class, int64_t key, struct fz_buf *to)
{
	uint32_t at = place_of(j, class, key);

	if (at != FZ_NONE) {
		struct fz_cursor c = cursor_at(j, at, j->chunk.n);
		read_text(j, &c, to);
	}
}

static void text_in_place(struct fz_jfr *j, size_t at, struct fz_buf *to)
{
	struct fz_cursor c = cursor_at(j, at, j->chunk.n);
	int64_t key = read_text(j, &c, to);

	if (key)
		text_of_constant(j, j->string_class, key, to);
}

static bool is_text(const struct fz_jfr *j, const struct fz_jfr_field *f)
{
	return f->class != FZ_NONE && primitives[j->classes[f->class].primitive].shape == TEXT;
}

void fz_jfr_text(struct fz_jfr *j, const struct fz_jfr_record *r, enum fz_jfr_key key,
		 struct fz_buf *to)
{
	const struct fz_jfr_field *f = r->of[key].field;
	struct fz_jfr_record symbol;
	size_t before = to->n;

	if (!f)
		return;
	if (!f->constant && is_text(j, f)) {
		text_in_place(j, r->of[key].at, to);
	} else if (f->constant && is_text(j, f)) {
		text_of_constant(j, f->class, r->of[key].number, to);
	} else if (f->constant && fz_jfr_read_constant(j, f, r->of[key].number, &symbol)) {
		const struct fz_jfr_field *inner = symbol.of[FZ_JFR_STRING].field;
		if (inner && !inner->constant && is_text(j, inner))
			text_in_place(j, symbol.of[FZ_JFR_STRING].at, to);
	}
	/* One long text may be shared by any number of methods. */
	fz_profile_takes(j->p, to->n - before);
}

/* ---- events ---- */

static bool take_event(struct fz_jfr *j, uint64_t *ret_type, size_t *ret_at, size_t *ret_end)
{
	struct fz_cursor c = cursor_at(j, j->at, j->chunk.n);
	uint64_t size = (uint64_t)integer(j, &c, 4);
	uint64_t type = (uint64_t)integer(j, &c, 8);
	size_t fields = (size_t)((const char *)c.p - j->chunk.p);

	if (j->at == j->chunk.n || c.bad || size > j->chunk.n - j->at || size < fields - j->at)
		return false;
	*ret_type = type;
	*ret_at = fields;
	*ret_end = j->at + size;
	j->at += size;
	return true;
}

void fz_jfr_rewind(struct fz_jfr *j)
{
	j->at = HEADER;
}

bool fz_jfr_next_event(struct fz_jfr *j, struct fz_jfr_event *ret)
{
	uint64_t type;

	while (take_event(j, &type, &ret->at, &ret->end)) {
		ret->class = fz_map_get(&j->class_of, type);
		if (type != METADATA && type != CHECKPOINT && ret->class != FZ_NONE)
			return true;
	}
	return false;
}

bool fz_jfr_read_event(struct fz_jfr *j, const struct fz_jfr_event *e, struct fz_jfr_record *ret)
{
	struct fz_cursor c = cursor_at(j, e->at, e->end);
	size_t at = e->at;

	*ret = (struct fz_jfr_record){ 0 };
	return at < e->end && read_value(j, &c, e->class, 0, ret);
}

bool fz_jfr_array(struct fz_jfr *j, size_t *at, uint64_t *ret_count)
{
	struct fz_cursor c = cursor_at(j, *at, j->chunk.n);

	*ret_count = count(j, &c);
	*at = (size_t)((const char *)c.p - j->chunk.p);
	return !c.bad;
}

bool fz_jfr_read_item(struct fz_jfr *j, const struct fz_jfr_field *f, size_t *at,
		      struct fz_jfr_record *ret)
{
	struct fz_cursor c = cursor_at(j, *at, j->chunk.n);

	*ret = (struct fz_jfr_record){ 0 };
	bool ok = !f->constant && read_value(j, &c, f->class, 0, ret);
	*at = (size_t)((const char *)c.p - j->chunk.p);
	return ok;
}

double fz_jfr_ns(const struct fz_jfr *j, const struct fz_jfr_record *r, enum fz_jfr_key key)
{
	const struct fz_jfr_field *f = r->of[key].field;
	int64_t v = r->of[key].number;

	if (!f)
		return 0;
	if (key == FZ_JFR_START_TIME)
		v = (int64_t)((uint64_t)v - j->start_ticks);
	return (double)v * (f->ns > 0 ? f->ns : 1e9 / (double)j->ticks_per_second);
}

/* ---- chunks ---- */

/* Metadata is rewritten when classes are added: the last one is complete. */
static void read_descriptions(struct fz_jfr *j)
{
	uint64_t type;
	size_t at, end, meta = 0, meta_end = 0;

	fz_jfr_rewind(j);
	while (take_event(j, &type, &at, &end))
		if (type == METADATA) {
			meta = at;
			meta_end = end;
		}
	if (!meta || !read_metadata(j, meta, meta_end)) {
		j->dropped_bytes += j->chunk.n;
		j->chunk.n = HEADER;
		return;
	}
	j->dropped_bytes += j->chunk.n - j->at;
	fz_jfr_rewind(j);
	while (take_event(j, &type, &at, &end) && !j->p->over_limit)
		if (type == CHECKPOINT && !read_checkpoint(j, at, end))
			j->dropped_bytes += end - at;
}

int fz_jfr_next_chunk(struct fz_jfr *j, struct fz_error *err)
{
	struct fz_str left = { j->file.p + j->next, j->file.n - j->next };
	struct fz_cursor c = fz_cursor_of(left.p, left.n);

	forget_chunk(j);
	if (!left.n)
		return 0;
	if (left.n < HEADER || memcmp(left.p, "FLR", 4) != 0) {
		j->dropped_bytes += left.n;
		return 0;
	}
	big_endian(&c, 4);
	uint64_t major = big_endian(&c, 2);
	big_endian(&c, 2);
	if (major != 2)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "%s: flight recording version %llu; only version 2 (Java 11 and "
			       "later, async-profiler) is supported",
			       j->name, (unsigned long long)major);
	uint64_t size = big_endian(&c, 8);
	big_endian(&c, 8);
	big_endian(&c, 8);
	uint64_t start = big_endian(&c, 8), duration = big_endian(&c, 8);
	j->start_unix_ns = (int64_t)FZ_MIN(start, (uint64_t)INT64_MAX);
	j->duration_ns = (int64_t)FZ_MIN(duration, (uint64_t)INT64_MAX);
	j->start_ticks = big_endian(&c, 8);
	uint64_t ticks = big_endian(&c, 8);
	j->ticks_per_second = FZ_MAX(ticks, (uint64_t)1);
	j->packed = big_endian(&c, 4) & FEATURE_PACKED;
	/* Not set yet in an unfinished recording, or the file is truncated. */
	if (size < HEADER || size > left.n)
		size = left.n;
	j->chunk = (struct fz_str){ left.p, size };
	j->next += size;
	read_descriptions(j);
	fz_jfr_rewind(j);
	return 1;
}
