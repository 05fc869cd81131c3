/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Waits; a part of tick.bpf.c: a thread of a target leaves its CPU, is woken, and runs again.
 *
 *   running --(OFF, with its stack)--> waits --(woken: WAKER)--> runnable --(ON)--> running
 *                                      ^--- `waits`: since when ---^
 *
 * Interrupts are off in all programs, so a CPU's scratch data has one user at a time.
 */
#pragma once

struct inode {
	__u16 i_mode;
} KERNELS;

struct file {
	struct inode *f_inode;
} KERNELS;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNELS;

struct files_struct {
	struct fdtable *fdt;
} KERNELS;

struct cfs_rq {
	struct rq *rq; /* of the CPU */
} KERNELS;

struct sched_entity {
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
} KERNELS;

struct task_struct {
	int pid, tgid;
	struct sched_entity se;
	unsigned int flags;
	struct files_struct *files;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	char comm[16];
} KERNELS;

enum {
	KERNEL_THREAD = 0x200000, /* in the flags of a task */
	ENDED = 0xb0,             /* in its state: it has ended */
	SMALL = 4096,             /* smaller values are not addresses */
	INTERRUPTS = 0xff0000,    /* in preempt_count: hard interrupts and NMIs */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FZ_BPF_WAITERS);
	__type(key, __u32);
	__type(value, struct fz_bpf_wait);
} waits SEC(".maps");

/* Get a thread's system call from its registers at entry into the kernel. */
static void read_call(struct task_struct *t, struct fz_bpf_call *call)
{
	void *regs = (void *)bpf_task_pt_regs(t);
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	call->number = -1;
	if (bpf_core_field_exists(x86->orig_ax)) {
		call->number = (__s32)BPF_CORE_READ(x86, orig_ax);
		call->args[0] = BPF_CORE_READ(x86, di);
		call->args[1] = BPF_CORE_READ(x86, si);
	} else if (bpf_core_field_exists(arm64->syscallno)) {
		call->number = BPF_CORE_READ(arm64, syscallno);
		call->args[0] = BPF_CORE_READ(arm64, orig_x0);
		call->args[1] = BPF_CORE_READ(arm64, regs[1]);
	}
}

/* Get the mode of the file that the first argument may refer to; the recorder knows which calls
 * have such an argument.
 */
static void read_file_mode(struct task_struct *t, struct fz_bpf_call *call)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	__u32 fd = call->args[0];
	struct file *file = NULL;

	if (call->args[0] >= SMALL && get(&fd, sizeof(fd), call->args[0]))
		return;
	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	if (file)
		call->fd_mode = BPF_CORE_READ(file, f_inode, i_mode);
}

static void lose_wait(struct fz_bpf_counts *n, __u64 ns)
{
	__sync_fetch_and_add(&n->lost_waits, 1);
	__sync_fetch_and_add(&n->lost_wait_ns, ns);
}

static void end_wait(__u32 waiter, __u64 now, struct fz_bpf_counts *n)
{
	struct fz_bpf_wait *wait = bpf_map_lookup_elem(&waits, &waiter);
	__u8 head[FZ_BPF_TICK_HEAD] = { 0 };
	struct fz_bpf_tick *on = (void *)head;

	if (!wait)
		return;
	on->kind = FZ_BPF_ON;
	on->thread = waiter;
	on->time = now;
	on->woken = wait->woken;
	if (wait->lost || bpf_ringbuf_output(&ring, head, sizeof(head), BPF_RB_NO_WAKEUP))
		lose_wait(n, on->time - wait->since);
	bpf_map_delete_elem(&waits, &waiter);
}

/* End a wait whose end was not reported. The kernel does not report every switch: in virtual
 * machines, some from the first process to a thread are missing. When the thread next leaves its
 * CPU, or ends, its CPU time in between shows when it began to run. */
static void end_unseen(__u32 waiter, __u64 now, __u64 used, struct fz_bpf_counts *n)
{
	struct fz_bpf_wait *wait = bpf_map_lookup_elem(&waits, &waiter);

	if (!wait)
		return;
	__u64 least = wait->woken ? wait->woken : wait->since, ran = used - wait->used;
	end_wait(waiter, now - least > ran ? now - ran : least, n);
}

