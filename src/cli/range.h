/* SPDX-License-Identifier: MIT */
/* A time range of a recording, as given on the command line. */
#pragma once

#include "base/error.h"
#include "base/opt.h"
#include "profile/profile.h"

enum fz_cli_instant_kind {
	FZ_CLI_INSTANT_NONE,
	FZ_CLI_INSTANT_NS,
	FZ_CLI_INSTANT_PART,
	FZ_CLI_INSTANT_MARK,
};

/* An end of a range. */
struct fz_cli_instant {
	enum fz_cli_instant_kind kind;
	double value;       /* ns since the start of the recording, or a fraction of it */
	struct fz_str mark; /* text of a mark; borrowed from argv */
};

struct fz_cli_range {
	struct fz_cli_instant from, to;
	const char *marks; /* a file with lines that begin with a time; NULL */
	const char *text;  /* as given: "30s-60s"; NULL: by --from and --to, or not at all */
};

/* Option callbacks. "10", "10s", "500ms", "25%", "@deploy"; the value is the struct fz_cli_instant.
 */
int fz_cli_range_set_instant(const char *text, const struct fz_opt *opt, struct fz_error *err);
/* "10s-20s", "10-20s", "-50%", "@deploy-"; the value is the struct fz_cli_range. */
int fz_cli_range_set(const char *text, const struct fz_opt *opt, struct fz_error *err);

static inline bool fz_cli_range_given(const struct fz_cli_range *r)
{
	return r->from.kind || r->to.kind;
}

/* Add the marks of the file to a profile, and keep the range of it; everything if none was given.
 * FZ_EUSAGE if there is no such range; name: the recording, for messages. */
int fz_cli_range_keep(const struct fz_cli_range *r, const char *name, struct fz_profile *p,
		      struct fz_error *err);

/* For commands that read recordings; r is a struct fz_cli_range. */
#define FZ_CLI_RANGE_ENTRIES(r)                                                                  \
	FZ_OPT(CALL, "from", "TIME", &(r).from,                                                  \
	       "only samples from this time on: 10s, 500ms, 25%, or a marker: @deploy",          \
	       .call = fz_cli_range_set_instant, .common = true),                                \
		FZ_OPT(CALL, "to", "TIME", &(r).to, "only samples before this time",             \
		       .call = fz_cli_range_set_instant, .common = true),                        \
		FZ_OPT_RENAMED("marks", "markers"),                                              \
		FZ_OPT(STRING, "markers", "FILE", &(r).marks,                                    \
		       "add markers from the lines of FILE that begin with a time, such as log " \
		       "lines")
