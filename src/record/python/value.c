/* SPDX-License-Identifier: MIT */
/* Objects as text; value.h has the contract.
 *
 *   object {type, ...} -> type {name, flags, base, dict, qualname} -> base -> ... -> object
 *
 * The fields of an object are known from the first type among its bases that is implemented in C
 * and in the table below: subclasses have the same fields. A subclass is written as Class(value).
 */
#include "value.h"

#include "object.h"
#include "repr.h"

enum {
	BASES_MAX = 64,
	NAME_MAX = 255,        /* characters of a name */
	SCAN_MAX = 4096,       /* slots of a set or a dict to read */
	MODULE_SCAN_MAX = 512, /* entries of a class to search for __module__ */
	PART_MAX = 4096,       /* bytes read at once */
	HEAP_TYPE = 1 << 9,
};

struct value {
	struct fz_py_value_reader *r;
	struct fz_buf *out;
	size_t start;   /* of this value in `out` */
	unsigned level; /* number of containers around the current item */
};

static bool get(struct fz_py_value_reader *r, uint64_t at, void *out, uint32_t n)
{
	return fz_py_pages_read(r->pages, at, out, n);
}

static bool get_word(struct fz_py_value_reader *r, uint64_t at, uint64_t *ret)
{
	return at % 8 == 0 && get(r, at, ret, sizeof(*ret));
}

/* Read any number of bytes, part by part. */
static bool get_many(struct fz_py_value_reader *r, uint64_t at, void *out, uint64_t n)
{
	for (uint64_t done = 0; done < n; done += PART_MAX)
		if (!get(r, at + done, (char *)out + done,
			 (uint32_t)FZ_MIN(n - done, (uint64_t)PART_MAX)))
			return false;
	return true;
}

static uint32_t header(const struct fz_py_value_reader *r)
{
	return r->layout->object.var_size;
}

/* ---- names ---- */

struct text {
	uint64_t data, length;
	unsigned kind;
};

/* Locate the characters of a str; those of a subclass's instance are not inline. */
static bool get_text(struct fz_py_value_reader *r, uint64_t object, struct text *ret)
{
	const struct fz_py_layout *l = r->layout;
	uint32_t state;

	if (object == 0 || !get_word(r, object + l->unicode.length, &ret->length) ||
	    !get(r, object + l->unicode.state, &state, sizeof(state)))
		return false;
	bool compact = state >> (l->unicode_shift + 3) & 1;
	bool ascii = state >> (l->unicode_shift + 4) & 1;
	ret->kind = state >> l->unicode_shift & 7;
	ret->data = object + (ascii ? l->unicode.ascii_data : l->unicode.compact_data);
	if (!compact && !get_word(r, object + l->unicode.compact_data, &ret->data))
		return false;
	return ret->length <= INT64_MAX / 4 &&
	       (ret->kind == 1 || ret->kind == 2 || ret->kind == 4) && (!ascii || ret->kind == 1);
}

bool fz_py_value_name(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *out)
{
	uint32_t data[NAME_MAX]; /* of the largest kind */
	struct text t;

	if (!get_text(r, object, &t))
		return false;
	uint32_t n = (uint32_t)FZ_MIN(t.length, (uint64_t)NAME_MAX);
	if (!get(r, t.data, data, n * t.kind))
		return false;
	fz_py_encode_text(data, n, t.kind, out);
	return true;
}

/* Read a C string. */
static bool get_string(struct fz_py_value_reader *r, uint64_t at, char out[NAME_MAX + 1])
{
	enum { PIECE = 32 };
	uint32_t n = 0;

	for (; n + PIECE <= NAME_MAX; n += PIECE) {
		/* The next page may not be mapped. */
		uint32_t part = FZ_MIN((uint32_t)PIECE, 4096 - (uint32_t)((at + n) & 4095));
		if (part < PIECE && get(r, at + n, out + n, part) && memchr(out + n, 0, part))
			return true;
		if (!get(r, at + n, out + n, PIECE))
			return false;
		if (memchr(out + n, 0, PIECE))
			return true;
	}
	out[n] = '\0';
	return true;
}

