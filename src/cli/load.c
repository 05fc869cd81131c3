/* SPDX-License-Identifier: MIT */
/* Load the recordings that a user specified. */
#include "cli/load.h"

#include "cli/busy.h"
#include "cli/cli.h"
#include "compare/diff.h"
#include "format/format.h"
#include "store/store.h"

int fz_cli_load(const char *name, int number_unit, struct fz_profile **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = NULL;
	int r = fz_store_resolve(name, &path, err);

	if (r)
		return r;
	fz_cli_busy("reading %s", strcmp(path, "-") == 0 ? "standard input" : path);
	r = fz_format_load_numbers(path, (unsigned)number_unit, ret, err);
	fz_cli_busy_end();
	return r;
}

int fz_cli_check_numbers(int number_unit, const struct fz_profile *base,
			 const struct fz_profile *head, struct fz_error *err)
{
	if (!number_unit || head->numbers.bare || (base && base->numbers.bare))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "--input-unit only applies to folded stacks without a unit");
}

/* The expected settings: a program that is not Python is recorded like the baseline, whatever is
 * planned. */
static struct fz_recording expected(const struct fz_recording *planned,
				    const struct fz_recording *base)
{
	struct fz_recording r = *planned;

	if (base->features_known && !base->python[0] && (base->features & FZ_FEATURE_NATIVE))
		r.features = (r.features & FZ_FEATURE_ALL_THREADS) | FZ_FEATURE_NATIVE |
			     FZ_FEATURE_BLOCKING;
	return r;
}

static void warn_of_differences(const char *name, const struct fz_recording *planned,
				const struct fz_recording *base)
{
	struct fz_recording head = expected(planned, base);
	fz_auto(fz_buf_release) struct fz_buf what = { 0 };

	if (fz_diff_recorded_differently(base, &head, &what))
		fz_cli_warn("%s: the recordings will differ in %s", name, what.p);
}

int fz_cli_load_baseline(const char *name, int number_unit, const struct fz_recording *planned,
			 struct fz_profile **ret, struct fz_error *err)
{
	int r = fz_cli_load(name, number_unit, ret, err);

	if (!r && planned)
		warn_of_differences(name, planned, &(*ret)->recording);
	return r;
}
