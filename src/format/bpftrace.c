/* SPDX-License-Identifier: MIT */
/* Reads the maps printed by bpftrace, if their keys are stacks.
 *
 *   Attaching 1 probe...
 *   @[
 *       schedule+5               kstack, innermost first
 *       do_nanosleep+11
 *   ,
 *       nanosleep+9              ustack
 *       main+40
 *   , sleeper, 77]: 12           comm, pid and the number
 *
 * A frame may be "7f01 nanosleep+9 (/lib/libc.so.6)" (stack mode perf). Repeated prints of a map
 * are summed. Only the first map with stacks is read.
 */
#include "collapsed.h"
#include "format.h"
#include "import.h"
#include "unfolded.h"

#include <ctype.h>

struct reader {
	struct fz_input *in;
	struct fz_unfolded stack;
	struct fz_buf map; /* name of the map being read */
	struct fz_buf number;
	bool known;       /* the name is known; it may be empty */
	bool inside;      /* inside a record */
	bool wanted;      /* the record is of that map */
	size_t second;    /* start of the second stack; 0 if none */
	uint64_t skipped; /* records of other maps, or without a sum */
};

static const char *find(struct fz_str s, const char *what)
{
	return s.n ? memmem(s.p, s.n, what, strlen(what)) : NULL;
}

static struct fz_str from(struct fz_str s, const char *at)
{
	return (struct fz_str){ at, (size_t)(s.p + s.n - at) };
}

static struct fz_str before(struct fz_str s, const char *at)
{
	return (struct fz_str){ s.p, (size_t)(at - s.p) };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* ---- frames ---- */

/* The last occurrence of a character, or NULL. */
static const char *last_of(struct fz_str s, char c)
{
	return s.p && s.n ? memrchr(s.p, c, s.n) : NULL;
}

/* Strips "+17", "+0x11", "+17@/a.c:4" from the end. */
static struct fz_str without_offset(struct fz_str name)
{
	const char *plus = last_of(name, '+');

	if (!plus || plus == name.p)
		return name;
	struct fz_str offset = from(name, plus + 1);
	if (fz_str_starts(offset, "0x"))
		offset = from(offset, offset.p + 2);
	size_t n = fz_parse_hex(offset, NULL);
	return n && (n == offset.n || offset.p[n] == '@') ? before(name, plus) : name;
}

/* Extracts the symbol of "ffffffff81a4 do_mmap+1 ([kernel.kallsyms])" (stack mode perf). */
static struct fz_str without_address(struct fz_str text, bool *ret_kernel)
{
	size_t n = fz_parse_hex(text, NULL);

