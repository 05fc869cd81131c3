/* SPDX-License-Identifier: MIT */
/* What was sampled of the machine between two instants: equal stacks of a program within a minute
 * are one row, so its size is bounded by how many there are, not by how long it lasts. */
#pragma once

#include "agent/known.h"
#include "record/sampler_state.h"

struct fz_agent_row {
	uint32_t who; /* in fz_agent_window.who */
	uint32_t stack, thread, count;
	int64_t time, weight; /* the first's; of all */
};

struct fz_agent_window {
	uint64_t number;
	struct fz_profile *profile; /* the tables that rows refer to; no samples */
	struct fz_images images;    /* for names of its addresses; set when it is over */
	int64_t start, start_unix_ns, duration_ns;
	struct fz_agent_row *rows;
	size_t row_n, row_cap;
	struct fz_map row_of;        /* of this minute: who and stack -> row */
	int64_t minute;              /* since 1970 */
	struct fz_agent_known **who; /* borrowed */
	uint32_t who_n, who_cap;
	struct fz_map who_of; /* number of a process -> index */
};

/* Begins now. Takes the profile, which has the metrics of a sampler. */
struct fz_agent_window *fz_agent_window_new(uint64_t number, struct fz_profile *profile);
void fz_agent_window_free(struct fz_agent_window *w);
/* From here on the process is that one. */
void fz_agent_window_meet(struct fz_agent_window *w, pid_t pid, struct fz_agent_known *known);
/* Whether the process was met. */
bool fz_agent_window_knows(const struct fz_agent_window *w, pid_t pid);
/* A sample of a process that was met. */
void fz_agent_window_add(struct fz_agent_window *w, pid_t pid, const struct fz_sample *sample,
			 int64_t weight);
