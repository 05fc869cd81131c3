/* SPDX-License-Identifier: MIT */
/* The location of the kernel's per-CPU preempt_count. */
#pragma once

#include <stdint.h>

/* Offset in bytes from a CPU's `struct rq`, which the BPF program can find, to its preempt_count
 * (include/linux/preempt.h), from the running kernel's BTF. 0 if unknown, as on all machines but
 * x86-64. */
int32_t fz_bpf_preempt_count_at(void);
