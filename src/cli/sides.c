/* SPDX-License-Identifier: MIT */
/* The sides of a comparison: the runs of all recordings of a side are judged together. */
#include "cli/sides.h"

#include "base/thread.h"
#include "cli/busy.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "compare/diff.h"
#include "format/format.h"
#include "profile/range.h"
#include "store/store.h"

int fz_cli_sides_split(char **arguments, int n, struct fz_cli_side *ret_base,
		       struct fz_cli_side *ret_head, struct fz_error *err)
{
	int at = 0;

	while (at < n && strcmp(arguments[at], "::") != 0)
		at++;
	if (at == n && n != 2)
		return fz_fail(err, FZ_EUSAGE,
			       "expected two recordings, BASE HEAD, none (the last two of a "
			       "program), or two sets, BASE... :: HEAD...; got %d",
			       n);
	bool sets = at < n;
	struct fz_cli_side base = { arguments, sets ? at : 1 };
	struct fz_cli_side head = { arguments + at + 1, n - at - 1 };
	if (!sets)
		head = (struct fz_cli_side){ arguments + 1, 1 };
	for (int i = 0; i < head.n; i++)
		if (strcmp(head.names[i], "::") == 0)
			return fz_fail(err, FZ_EUSAGE, "more than one '::'");
	if (base.n == 0 || head.n == 0)
		return fz_fail(err, FZ_EUSAGE, "no recording %s '::'", base.n ? "after" : "before");
	*ret_base = base;
	*ret_head = head;
	return 0;
}

static int add(struct fz_profile *all, const char *first, const char *name,
	       const struct fz_profile *p, bool force, struct fz_error *err)
{
	struct fz_str was = fz_profile_fact(all, "program");
	struct fz_str is = fz_profile_fact(p, "program");

	if (was.n && is.n && !fz_str_eq(was, is))
		fz_cli_warn("%s and %s are of different programs: '%.*s' and '%.*s'", first, name,
			    (int)was.n, was.p, (int)is.n, is.p);
	int rc = fz_diff_add_runs(all, p, force, err);
	return rc ? fz_error_prefix(err, "%s and %s cannot be combined", first, name) : 0;
}

/* Fails if a file is given twice, because it is not two runs and must not increase significance. */
static int check_new(const struct fz_cli_side *side, int at, uint64_t *times, struct fz_error *err)
{
	for (int i = 0; i < at; i++) {
		bool same = times[at] ? times[i] == times[at]
				      : strcmp(side->names[i], side->names[at]) == 0;
		if (same)
			return fz_fail(err, FZ_EUSAGE,
				       "%s and %s are the same recording; specify it once",
				       side->names[i], side->names[at]);
	}
	return 0;
}

static int load_one(const struct fz_cli_side *side, int i, struct fz_profile **ret,
		    struct fz_error *err)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	int rc = fz_cli_load(side->names[i], side->number_unit, &p, err);

	if (!rc)
		rc = fz_cli_range_keep(&side->range, side->names[i], p, err);
	if (!rc)
		*ret = fz_steal(p);
	return rc;
}

static int load(const struct fz_cli_side *side, bool force, struct fz_profile **ret,
		struct fz_error *err)
{
	if (side->n == 1)
		return load_one(side, 0, ret, err);
	fz_auto(fz_profile_freep) struct fz_profile *all = fz_profile_new();
	fz_auto(fz_free_ptr) uint64_t *times = fz_calloc((size_t)side->n, sizeof(*times));
	for (int i = 0; i < side->n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		int rc = load_one(side, i, &p, err);
		if (!rc) {
			times[i] = fz_profile_times(p);
			rc = check_new(side, i, times, err);
		}
		if (!rc)
			rc = add(all, side->names[0], side->names[i], p, force, err);
		if (rc)
			return rc;
	}
	*ret = fz_steal(all);
	return 0;
}

/* A file that is one side of a comparison. */
struct file {
	char *path;
	int number_unit;
	struct fz_profile *profile;
	int rc;
	struct fz_error err;
};

static void load_file(void *arg)
{
	struct file *f = arg;

	f->rc = fz_format_load_numbers(f->path, (unsigned)f->number_unit, &f->profile, &f->err);
}

/* Load both in parallel; returns the same error as loading one after the other. */
static int load_pair(const struct fz_cli_side *base, const struct fz_cli_side *head,
		     struct fz_profile *ret[FZ_SIDES], struct fz_error *err)
{
	struct file files[FZ_SIDES] = { { .number_unit = base->number_unit },
					{ .number_unit = head->number_unit } };
	const char *names[FZ_SIDES] = { base->names[0], head->names[0] };
	int rc = 0;

	for (enum fz_side s = 0; !rc && s < FZ_SIDES; s++)
		rc = fz_store_resolve(names[s], &files[s].path, err);
	if (!rc) {
		fz_cli_busy("reading %s and %s", names[FZ_BASE], names[FZ_HEAD]);
		fz_both(load_file, &files[FZ_BASE], &files[FZ_HEAD]);
		fz_cli_busy_end();
	}
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!rc && files[s].rc) {
			rc = files[s].rc;
			*err = files[s].err;
		}
		free(files[s].path);
	}
	if (!rc)
		rc = fz_cli_range_keep(&base->range, names[FZ_BASE], files[FZ_BASE].profile, err);
	if (!rc)
		rc = fz_cli_range_keep(&head->range, names[FZ_HEAD], files[FZ_HEAD].profile, err);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (rc)
			fz_profile_free(files[s].profile);
		else
			ret[s] = files[s].profile;
	}
	return rc;
}

/* Standard input can be read only once. */
static bool is_stdin(const struct fz_cli_side *side)
{
	return strcmp(side->names[0], "-") == 0;
}

int fz_cli_sides_load(const struct fz_cli_side *base, const struct fz_cli_side *head, bool force,
		      struct fz_profile *ret[FZ_SIDES], struct fz_error *err)
{
	if (base->n == 1 && head->n == 1 && !(is_stdin(base) && is_stdin(head)))
		return load_pair(base, head, ret, err);
	fz_auto(fz_profile_freep) struct fz_profile *first = NULL;
	int rc = load(base, force, &first, err);
	if (!rc)
		rc = load(head, force, &ret[FZ_HEAD], err);
	if (!rc)
		ret[FZ_BASE] = fz_steal(first);
	return rc;
}

char *fz_cli_side_label(const struct fz_cli_side *side)
{
	const char *range = side->range.text ? side->range.text : "";
	const char *blank = *range ? " " : "";

	if (side->n == 1)
		return fz_asprintf("%s%s%s", side->names[0], blank, range);
	return fz_asprintf("%s and %d more%s%s", side->names[0], side->n - 1, blank, range);
}
