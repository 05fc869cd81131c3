/* SPDX-License-Identifier: MIT */
/* Recording one process.
 *
 *   fz_record_init -> fz_record_to_store, _to_file or _to_temporary    no old file is overwritten
 *   fz_record_catch_signals -> (start the process, or find it)
 *   fz_record_begin -> fz_record_begin_file -> fz_sampler_run(&r->sampler)
 *   fz_record_complete -> fz_record_read                               or fz_record_finish
 *   fz_record_release
 */
#pragma once

#include "record/facts.h"
#include "git/facts.h"
#include "record/launch.h"
#include "record/load.h"
#include "record/sampler.h"
#include "record/notify.h"

/* Callbacks while the process is sampled; each may be NULL. See struct fz_sampling. */
struct fz_record_callbacks {
	void (*on_second)(void *arg, const struct fz_sampler *s);
	void (*on_sample)(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
			  int64_t weight);
	void *arg;
};

struct fz_record {
	const struct fz_record_options *options;
	const struct fz_notify *notify;
	struct fz_record_callbacks callbacks;
	const char *command; /* its name in messages: "run" */
	char *const *argv;   /* what was started; NULL when attaching */
	const char *folder;  /* where it was started; NULL: in our folder */
	char *path;          /* of the .fz file */
	int fd;
	bool saves;     /* SIGUSR1 is collected, for fz_record_save */
	bool stored;    /* in the store */
	bool temporary; /* to be removed after the requested output is written */
	bool existed;   /* the file existed before */
	bool complete;
	bool told; /* note_children has reported */
	struct fz_profile *profile;
	struct fz_file_writer *writer;
	struct fz_sampler sampler;
	struct fz_lineserver *control; /* NULL unless options->control */
	struct fz_sampling sampling;
	struct fz_bpf *loaded; /* for the kernel's engine; NULL: none, or the engine owns it */
	struct fz_git git;
	const struct fz_child *child; /* what we started; NULL for attach */
	struct fz_load_start load;    /* at the start */
	sigset_t old_mask;
	int signal_fd;
};

/* How it will be recorded, as far as comparisons need it. */
struct fz_recording fz_record_plan(const struct fz_record_options *o);
/* Fails if this process cannot record at all. */
int fz_record_check(struct fz_error *err);

/* All arguments are borrowed; notify may be NULL. */
void fz_record_init(struct fz_record *r, const struct fz_record_options *options,
		    const char *command, const struct fz_notify *notify);
/* Open the output before anything starts: a file in the store, named after `program`; the file at
 * `path`; or a temporary file that fz_record_finish reads and removes. The latter is also used if
 * `path` is not a regular file, which gets the whole recording afterwards. */
int fz_record_to_store(struct fz_record *r, const char *program, struct fz_error *err);
int fz_record_to_file(struct fz_record *r, const char *path, struct fz_error *err);
int fz_record_to_temporary(struct fz_record *r, struct fz_error *err);
/* Listen on options->control, if set. Clients get replies once the sampler runs. */
int fz_record_listen(struct fz_record *r, struct fz_error *err);
/* Load the kernel's engine, if requested, before the program starts. */
int fz_record_load(struct fz_record *r, struct fz_error *err);
/* From here on signals are blocked and reported to r->sampling.on_signal. all: also those that are
 * only for the program, to be passed on (SIGQUIT, SIGUSR1, SIGUSR2). */
int fz_record_catch_signals(struct fz_record *r, bool all, struct fz_error *err);
/* Set up the profile and the sampler for an existing process. started: by us, from r->argv. */
void fz_record_begin(struct fz_record *r, pid_t pid, int pidfd, bool started, int64_t start);
/* Begin the file; its old content is lost from here on. */
void fz_record_begin_file(struct fz_record *r);

/* After r->sampler has run: complete the file. exit_fact: how the program ended, or "". If that
 * fails, what was written before can still be read. */
int fz_record_complete(struct fz_record *r, const char *exit_fact, struct fz_error *err);
/* Set err to why there is no sample; returns its code. */
int fz_record_why_empty(const struct fz_record *r, struct fz_error *err);
/* Read a complete file back. Addresses get their names, and the file is rewritten with them; if
 * that fails, ret_unnamed is set (otherwise its code is 0), and the file is unchanged. */
int fz_record_read(struct fz_record *r, struct fz_profile **ret, struct fz_error *ret_unnamed,
		   struct fz_error *err);
/* Complete the file, read it and remove it. Fails with the reason if there is no sample. */
int fz_record_finish(struct fz_record *r, const char *exit_fact, struct fz_profile **ret,
		     struct fz_error *err);
/* Flush what was recorded so far to the file, and report its path in a note. */
void fz_record_save(struct fz_record *r);
/* Remove the file. */
void fz_record_discard(const struct fz_record *r);
void fz_record_release(struct fz_record *r);
