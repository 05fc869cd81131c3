/* SPDX-License-Identifier: MIT */
/* The comment on a pull request.
 *
 *   <!-- fizeau ci -->                 to find the comment again
 *   ### Merging this makes `test_x` 21 % slower, in `parse_issue_fixed`
 *   headline                           agrees with the exit status
 *   > failures and notes
 *   | benchmark | change | base -> head | where |
 *   <details> limit, wall time and call path of each </details>
 *   <details> unchanged </details>
 *   <details> how it was measured </details>
 *
 * Tables have no more columns than fit on a phone, and long names in them can be broken.
 * Names come from the measured program, so characters that could be markup are escaped. Rows beyond
 * GitHub's limit are counted, never cut in the middle.
 */
#include "bench/report.h"
#include "report/markup.h"

#include <math.h>

/* Rows end at ROOM, which leaves space for an excuse, the names of the sides and the environment,
 * even if each of their TEXT_MAX_BYTES is an @, which must be escaped. */
enum { ROOM = FZ_CI_MARKDOWN_MAX - 28000, NAME_MAX_BYTES = 160, TEXT_MAX_BYTES = 512 };
/* A long name is cut to this much of its start, and its end. */
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

/* Add code in a table. */
static void add_code(struct fz_buf *out, struct fz_str s)
{
	char safe[TEXT_MAX_BYTES];
	size_t n = fz_str_printable(s.p, s.n, safe, sizeof(safe));

	fz_markdown_code(out, (struct fz_str){ safe, n });
}

/* True for a continuation byte of UTF-8. */
static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cut a name to the space in a row: its start and its end. */
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

static void add_name(struct fz_str name, void (*escape)(struct fz_buf *out, struct fz_str s),
		     struct fz_buf *out)
{
	fz_auto(fz_free_ptr) char *safe = fz_reallocarray(NULL, name.n + 1, 4);

	size_t n = fz_str_printable(name.p, name.n, safe, 4 * (name.n + 1));
	escape(out, (struct fz_str){ safe, n });
}

/* Add its file below the name without it. */
static void add_file_of_name(const struct fz_ci_bench *b, struct fz_buf *out)
{
	if (!b->shown.file.n)
		return;
	fz_buf_str(out, "<br><sub>");
	add_code(out, b->shown.file);
	fz_buf_str(out, "</sub>");
}

/* Add code in a sentence, which a browser breaks by itself. */
static void add_plain_code(struct fz_buf *out, struct fz_str s)
{
	fz_buf_str(out, "<code>");
	add_text(out, s);
	fz_buf_str(out, "</code>");
}

/* True if anything was timed. */
static bool has_clock(const struct fz_ci_result *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->benches[i].wall.n)
			return true;
	return false;
}

/* The innermost function of its context; "" if unknown. */
static struct fz_str function_of(const struct fz_ci_place *p)
{
	const char *last = p->context ? strrchr(p->context, '>') : NULL;
	bool nested = last && last > p->context && last[-1] == ' ' && last[1] == ' ';

	return fz_str_of(nested ? last + 2 : p->context ? p->context : "");
}

/* "parse_issue_fixed" and below it "shop/orders.py:8", a link to it. */
static void add_where(const struct fz_ci_result *r, const struct fz_ci_place *p, struct fz_buf *out)
{
	struct fz_str function = function_of(p);

	if (function.n) {
		fz_buf_str(out, "<sub>");
		add_code(out, function);
		fz_buf_str(out, "</sub>");
	}
	if (!p->file)
		return;
	fz_buf_str(out, function.n ? "<br>" : "");
	fz_markdown_place(out, fz_str_of(p->file), p->line, r->files, fz_str_of(p->file));
}

/* "**+25.3 %** slower", "accepted" */
static void add_change(const struct fz_ci_bench *b, struct fz_buf *out)
{
	char change[FZ_NUMBER_SIZE];
	const char *why, *excuse = fz_ci_excuse(b, &why);

	fz_ci_change(b->change, change);
	if (*change) {
		fz_buf_str(out, b->suspect ? "**" : "");
		add_text(out, fz_str_of(change));
		fz_buf_str(out, b->suspect ? "** " : " ");
	}
	fz_buf_printf(out, "%s%s%s", fz_ci_word(b), excuse ? ", " : "", excuse ? excuse : "");
}

