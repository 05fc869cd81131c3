/* SPDX-License-Identifier: MIT */
/* One line that describes a recording; see recording.h. */
#include "report/recording.h"

#include "profile/runs.h"

#include <stdio.h>

const char *fz_recording_kind(const struct fz_profile *p, char out[FZ_RECORDING_WORD])
{
	if (fz_profile_fact(p, "bench").n)
		snprintf(out, FZ_RECORDING_WORD, "bench");
	else if (fz_recording_is_counted(p))
		snprintf(out, FZ_RECORDING_WORD, "count");
	else
		snprintf(out, FZ_RECORDING_WORD, "%.5s", fz_mode_names[p->recording.mode]);
	return out;
}

bool fz_recording_is_counted(const struct fz_profile *p)
{
	return fz_str_starts(fz_profile_fact(p, "clock"), "instructions");
}

bool fz_recording_is_cut(const struct fz_profile *p)
{
	/* merging keeps only equal facts, and only complete runs are merged */
	return p->run_count <= 1 && fz_profile_fact(p, "load.start").n &&
	       !fz_profile_fact(p, "load.end").n;
}

const char *fz_recording_ending(const struct fz_profile *p, char out[FZ_RECORDING_WORD])
{
	const struct fz_run *run = p->run_count ? &p->runs[0] : NULL;
	const struct fz_run *failed;
	const char *signal;

	if (fz_profile_failed_runs(p, &failed))
		run = failed;
	out[0] = 0;
	if (fz_recording_is_cut(p))
		snprintf(out, FZ_RECORDING_WORD, "cut");
	else if (run && run->outcome == FZ_OUTCOME_STOPPED)
		snprintf(out, FZ_RECORDING_WORD, "stopped");
	else if (run && run->outcome == FZ_OUTCOME_EXIT && run->status == 0)
		snprintf(out, FZ_RECORDING_WORD, "ok");
	else if (run && run->outcome == FZ_OUTCOME_EXIT)
		snprintf(out, FZ_RECORDING_WORD, "exit %d", run->status);
	else if (run && run->outcome == FZ_OUTCOME_SIGNAL &&
		 (signal = sigabbrev_np(run->status)) != NULL)
		snprintf(out, FZ_RECORDING_WORD, "SIG%s", signal);
	else if (run && run->outcome == FZ_OUTCOME_SIGNAL)
		snprintf(out, FZ_RECORDING_WORD, "sig %d", run->status);
	return out;
}

const char *fz_recording_commit(const struct fz_profile *p, char out[FZ_RECORDING_WORD])
{
	struct fz_str commit = fz_profile_fact(p, "git.commit");
	bool dirty = fz_str_eq(fz_profile_fact(p, "git.dirty"), FZ_STR("yes"));

	snprintf(out, FZ_RECORDING_WORD, "%.*s%s", (int)FZ_MIN(commit.n, 7), commit.p,
		 dirty ? "+" : "");
	return out;
}

static struct fz_str short_command(struct fz_str command)
{
	struct fz_str rest = command, first = fz_str_take_word(&rest);

	rest = fz_str_trimmed(rest);
	if (fz_str_starts(fz_path_base(first), "python") && rest.n && rest.p[0] != '-') {
		command = rest;
		first = fz_str_take_word(&rest);
	}
	size_t folder = first.n - fz_path_base(first).n;
	return (struct fz_str){ command.p + folder, command.n - folder };
}

void fz_recording_command(const struct fz_profile *p, struct fz_buf *out)
{
	struct fz_str command = short_command(fz_profile_fact(p, "command"));
	const struct fz_run *first;
	uint32_t failed = fz_profile_failed_runs(p, &first);

	if (p->run_count > 1 && failed)
		fz_buf_printf(out, "%u runs, %u failed: ", p->run_count, failed);
	else if (p->run_count > 1)
		fz_buf_printf(out, "%u runs: ", p->run_count);
	fz_buf_add(out, command.p, command.n);
}
