/* SPDX-License-Identifier: MIT */
/* Samples of the machine between two instants. Equal stacks of a program within a minute are one
 * row, so the size is bounded by the number of different stacks. */
#pragma once

#include "agent/known.h"
#include "record/sampler_state.h"

struct fz_agent_row {
	uint32_t program; /* in fz_agent_window.programs */
	uint32_t stack, thread, count;
	int64_t time, weight; /* time of the first sample; total weight */
};

struct fz_agent_window {
	uint64_t number;
	struct fz_profile *profile; /* the tables that rows refer to; no samples */
	struct fz_images images;    /* to name its addresses; set at its end */
	int64_t start, start_unix_ns, duration_ns;
	struct fz_agent_row *rows;
	size_t row_n, row_cap;
	struct fz_map row_of;             /* in this minute: (program, stack) -> row */
	int64_t minute;                   /* since 1970 */
	struct fz_agent_known **programs; /* borrowed */
	uint32_t program_n, program_cap;
	struct fz_map program_of; /* pid -> index in programs */
};

/* Start a window now. Takes ownership of the profile, which must have the metrics of a sampler. */
struct fz_agent_window *fz_agent_window_new(uint64_t number, struct fz_profile *profile);
void fz_agent_window_free(struct fz_agent_window *w);
/* Has the next multiple of `every` ns begun since the start? A window never lasts longer
 * than `every`, even if the system's clock is set back. now: fz_clock_now(), now_unix:
 * fz_clock_unix(). */
bool fz_agent_window_is_over(const struct fz_agent_window *w, int64_t every, int64_t now,
			     int64_t now_unix);
/* From here on the pid runs that program. */
void fz_agent_window_add_program(struct fz_agent_window *w, pid_t pid,
				 struct fz_agent_known *known);
/* True if the pid was set by fz_agent_window_add_program. */
bool fz_agent_window_has_program(const struct fz_agent_window *w, pid_t pid);
/* Add a sample of such a process. */
void fz_agent_window_add(struct fz_agent_window *w, pid_t pid, const struct fz_sample *sample,
			 int64_t weight);
