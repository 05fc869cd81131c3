/* SPDX-License-Identifier: MIT */
/* Reads the old text format of pprof, which Go and gperftools still write.
 *
 *   heap profile: 2: 9 [5: 99] @ heap/8192      in use: bytes [allocated: bytes] @ sampling
 *   1: 4 [2: 44] @ 0x4d9706 0x4d97b8            likewise for a stack: addresses, innermost first
 *   #	0x4d9705	main.grow+0x85	/a/g.go:5    (Go, with ?debug=1) names of its calls
 *
 *   goroutine profile: total 6                  and threadcreate: numbers
 *   5 @ 0x47dbce 0x4d97fd
 *
 *   --- contention:                             and mutex: waits for locks
 *   cycles/second=2596129586
 *   sampling period=1
 *   342022331 39 @ 0x4d9bd3 0x4d9bb3            cycles and count, each times the period
 *
 *   heap_v2/524288                              jemalloc: sampling
 *     t*: 3: 1048576 [0: 0]                     total, and likewise for each thread (t0: ...)
 *   @ 0x401136 0x4011a0                         a stack, its sum and its threads
 *     t*: 2: 524288 [0: 0]
 *
 *   MAPPED_LIBRARIES:                           (gperftools, jemalloc) as /proc/PID/maps
 *
 * Sampling hits large allocations more often than small ones; values are scaled to correct this, as
 * in pprof.
 */
#include "format.h"
#include "import.h"

#include <math.h>

#define JEMALLOC "heap_v2/"

enum { NUMBERS = 4, FRAMES_MAX = 1024 };
#define TEXT_MAX_BYTES ((uint64_t)256 << 20)

struct mapping {
	uint64_t start, end, offset;
	struct fz_str file;
};

struct reader {
	struct fz_profile *p;
	const char *name; /* of the file */
	struct mapping *maps;
	size_t map_n, map_cap;
	double rate; /* bytes between samples; 0: not sampled */
	bool heap, locks, jemalloc;
	double period;      /* of locks: waits per recorded one */
	uint64_t frequency; /* of locks: cycles per second; 0: values are nanoseconds */
	uint32_t thread;
	/* of the current stack */
	bool open;   /* its numbers are known */
	bool listed; /* (jemalloc) its addresses are known */
	int64_t numbers[NUMBERS];
	uint64_t addresses[FRAMES_MAX];
	struct fz_import_frame frames[FRAMES_MAX];
	size_t address_n, frame_n;
};

static bool parse_hex(struct fz_str s, uint64_t *ret)
{
	if (fz_str_starts(s, "0x"))
		s = (struct fz_str){ s.p + 2, s.n - 2 };
	return s.n > 0 && s.n <= 16 && fz_parse_hex(s, ret) == s.n;
}

/* Parses "2: 9 [5: 99] @" or "5 @"; jemalloc's have no "@". Returns the number of numbers; 0 for
 * other lines. */
static unsigned take_numbers(struct fz_str *line, bool to_end, int64_t ret[NUMBERS])
{
	unsigned n = 0;

	while (line->n) {
		struct fz_str word = fz_str_take_word(line);
		uint64_t v;
		if (!to_end && fz_str_eq(word, FZ_STR("@")))
			return n;
		while (word.n && strchr(":]", word.p[word.n - 1]))
			word.n--;
		if (fz_str_starts(word, "["))
			word = (struct fz_str){ word.p + 1, word.n - 1 };
		if (!word.n)
			continue; /* "[ 5: 99]" */
		if (n == NUMBERS || !fz_parse_u64(word, INT64_MAX, &v))
			return 0;
		ret[n++] = (int64_t)v;
	}
	return to_end ? n : 0;
}

/* ---- mappings ---- */

