/* SPDX-License-Identifier: MIT */
/* Select a part of the samples of recordings. All output, verdicts included, is about that part
 * only. */
#include "cli/filter.h"

#include "base/buf.h"
#include "base/str.h"
#include "profile/filter.h"

#include <stdio.h>

enum { THREADS_NAMED = 12 };

static int compile(const char *option, const char *text, regex_t *ret, struct fz_error *err)
{
	char why[128];
	int r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (!r)
		return 0;
	regerror(r, ret, why, sizeof(why));
	return fz_fail(err, FZ_EUSAGE,
		       "%s: invalid extended regular expression '%s': %s (see regex(7))", option,
		       text, why);
}

int fz_cli_check_regex(const char *option, const char *text, struct fz_error *err)
{
	regex_t regex;
	int r = compile(option, text, &regex, err);

	if (!r)
		regfree(&regex);
	return r;
}

static bool is_named(const struct fz_profile *p, const struct fz_thread *t,
		     const char *const *names)
{
	struct fz_str name = fz_profile_text(p, t->name);
	char tid[24];

	snprintf(tid, sizeof(tid), "%llu", (unsigned long long)t->tid);
	/* Reports call this thread "main", whatever its name is. */
	for (; *names; names++)
		if (strcmp(*names, tid) == 0 || (t->is_main && strcmp(*names, "main") == 0) ||
		    (name.n && fz_str_eq(name, fz_str_of(*names))))
			return true;
	return false;
}

static bool *named_threads(const struct fz_profile *p, const char *const *names)
{
	bool *flags = fz_calloc(p->thread_count + 1ul, sizeof(*flags));

	for (uint32_t i = 0; i < p->thread_count; i++)
		flags[i] = is_named(p, &p->threads[i], names);
	return flags;
}

/* Flags of the functions that an option matches; the caller frees. NULL if it was not given. The
 * regular expression was checked before. */
static bool *matching(const struct fz_profile *p, const char *option, const char *text)
{
	regex_t regex;

	if (!text || compile(option, text, &regex, NULL))
		return NULL;
	bool *flags = fz_filter_functions(p, &regex);
	regfree(&regex);
	return flags;
}

static uint64_t keep(const struct fz_cli_filter *wanted, struct fz_profile *p)
{
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	fz_auto(fz_free_ptr) bool *threads = NULL;
	fz_auto(fz_free_ptr) bool *functions = matching(p, "--filter", wanted->functions);
	fz_auto(fz_free_ptr) bool *roots = matching(p, "--root", wanted->root);
	fz_auto(fz_buf_release) struct fz_buf fact = { 0 };

	if (wanted->threads[0])
		filter.threads = threads = named_threads(p, wanted->threads);
	filter.functions = functions;
	for (const char *const *name = wanted->threads; *name; name++)
		fz_buf_printf(&fact, "%s--thread %s", fact.n ? " " : "", *name);
	if (wanted->functions)
		fz_buf_printf(&fact, "%s--filter %s", fact.n ? " " : "", wanted->functions);
	if (wanted->root) {
		fz_buf_printf(&fact, "%s--root %s", fact.n ? " " : "", wanted->root);
		fz_profile_set_fact(p, "root", fz_str_of(wanted->root));
	}
	if (wanted->no_idle)
		fz_buf_printf(&fact, "%s--no-idle", fact.n ? " " : "");
	filter.no_idle = wanted->no_idle;
	fz_profile_set_fact(p, "part", fz_buf_view(&fact));
	uint64_t kept = fz_profile_filter(p, &filter);
	return roots ? fz_profile_root_at(p, roots) : kept;
}

/* Append "MainThread (4711), worker (4712)". */
static void list_threads(const struct fz_profile *p, struct fz_buf *out)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		struct fz_str name = fz_profile_text(p, p->threads[i].name);
		if (i == THREADS_NAMED) {
			fz_buf_str(out, ", ...");
			return;
		}
		fz_buf_str(out, i ? ", " : "");
		fz_buf_add(out, name.p, name.n);
		fz_buf_printf(out, "%s%llu%s", name.n ? " (" : "",
			      (unsigned long long)p->threads[i].tid, name.n ? ")" : "");
	}
}

static int no_samples(const struct fz_cli_filter *wanted, const struct fz_profile *p,
		      struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf threads = { 0 };

	if (wanted->root)
		return fz_fail(
			err, FZ_ENOSAMPLE,
			"--root: no selected sample has a function whose name or file matches '%s'",
			wanted->root);
	if (!wanted->threads[0] && !wanted->functions)
		return fz_fail(err, FZ_ENOSAMPLE, "--no-idle: all samples are of waiting threads");
	if (!wanted->threads[0])
		return fz_fail(err, FZ_ENOSAMPLE,
			       "--filter: no sample has a function whose name or file matches '%s'",
			       wanted->functions);
	list_threads(p, &threads);
	return fz_fail(err, FZ_ENOSAMPLE, "--thread: no samples of '%s'; the threads are %s",
		       wanted->threads[0], threads.n ? threads.p : "not distinguished");
}

int fz_cli_filter_keep(const struct fz_cli_filter *wanted, struct fz_profile *const *profiles,
		       size_t n, struct fz_error *err)
{
	uint64_t kept = 0;
	const struct fz_profile *last = NULL;

	if (!wanted->threads[0] && !wanted->functions && !wanted->root && !wanted->no_idle)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!profiles[i])
			continue;
		last = profiles[i];
		kept += keep(wanted, profiles[i]);
	}
	return kept || !last ? 0 : no_samples(wanted, last, err);
}
