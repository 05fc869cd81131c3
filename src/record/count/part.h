/* SPDX-License-Identifier: MIT */
/* Adds a part of a program's counts to a profile: those of a benchmark's body.
 *
 *   _start - main - run_all - access            callers common to all: dropped, except the last
 *                          '- body - parse
 *
 *   main - measure - __bench_root_frame__ - body - parse
 *                 '- clock_gettime               next to a root frame: the harness's, dropped
 *
 * A harness calls the body through a function that is named __bench_root_frame__ (by CodSpeed's,
 * __codspeed_root_frame__), and everything that this calls is the benchmark. Without one, the
 * callers that the whole part has in common are dropped, except the last, which sets the marks. The
 * work of other threads during that time is included.
 *
 *   parse - PyObject_Vectorcall - python3.11+0x5fa160        in a Python program, interpreter code
 *        '- PyObject_Vectorcall - parse_body                 counts as its Python function:
 *   parse - parse_body
 *
 *   _start - main - Py_RunMain - <module> - parse            all that a Python program did begins
 *                             '- Py_Finalize               with one frame of the interpreter:
 *   python3.11 - <module> - parse
 */
#pragma once

#include "record/count/counter.h"

struct fz_count_row {
	uint32_t stack;
	int64_t counts[FZ_METRICS_MAX];
};

struct fz_count_part {
	struct fz_str name; /* "": named after the program */
	struct fz_str program;
	bool marked; /* false: everything that the program did */
	uint32_t thread;
	const struct fz_count_row *rows;
	size_t n;
};

void fz_count_part_add(struct fz_profile *p, const struct fz_count_part *part,
		       const struct fz_count_options *options);
