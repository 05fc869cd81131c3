/* SPDX-License-Identifier: MIT */
/* Waits, most time first.
 *
 *   Waits: 2.71 s of 2.98 s: 68.4 % lock, 18.1 % socket, 4.4 % CPU.
 *       time    share    times   longest  what for, where
 *     2.04 s   68.4 %      101   21.0 ms  lock: fetch (app.py:12)
 *                                         lock released by refresh (cache.py:31)
 *
 * Shares are of all that was recorded, on a CPU or not. Where a thread had no CPU says little: that
 * is one row.
 */
#include "report/waits.h"

#include "diff/names.h"
#include "profile/waits.h"
#include "report/table.h"

#include <stdio.h>

enum { ROWS_SHOWN = 12, NAME_COLUMN = 39 };

struct waits {
	const struct fz_profile *p;
	struct fz_wait_table table;
	struct fz_arena arena;
	const struct fz_name *names;
};

static void read_waits(const struct fz_profile *p, struct waits *ret)
{
	*ret = (struct waits){ .p = p };
	fz_wait_table_init(&ret->table, p);
	if (ret->table.n)
		ret->names = fz_names_of(p, &ret->arena);
}

static void release(struct waits *w)
{
	fz_wait_table_release(&w->table);
	fz_arena_release(&w->arena);
}

static double share_of(const struct waits *w, int64_t ns)
{
	return w->table.all_ns ? (double)ns / (double)w->table.all_ns : 0;
}

/* ---- text ---- */

static void print_sentence(const struct waits *w, const struct fz_style *style, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	char time[FZ_NUMBER_SIZE], all[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE];
	int64_t below = INT64_MAX;
	const char *before = ": ";

	fz_buf_printf(&text, "Waits: %s of %s", fz_format_ns((double)w->table.ns, time),
		      fz_format_ns((double)w->table.all_ns, all));
	/* Kinds, most time first. */
	for (;;) {
		int64_t next = 0;
		for (enum fz_wait k = 0; k < FZ_WAIT_KINDS; k++)
			if (w->table.kind_ns[k] < below)
				next = FZ_MAX(next, w->table.kind_ns[k]);
		if (!next)
			break;
		for (enum fz_wait k = 0; k < FZ_WAIT_KINDS; k++) {
			if (w->table.kind_ns[k] != next)
				continue;
			fz_buf_printf(&text, "%s%s %s", before,
				      fz_format_percent(share_of(w, next), share),
				      fz_wait_kinds[k].key);
			before = ", ";
		}
		below = next;
	}
	fz_buf_str(&text, ".");
	fz_table_wrap(text.p, 2, style, out);
}

static void print_function(const struct waits *w, uint32_t function, int32_t line,
			   struct fz_str name, unsigned used, const struct fz_style *style,
			   struct fz_buf *out)
{
	struct fz_source_place place = { w->names[function].file, FZ_MAX(line, 0), w->p, function };

	fz_table_function(name, &place, fz_table_rest(style, used), style, out);
	fz_buf_char(out, '\n');
}

/* Without the brackets of a marker. */
static struct fz_str bare(struct fz_str name)
{
	return name.n > 2 && name.p[0] == '<' ? (struct fz_str){ name.p + 1, name.n - 2 } : name;
}

static void print_row(const struct waits *w, const struct fz_wait_row *row,
		      const struct fz_style *style, struct fz_buf *out)
{
	char time[FZ_NUMBER_SIZE], share[FZ_NUMBER_SIZE], n[FZ_NUMBER_SIZE];
	char longest[FZ_NUMBER_SIZE];
	const char *key = fz_wait_kinds[row->kind].key;

	fz_buf_printf(out, "%9s %8s %8s %9s  ", fz_format_ns((double)row->ns, time),
		      fz_format_percent(share_of(w, row->ns), share),
		      fz_format_count((int64_t)row->n, n),
		      fz_format_ns((double)row->longest, longest));
	fz_buf_str(out, key);
	if (row->function == FZ_NONE) {
		fz_buf_char(out, '\n');
	} else {
		fz_buf_str(out, ": ");
		print_function(w, row->function, row->line, w->names[row->function].name,
			       NAME_COLUMN + (unsigned)strlen(key) + 2, style, out);
	}
	if (row->by == FZ_NONE)
		return;
	fz_buf_printf(out, "%*s", NAME_COLUMN, "");
	print_function(w, row->by, w->p->functions[row->by].first_line,
		       bare(w->names[row->by].name), NAME_COLUMN, style, out);
}

void fz_report_waits_text(const struct fz_profile *p, const struct fz_style *style,
			  struct fz_buf *out)
{
	struct waits w;
	char n[FZ_NUMBER_SIZE];

	read_waits(p, &w);
	if (w.table.n) {
		print_sentence(&w, style, out);
		fz_buf_printf(out, "%s%9s %8s %8s %9s  what for, where%s\n",
			      fz_hue_on(style, FZ_HUE_DIM), "time", "share", "times", "longest",
			      fz_hue_off(style, FZ_HUE_DIM));
		for (uint32_t i = 0; i < w.table.n && i < ROWS_SHOWN; i++)
			print_row(&w, &w.table.rows[i], style, out);
		if (w.table.n > ROWS_SHOWN)
			fz_buf_printf(out, "%*sand %s\n", NAME_COLUMN, "",
				      fz_format_plural(w.table.n - ROWS_SHOWN, "more row", n));
	}
	release(&w);
}

/* ---- JSON ---- */

static void write_function(const struct waits *w, const char *prefix, struct fz_str name,
			   uint32_t function, int32_t line, struct fz_json *j)
{
	char key[16];

	fz_json_kstr(j, prefix, name);
	snprintf(key, sizeof(key), "%s_file", prefix);
	fz_json_kstr(j, key, w->names[function].file);
	snprintf(key, sizeof(key), "%s_line", prefix);
	fz_json_kint(j, key, FZ_MAX(line, 0));
}

void fz_report_waits_json(const struct fz_profile *p, struct fz_json *j)
{
	struct waits w;

	read_waits(p, &w);
	if (w.table.n) {
		fz_json_key(j, "waits");
		fz_json_open(j, '[');
	}
	for (uint32_t i = 0; i < w.table.n; i++) {
		const struct fz_wait_row *row = &w.table.rows[i];
		fz_json_open(j, '{');
		fz_json_kstr(j, "for", fz_str_of(fz_wait_kinds[row->kind].key));
		fz_json_kint(j, "ns", row->ns);
		fz_json_kint(j, "n", (int64_t)row->n);
		fz_json_kint(j, "longest_ns", row->longest);
		if (row->function != FZ_NONE)
			write_function(&w, "in", w.names[row->function].name, row->function,
				       row->line, j);
		if (row->by != FZ_NONE)
			write_function(&w, "by", bare(w.names[row->by].name), row->by,
				       p->functions[row->by].first_line, j);
		fz_json_close(j, '}');
	}
	if (w.table.n)
		fz_json_close(j, ']');
	release(&w);
}
