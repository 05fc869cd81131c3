/* SPDX-License-Identifier: MIT */
/* Reads the output of Rprof (R).
 *
 *   line profiling: sample.interval=20000     microseconds
 *   #File 1: app.R
 *   1#3 "f" 1#7 "main"                        a sample: place and function, innermost first
 *   :2101:33:1000:5:"f" "main"                the same with memory profiling
 *
 * The file does not say whether the interval is CPU time or elapsed time, so samples are counted.
 */
#include "format.h"
#include "import.h"

enum { MEMORY_COLONS = 5 };

struct reader {
	struct fz_profile *p;
	uint32_t thread;
	struct fz_map file_of; /* number -> string */
	struct fz_import_frame *frames;
	uint32_t n, cap;
};

/* "20000" of the first line, which may name several kinds of profiling; empty if it is another. */
static struct fz_str interval_of(struct fz_str line)
{
	static const char mark[] = "sample.interval=";
	const char *at = line.n ? memmem(line.p, line.n, mark, sizeof(mark) - 1) : NULL;

	if (!at || (at > line.p && !memmem(line.p, (size_t)(at - line.p), "profiling: ", 11)))
		return FZ_STR("");
	at += sizeof(mark) - 1;
	return fz_str_trimmed((struct fz_str){ at, (size_t)(line.p + line.n - at) });
}

/* Takes the text up to a byte, which is dropped. */
static bool take_until(struct fz_str *s, char end, struct fz_str *ret)
{
	const char *at = s->n ? memchr(s->p, end, s->n) : NULL;

	if (!at)
		return false;
	*ret = (struct fz_str){ s->p, (size_t)(at - s->p) };
	*s = (struct fz_str){ at + 1, s->n - ret->n - 1 };
	return true;
}

/* "1: app.R" */
static void read_file(struct reader *r, struct fz_str rest)
{
	struct fz_str word;
	uint64_t number;

	if (take_until(&rest, ':', &word) && fz_parse_u64(word, UINT32_MAX, &number))
		fz_map_put(&r->file_of, number, fz_profile_string(r->p, fz_str_trimmed(rest)));
}

/* "1#3", the place in the function whose name follows */
static void take_place(struct reader *r, struct fz_str *s, struct fz_import_frame *f)
{
	struct fz_str rest = *s, place = fz_str_take_word(&rest), word;
	uint64_t file, line;

	if (!take_until(&place, '#', &word) || !fz_parse_u64(word, UINT32_MAX, &file) ||
	    !fz_parse_u64(place, INT32_MAX, &line))
		return;
	uint32_t path = fz_map_get(&r->file_of, file);
	if (path != FZ_NONE) {
		f->file = fz_profile_text(r->p, path);
		f->line = (int32_t)line;
	}
	*s = fz_str_trimmed(rest);
}

/* A name in quotes */
static bool take_frame(struct reader *r, struct fz_str *s)
{
	struct fz_import_frame f = { 0 };
	struct fz_str empty;

	take_place(r, s, &f);
	if (!take_until(s, '"', &empty) || empty.n || !take_until(s, '"', &f.name))
		return false;
	if (fz_str_eq(f.name, FZ_STR("<GC>")))
		f.kind = FZ_KIND_MARKER;
	*s = fz_str_trimmed(*s);
	fz_profile_push(r->p, r->frames, r->n, r->cap, f);
	return true;
}

static void add_sample(struct reader *r)
{
	uint32_t stack = FZ_NONE;

	for (uint32_t i = r->n; i-- > 0;)
		stack = fz_profile_stack(r->p, stack, fz_import_frame(r->p, &r->frames[i]));
	struct fz_sample s = {
		.thread = r->thread, .stack = stack, .status = FZ_STATUS_UNKNOWN, .count = 1
	};
	fz_profile_add_sample(r->p, &s, NULL);
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	static const char file[] = "#File ";
	struct reader *r = arg;
	struct fz_str interval = interval_of(line), memory;
	uint64_t us;

	(void)err;
	if (fz_parse_u64(interval, INT64_MAX / 1000, &us)) {
		r->p->recording.interval_ns = (int64_t)us * 1000;
		return 0;
	}
	if (fz_str_starts(line, file)) {
		read_file(r,
			  (struct fz_str){ line.p + sizeof(file) - 1, line.n - sizeof(file) + 1 });
		return 0;
	}
	if (fz_str_starts(line, ":"))
		for (int i = 0; i < MEMORY_COLONS; i++)
			take_until(&line, ':', &memory);
	line = fz_str_trimmed(line);
	r->n = 0;
	while (line.n && take_frame(r, &line))
		;
	if (r->n && !line.n)
		add_sample(r);
	else
		r->p->skipped_lines++;
	return 0;
}

static void release(struct reader *r)
{
	fz_map_release(&r->file_of);
	free(r->frames);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p };

	fz_profile_add_metric(p, FZ_STR("samples"), FZ_STR("count"), 1, false);
	r.thread = fz_profile_thread(p, &(struct fz_thread){ .is_main = true });
	p->samples.timed = p->samples.ordered = false;
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);
	if (!code && !p->samples.n)
		code = fz_fail(err, FZ_EINPUT, "%s: no samples", fz_input_name(in));
	return code;
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str rest = { (const char *)head, n };

	(void)name;
	return interval_of(fz_str_take_line(&rest)).n ? 90 : 0;
}

const struct fz_format fz_format_rprof = {
	.name = "rprof",
	.title = "output of R's Rprof",
	.suffixes = ".out",
	.notes = "samples, with lines if recorded; memory is dropped",
	.sniff = sniff,
	.read = read,
};
