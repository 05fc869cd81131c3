/* SPDX-License-Identifier: MIT */
/* Where the kernel counts, on each CPU, what it is in the middle of. */
#pragma once

#include <stdint.h>

/* Bytes from a CPU's `struct rq` to its preempt_count (include/linux/preempt.h), by the BTF of the
 * kernel that runs: the program finds the former. 0: it is not known, as on other machines than
 * x86-64. */
int32_t fz_bpf_preempt_count_at(void);
