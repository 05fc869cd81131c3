/* SPDX-License-Identifier: MIT */
/* Writes pprof's profile.proto, and defines the format.
 *
 * Ids are indices plus one: a location for each frame, a function for each function, in the
 * profile's order. Rows of one thread and stack are summed, in order of first occurrence. The
 * message grows in a buffer that is compressed and written piece by piece.
 */
#include "pprof.h"

#include "format.h"
#include "wire.h"

#include <zlib.h>

enum { PIECE = 1 << 18, BITS_GZIP = 15 + 16 };

/* Strings of the profile keep their indices; `extra` ones follow. */
struct writer {
	const struct fz_profile *p;
	struct fz_output *out;
	struct fz_buf buf;   /* of the message, not compressed yet */
	struct fz_buf part;  /* nested message */
	struct fz_buf inner; /* message nested in that */
	z_stream z;
	const char **extra; /* strings */
	uint32_t extra_count, extra_cap;
	uint32_t *mapping_of; /* module string -> mapping id, 0: none */
	uint32_t mapping_count;
	/* rows summed */
	struct entry {
		uint32_t thread, stack;
	} * entries;
	uint32_t entry_count, entry_cap;
	int64_t *values; /* entry_count * columns */
	uint32_t columns;
	bool add_samples; /* no metric counts samples, so the first column does */
};

/* ---- packing ---- */

static void pack(struct writer *w, bool last)
{
	uint8_t room[1 << 14];

	w->z.next_in = (Bytef *)w->buf.p;
	w->z.avail_in = (uInt)w->buf.n;
	do {
		w->z.next_out = room;
		w->z.avail_out = sizeof(room);
		deflate(&w->z, last ? Z_FINISH : Z_NO_FLUSH);
		fz_output_add(w->out, room, sizeof(room) - w->z.avail_out);
	} while (w->z.avail_out == 0);
	fz_buf_reset(&w->buf);
}

static void put_part(struct writer *w, uint32_t field)
{
	fz_wire_put_message(&w->buf, field, &w->part);
	fz_buf_reset(&w->part);
	if (w->buf.n >= PIECE)
		pack(w, false);
}

static void put_inner(struct writer *w, uint32_t field)
{
	fz_wire_put_message(&w->part, field, &w->inner);
	fz_buf_reset(&w->inner);
}

static uint64_t extra_string(struct writer *w, const char *s)
{
	for (uint32_t i = 0; i < w->extra_count; i++)
		if (strcmp(w->extra[i], s) == 0)
			return w->p->string_count + i;
	fz_push(w->extra, w->extra_count, w->extra_cap, s);
	return w->p->string_count + w->extra_count - 1;
}

/* ---- values ---- */

static const char *their_unit(const char *unit)
{
	return strcmp(unit, "ns") == 0 ? "nanoseconds" : unit;
}

static void put_type(struct writer *w, uint32_t field, const char *name, const char *unit)
{
	fz_wire_put(&w->part, 1, extra_string(w, name));
	fz_wire_put(&w->part, 2, extra_string(w, their_unit(unit)));
	put_part(w, field);
}

static void put_types(struct writer *w)
{
	const struct fz_profile *p = w->p;

	if (w->add_samples)
		put_type(w, 1, "samples", "count");
	for (uint32_t i = 0; i < p->metric_count; i++)
		put_type(w, 1, p->metrics[i].name, p->metrics[i].unit);
}

static void put_facts(struct writer *w)
{
	const struct fz_profile *p = w->p;
	const struct fz_recording *r = &p->recording;

	if (p->run_count)
		fz_wire_put(&w->buf, 9, (uint64_t)p->runs[0].start_unix_ns);
	fz_wire_put(&w->buf, 10, (uint64_t)r->duration_ns);
	if (r->interval_ns > 0) {
		put_type(w, 11, r->mode == FZ_MODE_CPU ? "cpu" : "wall", "ns");
		fz_wire_put(&w->buf, 12, (uint64_t)r->interval_ns);
	}
	if (p->metric_count)
		fz_wire_put(&w->buf, 14, extra_string(w, p->metrics[p->default_metric].name));
}

