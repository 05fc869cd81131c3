/* SPDX-License-Identifier: MIT */
/* Merging reports; see ci_merge.h.
 *
 *   A/report.json  B/report.json   ->  benchmarks of both, with their verdicts
 *   A/base.fz      B/base.fz       ->  one recording of one run, with benchmarks as roots
 */
#include "bench/ci_merge.h"

#include "bench/report.h"
#include "format/format.h"
#include "profile/merge.h"
#include "bench/ci_source.h"

#include <unistd.h>

const char *const fz_ci_recording_names[FZ_SIDES] = { "base.fz", "head.fz" };

/* False if the job left no report. */
static bool read_report(struct fz_ci_run *c, const char *folder, int *ret_rc, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/report.json", folder);
	struct fz_input *in;

	if (access(path, F_OK)) {
		fz_ci_trouble(&c->result, "%s: no report of this job", folder);
		return false;
	}
	*ret_rc = fz_input_open(path, &in, err);
	if (*ret_rc)
		return true;
	*ret_rc = fz_ci_read(&c->result, in, err);
	fz_input_close(in);
	return true;
}

static int add_recordings(struct fz_ci_run *c, const char *folder, struct fz_error *err)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		fz_auto(fz_free_ptr) char *path =
			fz_asprintf("%s/%s", folder, fz_ci_recording_names[s]);
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		int rc = fz_format_load(path, &p, err);
		if (!rc && !c->profile[s])
			c->profile[s] = fz_profile_new();
		if (!rc)
			rc = fz_profile_merge(c->profile[s], p, err);
		if (rc)
			return fz_error_prefix(err, "%s", path);
	}
	return 0;
}

/* The merged recordings are different programs, not runs of the same one. */
static void make_one_run(struct fz_profile *p)
{
	for (uint32_t i = 1; i < p->run_count; i++)
		p->runs[0].duration_ns += p->runs[i].duration_ns;
	free(p->samples.run);
	p->samples.run = NULL;
	p->run_count = 1;
}

int fz_ci_merge(struct fz_ci_run *c, const char *const *folders, size_t n, struct fz_error *err)
{
	size_t found = 0;
	int rc = 0;

	c->result = FZ_CI_RESULT_INIT;
	for (size_t i = 0; i < n && !rc; i++) {
		if (!read_report(c, folders[i], &rc, err))
			continue;
		found++;
		if (!rc)
			rc = add_recordings(c, folders[i], err);
	}
	if (!rc && !found)
		rc = fz_fail(
			err, FZ_EINPUT,
			"no folder has a report.json; specify the folders written by fizeau ci -o");
	if (rc)
		return rc;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		c->labels[s] = fz_strdup(c->result.labels[s]);
		make_one_run(c->profile[s]);
		fz_ci_write_floors(&c->result, c->profile[s]);
	}
	fz_ci_tally(&c->result);
	return 0;
}

/* Reports have abbreviated commits; if the base was a recording, it has no commit. */
int fz_ci_merge_find(struct fz_ci_run *c, struct fz_error *err)
{
	const char *label = c->result.labels[FZ_HEAD];
	fz_auto(fz_free_ptr) char *head = fz_strndup(label, strcspn(label, " "));
	struct fz_repository *r = &c->workspace.repository;
	int rc = fz_repository_find(r, err);

	if (!rc)
		rc = fz_repository_commit(r, head, &c->checkout[FZ_HEAD].commit, err);
	if (rc) {
		fz_repository_release(r);
		return rc;
	}
	if (fz_repository_commit(r, c->result.labels[FZ_BASE], &c->base_commit, NULL))
		c->base_commit = NULL;
	c->rules = (struct fz_ci_rules){ .config = &c->config,
					 .is_part = fz_ci_run_is_part,
					 .arg = c };
	/* Without " with uncommitted edits". */
	if (strcmp(head, label) == 0)
		c->files = fz_ci_source_files(r, c->checkout[FZ_HEAD].commit);
	c->result.files = c->files;
	return 0;
}
