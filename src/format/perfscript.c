/* SPDX-License-Identifier: MIT */
/* Reading what `perf script` prints.
 *
 *   nat  28209/28210 [001]  1974.209687:    2004008 cpu-clock:u:
 *   	    560cb47e52e0 cmp+0x0 (/bin/nat)          the innermost frame
 *   	    7f1b5e790f07 main+0x207 (/bin/nat)
 *     nat.c:12                                      its place, when asked for
 *
 * Which columns there are depends on options, so a header is read around the time, the one thing
 * that looks like nothing else. One number before it is a thread; a number before the event is
 * the period, which the sample stands for.
 */
#include "format.h"
#include "import.h"
#include "perfsamples.h"

#include <ctype.h>

enum { LINE_MAX_BYTES = 1 << 20 };

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_str events[FZ_PERF_EVENTS_MAX]; /* in the profile's strings */
	bool has_period[FZ_PERF_EVENTS_MAX];
	uint32_t event_count;
	struct fz_perf_samples samples;
	uint64_t bytes; /* read so far */
	bool untimed;   /* a header without a time was there */
	/* of the sample at hand */
	bool open;
	struct fz_perf_sample now;
	struct fz_import_frame *frames; /* innermost first; their texts are in the profile */
	size_t frame_count, frame_cap;
};

static struct fz_str take_last_word(struct fz_str *s)
{
	*s = fz_str_trimmed(*s);
	size_t at = s->n;
	while (at && !isspace((uint8_t)s->p[at - 1]))
		at--;
	struct fz_str word = { s->p + at, s->n - at };
	s->n = at;
	return word;
}

/* A text that stays. */
static struct fz_str kept(struct reader *r, struct fz_str s)
{
	return fz_profile_text(r->p, fz_profile_string(r->p, s));
}

/* ---- headers ---- */

/* "1974.209687:" in nanoseconds, exactly. */
static bool parse_time(struct fz_str word, int64_t *ret)
{
	const char *dot = word.n ? memchr(word.p, '.', word.n) : NULL;
	uint64_t whole, fraction;

	if (!dot || word.p[word.n - 1] != ':')
		return false;
	struct fz_str a = { word.p, (size_t)(dot - word.p) };
	struct fz_str b = { dot + 1, word.n - a.n - 2 };
	if (!fz_parse_u64(a, INT64_MAX / 2000000000, &whole) || b.n > 9 ||
	    !fz_parse_u64(b, UINT64_MAX, &fraction))
		return false;
	for (size_t i = b.n; i < 9; i++)
		fraction *= 10;
	*ret = (int64_t)(whole * 1000000000 + fraction);
	return true;
}

/* "28209" is a thread, "28209/28210" a process and one of its threads. */
static bool parse_ids(struct fz_str word, struct fz_thread *t)
{
	const char *slash = word.n ? memchr(word.p, '/', word.n) : NULL;
	size_t n = slash ? (size_t)(slash - word.p) : word.n;
	uint64_t first, second = 0;

	if (!fz_parse_u64((struct fz_str){ word.p, n }, INT64_MAX, &first))
		return false;
	if (slash &&
	    !fz_parse_u64((struct fz_str){ slash + 1, word.n - n - 1 }, INT64_MAX, &second))
		return false;
	t->pid = slash ? first : 0;
	t->tid = slash ? second : first;
	t->is_main = slash && first == second;
	return true;
}

struct header {
	struct fz_thread thread;
	struct fz_str comm, rest; /* rest: behind the time */
	int64_t time;
	bool timed;
};

static bool split_at_time(struct fz_str line, struct header *h, struct fz_str *ret_before)
{
	struct fz_str rest = line;

	while (rest.n) {
		struct fz_str word = fz_str_take_word(&rest);
		if (!parse_time(word, &h->time))
			continue;
		*ret_before = (struct fz_str){ line.p, (size_t)(word.p - line.p) };
		h->rest = rest;
		return true;
	}
	return false;
}

/* Between the ids and the time there may be "[001]" and flags such as "d..2.". */
static bool parse_header(struct fz_str line, struct header *h)
{
	struct fz_str before, word;

	*h = (struct header){ 0 };
	if (!line.n || isspace((uint8_t)line.p[0]) || line.p[0] == '#')
		return false;
	h->timed = split_at_time(line, h, &before);
	if (h->timed) {
		for (int i = 0; i < 4; i++) {
			word = take_last_word(&before);
			if (!word.n)
				return false;
			if (!parse_ids(word, &h->thread))
				continue;
			h->comm = fz_str_trimmed(before);
			return h->comm.n > 0;
		}
		return false;
	}
	h->rest = line;
	fz_str_take_word(&h->rest);
	while (h->rest.n) {
		size_t n = (size_t)(h->rest.p - line.p);
		word = fz_str_take_word(&h->rest);
		if (!parse_ids(word, &h->thread))
			continue;
		h->comm = fz_str_trimmed((struct fz_str){ line.p, n });
		h->rest = fz_str_trimmed(h->rest);
		return h->rest.n && memchr(h->rest.p, ':', h->rest.n);
	}
	return false;
}