/* ---- tables ---- */

static void put_mappings(struct writer *w)
{
	const struct fz_profile *p = w->p;

	w->mapping_of = fz_calloc(p->string_count, sizeof(*w->mapping_of));
	for (uint32_t i = 0; i < p->function_count; i++) {
		uint32_t module = p->functions[i].module;
		if (!module || w->mapping_of[module])
			continue;
		w->mapping_of[module] = ++w->mapping_count;
		fz_wire_put(&w->part, 1, w->mapping_count);
		fz_wire_put(&w->part, 5, module);
		fz_wire_put(&w->part, 7, true);
		put_part(w, 3);
	}
}

static void put_locations(struct writer *w)
{
	const struct fz_profile *p = w->p;

	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct fz_frame *f = &p->frames[i];
		fz_wire_put(&w->part, 1, (uint64_t)i + 1);
		fz_wire_put(&w->part, 2, w->mapping_of[p->functions[f->function].module]);
		fz_wire_put(&w->inner, 1, (uint64_t)f->function + 1);
		fz_wire_put(&w->inner, 2, (uint64_t)FZ_MAX(f->line, 0));
		fz_wire_put(&w->inner, 3, (uint64_t)(int64_t)f->column + 1);
		put_inner(w, 4);
		put_part(w, 4);
	}
}

static void put_functions(struct writer *w)
{
	const struct fz_profile *p = w->p;

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		fz_wire_put(&w->part, 1, (uint64_t)i + 1);
		fz_wire_put(&w->part, 2, f->name);
		fz_wire_put(&w->part, 3, f->name);
		fz_wire_put(&w->part, 4, f->file);
		fz_wire_put(&w->part, 5, (uint64_t)FZ_MAX(f->first_line, 0));
		put_part(w, 5);
	}
}

/* The format requires valid UTF-8. */
static struct fz_str valid_utf8(struct writer *w, struct fz_str s)
{
	uint32_t code;
	char utf8[4];

	if (fz_utf8_valid(s))
		return s;
	fz_buf_reset(&w->inner);
	for (size_t i = 0; i < s.n;) {
		size_t n = fz_utf8_decode(s.p + i, s.n - i, &code);
		fz_buf_add(&w->inner, utf8, fz_utf8_encode(n ? code : 0xfffd, utf8));
		i += n ? n : 1;
	}
	return fz_buf_view(&w->inner);
}

static void put_strings(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->string_count; i++) {
		fz_wire_put_bytes(&w->buf, 6, valid_utf8(w, w->p->strings[i]));
		if (w->buf.n >= PIECE)
			pack(w, false);
	}
	for (uint32_t i = 0; i < w->extra_count; i++)
		fz_wire_put_bytes(&w->buf, 6, fz_str_of(w->extra[i]));
}

/* ---- samples ---- */

static void sum_rows(struct writer *w)
{
	const struct fz_profile *p = w->p;
	struct fz_map known = { 0 };
	size_t cap = 0;

	w->add_samples = fz_profile_find_metric(p, FZ_STR("samples")) == FZ_NONE;
	w->columns = p->metric_count + w->add_samples;
	for (size_t row = 0; row < p->samples.n; row++) {
		uint32_t thread = p->samples.thread[row], stack = p->samples.stack[row];
		uint32_t *slot = fz_map_slot(&known, FZ_KEY(thread, stack));
		if (*slot == FZ_NONE) {
			*slot = w->entry_count;
			fz_push(w->entries, w->entry_count, w->entry_cap,
				(struct entry){ thread, stack });
			if (w->entry_cap > cap) {
				cap = w->entry_cap;
				w->values = fz_reallocarray(w->values, cap * w->columns,
							    sizeof(*w->values));
			}
			memset(&w->values[(size_t)*slot * w->columns], 0,
			       w->columns * sizeof(*w->values));
		}
		int64_t *values = &w->values[(size_t)*slot * w->columns];
		if (w->add_samples)
			*values++ += fz_sample_count_in(p, p->default_metric, row);
		for (uint32_t m = 0; m < p->metric_count; m++)
			values[m] += fz_sample_weight(p, m, row);
	}
	fz_map_release(&known);
}

