/* SPDX-License-Identifier: MIT */
/* Writes the records of CPython 3.15's --jsonl, version 0, one JSON object per line:
 *
 *   meta, string_table ..., frame_table ..., agg ..., end
 *
 * Tables and aggregates come in chunks of at most 256 entries. A frame is a position: file,
 * function, line, end line and columns; unknown ones are omitted. "self" counts samples with it
 * innermost, "cumulative" samples with it on the stack. The run's id is a hash of the contents, so
 * the same recording always produces the same bytes.
 */
#include "format.h"

#include "base/json.h"
#include "profile/places.h"

#include <stdio.h>

enum { CHUNK = 256 };

struct writer {
	const struct fz_profile *p;
	struct fz_output *out;
	struct fz_places places;
	char run_id[33];
	uint32_t *string_id; /* of the profile's strings; FZ_NONE: not used */
	uint32_t *strings;   /* those used, by id */
	uint32_t string_count;
	uint32_t *frames; /* places with a cost, by id */
	uint32_t frame_count;
};

static void begin_record(struct writer *w, struct fz_json *j, const char *type)
{
	fz_json_init(j, w->out, 0);
	fz_json_open(j, '{');
	fz_json_kstr(j, "type", fz_str_of(type));
	fz_json_kint(j, "v", 0);
	fz_json_kstr(j, "run_id", fz_str_of(w->run_id));
}

static void end_record(struct fz_json *j)
{
	fz_json_close(j, '}');
}

/* ---- numbering ---- */

/* String id of a function's file; a missing file is "~", whose index is the number of strings. */
static uint32_t file_string(const struct fz_profile *p, const struct fz_function *f)
{
	return f->file ? f->file : p->string_count;
}

static void number_string(struct writer *w, uint32_t string)
{
	if (w->string_id[string] != FZ_NONE)
		return;
	w->string_id[string] = w->string_count;
	w->strings[w->string_count++] = string;
}

static struct fz_str string_text(const struct writer *w, uint32_t string)
{
	return string == w->p->string_count ? FZ_STR("~") : w->p->strings[string];
}

static void number_all(struct writer *w)
{
	const struct fz_profile *p = w->p;

	w->string_id = fz_malloc((p->string_count + 1ul) * sizeof(*w->string_id));
	memset(w->string_id, 0xff, (p->string_count + 1ul) * sizeof(*w->string_id));
	w->strings = fz_calloc(p->string_count + 1ul, sizeof(*w->strings));
	w->frames = fz_calloc(w->places.n + 1ul, sizeof(*w->frames));
	for (uint32_t i = 0; i < w->places.n; i++) {
		const struct fz_function *f = fz_place_function(p, &w->places.list[i]);
		if (!w->places.list[i].total_samples)
			continue;
		w->frames[w->frame_count++] = i;
		number_string(w, f->name);
		number_string(w, file_string(p, f));
	}
}

/* Sets the id to 32 hexadecimal digits in the form of a random UUID, hashed from costs and
 * names. */
static void make_run_id(struct writer *w)
{
	uint64_t a = w->places.samples, b = (uint64_t)w->places.sum;

	for (uint32_t i = 0; i < w->string_count; i++) {
		struct fz_str s = string_text(w, w->strings[i]);
		a = fz_hash64(a ^ fz_hash_bytes(s.p, s.n));
	}
	for (uint32_t i = 0; i < w->frame_count; i++) {
		const struct fz_place *place = &w->places.list[w->frames[i]];
		b = fz_hash64(b ^ FZ_KEY(place->line, place->self_samples) ^ place->total_samples);
	}
	a = (a & ~(uint64_t)0xf000) | 0x4000;
	b = (b & ~((uint64_t)3 << 62)) | (uint64_t)2 << 62;
	snprintf(w->run_id, sizeof(w->run_id), "%016llx%016llx", (unsigned long long)a,
		 (unsigned long long)b);
}

/* ---- records ---- */

static void write_meta(struct writer *w)
{
	const struct fz_recording *r = &w->p->recording;
	struct fz_json j;

	begin_record(w, &j, "meta");
	fz_json_kint(&j, "sample_interval_usec", r->interval_ns / 1000);
	if (r->mode != FZ_MODE_UNKNOWN)
		fz_json_kstr(&j, "mode", fz_str_of(fz_mode_names[r->mode]));
	end_record(&j);
}

static void string_entry(struct writer *w, struct fz_json *j, uint32_t id)
{
	fz_json_kint(j, "str_id", id);
	fz_json_kstr(j, "value", string_text(w, w->strings[id]));
}

static void frame_entry(struct writer *w, struct fz_json *j, uint32_t id)
{
	const struct fz_place *place = &w->places.list[w->frames[id]];
	const struct fz_frame *frame = &w->p->frames[place->frame];
	const struct fz_function *f = &w->p->functions[frame->function];

	fz_json_kint(j, "frame_id", id);
	fz_json_kint(j, "path_str_id", w->string_id[file_string(w->p, f)]);
	fz_json_kint(j, "func_str_id", w->string_id[f->name]);
	fz_json_kint(j, "line", place->line);
	if (frame->end_line > 0)
		fz_json_kint(j, "end_line", frame->end_line);
	if (frame->column >= 0)
		fz_json_kint(j, "col", frame->column);
	if (frame->end_column >= 0)
		fz_json_kint(j, "end_col", frame->end_column);
}

static void cost_entry(struct writer *w, struct fz_json *j, uint32_t id)
{
	const struct fz_place *place = &w->places.list[w->frames[id]];

	fz_json_kint(j, "frame_id", id);
	fz_json_kint(j, "self", (int64_t)place->self_samples);
	fz_json_kint(j, "cumulative", (int64_t)place->total_samples);
}

static const struct table {
	const char *type, *key;
	bool aggregate;
	void (*entry)(struct writer *w, struct fz_json *j, uint32_t id);
} tables[] = {
	{ "string_table", "strings", false, string_entry },
	{ "frame_table", "frames", false, frame_entry },
	{ "agg", "entries", true, cost_entry },
};

static void write_table(struct writer *w, const struct table *t, uint32_t count)
{
	struct fz_json j;

	for (uint32_t from = 0; from < count; from += CHUNK) {
		begin_record(w, &j, t->type);
		if (t->aggregate) {
			fz_json_kstr(&j, "kind", FZ_STR("frame"));
			fz_json_kstr(&j, "scope", FZ_STR("final"));
			fz_json_kint(&j, "samples_total", (int64_t)w->places.samples);
		}
		fz_json_kopen(&j, t->key, '[');
		for (uint32_t id = from; id < count && id < from + CHUNK; id++) {
			fz_json_open(&j, '{');
			t->entry(w, &j, id);
			fz_json_close(&j, '}');
		}
		fz_json_close(&j, ']');
		end_record(&j);
	}
}

static void write_end(struct writer *w)
{
	struct fz_json j;

	begin_record(w, &j, "end");
	fz_json_kint(&j, "samples_total", (int64_t)w->places.samples);
	end_record(&j);
}

int fz_jsonl_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	struct writer w = { .p = p, .out = out };

	(void)err;
	fz_places_init(&w.places, p, FZ_PLACE_SPAN, FZ_METRIC_SAMPLES);
	number_all(&w);
	make_run_id(&w);
	write_meta(&w);
	for (size_t i = 0; i < FZ_ARRAY_LEN(tables); i++)
		write_table(&w, &tables[i], i == 0 ? w.string_count : w.frame_count);
	write_end(&w);
	fz_places_release(&w.places);
	free(w.string_id);
	free(w.strings);
	free(w.frames);
	return 0;
}
