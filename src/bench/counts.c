/* SPDX-License-Identifier: MIT */
/* A server of counts that may be unreachable; see counts.h. */
#include "bench/counts.h"

void fz_counts_warn(const struct fz_baselines *b, const char *who, const struct fz_notify *notify)
{
	struct fz_baseline_server *s = b->server;

	if (!s || !s->trouble.code || s->told)
		return;
	s->told = true;
	fz_notify_warn(notify, "%s: continuing without the server's counts: %s", who,
		       s->trouble.message);
}

int fz_counts_save(const struct fz_baselines *b, enum fz_baseline_place place, const char *commit,
		   struct fz_profile *p, const char *who, const struct fz_notify *notify,
		   enum fz_baseline_place *ret_place, struct fz_error *err)
{
	struct fz_error failed;

	*ret_place = place;
	/* On a busy machine git may not have answered in time while the program was counted. */
	if (!fz_profile_fact(p, "git.commit").n)
		fz_profile_set_fact(p, "git.commit", fz_str_of(commit));
	if (place != FZ_BASELINE_SERVER)
		return fz_baseline_save(b, place, commit, p, err);
	if (!fz_baseline_save(b, place, commit, p, &failed))
		return 0;
	*ret_place = FZ_BASELINE_CACHE;
	fz_notify_warn(notify, "%s: %s; stored in this machine's cache instead", who,
		       failed.message);
	if (!fz_baseline_is_kept(b, FZ_BASELINE_CACHE, commit, fz_profile_fact(p, "environment")) &&
	    fz_baseline_save(b, FZ_BASELINE_CACHE, commit, p, &failed))
		fz_notify_warn(notify, "%s: %s", who, failed.message);
	return 0;
}
