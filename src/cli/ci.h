/* SPDX-License-Identifier: MIT */
/* What `fizeau ci` is told, and its reports. */
#pragma once

#include "cli/record.h"
#include "session/ci_run.h"

struct fz_cli_ci_options {
	struct fz_ci_run_options run;
	const char *output; /* folder of reports; NULL: none */
	const char *link;   /* where its page will be found; NULL */
	int color;          /* enum fz_color_when */
};

/* Print what was judged, and write the folder of reports. */
int fz_cli_ci_report(struct fz_ci_run *c, const struct fz_cli_ci_options *o, struct fz_error *err);
/* fizeau ci merge; argv[0] is "merge". */
int fz_cli_ci_merge(int argc, char **argv);
