/* SPDX-License-Identifier: MIT */
/* Turns waits reported by the kernel into samples; profile/waits.h describes them. */
#pragma once

#include "record/bpf/bpf.h"
#include "record/sampler_state.h"

struct fz_bpf_waits;

struct fz_bpf_waits *fz_bpf_waits_new(void);
void fz_bpf_waits_free(struct fz_bpf_waits *w);
/* Find the threads of a newly watched process that are already waiting, and what for. */
void fz_bpf_waits_adopt(struct fz_bpf_waits *w, struct fz_sampler *s,
			const struct fz_target_process *p, struct fz_bpf *program);
/* Add a record about a thread of `p`, before its tick is written; p NULL: not watched. */
void fz_bpf_waits_add(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, const struct fz_bpf_tick *t);
/* End all waits of a process that is no longer watched, or with NULL of all: open ones are charged
 * up to `now`. */
void fz_bpf_waits_end(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, int64_t now);