/* ---- dicts ---- */

struct dict {
	struct fz_py_entries entries;
	uint64_t values; /* of a split dict */
	uint64_t used;
};

static bool get_dict(struct fz_py_value_reader *r, uint64_t object, struct dict *ret)
{
	const struct fz_py_layout *l = r->layout;
	uint64_t keys, head[FZ_PY_KEYS_WORDS];

	if (!get_word(r, object + header(r), &ret->used) ||
	    !get_word(r, object + l->dict.keys, &keys) ||
	    !get_word(r, object + l->dict.values, &ret->values) || keys % 8 ||
	    !get(r, keys, head, sizeof(head)))
		return false;
	ret->values = fz_py_dict_values(l, ret->values);
	return fz_py_dict_entries(l, keys, head, &ret->entries) && ret->used <= ret->entries.n;
}

/* Read entry i; *value is 0 if it is empty. */
static bool get_entry(struct fz_py_value_reader *r, const struct dict *d, uint64_t i, uint64_t *key,
		      uint64_t *value)
{
	uint64_t pair[2];
	uint64_t at = d->entries.at + (i * d->entries.words + d->entries.words - 2) * 8;

	if (at % 8 || !get(r, at, pair, sizeof(pair)))
		return false;
	*key = pair[0];
	*value = pair[1];
	return !d->values || get_word(r, d->values + i * 8, value);
}

/* Append a class's module and a dot; nothing for builtins. */
static bool add_module(struct fz_py_value_reader *r, uint64_t type, struct fz_buf *out)
{
	uint64_t object, key, value;
	struct dict d;

	if (!get_word(r, type + r->layout->type.dict, &object) || !object ||
	    !get_dict(r, object, &d))
		return false;
	for (uint64_t i = 0; i < FZ_MIN(d.entries.n, (uint64_t)MODULE_SCAN_MAX); i++) {
		fz_auto(fz_buf_release) struct fz_buf name = { 0 };
		if (!get_entry(r, &d, i, &key, &value))
			return false;
		if (!value || !fz_py_value_name(r, key, &name) ||
		    strcmp(fz_buf_view(&name).p, "__module__") != 0)
			continue;
		fz_buf_reset(&name);
		if (!fz_py_value_name(r, value, &name))
			return true; /* a property, say */
		if (strcmp(fz_buf_view(&name).p, "builtins") != 0)
			fz_buf_printf(out, "%s.", fz_buf_view(&name).p);
		return true;
	}
	return true;
}

/* ---- types ---- */

/* Read name, flags and base of a type. */
static bool get_type(struct fz_py_value_reader *r, uint64_t type, char name[NAME_MAX + 1],
		     uint64_t *flags, uint64_t *base)
{
	const struct fz_py_layout *l = r->layout;
	uint64_t at;

	return type && get_word(r, type + l->object.type_name, &at) &&
	       get_word(r, type + l->type.flags, flags) && get_word(r, type + l->type.base, base) &&
	       get_string(r, at, name);
}

/* Append module.Class; names of static types include the module. */
static bool add_type_name(struct fz_py_value_reader *r, uint64_t type, struct fz_buf *out)
{
	char name[NAME_MAX + 1];
	uint64_t flags, base, qualname;

	if (!get_type(r, type, name, &flags, &base))
		return false;
	if (!(flags & HEAP_TYPE)) {
		fz_buf_str(out, strncmp(name, "builtins.", 9) == 0 ? name + 9 : name);
		return true;
	}
	return get_word(r, type + r->layout->type.qualname, &qualname) &&
	       add_module(r, type, out) && fz_py_value_name(r, qualname, out);
}

static bool add_value(struct value *v, uint64_t object, struct fz_buf *type_name);

/* ---- plain values ---- */

static bool add_none(struct value *v, uint64_t object)
{
	(void)object;
	fz_buf_str(v->out, "None");
	return true;
}

static bool add_ellipsis(struct value *v, uint64_t object)
{
	(void)object;
	fz_buf_str(v->out, "Ellipsis");
	return true;
}