static uint32_t event_of(struct reader *r, struct fz_str name)
{
	for (uint32_t i = 0; i < r->event_count; i++)
		if (fz_str_eq(r->events[i], name))
			return i;
	if (r->event_count == FZ_PERF_EVENTS_MAX)
		return FZ_NONE;
	r->events[r->event_count] = kept(r, name);
	return r->event_count++;
}

/* "[period] event:" and what may follow. */
static void read_event(struct reader *r, struct fz_str *rest)
{
	struct fz_str word = fz_str_take_word(rest);
	uint64_t period;
	bool has_period = fz_parse_u64(word, INT64_MAX, &period);

	if (has_period)
		word = fz_str_take_word(rest);
	if (word.n && word.p[word.n - 1] == ':')
		word.n--;
	r->now.event = event_of(r, word);
	r->now.period = has_period ? (int64_t)period : 1;
	if (r->now.event != FZ_NONE)
		r->has_period[r->now.event] |= has_period;
}

/* ---- frames ---- */

static size_t hex_digits(struct fz_str s)
{
	size_t n = 0;

	while (n < s.n && isxdigit((uint8_t)s.p[n]))
		n++;
	return n;
}

static struct fz_str without_offset(struct fz_str name)
{
	const char *plus = name.n ? memrchr(name.p, '+', name.n) : NULL;

	if (!plus)
		return name;
	struct fz_str offset = { plus + 1, name.n - (size_t)(plus + 1 - name.p) };
	if (offset.n > 2 && fz_str_starts(offset, "0x") &&
	    hex_digits((struct fz_str){ offset.p + 2, offset.n - 2 }) == offset.n - 2)
		name.n = (size_t)(plus - name.p);
	return name;
}

/* CPython's trampolines: "py::function:file". */
static void name_python(struct reader *r, struct fz_str name, struct fz_import_frame *f)
{
	name.p += 4;
	name.n -= 4;
	const char *colon = memchr(name.p, ':', name.n);
	size_t n = colon ? (size_t)(colon - name.p) : name.n;

	f->name = kept(r, (struct fz_str){ name.p, n });
	f->file = colon ? kept(r, (struct fz_str){ colon + 1, name.n - n - 1 }) : FZ_STR("");
	f->module = FZ_STR("");
	f->kind = FZ_KIND_PYTHON;
}

/* Without a symbol the object's name: "[libc.so.6]". */
static void name_unknown(struct reader *r, struct fz_import_frame *f)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	struct fz_str base = fz_path_base(f->module);
	bool bare = !base.n || base.p[0] == '[';

	fz_buf_str(&name, bare ? "" : "[");
	fz_buf_add(&name, base.p, base.n);
	fz_buf_str(&name, bare ? "" : "]");
	f->name = base.n ? kept(r, fz_buf_view(&name)) : FZ_STR("[unknown]");
}

/* "(/bin/nat)" or "(/bin/nat (deleted))" at the end. */
static void take_place(struct fz_str *name, struct fz_str *place)
{
	int level = 0;

	for (size_t i = name->n; i-- > 0;) {
		level += name->p[i] == ')';
		level -= name->p[i] == '(';
		if (level > 0)
			continue;
		if (level == 0 && i + 1 < name->n && (!i || isspace((uint8_t)name->p[i - 1]))) {
			*place = (struct fz_str){ name->p + i + 1, name->n - i - 2 };
			*name = fz_str_trimmed((struct fz_str){ name->p, i });
		}
		return;
	}
}

/* "560cb47e52e0 cmp+0x0 (/bin/nat)"; names may hold blanks and parentheses. */
static bool read_frame(struct reader *r, struct fz_str s)
{
	struct fz_import_frame f = { .kind = FZ_KIND_NATIVE };
	size_t digits;

	s = fz_str_trimmed(s);
	digits = hex_digits(s);
	if (!digits || digits == s.n || !isspace((uint8_t)s.p[digits]))
		return false;
	struct fz_str name = fz_str_trimmed((struct fz_str){ s.p + digits, s.n - digits });
	struct fz_str place = FZ_STR("");
	take_place(&name, &place);
	name = without_offset(name);
	if (!fz_str_eq(place, FZ_STR("[unknown]")) && !fz_str_eq(place, FZ_STR("inlined")))
		f.module = kept(r, place);
	f.name = kept(r, name);
	f.kind = fz_import_kind(f.file, f.module,
				digits == 16 && (s.p[0] | 32) == 'f' ? FZ_KIND_KERNEL
								     : FZ_KIND_NATIVE);
	if (fz_str_starts(name, "py::") && name.n > 4)
		name_python(r, name, &f);
	else if (!name.n || fz_str_eq(name, FZ_STR("[unknown]")))
		name_unknown(r, &f);
	fz_profile_grow(r->p, r->frames, r->frame_count, r->frame_cap);
	r->frames[r->frame_count++] = f;
	return true;
}

