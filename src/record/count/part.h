/* SPDX-License-Identifier: MIT */
/* A part of a program's counts on its way into a profile: what belongs to a benchmark's body.
 *
 *   _start - main - run_all - access            common to all: dropped, but for the last
 *                          '- body - parse
 *
 *   main - measure - __bench_root_frame__ - body - parse
 *                 '- clock_gettime               beside a root frame: the harness's, dropped
 *
 * A harness calls the body through a function that is named __bench_root_frame__ (or as CodSpeed's
 * do, __codspeed_root_frame__), and everything that this calls is the benchmark. Without one the
 * callers that all of the part has in common are dropped, except the last, which holds the marks.
 * What other threads did meanwhile belongs to it too.
 *
 *   parse - PyObject_Vectorcall - python3.11+0x5fa160        of a Python program: what only carries
 * out
 *        '- PyObject_Vectorcall - parse_body                 a function is that function's own
 *   parse - parse_body
 */
#pragma once

#include "record/count/count.h"

struct fz_count_row {
	uint32_t stack;
	int64_t counts[FZ_METRICS_MAX];
};

struct fz_count_part {
	struct fz_str name;    /* "" when it has none */
	struct fz_str program; /* then it is called by that */
	bool marked;           /* else it is all that the program did */
	uint32_t thread;
	const struct fz_count_row *rows;
	size_t n;
};

void fz_count_part_add(struct fz_profile *p, const struct fz_count_part *part,
		       const struct fz_count_options *options);