/* Number of digits and sign of an int. */
static bool get_int(struct fz_py_value_reader *r, uint64_t object, uint64_t *ret_n,
		    bool *ret_negative)
{
	enum { SIGN_MASK = 3, NEGATIVE = 2, SHIFT = 3 };
	uint64_t tag;

	if (!get_word(r, object + r->layout->integer.tag, &tag))
		return false;
	if (r->layout->minor >= 12) {
		*ret_negative = (tag & SIGN_MASK) == NEGATIVE;
		*ret_n = tag >> SHIFT;
		return (tag & SIGN_MASK) <= NEGATIVE;
	}
	*ret_negative = (int64_t)tag < 0;
	*ret_n = *ret_negative ? -tag : tag;
	return true;
}

/* For a shortened outermost value append its full size. */
static void add_full_size(const struct value *v, uint64_t n, const char *of)
{
	if (v->level == 0)
		fz_buf_printf(v->out, " (%llu %s%s)", (unsigned long long)n, of, n == 1 ? "" : "s");
}

static bool add_int(struct value *v, uint64_t object)
{
	uint32_t digits[FZ_PY_INT_DIGITS_MAX];
	bool negative;
	uint64_t n;

	if (!get_int(v->r, object, &n, &negative))
		return false;
	if (n > FZ_PY_INT_DIGITS_MAX) {
		fz_buf_printf(v->out, "<%sint of %llu bits>", negative ? "negative " : "",
			      (unsigned long long)n * FZ_PY_INT_DIGIT_BITS);
		return n < 1ull << 40;
	}
	if (!get(v->r, object + v->r->layout->integer.digits, digits, (uint32_t)n * 4))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (digits[i] >> FZ_PY_INT_DIGIT_BITS)
			return false;
	size_t length = fz_py_repr_int(digits, n, negative, v->r->limits.digits, v->out);
	if (length > v->r->limits.digits)
		add_full_size(v, length, "digit");
	return true;
}

static bool add_bool(struct value *v, uint64_t object)
{
	bool negative;
	uint32_t digit = 0;
	uint64_t n;

	if (!get_int(v->r, object, &n, &negative) || n > 1 || negative ||
	    !get(v->r, object + v->r->layout->integer.digits, &digit, (uint32_t)n * 4))
		return false;
	fz_buf_str(v->out, digit ? "True" : "False");
	return true;
}

static bool add_float(struct value *v, uint64_t object)
{
	double d;

	if (!get(v->r, object + v->r->layout->real.value, &d, sizeof(d)))
		return false;
	fz_py_repr_float(d, v->out);
	return true;
}

static bool add_str(struct value *v, uint64_t object)
{
	struct text t;

	if (!get_text(v->r, object, &t))
		return false;
	uint64_t n = FZ_MIN(t.length, (uint64_t)v->r->limits.characters);
	fz_auto(fz_free_ptr) void *data = fz_malloc(n * t.kind + 1);
	if (!get_many(v->r, t.data, data, n * t.kind))
		return false;
	fz_py_repr_text(data, n, t.kind, n < t.length, v->out);
	if (n < t.length)
		add_full_size(v, t.length, "character");
	return true;
}

static bool add_bytes(struct value *v, uint64_t object)
{
	const struct fz_py_layout *l = v->r->layout;
	uint64_t size;

	if (!get_word(v->r, object + l->bytes.size, &size) || size > INT64_MAX)
		return false;
	uint64_t n = FZ_MIN(size, (uint64_t)v->r->limits.characters);
	fz_auto(fz_free_ptr) uint8_t *data = fz_malloc(n + 1);
	if (!get_many(v->r, object + l->bytes.data, data, n))
		return false;
	fz_py_repr_bytes(data, n, n < size, v->out);
	if (n < size)
		add_full_size(v, size, "byte");
	return true;
}

static bool add_class(struct value *v, uint64_t object)
{
	fz_buf_str(v->out, "<class '");
	bool ok = add_type_name(v->r, object, v->out);
	fz_buf_str(v->out, "'>");
	return ok;
}

/* ---- containers ---- */