/* What filters on the way may have left of a frame: no indentation. */
static bool is_bare_frame(struct fz_str s)
{
	return s.n && s.p[s.n - 1] == ')' && hex_digits(s) >= 8;
}

/* "nat.c:12" below its frame. */
static bool read_place(struct reader *r, struct fz_str s)
{
	const char *colon;
	uint64_t line;

	s = fz_str_trimmed(s);
	if (!s.p || !s.n || !r->frame_count)
		return false;
	colon = memrchr(s.p, ':', s.n);
	if (!colon || colon == s.p)
		return false;
	struct fz_str number = { colon + 1, s.n - (size_t)(colon + 1 - s.p) };
	if (!fz_parse_u64(number, INT32_MAX, &line))
		return false;
	struct fz_import_frame *f = &r->frames[r->frame_count - 1];
	f->file = kept(r, (struct fz_str){ s.p, (size_t)(colon - s.p) });
	f->module = FZ_STR("");
	f->line = (int32_t)line;
	return true;
}

/* ---- samples ---- */

static int end_sample(struct reader *r, struct fz_error *err)
{
	uint32_t stack = FZ_NONE;

	if (!r->open)
		return 0;
	r->open = false;
	for (size_t i = r->frame_count; i-- > 0;)
		stack = fz_profile_stack(r->p, stack, fz_import_frame(r->p, &r->frames[i]));
	r->now.stack = stack;
	if (r->now.event == FZ_NONE) {
		r->p->skipped_lines++;
		return 0;
	}
	return fz_perf_samples_add(&r->samples, r->p, &r->now, r->bytes, fz_input_name(r->in), err);
}

static void begin_sample(struct reader *r, const struct header *h)
{
	struct fz_thread t = h->thread;
	struct fz_str rest = h->rest;

	t.name = fz_profile_string(r->p, h->comm);
	r->open = true;
	r->frame_count = 0;
	r->untimed |= !h->timed;
	r->now = (struct fz_perf_sample){ .thread = fz_profile_thread(r->p, &t), .time = h->time };
	read_event(r, &rest);
	/* Without call chains the only frame is on the same line. */
	read_frame(r, rest);
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	struct header h;

	r->bytes += line.n + 1;
	if (!line.n)
		return end_sample(r, err);
	if (line.p[0] == '#')
		return 0;
	if (r->open && is_bare_frame(line) && read_frame(r, line))
		return 0;
	if (isspace((uint8_t)line.p[0])) {
		if (!r->open || (!read_frame(r, line) && !read_place(r, line)))
			r->p->skipped_lines++;
		return 0;
	}
	int code = end_sample(r, err);
	if (!code && parse_header(line, &h))
		begin_sample(r, &h);
	else
		r->p->skipped_lines++;
	return code;
}

/* ---- the end ---- */

/* Events as metrics where they have periods, or where there are several to tell apart. */
static void add_samples(struct reader *r)
{
	bool only = r->event_count == 1 && !r->has_period[0];
	double scale[FZ_METRICS_MAX] = { 0 };
	uint32_t metric_of[FZ_PERF_EVENTS_MAX];

	for (uint32_t i = 0; i < FZ_PERF_EVENTS_MAX; i++)
		metric_of[i] = i;
	for (uint32_t i = 0; i < r->event_count && !only; i++)
		scale[i] = fz_perf_add_event(r->p, r->events[i], r->has_period[i]);
	fz_perf_samples_finish(&r->samples, r->p, metric_of, scale, !r->untimed);
}

static void release(struct reader *r)
{
	fz_perf_samples_release(&r->samples);
	free(r->frames);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p };
	int code = fz_import_lines(in, p, LINE_MAX_BYTES, read_line, &r, err);

	if (!code)
		code = end_sample(&r, err);
	if (!code && !r.samples.n)
		code = fz_fail(err, FZ_EINPUT, "%s: holds no sample of perf", fz_input_name(in));
	if (!code)
		add_samples(&r);
	return code;
}

/* A header with a time, followed by a frame. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str rest = { (const char *)head, n };
	bool after_header = false;

	(void)name;
	if (memchr(head, '\0', n))
		return 0;
	if (fz_str_starts(rest, "# ========\n# captured on"))
		return 80;
	for (int i = 0; rest.n && i < 200; i++) {
		const char *end = memchr(rest.p, '\n', rest.n);
		struct fz_str line = { rest.p, end ? (size_t)(end - rest.p) : rest.n };
		struct header h;
		bool indented = line.n && isspace((uint8_t)line.p[0]);
		size_t digits = hex_digits(fz_str_trimmed(line));
		if (after_header && ((indented && digits > 1) || is_bare_frame(line)))
			return 85;
		after_header = parse_header(line, &h) && (h.timed || fz_str_ends(line, ":"));
		rest.p += line.n + (end != NULL);
		rest.n -= line.n + (end != NULL);
	}
	return 0;
}

const struct fz_format fz_format_perf_script = {
	.name = "perf-script",
	.title = "text of perf script (Linux perf)",
	.suffixes = ".perf",
	.notes = "every event is a metric, in periods where they were printed",
	.sniff = sniff,
	.read = read,
};
