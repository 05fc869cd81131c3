/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sampling the whole machine; a part of tick.bpf.c. Each CPU's clock interrupts the thread that
 * runs there. Native stacks are copied as far as frame pointers lead and, if the recorder knows the
 * process as Python, Python frames as well.
 *
 *   tick -> process seen before? no: wake the recorder, which examines it while it lives
 *        -> `pythons`: config for its frames -> frames, kernel stack, user stack -> ring
 *
 * Pids are the kernel's own, so the recorder must be in the first pid namespace.
 */
#pragma once

/* Processes that had a tick since they called exec. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} met SEC(".maps");

/* Append a native stack at offset `stacks`; returns the number of addresses. */
static __always_inline __u32 add_native(void *context, struct scratch *b, __u64 stacks, __u64 flags)
{
	long size = bpf_get_stack(context, (void *)b->tick.frames + MASKED(stacks, STACKS),
				  FZ_BPF_NATIVE * sizeof(__u64), flags);

	return size > 0 ? size / sizeof(__u64) : 0;
}

static void take_python(const struct fz_bpf_config *c, struct scratch *b, struct walk *w)
{
	struct bpf_pidns_info id;

	if (bpf_get_ns_current_pid_tgid(c->namespace_device, c->namespace_inode, &id, sizeof(id)))
		return;
	b->tick.tid = id.pid;
	if (!find_state(c, b, id.pid))
		return;
	if (!b->tick.trouble)
		take_stack(c, b, w);
	b->tick.flags |= FZ_BPF_PYTHON;
}

SEC("perf_event")
int fz_machine(struct bpf_perf_event_data *context)
{
	__u64 id = bpf_get_current_pid_tgid(), stacks;
	__u32 zero = 0, one = 1, cpu = bpf_get_smp_processor_id(), process = id >> 32;
	struct fz_bpf_counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);
	const struct fz_bpf_config *c;

	if (!process || !n || !b)
		return 0;
	begin_record(&b->tick, FZ_BPF_TICK, process, id, cpu);
	b->tick.counter = context->sample_period;
	b->tick.watched = id;
	b->tick.uid = bpf_get_current_uid_gid();
	struct walk w = { .b = b, .most = FZ_BPF_FRAMES - 2 };
	c = w.c = bpf_map_lookup_elem(&pythons, &process);
	if (c)
		take_python(c, b, &w);
	if (!bpf_map_lookup_elem(&met, &process)) {
		bpf_map_update_elem(&met, &process, &one, BPF_ANY);
		w.fresh = 1;
	}
	stacks = b->tick.frame_n * sizeof(struct fz_bpf_frame);
	b->tick.kernel_n = add_native(context, b, stacks, 0);
	stacks += b->tick.kernel_n * sizeof(__u64);
	b->tick.user_n = add_native(context, b, stacks, BPF_F_USER_STACK);
	stacks += b->tick.user_n * sizeof(__u64);
	if (send_stacks(b, &w, stacks))
		__sync_fetch_and_add(&n->lost, 1);
	return 0;
}

/* Forget a process that had a tick, and report its end or exec. */
static void report_end(__u32 process, enum fz_bpf_kind kind)
{
	__u8 head[FZ_BPF_TICK_HEAD] = { 0 };
	struct fz_bpf_tick *end = (void *)head;

	if (bpf_map_delete_elem(&met, &process))
		return;
	bpf_map_delete_elem(&pythons, &process);
	end->kind = kind;
	end->process = process;
	bpf_ringbuf_output(&ring, head, sizeof(head), BPF_RB_NO_WAKEUP);
}

SEC("raw_tp/sched_process_exec")
int fz_exec(void *context)
{
	report_end(bpf_get_current_pid_tgid() >> 32, FZ_BPF_EXEC);
	return 0;
}

/* Report the end of a process when its first thread ends; other threads do not matter. */
SEC("raw_tp/sched_process_exit")
int fz_exit(void *context)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (id >> 32 == (__u32)id)
		report_end(id, FZ_BPF_EXIT);
	return 0;
}
