/* SPDX-License-Identifier: MIT */
/* How a process is recorded; set by commands, read by the recorder and the sampler. */
#pragma once

#include "record/count/count.h"
#include "record/python/python.h"
#include "record/rate.h"

enum fz_clock { FZ_CLOCK_WALL, FZ_CLOCK_CPU };
extern const char *const fz_clock_names[]; /* NULL-terminated, by enum fz_clock */

/* What reads the stacks: the kernel, or this process. */
enum fz_engine_choice { FZ_ENGINE_AUTO, FZ_ENGINE_BPF, FZ_ENGINE_READ };
extern const char *const fz_engine_choices[]; /* NULL-terminated, by enum fz_engine_choice */

enum fz_native_kind { FZ_NATIVE_NONE, FZ_NATIVE_MARKERS, FZ_NATIVE_STACKS };

struct fz_record_options {
	struct fz_rate rate;
	double duration; /* seconds; 0: until the process ends */
	/* FZ_MODE_CPU requires FZ_CLOCK_CPU, FZ_MODE_WALL requires FZ_CLOCK_WALL. */
	enum fz_mode mode;
	enum fz_clock clock; /* FZ_CLOCK_CPU needs a rate that is not the highest possible */
	int native;          /* enum fz_native_kind */
	enum fz_python_tasks tasks;
	bool task_names; /* each task of asyncio by its own name */
	bool all_threads, blocking;
	bool no_gc, opcodes;
	bool waits;  /* needs FZ_MODE_WALL; FZ_ENGINE_READ samples them */
	bool growth; /* sample growth of the resident set instead of time; needs FZ_ENGINE_BPF */
	bool no_source;
	bool subprocesses;
	bool machine;        /* all processes; needs FZ_ENGINE_BPF and FZ_MODE_CPU */
	const char *control; /* "unix:PATH" of the control socket; NULL: none */
	bool paused;         /* until the command "enable" */
	bool watched;        /* a full-screen view has the terminal: print nothing meanwhile */
	bool count, cache, memory; /* under Valgrind, instead of sampling */
	bool interpreter_frames;   /* with count: also native frames of Python and Node */
	bool coarse;               /* with machine: native code by function only, without lines */
	bool apart;                /* struct fz_bench_options */
	int engine;                /* enum fz_counter_engine: what counts there */
	int sampled_by;            /* enum fz_engine_choice */
};

#define FZ_RECORD_DEFAULTS                                                            \
	{                                                                             \
		.rate = { 1000000000 }, .mode = FZ_MODE_WALL, .clock = FZ_CLOCK_WALL, \
		.engine = FZ_COUNTER_ANY, .sampled_by = FZ_ENGINE_READ                \
	}
