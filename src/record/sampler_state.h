/* SPDX-License-Identifier: MIT */
/* What the parts of a sampler share. Each includes only those below it:
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

/* What the kernel does not allow, so that something else stands for it. */
enum { FZ_WARN_CLOCK, FZ_WARN_SUBPROCESSES, FZ_WARN_WAITS, FZ_WARNINGS };

/* What a process is found to be that is met for the first time. */
enum fz_met {
	FZ_MET_PROGRAM,
	FZ_MET_KERNEL, /* a thread of the kernel */
	FZ_MET_GONE    /* it ended before it could be looked at */
};

enum fz_end {
	FZ_END_NOT,    /* still sampling */
	FZ_END_EXIT,   /* the process ended */
	FZ_END_TIME,   /* the duration is over */
	FZ_END_SIGNAL, /* on_signal said so */
	FZ_END_OUTPUT, /* the recording could not be written any more; see trouble */
};

struct fz_sampler;

/* One recording: what is sampled, and its callbacks. */
struct fz_sampling {
	pid_t pid;              /* what was started or attached to; of the whole machine 0 */
	int pidfd;              /* likewise; -1 */
	int signal_fd;          /* a signalfd: blocked signals, SIGCHLD among them */
	bool started;           /* by us: every source file is as the program read it */
	struct fz_bpf **loaded; /* by fz_engine_load, for the first process: taken over, and NULL
				   then; NULL: nothing was */
	struct fz_lineserver *control; /* served while waiting; NULL: none. See control.h */
	int64_t start;                 /* fz_clock_now() when the run began */
	/* A signal came; true ends the sampling. SIGCHLD is not reported. */
	bool (*on_signal)(void *arg, const struct signalfd_siginfo *info);
	void (*on_second)(void *arg, const struct fz_sampler *s);
	/* A sample was written; may be NULL, and must be quick. */
	void (*on_sample)(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
			  int64_t weight);
	/* Of the whole machine: a process is met, or runs another program than before; it is looked
	 * at while it lives, before its first sample is written. May be NULL. */
	void (*on_process)(void *arg, pid_t pid, enum fz_met what);
	void *arg;
};

/* A process that is sampled or may be, with what belongs to it. */
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
	void *states[FZ_ENGINE_SLOTS];  /* of engines, their own; NULL: it has not begun */
	struct fz_profile *profile;     /* tables; samples go to the writer */
	struct fz_file_writer *writer;  /* both borrowed; NULL: on_sample has them all */
	struct fz_target_process *
		*processes; /* the first is the one that was started or attached to */
	size_t process_n, process_cap;
	size_t open_n;                /* of them */
	size_t stopper_n;             /* of them have one */
	struct fz_process_tree *tree; /* NULL: only the first, or what stands for it */
	struct rlimit files;          /* as it was before it was raised; all 0: it was not */
	struct fz_sources *sources;   /* NULL when not wanted */
	struct fz_images images;      /* files whose names are still to be looked up */
	struct fz_native_figures figures;
	struct fz_silent silent;
	bool silent_told;   /* an engine reports threads without a stack by itself */
	unsigned planned;   /* features of a Python program's recording */
	int64_t valid_from; /* samples before are of programs that only led to the target */

	enum fz_end end;
	bool paused;                       /* no instants until it is not */
	int64_t paused_since;              /* fz_clock_now() then */
	int64_t paused_ns;                 /* in all, once it has run */
	struct fz_error trouble;           /* of the output */
	struct fz_error refusal;           /* a target was found but cannot be sampled as asked */
	const char *warnings[FZ_WARNINGS]; /* what the user should know; NULL: nothing */
	struct fz_error sampled_waits;     /* why waits are sampled and not exact; FZ_WARN_WAITS */

	enum fz_priority priority;
	int64_t cpu_time;   /* of ours, a second ago */
	int64_t now;        /* fz_clock_now() when the loop last looked */
	int64_t next_seek;  /* when to look for an interpreter in one of the processes */
	uint64_t left_out;  /* threads not sampled of processes that are gone */
	bool found;         /* something was opened at some time */
	int64_t last_poll;  /* when events were last looked at */
	int64_t next_chore; /* when to flush next */
	int64_t next_second;
	int64_t next_look; /* when to time the machine's speed again */
	uint32_t look_cpu; /* where: the CPU of a thread that was just sampled; FZ_NONE: none */
	uint64_t samples;  /* written, of all threads */
	int64_t end_time;  /* fz_clock_now() when sampling ended */
};
