/* SPDX-License-Identifier: MIT */
/* The comment on a pull request.
 *
 *   <!-- fizeau ci -->                 by which it is found again
 *   ### headline                       agrees with the exit status
 *   > what went wrong
 *   | verdict | benchmark | (metric) | base -> head | change | limit | (clock) | where |
 *   <details> unchanged </details>
 *   <details> how it was measured </details>
 *
 * Names come from the program that was measured: whatever could be markup in them is written as a
 * character reference. What is not kept within GitHub's limit is counted, never cut in the middle.
 */
#include "bench/report.h"
#include "report/markup.h"

#include <math.h>
#include <stdio.h>

/* Rows end at ROOM: behind it an excuse, names of the sides and the surroundings still fit, also
 * when each of their TEXT_MAX_BYTES is an @, which must not call anybody. */
enum { ROOM = FZ_CI_MARKDOWN_MAX - 28000, NAME_MAX_BYTES = 160, TEXT_MAX_BYTES = 512 };
/* Of a name that is cut, the rest of NAME_MAX_BYTES is its end. */
enum { NAME_HEAD_BYTES = 60 };

static const char *const icons[FZ_CI_VERDICTS] = {
	[FZ_CI_SAME] = "",         [FZ_CI_SLOWER] = "🔴 ",
	[FZ_CI_FASTER] = "🟢 ",  [FZ_CI_LAYOUT] = "⚪ ",
	[FZ_CI_NEW] = "🆕 ",        [FZ_CI_DISAGREE] = "🟠 ",
	[FZ_CI_MISSING] = "🟠 ", [FZ_CI_NOT_COMPARABLE] = "🟠 ",
};

static void add_text(struct fz_buf *out, struct fz_str s)
{
	char safe[TEXT_MAX_BYTES];
	size_t n = fz_str_printable(s.p, s.n, safe, sizeof(safe));

	fz_markdown_escape(out, (struct fz_str){ safe, n });
}

static void add_buf(struct fz_buf *out, struct fz_buf *from)
{
	add_text(out, fz_buf_view(from));
	fz_buf_release(from);
}

/* Of a character that more bytes make. */
static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* As much of a name as a row has room for: its beginning and its end. */
static struct fz_str cut_name(struct fz_str name, char out[NAME_MAX_BYTES + 4])
{
	size_t tail = name.n > NAME_MAX_BYTES ? NAME_MAX_BYTES - NAME_HEAD_BYTES : 0, head;

	if (!tail)
		return name;
	for (head = NAME_HEAD_BYTES; head > 0 && is_inside(name.p[head]); head--)
		;
	while (tail > 0 && is_inside(name.p[name.n - tail]))
		tail--;
	memcpy(out, name.p, head);
	memcpy(out + head, "\xe2\x80\xa6", 3);
	memcpy(out + head + 3, name.p + name.n - tail, tail);
	return (struct fz_str){ out, head + 3 + tail };
}

/* Whole where another one would look the same. */
static void add_name(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	char room[2][NAME_MAX_BYTES + 4];
	struct fz_str cut = cut_name(b->name, room[0]);
	fz_auto(fz_free_ptr) char *safe = fz_reallocarray(NULL, b->name.n + 1, 4);

	for (uint32_t i = 0; i < r->n && cut.n < b->name.n; i++)
		if (&r->benches[i] != b && fz_str_eq(cut_name(r->benches[i].name, room[1]), cut))
			cut = b->name;
	size_t n = fz_str_printable(cut.p, cut.n, safe, 4 * (b->name.n + 1));
	fz_markdown_escape(out, (struct fz_str){ safe, n });
}

/* Whether anything was timed: else there is no column for it. */
static bool has_clock(const struct fz_ci_result *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].wall.n)
			return true;
	return false;
}

/* clock: there is a column for it. */
static void add_row(const struct fz_ci_result *r, const struct fz_ci_bench *b, bool clock,
		    struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];
	char limit[FZ_NUMBER_SIZE];
	const char *why, *excuse = fz_ci_excuse(b, &why);
	struct fz_buf part = { 0 };

	fz_buf_printf(out, "| %s%s%s%s | <code>", icons[b->verdict], fz_ci_word(b),
		      excuse ? ", " : "", excuse ? excuse : "");
	add_name(r, b, out);
	fz_format_value(b->count[FZ_BASE], b->unit, base);
	fz_format_value(b->count[FZ_HEAD], b->unit, head);
	fz_buf_str(out, "</code>");
	if (b->was) {
		fz_buf_str(out, "<br>renamed from <code>");
		add_text(out, fz_str_of(b->was));
		fz_buf_str(out, "</code>");
	}
	if (r->metrics.n > 1)
		fz_buf_printf(out, " | %s", b->metric);
	fz_buf_printf(out, " | %s → %s | %s", b->on_side[FZ_BASE] ? base : "–",
		      b->on_side[FZ_HEAD] ? head : "–", b->suspect ? "**" : "");
	add_text(out, fz_str_of(fz_ci_change(b->change, change)));
	fz_buf_printf(out, "%s | ", b->suspect ? "**" : "");
	add_text(out, fz_str_of(fz_format_percent(b->limit, limit)));
	if (clock) {
		fz_buf_str(out, " | ");
		fz_ci_wall(b, &part);
		add_buf(out, &part);
	}
	fz_buf_str(out, " | ");
	fz_ci_place(b, &part);
	if (part.n) {
		fz_buf_str(out, "<code>");
		add_buf(out, &part);
		fz_buf_str(out, "</code>");
	}
	fz_buf_str(out, " |\n");
}

