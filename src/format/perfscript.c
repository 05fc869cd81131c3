/* SPDX-License-Identifier: MIT */
/* Reads the output of `perf script`.
 *
 *   nat  28209/28210 [001]  1974.209687:    2004008 cpu-clock:u:
 *   	    560cb47e52e0 cmp+0x0 (/bin/nat)          the innermost frame
 *   	    7f1b5e790f07 main+0x207 (/bin/nat)
 *     nat.c:12                                      its place, if requested
 *
 * The columns depend on options (-F), so a header is parsed around the time, whose form is unique,
 * else around the first word that looks like an event. One number before it is a thread; a number
 * before the event is the period, the weight of the sample. Without any header, stacks are blocks
 * between empty lines.
 */
#include "format.h"
#include "import.h"
#include "perfsamples.h"
#include "symbol/jitmap.h"

#include <ctype.h>
#include <stdio.h>

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_str events[FZ_PERF_EVENTS_MAX]; /* in the profile's strings */
	bool has_period[FZ_PERF_EVENTS_MAX];
	uint32_t event_count;
	struct fz_perf_samples samples;
	uint64_t bytes;      /* read so far */
	bool untimed;        /* some header had no time */
	bool after_blank;    /* the previous line was empty, or there was none */
	bool have_places;    /* frames end in objects in parentheses */
	bool ended_in_place; /* the previous line ended in one */
	/* of the current sample */
	bool open, loose;
	struct fz_str event; /* in the profile's strings */
	bool with_period;
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

/* Interns a text. */
static struct fz_str kept(struct reader *r, struct fz_str s)
{
	return fz_profile_text(r->p, fz_profile_string(r->p, s));
}

/* ---- headers ---- */

/* Parses "1974.209687:" to nanoseconds, exactly. */
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
	struct fz_str comm, rest; /* rest: of the event and what follows; "" without */
	int64_t time;
	bool timed, has_thread;
	bool loose; /* uncertain: it is a header only if frames follow */
};

/* "cpu-clock:u:", "1gb_pages:". "4005d0:" and "0x4005d0:" are addresses in other tools' texts. */
static bool is_event(struct fz_str word)
{
	if (word.n < 2 || word.p[word.n - 1] != ':' || fz_str_starts(word, "0x"))
		return false;
	uint8_t first = (uint8_t)word.p[0];
	return isalpha(first) || first == '_' ||
	       (isdigit(first) && isalpha((uint8_t)word.p[fz_parse_hex(word, NULL)]));
}

/* Splits a line at its time, else its event; returns the part before, which describes the
 * thread. */
static struct fz_str split_header(struct fz_str line, struct header *h)
{
	struct fz_str rest = line, event = { 0 };

	while (rest.n) {
		struct fz_str word = fz_str_take_word(&rest);
		h->timed = parse_time(word, &h->time);
		if (h->timed) {
			h->rest = rest;
			return (struct fz_str){ line.p, (size_t)(word.p - line.p) };
		}
		if (!event.p && is_event(word))
			event = word;
	}
	if (!event.p)
		return line;
	h->rest = (struct fz_str){ event.p, line.n - (size_t)(event.p - line.p) };
	return (struct fz_str){ line.p, (size_t)(event.p - line.p) };
}

/* Parses "my prog 28209/28210 [001] d..2." from its end. */
static bool take_thread(struct fz_str *s, struct fz_thread *t)
{
	for (int i = 0; i < 4; i++) {
		struct fz_str word = take_last_word(s);
		if (!word.n)
			return false;
		if (parse_ids(word, t))
			return true;
	}
	return false;
}

/* If two numbers precede an event, the second is its period. */
static void keep_period(struct header *h, struct fz_str before, struct fz_str *left)
{
	struct fz_thread t = { 0 };
	struct fz_str period = take_last_word(&before);
	struct fz_str comm = before;
	uint64_t n;

	if (h->timed || !h->rest.n || !fz_parse_u64(period, INT64_MAX, &n) ||
	    !take_thread(&comm, &t))
		return;
	h->rest = (struct fz_str){ period.p, (size_t)(h->rest.p + h->rest.n - period.p) };
	h->thread = t;
	*left = comm;
}

static bool parse_header(struct fz_str line, struct header *h)
{
	*h = (struct header){ 0 };
	struct fz_str before = split_header(line, h), comm = before;

	h->has_thread = take_thread(&comm, &h->thread);
	if (h->has_thread)
		keep_period(h, before, &comm);
	h->comm = fz_str_trimmed(h->has_thread ? comm : before);
	h->loose = !h->timed && !(h->rest.n && h->has_thread);
	return fz_str_trimmed(line).n > 0;
}

static uint32_t event_of(struct reader *r, struct fz_str name)
{
	for (uint32_t i = 0; i < r->event_count; i++)
		if (fz_str_eq(r->events[i], name))
			return i;
	if (r->event_count == FZ_PERF_EVENTS_MAX)
		return FZ_NONE;
	r->events[r->event_count] = name;
	return r->event_count++;
}

