/* SPDX-License-Identifier: MIT */
/* --source-root, and source files that pages read from disk; see source.h. */
#include "cli/source.h"

int fz_cli_source_check(const struct fz_cli_output *o, bool records, struct fz_error *err)
{
	if (o->source_root_n && records && !o->baseline)
		return fz_fail(err, FZ_EUSAGE,
			       "--source-root requires --diff-flamegraph; new recordings include "
			       "their source");
	if (!o->source_root_n || (o->chosen && o->chosen->page && !o->no_source))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "--source-root requires a page: add --flamegraph or --heatmap%s",
		       o->no_source ? ", and drop --no-source" : "");
}

void fz_cli_source_add(const struct fz_cli_output *o, struct fz_profile *const *p, int n)
{
	fz_auto(fz_buf_release) struct fz_buf why = { 0 };
	struct fz_source_root roots[FZ_CLI_RULES_MAX];

	if (!o->chosen->page || o->no_source)
		return;
	memcpy(roots, o->source_roots, sizeof(roots));
	for (int i = 0; i < n; i++) {
		const char *label = o->labels[i + FZ_SIDES - n];
		char *rest = NULL;
		fz_buf_reset(&why);
		fz_disk_source_add(p[i], roots, o->source_root_n, &why);
		for (char *line = why.n ? strtok_r(why.p, "\n", &rest) : NULL; line;
		     line = strtok_r(NULL, "\n", &rest))
			fz_cli_warn("%s: %s", label ? label : "the recording", line);
	}
	for (uint32_t i = 0; i < o->source_root_n; i++)
		if (!roots[i].used)
			fz_cli_warn("--source-root: no recorded file is below '%.*s'",
				    (int)roots[i].from.n, roots[i].from.p);
}
