/* SPDX-License-Identifier: MIT */
/* Recording one process.
 *
 *   fz_record_init -> fz_record_to_store, _to_file or _to_temporary    nothing old is overwritten
 *   fz_record_catch_signals -> (start the process, or find it)
 *   fz_record_begin -> fz_record_begin_file -> fz_sampler_run(&r->sampler)
 *   fz_record_complete -> fz_record_read                               or fz_record_take
 *   fz_record_release
 */
#pragma once

#include "record/facts.h"
#include "git/facts.h"
#include "record/launch.h"
#include "record/load.h"
#include "record/sampler.h"
#include "record/notify.h"

/* Who looks on while it is sampled; each call may be NULL. See struct fz_sampling. */
struct fz_record_looker {
	void (*on_second)(void *arg, const struct fz_sampler *s);
	void (*on_sample)(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
			  int64_t weight);
	void *arg;
};

struct fz_record {
	const struct fz_record_options *options;
	const struct fz_notify *notify;
	struct fz_record_looker looker;
	const char *command; /* what messages call it: "run" */
	char *const *argv;   /* what was started, NULL when it ran before */
	const char *folder;  /* where it was started; NULL: where we are */
	char *path;          /* of the .fz that is written */
	int fd;
	bool saves;     /* SIGUSR1 is collected, for fz_record_save */
	bool stored;    /* in the store */
	bool temporary; /* to be removed when what was asked for is written */
	bool existed;   /* the file was there before */
	bool complete;
	bool told; /* that the program ended before what it started */
	struct fz_profile *profile;
	struct fz_file_writer *writer;
	struct fz_sampler sampler;
	struct fz_lineserver *control; /* NULL unless options->control */
	struct fz_sampling sampling;
	struct fz_bpf *loaded; /* for the kernel's engine; NULL: none, or it has it */
	struct fz_git git;
	const struct fz_child *child; /* what we started; NULL for attach */
	struct fz_load_start load;    /* when it began */
	sigset_t old_mask;
	int signal_fd;
};

/* How it will be recorded, as far as a comparison cares. */
struct fz_recording fz_record_plan(const struct fz_record_options *o);
/* Whether this process can record at all. */
int fz_record_check(struct fz_error *err);

/* All that is given is borrowed; notify may be NULL. */
void fz_record_init(struct fz_record *r, const struct fz_record_options *options,
		    const char *command, const struct fz_notify *notify);
/* Find out that the recording can be written, before anything starts: in the store, where `program`
 * names it; in a file; in one that fz_record_take reads and removes, as what is no file gets it
 * whole, afterwards. */
int fz_record_to_store(struct fz_record *r, const char *program, struct fz_error *err);
int fz_record_to_file(struct fz_record *r, const char *path, struct fz_error *err);
int fz_record_to_temporary(struct fz_record *r, struct fz_error *err);
/* Open options->control, where that is wanted: who connects waits for an answer until the sampler
 * runs. */
int fz_record_listen(struct fz_record *r, struct fz_error *err);
/* Have the kernel's engine loaded where it is wanted, before what it samples begins. */
int fz_record_load(struct fz_record *r, struct fz_error *err);
/* From here on signals are collected instead of acted upon, for r->sampling.on_signal; `all`: also
 * those that mean the program alone, to be passed on (SIGQUIT, SIGUSR1, SIGUSR2). */
int fz_record_catch_signals(struct fz_record *r, bool all, struct fz_error *err);
/* The process is there: set up what is recorded. `started`: by us, from r->argv. */
void fz_record_begin(struct fz_record *r, pid_t pid, int pidfd, bool started, int64_t start);
/* Begin the file; what it held before is gone from here on. */
void fz_record_begin_file(struct fz_record *r);

/* After r->sampler has run: let go of the process, complete the file. `exit_fact` is how the
 * program ended or "". When that fails what was written before can still be read. */
int fz_record_complete(struct fz_record *r, const char *exit_fact, struct fz_error *err);
/* Why there is no sample; returns its code. */
int fz_record_why_empty(const struct fz_record *r, struct fz_error *err);
/* Read a complete file back. What is in it only by address gets its names, and with them the file
 * is written anew; when that fails ret_unnamed says why (its code is 0 else), and the file is as it
 * was. */
int fz_record_read(struct fz_record *r, struct fz_profile **ret, struct fz_error *ret_unnamed,
		   struct fz_error *err);
/* Complete the file, read it, remove it. Without a sample that is an error which says why. */
int fz_record_take(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		   struct fz_error *err);
/* What was recorded so far can be read from now on, and a note says where. */
void fz_record_save(struct fz_record *r);
/* Remove the file, which came to nothing. */
void fz_record_discard(const struct fz_record *r);
void fz_record_release(struct fz_record *r);
