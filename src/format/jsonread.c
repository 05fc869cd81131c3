/* SPDX-License-Identifier: MIT */
/* Finds the extents of JSON values; Jansson parses them. */
#include "jsonread.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>

/* Memory of a parsed value per byte of its text. */
enum { PARSED_RATIO = 13 };

enum { CHUNK = 1 << 18, VALUE_MAX = 256 << 20 };

void fz_jsonread_release(json_t **v)
{
	json_decref(*v);
}

/* ---- invalid JSON of other writers ---- */

/* Length of the escape or character at p, in a string; *ret is the code unit of a \u escape, else
 * 0. */
static size_t string_unit(const char *p, size_t n, uint32_t *ret)
{
	char digits[5] = { 0 };
	char *end;

	*ret = 0;
	if (*p != '\\')
		return fz_utf8_decode(p, n, ret) * ((uint8_t)*p >= ' ');
	if (n < 6 || p[1] != 'u')
		return FZ_MIN(n, 2);
	memcpy(digits, p + 2, 4);
	*ret = (uint32_t)strtoul(digits, &end, 16);
	return *end ? 2 : 6;
}

/* Copies one character of a string; one that is invalid becomes U+FFFD, and a control character its
 * escape. */
static size_t mend_string(struct fz_buf *to, const char *p, size_t n)
{
	uint32_t code, low = 0;
	size_t used = string_unit(p, n, &code);

	if (used == 6 && code >= 0xd800 && code < 0xdc00 && n - 6 >= 6 &&
	    string_unit(p + 6, n - 6, &low) == 6 && low >= 0xdc00 && low < 0xe000)
		used = 12;
	if (!used && (uint8_t)*p < ' ')
		fz_buf_printf(to, "\\u%04x", (uint8_t)*p);
	else if (!used || (used == 6 && code >= 0xd800 && code < 0xe000))
		fz_buf_str(to, "\\ufffd");
	else
		fz_buf_add(to, p, used);
	return FZ_MAX(used, 1);
}

/* Copies a byte outside strings; writes NaN and infinities as null. */
static size_t mend_value(struct fz_buf *to, const char *p, size_t n)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
	struct fz_str rest = { p, n };

	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++)
		if (fz_str_starts(rest, words[i])) {
			fz_buf_str(to, "null");
			return strlen(words[i]);
		}
	fz_buf_char(to, *p);
	return 1;
}

/* Copies text as valid JSON: Python's json writes NaN and lone surrogates (of file names that are
 * not UTF-8), and C programs write bytes without escapes. */
static void mend(struct fz_buf *to, const char *p, size_t n)
{
	bool string = false;

	for (size_t i = 0; i < n;) {
		if (p[i] == '"')
			string = !string;
		i += string && p[i] != '"' ? mend_string(to, p + i, n - i)
					   : mend_value(to, p + i, n - i);
	}
}

/* Parses a value. Retries with invalid text mended, and with all numbers as doubles if an integer
 * exceeds int64_t. */
static json_t *parse(const char *p, size_t n, size_t more_flags, json_error_t *why)
{
	fz_auto(fz_buf_release) struct fz_buf mended = { 0 };
	size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY | more_flags;
	json_t *v = json_loadb(p, n, flags, why);
	enum json_error_code code = v ? json_error_unknown : json_error_code(why);

	if (code == json_error_invalid_utf8 || code == json_error_invalid_syntax) {
		mend(&mended, p, n);
		p = mended.p;
		n = mended.n;
		v = json_loadb(p, n, flags, why);
	}
	if (!v && json_error_code(why) == json_error_numeric_overflow)
		v = json_loadb(p, n, flags | JSON_DECODE_INT_AS_REAL, why);
	return v;
}

static int fail_json(const char *name, const json_error_t *why, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "%s: is not valid JSON: %s, on line %d", name, why->text,
		       why->line);
}

/* Skips the text up to and including the mark. */
static bool skip_to(struct fz_str *s, const char *mark)
{
	const char *at = s->n ? memmem(s->p, s->n, mark, strlen(mark)) : NULL;

	if (!at)
		return false;
	at += strlen(mark);
	s->n -= (size_t)(at - s->p);
	s->p = at;
	return true;
}

static int load(struct fz_input *in, const char *mark, json_t **ret, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	json_error_t why;
	int r = fz_input_read_all(in, &text, FZ_JSONREAD_MAX, err);

	if (r == FZ_ELIMIT && text.n == FZ_JSONREAD_MAX)
		return fz_fail(err, r,
			       "%s: more than %d MiB of JSON, which would need gigabytes of "
			       "memory; record a shorter time or use another format",
			       fz_input_name(in), (int)(FZ_JSONREAD_MAX >> 20));
	if (r)
		return r;
	struct fz_str s = fz_buf_view(&text);
	if (mark && !skip_to(&s, mark))
		return fz_fail(err, FZ_EINPUT, "%s: the page has no data, or is of another version",
			       fz_input_name(in));
	if (!fz_input_charge(in, s.n * PARSED_RATIO))
		return fz_input_check(in, err);
	json_t *v = parse(s.p, s.n, mark ? JSON_DISABLE_EOF_CHECK : 0, &why);
	if (!v)
		return fail_json(fz_input_name(in), &why, err);
	*ret = v;
	return 0;
}

