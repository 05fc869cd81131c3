/* SPDX-License-Identifier: MIT */
/* Data that the parts of a sampler share. Each includes only those below it:
 *
 *   sampler.c         opens processes, runs the loop
 *   engine_choice.c   chooses the engine of a process
 *   engine_read.c, bpf/engine.c, bpf/machine.c   the engines; each allocates its own state
 *   engine_host.c     waits and writes samples for engines
 *   target_process.c  the list of processes
 */
#pragma once

#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/lineserver.h"
#include "record/engine.h"
#include "record/options.h"
#include "record/process_tree.h"
#include "record/priority.h"
#include "record/silent.h"
#include "record/target.h"
#include "format/fz.h"

struct fz_bpf; /* the program in the kernel: bpf/bpf.h */

/* Warnings that the kernel refused something, so a substitute is used. */
enum { FZ_WARN_CLOCK, FZ_WARN_SUBPROCESSES, FZ_WARN_WAITS, FZ_WARNINGS };

/* The kind of a process that is found for the first time. */
enum fz_met {
	FZ_MET_PROGRAM,
	FZ_MET_KERNEL, /* a kernel thread */
	FZ_MET_GONE    /* it ended before it could be examined */
};

enum fz_end {
	FZ_END_NOT,    /* still sampling */
	FZ_END_EXIT,   /* the process ended */
	FZ_END_TIME,   /* the duration is over */
	FZ_END_SIGNAL, /* on_signal returned true */
	FZ_END_OUTPUT, /* the recording could not be written; see trouble */
};

struct fz_sampler;

/* One recording: its target and callbacks. */
struct fz_sampling {
	pid_t pid;              /* the process started or attached to; 0: the whole machine */
	int pidfd;              /* likewise; -1 */
	int signal_fd;          /* a signalfd of the blocked signals, including SIGCHLD */
	bool started;           /* by us: every source file is as the program read it */
	struct fz_bpf **loaded; /* from fz_engine_load, for the first process, which takes it and
				 * sets it to NULL; NULL: nothing is loaded */
	struct fz_lineserver *control; /* served while waiting; NULL: none. See control.h */
	int64_t start;                 /* fz_clock_now() when the run began */
	/* A signal arrived; true ends the sampling. SIGCHLD is not reported. */
	bool (*on_signal)(void *arg, const struct signalfd_siginfo *info);
	void (*on_second)(void *arg, const struct fz_sampler *s);
	/* A sample was written; may be NULL, and must be quick. */
	void (*on_sample)(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
			  int64_t weight);
	/* When sampling the whole machine: a process was found or has called exec. Called while it
	 * lives, before its first sample is written. May be NULL. */
	void (*on_process)(void *arg, pid_t pid, enum fz_met what);
	void *arg;
};

/* A process that is or may be sampled. */
struct fz_target_process {
	struct fz_target target;
	struct fz_stopper *stopper; /* NULL unless blocking */
	struct fz_oncpu *oncpu;     /* of engine_read.c, by the wall clock; else NULL */
	pid_t parent;               /* 0: unknown */
	bool fresh;                 /* no instant yet since it was opened */
	bool ended;
};

struct fz_sampler {
	const struct fz_record_options *options;
	const struct fz_sampling *sampling;
	const struct fz_engine *engine; /* takes the samples */
	void *states[FZ_ENGINE_SLOTS];  /* private states of engines; NULL: not started */
	struct fz_profile *profile;     /* borrowed; tables only: samples go to the writer */
	struct fz_file_writer *writer;  /* borrowed; NULL: samples only go to on_sample */
	struct fz_target_process *
		*processes; /* the first is the one that was started or attached to */
	size_t process_n, process_cap;
	size_t open_n;                /* processes that are open */
	size_t stopper_n;             /* processes with a stopper */
	struct fz_process_tree *tree; /* NULL: only the first process, or the worker below it */
	struct rlimit files;          /* limit before it was raised; all 0: it was not raised */
	struct fz_sources *sources;   /* NULL: source text is not kept */
	struct fz_images images;      /* files whose symbols are looked up at the end */
	struct fz_native_figures figures;
	struct fz_silent silent;
	bool silent_told;   /* an engine reports threads without a stack by itself */
	unsigned planned;   /* features of a Python program's recording */
	int64_t valid_from; /* earlier samples are of programs that only started the target */

	enum fz_end end;
	bool paused;             /* no instants meanwhile */
	int64_t paused_since;    /* fz_clock_now() then */
	int64_t paused_ns;       /* total; complete after the run */
	struct fz_error trouble; /* of the output */
	struct fz_error refusal; /* a target was found but these options do not apply to it */
	const char *warnings[FZ_WARNINGS]; /* for the user; NULL: none */
	struct fz_error sampled_waits;     /* why waits are sampled and not exact; FZ_WARN_WAITS */

	enum fz_priority priority;
	int64_t cpu_time;   /* our own, a second ago */
	int64_t now;        /* fz_clock_now() of the loop's current iteration */
	int64_t next_seek;  /* when to search processes for an interpreter */
	uint64_t left_out;  /* unsampled threads of processes that are gone */
	bool found;         /* some process has been opened */
	int64_t last_poll;  /* when events were last polled */
	int64_t next_chore; /* when to flush next */
	int64_t next_second;
	int64_t next_probe; /* when to time the machine's speed again */
	uint32_t probe_cpu; /* on which CPU: that of the last sampled thread; FZ_NONE: none */
	uint64_t samples;   /* written, of all threads */
	int64_t sampled_ns; /* sum of their weights */
	int64_t launch_ns;  /* CPU time of a program that we started, before its first sample */
	int64_t end_time;   /* fz_clock_now() when sampling ended */
};
