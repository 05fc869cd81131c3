/* SPDX-License-Identifier: MIT */
/* callgrind.out, as Valgrind's Callgrind and converters of other tools write it. */
#pragma once

#include "base/io.h"
#include "format/import.h"
#include "profile/profile.h"

/* Options for reading one of several callgrind files that we created. Metrics are those of the
 * profile. */
struct fz_callgrind_source {
	/* --separate-callers=N: names contain N functions, "f'caller'main", and are exact stacks.
	 * 0: a graph, as without the option. */
	unsigned callers;
	/* Returns the metric of an event, or FZ_NONE. */
	uint32_t (*metric)(const struct fz_profile *p, struct fz_str event);
	/* Replaces a mangled name or "0x4a010"; may set any field of the frame. NULL: none. */
	void (*name)(void *arg, struct fz_import_frame *f);
	/* Receives a stack and its costs; not for a graph, whose samples are made as usual. */
	void (*add)(void *arg, uint32_t stack, const int64_t *weights);
	void *arg;
	/* Results; strings of the profile. */
	uint32_t command, trigger;
};

int fz_callgrind_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
int fz_callgrind_read_source(struct fz_input *in, struct fz_profile *p,
			     struct fz_callgrind_source *source, struct fz_error *err);
