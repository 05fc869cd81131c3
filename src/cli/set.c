/* SPDX-License-Identifier: MIT */
/* Sets of recordings: each recording brings its runs, and the set is judged as one recording of
 * all of them. */
#include "cli/set.h"

#include "base/both.h"
#include "base/map.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "diff/diff.h"
#include "format/format.h"
#include "profile/merge.h"
#include "store/store.h"

int fz_set_split(char **arguments, int n, struct fz_set *ret_base, struct fz_set *ret_head,
		 struct fz_error *err)
{
	int at = 0;

	while (at < n && strcmp(arguments[at], "::") != 0)
		at++;
	if (at == n && n != 2)
		return fz_fail(err, FZ_EUSAGE,
			       "needs two recordings, BASE and HEAD (or none, for the last two of "
			       "the same program, or two sets, BASE... :: HEAD...), but got %d",
			       n);
	bool sets = at < n;
	struct fz_set base = { arguments, sets ? at : 1 };
	struct fz_set head = { arguments + at + 1, n - at - 1 };
	if (!sets)
		head = (struct fz_set){ arguments + 1, 1 };
	for (int i = 0; i < head.n; i++)
		if (strcmp(head.names[i], "::") == 0)
			return fz_fail(err, FZ_EUSAGE, "only one '::' separates two sets");
	if (base.n == 0 || head.n == 0)
		return fz_fail(err, FZ_EUSAGE, "no recording stands %s '::'",
			       base.n ? "after" : "before");
	*ret_base = base;
	*ret_head = head;
	return 0;
}

static int add(struct fz_profile *set, const char *first, const char *name,
	       const struct fz_profile *p, bool force, struct fz_error *err)
{
	int rc = 0;

	if (set->run_count && !force)
		rc = fz_diff_comparable(&set->recording, &p->recording, err);
	if (rc)
		return fz_error_prefix(err, "%s and %s are no set", first, name);
	struct fz_str was = fz_profile_fact(set, "program");
	struct fz_str is = fz_profile_fact(p, "program");
	if (was.n && is.n && !fz_str_eq(was, is))
		fz_cli_warn("%s and %s are of different programs: '%.*s' and '%.*s'", first, name,
			    (int)was.n, was.p, (int)is.n, is.p);
	rc = fz_profile_merge(set, p, err);
	return rc ? fz_error_prefix(err, "%s", name) : 0;
}

/* What no two runs have in common: when their samples were taken. 0: times are not known. */
static uint64_t times_of(const struct fz_profile *p)
{
	const struct fz_samples *s = &p->samples;

	return s->timed && s->n ? fz_hash_bytes(s->time, s->n * sizeof(*s->time)) : 0;
}

/* A file given twice is not two runs, and must not make anything surer. */
static int check_new(const struct fz_set *set, int at, uint64_t *times, struct fz_error *err)
{
	for (int i = 0; i < at; i++) {
		bool same = times[at] ? times[i] == times[at]
				      : strcmp(set->names[i], set->names[at]) == 0;
		if (same)
			return fz_fail(err, FZ_EUSAGE,
				       "%s and %s are one recording, not two runs; give it once",
				       set->names[i], set->names[at]);
	}
	return 0;
}

static int load(const struct fz_set *set, bool force, struct fz_profile **ret, struct fz_error *err)
{
	if (set->n == 1)
		return fz_cli_load(set->names[0], set->number_unit, ret, err);
	fz_auto(fz_profile_freep) struct fz_profile *all = fz_profile_new();
	fz_auto(fz_free_ptr) uint64_t *times = fz_calloc((size_t)set->n, sizeof(*times));
	for (int i = 0; i < set->n; i++) {
		fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
		int rc = fz_cli_load(set->names[i], set->number_unit, &p, err);
		if (!rc) {
			times[i] = times_of(p);
			rc = check_new(set, i, times, err);
		}
		if (!rc)
			rc = add(all, set->names[0], set->names[i], p, force, err);
		if (rc)
			return rc;
	}
	*ret = fz_steal(all);
	return 0;
}

/* A file that is one side of a comparison. */
struct side {
	char *path;
	int number_unit;
	struct fz_profile *profile;
	int rc;
	struct fz_error err;
};

static void load_side(void *arg)
{
	struct side *s = arg;

	s->rc = fz_format_load_numbers(s->path, (unsigned)s->number_unit, &s->profile, &s->err);
}

/* Both at once; an error is the first that reading one after the other would have found. */
static int load_pair(const struct fz_set *base, const struct fz_set *head,
		     struct fz_profile *ret[FZ_SIDES], struct fz_error *err)
{
	struct side side[FZ_SIDES] = { { .number_unit = base->number_unit },
				       { .number_unit = head->number_unit } };
	const char *names[FZ_SIDES] = { base->names[0], head->names[0] };
	int rc = 0;

	for (enum fz_side s = 0; !rc && s < FZ_SIDES; s++)
		rc = fz_store_resolve(names[s], &side[s].path, err);
	if (!rc)
		fz_both(load_side, &side[FZ_BASE], &side[FZ_HEAD]);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!rc && side[s].rc) {
			rc = side[s].rc;
			*err = side[s].err;
		}
		free(side[s].path);
	}
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (rc)
			fz_profile_free(side[s].profile);
		else
			ret[s] = side[s].profile;
	}
	return rc;
}

/* Standard input can be read by one only. */
static bool is_stdin(const struct fz_set *set)
{
	return strcmp(set->names[0], "-") == 0;
}

int fz_set_load(const struct fz_set *base, const struct fz_set *head, bool force,
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

char *fz_set_label(const struct fz_set *set)
{
	if (set->n == 1)
		return fz_strdup(set->names[0]);
	return fz_asprintf("%s and %d more", set->names[0], set->n - 1);
}
