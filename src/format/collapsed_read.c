/* SPDX-License-Identifier: MIT */
/* Reads folded text of all known tools.
 *
 * The tool is only certain at the end, so frames are first stored as text, in a draft profile whose
 * functions are the texts, with one row per distinct stack:
 *
 *   line -> draft stack -> row {sum of values, lines}      while reading
 *   draft frame -> frame {function, file, line}            at the end, by the file's dialect
 *
 * A file is differential only if every line has two trailing numbers. Until a line without them
 * appears, rows hold both interpretations.
 */
#include "collapsed.h"
#include "collapsed_text.h"
#include "collapsed_unit.h"
#include "format.h"
#include "import.h"
#include "symbol/jitmap.h"

#include <math.h>

enum {
	LINE_MAX_BYTES = 16 << 20,
};

struct row {
	uint32_t stack; /* draft; the line without its last number */
	uint32_t pair;  /* draft; the line without its last two numbers */
	uint64_t whole[2];
	double fraction[2];
	uint64_t lines;
	uint64_t bare; /* lines without a number */
	uint64_t busy;
	int64_t bytes;
};

/* Austin's header. */
struct austin {
	bool seen, memory;
	uint64_t interval_us;
};

struct reader {
	const struct fz_collapsed_lines *from;
	struct fz_profile *p, *draft;
	struct row *rows;
	size_t row_count, row_cap;
	struct fz_map row_of; /* draft stack -> row */
	bool pairs, fulls;    /* true of all lines so far */
	bool valued;          /* some line has a number */
	uint32_t bare_lines;  /* before that */
	bool large;           /* some line has a number that is too large or negative */
	bool gprofiler;       /* the first frame is a number that belongs to gprofiler's header */
	struct austin austin;
	struct fz_buf metric; /* "cpu ns", in files written by us */
	/* frames of the last line, most of which the next line usually shares */
	struct fz_buf last;
	struct known {
		size_t end; /* offset of the end of the frame in `last` */
		uint32_t stack;
	} * known;
	size_t known_count, known_cap;
	struct fz_buf scratch;
	/* translation */
	enum fz_collapsed_dialect dialect;
	uint32_t *frame_of; /* draft frame -> frame */
	struct place {
		uint64_t pid;
		uint32_t thread, stack; /* FZ_NONE: unknown; empty */
	} * place_of;                   /* draft stack -> its place in the profile */
};

/* ---- lines ---- */

static uint32_t draft_frame(struct reader *r, struct fz_str text)
{
	return fz_profile_frame_named(r->draft, text, FZ_STR(""), FZ_NO_LINE, FZ_KIND_UNKNOWN);
}

/* Drops the frames of the last line that this one does not start with. */
static void keep_common(struct reader *r, struct fz_str line)
{
	size_t n = FZ_MIN(line.n, r->last.n), common = 0;

	while (common < n && line.p[common] == r->last.p[common])
		common++;
	while (r->known_count && r->known[r->known_count - 1].end >= common)
		r->known_count--;
}

static uint32_t draft_stack(struct reader *r, struct fz_str line)
{
	keep_common(r, line);
	size_t at = r->known_count ? r->known[r->known_count - 1].end + 1 : 0;
	uint32_t stack = r->known_count ? r->known[r->known_count - 1].stack : FZ_NONE;

	while (at < line.n) {
		const char *semicolon = memchr(line.p + at, ';', line.n - at);
		size_t end = semicolon ? (size_t)(semicolon - line.p) : line.n;
		if (end > at) {
			struct fz_str text = { line.p + at, end - at };
			stack = fz_profile_stack(r->draft, stack, draft_frame(r, text));
		}
		fz_profile_push(r->p, r->known, r->known_count, r->known_cap,
				(struct known){ end, stack });
		at = end + 1;
	}
	fz_buf_reset(&r->last);
	fz_buf_add(&r->last, line.p, line.n);
	return stack;
}

static struct row *row_of(struct reader *r, uint32_t stack)
{
	uint32_t *slot = fz_map_slot(&r->row_of, stack);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)r->row_count;
		fz_profile_push(r->p, r->rows, r->row_count, r->row_cap,
				(struct row){ .stack = stack, .pair = FZ_NONE });
	}
	return &r->rows[*slot];
}