static void add_row(const struct fz_ci_result *r, const struct fz_ci_bench *b, struct fz_buf *out)
{
	char base[FZ_NUMBER_SIZE], head[FZ_NUMBER_SIZE], room[NAME_MAX_BYTES + 4];

	fz_buf_printf(out, "| %s", icons[b->verdict]);
	add_name(cut_name(b->shown.shown, room), fz_markdown_code, out);
	add_file_of_name(b, out);
	if (b->was) {
		fz_buf_str(out, "<br>renamed from ");
		add_code(out, fz_str_of(b->was));
	}
	fz_buf_str(out, " | ");
	add_change(b, out);
	fz_format_value(b->count[FZ_BASE], b->unit, base);
	fz_format_value(b->count[FZ_HEAD], b->unit, head);
	fz_buf_str(out, " | <sub>");
	fz_markdown_value(out, b->on_side[FZ_BASE] ? base : "–");
	fz_buf_str(out, " → ");
	fz_markdown_value(out, b->on_side[FZ_HEAD] ? head : "–");
	fz_buf_printf(out, "<br>%s</sub> | ", b->metric);
	add_where(r, &b->place, out);
	fz_buf_str(out, " |\n");
}

/* Add rows [from, to) as long as there is space. */
static void add_rows(const struct fz_ci_result *r, uint32_t from, uint32_t to, struct fz_buf *out)
{
	char count[FZ_NUMBER_SIZE];

	if (from == to)
		return;
	fz_buf_str(out, "\n| bench&shy;mark | change | base → head | where |\n|:--|--:|--:|:--|\n");
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
		fz_buf_printf(out, "\n... and %s; the JSON lists all.\n",
			      fz_format_plural(to - i,
					       r->metrics.n > 1 ? "more verdict" : "more benchmark",
					       count));
}

/* Add what does not fit in a row: the whole name, limit, wall time, call path and excuse. */
static void add_detail(const struct fz_ci_result *r, const struct fz_ci_bench *b,
		       struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf part = { 0 };
	char limit[FZ_NUMBER_SIZE], room[NAME_MAX_BYTES + 4];
	const char *why, *excuse = fz_ci_excuse(b, &why);

	fz_buf_str(out, "- <code>");
	add_name(cut_name(b->name, room), fz_markdown_escape, out);
	fz_buf_str(out, "</code>");
	if (r->metrics.n > 1)
		fz_buf_printf(out, ", %s", b->metric);
	fz_buf_str(out, ": limit ");
	add_text(out, fz_str_of(fz_format_percent(b->limit, limit)));
	fz_ci_clock(b, &part);
	fz_buf_str(out, part.n ? "; " : "");
	add_text(out, fz_buf_view(&part));
	fz_buf_reset(&part);
	fz_ci_place(b, &part);
	if (part.n) {
		fz_buf_str(out, "; in ");
		add_plain_code(out, fz_buf_view(&part));
	}
	if (excuse) {
		fz_buf_printf(out, "; %s: ", excuse);
		add_text(out, fz_str_of(why));
	}
	fz_buf_char(out, '\n');
}

static void add_details(const struct fz_ci_result *r, uint32_t to, struct fz_buf *out)
{
	if (!to)
		return;
	fz_buf_printf(out, "\n<details><summary>Limits%s and call paths</summary>\n\n",
		      has_clock(r) ? ", wall time" : "");
	for (uint32_t i = 0; i < to && out->n < ROOM; i++)
		add_detail(r, &r->benches[i], out);
	fz_buf_str(out, "\n</details>\n");
}

static void add_lines(const char *prefix, char *const *lines, uint32_t n, struct fz_buf *out)
{
	for (uint32_t i = 0; i < n && i < 10 && out->n < ROOM / 2; i++) {
		fz_buf_printf(out, "\n%s", prefix);
		add_text(out, fz_str_of(lines[i]));
		fz_buf_char(out, '\n');
	}
}

/* Add the lines of the environment as one line, without empty ones. */
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
		fz_buf_printf(out, "- %s: <code>", fz_side_names[s]);
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

static uint32_t count_of(const struct fz_ci_result *r, enum fz_ci_verdict v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->benches[i].verdict == v;
	return n;
}

/* Add the numbers of benchmarks that the sentence does not name: "; 2 others slower, 1 faster". */
static void add_others(const struct fz_ci_result *r, enum fz_ci_verdict named, struct fz_buf *out)
{
	static const enum fz_ci_verdict changed[] = { FZ_CI_SLOWER, FZ_CI_FASTER };
	const char *separator = "; ";

	for (size_t i = 0; i < FZ_ARRAY_LEN(changed); i++) {
		bool also = changed[i] == named;
		uint32_t n = count_of(r, changed[i]) - also;
		if (!n)
			continue;
		const char *others = n == 1 ? "other " : "others ";
		fz_buf_printf(out, "%s%u %s%s", separator, n, also ? others : "",
			      fz_ci_word_of_all(r, changed[i], "changed"));
		separator = ", ";
	}
}