/* "[period] event:" and the optional rest. */
static void read_event(struct reader *r, struct fz_str *rest)
{
	struct fz_str word = fz_str_take_word(rest);
	uint64_t period;
	bool has_period = fz_parse_u64(word, INT64_MAX, &period);

	if (has_period)
		word = fz_str_take_word(rest);
	if (word.n && word.p[word.n - 1] == ':')
		word.n--;
	r->event = kept(r, word);
	r->with_period = has_period;
	r->now.period = has_period ? (int64_t)period : 1;
}

/* ---- frames ---- */

static struct fz_str without_offset(struct fz_str name)
{
	const char *plus = name.n ? memrchr(name.p, '+', name.n) : NULL;

	if (!plus)
		return name;
	struct fz_str offset = { plus + 1, name.n - (size_t)(plus + 1 - name.p) };
	if (offset.n > 2 && fz_str_starts(offset, "0x") &&
	    fz_parse_hex((struct fz_str){ offset.p + 2, offset.n - 2 }, NULL) == offset.n - 2)
		name.n = (size_t)(plus - name.p);
	return name;
}

/* Whether a symbol is from /tmp/perf-PID.map, or from what perf inject makes of a jitdump. */
static bool is_made(struct fz_str object)
{
	struct fz_str base = fz_path_base(object);

	return fz_str_starts(base, "jitted-") ||
	       (fz_str_starts(base, "perf-") && fz_str_ends(base, ".map"));
}

/* Names of generated code: of CPython "py::function:file", of V8 "JS:*function file:3:7". */
static void name_made(struct reader *r, struct fz_str name, struct fz_import_frame *f)
{
	struct fz_made_code made = fz_jitmap_split(name);

	f->name = kept(r, made.name);
	if (!made.file.n)
		return;
	f->file = kept(r, made.file);
	f->module = FZ_STR("");
	f->first_line = made.line;
	f->kind = made.python ? FZ_KIND_PYTHON : f->kind;
}

/* Without a symbol, the object's name: "[libc.so.6]". */
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

static void add_frame(struct reader *r, const struct fz_import_frame *f)
{
	fz_profile_push(r->p, r->frames, r->frame_count, r->frame_cap, *f);
}

/* "560cb47e52e0", if symbols were not requested. */
static void add_address(struct reader *r, struct fz_str digits)
{
	char name[2 + 16 + 1];

	snprintf(name, sizeof(name), "0x%.*s", (int)FZ_MIN(digits.n, 16), digits.p);
	add_frame(r, &(struct fz_import_frame){ .name = kept(r, fz_str_of(name)),
						.kind = FZ_KIND_NATIVE });
}

/* "560cb47e52e0 cmp+0x0 (/bin/nat)"; names may contain spaces and parentheses. */
static bool read_frame(struct reader *r, struct fz_str s)
{
	struct fz_import_frame f = { .kind = FZ_KIND_NATIVE };
	bool own_line = s.n && s.p[0] == '\t';
	size_t digits;

	s = fz_str_trimmed(s);
	digits = fz_parse_hex(s, NULL);
	if (own_line && digits && digits == s.n) {
		add_address(r, s);
		return true;
	}
	if (!digits || digits == s.n || !isspace((uint8_t)s.p[digits]))
		return false;
	struct fz_str name = fz_str_trimmed((struct fz_str){ s.p + digits, s.n - digits });
	struct fz_str place = FZ_STR("");
	take_place(&name, &place);
	r->have_places |= place.n > 0;
	name = without_offset(name);
	if (!fz_str_eq(place, FZ_STR("[unknown]")) && !fz_str_eq(place, FZ_STR("inlined")))
		f.module = kept(r, fz_import_module(place));
	f.name = kept(r, name);
	f.kind = fz_import_kind(f.file, f.module,
				digits == 16 && (s.p[0] | 32) == 'f' ? FZ_KIND_KERNEL
								     : FZ_KIND_NATIVE);
	if (!name.n || fz_str_eq(name, FZ_STR("[unknown]")))
		name_unknown(r, &f);
	else if (fz_str_starts(name, "py::") || is_made(f.module))
		name_made(r, name, &f);
	add_frame(r, &f);
	return true;
}

/* Whether a line is a frame that lost its indentation to a filter. */
static bool is_bare_frame(struct fz_str s)
{
	return s.n && s.p[s.n - 1] == ')' && fz_parse_hex(s, NULL) >= 8;
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
	if (r->loose && !r->frame_count) {
		r->p->skipped_lines++;
		return 0;
	}
	for (size_t i = r->frame_count; i-- > 0;)
		stack = fz_profile_stack(r->p, stack, fz_import_frame(r->p, &r->frames[i]));
	r->now.stack = stack;
	r->now.event = event_of(r, r->event);
	if (r->now.event == FZ_NONE) {
		r->p->skipped_lines++;
		return 0;
	}
	r->has_period[r->now.event] |= r->with_period;
	return fz_perf_samples_add(&r->samples, r->p, &r->now, r->bytes, fz_input_name(r->in), err);
}