static void add_to(struct row *row, int column, const struct fz_collapsed_value *v)
{
	if (row->whole[column] < FZ_COLLAPSED_VALUE_MAX)
		row->whole[column] += v->whole;
	row->fraction[column] += v->fraction;
}

/* Whether a line ends in a number that was rejected because it is too large, or negative. */
static bool ends_in_number(struct fz_str line)
{
	line = fz_collapsed_trimmed(line);
	size_t at = line.n;

	while (at && strchr("0123456789.eE+-", line.p[at - 1]))
		at--;
	bool after_blank = at && (line.p[at - 1] == ' ' || line.p[at - 1] == '\t');
	at += at < line.n && line.p[at] == '-';
	return after_blank && at < line.n && line.p[at] >= '0' && line.p[at] <= '9';
}

/* A line without a number is a sample if the whole file has none; otherwise it is malformed. */
static void read_bare_line(struct reader *r, struct fz_str line)
{
	bool large = ends_in_number(line);

	r->large |= large;
	if (large || r->valued || !memchr(line.p, ';', line.n)) {
		r->p->skipped_lines++;
		return;
	}
	r->bare_lines++;
	row_of(r, draft_stack(r, line))->bare++;
}

static void count_bare_lines(struct reader *r)
{
	for (size_t i = 0; i < r->row_count && !r->valued; i++)
		r->rows[i].whole[1] = r->rows[i].lines = r->rows[i].bare;
	r->pairs &= r->valued;
}

static void read_stack_line(struct reader *r, struct fz_str line)
{
	struct fz_collapsed_value last, before;

	if (!fz_collapsed_take_value(&line, &last)) {
		read_bare_line(r, line);
		return;
	}
	if (!r->valued)
		r->p->skipped_lines += r->bare_lines;
	r->valued = true;
	struct fz_str rest = line;
	r->fulls &= last.is_full;
	r->pairs = r->pairs && !last.is_full && fz_collapsed_take_value(&rest, &before);
	uint32_t stack = draft_stack(r, line);
	struct row *row = row_of(r, stack);
	if (r->pairs) {
		row->pair = draft_stack(r, rest);
		add_to(row, 0, &before);
	}
	add_to(row, 1, &last);
	row->lines++;
	row->bytes = (int64_t)((uint64_t)row->bytes + (uint64_t)last.bytes);
	if (last.is_full && !last.idle && row->busy < FZ_COLLAPSED_VALUE_MAX)
		row->busy += last.whole;
}

static void read_python_version(struct fz_profile *p, struct fz_str text)
{
	for (size_t i = 0; i < sizeof(p->recording.python) && text.n; i++) {
		const char *dot = memchr(text.p, '.', text.n);
		size_t n = dot ? (size_t)(dot - text.p) : text.n;
		uint64_t v;
		if (!fz_parse_u64((struct fz_str){ text.p, n }, UINT8_MAX, &v))
			return;
		p->recording.python[i] = (uint8_t)v;
		n += dot != NULL;
		text.p += n;
		text.n -= n;
	}
}

/* "# key: value" of austin, "# metric: name unit" of ours; anything else is a comment. */
static void read_header_line(struct reader *r, struct fz_str line)
{
	static const char gprofiler[] = "\"application_metadata_enabled\": true";
	const char *colon = memchr(line.p, ':', line.n);

	r->gprofiler |= fz_str_starts(line, "#{") &&
			memmem(line.p, line.n, gprofiler, sizeof(gprofiler) - 1);
	if (!colon)
		return;
	struct fz_str key =
		fz_collapsed_trimmed((struct fz_str){ line.p + 1, (size_t)(colon - line.p - 1) });
	struct fz_str value = fz_collapsed_trimmed(
		(struct fz_str){ colon + 1, line.n - (size_t)(colon + 1 - line.p) });
	if (fz_str_eq(key, FZ_STR("austin")))
		r->austin.seen = true;
	if (fz_str_eq(key, FZ_STR("metric")) && !r->metric.n)
		fz_buf_add(&r->metric, value.p, value.n);
	if (!r->austin.seen)
		return;
	if (fz_str_eq(key, FZ_STR("interval")))
		fz_parse_u64(value, INT32_MAX, &r->austin.interval_us);
	else if (fz_str_eq(key, FZ_STR("python")))
		read_python_version(r->p, value);
	else if (fz_str_eq(key, FZ_STR("mode")))
		r->p->recording.mode = fz_str_starts(value, "cpu")    ? FZ_MODE_CPU
				       : fz_str_starts(value, "wall") ? FZ_MODE_WALL
								      : FZ_MODE_UNKNOWN;
	if (fz_str_eq(key, FZ_STR("mode")))
		r->austin.memory = fz_str_starts(value, "memory");
}

