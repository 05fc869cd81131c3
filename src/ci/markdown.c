/* SPDX-License-Identifier: MIT */
/* The comment on a pull request.
 *
 *   <!-- fizeau ci -->                 by which it is found again
 *   ### headline                       agrees with the exit status
 *   > what went wrong
 *   | verdict | benchmark | base -> head | change | floor | clock | where |
 *   <details> unchanged </details>
 *   <details> how it was measured </details>
 *
 * Names come from the program that was measured: whatever could be markup in them is written as a
 * character reference. What is not kept within GitHub's limit is counted, never cut in the middle.
 */
#include "ci/report.h"

#include <math.h>
#include <stdio.h>

/* Rows end at ROOM: behind it an excuse, names of the sides and the surroundings still fit, also
 * when each of their TEXT_MAX_BYTES is an @, which must not call anybody. */
enum { ROOM = FZ_CI_MARKDOWN_MAX - 28000, NAME_MAX_BYTES = 160, TEXT_MAX_BYTES = 512 };

static const char *const icons[FZ_CI_VERDICTS] = {
	[FZ_CI_SAME] = "",         [FZ_CI_SLOWER] = "🔴 ",
	[FZ_CI_FASTER] = "🟢 ",  [FZ_CI_LAYOUT] = "⚪ ",
	[FZ_CI_NEW] = "🆕 ",        [FZ_CI_DISAGREE] = "🟠 ",
	[FZ_CI_MISSING] = "🟠 ", [FZ_CI_NOT_COMPARABLE] = "🟠 ",
};

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Never markup in the middle of a line, between those neighbours: "test_it.py::test_parse" stays
 * readable also where the text is printed as it is. */
static bool is_plain(unsigned char before, unsigned char c, unsigned char after)
{
	if (c == '_')
		return is_word(before) && is_word(after);
	if (c == ':')
		return before == ':' || after == ':';
	return c >= 0x80 || is_word(c) || memchr(" ./,%()'-+", c, 10);
}

static void add_text(struct fz_buf *out, struct fz_str s)
{
	char safe[TEXT_MAX_BYTES];
	size_t n = fz_str_printable(s.p, s.n, safe, sizeof(safe));

	for (size_t i = 0; i < n; i++) {
		const unsigned char *c = (const unsigned char *)safe + i;
		unsigned char after = i + 1 < n ? c[1] : ' ';
		if (*c == ' ' && after == '%') /* a narrow column must not part them */
			fz_buf_str(out, "&nbsp;");
		else if (is_plain(i ? c[-1] : ' ', *c, after))
			fz_buf_char(out, (char)*c);
		else if (*c == '@')
			fz_buf_str(out, "@<!-- -->");
		else
			fz_buf_printf(out, "&#%u;", *c);
	}
}

static void add_buf(struct fz_buf *out, struct fz_buf *from)
{
	add_text(out, fz_buf_view(from));
	fz_buf_release(from);
}

static void add_row(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE], base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE];
	char floor[FZ_NUMBER_SIZE] = "";
	const char *why, *excuse = fz_ci_excuse(b, &why);
	struct fz_buf part = { 0 };

	fz_buf_printf(out, "| %s%s%s%s | <code>", icons[b->verdict],
		      fz_ci_verdict_names[b->verdict], excuse ? ", " : "", excuse ? excuse : "");
	add_text(out, (struct fz_str){ b->name.p, FZ_MIN(b->name.n, (size_t)NAME_MAX_BYTES) });
	fz_format_value(b->count[FZ_BASE], r->unit, base);
	fz_format_value(b->count[FZ_HEAD], r->unit, head);
	if (!isnan(b->floor))
		fz_format_percent(b->floor, floor);
	fz_buf_printf(out, "</code> | %s → %s | %s", b->on_side[FZ_BASE] ? base : "–",
		      b->on_side[FZ_HEAD] ? head : "–", b->suspect ? "**" : "");
	add_text(out, fz_str_of(fz_ci_change(b->change, change)));
	fz_buf_printf(out, "%s | ", b->suspect ? "**" : "");
	add_text(out, fz_str_of(floor));
	fz_buf_str(out, " | ");
	fz_ci_wall(b, &part);
	add_buf(out, &part);
	fz_buf_str(out, " | ");
	fz_ci_place(r, b, &part);
	if (part.n) {
		fz_buf_str(out, "<code>");
		add_buf(out, &part);
		fz_buf_str(out, "</code>");
	}
	fz_buf_str(out, " |\n");
}

static const char table_head[] = "\n| verdict | benchmark | base → head | change | floor | clock "
				 "| where |\n|:--|:--|--:|--:|--:|--:|:--|\n";

/* Rows [from, to) as far as there is room. */
static void add_rows(const struct fz_ci_result *r, uint32_t from, uint32_t to, struct fz_buf *out)
{
	char count[FZ_NUMBER_SIZE];

	if (from == to)
		return;
	fz_buf_str(out, table_head);
	uint32_t i = from;
	for (; i < to && out->n < ROOM; i++) {
		struct fz_buf row = { 0 };
		add_row(r, &r->benches[i], &row);
		bool fits = out->n + row.n <= ROOM;
		if (fits)
			fz_buf_add(out, row.p, row.n);
		fz_buf_release(&row);
		if (!fits)
			break;
	}
	if (i < to)
		fz_buf_printf(out, "\nand %s; the JSON lists all.\n",
			      fz_format_plural(to - i, "more benchmark", count));
}

static void add_excuses(const struct fz_ci_result *r, struct fz_buf *out)
{
	for (uint32_t i = 0; i < r->n && out->n < ROOM; i++) {
		const char *why, *excuse = fz_ci_excuse(&r->benches[i], &why);
		if (!excuse)
			continue;
		fz_buf_str(out, "\n- ");
		add_text(out, r->benches[i].name);
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

static void add_method(const struct fz_ci_result *r, struct fz_buf *out)
{
	fz_buf_str(out, "\n<details><summary>How it was measured</summary>\n\n");
	for (int s = 0; s < FZ_SIDES; s++) {
		fz_buf_printf(out, "- %s: <code>", s ? "head" : "base");
		add_text(out, fz_str_of(r->labels[s] ? r->labels[s] : ""));
		fz_buf_str(out, "</code>\n");
	}
	fz_buf_printf(out,
		      "- %s are counted exactly, under Valgrind; + is more cost. The floor is how "
		      "far the base's own count moves when only its surroundings change (size of "
		      "the environment, hash seed); less than three floors, or less than the "
		      "threshold, is the same.\n"
		      "- Clock: base and head run in turn; the median ratio and its interval. "
		      "*disagree*: it says the opposite of the count.\n",
		      r->metric);
	if (r->environment) {
		fz_buf_str(out, "- ");
		add_text(out, fz_str_of(r->environment));
		fz_buf_char(out, '\n');
	}
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
			      fz_format_plural(r->n - same, "benchmark", count));
		add_rows(r, same, r->n, out);
		fz_buf_str(out, "\n</details>\n");
	}
	add_method(r, out);
}
