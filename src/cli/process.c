/* SPDX-License-Identifier: MIT */
/* --process: see process.h. */
#include "cli/process.h"

#include "base/buf.h"
#include "profile/filter.h"
#include "profile/processes.h"

enum { LISTED = 8 };

static int no_such_process(const struct fz_processes *ps, const char *word, const char *name,
			   struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	for (uint32_t i = 0; i < ps->n && i < LISTED; i++) {
		fz_auto(fz_free_ptr) char *label = fz_process_label(&ps->list[i]);
		fz_buf_printf(&b, "%s%s", i ? ", " : "", label);
	}
	if (ps->n > LISTED)
		fz_buf_str(&b, ", ...");
	return fz_fail(err, FZ_EUSAGE, "--process: %s has no process '%s'; it has %s", name, word,
		       b.n ? b.p : "none");
}

int fz_cli_process_keep(struct fz_profile *p, const char *word, const char *name,
			struct fz_error *err)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	fz_auto(fz_free_ptr) bool *threads =
		fz_calloc(FZ_MAX(p->thread_count, 1), sizeof(*threads));
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	bool any = false;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		threads[i] = fz_process_is_named(&ps.list[ps.of_thread[i]], fz_str_of(word));
		any |= threads[i];
	}
	if (!any)
		return no_such_process(&ps, word, name, err);
	filter.threads = threads;
	fz_profile_filter(p, &filter);
	return 0;
}