/* "START-END: FILE" or "START-END rwxp OFFSET DEVICE INODE FILE". */
static void add_mapping(struct reader *r, struct fz_str line)
{
	struct fz_str range = fz_str_take_word(&line), word = fz_str_take_word(&line);
	struct mapping m = { .file = word };
	const char *dash = range.n ? memchr(range.p, '-', range.n) : NULL;

	if (!dash)
		return;
	size_t n = (size_t)(dash - range.p);
	struct fz_str end = { dash + 1, range.n - n - 1 };
	if (fz_str_ends(end, ":")) {
		end.n--;
	} else {
		if (!parse_hex(fz_str_take_word(&line), &m.offset))
			return;
		fz_str_take_word(&line);
		fz_str_take_word(&line);
		m.file = fz_str_take_word(&line);
	}
	if (!parse_hex((struct fz_str){ range.p, n }, &m.start) || !parse_hex(end, &m.end) ||
	    !m.file.n)
		return;
	fz_profile_push(r->p, r->maps, r->map_n, r->map_cap, m);
}

/* Mappings are last in the text, in order of addresses. */
static void read_mappings(struct reader *r, struct fz_str text)
{
	bool inside = false;

	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		if (inside)
			add_mapping(r, line);
		inside |= fz_str_starts(line, "MAPPED_LIBRARIES:") ||
			  fz_str_starts(line, "--- Memory map:");
	}
}