/* Begin item i. If there is no room write "..." for the rest and return false. */
static bool begin_item(struct value *v, uint32_t i)
{
	fz_buf_str(v->out, i ? ", " : "");
	if (i < v->r->limits.items && v->level <= v->r->limits.levels &&
	    v->out->n - v->start < v->r->limits.bytes)
		return true;
	fz_buf_str(v->out, "...");
	return false;
}

/* Give up on a container with too many empty slots: write "..." for the rest. */
static bool leave_rest(struct value *v, uint32_t shown)
{
	fz_buf_str(v->out, shown ? ", ..." : "...");
	return false;
}

/* Append n objects from an array of their addresses. */
static bool add_items(struct value *v, uint64_t at, uint64_t n, bool *ret_all)
{
	uint64_t item;

	v->level++;
	for (uint32_t i = 0; i < n; i++) {
		if (!(*ret_all = begin_item(v, i)))
			break;
		if (!get_word(v->r, at + 8ull * i, &item) || !add_value(v, item, NULL))
			return false;
	}
	v->level--;
	return true;
}

static bool add_list(struct value *v, uint64_t object)
{
	uint64_t n, items = 0;
	bool all = true;

	if (!get_word(v->r, object + header(v->r), &n) || n > INT64_MAX / 8 ||
	    (n && !get_word(v->r, object + v->r->layout->list.items, &items)))
		return false;
	fz_buf_char(v->out, '[');
	if (!add_items(v, items, n, &all))
		return false;
	fz_buf_char(v->out, ']');
	if (!all)
		add_full_size(v, n, "item");
	return true;
}

static bool add_tuple(struct value *v, uint64_t object)
{
	uint64_t n;
	bool all = true;

	if (!get_word(v->r, object + header(v->r), &n) || n > INT64_MAX / 8)
		return false;
	fz_buf_char(v->out, '(');
	if (!add_items(v, object + v->r->layout->tuple.items, n, &all))
		return false;
	fz_buf_str(v->out, n == 1 && all ? ",)" : ")");
	if (!all)
		add_full_size(v, n, "item");
	return true;
}

static bool add_dict(struct value *v, uint64_t object)
{
	uint64_t key, value;
	uint32_t shown = 0;
	bool all = true;
	struct dict d;

	if (!get_dict(v->r, object, &d))
		return false;
	fz_buf_char(v->out, '{');
	v->level++;
	for (uint64_t i = 0; shown < d.used && i < d.entries.n; i++) {
		if (i >= SCAN_MAX + (uint64_t)shown) {
			all = leave_rest(v, shown);
			break;
		}
		if (!get_entry(v->r, &d, i, &key, &value))
			return false;
		if (!value)
			continue;
		if (!(all = begin_item(v, shown++)))
			break;
		if (!add_value(v, key, NULL))
			return false;
		fz_buf_str(v->out, ": ");
		if (!add_value(v, value, NULL))
			return false;
	}
	v->level--;
	fz_buf_char(v->out, '}');
	if (!all)
		add_full_size(v, d.used, "item");
	return shown == d.used || !all;
}

static bool add_set(struct value *v, uint64_t object)
{
	const struct fz_py_layout *l = v->r->layout;
	uint64_t used, mask, table, slot[2];
	uint32_t shown = 0;
	bool all = true;

	if (!get_word(v->r, object + l->set.used, &used) ||
	    !get_word(v->r, object + l->set.mask, &mask) ||
	    !get_word(v->r, object + l->set.table, &table) || table % 8 || used > mask)
		return false;
	fz_buf_str(v->out, used ? "{" : "set()");
	v->level++;
	for (uint64_t i = 0; shown < used && i <= mask; i++) {
		if (i >= SCAN_MAX) {
			all = leave_rest(v, shown);
			break;
		}
		if (!get(v->r, table + i * sizeof(slot), slot, sizeof(slot)))
			return false;
		/* A hash of -1 marks a removed entry. */
		if (!slot[0] || slot[1] == UINT64_MAX)
			continue;
		if (!(all = begin_item(v, shown++)))
			break;
		if (!add_value(v, slot[0], NULL))
			return false;
	}
	v->level--;
	fz_buf_str(v->out, used ? "}" : "");
	if (!all)
		add_full_size(v, used, "item");
	return shown == used || !all;
}