static int read_lines(struct reader *r, struct fz_error *err)
{
	struct fz_str line;
	int code;

	r->pairs = r->fulls = true;
	while ((code = r->from->next(r->from->arg, &line, err)) > 0) {
		if (line.n == 0)
			continue;
		if (line.p[0] == '#')
			read_header_line(r, line);
		else
			read_stack_line(r, line);
		if (r->draft->over_limit)
			return fz_profile_check(r->draft, err);
	}
	count_bare_lines(r);
	if (!code && !r->row_count)
		code = fz_fail(err, FZ_EINPUT, "%s: no line has a stack and a number%s",
			       r->from->name, r->large ? " from 0 to 2^60" : "");
	return code;
}

/* ---- frames ---- */

/* A text without its escapes, until the next call. */
static struct fz_str clean(struct reader *r, struct fz_str text)
{
	if (!text.n || !memchr(text.p, '\\', text.n))
		return text;
	fz_buf_reset(&r->scratch);
	fz_buf_add(&r->scratch, text.p, text.n);
	text.n = fz_collapsed_unescape(r->scratch.p, text.n);
	text.p = r->scratch.p;
	return text;
}

static uint32_t clean_frame(struct reader *r, const struct fz_function *function, int32_t line)
{
	struct fz_frame frame = fz_frame_at(fz_profile_function(r->p, function), line);

	return fz_profile_frame(r->p, &frame);
}

/* Makes a frame; shared objects are modules, everything else is a source file. */
static uint32_t placed_frame(struct reader *r, const struct fz_collapsed_parts *parts)
{
	bool shared =
		fz_str_ends(parts->file, ".so") || memmem(parts->file.p, parts->file.n, ".so.", 4);
	bool python =
		!shared && (r->dialect != FZ_COLLAPSED_PAREN || fz_str_starts(parts->file, "<") ||
			    fz_str_ends(parts->file, ".py"));
	bool special = fz_str_eq(parts->file, FZ_STR("~"));
	uint32_t place = fz_profile_string(r->p, clean(r, parts->file));
	struct fz_function function = {
		.name = fz_import_name(r->p, clean(r, parts->name)),
		.file = shared ? 0 : place,
		.module = shared ? place : 0,
		.kind = special  ? fz_import_special(parts->name)
			: python ? FZ_KIND_PYTHON
				 : FZ_KIND_NATIVE,
	};

	return clean_frame(r, &function, special ? FZ_NO_LINE : parts->line);
}

/* Makes a frame from a name alone, whose suffix may be a mark: of the kernel, or of the state of a
 * function, inlined, compiled or interpreted, which is the same function in each. */
static uint32_t named_frame(struct reader *r, struct fz_str name)
{
	static const struct {
		const char *suffix;
		enum fz_kind kind;
	} marks[] = {
		{ "_[k]", FZ_KIND_KERNEL },  { "_[i]", FZ_KIND_UNKNOWN },
		{ "_[j]", FZ_KIND_UNKNOWN }, { "_[0]", FZ_KIND_UNKNOWN },
		{ "_[1]", FZ_KIND_UNKNOWN },
	};
	bool marker = fz_collapsed_is_bracketed(name) && r->dialect != FZ_COLLAPSED_NAMES;
	enum fz_kind kind = marker ? fz_import_special(name) : FZ_KIND_UNKNOWN;

	for (size_t i = 0; i < FZ_ARRAY_LEN(marks); i++)
		if (fz_str_ends(name, marks[i].suffix)) {
			kind = marks[i].kind;
			name.n -= strlen(marks[i].suffix);
			break;
		}
	struct fz_made_code made = { .name = name, .file = marker ? FZ_STR("~") : FZ_STR("") };
	if (fz_jitmap_is_v8(name))
		made = fz_jitmap_split(name);
	struct fz_function function = {
		.name = fz_import_name(r->p, clean(r, made.name)),
		.file = fz_profile_string(r->p, made.file),
		.first_line = made.line,
		.kind = (uint8_t)kind,
	};
	return clean_frame(r, &function, FZ_NO_LINE);
}

