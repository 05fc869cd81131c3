/* SPDX-License-Identifier: MIT */
/* Counting instead of sampling: the program runs under Valgrind, and our tool there (valgrind/)
 * writes the exact tree of calling contexts with what was counted in each.
 *
 *   fz_counter_find -> fz_counter_begin -> (start and wait) -> fz_counter_read -> fz_counter_end
 *
 * Where our tool is not there, Valgrind's own callgrind can stand in (callgrind.h), if that is
 * allowed: what it counts is as exact, but its contexts and functions are not.
 *
 * Counts do not depend on how busy the machine is. What else could make them differ from run to
 * run is held still: random bytes, the hash seed of Python, the size of the environment. Nor do
 * they depend on the processor: programs see the same one everywhere (valgrind/processor.c).
 */
#pragma once

#include "base/environ.h"
#include "base/error.h"
#include "profile/profile.h"

/* The processor that programs see, as compilers call it. */
#define FZ_COUNTER_PROCESSOR "x86-64-v2"
/* Variables with which a user chooses what libraries do, whatever is held still; NULL-terminated.
 */
extern const char *const fz_counter_variables[];

/* What is read of a run. Python allocates otherwise while memory is followed, and executes other
 * instructions: then memory is of one run, and everything else of another one. */
enum fz_count_columns {
	FZ_COUNT_ALL,
	FZ_COUNT_MEMORY_ALONE,   /* peak and live bytes of a run that followed them */
	FZ_COUNT_ALL_BUT_MEMORY, /* of a run that did not, into a recording that has them */
};

/* What of a program's counts is wanted. All zero: everything, marked parts below their markers. */
struct fz_count_options {
	bool benchmarks; /* marked parts only, from their bodies on */
	bool bodies;  /* marked parts from their bodies on, and everything when nothing is marked */
	bool harness; /* with what called the bodies */
	bool outline; /* of Python and Node their functions, without the interpreters' insides */
	const char
		*root; /* files below this folder are named as seen from there; NULL: as they are */
	const char *cwd;    /* where the program runs; NULL: where we do */
	const char *symbol; /* the calls of this function are a benchmark; NULL: none */
	const char *filter; /* only benchmarks whose names contain it; NULL: all */
	bool wall;          /* a metric for wall times comes last; all 0 */
	bool late;          /* the program was ended because it took too long */
	enum fz_count_columns columns;
};

enum fz_counter_engine { FZ_COUNTER_OURS, FZ_COUNTER_ANY, FZ_COUNTER_CALLGRIND };

struct fz_counter {
	/* Which may count; ANY: ours where it is there. fz_counter_find decides. */
	enum fz_counter_engine engine;
	char *instead;  /* why it is callgrind, when that was not asked for */
	bool graph;     /* callgrind's, without contexts */
	bool cache;     /* simulate caches as well */
	bool memory;    /* follow what is allocated; Python then allocates by malloc */
	unsigned other; /* 0: surroundings as always; else others: size of the environment, seed */
	struct fz_count_options options;
	pid_t pid;     /* of the program, once it ran; 0: not known */
	bool silent;   /* what was read is of what it started, and nothing of itself */
	char *folder;  /* with the tool and what Valgrind needs beside it */
	char *command; /* what starts Valgrind: in the folder, or for callgrind the installed one */
	char *valgrind; /* its version: "3.19.0" */
	char *results;  /* temporary: a file for each process */
	char *folder_option;
	char *variables; /* of fz_counter_variables those that the user has set; NULL: none */
	struct fz_environ environ; /* that the program is to have */
};

/* Find Valgrind and the tool that was built for it, or what may stand in for that.
 * FZ_EUNSUPPORTED with the remedy. */
int fz_counter_find(struct fz_counter *c, struct fz_error *err);
/* The command that runs argv under the tool, to be started with c->environ, which is made of
 * `from` (NULL: ours). The caller frees the array; its strings live as long as c and argv. */
int fz_counter_begin(struct fz_counter *c, char *const argv[], char *const *from, char ***ret_argv,
		     struct fz_error *err);
/* What was counted, by all processes. Each marked benchmark is below a marker of its name, each
 * process a thread. Without benchmarks, where those were wanted, there are no samples. *ret: NULL,
 * or a recording of the same program to which it is added; what fails leaves NULL. */
int fz_counter_read(struct fz_counter *c, struct fz_profile **ret, struct fz_error *err);
/* Remove the results. */
void fz_counter_end(struct fz_counter *c);

/* Read one file of the tool; docs at valgrind/write.c. The metrics must be there. */
int fz_count_read(const void *data, size_t n, const char *name, struct fz_profile *into,
		  uint32_t process, const struct fz_count_options *options, struct fz_error *err);
/* What a metric needs to be counted: *cache or *memory are set where it needs that. False: it is
 * none that is counted. */
bool fz_count_needs(const char *metric, bool *cache, bool *memory);
/* Add the metrics of a counted recording. */
void fz_count_add_metrics(struct fz_profile *p, bool cache, bool memory);
