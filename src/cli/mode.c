/* SPDX-License-Identifier: MIT */
/* Modes by name; selecting a mode from a recording that was made in another.
 *
 *   recorded   requested
 *   wall       any: keeps samples with the status bit
 *   cpu        gil, exception: the same, weighted with CPU time
 *   gil        exception: keeps samples with both bits
 */
#include "cli/mode.h"

#include "profile/filter.h"

const char *const fz_cli_mode_names[] = { "wall", "cpu", "gil", "exception", NULL };

enum fz_mode fz_cli_mode(int index)
{
	static const enum fz_mode modes[] = { FZ_MODE_WALL, FZ_MODE_CPU, FZ_MODE_GIL,
					      FZ_MODE_EXCEPTION };

	fz_assert(index >= 0 && (size_t)index < FZ_ARRAY_LEN(modes));
	return modes[index];
}

static uint8_t status_of(enum fz_mode mode)
{
	switch (mode) {
	case FZ_MODE_CPU:
		return FZ_STATUS_ON_CPU;
	case FZ_MODE_GIL:
		return FZ_STATUS_HAS_GIL;
	case FZ_MODE_EXCEPTION:
		return FZ_STATUS_HAS_EXCEPTION;
	default:
		return 0;
	}
}

/* True if any sample has this bit. */
static bool any_has(const struct fz_profile *p, uint8_t bit)
{
	for (size_t row = 0; row < p->samples.n; row++)
		if (p->samples.status[row] & bit)
			return true;
	return false;
}

int fz_cli_mode_keep(struct fz_profile *p, enum fz_mode mode, const char *name,
		     struct fz_error *err)
{
	enum fz_mode recorded = p->recording.mode;
	struct fz_filter filter = FZ_FILTER_DEFAULTS;

	if (mode == recorded)
		return 0;
	if (mode == FZ_MODE_WALL && recorded != FZ_MODE_UNKNOWN && recorded != FZ_MODE_ALL)
		return fz_fail(
			err, FZ_EUSAGE,
			"--mode wall: %s was recorded with --mode %s and has no other samples",
			name, fz_mode_names[recorded]);
	filter.status_all = status_of(mode);
	if (filter.status_all && !any_has(p, filter.status_all))
		return fz_fail(err, FZ_EUSAGE,
			       "--mode %s: %s has no samples of this mode; record with --mode %s",
			       fz_mode_names[mode], name, fz_mode_names[mode]);
	fz_profile_filter(p, &filter);
	p->recording.mode = mode;
	fz_profile_set_fact(p, "mode", fz_str_of(fz_mode_names[mode]));
	return 0;
}
