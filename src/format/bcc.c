/* SPDX-License-Identifier: MIT */
/* Reads the output of bcc's profile and offcputime without -f.
 *
 *   Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.
 *
 *       schedule                              innermost first
 *       --                                    (-d) above are the kernel's frames
 *       main
 *       -                app (58804)
 *           3
 *
 * offcputime's first line is "Tracing off-CPU time (us) of all threads by ...".
 */
#include "collapsed.h"
#include "format.h"
#include "import.h"
#include "unfolded.h"

struct reader {
	struct fz_input *in;
	struct fz_profile *p;
	struct fz_unfolded stack;
	bool named;  /* the line of the program was read; the number is next */
	bool stated; /* the unit is known from the first line */
	int64_t interval_ns;
};

static bool is_number(struct fz_str s)
{
	uint64_t v;

	return fz_parse_u64(s, UINT64_MAX, &v);
}

/* "-                app (58804)": the name of the program. */
static bool read_program(struct fz_str line, struct fz_str *ret)
{
	line = fz_str_trimmed(line);
	const char *open = line.n ? memrchr(line.p, '(', line.n) : NULL;

	if (!fz_str_starts(line, "- ") || !open || !fz_str_ends(line, ")"))
		return false;
	struct fz_str pid = { open + 1, (size_t)(line.p + line.n - open - 2) };
	*ret = fz_str_trimmed((struct fz_str){ line.p + 2, (size_t)(open - line.p - 2) });
	return is_number(pid);
}

static void set_unit(struct reader *r, const char *name)
{
	r->p->numbers.unit = fz_number_unit(fz_str_of(name));
	r->stated = true;
}

/* "Sampling at 49 Hertz of ...", "Tracing off-CPU time (us) of ..." */
static void read_heading(struct reader *r, struct fz_str line)
{
	uint64_t hertz;

	if (fz_str_starts(line, "Tracing ") && memmem(line.p, line.n, " (us) ", 6))
		set_unit(r, "us");
	if (!fz_str_starts(line, "Sampling "))
		return;
	set_unit(r, "samples");
	fz_str_take_word(&line);
	bool at = fz_str_eq(fz_str_take_word(&line), FZ_STR("at"));
	if (at && fz_parse_u64(fz_str_take_word(&line), 1000000, &hertz) && hertz &&
	    fz_str_eq(fz_str_take_word(&line), FZ_STR("Hertz")))
		r->interval_ns = 1000000000 / (int64_t)hertz;
}

/* Python 3 printed names as b'schedule' for some years. */
static struct fz_str unquoted(struct fz_str name)
{
	if (name.n > 3 && fz_str_starts(name, "b'") && fz_str_ends(name, "'"))
		return (struct fz_str){ name.p + 2, name.n - 3 };
	return name;
}

static void read_frame(struct reader *r, struct fz_str line)
{
	struct fz_str name = unquoted(fz_str_trimmed(line)), program;

	if (read_program(line, &program)) {
		program = unquoted(program);
		fz_buf_add(&r->stack.root, program.p, program.n);
		r->named = true;
	} else if (fz_str_eq(name, FZ_STR("--"))) {
		for (size_t i = 0; i < r->stack.count; i++)
			r->stack.frames[i].kernel = true;
	} else {
		bool kernel = fz_str_ends(name, "_[k]"); /* -a */
		name.n -= kernel ? strlen("_[k]") : 0;
		fz_unfolded_add(&r->stack, name, kernel);
	}
}

/* Reads a line; true if it is the number that completes a stack. */
static bool read_line(struct reader *r, struct fz_str line)
{
	bool number = r->named && is_number(fz_str_trimmed(line));
	bool indented = line.n && (line.p[0] == ' ' || line.p[0] == '\t');

	if (number)
		return true;
	if (r->named || !fz_str_trimmed(line).n) {
		fz_unfolded_reset(&r->stack);
		r->named = false;
	}
	if (!indented)
		read_heading(r, line);
	else if (fz_str_trimmed(line).n)
		read_frame(r, line);
	return false;
}

static int next(void *arg, struct fz_str *ret, struct fz_error *err)
{
	struct reader *r = arg;
	struct fz_str line;
	int code;

	while ((code = fz_input_line(r->in, FZ_IMPORT_LINE_MAX, &line, err)) > 0)
		if (read_line(r, line)) {
			*ret = fz_unfolded_line(&r->stack, fz_str_trimmed(line));
			fz_unfolded_reset(&r->stack);
			r->named = false;
			return 1;
		}
	return code;
}

static void release(struct reader *r)
{
	fz_unfolded_release(&r->stack);
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .in = in, .p = p };
	const struct fz_collapsed_lines lines = { next, &r, fz_input_name(in) };
	int code = fz_collapsed_read_lines(&lines, p, err);

	if (r.stated)
		p->numbers.bare = false;
	if (r.interval_ns)
		p->recording.interval_ns = r.interval_ns;
	return code;
}

/* Looks for the line of a program followed by a number. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_str text = { (const char *)head, n }, program;
	bool named = false;

	(void)name;
	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		if (named && is_number(fz_str_trimmed(line)))
			return 75;
		named = line.n && line.p[0] == ' ' && read_program(line, &program);
	}
	return 0;
}

const struct fz_format fz_format_bcc = {
	.name = "bcc",
	.title = "output of bcc's profile and offcputime",
	.suffixes = ".txt",
	.sniff = sniff,
	.read = read,
};
