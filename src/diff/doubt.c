/* SPDX-License-Identifier: MIT */
/* What of wall time other programs may have made, by the samples that slept:
 *
 *   waits for a disk      all: how long it takes is the disk's, and who else uses it
 *   sleeps otherwise      as much as others took of the processors: who holds the lock, or answers,
 *                         may have waited for one
 *   on a processor        nothing here; its speed and its waits are known (steady.c)
 *
 * Several runs a side show by themselves how much that varies. One run does not, and a change that
 * this explains is no change of the program's.
 */
#include "diff/evidence.h"

#include <math.h>
#include <string.h>

#include "profile/runs.h"

static double doubt_of(const struct fz_profile *p, size_t row, uint32_t wait, uint32_t disk,
		       double others)
{
	if (p->samples.status[row] & (FZ_STATUS_ON_CPU | FZ_STATUS_UNKNOWN))
		return 0;
	if (disk != FZ_NONE && fz_sample_weight(p, disk, row) > 0)
		return 1;
	return fz_sample_weight(p, wait, row) > 0 ? 0 : others;
}

static void doubt_side(struct fz_walk *w)
{
	const struct fz_profile *p = w->profile;
	uint32_t wait = fz_profile_find_metric(p, FZ_STR("wait"));
	uint32_t disk = fz_profile_find_metric(p, FZ_STR("disk"));
	double others = fz_profile_busy(p).others;

	if (wait == FZ_NONE || strcmp(p->metrics[w->metric].name, "wall") != 0)
		return;
	w->doubt = fz_calloc(FZ_MAX(p->samples.n, 1), sizeof(*w->doubt));
	for (size_t row = 0; row < p->samples.n; row++)
		w->doubt[row] = (float)doubt_of(p, row, wait, disk, isnan(others) ? 0 : others);
}

void fz_walks_doubt(struct fz_walk walks[FZ_SIDES])
{
	if (walks[FZ_BASE].run_count > 1 || walks[FZ_HEAD].run_count > 1)
		return;
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		doubt_side(&walks[side]);
}
