/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lists the kernel tids of a target's threads, which are not visible inside a pid namespace; a part
 * of tick.bpf.c. Visits each task that the recorder can see, and writes a struct fz_bpf_thread for
 * those of one target. */
#pragma once

#include <bpf/bpf_core_read.h>

enum { NAMESPACES_MAX = 32 }; /* nested: MAX_PID_NS_LEVEL of the kernel */

struct ns_common {
	unsigned int inum;
} KERNELS;

struct pid_namespace {
	struct ns_common ns;
} KERNELS;

struct upid {
	int nr;
	struct pid_namespace *ns;
} KERNELS;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} KERNELS;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNELS;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNELS;

/* A task's pid in a pid namespace; 0 if it is not in there. */
static int number_in(struct task_struct *t, __u32 namespace)
{
	struct pid *pid = BPF_CORE_READ(t, thread_pid);
	const void *numbers = (void *)pid + bpf_core_field_offset(pid->numbers);
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < NAMESPACES_MAX && i <= level; i++) {
		const struct upid *at = numbers + i * bpf_core_type_size(struct upid);
		if (BPF_CORE_READ(at, ns, ns.inum) == namespace)
			return BPF_CORE_READ(at, nr);
	}
	return 0;
}

SEC("iter/task")
int fz_threads(struct bpf_iter__task *context)
{
	struct task_struct *t = context->task;
	struct fz_bpf_thread thread;

	if (!t || number_in(t->group_leader, fz_scope.recorder) != (int)fz_scope.listed)
		return 0;
	thread.kernel = t->pid;
	thread.seen = number_in(t, fz_scope.recorder);
	bpf_seq_write(context->meta->seq, &thread, sizeof(thread));
	return 0;
}