static bool add_frozenset(struct value *v, uint64_t object)
{
	uint64_t used;

	return get_word(v->r, object + v->r->layout->set.used, &used) &&
	       (!used || add_set(v, object));
}

/* ---- any object ---- */

static const struct kind {
	const char *name; /* of the type */
	bool (*add)(struct value *v, uint64_t object);
	bool named; /* write the type's name even if it is not a subclass */
} kinds[] = {
	{ "int", add_int, false },
	{ "str", add_str, false },
	{ "NoneType", add_none, false },
	{ "bool", add_bool, false },
	{ "float", add_float, false },
	{ "dict", add_dict, false },
	{ "list", add_list, false },
	{ "tuple", add_tuple, false },
	{ "bytes", add_bytes, false },
	{ "set", add_set, false },
	{ "frozenset", add_frozenset, true },
	{ "type", add_class, false },
	{ "ellipsis", add_ellipsis, false },
	{ "frozendict", add_dict, true },
};

/* Find the kind of a type's instances; *ret is NULL if it is unknown. */
static bool find_kind(struct fz_py_value_reader *r, uint64_t type, const struct kind **ret,
		      bool *ret_subclass)
{
	char name[NAME_MAX + 1];
	uint64_t flags, base;

	*ret = NULL;
	*ret_subclass = false;
	for (unsigned i = 0; type; i++, type = base, *ret_subclass = true) {
		if (i >= BASES_MAX || !get_type(r, type, name, &flags, &base))
			return false;
		for (size_t k = 0; k < FZ_ARRAY_LEN(kinds) && !(flags & HEAP_TYPE); k++)
			if (strcmp(name, kinds[k].name) == 0) {
				*ret = &kinds[k];
				return true;
			}
	}
	return true;
}

static bool add_value(struct value *v, uint64_t object, struct fz_buf *type_name)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	const struct kind *kind;
	uint64_t type;
	bool subclass;

	if (!object || object % 8 || !get_word(v->r, object + v->r->layout->object.type, &type) ||
	    !find_kind(v->r, type, &kind, &subclass) || !add_type_name(v->r, type, &name))
		return false;
	if (type_name)
		fz_buf_add(type_name, name.p, name.n);
	if (!kind) {
		fz_buf_printf(v->out, "<%s at 0x%llx>", fz_buf_view(&name).p,
			      (unsigned long long)object);
		return true;
	}
	bool named = (subclass && kind->add != add_class) || kind->named;
	if (named)
		fz_buf_printf(v->out, "%s(", fz_buf_view(&name).p);
	if (!kind->add(v, object))
		return false;
	fz_buf_str(v->out, named ? ")" : "");
	return true;
}

bool fz_py_value_read(struct fz_py_value_reader *r, uint64_t object, struct fz_buf *type,
		      struct fz_buf *value)
{
	struct value v = { .r = r, .out = value, .start = value->n };

	return add_value(&v, object, type);
}

bool fz_py_value_open_cell(struct fz_py_value_reader *r, uint64_t *object)
{
	char name[NAME_MAX + 1];
	uint64_t type, flags, base;

	if (*object % 8 || !get_word(r, *object + r->layout->object.type, &type) ||
	    !get_type(r, type, name, &flags, &base))
		return false;
	if (strcmp(name, "cell") != 0 || (flags & HEAP_TYPE))
		return true;
	return get_word(r, *object + header(r), object);
}

/* ---- tuples of names ---- */

bool fz_py_value_tuple_size(struct fz_py_value_reader *r, uint64_t tuple, uint64_t *ret)
{
	return tuple && get_word(r, tuple + header(r), ret);
}

bool fz_py_value_tuple_item(struct fz_py_value_reader *r, uint64_t tuple, uint64_t i, uint64_t *ret)
{
	return get_word(r, tuple + r->layout->tuple.items + 8 * i, ret);
}
