/* SPDX-License-Identifier: MIT */
/* The flame chart: for each thread, the runs of time in which its stack stayed the same.
 *
 *   time      |.............................................|      cells: equal parts of it
 *   runs      [parse      ][gc][parse   ]      [emit        ]      {from, length, node}
 *
 * A cell is the resolution. If a cell has several stacks, its run ends at the innermost frame
 * common to more than half of its samples, and is marked. If one stack merely follows another, the
 * longer one gets the cell. Each level has fewer cells than the one before; the viewer draws the
 * level whose cells are about a pixel wide.
 *
 * The finest level has at most the permitted number of runs (plus one per thread), each next level
 * at most half of those: together less than twice the permitted number.
 */
#pragma once

#include "base/json.h"
#include "profile/tree.h"
#include "report/page_columns.h"

/* Time that a thread spent in a node, ns since the recording began. */
struct fz_chart_piece {
	uint32_t thread, node;
	int64_t from, to;
};

struct fz_chart_run {
	uint32_t thread;
	uint32_t from, length; /* in cells */
	uint32_t node;         /* FZ_NONE: no frame has more than half */
	uint32_t mixed;        /* how many of its innermost frames are not common to all of it */
	uint32_t more;         /* how many more rows its deepest stack has */
};

enum { FZ_CHART_LEVELS = 12, FZ_CHART_FINEST = 1 << 20 /* cells */ };

struct fz_chart {
	struct fz_chart_run *list; /* by level, thread and time */
	size_t n;
	uint32_t levels;
	struct fz_chart_level {
		uint32_t cells;
		size_t first, n;
	} level[FZ_CHART_LEVELS]; /* the finest first */
};

/* Compute the levels, of at most `most` runs (see above). Pieces are in order of thread and time,
 * must not overlap, and lie within 0 to `end`. */
void fz_chart_build(struct fz_chart *chart, const struct fz_tree *t,
		    const struct fz_chart_piece *pieces, size_t n, int64_t end, size_t most);
void fz_chart_release(struct fz_chart *chart);
void fz_chart_columns(const struct fz_chart *chart, uint32_t threads, struct fz_columns *columns);
/* "levels": [cells, ...] */
void fz_chart_header(const struct fz_chart *chart, struct fz_json *j);
