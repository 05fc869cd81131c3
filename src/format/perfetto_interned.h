/* SPDX-License-Identifier: MIT */
/* Interned names, frames and stacks of a Perfetto trace: each writer ("sequence") defines once that
 * 7 is "main", and uses 7 from then on.
 */
#pragma once

#include "profile/profile.h"

struct fz_perfetto_interned {
	struct fz_profile *p;
	uint64_t sequence; /* current one; the reader sets it for each packet */
	struct fz_map map; /* hash of (sequence, what, number) -> string, frame, ... */
	/* of the current message */
	uint64_t last;
	uint32_t stack;
};

/* Adds an InternedData message. */
void fz_perfetto_intern(struct fz_perfetto_interned *r, struct fz_str message);
/* "" if undefined. */
struct fz_str fz_perfetto_event_name(const struct fz_perfetto_interned *r, uint64_t number);
/* FZ_NONE if undefined. */
uint32_t fz_perfetto_stack(const struct fz_perfetto_interned *r, uint64_t number);
