/* SPDX-License-Identifier: MIT */
/* fizeau show: print a recording's metadata and hottest functions. */
#include "cli/cli.h"
#include "cli/range.h"

#include "base/table.h"
#include "format/format.h"
#include "profile/processes.h"
#include "profile/per_run.h"
#include "report/phases.h"
#include "report/text.h"
#include "store/store.h"

#include <unistd.h>

static struct fz_cli_range range;

static const struct fz_opt option_table[] = {
	FZ_OPT_HEADING("Samples"),
	FZ_CLI_RANGE_ENTRIES(range),
	{ .kind = FZ_OPT_END },
};

static void add_facts(const struct fz_profile *p, const char *path, const struct fz_style *style,
		      struct fz_buf *out)
{
	static const struct fz_column columns[] = { { .min = 14, .max = 14 }, { .gap = 1 } };
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), style, out);
	fz_table_cell(&t, "file");
	fz_table_path(fz_str_of(path), fz_table_last(&t), style, out);
	fz_table_end(&t);
	for (uint32_t i = 0; i < p->fact_count; i++) {
		struct fz_str key = fz_profile_text(p, p->facts[i].key);
		if (fz_is_process_fact(key) && p->recording.features & FZ_FEATURE_MACHINE)
			continue;
		fz_table_str(&t, key);
		fz_table_text(fz_profile_text(p, p->facts[i].value), fz_table_last(&t), style, out);
		fz_table_end(&t);
	}
	fz_buf_char(out, '\n');
}

static int show(struct fz_opt_state *state)
{
	struct fz_text_options text = { .style = fz_style_of(STDOUT_FILENO, FZ_COLOR_AUTO),
					.limit = FZ_TEXT_ROWS };
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	fz_auto(fz_free_ptr) char *path = NULL;
	fz_auto(fz_buf_release) struct fz_buf facts = { 0 };
	fz_auto(fz_buf_release) struct fz_buf phases = { 0 };
	struct fz_output *out;
	struct fz_error err;

	if (state->argument_count > 1)
		return fz_cli_errorf("show: specify at most one recording");
	const char *name = state->argument_count ? state->arguments[0] : "@1";
	if (fz_store_resolve(name, &path, &err) || fz_format_load(path, &p, &err) ||
	    fz_cli_range_keep(&range, name, p, &err) || fz_output_open("-", &out, &err))
		return fz_cli_error(&err);
	fz_profile_per_run(p);
	add_facts(p, path, &text.style, &facts);
	fz_output_add(out, facts.p, facts.n);
	fz_report_text_profile(p, &text, out);
	/* Not with a range, because times would differ from those in the suggested command. */
	if (!fz_cli_range_given(&range)) {
		fz_report_phases_text(p, name, &text.style, &phases);
		fz_output_add(out, phases.p, phases.n);
	}
	return fz_output_close(out, &err) ? fz_cli_error(&err) : FZ_EXIT_OK;
}

const struct fz_command fz_command_show = {
	.name = "show",
	.summary = "print a recording's metadata and hottest functions",
	.usage = "[options] [RECORDING]",
	.examples = "  $ fizeau show         # the latest recording\n"
		    "  $ fizeau show @2\n"
		    "  $ fizeau show HEAD~1  # the latest recording of that commit\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_RECORDING,
	.run = show,
};
