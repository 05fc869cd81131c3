/* SPDX-License-Identifier: MIT */
/* The state of counting one program, and what to keep of its counts. */
#pragma once

#include "base/environ.h"
#include "base/error.h"
#include "profile/profile.h"

/* Which metrics to read. While memory is tracked, Python uses another allocator and executes other
 * instructions, so memory comes from one run and everything else from another. */
enum fz_count_columns {
	FZ_COUNT_ALL,
	FZ_COUNT_MEMORY_ALONE,   /* peak and live bytes, from a run that tracked memory */
	FZ_COUNT_ALL_BUT_MEMORY, /* from a run that did not, into a recording that has them */
};

/* Which counts to keep. All zero: everything, with marked parts below their markers. */
struct fz_count_options {
	bool benchmarks; /* marked parts only, from their bodies on */
	bool bodies;     /* marked parts from their bodies on, or everything if nothing is marked */
	bool harness;    /* with the callers of the bodies */
	bool outline;    /* functions of Python and Node, without frames of the interpreters */
	const char *root;   /* paths of files below this folder are relative to it; NULL: all are
			       absolute */
	const char *cwd;    /* where the program runs; NULL: in our folder */
	const char *symbol; /* the calls of this function are a benchmark; NULL: none */
	const char *filter; /* only benchmarks whose names contain it; NULL: all */
	bool wall;          /* the last metric is for wall times; its values are 0 */
	bool late;          /* the time limit ended the program */
	enum fz_count_columns columns;
};

enum fz_counter_engine { FZ_COUNTER_OURS, FZ_COUNTER_ANY, FZ_COUNTER_CALLGRIND };

struct fz_counter {
	/* Which tool may count; ANY: ours if it is installed. fz_counter_find decides. */
	enum fz_counter_engine engine;
	char *instead;  /* why callgrind is used although it was not requested; else NULL */
	bool graph;     /* callgrind counts a graph, without contexts */
	bool cache;     /* simulate caches as well */
	bool memory;    /* track allocations; Python then uses malloc */
	unsigned other; /* 0: the usual environment and hash seed; else different ones */
	struct fz_count_options options;
	pid_t pid;     /* of the program, once it ran; 0: unknown */
	bool silent;   /* the program itself wrote no counts */
	char *folder;  /* with the tool and its own parts of Valgrind */
	char *command; /* what starts Valgrind: in the folder, or for callgrind the installed one */
	char *valgrind; /* its version: "3.19.0" */
	char *results;  /* temporary folder with files of each process */
	char *folder_option;
	char *variables; /* those of fz_counter_variables that the user has set; NULL: none */
	struct fz_environ environ; /* for the program */
};
