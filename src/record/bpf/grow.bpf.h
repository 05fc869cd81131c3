/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Growth of the target's resident set: a part of tick.bpf.c. The kernel reports each change of one
 * of its counters, in the thread that caused it, but not by how much. So we keep the previous value
 * of each counter: a part for each CPU, where changes start, and the gathered sum, into which the
 * kernel moves a part when it becomes large, resetting it to 0.
 *
 *   change == (this CPU's part - previous) + (if the part is 0: gathered - previous)
 *
 * Two CPUs may add to the sum before either is reported. Then one finds too much and the other too
 * little, and the latter's thread gets a debt. So does a thread that replaces a page of a file by
 * its own copy: what it gives back during a fault is deducted from its next growth. Other shrinking
 * means that memory was freed.
 */
#pragma once

#include <bpf/bpf_core_read.h>

enum {
	MEMBERS = 4, /* counters: file, anonymous, swapped and shared pages */
	SWAPPED = 2,
};

struct percpu_counter {
	__s64 count;
	__s32 *counters;
} KERNELS;

struct mm_struct {
	struct percpu_counter rss_stat[MEMBERS];
} KERNELS;

struct task_struct___memory {
	struct mm_struct *mm;
} KERNELS;

struct bpf_array {
	void *pptrs[0];
} KERNELS;

struct resident {
	__u64 mm;
	__s64 gathered[MEMBERS];
	__u64 map;   /* kernel address of `parts` */
	__u64 parts; /* per-CPU base address of `parts` */
};

struct part {
	__s32 pages[MEMBERS];
	__u64 address; /* of itself; gives the address of other per-CPU variables on this CPU */
};

struct debt {
	__s64 pages; /* owed by the thread */
	__s64 late;  /* pages whose record did not fit into the ring */
};

/* The target's memory and its gathered counters. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct resident);
} residents SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct part);
} parts SEC(".maps");

/* By kernel tid. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FZ_BPF_WAITERS);
	__type(key, __u32);
	__type(value, struct debt);
} debts SEC(".maps");

static const void *counter_of(__u64 mm, __u32 member)
{
	struct mm_struct *m = (void *)mm;

	return (void *)mm + bpf_core_field_offset(m->rss_stat) +
	       member * bpf_core_type_size(struct percpu_counter);
}

/* Read a counter: the gathered sum, and the part of a CPU. */
static void read_counter(const struct resident *r, const struct part *p, __u32 member,
			 __s64 *ret_gathered, __s32 *ret_pages)
{
	const struct percpu_counter *counter = counter_of(r->mm, member);
	void *pages = BPF_CORE_READ(counter, counters);

	*ret_gathered = BPF_CORE_READ(counter, count);
	bpf_probe_read_kernel(ret_pages, sizeof(*ret_pages), pages + p->address - r->parts);
}

static long note_part(__u32 cpu, struct resident **all)
{
	__u32 zero = 0;
	struct resident *r = *all;
	struct part *p = bpf_map_lookup_percpu_elem(&parts, &zero, cpu);

	if (!p)
		return 1;
	*(volatile __u64 *)&p->address = (__u64)p;
	for (__u32 i = 0; i < MEMBERS; i++)
		read_counter(r, p, i, &r->gathered[i], &p->pages[i]);
	return 0;
}

/* Read the target's counters before it is watched. */
SEC("iter/task")
int fz_resident(struct bpf_iter__task *context)
{
	__u32 zero = 0;
	struct resident *r = bpf_map_lookup_elem(&residents, &zero);
	struct task_struct *t = context->task;

	if (!r || !t || number_in(t, fz_scope.recorder) != (int)fz_scope.listed)
		return 0;
	*(volatile __u64 *)&r->map = (__u64)&parts;
	struct bpf_array *map = (void *)*(volatile __u64 *)&r->map;
	r->parts = (__u64)BPF_CORE_READ(map, pptrs[0]);
	r->mm = (__u64)BPF_CORE_READ((struct task_struct___memory *)t, mm);
	bpf_loop(FZ_BPF_CPUS, note_part, &r, 0);
	return 0;
}

/* Number of pages by which the counter changed since it was last read. */
static __s64 change(struct resident *r, __u32 member)
{
	__u32 zero = 0;
	struct part *p = bpf_map_lookup_elem(&parts, &zero);
	__s64 gathered, by;
	__s32 pages = 0;

	if (!p || member >= MEMBERS)
		return 0;
	read_counter(r, p, member, &gathered, &pages);
	by = pages - p->pages[member];
	p->pages[member] = pages;
	if (!pages)
		by += gathered - __sync_lock_test_and_set(&r->gathered[member], gathered);
	return by;
}

static struct debt *debt_of(__u32 thread)
{
	struct debt *d = bpf_map_lookup_elem(&debts, &thread), none = { 0 };

	if (d)
		return d;
	bpf_map_update_elem(&debts, &thread, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&debts, &thread);
}

/* Growth left of a change after debts are paid; 0 if the thread has not grown. */
static __s64 settle(struct debt *d, __s64 pages)
{
	struct fz_bpf_call call;

	if (pages <= 0) {
		read_call(bpf_get_current_task_btf(), &call);
		if (call.number < 0)
			d->pages -= pages;
		return 0;
	}
	__s64 paid = d->pages < pages ? d->pages : pages;
	d->pages -= paid;
	return pages - paid;
}

static void send_growth(const struct fz_bpf_config *c, struct scratch *b,
			const struct bpf_pidns_info *id, struct debt *d, __s64 pages,
			struct fz_bpf_counts *n)
{
	struct walk w = { .c = c, .b = b, .most = FZ_BPF_FRAMES - 2 };

	begin_record(&b->tick, FZ_BPF_GREW, id->tgid, id->pid, bpf_get_smp_processor_id());
	b->tick.counter = pages + d->late;
	if (!find_state(c, b, id->pid)) {
		__sync_fetch_and_add(&n->foreign_pages, pages);
		return;
	}
	if (!b->tick.trouble)
		take_stack(c, b, &w);
	if (send(b, &w)) {
		__sync_fetch_and_add(&n->lost, 1);
		__sync_fetch_and_add(&n->late_pages, pages);
		d->late += pages;
	} else if (d->late) {
		__sync_fetch_and_add(&n->late_pages, -d->late);
		d->late = 0;
	}
}

SEC("tp_btf/rss_stat")
int fz_grow(__u64 *context)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id(), member = context[1];
	struct fz_bpf_counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scratch *b = bpf_map_lookup_elem(&scratches, &cpu);
	struct resident *r = bpf_map_lookup_elem(&residents, &zero);
	struct bpf_pidns_info id = { 0 };

	if (!n || !b || !r || context[0] != r->mm || member == SWAPPED)
		return 0;
	__s64 pages = change(r, member);
	const struct fz_bpf_config *c = config_of_current(&id);
	if (!c) {
		if (pages > 0)
			__sync_fetch_and_add(&n->foreign_pages, pages);
		return 0;
	}
	struct debt *d = debt_of((__u32)bpf_get_current_pid_tgid());
	pages = d ? settle(d, pages) : 0;
	if (pages > 0)
		send_growth(c, b, &id, d, pages, n);
	return 0;
}