static uint32_t translate_frame(struct reader *r, struct fz_str text)
{
	struct fz_collapsed_parts parts;

	if (r->austin.seen && fz_str_eq(text, FZ_STR(":GC:")))
		text = FZ_STR("<GC>");
	/* Names by V8 look like "file:function:line". */
	bool placed = !fz_jitmap_is_v8(text) && fz_collapsed_split(r->dialect, text, &parts);
	return placed ? placed_frame(r, &parts) : named_frame(r, text);
}

static struct fz_str draft_text(const struct reader *r, uint32_t frame)
{
	return r->draft->strings[r->draft->functions[r->draft->frames[frame].function].name];
}

/* ---- threads ---- */

/* Whether every root is a thread or process; otherwise "P1" is a name of another tool. */
static bool roots_are_threads(const struct reader *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->draft->stack_count; i++) {
		struct fz_thread t = { 0 };
		if (r->draft->stacks[i].parent != FZ_NONE)
			continue;
		any = true;
		if (!fz_collapsed_is_thread(draft_text(r, r->draft->stacks[i].frame), true, &t))
			return false;
	}
	return any;
}

static bool has_tachyon_roots(const struct reader *r)
{
	return r->draft->stack_count &&
	       fz_str_starts(draft_text(r, r->draft->stacks[0].frame), "tid:");
}

static void place_stack(struct reader *r, uint32_t i, bool threads)
{
	const struct fz_stack *s = &r->draft->stacks[i];
	struct place *at = &r->place_of[i];
	bool root = s->parent == FZ_NONE;

	*at = root ? (struct place){ .thread = FZ_NONE, .stack = FZ_NONE } : r->place_of[s->parent];
	if (root && r->gprofiler && fz_collapsed_all_digits(draft_text(r, s->frame)))
		return;
	struct fz_thread t = { .pid = at->pid };
	bool may_be = threads && at->stack == FZ_NONE && at->thread == FZ_NONE;
	if (may_be && fz_collapsed_is_thread(draft_text(r, s->frame), root, &t)) {
		at->pid = t.pid;
		if (t.tid)
			at->thread = fz_profile_thread(r->p, &t);
		return;
	}
	if (r->frame_of[s->frame] == FZ_NONE)
		r->frame_of[s->frame] = translate_frame(r, draft_text(r, s->frame));
	at->stack = fz_profile_stack(r->p, at->stack, r->frame_of[s->frame]);
}

/* ---- the end ---- */

/* The dialect of more than half of the frames, because a single name may look like any dialect. */
static enum fz_collapsed_dialect find_dialect(const struct reader *r)
{
	uint32_t colons = 0, parens = 0, n = 0;
	struct fz_collapsed_parts parts;

	for (uint32_t i = 0; i < r->draft->frame_count; i++) {
		struct fz_str text = draft_text(r, i);
		struct fz_thread t;
		if (fz_collapsed_is_thread(text, true, &t) ||
		    fz_collapsed_is_thread(text, false, &t) || fz_collapsed_is_bracketed(text) ||
		    fz_jitmap_is_v8(text))
			continue;
		n++;
		colons += fz_collapsed_split(FZ_COLLAPSED_COLON, text, &parts);
		parens += fz_collapsed_split(FZ_COLLAPSED_PAREN, text, &parts);
	}
	if (colons * 2 > n || (n == 0 && roots_are_threads(r)))
		return FZ_COLLAPSED_COLON;
	return parens * 2 > n ? FZ_COLLAPSED_PAREN : FZ_COLLAPSED_NAMES;
}

