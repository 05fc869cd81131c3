/* SPDX-License-Identifier: MIT */
/* Reads a call tree that Instruments' "Deep Copy" puts on the clipboard.
 *
 *   Weight <tab> Self Weight <tab> <tab> Symbol Name
 *   96.08 Gc  100.0% <tab> - <tab> <blank><tab> start
 *   46.92 Gc   48.8% <tab> 404.75 Mc <tab> <blank><tab>  elapsed
 *
 * Titles differ by version and instrument ("Running Time", "Self (ms)", "Bytes Used", "Count",
 * "Symbol Names"), and so does the indentation of names, one blank per level. Self costs are used
 * where the file has them, because weights are rounded. Otherwise the second column is a count.
 */
#include "format.h"
#include "import.h"
#include "indented.h"

enum { TITLE_MAX = 200 };

struct unit {
	const char *name, *metric;
	double scale;
};

/* Units in values and in titles. */
static const struct unit units[] = {
	{ "ns", "cpu", 1 },
	{ "us", "cpu", 1e3 },
	{ "\xc2\xb5s", "cpu", 1e3 },
	{ "\xce\xbcs", "cpu", 1e3 },
	{ "ms", "cpu", 1e6 },
	{ "s", "cpu", 1e9 },
	{ "min", "cpu", 60e9 },
	{ "h", "cpu", 3600e9 },
	{ "cycles", "cycles", 1 },
	{ "Kc", "cycles", 1e3 },
	{ "Mc", "cycles", 1e6 },
	{ "Gc", "cycles", 1e9 },
	{ "Tc", "cycles", 1e12 },
	{ "Bytes", "bytes", 1 },
	{ "bytes", "bytes", 1 },
	{ "B", "bytes", 1 },
	{ "KB", "bytes", 1024 },
	{ "KiB", "bytes", 1024 },
	{ "MB", "bytes", 1048576 },
	{ "MiB", "bytes", 1048576 },
	{ "GB", "bytes", 1073741824 },
	{ "GiB", "bytes", 1073741824 },
};

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_indented tree;
	const struct unit *self_unit; /* from the title; NULL: each number has its own */
	const char *metric;           /* of the first number; NULL before it */
	uint64_t line_number;
	bool has_self, has_count, titled;
};

static struct fz_str take_column(struct fz_str *line)
{
	const char *tab = line->n ? memchr(line->p, '\t', line->n) : NULL;
	struct fz_str column = { line->p, tab ? (size_t)(tab - line->p) : line->n };

	line->p += column.n + (tab != NULL);
	line->n -= column.n + (tab != NULL);
	return column;
}

static const struct unit *unit_named(struct fz_str name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++)
		if (fz_str_eq(name, fz_str_of(units[i].name)))
			return &units[i];
	return NULL;
}

static int fail_line(const struct reader *r, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT,
		       "%s: line %llu: not a line of a call tree copied from Instruments",
		       fz_input_name(r->in), (unsigned long long)r->line_number);
}

/* "Self (ms)" -> ms */
static void read_title(struct reader *r, struct fz_str line)
{
	take_column(&line);
	struct fz_str second = take_column(&line);
	const char *open = second.n ? memchr(second.p, '(', second.n) : NULL;

	r->titled = true;
	r->has_self = fz_str_starts(second, "Self");
	r->has_count = fz_str_eq(second, FZ_STR("Count"));
	if (open && second.p[second.n - 1] == ')')
		r->self_unit = unit_named(
			(struct fz_str){ open + 1, second.n - (size_t)(open + 1 - second.p) - 1 });
}

/* "96.08 Gc  100.0%", "4273.0ms   99.9%", "404.75 Mc", "-", "693" (of `usual`). */
static bool read_cost(struct fz_str text, const struct unit *usual, const struct unit **ret_unit,
		      int64_t *ret)
{
	struct fz_str s = fz_str_trimmed(text), number = { s.p, 0 };
	double v;

	if (fz_str_eq(s, FZ_STR("-"))) {
		*ret = 0;
		return true;
	}
	while (number.n < s.n && strchr("0123456789.", s.p[number.n]))
		number.n++;
	struct fz_str rest = { s.p + number.n, s.n - number.n };
	struct fz_str word = fz_str_take_word(&rest);
	const struct unit *unit = word.n ? unit_named(word) : usual;
	if (!unit || !fz_parse_decimal(number, &v))
		return false;
	*ret = fz_import_scaled(v, unit->scale);
	*ret_unit = unit;
	return true;
}

