/* SPDX-License-Identifier: MIT */
/* Writes speedscope's JSON, and defines the format: one sampled profile for each thread, in the
 * default metric. Frames are those of the profile, including lines.
 */
#include "format.h"

#include "base/json.h"
#include "jsonread.h"

static void write_frames(struct fz_json *j, const struct fz_profile *p)
{
	fz_json_kopen(j, "shared", '{');
	fz_json_kopen(j, "frames", '[');
	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct fz_frame *f = &p->frames[i];
		const struct fz_function *function = &p->functions[f->function];
		fz_json_open(j, '{');
		fz_json_kstr(j, "name", fz_profile_text(p, function->name));
		if (function->file || function->module)
			fz_json_kstr(j, "file",
				     fz_profile_text(p, function->file ? function->file
								       : function->module));
		if (f->line > 0)
			fz_json_kint(j, "line", f->line);
		if (f->line > 0 && f->column >= 0)
			fz_json_kint(j, "col", (int64_t)f->column + 1);
		fz_json_close(j, '}');
	}
	fz_json_close(j, ']');
	fz_json_close(j, '}');
}

static void write_stack(struct fz_json *j, const struct fz_profile *p, uint32_t stack,
			struct fz_buf *scratch)
{
	uint32_t depth = stack == FZ_NONE ? 0 : p->stacks[stack].depth;
	uint32_t *frames =
		(uint32_t *)(void *)fz_buf_reserve(scratch, (size_t)depth * sizeof(*frames) + 1);

	for (uint32_t i = depth; i-- > 0; stack = p->stacks[stack].parent)
		frames[i] = p->stacks[stack].frame;
	fz_json_open(j, '[');
	for (uint32_t i = 0; i < depth; i++)
		fz_json_int(j, frames[i]);
	fz_json_close(j, ']');
}

static void write_thread_name(struct fz_json *j, const struct fz_profile *p, uint32_t thread)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	const struct fz_thread *t = &p->threads[thread];
	struct fz_str text = fz_profile_text(p, t->name);

	if (text.n)
		fz_buf_add(&name, text.p, text.n);
	else
		fz_buf_printf(&name, "%s %llu", t->is_main ? "main thread" : "thread",
			      (unsigned long long)t->tid);
	fz_json_kstr(j, "name", fz_buf_view(&name));
}

static const char *their_unit(const char *unit)
{
	return strcmp(unit, "ns") == 0      ? "nanoseconds"
	       : strcmp(unit, "bytes") == 0 ? "bytes"
					    : "none";
}

/* A file with a negative weight is refused by speedscope. */
static bool is_written(const struct fz_profile *p, size_t row)
{
	return fz_sample_weight(p, p->default_metric, row) >= 0;
}

/* Groups rows by thread, preserving their order. */
static size_t *rows_by_thread(const struct fz_profile *p, size_t *start)
{
	size_t *rows = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*rows));

	for (size_t row = 0; row < p->samples.n; row++)
		start[p->samples.thread[row] + 1] += is_written(p, row);
	for (uint32_t i = 0; i < p->thread_count; i++)
		start[i + 1] += start[i];
	fz_auto(fz_free_ptr) size_t *next = fz_calloc(p->thread_count + 1, sizeof(*next));
	memcpy(next, start, (p->thread_count + 1) * sizeof(*next));
	for (size_t row = 0; row < p->samples.n; row++)
		if (is_written(p, row))
			rows[next[p->samples.thread[row]]++] = row;
	return rows;
}

static void write_thread(struct fz_json *j, const struct fz_profile *p, uint32_t thread,
			 const size_t *rows, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf scratch = { 0 };
	const struct fz_metric *m = &p->metrics[p->default_metric];
	int64_t total = 0;

	fz_json_open(j, '{');
	fz_json_kstr(j, "type", FZ_STR("sampled"));
	write_thread_name(j, p, thread);
	fz_json_kstr(j, "unit", fz_str_of(their_unit(m->unit)));
	fz_json_kopen(j, "samples", '[');
	for (size_t i = 0; i < n; i++)
		write_stack(j, p, p->samples.stack[rows[i]], &scratch);
	fz_json_close(j, ']');
	fz_json_kopen(j, "weights", '[');
	for (size_t i = 0; i < n; i++) {
		int64_t weight = fz_sample_weight(p, p->default_metric, rows[i]);
		fz_json_int(j, weight);
		total += weight;
	}
	fz_json_close(j, ']');
	fz_json_kint(j, "startValue", 0);
	fz_json_kint(j, "endValue", total);
	fz_json_close(j, '}');
}

static int write_profile(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	fz_auto(fz_free_ptr) size_t *start = fz_calloc((size_t)p->thread_count + 1, sizeof(*start));
	fz_auto(fz_free_ptr) size_t *rows = rows_by_thread(p, start);
	struct fz_json j;

	(void)err;
	fz_json_init(&j, out, 3);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "$schema", FZ_STR("https://www.speedscope.app/file-format-schema.json"));
	fz_json_kstr(&j, "exporter", FZ_STR("fizeau " FZ_VERSION));
	write_frames(&j, p);
	fz_json_kopen(&j, "profiles", '[');
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (start[i + 1] > start[i])
			write_thread(&j, p, i, rows + start[i], start[i + 1] - start[i]);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	fz_output_str(out, "\n");
	return 0;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char schema[] = "speedscope.app/file-format-schema";

	(void)name;
	if (memmem(head, n, schema, sizeof(schema) - 1))
		return 90;
	bool shared = fz_jsonread_has_key(head, n, 1, "shared");
	bool profiles = fz_jsonread_has_key(head, n, 1, "profiles");
	return shared && profiles ? 60 : 0;
}

const struct fz_format fz_format_speedscope = {
	.name = "speedscope",
	.title = "speedscope JSON",
	.suffixes = ".speedscope.json .speedscope",
	.notes = "written: one profile per thread, the default metric; other metrics are dropped",
	.sniff = sniff,
	.read = fz_speedscope_read,
	.write = write_profile,
};