static void begin_wait(struct scratch *b, struct task_struct *t, __u32 state,
		       struct fz_bpf_counts *n)
{
	struct fz_bpf_tick *record = &b->tick;
	struct fz_bpf_wait wait = { 0 };
	struct bpf_pidns_info id = { 0 };
	const struct fz_bpf_config *c = config_of_current(&id);
	struct walk w = { .c = c, .b = b, .most = FZ_BPF_FRAMES - 2 };

	if (!c || (!c->all_threads && id.pid != id.tgid))
		return;
	begin_record(record, FZ_BPF_OFF, id.tgid, id.pid, bpf_get_smp_processor_id());
	wait.used = BPF_CORE_READ(t, se.sum_exec_runtime);
	end_unseen(record->thread, record->time, wait.used, n);
	if (!find_state(c, b, id.pid))
		return;
	read_call(t, &record->call);
	read_file_mode(t, &record->call);
	record->call.state = state;
	if (!record->trouble)
		take_stack(c, b, &w);
	wait.since = record->time;
	wait.lost = send(b, &w) != 0;
	if (bpf_map_update_elem(&waits, &record->thread, &wait, BPF_ANY))
		lose_wait(n, 0);
}

SEC("tp_btf/sched_switch")
int fz_switch(__u64 *context)
{
	struct task_struct *from = (void *)context[1], *to = (void *)context[2];
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct fz_bpf_counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);

	if (!n || !b)
		return 0;
	__u64 now = bpf_ktime_get_ns();
	__u32 state = context[0] ? 0 : context[3];
	end_wait(to->pid, now, n);
	if (state & ENDED)
		end_unseen(from->pid, now, BPF_CORE_READ(from, se.sum_exec_runtime), n);
	else if (from->pid)
		begin_wait(b, from, state, n);
	return 0;
}

/* Used instead of fz_birth: the child is known here. */
SEC("tp_btf/sched_process_fork")
int fz_birth_of(__u64 *context)
{
	struct task_struct *child = (void *)context[1];

	return report_birth(child->pid);
}

/* See interrupts.c. */
const volatile __s32 fz_preempt_count_at = 0;

/* Is the CPU handling an interrupt, such as a timer's? Then the current thread woke nobody. 0 if
 * unknown. */
static int in_interrupt(struct task_struct *current)
{
	__u32 count = 0;

	if (!fz_preempt_count_at || !bpf_core_field_exists(current->se.cfs_rq))
		return 0;
	void *queue = BPF_CORE_READ(current, se.cfs_rq, rq);
	return queue &&
	       !bpf_probe_read_kernel(&count, sizeof(count), queue + fz_preempt_count_at) &&
	       count & INTERRUPTS;
}

/* Only a thread in a system call can be the waker. The recorder knows which calls can wake others,
 * and so rejects wake-ups by interrupts that are not detected here. */
SEC("tp_btf/sched_waking")
int fz_waking(__u64 *context)
{
	struct task_struct *woken = (void *)context[0], *waker = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), waiter = woken->pid;
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);
	struct fz_bpf_wait *wait = bpf_map_lookup_elem(&waits, &waiter);
	struct bpf_pidns_info id = { 0 };

	/* A thread that wakes itself is not waiting. */
	if (!b || !wait || woken->pid == waker->pid)
		return 0;
	wait->woken = bpf_ktime_get_ns();
	if (wait->lost || !waker->pid || waker->flags & KERNEL_THREAD || in_interrupt(waker))
		return 0;
	const struct fz_bpf_config *c = config_of_current(&id);
	struct walk w = { .c = c, .b = b, .most = FZ_BPF_WAKER_FRAMES };
	begin_record(&b->tick, FZ_BPF_WAKER, id.tgid, id.pid, cpu);
	b->tick.waker = b->tick.thread;
	b->tick.thread = waiter;
	read_call(waker, &b->tick.call);
	if (b->tick.call.number < 0)
		return 0;
	if (woken->tgid != waker->tgid)
		b->tick.flags = FZ_BPF_ELSEWHERE;
	if (!c) {
		b->tick.flags |= FZ_BPF_FOREIGN;
		BPF_CORE_READ_STR_INTO(&b->tick.comm, waker, group_leader, comm);
	} else if (!find_state(c, b, id.pid)) {
		b->tick.flags |= FZ_BPF_FOREIGN;
	} else if (!b->tick.trouble) {
		take_stack(c, b, &w);
	}
	send(b, &w);
	return 0;
}
