/* SPDX-License-Identifier: MIT */
/* Reads the output of macOS's sample(1) and Activity Monitor.
 *
 *   Analysis of sampling app (pid 7) every 1 millisecond
 *   ...
 *   Call graph:
 *       2757 Thread_11   DispatchQueue_1: com.apple.main-thread  (serial)
 *       + 2757 start  (in libdyld.dylib) + 1  [0x7fff6842a085]
 *       +   2750 main  (in app) + 910  [0x1000017be]  main.cpp:353
 *       +   ! 2750 ???  (in app)  load address 0x1000 + 0x86d2c  [0x102ad6d2c]
 *
 * The depth of a line is the column of its number, after spaces and guide marks. The graph ends at
 * the first line of another form. Threads are sampled whether they run or wait.
 */
#include "format.h"
#include "import.h"
#include "indented.h"

#include <ctype.h>

enum { LINE_MAX_BYTES = 1 << 16, HEAD = 4096 };

struct reader {
	struct fz_profile *p;
	struct fz_indented tree;
	uint64_t pid;
	bool inside, done, any;
};

static bool take_number(struct fz_str *s, uint64_t max, uint64_t *ret)
{
	struct fz_str word = *s;

	word.n = 0;
	while (word.n < s->n && isdigit((unsigned char)s->p[word.n]))
		word.n++;
	if (!fz_parse_u64(word, max, ret))
		return false;
	s->p += word.n;
	s->n -= word.n;
	return true;
}

static const char *find(struct fz_str s, const char *what)
{
	return s.p ? memmem(s.p, s.n, what, strlen(what)) : NULL;
}

/* The text after `what`, or empty if it does not occur. */
static struct fz_str text_after(struct fz_str s, const char *what)
{
	const char *at = find(s, what);

	if (!at)
		return FZ_STR("");
	at += strlen(what);
	return (struct fz_str){ at, s.n - (size_t)(at - s.p) };
}

static struct fz_str text_before(struct fz_str s, const char *what)
{
	const char *at = find(s, what);

	return (struct fz_str){ s.p, at ? (size_t)(at - s.p) : s.n };
}

/* "Analysis of sampling app (pid 7) every 10 milliseconds" */
static void read_title(struct reader *r, struct fz_str line)
{
	struct fz_str pid = text_after(line, "(pid "), every = text_after(line, ") every ");
	uint64_t n;

	take_number(&pid, INT32_MAX, &r->pid);
	if (take_number(&every, INT32_MAX, &n)) {
		struct fz_import_metric m = fz_import_unit(fz_str_trimmed(every));
		if (fz_str_eq(m.unit, FZ_STR("ns")))
			r->p->recording.interval_ns = fz_import_scaled_int((int64_t)n, m.scale);
	}
}

/* "Thread_11   DispatchQueue_1: com.apple.main-thread  (serial)", "Thread_11: worker" */
static uint32_t thread_of(struct reader *r, struct fz_str text)
{
	struct fz_thread t = { .pid = r->pid };
	struct fz_str rest = text_after(text, "Thread_");

	take_number(&rest, INT64_MAX, &t.tid);
	t.is_main = find(rest, "com.apple.main-thread") || find(rest, "Main Thread");
	struct fz_str name = text_after(rest, ": ");
	t.name = fz_profile_string(r->p, fz_str_trimmed(text_before(name, "  ")));
	return fz_profile_thread(r->p, &t);
}

/* "name  (in library) + 910  [0x1000017be]  main.cpp:353" */
static uint32_t frame_of(struct reader *r, struct fz_str text)
{
	struct fz_import_frame f = { .name = fz_str_trimmed(text_before(text, "  (in ")) };
	struct fz_str rest = text_after(text, "  (in ");
	struct fz_str module = text_before(rest, ")"), place = text_after(rest, "]  ");
	struct fz_str offset = text_after(text_after(rest, "load address "), "+ 0x");
	const char *colon = place.n ? memrchr(place.p, ':', place.n) : NULL;
	uint64_t address, line;

	if (fz_str_eq(f.name, FZ_STR("???")) && fz_parse_hex(offset, &address))
		return fz_import_address(r->p, module, address);
	if (colon) {
		struct fz_str digits = text_after(
			(struct fz_str){ colon, place.n - (size_t)(colon - place.p) }, ":");
		if (fz_parse_u64(digits, INT32_MAX, &line)) {
			f.file = (struct fz_str){ place.p, (size_t)(colon - place.p) };
			f.line = (int32_t)line;
		}
	}
	return fz_import_frame_in(r->p, &f, module);
}

static void read_node(struct reader *r, struct fz_str line)
{
	size_t column = 0;
	uint64_t n;

	while (column < line.n && strchr(" +!:|", line.p[column]))
		column++;
	struct fz_str text = { line.p + column, line.n - column };
	if (!take_number(&text, UINT32_MAX, &n)) {
		/* This line ends the graph. An empty line may precede the graph. */
		r->done = r->any;
		return;
	}
	text = fz_str_trimmed(text);
	int64_t values[FZ_INDENTED_METRICS] = { fz_import_scaled_int((int64_t)n, 1) };
	bool thread = fz_str_starts(text, "Thread_");
	if (thread) {
		fz_indented_finish(&r->tree);
		r->tree.thread = thread_of(r, text);
	}
	r->any = true;
	fz_indented_line(&r->tree, column, thread ? FZ_NONE : frame_of(r, text), values);
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;

	(void)err;
	if (r->done)
		return 0;
	if (r->inside)
		read_node(r, line);
	else if (fz_str_starts(line, "Analysis of sampling "))
		read_title(r, line);
	else if (fz_str_starts(line, "Path: "))
		fz_profile_set_fact(r->p, "command", fz_str_trimmed(text_after(line, "Path: ")));
	else
		r->inside = fz_str_eq(fz_str_trimmed(line), FZ_STR("Call graph:"));
	return 0;
}

static void release(struct reader *r)
{
	fz_indented_release(&r->tree);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p, .tree = { .p = p, .samples = true } };
	const struct fz_import_metric samples = { FZ_STR("samples"), FZ_STR("count"), 1 };

	fz_import_add_metric(p, &samples, 1, false);
	r.tree.thread = fz_profile_thread(p, &(struct fz_thread){ 0 });
	p->samples.timed = p->samples.ordered = false;
	int code = fz_import_lines(in, p, LINE_MAX_BYTES, read_line, &r, err);
	fz_indented_finish(&r.tree);
	if (!code && !p->samples.n && !p->over_limit)
		return fz_fail(err, FZ_EINPUT, "%s: has no stacks below 'Call graph:'",
			       fz_input_name(in));
	return code ? code : fz_profile_check(p, err);
}

/* On a terminal, sample prints a line or two before its title. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str s = { (const char *)head, FZ_MIN(n, (size_t)HEAD) };
	const char *title = find(s, "Analysis of sampling ");

	(void)name;
	return title && (title == s.p || title[-1] == '\n') ? 90 : 0;
}

const struct fz_format fz_format_macsample = {
	.name = "macsample",
	.title = "text of macOS's sample",
	.suffixes = ".sample.txt",
	.sniff = sniff,
	.read = read,
};
