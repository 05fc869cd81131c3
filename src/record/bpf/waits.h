/* SPDX-License-Identifier: MIT */
/* Waits that the kernel told of, as samples: waits.h of profile/ says how they look. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

struct fz_bpf_waits;

struct fz_bpf_waits *fz_bpf_waits_new(void);
void fz_bpf_waits_free(struct fz_bpf_waits *w);
/* Threads of `p`, which is watched from now on, may wait already: find out what for. */
void fz_bpf_waits_adopt(struct fz_bpf_waits *w, struct fz_sampler *s,
			const struct fz_target_process *p, struct fz_bpf *program);
/* A record of what a thread of `p` did, before its tick is written; NULL: of none that is watched.
 */
void fz_bpf_waits_take(struct fz_bpf_waits *w, struct fz_sampler *s,
		       const struct fz_target_process *p, const struct fz_bpf_tick *t);
/* Nothing more will be told of threads of `p`, or with NULL of anybody's: what has not ended is
 * charged up to `now`. */
void fz_bpf_waits_end(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, int64_t now);
