/* SPDX-License-Identifier: MIT */
/* Encodes the rows of a SAMPLES block as columns of small numbers, and decodes them.
 *
 * Both directions predict each value from earlier rows of the block and store only the difference:
 * a thread from the one that followed its predecessor last time, a stack from the thread's last
 * one, a time from the sampling grid, a weight from the elapsed time. The differences are mostly
 * zeros and small numbers, which zstd compresses to one or two bytes per row.
 */
#pragma once

#include "fz_layout.h"

struct fz_file_rows {
	uint32_t n;
	uint32_t thread_count; /* of the block */
	uint32_t *threads;     /* their indices in the file's thread table */
	uint32_t *thread;      /* of each row: index in threads */
	uint32_t *stack;       /* index in the file's stack table, FZ_NONE: empty */
	int64_t *time;         /* in quanta */
	uint8_t *status;
	uint16_t *run;
	uint32_t *count;
	uint32_t weight_count;           /* metrics that have a column */
	int64_t *weight[FZ_METRICS_MAX]; /* in their units */
	int64_t unit[FZ_METRICS_MAX];    /* ns: the quantum; else 1 */
	int64_t usual[FZ_METRICS_MAX];   /* the metric's `each` */
	int64_t interval_ns, quantum_ns;
};

enum { FZ_FZ_COLUMNS_MAX = 8 + FZ_METRICS_MAX };

/* Arrays for n rows, contents undefined. */
void fz_file_rows_init(struct fz_file_rows *rows, uint32_t n, uint32_t weight_count);
void fz_file_rows_release(struct fz_file_rows *rows);
/* Appends the columns; sets ends[] to the end of each in out, for compressing them separately. */
size_t fz_file_rows_encode(const struct fz_file_rows *rows, struct fz_buf *out,
			   size_t ends[FZ_FZ_COLUMNS_MAX]);
/* rows: initialised with weight_count, units and scale, without arrays. False if the data are
 * invalid; release in any case. */
bool fz_file_rows_decode(struct fz_file_rows *rows, struct fz_cursor *c);
