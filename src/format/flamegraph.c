/* SPDX-License-Identifier: MIT */
/* Reads flame graph images of flamegraph.pl and inferno, which py-spy and cargo flamegraph use.
 *
 *   <g><title>parse (a.py:7) (1,200 samples, 3.42%)</title>
 *      <rect x="2.4%" y="100" width="3.4%" height="15" fill="rgb(227,0,7)" fg:x="840" fg:w="1200"/>
 *
 * A title has the frame's total. Its caller is the frame next to it in the direction of the root,
 * "all", which is at the bottom, or at the top of an inverted graph. inferno adds positions in
 * samples (fg:x, fg:w); flamegraph.pl has only pixels, rounded to tenths. Frames narrower than a
 * tenth of a pixel are not in an image, so their cost is their caller's.
 *
 * The frames become folded lines again, which the reader of folded text interprets.
 */
#include "collapsed.h"
#include "format.h"
#include "import.h"

#include <inttypes.h>

#define EXACT_MAX 1e15

static const double rounding = 0.06; /* of pixels in tenths */

struct bar {
	struct fz_str name; /* still with entities */
	double x, width, y;
	uint64_t total, self;
	uint32_t row, parent; /* parent: FZ_NONE for the root */
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct fz_buf text, line, plain;
	struct fz_str unit;
	double widest, factor; /* of the root; titles are fg:w times factor (inferno --factor) */
	struct bar *bars;      /* in order of rows from the root, then of x */
	uint32_t n, cap;
	uint32_t next;  /* bar that is folded next */
	uint32_t *path; /* to it, as long as there are rows */
};

static void release(struct reader *r)
{
	fz_buf_release(&r->text);
	fz_buf_release(&r->line);
	fz_buf_release(&r->plain);
	free(r->bars);
	free(r->path);
}

/* ---- elements ---- */

static struct fz_str until(struct fz_str *rest, const char *what)
{
	const char *at = rest->n ? memmem(rest->p, rest->n, what, strlen(what)) : NULL;
	struct fz_str before = { rest->p, at ? (size_t)(at - rest->p) : rest->n };
	size_t taken = before.n + (at ? strlen(what) : 0);

	rest->p += taken;
	rest->n -= taken;
	return before;
}

/* The value of an attribute; name is ` x="`. */
static struct fz_str attribute(struct fz_str element, const char *name)
{
	until(&element, name);
	return until(&element, "\"");
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
	*ret_unit = fz_str_trimmed(until(&inner, ", "));
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
		r->factor = (double)bar->total / bar->width;
	}
	bar->total = (uint64_t)bar->width;
	return true;
}

static bool read_bar(struct reader *r, struct fz_str title, struct fz_str rect, struct bar *bar)
{
	bool titled = read_title(title, bar, &r->unit);

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

	until(&rest, "<title>");
	while (rest.n) {
		struct bar bar = { .parent = FZ_NONE };
		struct fz_str title = until(&rest, "</title>"), frame = until(&rest, "<title>");

		until(&frame, "<rect");
		if (!read_bar(r, title, until(&frame, ">"), &bar))
			continue;
		fz_profile_grow(r->p, r->bars, r->n, r->cap);
		r->bars[r->n++] = bar;
	}
}

/* ---- the tree ---- */

