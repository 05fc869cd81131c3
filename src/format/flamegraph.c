/* SPDX-License-Identifier: MIT */
/* Reads flame graph images of flamegraph.pl and inferno, which py-spy and cargo flamegraph use.
 *
 *   <g><title>parse (a.py:7) (1,200 samples, 3.42%)</title>
 *      <rect x="2.4%" y="100" width="3.4%" height="15" fill="rgb(227,0,7)" fg:x="840" fg:w="1200"/>
 *
 * A title has the frame's total. Its caller is the frame next to it in the direction of the root,
 * "all", which is at the bottom, or at the top of an inverted graph. inferno adds positions in
 * samples (fg:x, fg:w); flamegraph.pl has only pixels, rounded to tenths. An image lacks frames
 * narrower than a tenth of a pixel, so their cost goes to their caller.
 */
#include "flame_frames.h"
#include "format.h"
#include "import.h"

#include "base/arena.h"

#define EXACT_MAX 1e15

static const double rounding = 0.06; /* of pixels in tenths */

struct bar {
	struct fz_str name; /* still with entities */
	double x, width, y;
	uint64_t total;
	uint32_t row;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct fz_buf text;
	struct bar *bars; /* in order of rows from the root, then of x */
	uint32_t n, cap;
	double widest;                 /* root, in samples */
	struct fz_flame_frames frames; /* of the bars */
	struct fz_arena names;
};

static void release(struct reader *r)
{
	fz_buf_release(&r->text);
	free(r->bars);
	free(r->frames.list);
	fz_arena_release(&r->names);
}

/* ---- elements ---- */

/* The value of an attribute; name is ` x="`. */
static struct fz_str attribute(struct fz_str element, const char *name)
{
	fz_str_take_item(&element, name);
	return fz_str_take_item(&element, "\"");
}

static bool read_place(struct fz_str element, const char *name, double *ret)
{
	struct fz_str value = attribute(element, name);

	if (fz_str_ends(value, "%"))
		value.n--;
	return fz_parse_decimal(value, ret);
}

/* "1,200" */
static bool read_count(struct fz_str text, uint64_t *ret)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ',')
			continue;
		if (text.p[i] < '0' || text.p[i] > '9' || n > UINT64_MAX / 100)
			return false;
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	}
	*ret = n;
	return text.n > 0;
}

/* "parse (a.py:7) (1,200 samples, 3.42%; +1.2%)"; *ret_unit: "samples" */
static bool read_title(struct fz_str title, struct bar *bar, struct fz_str *ret_unit)
{
	const char *open = title.n ? memrchr(title.p, '(', title.n) : NULL;

	if (!open || open < title.p + 1 || open[-1] != ' ')
		return false;
	bar->name = (struct fz_str){ title.p, (size_t)(open - title.p) - 1 };
	struct fz_str inner = { open + 1, (size_t)(title.p + title.n - open) - 1 };
	if (!read_count(fz_str_take_word(&inner), &bar->total))
		return false;
	*ret_unit = fz_str_trimmed(fz_str_take_item(&inner, ", "));
	return fz_str_ends(fz_str_trimmed(inner), "%)");
}

static bool is_root(const struct bar *bar)
{
	return fz_str_eq(bar->name, FZ_STR("all"));
}

static bool read_exact(struct reader *r, struct fz_str rect, struct bar *bar, bool titled)
{
	if (!read_place(rect, " fg:x=\"", &bar->x) || !read_place(rect, " fg:w=\"", &bar->width) ||
	    bar->width >= EXACT_MAX)
		return false;
	if (titled && is_root(bar) && bar->width > r->widest) {
		r->widest = bar->width;
		/* inferno --factor */
		r->frames.factor = (double)bar->total / bar->width;
	}
	bar->total = (uint64_t)bar->width;
	return true;
}

static bool read_bar(struct reader *r, struct fz_str title, struct fz_str rect, struct bar *bar)
{
	bool titled = read_title(title, bar, &r->frames.unit);

	if (!titled)
		bar->name = title; /* inferno can replace titles (--nameattr) */
	bool placed =
		read_exact(r, rect, bar, titled) || (titled && read_place(rect, " x=\"", &bar->x) &&
						     read_place(rect, " width=\"", &bar->width));
	return placed && read_place(rect, " y=\"", &bar->y);
}

static void read_bars(struct reader *r)
{
	struct fz_str rest = fz_buf_view(&r->text);

	fz_str_take_item(&rest, "<title>");
	while (rest.n) {
		struct bar bar = { 0 };
		struct fz_str title = fz_str_take_item(&rest, "</title>"),
			      frame = fz_str_take_item(&rest, "<title>");

		fz_str_take_item(&frame, "<rect");
		if (!read_bar(r, title, fz_str_take_item(&frame, ">"), &bar))
			continue;
		fz_profile_push(r->p, r->bars, r->n, r->cap, bar);
	}
}

/* ---- the tree ---- */