int fz_jsonread_load(struct fz_input *in, json_t **ret, struct fz_error *err)
{
	return load(in, NULL, ret, err);
}

int fz_jsonread_load_after(struct fz_input *in, const char *mark, json_t **ret,
			   struct fz_error *err)
{
	return load(in, mark, ret, err);
}

struct fz_str fz_jsonread_str(const json_t *v)
{
	if (!json_is_string(v))
		return FZ_STR("");
	return (struct fz_str){ json_string_value(v), json_string_length(v) };
}

double fz_jsonread_number(const json_t *v, double otherwise)
{
	if (json_is_number(v))
		return json_number_value(v);
	if (!json_is_string(v) || !json_string_length(v))
		return otherwise;
	char *end;
	double d = strtod(json_string_value(v), &end);
	return *end || !isfinite(d) ? otherwise : d;
}

int64_t fz_jsonread_int(const json_t *v, int64_t otherwise)
{
	if (json_is_integer(v))
		return json_integer_value(v);
	double d = fz_jsonread_number(v, NAN);
	return d >= -9e18 && d <= 9e18 ? (int64_t)d : otherwise;
}

/* ---- recognising ---- */

/* Returns the end of the string that starts at i. */
static size_t skip_string(const uint8_t *p, size_t n, size_t i)
{
	for (i++; i < n && p[i] != '"'; i++)
		i += p[i] == '\\';
	return i + 1;
}

/* Returns the offset of the value of a key at that depth; 0 if there is none. */
static size_t find_key(const uint8_t *p, size_t n, unsigned depth, const char *key)
{
	size_t length = strlen(key);
	unsigned level = 0;

	for (size_t i = 0; i < n;) {
		uint8_t c = p[i];
		if (c != '"') {
			level += c == '{' || c == '[';
			level -= (c == '}' || c == ']') && level;
			i++;
			continue;
		}
		size_t end = skip_string(p, n, i), after = end;
		while (after < n && isspace(p[after]))
			after++;
		if (level == depth && after < n && p[after] == ':' && end - i == length + 2 &&
		    memcmp(p + i + 1, key, length) == 0)
			return after + 1;
		i = end;
	}
	return 0;
}

bool fz_jsonread_has_key(const uint8_t *p, size_t n, unsigned depth, const char *key)
{
	/* Most readers look for keys in files that are not JSON. */
	return memchr(p, '"', n) && find_key(p, n, depth, key);
}

/* ---- streams ---- */

void fz_jsonread_stream_release(struct fz_jsonread_stream *s)
{
	fz_buf_release(&s->buf);
}

/* Reads more bytes into the buffer, dropping consumed ones. */
static bool read_more(struct fz_jsonread_stream *s)
{
	if (s->end || s->code)
		return false;
	if (s->at) {
		memmove(s->buf.p, s->buf.p + s->at, s->buf.n - s->at);
		s->buf.n -= s->at;
		s->at = 0;
	}
	char *room = fz_buf_reserve(&s->buf, CHUNK);
	int64_t n = fz_input_read(s->in, room, CHUNK, s->err);
	if (n < 0)
		s->code = (int)n;
	s->end = n < CHUNK;
	s->buf.n += n > 0 ? (size_t)n : 0;
	return n > 0;
}

int fz_jsonread_peek(struct fz_jsonread_stream *s)
{
	for (;;) {
		while (s->at < s->buf.n && isspace((uint8_t)s->buf.p[s->at]))
			s->at++;
		if (s->at < s->buf.n)
			return s->code ? -1 : (uint8_t)s->buf.p[s->at];
		if (!read_more(s))
			return -1;
	}
}

void fz_jsonread_take(struct fz_jsonread_stream *s)
{
	if (s->at < s->buf.n)
		s->at++;
}

/* State of the scan of one value. */
struct scan {
	size_t n;     /* bytes seen */
	int level;    /* open brackets */
	bool text;    /* inside a string */
	bool escaped; /* after a backslash */
};

/* Scans one byte of a value. True at the end of the value; *ret_with: the byte belongs to it. */
static bool scan_byte(struct scan *x, char c, bool *ret_with)
{
	*ret_with = true;
	if (x->escaped) {
		x->escaped = false;
	} else if (x->text) {
		x->escaped = c == '\\';
		x->text = c != '"';
		return !x->text && !x->level;
	} else if (c == '"') {
		x->text = true;
	} else if (c == '{' || c == '[') {
		x->level++;
	} else if (c == '}' || c == ']') {
		*ret_with = x->level > 0;
		return --x->level <= 0;
	} else if (!x->level && (c == ',' || c == ':' || isspace((uint8_t)c))) {
		*ret_with = false;
		return true;
	}
	return false;
}