/* "21 % slower", "slower (x 3.14)", "take 21 % more branches" */
static void add_amount(const struct fz_ci_bench *b, struct fz_buf *out)
{
	const char *word = fz_ci_word(b);
	bool counted = strcmp(word, "more") == 0 || strcmp(word, "fewer") == 0;
	char change[FZ_NUMBER_SIZE];

	fz_buf_str(out, counted ? "take " : "");
	if (b->change < 1) {
		add_text(out, fz_str_of(fz_format_percent(fabs(b->change), change)));
		fz_buf_char(out, ' ');
	}
	fz_buf_printf(out, "%s%s%s", word, counted ? " " : "", counted ? b->metric : "");
	if (b->change >= 1)
		fz_buf_printf(out, " (%s)", fz_ci_change(b->change, change));
}

/* "Merging this makes `test_x` 21 % slower, in `parse_issue_fixed`; 1 faster". Writes nothing for
 * other results, which the headline reports. */
static bool add_sentence(const struct fz_ci_result *r, struct fz_buf *out)
{
	const struct fz_ci_bench *b = r->n ? &r->benches[0] : NULL;
	bool changed = b && (b->verdict == FZ_CI_SLOWER || b->verdict == FZ_CI_FASTER);
	char count[FZ_NUMBER_SIZE], room[NAME_MAX_BYTES + 4];
	const char *why, *excuse = changed ? fz_ci_excuse(b, &why) : NULL;

	if (fz_ci_exit(r) == 2 || !b)
		return false;
	if (b->verdict == FZ_CI_SAME || b->verdict == FZ_CI_NEW) {
		uint32_t same = count_of(r, FZ_CI_SAME);
		if (same)
			fz_buf_printf(out, "Merging this changes none of %s",
				      fz_format_plural(same,
						       r->metrics.n > 1 ? "count" : "benchmark",
						       count));
		return same > 0;
	}
	if (!changed || !isfinite(b->change))
		return false;
	fz_buf_str(out, "Merging this makes <code>");
	add_name(cut_name(b->shown.shown, room), fz_markdown_escape, out);
	fz_buf_str(out, "</code> ");
	add_amount(b, out);
	if (function_of(&b->place).n) {
		fz_buf_str(out, ", in ");
		add_plain_code(out, function_of(&b->place));
	}
	fz_buf_printf(out, "%s%s", excuse ? ", which is " : "", excuse ? excuse : "");
	add_others(r, b->verdict, out);
	return true;
}

static void add_heading(const struct fz_ci_result *r, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf sentence = { 0 };

	fz_buf_str(out, FZ_CI_MARKER "\n### ");
	if (add_sentence(r, &sentence)) {
		fz_buf_add(out, sentence.p, sentence.n);
		fz_buf_str(out, "\n\n");
	}
	fz_ci_headline(r, out);
	fz_buf_str(out, sentence.n ? ".\n" : "\n");
}

void fz_ci_markdown(const struct fz_ci_result *r, struct fz_buf *out)
{
	char count[FZ_NUMBER_SIZE];
	uint32_t same = r->n;

	while (same > 0 && r->benches[same - 1].verdict == FZ_CI_SAME)
		same--;
	add_heading(r, out);
	add_lines("> ⚠️ ", r->troubles, r->trouble_n, out);
	add_lines("> ", r->notes, r->note_n, out);
	add_rows(r, 0, same, out);
	if (r->link) {
		fz_buf_str(out, "\n[Flame graphs of base, head and difference](");
		for (const char *c = r->link; *c; c++)
			if (*c > ' ' && !strchr("()<>\"\\", *c))
				fz_buf_char(out, *c);
		fz_buf_str(out, ")\n");
	}
	add_details(r, same, out);
	if (same < r->n) {
		fz_buf_printf(out, "\n<details><summary>%s unchanged</summary>\n",
			      fz_format_plural(r->n - same,
					       r->metrics.n > 1 ? "count" : "benchmark", count));
		add_rows(r, same, r->n, out);
		fz_buf_str(out, "\n</details>\n");
	}
	add_method(r, out);
}