static uint32_t address_frame(struct reader *r, uint64_t address)
{
	struct fz_str file = FZ_STR("");
	size_t lo = 0, hi = r->map_n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (r->maps[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && address < r->maps[lo - 1].end) {
		const struct mapping *m = &r->maps[lo - 1];
		file = m->file;
		address += m->offset - m->start;
	}
	return fz_import_address(r->p, file, address);
}

/* ---- stacks ---- */

/* Estimates the number and bytes of all allocations from the sampled ones and their mean size. */
static void scale(double rate, int64_t *count, int64_t *bytes)
{
	if (!*count || !*bytes || rate <= 1)
		return;
	double factor = 1 / (1 - exp(-((double)*bytes / (double)*count) / rate));
	*count = fz_import_scaled(trunc((double)*count * factor), 1);
	*bytes = fz_import_scaled(trunc((double)*bytes * factor), 1);
}

static void end_stack(struct reader *r)
{
	struct fz_sample s = { .thread = r->thread, .stack = FZ_NONE, .status = FZ_STATUS_UNKNOWN };

	if (!r->open)
		return;
	r->open = false;
	for (size_t i = r->frame_n; i-- > 0;)
		s.stack = fz_profile_stack(r->p, s.stack, fz_import_frame(r->p, &r->frames[i]));
	for (size_t i = r->frame_n ? 0 : r->address_n; i-- > 0;)
		s.stack = fz_profile_stack(r->p, s.stack, address_frame(r, r->addresses[i]));
	if (r->heap) {
		const int64_t *n = r->numbers;
		int64_t weights[NUMBERS] = { n[2], n[3], n[0], n[1] };
		scale(r->rate, &weights[0], &weights[1]);
		scale(r->rate, &weights[2], &weights[3]);
		fz_profile_add_sample(r->p, &s, weights);
	} else if (r->locks) {
		double ghz = r->frequency ? (double)r->frequency / 1e9 : 1;
		double ns = trunc((double)r->numbers[0] * r->period / ghz);
		int64_t weights[] = { fz_import_scaled_int(r->numbers[1], r->period),
				      fz_import_scaled(ns, 1) };
		fz_profile_add_sample(r->p, &s, weights);
	} else {
		fz_profile_add_sample(r->p, &s, r->numbers);
	}
}

/* Starts a stack of return addresses; calls precede them. */
static void begin_stack(struct reader *r, struct fz_str addresses)
{
	uint64_t address;

	r->open = true;
	r->address_n = r->frame_n = 0;
	while (addresses.n && r->address_n < FRAMES_MAX) {
		if (!parse_hex(fz_str_take_word(&addresses), &address))
			break;
		r->addresses[r->address_n++] = address - (address > 0);
	}
}

static struct fz_str take_field(struct fz_str *s)
{
	while (s->n && *s->p == '\t')
		*s = (struct fz_str){ s->p + 1, s->n - 1 };
	const char *end = s->n ? memchr(s->p, '\t', s->n) : NULL;
	struct fz_str field = { s->p, end ? (size_t)(end - s->p) : s->n };
	*s = (struct fz_str){ s->p + field.n, s->n - field.n };
	return fz_str_trimmed(field);
}

/* "#	0x4d9705	main.grow+0x85	/a/g.go:5" */
static void add_call(struct reader *r, struct fz_str line)
{
	struct fz_import_frame f = { .kind = FZ_KIND_NATIVE };
	uint64_t number;

	line = (struct fz_str){ line.p + 1, line.n - 1 };
	take_field(&line);
	f.name = take_field(&line);
	f.file = take_field(&line);
	if (!f.name.n || r->frame_n == FRAMES_MAX)
		return;
	const char *plus = memrchr(f.name.p, '+', f.name.n);
	if (plus && parse_hex((struct fz_str){ plus + 1, f.name.n - (size_t)(plus + 1 - f.name.p) },
			      &number))
		f.name.n = (size_t)(plus - f.name.p);
	const char *colon = f.file.n ? memrchr(f.file.p, ':', f.file.n) : NULL;
	if (colon &&
	    fz_parse_u64((struct fz_str){ colon + 1, f.file.n - (size_t)(colon + 1 - f.file.p) },
			 INT32_MAX, &number)) {
		f.file.n = (size_t)(colon - f.file.p);
		f.line = (int32_t)number;
	}
	r->frames[r->frame_n++] = f;
}

/* "cycles/second=2596129586", "sampling period = 100" */
static void read_setting(struct reader *r, struct fz_str line)
{
	const char *equals = line.n ? memchr(line.p, '=', line.n) : NULL;
	size_t at = equals ? (size_t)(equals - line.p) : line.n;
	struct fz_str key = fz_str_trimmed((struct fz_str){ line.p, at });
	uint64_t n;

	if (!equals || !fz_parse_u64(fz_str_trimmed((struct fz_str){ equals + 1, line.n - at - 1 }),
				     INT64_MAX, &n))
		return;
	if (fz_str_eq(key, FZ_STR("cycles/second")))
		r->frequency = n;
	else if (fz_str_eq(key, FZ_STR("sampling period")) && n)
		r->period = (double)n;
}

/* "@ 0x401136 0x4011a0", then "t*: 2: 524288 [0: 0]". Numbers before the first stack are totals;
 * those of single threads are parts of "t*". */
static void read_jemalloc_line(struct reader *r, struct fz_str line)
{
	struct fz_str word = fz_str_take_word(&line);
	int64_t numbers[NUMBERS] = { 0 };

	if (fz_str_eq(word, FZ_STR("@"))) {
		begin_stack(r, line);
		r->open = false;
		r->listed = true;
	} else if (r->listed && fz_str_eq(word, FZ_STR("t*:")) &&
		   take_numbers(&line, true, numbers) == NUMBERS) {
		memcpy(r->numbers, numbers, sizeof(numbers));
		r->open = true;
		r->listed = false;
		end_stack(r);
	}
}

static void read_line(struct reader *r, struct fz_str line)
{
	int64_t numbers[NUMBERS] = { 0 };

	if (r->jemalloc) {
		read_jemalloc_line(r, line);
		return;
	}
	if (r->locks && !r->open)
		read_setting(r, line);
	if (fz_str_starts(line, "#") && r->open) {
		add_call(r, line);
		return;
	}
	end_stack(r);
	if (!take_numbers(&line, false, numbers))
		return;
	memcpy(r->numbers, numbers, sizeof(numbers));
	begin_stack(r, line);
}

/* ---- the head ---- */

/* "heap/8192" is twice the rate (Go), "heap_v2/524288" the rate itself (gperftools). */
static void read_rate(struct reader *r, struct fz_str how)
{
	const char *slash = how.n ? memchr(how.p, '/', how.n) : NULL;
	uint64_t rate;

	if (!slash)
		return;
	struct fz_str digits = { slash + 1, how.n - (size_t)(slash + 1 - how.p) };
	if (!fz_parse_u64(digits, INT64_MAX, &rate))
		return;
	r->rate = fz_str_starts(how, "heap/") ? (double)(rate / 2) : (double)rate;
}

static void read_head(struct reader *r, struct fz_str line)
{
	static const char *const heap[NUMBERS] = { "alloc_objects", "alloc_space", "inuse_objects",
						   "inuse_space" };
	int64_t numbers[NUMBERS];
	struct fz_str kind = fz_str_take_word(&line);

	r->locks = fz_str_eq(kind, FZ_STR("---"));
	if (r->locks) {
		r->period = 1;
		fz_profile_add_metric(r->p, FZ_STR("contentions"), FZ_STR("count"), 0, true);
		r->p->default_metric =
			fz_profile_add_metric(r->p, FZ_STR("delay"), FZ_STR("ns"), 0, true);
		return;
	}
	r->jemalloc = fz_str_starts(kind, JEMALLOC);
	r->heap = r->jemalloc || fz_str_eq(kind, FZ_STR("heap"));
	fz_str_take_word(&line);
	if (!r->heap) {
		fz_profile_add_metric(r->p, kind, FZ_STR("count"), 0, true);
		return;
	}
	if (r->jemalloc)
		read_rate(r, kind);
	else if (take_numbers(&line, false, numbers))
		read_rate(r, fz_str_take_word(&line));
	for (unsigned i = 0; i < NUMBERS; i++)
		fz_profile_add_metric(r->p, fz_str_of(heap[i]),
				      i % 2 ? FZ_STR("bytes") : FZ_STR("count"), 0, true);
	r->p->default_metric = NUMBERS - 1;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	int code = fz_input_read_all(in, &bytes, TEXT_MAX_BYTES, err);

	if (code)
		return code;
	fz_auto(fz_free_ptr) struct reader *r = fz_calloc(1, sizeof(*r));
	struct fz_str text = fz_buf_view(&bytes);
	r->p = p;
	r->name = fz_input_name(in);
	p->samples.ordered = p->samples.timed = false;
	r->thread = fz_profile_thread(p, &(struct fz_thread){ .is_main = true });
	read_head(r, fz_str_take_line(&text));
	read_mappings(r, text);
	while (text.n && !p->over_limit)
		read_line(r, fz_str_take_line(&text));
	end_stack(r);
	free(r->maps);
	if (!p->samples.n)
		return fz_fail(err, FZ_EINPUT, "%s: no stack", r->name);
	return fz_profile_check(p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char *const kinds[] = { "goroutine profile: total ",
					     "threadcreate profile: total ",
					     "--- contention:", "--- contentionz ", "--- mutex:" };
	struct fz_str text = { (const char *)head, n };

	(void)name;
	for (size_t i = 0; i < FZ_ARRAY_LEN(kinds); i++)
		if (fz_str_starts(text, kinds[i]))
			return 95;
	struct fz_str line = n ? fz_str_take_line(&text) : text;
	if (fz_str_starts(line, JEMALLOC))
		return fz_str_starts(fz_str_trimmed(fz_str_take_line(&text)), "t*: ") ? 95 : 0;
	return fz_str_starts(line, "heap profile: ") && memchr(line.p, '@', line.n) ? 95 : 0;
}

const struct fz_format fz_format_pprof_text = {
	.name = "pprof-text",
	.title = "heap, goroutine and lock text of Go (?debug=1), gperftools and jemalloc",
	.suffixes = ".txt .heap",
	.notes = "sampled allocations are scaled as in pprof",
	.sniff = sniff,
	.read = read,
};
