/* SPDX-License-Identifier: MIT */
/* A page's time: activity of threads and cost of nodes over time, in sizes that do not grow with
 * the recording.
 *
 *   activity    of a track (a thread, or threads of one kind where there are many), a state and a
 *               slot: thread time, in 200ths of the slot's length
 *   slices      self value of a node in a thread and a bucket of time; those of a node in a thread
 *               add up to its cell. A sample is in the bucket of the instant at which it was taken,
 *               so that some buckets in a row are exactly the range of fizeau replay --from --to
 *   runs        which node a thread was in, in order of time (page_chart.h)
 *
 * Slots are FZ_PAGE_SLOTS equal parts of the time; buckets are as many, or 2, 4, 8 ... slots each
 * where there would be too many slices.
 */
#pragma once

#include "base/json.h"
#include "profile/tree.h"
#include "report/page_columns.h"

struct fz_page_thread;

enum { FZ_PAGE_SLOTS = 256, FZ_PAGE_TRACKS = 24, FZ_PAGE_SLICES = 500000, FZ_PAGE_RUNS = 125000 };

struct fz_page_time;

/* NULL if the samples have no times or are from several runs, each with its own time. `t` is the
 * tree of the page's nodes, not inverted; threads are those of its profile. */
struct fz_page_time *fz_page_time_new(const struct fz_tree *t,
				      const struct fz_page_thread *threads);
void fz_page_time_free(struct fz_page_time *time);

void fz_page_time_columns(const struct fz_page_time *time, struct fz_columns *columns);
/* Write member "time"; nothing if `time` is NULL. */
void fz_page_time_header(const struct fz_page_time *time, struct fz_json *j);
