/* SPDX-License-Identifier: MIT */
/* Reads flame graph pages of async-profiler, 3.0 and later.
 *
 *   const units = 'samples';
 *   const cpool = [
 *   'all',
 *   ' C2Compiler::compile_method',      ' ' + n: after the first n characters of the name before
 *   '!ompilation::Compilation',
 *   ];
 *   n(3,584)          name << 3 | type, total: next to the frame before
 *   f(635,1,1,178)    row, x minus that of the frame before, total
 *   u(1323)           in the row above the frame before
 *
 * Without a total, that of the frame before applies. The additional lines of a differential page
 * are skipped. A page lacks frames below its minwidth, so their cost goes to their caller.
 */
#include "flame_frames.h"
#include "format.h"
#include "import.h"

#include "base/arena.h"

enum { ROWS_MAX = 1 << 14, TYPE_BITS = 3 };

static const char pool[] = "const cpool = [";

struct reader {
	struct fz_profile *p;
	struct fz_arena names;
	struct fz_str *name;
	uint32_t name_count, name_cap;
	struct fz_flame_frames frames;
	uint32_t *open; /* frame of each row */
	uint32_t row, rows;
	uint64_t total; /* of the last frame */
	bool in_pool, past_pool, damaged;
};

static void release(struct reader *r)
{
	free(r->name);
	free(r->open);
	free(r->frames.list);
	fz_arena_release(&r->names);
}

/* Takes a character, perhaps after a backslash. */
static char take_char(struct fz_str *text)
{
	bool escaped = text->n > 1 && text->p[0] == '\\';
	char c = text->p[escaped];

	text->p += 1 + escaped;
	text->n -= 1 + escaped;
	return c;
}

/* "'!ompilation::Compilation'," */
static void read_name(struct reader *r, struct fz_str line)
{
	const char *end = memrchr(line.p, '\'', line.n);
	struct fz_str text = { line.p + 1, (size_t)(end - line.p) - (end > line.p) };
	struct fz_str last = r->name_count ? r->name[r->name_count - 1] : FZ_STR("");
	char *name = fz_arena_alloc(&r->names, last.n + text.n + 1);
	size_t n = 0;

	if (r->name_count && text.n) {
		int prefix = take_char(&text) - ' ';
		n = FZ_MIN((size_t)FZ_MAX(prefix, 0), last.n);
		memcpy(name, last.p, n);
	}
	while (text.n)
		name[n++] = take_char(&text);
	fz_profile_push(r->p, r->name, r->name_count, r->name_cap, (struct fz_str){ name, n });
}

static bool take_number(struct fz_str *rest, uint64_t *ret)
{
	return fz_parse_u64(fz_str_take_item(rest, ","), UINT64_MAX, ret);
}

/* Sets the row of a frame from the name of its function and its arguments. */
static bool read_row(struct reader *r, char function, struct fz_str *rest)
{
	uint64_t row = r->row;

	if (function == 'u')
		row++;
	else if (function == 'f') {
		if (!take_number(rest, &row))
			return false;
		fz_str_take_item(rest, ",");
	}
	if (row > r->rows || row >= ROWS_MAX || (!row && r->rows))
		return false;
	r->row = (uint32_t)row;
	return true;
}

static void add_frame(struct reader *r, uint64_t name_and_type)
{
	static const char *const suffixes[1 << TYPE_BITS] = { NULL, "_[j]", "_[i]", NULL,
							      NULL, "_[k]", NULL,   NULL };
	uint32_t parent = r->row ? r->open[r->row - 1] : 0;
	struct fz_flame_frame f = { .name = r->name[name_and_type >> TYPE_BITS],
				    .parent = parent,
				    .self = r->total,
				    .suffix = suffixes[name_and_type & ((1 << TYPE_BITS) - 1)] };

	if (r->row)
		r->frames.list[parent].self -= FZ_MIN(r->frames.list[parent].self, r->total);
	r->open[r->row] = r->frames.n;
	r->rows = r->row + 1;
	fz_profile_push(r->p, r->frames.list, r->frames.n, r->frames.cap, f);
}

/* "f(635,1,1,178)"; other lines are skipped. */
static void read_frame(struct reader *r, struct fz_str line)
{
	char function = line.p[0];
	struct fz_str rest = { line.p + 2, line.n - 3 };
	uint64_t name;

	if (!strchr("fun", function) || line.p[1] != '(' || line.p[line.n - 1] != ')')
		return;
	if (!take_number(&rest, &name) || name >> TYPE_BITS >= r->name_count ||
	    !read_row(r, function, &rest) || (rest.n && !take_number(&rest, &r->total)))
		r->damaged = true;
	else
		add_frame(r, name);
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	static const char units[] = "const units = '";
	struct reader *r = arg;
	struct fz_str text = fz_str_trimmed(line);

	(void)err;
	if (fz_str_starts(text, units)) {
		text.p += strlen(units);
		text.n -= strlen(units);
		text = fz_str_take_item(&text, "'");
		r->frames.unit =
			(struct fz_str){ fz_arena_strndup(&r->names, text.p, text.n), text.n };
	} else if (fz_str_starts(text, pool)) {
		r->in_pool = true;
	} else if (r->in_pool) {
		r->in_pool = fz_str_starts(line, "'");
		if (r->in_pool)
			read_name(r, line);
		else
			r->past_pool = true;
	} else if (r->past_pool && line.n > 3) {
		read_frame(r, line);
	}
	return 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .frames = { .factor = 1 } };

	r.open = fz_calloc(ROWS_MAX, sizeof(*r.open));
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);
	if (!code && p->over_limit)
		code = fz_profile_check(p, err);
	if (!code && (r.damaged || !r.frames.n))
		return fz_fail(err, FZ_EINPUT, "%s: damaged: %s", fz_input_name(in),
			       r.damaged ? "a frame is misplaced" : "the page has no frames");
	return code ? code : fz_flame_frames_read(&r.frames, in, p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char script[] = "\tconst units = '";

	(void)name;
	return memmem(head, n, script, strlen(script)) && memmem(head, n, pool, strlen(pool)) ? 90
											      : 0;
}

const struct fz_format fz_format_asprof_page = {
	.name = "asprof-page",
	.title = "flame graph page of async-profiler",
	.suffixes = ".html",
	.notes = "3.0 or later; frames below its minwidth are counted in their callers",
	.sniff = sniff,
	.read = read,
};