static void begin_sample(struct reader *r, const struct header *h)
{
	struct fz_thread t = h->thread;
	struct fz_str rest = h->rest;

	t.name = fz_profile_string(r->p, h->comm);
	r->open = true;
	r->loose = h->loose;
	r->untimed |= !h->timed;
	r->frame_count = 0;
	r->now = (struct fz_perf_sample){ .thread = fz_profile_thread(r->p, &t), .time = h->time };
	read_event(r, &rest);
	/* Without call chains, the only frame is on the same line. */
	read_frame(r, rest);
}

/* Without call chains, names of programs are right-aligned. */
static bool is_indented_header(struct fz_str line, struct header *h)
{
	return line.p[0] != '\t' && parse_header(line, h) && !h->loose;
}

static void read_indented(struct reader *r, struct fz_str line)
{
	if (!r->open && r->after_blank)
		begin_sample(r, &(struct header){ .loose = true });
	if (!r->open || (!read_frame(r, line) && !read_place(r, line)))
		r->p->skipped_lines++;
}

/* What perf script --show-mmap-events and its like print between samples. */
static bool is_record(struct fz_str line)
{
	static const char mark[] = " PERF_RECORD_";

	return memmem(line.p, line.n, mark, sizeof(mark) - 1) != NULL;
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	struct header h;

	r->bytes += line.n + 1;
	r->ended_in_place = fz_str_ends(line, ")");
	if (!line.n) {
		r->after_blank = true;
		return end_sample(r, err);
	}
	if (line.p[0] == '#')
		return 0;
	if (r->open && is_bare_frame(line) && read_frame(r, line))
		return 0;
	bool header =
		isspace((uint8_t)line.p[0]) ? is_indented_header(line, &h) : parse_header(line, &h);
	int code = header ? end_sample(r, err) : 0;
	if (header && !code && !is_record(line))
		begin_sample(r, &h);
	else if (!header)
		read_indented(r, line);
	r->after_blank = false;
	return code;
}

/* ---- the end ---- */

/* Makes events metrics if they have periods, or if there are several. */
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

/* Whether the file is truncated: it may end without a newline, but not in a header, nor in a frame
 * before the object that all frames have. A truncated stack lacks its root. */
static bool is_cut(const struct reader *r)
{
	if (!r->open || !fz_input_ended_in_line(r->in))
		return false;
	return r->frame_count ? r->have_places && !r->ended_in_place : r->samples.n > 0;
}

static int end_last_sample(struct reader *r, struct fz_error *err)
{
	if (!is_cut(r))
		return end_sample(r, err);
	r->open = false;
	fz_import_note_cut(r->p);
	return 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p, .after_blank = true };
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);

	if (!code)
		code = end_last_sample(&r, err);
	if (!code && !r.samples.n)
		code = fz_fail(err, FZ_EINPUT, "%s: no perf samples", fz_input_name(in));
	if (!code)
		add_samples(&r);
	return code;
}

/* "\t 1163 leaf", with perf's alignment of addresses. */
static bool is_aligned_frame(struct fz_str line)
{
	if (line.n < 17 || line.p[0] != '\t')
		return false;
	struct fz_str address = { line.p + 1, line.n - 1 };
	size_t blanks = 0;
	while (blanks < 15 && address.p[blanks] == ' ')
		blanks++;
	address.p += blanks;
	address.n -= blanks;
	size_t digits = fz_parse_hex(address, NULL);
	return blanks + digits >= 16 && (digits == address.n || address.p[digits] == ' ');
}

/* Whether a header is followed by a frame, on the next or the same line. */
static bool has_frame(const struct header *h, struct fz_str next)
{
	struct fz_str rest = h->rest, word;

	if (is_aligned_frame(next))
		return true;
	if (h->loose)
		return false;
	if ((next.n && isspace((uint8_t)next.p[0]) &&
	     fz_parse_hex(fz_str_trimmed(next), NULL) > 1) ||
	    is_bare_frame(next))
		return true;
	do
		word = fz_str_take_word(&rest);
	while (word.n && word.p[word.n - 1] != ':');
	word = fz_str_take_word(&rest);
	return word.n >= 4 && fz_parse_hex(word, NULL) == word.n && rest.n;
}

/* A header followed by a frame. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str rest = { (const char *)head, n };

	(void)name;
	if (memchr(head, '\0', n))
		return 0;
	if (fz_str_starts(rest, "# ========\n# captured on"))
		return 80;
	for (int i = 0; rest.n && i < 200; i++) {
		struct fz_str line = fz_str_take_line(&rest), after = rest;
		struct header h = { .loose = true };
		bool tab = line.n && line.p[0] == '\t';
		if (!tab && (!line.n || parse_header(line, &h)) &&
		    has_frame(&h, fz_str_take_line(&after)))
			return 85;
	}
	return 0;
}

const struct fz_format fz_format_perf_script = {
	.name = "perf-script",
	.title = "text of perf script (Linux perf)",
	.suffixes = ".perf",
	.notes = "every event is a metric, in periods if printed",
	.sniff = sniff,
	.read = read,
};