static int compare_bars(const void *pa, const void *pb, void *arg)
{
	const struct bar *a = pa, *b = pb;
	const bool *upwards = arg;

	if (a->y != b->y)
		return (a->y < b->y) == *upwards ? 1 : -1;
	return (a->x > b->x) - (a->x < b->x);
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

/* Finds callers: both rows are in order of x. A bar is below the last caller that starts before its
 * middle; of two that meet there, the one that has room for its total. */
static int find_parents(struct reader *r, struct fz_error *err)
{
	uint32_t above = 0; /* candidate, in the row before */

	for (uint32_t i = 0; i < r->n; i++)
		r->bars[i].self = r->bars[i].total;
	for (uint32_t i = 1; i < r->n; i++) {
		struct bar *bar = &r->bars[i];
		double middle = bar->x + bar->width / 2;

		while (r->bars[above].row + 1 < bar->row)
			above++;
		while (r->bars[above + 1].row + 1 == bar->row &&
		       (r->bars[above + 1].x <= middle ||
			(r->bars[above].self < bar->total &&
			 r->bars[above + 1].x <= middle + rounding)))
			above++;
		struct bar *caller = &r->bars[above];
		if (caller->row + 1 != bar->row || middle < caller->x - rounding ||
		    middle > caller->x + caller->width + rounding)
			return fz_fail(err, FZ_EINPUT, "%s: damaged: a frame has no caller",
				       r->name);
		bar->parent = above;
		/* With a factor, totals are rounded. */
		caller->self -= FZ_MIN(caller->self, bar->total);
	}
	return 0;
}

/* ---- folded lines ---- */

static const struct entity {
	const char *text;
	char c;
} entities[] = {
	{ "&lt;", '<' },   { "&gt;", '>' },    { "&amp;", '&' },
	{ "&quot;", '"' }, { "&apos;", '\'' }, { "&#39;", '\'' },
};

static void add_name(struct reader *r, struct fz_str name)
{
	fz_buf_reset(&r->plain);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		for (size_t e = 0; c == '&' && e < FZ_ARRAY_LEN(entities); e++)
			if (fz_str_starts((struct fz_str){ name.p + i, name.n - i },
					  entities[e].text)) {
				c = entities[e].c;
				i += strlen(entities[e].text) - 1;
				break;
			}
		fz_buf_char(&r->plain, c);
	}
	fz_collapsed_add_name(&r->line, fz_buf_view(&r->plain), FZ_KIND_UNKNOWN);
}

static int next_line(void *arg, struct fz_str *ret, struct fz_error *err)
{
	struct reader *r = arg;
	uint32_t depth = 0;

	(void)err;
	while (r->next < r->n && !r->bars[r->next].self)
		r->next++;
	if (r->next == r->n)
		return 0;
	fz_buf_reset(&r->line);
	for (uint32_t i = r->next; i != 0; i = r->bars[i].parent)
		r->path[depth++] = i;
	/* The root has the cost of its callees that are too narrow. */
	if (!depth)
		fz_buf_str(&r->line, "[not drawn]");
	while (depth-- > 0) {
		add_name(r, r->bars[r->path[depth]].name);
		fz_buf_str(&r->line, depth ? ";" : "");
	}
	uint64_t self = r->bars[r->next++].self;
	if (r->factor == 1)
		fz_buf_printf(&r->line, " %" PRIu64, self);
	else
		fz_buf_printf(&r->line, " %.6f", (double)self * r->factor);
	*ret = fz_buf_view(&r->line);
	return 1;
}

/* Sets the unit of the numbers unless they are samples, which flamegraph.pl calls them all by
 * default. */
static void set_unit(struct reader *r)
{
	for (uint8_t i = 1; fz_number_unit_names[i]; i++)
		if (fz_str_eq(r->unit, fz_str_of(fz_number_unit_names[i])) &&
		    !fz_str_eq(r->unit, FZ_STR("samples")))
			r->p->numbers.unit = i;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .name = fz_input_name(in), .factor = 1 };
	const struct fz_collapsed_lines lines = { next_line, &r, r.name };
	bool given = p->numbers.unit;
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
	if (code)
		return code;
	r.path = fz_calloc(r.bars[r.n - 1].row + 1ul, sizeof(*r.path));
	if (!given)
		set_unit(&r);
	bool stated = !given && p->numbers.unit;
	code = fz_collapsed_read_lines(&lines, p, err);
	if (stated)
		p->numbers.bare = false;
	return code;
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
	.notes = "frames too narrow to be drawn count for their callers; a difference is dropped",
	.sniff = sniff,
	.read = read,
};
