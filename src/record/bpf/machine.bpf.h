/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The whole machine, the rest of tick.bpf.c, which alone includes this: whoever runs on a CPU when
 * its clock ticks is interrupted. Of all the native stacks are copied, as far as frame pointers
 * lead; of those that the recorder knows as Python, Python's frames, too.
 *
 *   tick -> process met before? no: wake the recorder, which looks at it while it lives
 *        -> `pythons`: where its frames lie -> frames, kernel's stack, program's stack -> ring
 *
 * Numbers are the kernel's own, so the recorder is in the first pid namespace.
 */
#pragma once

/* Processes that had a tick, since they run what they run. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} met SEC(".maps");

/* Behind what there is of stacks already; returns how many addresses. */
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

/* What was known of a process that had a tick is true no more. */
static void tell_of_end(__u32 process, enum fz_bpf_kind kind)
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
	tell_of_end(bpf_get_current_pid_tgid() >> 32, FZ_BPF_EXEC);
	return 0;
}

/* A process ends with its first thread: with the others' end nothing changes. */
SEC("raw_tp/sched_process_exit")
int fz_exit(void *context)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (id >> 32 == (__u32)id)
		tell_of_end(id, FZ_BPF_EXIT);
	return 0;
}
