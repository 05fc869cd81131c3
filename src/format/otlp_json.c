/* SPDX-License-Identifier: MIT */
/* OTLP's JSON follows protocol buffers: messages are objects, fields are members, repeated fields
 * arrays, 64-bit numbers strings or numbers. Each message has a table of its members; other members
 * are ignored.
 *
 *   {"stringTable": ["", "f"], ...}   --members of a dictionary-->   2a 00  2a 01 66 ...
 *
 * jsonread.h limits the document's size, and the result is smaller than its text.
 */
#include "otlp_json.h"

#include "jsonread.h"
#include "wire.h"

enum kind { NUMBER, TIME, TEXT, MESSAGE };

struct member {
	const char *name; /* NULL: the last */
	uint32_t field;
	enum kind kind;
	const struct member *inner; /* of a message */
};

static const struct member type_members[] = {
	{ "typeStrindex", 1, NUMBER, NULL },
	{ "unitStrindex", 2, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member sample_members[] = {
	{ "stackIndex", 1, NUMBER, NULL }, { "attributeIndices", 2, NUMBER, NULL },
	{ "values", 4, NUMBER, NULL },     { "timestampsUnixNano", 5, TIME, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member profile_members[] = {
	{ "sampleType", 1, MESSAGE, type_members },
	{ "samples", 2, MESSAGE, sample_members },
	{ "sample", 2, MESSAGE, sample_members }, /* 1.8 */
	{ "timeUnixNano", 3, TIME, NULL },
	{ "durationNano", 4, NUMBER, NULL },
	{ "periodType", 5, MESSAGE, type_members },
	{ "period", 6, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member scope_members[] = {
	{ "profiles", 2, MESSAGE, profile_members },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member mapping_members[] = {
	{ "filenameStrindex", 4, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member line_members[] = {
	{ "functionIndex", 1, NUMBER, NULL },
	{ "line", 2, NUMBER, NULL },
	{ "column", 3, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member location_members[] = {
	{ "mappingIndex", 1, NUMBER, NULL },
	{ "address", 2, NUMBER, NULL },
	{ "lines", 3, MESSAGE, line_members },
	{ "line", 3, MESSAGE, line_members }, /* 1.8 */
	{ NULL, 0, NUMBER, NULL },
};
static const struct member function_members[] = {
	{ "nameStrindex", 1, NUMBER, NULL },
	{ "systemNameStrindex", 2, NUMBER, NULL },
	{ "filenameStrindex", 3, NUMBER, NULL },
	{ "startLine", 4, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member value_members[] = {
	{ "stringValue", 1, TEXT, NULL },
	{ "intValue", 3, NUMBER, NULL },
	{ "stringValueStrindex", 8, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member attribute_members[] = {
	{ "keyStrindex", 1, NUMBER, NULL },
	{ "value", 2, MESSAGE, value_members },
	{ NULL, 0, NUMBER, NULL },
};
/* Of a resource; the dictionary, above, has a different key. */
static const struct member pair_members[] = {
	{ "key", 1, TEXT, NULL },
	{ "value", 2, MESSAGE, value_members },
	{ "keyStrindex", 3, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member who_members[] = {
	{ "attributes", 1, MESSAGE, pair_members },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member resource_members[] = {
	{ "resource", 1, MESSAGE, who_members },
	{ "scopeProfiles", 2, MESSAGE, scope_members },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member stack_members[] = {
	{ "locationIndices", 1, NUMBER, NULL },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member dictionary_members[] = {
	{ "mappingTable", 1, MESSAGE, mapping_members },
	{ "locationTable", 2, MESSAGE, location_members },
	{ "functionTable", 3, MESSAGE, function_members },
	{ "stringTable", 5, TEXT, NULL },
	{ "attributeTable", 6, MESSAGE, attribute_members },
	{ "stackTable", 7, MESSAGE, stack_members },
	{ NULL, 0, NUMBER, NULL },
};
static const struct member file_members[] = {
	{ "resourceProfiles", 1, MESSAGE, resource_members },
	{ "dictionary", 2, MESSAGE, dictionary_members },
	{ NULL, 0, NUMBER, NULL },
};

static void put_message(struct fz_buf *out, const json_t *v, const struct member *members);

/* 64-bit numbers may be texts, because doubles would lose digits; addresses may exceed int64_t. */
static uint64_t number_of(const json_t *v)
{
	struct fz_str text = fz_jsonread_str(v);
	uint64_t n;

	if (text.n && text.p[0] == '-' &&
	    fz_parse_u64((struct fz_str){ text.p + 1, text.n - 1 }, INT64_MAX, &n))
		return -n;
	return fz_parse_u64(text, UINT64_MAX, &n) ? n : (uint64_t)fz_jsonread_int(v, 0);
}

static void put_one(struct fz_buf *out, const json_t *v, const struct member *m)
{
	fz_auto(fz_buf_release) struct fz_buf inner = { 0 };

	switch (m->kind) {
	case NUMBER:
		fz_wire_put(out, m->field, number_of(v));
		break;
	case TIME:
		fz_buf_varint(out, (uint64_t)m->field << 3 | FZ_WIRE_FIXED64);
		fz_buf_u64(out, number_of(v));
		break;
	case TEXT:
		fz_wire_put_bytes(out, m->field, fz_jsonread_str(v));
		break;
	case MESSAGE:
		put_message(&inner, v, m->inner);
		fz_wire_put_message(out, m->field, &inner);
		break;
	}
}

/* Writes numbers packed, because zeros in a list must not be omitted. */
static void put_numbers(struct fz_buf *out, const json_t *list, const struct member *m)
{
	fz_auto(fz_buf_release) struct fz_buf packed = { 0 };

	for (size_t i = 0; i < json_array_size(list); i++) {
		uint64_t n = number_of(json_array_get(list, i));
		if (m->kind == TIME)
			fz_buf_u64(&packed, n);
		else
			fz_buf_varint(&packed, n);
	}
	fz_wire_put_message(out, m->field, &packed);
}

static void put_message(struct fz_buf *out, const json_t *v, const struct member *members)
{
	for (const struct member *m = members; m->name; m++) {
		const json_t *value = json_object_get(v, m->name);
		if (!value || json_is_null(value))
			continue;
		if (!json_is_array(value))
			put_one(out, value, m);
		else if (m->kind == NUMBER || m->kind == TIME)
			put_numbers(out, value, m);
		else
			for (size_t i = 0; i < json_array_size(value); i++)
				put_one(out, json_array_get(value, i), m);
	}
}

bool fz_otlp_is_json(const uint8_t *head, size_t n)
{
	if (fz_jsonread_has_key(head, n, 1, "resourceProfiles"))
		return true;
	if (!fz_jsonread_has_key(head, n, 1, "dictionary"))
		return false;
	for (const struct member *m = dictionary_members; m->name; m++)
		if (fz_jsonread_has_key(head, n, 2, m->name))
			return true;
	return false;
}

int fz_otlp_from_json(struct fz_input *in, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_jsonread_release) json_t *root = NULL;
	int code = fz_jsonread_load(in, &root, err);

	if (!code && !json_is_object(root))
		code = fz_fail(err, FZ_EINPUT, "%s: JSON, but not an OTLP profile",
			       fz_input_name(in));
	if (!code)
		put_message(ret, root, file_members);
	return code;
}