static void add_metrics(struct reader *r, const struct unit *unit)
{
	struct fz_import_metric m = { fz_str_of(unit->metric), FZ_STR("count"), 1 };
	const struct fz_import_metric count = { FZ_STR("allocations"), FZ_STR("count"), 1 };

	if (strcmp(unit->metric, "cpu") == 0)
		m.unit = FZ_STR("ns");
	else if (strcmp(unit->metric, "bytes") == 0)
		m.unit = FZ_STR("bytes");
	fz_import_add_metric(r->p, &m, 0, true);
	if (r->has_count)
		fz_import_add_metric(r->p, &count, 0, true);
	r->metric = unit->metric;
}

/* Counts the spaces before a name; most versions have a column of spaces before it. */
static size_t take_indent(struct fz_str *s)
{
	size_t n = 0;

	while (n < s->n && s->p[n] == ' ')
		n++;
	if (n < s->n && s->p[n] == '\t') {
		*s = (struct fz_str){ s->p + n + 1, s->n - n - 1 };
		return take_indent(s);
	}
	*s = (struct fz_str){ s->p + n, s->n - n };
	return n;
}

static int read_node(struct reader *r, struct fz_str line, struct fz_error *err)
{
	struct fz_str first = take_column(&line), second = take_column(&line);
	const struct unit *unit = NULL, *self_unit = NULL;
	int64_t total = 0, values[FZ_INDENTED_METRICS] = { 0 };
	uint64_t count;

	if (!read_cost(first, NULL, &unit, &total) || !unit ||
	    (r->metric && strcmp(r->metric, unit->metric) != 0))
		return fail_line(r, err);
	if (!r->metric)
		add_metrics(r, unit);
	values[0] = total;
	if (r->has_self) {
		bool ok = read_cost(second, r->self_unit ? r->self_unit : unit, &self_unit,
				    &values[0]);
		if (!ok || (self_unit && strcmp(self_unit->metric, unit->metric) != 0))
			return fail_line(r, err);
	} else if (r->has_count) {
		if (!fz_parse_u64(fz_str_trimmed(second), INT64_MAX, &count))
			return fail_line(r, err);
		values[1] = fz_import_scaled_int((int64_t)count, 1);
	}
	size_t column = take_indent(&line);
	struct fz_import_frame f = { .name = fz_str_trimmed(line), .kind = FZ_KIND_NATIVE };
	fz_indented_line(&r->tree, column, fz_import_frame(r->p, &f), values);
	return 0;
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;

	r->line_number++;
	if (!r->titled) {
		read_title(r, line);
		r->tree.own = r->has_self;
		return 0;
	}
	return fz_str_trimmed(line).n ? read_node(r, line, err) : 0;
}

static void release(struct reader *r)
{
	fz_indented_release(&r->tree);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p, .tree = { .p = p } };

	r.tree.thread = fz_profile_thread(p, &(struct fz_thread){ 0 });
	p->samples.timed = p->samples.ordered = false;
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);
	fz_indented_finish(&r.tree);
	if (!code && !p->samples.n && !p->over_limit)
		return fz_fail(err, FZ_EINPUT,
			       "%s: a title without costs: use Instruments' 'Deep Copy'",
			       fz_input_name(in));
	return code ? code : fz_profile_check(p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char *const titles[] = { "Weight\t", "Running Time\t", "Bytes Used\t" };
	const uint8_t *end = memchr(head, '\n', FZ_MIN(n, (size_t)TITLE_MAX));
	struct fz_str line = { (const char *)head, end ? (size_t)(end - head) : 0 };

	(void)name;
	for (size_t i = 0; i < FZ_ARRAY_LEN(titles); i++)
		if (fz_str_starts(line, titles[i]) && memmem(line.p, line.n, "\tSymbol Name", 12))
			return 90;
	return 0;
}

const struct fz_format fz_format_instruments = {
	.name = "instruments",
	.title = "call tree copied from Instruments",
	.suffixes = ".txt",
	.notes = "costs are rounded as displayed",
	.sniff = sniff,
	.read = read,
};
