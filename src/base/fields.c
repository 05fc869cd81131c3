/* SPDX-License-Identifier: MIT */
/* Fields of rows as JSON or CSV; see fields.h. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>

void fz_fields_begin(struct fz_fields *f)
{
	fz_assert(!f->json != !f->csv);
	f->comma = false;
	if (f->json)
		fz_json_open(f->json, '{');
}

void fz_fields_end(struct fz_fields *f)
{
	fz_assert(f->depth == 0);
	if (f->json)
		fz_json_close(f->json, '}');
	else
		fz_output_str(f->csv, "\n");
}

void fz_fields_open(struct fz_fields *f, const char *key)
{
	fz_assert(f->depth < FZ_FIELDS_DEPTH);
	f->groups[f->depth++] = key;
	if (f->json && !f->absent)
		fz_json_kopen(f->json, key, '{');
}

void fz_fields_close(struct fz_fields *f)
{
	fz_assert(f->depth > 0);
	f->depth--;
	if (f->json && !f->absent)
		fz_json_close(f->json, '}');
}

/* Adds the key or the title, if any; returns whether a value follows. */
static bool begin_field(struct fz_fields *f, const char *key)
{
	if (f->json) {
		if (!f->absent)
			fz_json_key(f->json, key);
		return !f->absent;
	}
	if (f->comma)
		fz_output_str(f->csv, ",");
	f->comma = true;
	if (!f->titles)
		return !f->absent;
	for (unsigned i = 0; i < f->depth; i++)
		fz_output_printf(f->csv, "%s.", f->groups[i]);
	fz_output_str(f->csv, key);
	return false;
}

static bool is_formula(struct fz_str s)
{
	return s.n && memchr("=+-@", s.p[0], 4);
}

static void add_text(struct fz_output *csv, struct fz_str s)
{
	size_t size = 4 * s.n + 1; /* a byte becomes \xHH */
	fz_auto(fz_free_ptr) char *text = fz_malloc(size);
	struct fz_str rest = { text, fz_str_printable(s.p, s.n, text, size) };
	const char *quote = memchr(text, '"', rest.n) || memchr(text, ',', rest.n) ? "\"" : "";

	fz_output_printf(csv, "%s%s", quote, is_formula(rest) ? "'" : "");
	for (const char *end; (end = memchr(rest.p, '"', rest.n));) {
		size_t n = (size_t)(end - rest.p) + 1;
		fz_output_add(csv, rest.p, n);
		fz_output_str(csv, "\"");
		rest = (struct fz_str){ rest.p + n, rest.n - n };
	}
	fz_output_add(csv, rest.p, rest.n);
	fz_output_str(csv, quote);
}

void fz_field_str(struct fz_fields *f, const char *key, struct fz_str s)
{
	if (!begin_field(f, key))
		return;
	if (f->json)
		fz_json_str(f->json, s);
	else
		add_text(f->csv, s);
}

void fz_field_int(struct fz_fields *f, const char *key, int64_t v)
{
	if (!begin_field(f, key))
		return;
	if (f->json)
		fz_json_int(f->json, v);
	else
		fz_output_printf(f->csv, "%" PRId64, v);
}

void fz_field_double(struct fz_fields *f, const char *key, double v)
{
	char text[FZ_JSON_NUMBER_SIZE];

	if (!begin_field(f, key))
		return;
	if (f->json) {
		fz_json_double(f->json, v);
	} else if (isfinite(v)) {
		fz_json_format(v, text);
		fz_output_str(f->csv, text);
	}
}