	if (n < 4 || n >= text.n || text.p[n] != ' ')
		return text;
	text = fz_str_trimmed(from(text, text.p + n));
	const char *open = last_of(text, '(');
	if (!open || open == text.p || open[-1] != ' ' || !fz_str_ends(text, ")"))
		return text;
	*ret_kernel = fz_str_starts(from(text, open), "([kernel");
	return fz_str_trimmed(before(text, open));
}

static void add_frame(struct reader *r, struct fz_str line)
{
	bool kernel = false;
	struct fz_str name = without_offset(without_address(fz_str_trimmed(line), &kernel));

	if (name.n)
		fz_unfolded_add(&r->stack, name, kernel);
}

static struct fz_str frame_name(const struct reader *r, size_t i)
{
	return (struct fz_str){ r->stack.text.p + r->stack.frames[i].at, r->stack.frames[i].n };
}

static bool is_kernel_entry(struct fz_str name)
{
	static const char *const names[] = { "entry_", "ret_from_fork", "asm_",
					     "el0",    "el1",           "secondary_startup" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		if (fz_str_starts(name, names[i]))
			return true;
	return false;
}

static void swap_stacks(struct reader *r)
{
	struct fz_unfolded_frame *f = r->stack.frames;
	size_t n = r->stack.count, first = r->second;
	struct fz_unfolded_frame *copy = fz_reallocarray(NULL, n, sizeof(*copy));

	memcpy(copy, f + first, (n - first) * sizeof(*copy));
	memcpy(copy + n - first, f, first * sizeof(*copy));
	memcpy(f, copy, n * sizeof(*copy));
	free(copy);
	r->second = n - first;
}

/* Puts the kernel's stack on top of the program's. The kernel's is the first one, since kstack
 * usually precedes ustack, unless the second starts at a kernel entry. */
static void join_stacks(struct reader *r)
{
	if (!r->second || r->second == r->stack.count)
		return;
	if (is_kernel_entry(frame_name(r, r->stack.count - 1)) &&
	    !is_kernel_entry(frame_name(r, r->second - 1)))
		swap_stacks(r);
	for (size_t i = 0; i < r->second; i++)
		r->stack.frames[i].kernel = true;
}

/* ---- records ---- */

static bool is_number(struct fz_str s)
{
	uint64_t v;

	return fz_parse_u64(s, UINT64_MAX, &v);
}

/* "sleeper, 77": names become the root of the stack. Numbers differ from run to run and are
 * ignored. */
static void add_keys(struct reader *r, struct fz_str text)
{
	while (text.n) {
		const char *comma = find(text, ", ");
		struct fz_str key = fz_str_trimmed(comma ? before(text, comma) : text);
		if (fz_str_ends(key, ","))
			key.n--;
		text = comma ? from(text, comma + 2) : FZ_STR("");
		if (!key.n || is_number(key))
			continue;
		if (r->stack.root.n)
			fz_buf_char(&r->stack.root, ' ');
		fz_buf_add(&r->stack.root, key.p, key.n);
	}
}

/* "12", or "count 3, average 5, total 15" of stats(). */
static bool read_number(struct reader *r, struct fz_str text)
{
	const char *total = find(text, ", total ");

	text = fz_str_trimmed(total ? from(text, total + strlen(", total ")) : text);
	fz_buf_reset(&r->number);
	fz_buf_add(&r->number, text.p, text.n);
	return is_number(text);
}

/* "@name[": returns the rest of the line, the keys; NULL if the line does not start a record. */
static const char *record_keys(struct fz_str line, struct fz_str *ret_map)
{
	size_t n = 1;

	if (!fz_str_starts(line, "@"))
		return NULL;
	while (n < line.n && (isalnum((unsigned char)line.p[n]) || line.p[n] == '_'))
		n++;
	*ret_map = (struct fz_str){ line.p + 1, n - 1 };
	return n < line.n && line.p[n] == '[' ? line.p + n + 1 : NULL;
}

static void begin_record(struct reader *r, struct fz_str map)
{
	if (!r->known)
		fz_buf_add(&r->map, map.p, map.n);
	r->known = true;
	r->wanted = fz_str_eq(fz_buf_view(&r->map), map);
	r->inside = true;
	r->second = 0;
	fz_unfolded_reset(&r->stack);
}

/* "]: 12" or ", sleeper]: 12"; true if the stack is complete and wanted. */
static bool end_record(struct reader *r, struct fz_str line, const char *end)
{
	add_keys(r, before(line, end));
	r->inside = false;
	if (r->wanted && read_number(r, from(line, end + strlen("]: "))))
		return true;
	r->skipped++;
	return false;
}

/* Reads the first line of a record; a record on one line has no frames ("@[, sleeper]: 3") or no
 * stack as key. */
static bool read_first(struct reader *r, struct fz_str line)
{
	struct fz_str map;
	const char *keys = record_keys(line, &map);

	if (!keys)
		return false;
	struct fz_str rest = from(line, keys);
	const char *end = find(rest, "]: ");
	if (end && !fz_str_starts(rest, ","))
		return false;
	begin_record(r, map);
	if (end)
		return end_record(r, rest, end);
	add_keys(r, rest);
	return false;
}

static bool read_inside(struct reader *r, struct fz_str line)
{
	if (!line.n)
		return false;
	if (is_blank(line.p[0])) {
		add_frame(r, line);
		return false;
	}
	const char *end = find(line, "]: ");
	if (end && (line.p[0] == ',' || line.p[0] == ']'))
		return end_record(r, line, end);
	if (line.p[0] != ',')
		return read_first(r, line);
	add_keys(r, line);
	r->second = r->second ? r->second : r->stack.count;
	return false;
}

static int next(void *arg, struct fz_str *ret, struct fz_error *err)
{
	struct reader *r = arg;
	struct fz_str line;
	int code;

	while ((code = fz_input_line(r->in, FZ_IMPORT_LINE_MAX, &line, err)) > 0)
		if (r->inside ? read_inside(r, line) : read_first(r, line)) {
			join_stacks(r);
			*ret = fz_unfolded_line(&r->stack, fz_buf_view(&r->number));
			return 1;
		}
	return code;
}

static void release(struct reader *r)
{
	fz_unfolded_release(&r->stack);
	fz_buf_release(&r->map);
	fz_buf_release(&r->number);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in };
	const struct fz_collapsed_lines lines = { next, &r, fz_input_name(in) };
	int code = fz_collapsed_read_lines(&lines, p, err);

	if (!code && r.skipped)
		fz_profile_note(p, "read the sums of map @%.*s; skipped %llu other records",
				(int)FZ_MIN(r.map.n, 100), r.map.n ? r.map.p : "",
				(unsigned long long)r.skipped);
	return code;
}

/* Looks for a line that starts a record without ending it, followed by a frame. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str text = { (const char *)head, n }, map;

	(void)name;
	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		const char *keys = record_keys(line, &map);
		if (keys && !find(from(line, keys), "]: ") && text.n && is_blank(text.p[0]))
			return 75;
	}
	return 0;
}

const struct fz_format fz_format_bpftrace = {
	.name = "bpftrace",
	.title = "stack maps printed by bpftrace",
	.suffixes = ".txt",
	.notes = "only the first map is read",
	.sniff = sniff,
	.read = read,
};
