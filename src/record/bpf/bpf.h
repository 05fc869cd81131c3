/* SPDX-License-Identifier: MIT */
/* The BPF program: loads it, attaches it to perf events by which threads are interrupted after a
 * period of CPU time, and reads its records. Built only if libbpf, clang and bpftool are available.
 * Nothing stays in the kernel after we exit, however that happens. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/bpf/wire.h"

struct fz_bpf;

/* Purpose: threads of a process, also their waits, the whole machine, or growth of a process. */
enum fz_engine_use {
	FZ_ENGINE_FOR_THREADS,
	FZ_ENGINE_FOR_WAITS,
	FZ_ENGINE_FOR_MACHINE,
	FZ_ENGINE_FOR_GROWTH
};

/* Load the program. FZ_EPERM: not permitted; FZ_EUNSUPPORTED: this kernel cannot run it. The
 * message names what is missing, and is meant to follow a prefix "...: ". */
int fz_bpf_new(enum fz_engine_use use, struct fz_bpf **ret, struct fz_error *err);
void fz_bpf_free(struct fz_bpf *b);
/* Interrupt threads of another process each `period` ns of their CPU time, until it calls exec: its
 * main thread, or all, including those started later. All processes must have the same arguments
 * and pid namespace. */
int fz_bpf_watch(struct fz_bpf *b, pid_t pid, bool all_threads, int64_t period,
		 const struct fz_bpf_config *config, struct fz_error *err);
/* Interrupt every CPU each `period` ns in which it is not idle, and report the end of processes
 * that had a tick. */
int fz_bpf_watch_machine(struct fz_bpf *b, int64_t period, struct fz_error *err);
/* Report each growth of a process's resident set, in any thread. */
int fz_bpf_watch_growth(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config,
			struct fz_error *err);
/* Read Python frames of a process from its next tick on; for the machine until it exits or calls
 * exec. pid: in its own namespace, for the machine the kernel's. False if there are too many. */
bool fz_bpf_add_python(struct fz_bpf *b, pid_t pid, const struct fz_bpf_config *config);
/* Stop watching all processes, or one. Earlier records can still be drained. */
void fz_bpf_unwatch(struct fz_bpf *b);
void fz_bpf_unwatch_process(struct fz_bpf *b, pid_t pid);
/* List the current threads of a process; the caller frees *ret. Returns 0 on error, which is
 * harmless: waits then count from the next one on. */
size_t fz_bpf_threads(const struct fz_bpf *b, pid_t pid, struct fz_bpf_thread **ret);
/* Add a wait that began before the thread, given by its kernel tid, was watched, so that its end is
 * reported. used: its CPU time in ns. False if it has a wait already. */
bool fz_bpf_add_wait(struct fz_bpf *b, uint32_t thread, int64_t since, uint64_t used);
/* A descriptor that is readable when records should be drained at once. */
int fz_bpf_fd(const struct fz_bpf *b);
/* Pass all records to `take`, oldest first, each with its stacks behind it. A record is valid
 * during the call. */
void fz_bpf_drain(struct fz_bpf *b, void (*take)(void *arg, const struct fz_bpf_tick *t),
		  void *arg);
/* Draw new random periods for threads and CPUs that had some ticks, so that loops are not sampled
 * in lockstep. */
void fz_bpf_draw(struct fz_bpf *b);
struct fz_bpf_counts fz_bpf_counts(const struct fz_bpf *b);
/* How often the program ran and its total time in ns. False if the kernel does not count it (sysctl
 * kernel.bpf_stats_enabled). */
bool fz_bpf_run_time(const struct fz_bpf *b, uint64_t *ret_runs, uint64_t *ret_ns);

/* ---- interrupts.c ---- */

/* Offset in bytes from a CPU's `struct rq`, which the BPF program can find, to its preempt_count
 * (include/linux/preempt.h), from the running kernel's BTF. 0 if unknown, as on all machines but
 * x86-64. */
int32_t fz_bpf_preempt_count_at(void);