static int compare_bars(const void *pa, const void *pb, void *arg)
{
	const struct bar *a = pa, *b = pb;
	const bool *upwards = arg;

	return (*upwards ? FZ_CMP(b->y, a->y) : FZ_CMP(a->y, b->y)) ?: FZ_CMP(a->x, b->x);
}

/* Orders bars by rows; false if neither the first nor the last row is the root. */
static bool order_bars(struct reader *r)
{
	bool upwards = false;

	if (!r->n)
		return false;
	qsort_r(r->bars, r->n, sizeof(*r->bars), compare_bars, &upwards);
	upwards = !is_root(&r->bars[0]) || (r->n > 1 && r->bars[1].y == r->bars[0].y);
	qsort_r(r->bars, r->n, sizeof(*r->bars), compare_bars, &upwards);
	for (uint32_t i = 1; i < r->n; i++)
		r->bars[i].row = r->bars[i - 1].row + (r->bars[i].y != r->bars[i - 1].y);
	return is_root(&r->bars[0]) && (r->n == 1 || r->bars[1].row == 1);
}

static const struct entity {
	const char *text;
	char c;
} entities[] = {
	{ "&lt;", '<' },   { "&gt;", '>' },    { "&amp;", '&' },
	{ "&quot;", '"' }, { "&apos;", '\'' }, { "&#39;", '\'' },
};

static struct fz_str decode(struct reader *r, struct fz_str text)
{
	char *name = fz_arena_alloc(&r->names, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		name[n] = text.p[i];
		for (size_t e = 0; text.p[i] == '&' && e < FZ_ARRAY_LEN(entities); e++)
			if (fz_str_starts((struct fz_str){ text.p + i, text.n - i },
					  entities[e].text)) {
				name[n] = entities[e].c;
				i += strlen(entities[e].text) - 1;
				break;
			}
		n++;
	}
	return (struct fz_str){ name, n };
}

/* Whether a bar belongs below the bar after `above` in that row, not below `above`. A bar belongs
 * below the last one that starts before its middle; if two meet there, below the one with room for
 * it. */
static bool is_further(const struct reader *r, uint32_t above, uint32_t i)
{
	const struct bar *next = &r->bars[above + 1], *bar = &r->bars[i];
	double middle = bar->x + bar->width / 2;
	bool full = r->frames.list[above].self < bar->total;

	return next->row + 1 == bar->row &&
	       (next->x <= middle || (full && next->x <= middle + rounding));
}

static bool is_below(const struct bar *bar, const struct bar *caller)
{
	double middle = bar->x + bar->width / 2;

	return caller->row + 1 == bar->row && middle >= caller->x - rounding &&
	       middle <= caller->x + caller->width + rounding;
}

/* Finds callers: each row and the one before are in order of x. */
static int find_parents(struct reader *r, struct fz_error *err)
{
	struct fz_flame_frame *frames = fz_calloc(r->n, sizeof(*frames));
	uint32_t above = 0; /* candidate, in the row before */

	r->frames.list = frames;
	r->frames.n = r->n;
	for (uint32_t i = 0; i < r->n; i++)
		frames[i] = (struct fz_flame_frame){ .name = decode(r, r->bars[i].name),
						     .self = r->bars[i].total };
	for (uint32_t i = 1; i < r->n; i++) {
		while (r->bars[above].row + 1 < r->bars[i].row)
			above++;
		while (is_further(r, above, i))
			above++;
		if (!is_below(&r->bars[i], &r->bars[above]))
			return fz_fail(err, FZ_EINPUT, "%s: damaged: a frame has no caller",
				       r->name);
		frames[i].parent = above;
		frames[above].self -= FZ_MIN(frames[above].self, r->bars[i].total);
	}
	return 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p,
					     .name = fz_input_name(in),
					     .frames = { .factor = 1 } };
	int code = fz_input_read_all(in, &r.text, FZ_IMPORT_FILE_MAX, err);

	if (code)
		return code;
	read_bars(&r);
	if (p->over_limit)
		return fz_profile_check(p, err);
	if (!order_bars(&r))
		return fz_fail(err, FZ_EINPUT, "%s: the image has no frame 'all' at its root",
			       r.name);
	code = find_parents(&r, err);
	return code ? code : fz_flame_frames_read(&r.frames, in, p, err);
}

/* Both tools write the same comment. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char comment[] = "<!--Flame graph stack visualization.",
			  spaced[] = "<!-- Flame graph stack visualization.";

	(void)name;
	return memmem(head, n, comment, strlen(comment)) || memmem(head, n, spaced, strlen(spaced))
		       ? 95
		       : 0;
}

const struct fz_format fz_format_flamegraph = {
	.name = "flamegraph",
	.title = "flame graph image of flamegraph.pl, inferno or py-spy",
	.suffixes = ".svg",
	.notes = "frames too narrow to draw are counted in their callers; a difference is dropped",
	.sniff = sniff,
	.read = read,
};
