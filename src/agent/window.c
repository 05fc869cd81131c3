/* SPDX-License-Identifier: MIT */
/* Rows of a window; see window.h. */
#include "agent/window.h"

#include "base/clock.h"

struct fz_agent_window *fz_agent_window_new(uint64_t number, struct fz_profile *profile)
{
	struct fz_agent_window *w = fz_calloc(1, sizeof(*w));

	w->number = number;
	w->profile = profile;
	w->start = fz_clock_now();
	w->start_unix_ns = fz_clock_unix();
	return w;
}

void fz_agent_window_free(struct fz_agent_window *w)
{
	if (!w)
		return;
	fz_profile_free(w->profile);
	fz_images_release(&w->images);
	fz_map_release(&w->row_of);
	fz_map_release(&w->program_of);
	free(w->rows);
	free(w->programs);
	free(w);
}

bool fz_agent_window_is_over(const struct fz_agent_window *w, int64_t every, int64_t now,
			     int64_t now_unix)
{
	return now_unix / every > w->start_unix_ns / every || now - w->start >= every;
}

void fz_agent_window_add_program(struct fz_agent_window *w, pid_t pid, struct fz_agent_known *known)
{
	fz_grow(w->programs, w->program_n, w->program_cap);
	fz_map_put(&w->program_of, (uint64_t)pid, w->program_n);
	w->programs[w->program_n++] = known;
}

bool fz_agent_window_has_program(const struct fz_agent_window *w, pid_t pid)
{
	return fz_map_get(&w->program_of, (uint64_t)pid) != FZ_NONE;
}

void fz_agent_window_add(struct fz_agent_window *w, pid_t pid, const struct fz_sample *sample,
			 int64_t weight)
{
	int64_t minute = (w->start_unix_ns + sample->time) / FZ_MINUTE;
	uint32_t program = fz_map_get(&w->program_of, (uint64_t)pid);

	fz_assert(program != FZ_NONE);
	if (minute != w->minute)
		fz_map_clear(&w->row_of);
	w->minute = minute;
	uint32_t *slot = fz_map_slot(&w->row_of, FZ_KEY(program, sample->stack));
	if (*slot == FZ_NONE) {
		fz_grow(w->rows, w->row_n, w->row_cap);
		w->rows[w->row_n] = (struct fz_agent_row){ .program = program,
							   .stack = sample->stack,
							   .thread = sample->thread,
							   .time = sample->time };
		*slot = (uint32_t)w->row_n++;
	}
	w->rows[*slot].count++;
	w->rows[*slot].weight += weight;
}