/* Returns the length of the value at the cursor, which is then in the buffer; 0 if it does not end.
 * With `drop`, the value is skipped and not buffered. */
static size_t find_end(struct fz_jsonread_stream *s, bool drop)
{
	struct scan x = { 0 };
	bool with;

	for (;;) {
		while (s->at + x.n < s->buf.n) {
			bool end = scan_byte(&x, s->buf.p[s->at + x.n], &with);
			x.n += !end || with;
			if (end)
				return x.n;
		}
		if (drop) {
			s->at += x.n;
			x.n = 0;
		}
		if (x.n > VALUE_MAX) {
			s->code = fz_fail(s->err, FZ_ELIMIT, "%s: a value of more than %d MiB",
					  fz_input_name(s->in), VALUE_MAX >> 20);
			return 0;
		}
		if (!read_more(s)) {
			s->cut = x.level > 0 || x.text;
			return 0;
		}
	}
}

json_t *fz_jsonread_value(struct fz_jsonread_stream *s)
{
	json_error_t why;

	if (fz_jsonread_peek(s) < 0)
		return NULL;
	size_t n = find_end(s, false);
	if (!n)
		return NULL;
	json_t *v = parse(s->buf.p + s->at, n, 0, &why);
	s->at += n;
	s->last = n;
	if (!v)
		s->code = fz_fail(s->err, FZ_EINPUT, "%s: is not valid JSON: %s",
				  fz_input_name(s->in), why.text);
	return v;
}

/* Parses "1732107141551429.079" and subtracts `origin`; a double holds the difference to a
 * thousandth. */
static bool parse_since(struct fz_str s, int64_t origin, double *ret)
{
	size_t n = 0;
	uint64_t whole;
	double fraction = 0;

	while (n < s.n && isdigit((uint8_t)s.p[n]))
		n++;
	struct fz_str tail = { s.p + n, 0 };
	while (n + tail.n < s.n && strchr(".0123456789eE+-", tail.p[tail.n]))
		tail.n++;
	if (!fz_parse_u64((struct fz_str){ s.p, n }, INT64_MAX, &whole) ||
	    (tail.n && !fz_parse_decimal(tail, &fraction)))
		return false;
	*ret = (double)((int64_t)whole - origin) + fraction;
	return true;
}

double fz_jsonread_since(const struct fz_jsonread_stream *s, const json_t *last, const char *key,
			 int64_t origin)
{
	const json_t *v = json_object_get(last, key);
	const char *text = s->buf.p + s->at - s->last;
	double since;

	if (json_is_integer(v) && origin >= 0 && json_integer_value(v) >= 0)
		return (double)(json_integer_value(v) - origin);
	size_t at = json_is_real(v) && origin >= 0
			    ? find_key((const uint8_t *)text, s->last, 1, key)
			    : 0;
	struct fz_str number = { text + at, at ? s->last - at : 0 };
	if (at && parse_since(fz_str_trimmed(number), origin, &since))
		return since;
	return fz_jsonread_number(v, NAN) - (double)origin;
}

bool fz_jsonread_skip(struct fz_jsonread_stream *s)
{
	if (fz_jsonread_peek(s) < 0)
		return false;
	size_t n = find_end(s, true);
	s->at += n;
	return n > 0;
}

/* Visits elements up to the bracket. False if the visitor stopped, or at the end of the input. */
static bool visit_array(struct fz_jsonread_stream *s, fz_jsonread_visit *visit, void *arg)
{
	int c;

	fz_jsonread_take(s);
	while ((c = fz_jsonread_peek(s)) >= 0) {
		if (c == ',' || c == ']')
			fz_jsonread_take(s);
		if (c == ']')
			return true;
		if (c == ',')
			continue;
		json_t *v = fz_jsonread_value(s);
		bool more = v && visit(arg, v);
		json_decref(v);
		if (!more)
			return false;
	}
	return false;
}

static bool visit_member(struct fz_jsonread_stream *s, const char *wanted, fz_jsonread_visit *visit,
			 void *arg)
{
	json_t *key = fz_jsonread_value(s);
	bool is_wanted = key && fz_str_eq(fz_jsonread_str(key), fz_str_of(wanted));
	bool ok = key && fz_jsonread_peek(s) == ':';

	json_decref(key);
	if (!ok)
		return false;
	fz_jsonread_take(s);
	return is_wanted && fz_jsonread_peek(s) == '[' ? visit_array(s, visit, arg)
						       : fz_jsonread_skip(s);
}

void fz_jsonread_each(struct fz_jsonread_stream *s, const char *key, fz_jsonread_visit *visit,
		      void *arg)
{
	int c = fz_jsonread_peek(s);

	if (c == '[')
		visit_array(s, visit, arg);
	if (c != '{')
		return;
	fz_jsonread_take(s);
	while ((c = fz_jsonread_peek(s)) >= 0 && c != '}') {
		if (c == ',')
			fz_jsonread_take(s);
		else if (!visit_member(s, key, visit, arg))
			break;
	}
	s->cut |= fz_jsonread_peek(s) < 0;
}
