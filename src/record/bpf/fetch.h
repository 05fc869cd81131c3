/* SPDX-License-Identifier: MIT */
/* What every engine whose samples come from the kernel's program does with its ring. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

enum fz_engine_use fz_bpf_use_of(const struct fz_record_options *o);
/* The program that was loaded beforehand, or is now; the caller's, who frees it. */
int fz_bpf_take(struct fz_sampler *s, enum fz_engine_use use, struct fz_bpf **ret,
		struct fz_error *err);
/* Sleep until the ring has what cannot wait, the loop has other duties, or it is time to fetch:
 * `due`, as fz_clock_now() has it. True: fetch. */
bool fz_bpf_wait(struct fz_sampler *s, const struct fz_bpf *program, int64_t due);
/* Give what there is to `take`, which has the sampler as its argument. A recording that is full
 * ends.
 */
void fz_bpf_fetch(struct fz_sampler *s, struct fz_bpf *program,
		  void (*take)(void *arg, const struct fz_bpf_tick *t));
/* Say in the profile what the ticks cost, where the kernel counts that. */
void fz_bpf_note_run_time(struct fz_sampler *s, const struct fz_bpf *program);