static void put_label(struct writer *w, const char *key, uint64_t string, uint64_t number)
{
	if (!string && !number)
		return;
	fz_wire_put(&w->inner, 1, extra_string(w, key));
	fz_wire_put(&w->inner, 2, string);
	fz_wire_put(&w->inner, 3, number);
	put_inner(w, 3);
}

static void put_samples(struct writer *w)
{
	const struct fz_profile *p = w->p;

	for (uint32_t i = 0; i < w->entry_count; i++) {
		const struct fz_thread *t = &p->threads[w->entries[i].thread];
		uint32_t stack = w->entries[i].stack;
		for (; stack != FZ_NONE; stack = p->stacks[stack].parent)
			fz_buf_varint(&w->inner, (uint64_t)p->stacks[stack].frame + 1);
		put_inner(w, 1);
		for (uint32_t m = 0; m < w->columns; m++)
			fz_buf_varint(&w->inner, (uint64_t)w->values[(size_t)i * w->columns + m]);
		put_inner(w, 2);
		put_label(w, "pid", 0, t->pid);
		put_label(w, "thread_id", 0, t->tid);
		put_label(w, "thread_name", t->name, 0);
		put_part(w, 2);
	}
}

static void release(struct writer *w)
{
	deflateEnd(&w->z);
	fz_buf_release(&w->buf);
	fz_buf_release(&w->part);
	fz_buf_release(&w->inner);
	free(w->extra);
	free(w->mapping_of);
	free(w->entries);
	free(w->values);
}

static int write_profile(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(release) struct writer w = { .p = p, .out = out };

	(void)err;
	fz_assert(deflateInit2(&w.z, 6, Z_DEFLATED, BITS_GZIP, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	sum_rows(&w);
	put_types(&w);
	put_samples(&w);
	put_mappings(&w);
	put_locations(&w);
	put_functions(&w);
	put_facts(&w);
	put_strings(&w);
	pack(&w, true);
	return 0;
}

/* ---- the format ---- */

/* Whether the field has the type that it has in a Profile; field 1 is at most two numbers. */
static bool is_plausible(const struct fz_wire *w)
{
	static const char types[] = " bbbbbbvvvvbvnvv"; /* b: bytes, v: number, n: either */

	if (w->field >= sizeof(types) - 1)
		return false;
	char type = types[w->field];
	if ((type == 'b' && w->type != FZ_WIRE_BYTES) || (type == 'v' && w->type != FZ_WIRE_VARINT))
		return false;
	if (w->field != 1)
		return true;
	struct fz_wire inner = fz_wire_of(w->bytes);
	while (fz_wire_next(&inner))
		if (inner.field > 2 || inner.type != FZ_WIRE_VARINT)
			return false;
	return !inner.c.bad;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_wire w = fz_wire_of((struct fz_str){ (const char *)head, n });
	int fields = 0;
	bool types = false;

	(void)name;
	while (fz_wire_next(&w)) {
		if (!is_plausible(&w))
			return 0;
		types |= w.field == 1;
		fields++;
	}
	/* The buffer may cut the last field. */
	return fields >= 2 && types ? 60 : 0;
}

const struct fz_format fz_format_pprof = {
	.name = "pprof",
	.title = "pprof protocol buffer",
	.suffixes = ".pb.gz .pprof .pb",
	.notes = "every sample type is a metric; labels other than threads are dropped",
	.sniff = sniff,
	.read = fz_pprof_read,
	.write = write_profile,
	.binary = true,
};