static void translate_stacks(struct reader *r)
{
	struct fz_profile *d = r->draft;

	bool threads = roots_are_threads(r);
	r->dialect = r->austin.seen                    ? FZ_COLLAPSED_AUSTIN
		     : threads && has_tachyon_roots(r) ? FZ_COLLAPSED_COLON
						       : find_dialect(r);
	if (r->dialect == FZ_COLLAPSED_COLON && threads && !has_tachyon_roots(r))
		r->dialect = FZ_COLLAPSED_AUSTIN;
	threads =
		threads && (r->dialect == FZ_COLLAPSED_COLON || r->dialect == FZ_COLLAPSED_AUSTIN);
	r->frame_of = fz_reallocarray(NULL, FZ_MAX(d->frame_count, 1), sizeof(*r->frame_of));
	memset(r->frame_of, 0xff, d->frame_count * sizeof(*r->frame_of));
	r->place_of = fz_calloc(d->stack_count, sizeof(*r->place_of));
	for (uint32_t i = 0; i < d->stack_count; i++)
		place_stack(r, i, threads);
}

static int64_t rounded(uint64_t whole, double fraction)
{
	double extra = fraction + 0.5;

	return (int64_t)whole + (extra < (double)FZ_COLLAPSED_VALUE_MAX ? (int64_t)extra : 0);
}

static void add_row(struct reader *r, uint32_t draft_stack, uint64_t count, const int64_t *weights)
{
	struct place at = { .thread = FZ_NONE, .stack = FZ_NONE };

	if (draft_stack != FZ_NONE)
		at = r->place_of[draft_stack];

	if (at.thread == FZ_NONE)
		at.thread = fz_profile_thread(r->p, &(struct fz_thread){ 0 });
	struct fz_sample s = {
		.thread = at.thread,
		.stack = at.stack,
		.status = FZ_STATUS_UNKNOWN,
		.count = (uint32_t)FZ_MIN(count, (uint64_t)UINT32_MAX),
	};
	fz_profile_add_sample(r->p, &s, weights);
}

static void add_pairs(struct reader *r)
{
	fz_profile_add_metric(r->p, FZ_STR("base"), FZ_STR("count"), 0, true);
	fz_profile_add_metric(r->p, FZ_STR("head"), FZ_STR("count"), 0, true);
	r->p->default_metric = 1;
	for (size_t i = 0; i < r->row_count; i++) {
		const struct row *row = &r->rows[i];
		if (!row->lines)
			continue;
		int64_t weights[2] = { rounded(row->whole[0], row->fraction[0]),
				       rounded(row->whole[1], row->fraction[1]) };
		add_row(r, row->pair, 1, weights);
	}
}

/* Each line of Austin is a sample; numbers are microseconds or bytes. */
static void add_austin(struct reader *r)
{
	bool full = r->fulls, memory = r->austin.memory;
	const char *name = r->p->recording.mode == FZ_MODE_CPU ? "cpu" : "wall";

	r->p->recording.interval_ns = (int64_t)r->austin.interval_us * 1000;
	if (memory && !full)
		fz_profile_add_metric(r->p, FZ_STR("memory"), FZ_STR("bytes"), 0, true);
	else
		fz_profile_add_metric(r->p, fz_str_of(full ? "wall" : name), FZ_STR("ns"), 0, true);
	if (full) {
		fz_profile_add_metric(r->p, FZ_STR("cpu"), FZ_STR("ns"), 0, true);
		fz_profile_add_metric(r->p, FZ_STR("memory"), FZ_STR("bytes"), 0, true);
	}
	for (size_t i = 0; i < r->row_count; i++) {
		const struct row *row = &r->rows[i];
		if (!row->lines)
			continue;
		uint64_t scale = memory && !full ? 1 : 1000;
		int64_t weights[3] = {
			(int64_t)(FZ_MIN(row->whole[1], FZ_COLLAPSED_VALUE_MAX / 1000) * scale),
			(int64_t)(FZ_MIN(row->busy, FZ_COLLAPSED_VALUE_MAX / 1000) * 1000),
			row->bytes
		};
		add_row(r, row->stack, row->lines, weights);
	}
}

static struct fz_collapsed_reading read_numbers(const struct reader *r)
{
	struct fz_collapsed_numbers all = { 0 };

	for (size_t i = 0; i < r->row_count; i++)
		fz_collapsed_count_number(&all, r->rows[i].whole[1], r->rows[i].fraction[1]);
	return fz_collapsed_read_numbers(&all, r->p->numbers.unit,
					 has_tachyon_roots(r) || !r->valued);
}

