/* SPDX-License-Identifier: MIT */
/* Two-column folded text; see folded.h. One buffer holds the path to the current node: going to the
 * next node in preorder cuts it back to where the node's parent ends and adds one name. */
#include "report/folded.h"

#include "base/buf.h"
#include "format/collapsed.h"

static int64_t base_value(const struct fz_diff *d, int64_t self, bool scaled)
{
	if (!scaled || self <= 0)
		return self;
	int64_t v = (int64_t)(d->factor * (double)self);
	return FZ_MAX(v, 1);
}

void fz_report_folded_diff(const struct fz_diff *d, bool scaled, struct fz_output *out)
{
	fz_auto(fz_free_ptr) size_t *path_end = fz_calloc(d->node_count, sizeof(*path_end));
	struct fz_buf path = { 0 };

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
