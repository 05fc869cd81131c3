/* SPDX-License-Identifier: MIT */
/* Counting commits one after the other; see revision.h.
 *
 * All are checked out in the same folder in turn, so that no path differs between them. Bytecode is
 * removed before each: Python recognises stale bytecode only by the modification time in seconds
 * and size of its source, and two commits can be checked out within a second.
 */
#include "bench/revision.h"

#include "record/count/count.h"
#include "bench/environment.h"
#include "bench/texts.h"
#include "profile/benchmarks.h"

void fz_revision_count_for(const struct fz_ci_metric_list *metrics, struct fz_record_options *o)
{
	bool other = false;

	for (uint32_t i = 0; i < metrics->n; i++) {
		bool memory = fz_ci_is_of_memory(metrics->list[i]);
		o->cache |= strcmp(metrics->list[i], "cycles") == 0;
		o->memory |= memory;
		other |= !memory;
	}
	o->apart = o->memory && other;
}

int fz_revision_configure(const struct fz_repository *r, const struct fz_revision_options *o,
			  struct fz_ci_config *config, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *usual = fz_asprintf("%s/fizeau.ini", r->root);
	int rc = fz_ci_config_load(config, o->config ? o->config : usual, o->config != NULL, err);

	if (rc)
		return rc;
	if (o->timeout > 0)
		config->timeout = o->timeout;
	if (o->metric != FZ_REVISION_METRIC)
		config->metrics.list[0] = fz_ci_metrics[o->metric];
	config->metrics.n = 1;
	return 0;
}

int fz_revision_open(struct fz_workspace *w, const char *command,
		     const struct fz_revision_options *o, char *const *argv,
		     const struct fz_notify *notify, struct fz_ci_config *config,
		     struct fz_error *err)
{
	struct fz_counter counter = { 0 };
	/* Before anything is built or checked out. */
	int rc = fz_counter_find(&counter, err);

	fz_counter_end(&counter);
	if (!rc)
		rc = fz_workspace_find(w, FZ_WORKSPACE_REMEDY, err);
	if (!rc)
		rc = fz_workspace_open(w, command, notify, o->show_output, err);
	if (!rc)
		rc = fz_revision_configure(&w->repository, o, config, err);
	if (rc)
		return rc;
	w->argv = argv;
	w->whole = fz_revision_whole(argv);
	w->setup = o->setup;
	w->record.count = true;
	fz_revision_count_for(&config->metrics, &w->record);
	w->series.patience = config->timeout;
	fz_workspace_find_imports(w, (char **)argv);
	return 0;
}

void fz_revision_title(const struct fz_repository *r, const char *commit,
		       struct fz_revision_title *ret)
{
	const char *const words[] = { "log", "-1", "--no-show-signature", "--format=%cs %s", commit,
				      "--",  NULL };
	fz_auto(fz_free_ptr) char *line = fz_repository_query(r, words);
	size_t day = line ? strcspn(line, " ") : 0;

	ret->day = fz_strndup(line ? line : "", day);
	ret->subject = fz_strdup(line && line[day] ? line + day + 1 : "");
}

void fz_revision_title_release(struct fz_revision_title *t)
{
	free(t->day);
	free(t->subject);
	*t = (struct fz_revision_title){ 0 };
}

/* ---- counting ---- */

static void describe(const struct fz_workspace *w, const struct fz_checkout *checkout,
		     struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_counter counter = { 0 };

	if (!fz_counter_find(&counter, NULL)) {
		struct fz_environment e = { .argv = w->argv,
					    .folder = checkout->folder,
					    .root = checkout->tree,
					    .prefix = w->repository.prefix,
					    .setup = w->setup,
					    .valgrind = counter.valgrind,
					    .imports = w->imports,
					    .cache = w->record.cache,
					    .memory = w->record.memory,
					    .apart = w->record.apart,
					    .native = w->native };
		fz_environment_describe(&e, &text);
		fz_profile_set_fact(p, "environment", fz_buf_view(&text));
	}
	fz_counter_end(&counter);
}

static void count_checkout(struct fz_workspace *w, const struct fz_checkout *checkout, bool other,
			   struct fz_revision *ret)
{
	/* Run without Valgrind first, which creates the bytecode. */
	struct fz_job usual = { .checkout = checkout, .native = true };
	struct fz_job counted[] = { { .checkout = checkout },
				    { .checkout = checkout, .other = 1 } };
	size_t n = other ? 2 : 1;

	bool going = fz_jobs_run(w, &usual, 1, 1, NULL);
	if (going && usual.fatal)
		ret->trouble = fz_steal(usual.trouble);
	else if (going && fz_jobs_run(w, counted, n, (unsigned)n, NULL)) {
		ret->profile = fz_steal(counted[0].profile);
		if (ret->profile) {
			describe(w, checkout, ret->profile);
			fz_texts_add(&w->repository, NULL, checkout->tree, ret->profile);
			ret->trouble = fz_benchmarks_trouble(ret->profile);
		}
		if (!ret->trouble)
			ret->trouble = fz_steal(counted[0].trouble);
		ret->other = fz_steal(counted[1].profile);
	}
	fz_job_release(&usual);
	for (size_t i = 0; i < n; i++)
		fz_job_release(&counted[i]);
}

int fz_revision_count(struct fz_workspace *w, const char *commit, bool other,
		      struct fz_revision *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *bytecode = fz_asprintf("%s/pycache", w->scratch.path);
	struct fz_checkout checkout;
	struct fz_error why;

	*ret = (struct fz_revision){ 0 };
	fz_remove_folder(bytecode, NULL);
	if (fz_checkout_add(w, commit, "it", &checkout, &why)) {
		ret->trouble = fz_strdup(why.message);
	} else {
		if (!fz_series_stopped(&w->series))
			count_checkout(w, &checkout, other, ret);
		fz_checkout_remove(w, &checkout);
	}
	if (fz_series_stopped(&w->series)) {
		fz_revision_release(ret);
		return fz_series_interrupted(err);
	}
	if (!ret->profile && !ret->trouble)
		ret->trouble = fz_strdup("nothing was counted");
	return 0;
}

void fz_revision_release(struct fz_revision *r)
{
	fz_profile_free(r->profile);
	fz_profile_free(r->other);
	free(r->trouble);
	*r = (struct fz_revision){ 0 };
}

/* ---- small things ---- */

int fz_revision_unknown(const struct fz_repository *r, const char *revision, struct fz_error *err)
{
	if (fz_repository_is_shallow(r))
		return fz_fail(err, FZ_EINPUT,
			       "'%s': not in this shallow clone; fetch the full history (git fetch "
			       "--unshallow, or fetch-depth: 0)",
			       revision);
	return fz_fail(err, FZ_EUSAGE, "'%s': no such revision", revision);
}

char *fz_revision_whole(char *const argv[])
{
	struct fz_buf text = { 0 };

	for (size_t i = 0; argv[i]; i++)
		fz_buf_printf(&text, "%s%s", i ? " " : "", argv[i]);
	return fz_buf_take(&text);
}
