/* SPDX-License-Identifier: MIT */
/* Two-column folded text; see folded.h. One buffer contains the path to the current node. For the
 * next node in preorder it is cut back to the end of the node's parent, and one name is added. */
#include "report/folded.h"

#include "base/buf.h"
#include "format/collapsed.h"
#include "report/findings.h"
#include "report/text.h"

#include <ctype.h>

static int64_t base_value(const struct fz_diff *d, int64_t self, bool scaled)
{
	if (!scaled || self <= 0)
		return self;
	int64_t v = (int64_t)(d->factor * (double)self);
	return FZ_MAX(v, 1);
}

/* Wide enough to cut nothing. */
static const struct fz_style style = { .columns = 100000 };

/* Write each line of the text as a comment. A line that ends in a number gets a final "#": other
 * tools would parse it as a path. */
static void write_comments(const char *text, struct fz_output *out)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (end == text)
			continue;
		bool number =
			end - text > 1 && isdigit((unsigned char)end[end[-1] == '.' ? -2 : -1]);
		fz_output_printf(out, "# %.*s%s\n", (int)(end - text), text, number ? " #" : "");
	}
}

static void write_header(const struct fz_diff *d, const struct fz_judgement *j, bool scaled,
			 struct fz_output *out)
{
	struct fz_buf text = { 0 };

	fz_findings_headline(d, j, &style, &text);
	fz_buf_char(&text, '\n');
	fz_findings_power(j, &text);
	fz_buf_char(&text, '\n');
	for (uint32_t i = 0; i < d->warning_count; i++)
		fz_buf_printf(&text, "Warning: %s\n", d->warnings[i]);
	fz_findings_scaling(d, &text);
	if (d->factor != 1)
		fz_buf_str(&text, scaled ? " First column: expected." : " First column: before.");
	fz_report_inferred(d, &style, &text);
	write_comments(text.p, out);
	fz_buf_release(&text);
}

void fz_report_folded_diff(const struct fz_diff *d, const struct fz_judgement *j, bool scaled,
			   struct fz_output *out)
{
	fz_auto(fz_free_ptr) size_t *path_end = fz_calloc(d->node_count, sizeof(*path_end));
	struct fz_buf path = { 0 };

	if (j)
		write_header(d, j, scaled, out);
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *node = &d->nodes[i];
		const struct fz_diff_function *f = &d->functions[node->function];
		path.n = node->parent == FZ_NONE ? 0 : path_end[node->parent];
		if (path.n)
			fz_buf_char(&path, ';');
		fz_collapsed_add_name(&path, f->name, f->kind);
		path_end[i] = path.n;
		if (!node->cost.self[FZ_BASE] && !node->cost.self[FZ_HEAD])
			continue;
		fz_output_add(out, path.p, path.n);
		fz_output_printf(out, " %lld %lld\n",
				 (long long)base_value(d, node->cost.self[FZ_BASE], scaled),
				 (long long)node->cost.self[FZ_HEAD]);
	}
	fz_buf_release(&path);
}
