/* SPDX-License-Identifier: MIT */
/* Shared by the engines whose samples come from the BPF program's ring. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

enum fz_engine_use fz_bpf_use_of(const struct fz_record_options *o);
/* Return the program that was loaded beforehand, or load it now; the caller frees it. */
int fz_bpf_open(struct fz_sampler *s, enum fz_engine_use use, struct fz_bpf **ret,
		struct fz_error *err);
/* Sleep until the ring has urgent records, the loop has other duties, or it is time to fetch (due:
 * as of fz_clock_now()). True if it is time to fetch. */
bool fz_bpf_wait(struct fz_sampler *s, const struct fz_bpf *program, int64_t due);
/* Pass all records to `take`, with the sampler as argument. Ends a recording that is full. */
void fz_bpf_fetch(struct fz_sampler *s, struct fz_bpf *program,
		  void (*take)(void *arg, const struct fz_bpf_tick *t));
/* Add the run time of the program to the profile's facts, if the kernel counts it. */
void fz_bpf_note_run_time(struct fz_sampler *s, const struct fz_bpf *program);
