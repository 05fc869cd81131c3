/* SPDX-License-Identifier: MIT */
/* What packets of a Perfetto trace name by numbers: each of its writers ("sequences") says once
 * that 7 is "main", and says 7 from then on.
 */
#pragma once

#include "profile/profile.h"

struct fz_perfetto_interned {
	struct fz_profile *p;
	uint64_t sequence; /* whose numbers are meant; the reader sets it for each packet */
	struct fz_map map; /* hash of (sequence, what, number) -> string, frame, ... */
	/* of the message at hand */
	uint64_t last;
	uint32_t stack;
};

/* Take over an InternedData message. */
void fz_perfetto_intern(struct fz_perfetto_interned *r, struct fz_str message);
/* "" when it was never said. */
struct fz_str fz_perfetto_event_name(const struct fz_perfetto_interned *r, uint64_t number);
/* FZ_NONE when it was never said. */
uint32_t fz_perfetto_stack(const struct fz_perfetto_interned *r, uint64_t number);