static void add_table_head(const struct fz_ci_result *r, bool clock, struct fz_buf *out)
{
	bool several = r->metrics.n > 1;

	fz_buf_printf(out,
		      "\n| verdict | benchmark | %sbase → head | change | limit | %swhere |\n"
		      "|:--|:--|%s--:|--:|--:|%s:--|\n",
		      several ? "metric | " : "", clock ? "wall time | " : "",
		      several ? ":--|" : "", clock ? "--:|" : "");
}

/* Rows [from, to) as far as there is room. */
static void add_rows(const struct fz_ci_result *r, uint32_t from, uint32_t to, struct fz_buf *out)
{
	bool clock = has_clock(r);
	char count[FZ_NUMBER_SIZE];

	if (from == to)
		return;
	add_table_head(r, clock, out);
	uint32_t i = from;
	for (; i < to && out->n < ROOM; i++) {
		struct fz_buf row = { 0 };
		add_row(r, &r->benches[i], clock, &row);
		bool fits = out->n + row.n <= ROOM;
		if (fits)
			fz_buf_add(out, row.p, row.n);
		fz_buf_release(&row);
		if (!fits)
			break;
	}
	if (i < to)
		fz_buf_printf(out, "\n... and %s; the JSON lists all.\n",
			      fz_format_plural(to - i,
					       r->metrics.n > 1 ? "more verdict" : "more benchmark",
					       count));
}

static void add_excuses(const struct fz_ci_result *r, struct fz_buf *out)
{
	for (uint32_t i = 0; i < r->n && out->n < ROOM; i++) {
		const char *why, *excuse = fz_ci_excuse(&r->benches[i], &why);
		if (!excuse)
			continue;
		fz_buf_str(out, "\n- ");
		add_text(out, r->benches[i].name);
		if (r->metrics.n > 1)
			fz_buf_printf(out, ", %s,", r->benches[i].metric);
		fz_buf_printf(out, " is %s: ", excuse);
		add_text(out, fz_str_of(why));
		fz_buf_char(out, '\n');
	}
}

static void add_lines(const char *prefix, char *const *lines, uint32_t n, struct fz_buf *out)
{
	for (uint32_t i = 0; i < n && i < 10 && out->n < ROOM / 2; i++) {
		fz_buf_printf(out, "\n%s", prefix);
		add_text(out, fz_str_of(lines[i]));
		fz_buf_char(out, '\n');
	}
}

/* A line each in the recording; in a row here, without those that are empty. */
static void add_environment(const struct fz_ci_result *r, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	const char *line = r->environment ? r->environment : "", *end;

	for (; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (end > line && end[-1] != ' ')
			fz_buf_printf(&text, "%s%.*s", text.n ? "; " : "", (int)(end - line), line);
	}
	if (!text.n)
		return;
	fz_buf_str(out, "- ");
	add_text(out, fz_buf_view(&text));
	fz_buf_char(out, '\n');
}

static void add_method(const struct fz_ci_result *r, struct fz_buf *out)
{
	fz_buf_str(out, "\n<details><summary>How it was measured</summary>\n\n");
	for (int s = 0; s < FZ_SIDES; s++) {
		fz_buf_printf(out, "- %s: <code>", s ? "head" : "base");
		add_text(out, fz_str_of(r->labels[s] ? r->labels[s] : ""));
		fz_buf_str(out, "</code>\n");
	}
	fz_buf_str(out, "- ");
	fz_ci_metrics_text(r, out);
	fz_buf_str(
		out,
		" are counted exactly, under Valgrind; + is more cost. The limit is the larger of "
		"the threshold and three times the variation of the base's own count with its "
		"surroundings (size of the environment, hash seed). A change within the limit "
		"is reported as same.\n");
	if (has_clock(r))
		fz_buf_str(
			out,
			"- Wall time: median ratio of interleaved runs of base and head, with its "
			"interval. *disagree*: wall time contradicts the count.\n");
	add_environment(r, out);
	fz_buf_str(out, "\n</details>\n");
}

void fz_ci_markdown(const struct fz_ci_result *r, struct fz_buf *out)
{
	char count[FZ_NUMBER_SIZE];
	uint32_t same = r->n;

	while (same > 0 && r->benches[same - 1].verdict == FZ_CI_SAME)
		same--;
	fz_buf_str(out, FZ_CI_MARKER "\n### ");
	fz_ci_headline(r, out);
	fz_buf_char(out, '\n');
	add_lines("> ⚠️ ", r->troubles, r->trouble_n, out);
	add_lines("> ", r->notes, r->note_n, out);
	add_rows(r, 0, same, out);
	add_excuses(r, out);
	if (r->link) {
		fz_buf_str(out, "\n[Flame graphs of base, head and difference](");
		for (const char *c = r->link; *c; c++)
			if (*c > ' ' && !strchr("()<>\"\\", *c))
				fz_buf_char(out, *c);
		fz_buf_str(out, ")\n");
	}
	if (same < r->n) {
		fz_buf_printf(out, "\n<details><summary>%s unchanged</summary>\n",
			      fz_format_plural(r->n - same,
					       r->metrics.n > 1 ? "count" : "benchmark", count));
		add_rows(r, same, r->n, out);
		fz_buf_str(out, "\n</details>\n");
	}
	add_method(r, out);
}
