/* SPDX-License-Identifier: MIT */
/* The options of `fizeau ci`, and its reports. */
#pragma once

#include "cli/fleet.h"
#include "cli/record.h"
#include "bench/ci_run.h"

struct fz_cli_ci_options {
	struct fz_ci_run_options run;
	const char *output;        /* folder of reports; NULL: none */
	const char *link;          /* URL of its page; NULL: none */
	int color;                 /* enum fz_color_when */
	struct fz_cli_fleet fleet; /* the server that stores runs, if any */
	struct fz_cli_spool spool;
	const char *repository, *pull; /* NULL: from git and the CI service */
};

#define FZ_CLI_CI_SERVER_ENTRIES(o)                                                                \
	FZ_OPT_HEADING("Results server ('fizeau serve')"), FZ_CLI_FLEET_SERVER_ENTRIES((o).fleet), \
		FZ_OPT(STRING, "repository", "NAME", &(o).repository,                              \
		       "name of this project on the server (default: host and path of the git "    \
		       "remote)"),                                                                 \
		FZ_OPT(STRING, "pull", "NUMBER", &(o).pull,                                        \
		       "number of the pull request (default: from the environment of GitHub or "   \
		       "GitLab CI)")

#define FZ_CLI_CI_SPOOL_ENTRIES(o) \
	FZ_CLI_SPOOL_ENTRIES((o).spool, "fizeau/spool in the cache folder")

/* Print the verdicts, and write the folder of reports. */
int fz_cli_ci_report(struct fz_ci_run *c, const struct fz_cli_ci_options *o, struct fz_error *err);
/* Write the page with the tree of a metric. The second function returns its file name, which the
 * caller frees. */
int fz_cli_ci_page(struct fz_ci_run *c, const char *metric, struct fz_output *out,
		   struct fz_error *err);
char *fz_cli_ci_page_name(const struct fz_ci_result *r, const char *metric);

/* Check options for the server before anything is measured. Does nothing without a server. */
int fz_cli_ci_server_check(const struct fz_cli_ci_options *o, struct fz_error *err);
/* Add changes that were accepted on the server to the configuration, if it is reachable. */
void fz_cli_ci_server_fetch(struct fz_ci_run *c, const struct fz_cli_ci_options *o);
/* Send verdicts, values and pages to the server. While it is unreachable, they wait in a spool for
 * the next run. Failures are only warnings, because the verdict does not depend on them. */
void fz_cli_ci_server_send(struct fz_ci_run *c, const struct fz_cli_ci_options *o);

extern const struct fz_command fz_command_ci_accept, fz_command_ci_merge;