static int64_t scaled_number(const struct row *row, double scale)
{
	double v = ((double)row->whole[1] + row->fraction[1]) * scale;

	if (scale == 1)
		return rounded(row->whole[1], row->fraction[1]);
	return v < (double)FZ_COLLAPSED_VALUE_MAX ? (int64_t)(v + 0.5) : FZ_COLLAPSED_VALUE_MAX;
}

/* Adds the metric of a file that specifies it; false if its unit is not one that we write. */
static bool add_metric(struct reader *r)
{
	struct fz_str text = fz_buf_view(&r->metric);
	const char *blank = text.n ? memrchr(text.p, ' ', text.n) : NULL;

	if (!blank || r->p->numbers.unit)
		return false;
	struct fz_str name = { text.p, (size_t)(blank - text.p) };
	struct fz_str unit = { blank + 1, text.n - name.n - 1 };
	if (!name.n || !(fz_str_eq(unit, FZ_STR("ns")) || fz_str_eq(unit, FZ_STR("bytes")) ||
			 fz_str_eq(unit, FZ_STR("count"))))
		return false;
	fz_profile_add_metric(r->p, name, unit, 0, true);
	for (size_t i = 0; i < r->row_count; i++) {
		int64_t v = scaled_number(&r->rows[i], 1);
		if (v > 0)
			add_row(r, r->rows[i].stack, 1, &v);
	}
	return true;
}

/* Rounds a value, carrying the remainder over to the next row so that the sum is right. */
static int64_t whole_number(const struct row *row, double *rest)
{
	double part = row->fraction[1] + *rest;
	double whole = floor(part + 0.5);

	*rest = part - whole;
	return (int64_t)row->whole[1] + (int64_t)whole;
}

/* Adds rows: numbers of samples as counts if they fit, other numbers as a column. */
static void add_numbers(struct reader *r)
{
	struct fz_collapsed_reading reading = read_numbers(r);
	bool column = !reading.each;

	for (size_t i = 0; reading.each && i < r->row_count; i++)
		column |= scaled_number(&r->rows[i], reading.scale) / reading.each > UINT32_MAX;
	fz_profile_add_metric(r->p, fz_str_of(reading.metric), fz_str_of(reading.unit),
			      column ? 0 : reading.each, column);
	if (reading.each > 1)
		r->p->recording.interval_ns = reading.each;
	r->p->numbers.bare = true;
	if (reading.guess)
		fz_profile_set_fact(r->p, "numbers", fz_str_of(reading.guess));
	double rest = 0;
	for (size_t i = 0; i < r->row_count; i++) {
		int64_t v = reading.scale == 1 ? whole_number(&r->rows[i], &rest)
					       : scaled_number(&r->rows[i], reading.scale);
		if (v > 0)
			add_row(r, r->rows[i].stack, column ? 1 : (uint64_t)(v / reading.each), &v);
	}
}

static void release(struct reader *r)
{
	fz_profile_free(r->draft);
	fz_buf_release(&r->last);
	fz_buf_release(&r->metric);
	fz_buf_release(&r->scratch);
	free(r->rows);
	free(r->known);
	free(r->frame_of);
	free(r->place_of);
	fz_map_release(&r->row_of);
}

int fz_collapsed_read_lines(const struct fz_collapsed_lines *from, struct fz_profile *p,
			    struct fz_error *err)
{
	fz_auto(release) struct reader r = { .from = from, .p = p, .draft = fz_profile_new() };

	r.draft->limits = p->limits;
	r.draft->input = p->input;
	int code = read_lines(&r, err);
	if (code)
		return code;
	p->samples.ordered = false;
	p->samples.timed = false;
	translate_stacks(&r);
	if (r.austin.seen)
		add_austin(&r);
	else if (r.pairs)
		add_pairs(&r);
	else if (!add_metric(&r))
		add_numbers(&r);
	return 0;
}

static int next_line(void *arg, struct fz_str *line, struct fz_error *err)
{
	struct fz_input *in = arg;

	return fz_input_line(in, LINE_MAX_BYTES, line, err);
}

int fz_collapsed_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	const struct fz_collapsed_lines from = { next_line, in, fz_input_name(in) };

	return fz_collapsed_read_lines(&from, p, err);
}
