/* SPDX-License-Identifier: MIT */
/* The program in the kernel: loading it, letting perf start it when threads of a process have used
 * their share of CPU time, and reading what it found. Built only where libbpf, clang and bpftool
 * are there. Nothing stays in the kernel when we end, however that happens. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "record/bpf/wire.h"

struct fz_bpf;

/* What is wanted of it: threads of a process, their waits, too, the whole machine, or how a process
 * grows. */
enum fz_engine_use {
	FZ_ENGINE_FOR_THREADS,
	FZ_ENGINE_FOR_WAITS,
	FZ_ENGINE_FOR_MACHINE,
	FZ_ENGINE_FOR_GROWTH
};

/* FZ_EPERM, FZ_EUNSUPPORTED: this kernel does not allow it or cannot; the message says what is
 * missing, and continues "...: ". */
int fz_bpf_new(enum fz_engine_use use, struct fz_bpf **ret, struct fz_error *err);
void fz_bpf_free(struct fz_bpf *b);
/* Let the threads of one more process be interrupted each `period` ns of their CPU time: its main
 * thread, or all, those that it starts later among them, until it runs another program. For all
 * processes these are the same, and they live in one pid namespace. */
int fz_bpf_watch(struct fz_bpf *b, pid_t pid, bool all_threads, int64_t period,
		 const struct fz_bpf_config *config, struct fz_error *err);
/* Let every CPU be interrupted each `period` ns in which it is not idle, and tell of the end of
 * processes that were. */
int fz_bpf_watch_machine(struct fz_bpf *b, int64_t period, struct fz_error *err);
/* Let each growth of the resident set of a process be told, whichever of its threads grows. */
int fz_bpf_watch_growth(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config,
			struct fz_error *err);
/* From its next tick on a process, as the kernel has its number, is known to run Python; of the
 * machine until it ends or runs another program. False: there are too many. */
bool fz_bpf_add_python(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config);
/* What was found until then can still be drained: of all, or of one process. */
void fz_bpf_unwatch(struct fz_bpf *b);
void fz_bpf_unwatch_process(struct fz_bpf *b, pid_t pid);
/* The threads of a process that are there now; the caller frees *ret. None of them is an error of
 * no consequence: their waits count from the next one on. */
size_t fz_bpf_threads(const struct fz_bpf *b, pid_t pid, struct fz_bpf_thread **ret);
/* A thread, as the kernel numbers it, waits since before it was watched, with `used` ns of CPU
 * time: is its end told, too? False: it does not, by now. */
bool fz_bpf_add_wait(struct fz_bpf *b, uint32_t thread, int64_t since, uint64_t used);
/* Readable when ticks should be drained at once. */
int fz_bpf_fd(const struct fz_bpf *b);
/* Hand over the records that there are, oldest first, each with all that it says behind it. One is
 * valid during the call. */
void fz_bpf_drain(struct fz_bpf *b, void (*take)(void *arg, const struct fz_bpf_tick *t),
		  void *arg);
/* Draw new periods for threads and CPUs that had some ticks, so that a loop is not seen at the same
 * places all the time. */
void fz_bpf_draw(struct fz_bpf *b);
struct fz_bpf_counts fz_bpf_counts(const struct fz_bpf *b);
/* How often the program ran and how long in all, in ns; false: the kernel does not count it (sysctl
 * kernel.bpf_stats_enabled). */
bool fz_bpf_run_time(const struct fz_bpf *b, uint64_t *ret_runs, uint64_t *ret_ns);
