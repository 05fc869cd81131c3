/* SPDX-License-Identifier: MIT */
/* Measures a command at a git revision and in the working tree, interleaved, as `fizeau compare`
 * does; the answer is that of changes.
 *
 * Both recordings are kept in the server's scratch folder as long as their handle exists, and in
 * the cache as the project's last comparison, as `compare` does.
 */
#include "bench/revisions.h"

#include "format/format.h"
#include "mcp/access.h"
#include "mcp/answer.h"
#include "mcp/subject.h"

enum { RUNS_MAX = 100 };

/* The words as argv; the strings are borrowed, the caller frees the array. */
static char **argv_of(const json_t *words)
{
	char **argv = fz_calloc(json_array_size(words) + 1, sizeof(*argv));

	for (size_t i = 0; i < json_array_size(words); i++)
		argv[i] = (char *)json_string_value(json_array_get(words, i));
	return argv;
}

static int measure(const struct fz_mcp_call *c, char *const argv[], struct fz_paired_run *ret,
		   struct fz_error *err)
{
	struct fz_compare_options o = { .record = FZ_RECORD_DEFAULTS,
					.runs = fz_mcp_number(c, "runs", 0),
					.warmup = 1,
					.revision = fz_mcp_text(c, "revision"),
					.setup = c->options->setup,
					.argv = argv };

	o.record.count = fz_mcp_flag(c, "count");
	if (!o.record.count) {
		o.record.mode = FZ_MODE_CPU;
		o.record.clock = FZ_CLOCK_CPU;
	}
	int r = fz_paired_run_make(ret, &o, c->notify, err);
	for (enum fz_side s = 0; s < FZ_SIDES && !r; s++)
		if (ret->side[s].profile->run_count == 0)
			r = fz_fail(err, FZ_EINTERRUPTED,
				    "timed out before both sides had a complete run; the user sets "
				    "the limit with fizeau mcp --timeout");
	return r;
}

static int keep(const struct fz_mcp_call *c, struct fz_paired_run *done, char *path[FZ_SIDES],
		struct fz_error *err)
{
	int r = fz_paired_run_keep(done, err);

	for (enum fz_side s = 0; s < FZ_SIDES && !r; s++) {
		path[s] =
			fz_asprintf("%s/%u-%s.fz", c->scratch, c->handles->next, fz_side_names[s]);
		r = fz_format_save(done->side[s].profile, &fz_format_fz, path[s], err);
	}
	return r;
}

static int answer(struct fz_mcp_call *c, struct fz_paired_run *done, struct fz_error *err)
{
	fz_auto(fz_mcp_subject_release) struct fz_mcp_subject s = { 0 };
	char *path[FZ_SIDES] = { 0 }, *label[FZ_SIDES];
	int r = keep(c, done, path, err);

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		label[side] = done->side[side].label;
	if (!r)
		r = fz_mcp_subject_measured(c, path, label, &s, err);
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		free(path[side]);
	if (r)
		return r;
	fz_mcp_add_changes(c, &s);
	fz_auto(fz_free_ptr) char *sides =
		fz_asprintf("base %s, %u runs; head %s, %u runs", label[FZ_BASE],
			    done->side[FZ_BASE].profile->run_count, label[FZ_HEAD],
			    done->side[FZ_HEAD].profile->run_count);
	fz_mcp_append_text(c, "measured", sides);
	return 0;
}

static int compare(struct fz_mcp_call *c, struct fz_error *err)
{
	const json_t *words = json_object_get(c->arguments, "command");
	fz_auto(fz_paired_run_release) struct fz_paired_run done = { 0 };
	fz_auto(fz_free_ptr) char **argv = NULL;
	int r = fz_mcp_may_run(c->options, words, err);

	if (r)
		return r;
	argv = argv_of(words);
	r = measure(c, argv, &done, err);
	return r ? r : answer(c, &done, err);
}

const struct fz_mcp_tool fz_mcp_tool_compare = {
	.name = "compare",
	.title = "Measure a command before and after",
	.help = "Runs a command at a git revision and in the working tree, interleaved, and "
		"returns the same as changes. Only commands that the user has allowed. count=true "
		"counts instructions: slower to run, almost no noise.",
	.arguments =
		(const struct fz_mcp_argument[]){
			{ "command",
			  "command and arguments, such as [\"python3\", \"bench.py\"]; no shell",
			  FZ_MCP_WORDS, .required = true },
			{ "revision", "base revision (default: what the working tree changes)",
			  FZ_MCP_STRING },
			{ "runs", "runs per side (default: 20 s of runs, 3 to 10)", FZ_MCP_INTEGER,
			  .min = 1, .max = RUNS_MAX },
			{ "count", "count instructions instead of time", FZ_MCP_FLAG },
			{ 0 } },
	.measures = true,
	.run = compare,
};
