/* SPDX-License-Identifier: MIT */
/* The options that `bisect` and `history` share. */
#include "cli/revision.h"

int fz_cli_parse_threshold(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	double part;

	if (!fz_ci_parse_part(fz_str_of(text), &part) || part <= 0)
		return fz_fail(err, FZ_EUSAGE,
			       "invalid --threshold '%s': use a percentage, such as 5%%", text);
	*(double *)opt->value = part;
	return 0;
}
