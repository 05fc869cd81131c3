/* SPDX-License-Identifier: MIT */
/* Select the report, check that it can be written, and write it; see output.h. */
#include "cli/output.h"

#include "cli/busy.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/load.h"
#include "compare/comparison.h"
#include "format/format.h"
#include "profile/filter.h"
#include "profile/idle.h"
#include "profile/origin.h"
#include "profile/per_run.h"
#include "profile/processes.h"
#include "report/findings.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES_LISTED = 8 };

const char *const fz_cli_compression_names[] = { "auto", "zstd", "none", NULL };
const char *const fz_cli_color_names[] = { "auto", "always", "never", NULL };

/* ---- selecting from a recording ---- */

/* Make a metric the default one; NULL: no change. */
static int choose_metric(struct fz_profile *p, const char *name, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	if (!name)
		return 0;
	uint32_t metric = fz_profile_find_metric(p, fz_str_of(name));
	if (metric == FZ_NONE && strcmp(name, "samples") == 0)
		metric = fz_profile_count_samples(p);
	if (metric != FZ_NONE) {
		p->default_metric = metric;
		p->metric_chosen = true;
		return 0;
	}
	for (uint32_t i = 0; i < p->metric_count; i++)
		fz_buf_printf(&names, "%s%s", i ? ", " : "", p->metrics[i].name);
	return fz_fail(err, FZ_EUSAGE, "--metric: the recording has no metric '%s'; it has %s",
		       name, names.p);
}

static int no_such_process(const struct fz_processes *ps, const char *word, const char *name,
			   struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	for (uint32_t i = 0; i < ps->n && i < PROCESSES_LISTED; i++) {
		fz_auto(fz_free_ptr) char *label = fz_process_label(&ps->list[i]);
		fz_buf_printf(&b, "%s%s", i ? ", " : "", label);
	}
	if (ps->n > PROCESSES_LISTED)
		fz_buf_str(&b, ", ...");
	return fz_fail(err, FZ_EUSAGE, "--process: %s has no process '%s'; it has %s", name, word,
		       b.n ? b.p : "none");
}

/* Keep one process. word: its pid, or a part of its command; name: the recording, for messages. */
static int keep_process(struct fz_profile *p, const char *word, const char *name,
			struct fz_error *err)
{
	fz_auto(fz_processes_release) struct fz_processes ps = fz_profile_processes(p);
	fz_auto(fz_free_ptr) bool *threads =
		fz_calloc(FZ_MAX(p->thread_count, 1), sizeof(*threads));
	struct fz_filter filter = FZ_FILTER_DEFAULTS;
	bool any = false;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		threads[i] = fz_process_is_named(&ps.list[ps.of_thread[i]], fz_str_of(word));
		any |= threads[i];
	}
	if (!any)
		return no_such_process(&ps, word, name, err);
	filter.threads = threads;
	fz_profile_filter(p, &filter);
	return 0;
}

/* ---- source from disk (report/disk_source.h) ---- */

/* Fails if --source-root would have no effect. records: the report shows a new recording. */
static int check_source_root(const struct fz_cli_output *o, bool records, struct fz_error *err)
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

/* Add source to one or both profiles of a page; does nothing for other reports. */
static void add_source(const struct fz_cli_output *o, struct fz_profile *const *p, int n)
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

/* ---- the report ---- */

/* The options of reports. fd: where text goes; -1: a file, which has no colours by default. */
static struct fz_report_options report_options(const struct fz_cli_output *o, int fd)
{
	struct fz_report_options r = {
		.text = FZ_TEXT_DEFAULTS,
		.html = FZ_HTML_DEFAULTS,
		.pstats = { .per_line = o->per_line, .no_summary = o->no_summary },
		.to_file = o->file != NULL,
		.uncompressed = o->compression == FZ_CLI_COMPRESSION_NONE,
		/* Like difffolded.pl: columns as recorded unless scaling was requested. */
		.scaled = o->scale != FZ_SCALE_AUTO || o->work[FZ_BASE] > 0,
	};

	r.text.style = fz_style_of(fd, (enum fz_color_when)o->color);
	if (o->limit != FZ_CLI_LIMIT_NOT_GIVEN)
		r.text.limit = r.text.tree_limit = r.text.brief_limit = r.text.csv_limit =
			(unsigned)o->limit;
	r.text.detail = o->verbose ? FZ_TEXT_VERBOSE : o->table ? FZ_TEXT_TABLE : FZ_TEXT_BRIEF;
	if (o->min_share >= 0)
		r.text.min_share = o->min_share;
	r.text.sort = (enum fz_text_sort)o->sort;
	r.text.no_summary = o->no_summary;
	r.text.all_frames = r.html.all_frames = o->all_frames;
	r.html.palette = (enum fz_palette)o->palette;
	r.html.no_source = o->no_source;
	r.html.inverted = r.inverted = o->invert;
	memcpy(r.text.labels, o->labels, sizeof(r.text.labels));
	memcpy(r.html.labels, o->labels, sizeof(r.html.labels));
	return r;
}

static int output_fd(const struct fz_output *out)
{
	return fz_output_is_stdout(out) ? STDOUT_FILENO : -1;
}

static char *available_names(bool diff)
{
	struct fz_buf names = { 0 };

	fz_report_names(diff, &names);
	return fz_buf_take(&names);
}

/* ---- options ---- */

static int choose_name(struct fz_cli_output *o, const char *name, struct fz_error *err)
{
	if (o->format && strcmp(o->format, name) != 0)
		return fz_fail(err, FZ_EUSAGE,
			       "formats %s and %s cannot be combined; use 'fizeau replay' to "
			       "convert the recording to a second format",
			       name, o->format);
	o->format = name;
	return 0;
}

int fz_cli_output_set_format(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	if (fz_report_by_name(text))
		return choose_name(opt->value, text, err);
	fz_auto(fz_free_ptr) char *names = available_names(false);
	return fz_fail(err, FZ_EUSAGE, "--format: '%s' is not one of %s", text, names);
}

int fz_cli_output_set_switch(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	(void)text;
	((struct fz_cli_output *)opt->value)->switched = true;
	return choose_name(opt->value, opt->long_name, err);
}

/* ---- check ---- */

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry = NULL;

	if (!folder)
		return false;
	do
		entry = readdir(folder);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	closedir(folder);
	return !entry;
}

/* True if an existing folder is replaced rather than written into: one with our pages, or in replay
 * an empty one, as CPython's does. */
static bool is_page_folder(const struct fz_cli_output *o)
{
	const struct fz_report *r = o->format ? fz_report_by_name(o->format) : NULL;
	fz_auto(fz_free_ptr) char *index = fz_asprintf("%s/index.html", o->file);

	return r && fz_report_is_folder(r, o->file) &&
	       (access(index, F_OK) == 0 || (o->replays && is_empty_folder(o->file)));
}

/* With -o FOLDER a file with the default name goes there. */
static void resolve_path(struct fz_cli_output *o)
{
	if (!o->file || strcmp(o->file, "-") == 0)
		return;
	if (is_folder(o->file) && !is_page_folder(o))
		o->folder = fz_strdup(o->file);
	else
		o->path = fz_strdup(o->file);
}

/* The default file name; NULL: standard output. */
static const char *default_file(const struct fz_cli_output *o, bool diff)
{
	const struct fz_report *r = o->chosen;

	if (!r || (r->text_on_stdout && !o->file))
		return NULL;
	return diff ? r->diff_file : r->profile_file;
}

/* The report by a file's suffix; for an unknown suffix CPython's default, pstats, if the recording
 * has times. */
static const struct fz_report *report_of_file(const struct fz_cli_output *o, bool diff)
{
	const struct fz_report *by_suffix = o->path ? fz_report_by_suffix(o->path) : NULL;

	if (by_suffix || diff || o->untimed || (!o->path && !o->folder))
		return by_suffix;
	if (o->path)
		fz_cli_note("%s: unknown suffix; writing a file for Python's pstats module",
			    o->path);
	return fz_report_by_name("pstats");
}

static int choose_format(struct fz_cli_output *o, bool diff, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *names = available_names(diff);
	bool to_file = o->file && strcmp(o->file, "-") != 0;

	if (o->format)
		o->chosen = fz_report_by_name(o->format);
	else if (!o->baseline || o->path)
		o->chosen = report_of_file(o, diff);
	else
		o->chosen = fz_report_by_name("html");
	/* 'run --browser' prints a table, like CPython's profiler. */
	if (o->browser && (diff || o->replays) && !o->format && !o->path && (!o->file || to_file))
		o->chosen = fz_report_by_name("html");
	if (o->chosen && !fz_report_writes(o->chosen, diff))
		return fz_fail(err, FZ_EUSAGE, "%s is not a format for a %s; use one of %s",
			       o->chosen->name, diff ? "diff" : "profile", names);
	if (o->untimed && !diff && o->chosen && o->chosen->holds_times)
		return fz_fail(err, FZ_EUSAGE,
			       "%s stores times, but this recording has none; use -o FILE.fz or "
			       "FILE.pb.gz",
			       o->chosen->name);
	if (o->folder && !default_file(o, diff))
		return fz_fail(err, FZ_EUSAGE, "%s: is a folder; specify a file to write%s",
			       o->file,
			       diff ? " or use --format html"
				    : " or a format with a default name, such as --flamegraph");
	if (!o->chosen && to_file)
		return fz_fail(err, FZ_EUSAGE,
			       "%s: unknown suffix; select a format with --format: %s", o->file,
			       names);
	if (o->browser && (!o->chosen || !o->chosen->page || (o->file && !to_file))) {
		fz_cli_warn("--browser requires a page in a file: add -o FILE.html%s",
			    diff || o->replays ? "" : " or --flamegraph");
		o->browser = false;
	}
	return 0;
}

int fz_cli_output_try(const char *path, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	struct stat st;

	/* Opening and closing a pipe would give its reader an end of file. */
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		return access(path, W_OK) ? fz_fail_errno(err, "%s: cannot be written", path) : 0;
	return fz_output_open(path, &out, err);
}

/* For a default name, the folder is tried with a similar name. */
static int try_to_write(const struct fz_cli_output *o, bool diff, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	fz_auto(fz_free_ptr) char *path = NULL;
	struct stat st;
	bool to_stdout = o->file ? strcmp(o->file, "-") == 0 : !default_file(o, diff);

	bool binary = o->chosen && o->chosen->binary && (o->file || !o->chosen->text_on_stdout);

	if (to_stdout && binary && isatty(STDOUT_FILENO))
		return fz_fail(err, FZ_EUSAGE,
			       "not writing binary format %s to a terminal; use -o FILE",
			       o->chosen->name);
	if (to_stdout)
		return 0;
	path = o->path ? fz_strdup(o->path)
		       : fz_asprintf("%s/fizeau_output", o->folder ? o->folder : ".");
	if (o->chosen && o->path && fz_report_is_folder(o->chosen, path) && is_folder(path)) {
		fz_auto(fz_free_ptr) char *index = fz_asprintf("%s/index.html", path);
		return fz_output_open(index, &out, err);
	}
	if (o->chosen && o->path && fz_report_is_folder(o->chosen, path) && !stat(path, &st) &&
	    !S_ISDIR(st.st_mode))
		return fz_fail(err, FZ_EUSAGE,
			       "%s: not a folder; %s writes index.html in a folder, or FILE.html",
			       path, o->chosen->name);
	return fz_cli_output_try(path, err);
}

static int load_baseline(struct fz_cli_output *o, const struct fz_recording *planned,
			 struct fz_error *err)
{
	o->labels[FZ_BASE] = o->baseline;
	int r = fz_cli_load_baseline(o->baseline, o->number_unit, o->force ? NULL : planned,
				     &o->base, err);

	/* Do not refuse the comparison at the end, which would lose the new recording. */
	o->force |= planned != NULL;
	return r;
}

/* Fails if options of a comparison are given without one, or have no effect with exact matching. */
static int check_comparison(const struct fz_cli_output *o, bool diff, struct fz_error *err)
{
	const char *name = o->match            ? "match"
			   : o->scale          ? "scale"
			   : o->force          ? "force"
			   : o->work[0] > 0    ? "work"
			   : o->no_rename      ? "no-rename-detection"
			   : o->maps.n         ? "map"
			   : o->renames.n      ? "rename"
			   : o->fold_recursion ? "fold-recursion"
			   : o->table          ? "table"
			   : o->verbose        ? "verbose"
					       : NULL;

	if (!diff && name)
		return fz_fail(err, FZ_EUSAGE, "--%s requires --diff-flamegraph BASELINE", name);
	if (o->match == FZ_MATCH_EXACT && o->renames.n)
		return fz_fail(err, FZ_EUSAGE, "--rename cannot be combined with --match exact");
	return 0;
}

/* An option of tables, and the formats that use it. */
struct table_option {
	const char *name, *formats;
};

/* The given one that the format does not use; the name is NULL if there is none. */
static struct table_option useless_option(const struct fz_cli_output *o, const char *format,
					  bool diff)
{
	bool tree = strcmp(format, "tree") == 0;
	bool rows = tree || strcmp(format, "csv") == 0 || strcmp(format, "markdown") == 0;

	if (strcmp(format, "text") == 0 || strcmp(format, "pstats") == 0)
		return (struct table_option){ 0 };
	if (o->no_summary && !tree)
		return (struct table_option){ "no-summary", "text, tree or pstats" };
	if (o->sorted)
		return (struct table_option){ "sort", "text or pstats" };
	if (o->limit != FZ_CLI_LIMIT_NOT_GIVEN && !rows)
		return (struct table_option){ "limit", diff ? "text, tree, csv or markdown"
							    : "text, tree, csv or pstats" };
	return (struct table_option){ 0 };
}

/* Fails if options of tables are given for another format. CPython's replay accepts them with all
 * formats. */
static int check_tables(const struct fz_cli_output *o, bool diff, struct fz_error *err)
{
	const char *format = o->chosen ? o->chosen->name : "text";
	bool pstats = strcmp(format, "pstats") == 0, tree = strcmp(format, "tree") == 0;
	bool folded = strcmp(format, "folded") == 0 || strcmp(format, "collapsed") == 0;
	struct table_option useless = useless_option(o, format, diff);

	if (o->all_frames && !tree && strcmp(format, "svg") != 0)
		return fz_fail(err, FZ_EUSAGE, "--all-frames requires --tree or --format svg");
	if (o->min_share >= 0 && !tree)
		return fz_fail(err, FZ_EUSAGE, "--min-share requires --tree");
	if (o->table && strcmp(format, "text") != 0)
		return fz_fail(err, FZ_EUSAGE, "--table requires --format text, not %s", format);
	if (o->verbose && !tree && strcmp(format, "text") != 0)
		return fz_fail(err, FZ_EUSAGE, "--verbose requires --tree or --format text, not %s",
			       format);
	if (o->metric_line && !folded)
		return fz_fail(err, FZ_EUSAGE,
			       "--metric-line requires --collapsed or --format folded");
	if (o->per_line && !pstats)
		return fz_fail(err, FZ_EUSAGE, "--per-line requires --pstats");
	if (!useless.name)
		return 0;
	if (!o->replays || !o->switched)
		return fz_fail(err, FZ_EUSAGE, "--%s requires --format %s, not %s", useless.name,
			       useless.formats, format);
	fz_cli_warn("--%s has no effect on %s, which is not a table", useless.name, format);
	return 0;
}

/* Inverting has no effect on a table of functions. */
static int check_invert(const struct fz_cli_output *o, struct fz_error *err)
{
	if (!o->invert || (o->chosen && o->chosen->inverts))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "--invert has no effect on %s; use it with tree, html, svg, json, folded or "
		       "collapsed",
		       o->chosen ? o->chosen->name : "text");
}

static struct fz_cli_filter filter_of(const struct fz_cli_output *o)
{
	return (struct fz_cli_filter){ o->threads.list, o->filter, o->root, o->no_idle };
}

static void set_own(const struct fz_cli_output *o, struct fz_profile *p)
{
	if (o->own)
		fz_profile_set_fact(p, FZ_ORIGIN_FACT, fz_str_of(o->own));
}

int fz_cli_output_check(struct fz_cli_output *o, bool diff, const struct fz_recording *planned,
			struct fz_error *err)
{
	int r;

	diff = diff || o->baseline;
	if (o->file && !*o->file)
		return fz_fail(err, FZ_EUSAGE, "-o requires a file name; '-' is standard output");
	r = check_comparison(o, diff, err);
	if (r)
		return r;
	if (o->gated && !o->gate)
		return fz_fail(err, FZ_EUSAGE, "--threshold requires --fail-on");
	if (o->work[FZ_BASE] > 0 && o->scale && o->scale != FZ_SCALE_UNIT)
		return fz_fail(err, FZ_EUSAGE, "--work requires --scale work, not %s",
			       fz_scale_word(o->scale));
	if (o->scale == FZ_SCALE_UNIT && o->work[FZ_BASE] <= 0)
		return fz_fail(err, FZ_EUSAGE, "--scale work requires --work BASE:HEAD");
	resolve_path(o);
	r = choose_format(o, diff, err);
	if (!r)
		r = check_tables(o, diff, err);
	if (!r)
		r = check_source_root(o, planned != NULL, err);
	if (!r)
		r = check_invert(o, err);
	if (!r && o->filter)
		r = fz_cli_check_regex("--filter", o->filter, err);
	if (!r && o->root)
		r = fz_cli_check_regex("--root", o->root, err);
	if (!r && o->own)
		r = fz_cli_check_regex("--own", o->own, err);
	if (!r)
		r = try_to_write(o, diff, err);
	if (!r && o->baseline)
		r = load_baseline(o, planned, err);
	return r;
}

bool fz_cli_output_is_default(const struct fz_cli_output *o)
{
	return !o->file && !o->format && !o->baseline;
}

bool fz_cli_output_is_recording(const struct fz_cli_output *o)
{
	return o->chosen && o->path && !o->baseline && strcmp(o->chosen->name, "fz") == 0;
}

/* ---- write ---- */

/* The recorded process, if known; on Linux the main thread has the id of its process. */
static uint64_t process_of(const struct fz_cli_output *o, const struct fz_profile *p)
{
	if (o->pid)
		return o->pid;
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].pid)
			return p->threads[i].pid;
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].is_main)
			return p->threads[i].tid;
	return (uint64_t)getpid();
}

/* Where to write: the user's file, a default name, or "-" for standard output. The caller frees. */
static char *target_of(const struct fz_cli_output *o, const char *file, const struct fz_profile *p)
{
	if (o->path)
		return fz_strdup(o->path);
	if (!file || (o->file && !o->folder))
		return fz_strdup("-");
	fz_auto(fz_free_ptr) char *name = fz_asprintf(file, (unsigned long long)process_of(o, p));
	return o->folder ? fz_asprintf("%s/%s", o->folder, name) : fz_steal(name);
}

void fz_cli_output_report(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		fz_cli_note("wrote %s", path);
}

/* The note that the file was written replaces this line. */
static void print_writing(const char *path)
{
	if (strcmp(path, "-") != 0)
		fz_cli_busy("writing %s", path);
}

/* Failing to open the page is only a warning, because it has been written. */
static void open_page(const char *path)
{
	struct fz_error err;

	if (fz_cli_browser_open(path, &err))
		fz_cli_warn("%s", err.message);
}

static int finish(const struct fz_cli_output *o, struct fz_output *out, const char *path,
		  struct fz_error *err)
{
	int r = fz_output_close(out, err);

	if (!r)
		fz_cli_output_report(path);
	if (!r && o->browser)
		open_page(path);
	return r;
}

/* A folder in which nothing could be written is removed. */
static void leave_folder(char **folder)
{
	if (*folder)
		rmdir(*folder); /* fails if it is not empty */
	free(*folder);
}

/* Open the file at *path. If the report is a folder, that is *ret_folder, and *path becomes that of
 * its index. */
static int open_report(const struct fz_cli_output *o, char **path, char **ret_folder,
		       struct fz_output **ret_out, struct fz_error *err)
{
	if (fz_report_is_folder(o->chosen, *path)) {
		int r = fz_make_output_folder(*path, err);
		if (r)
			return r;
		*ret_folder = *path;
		*path = fz_asprintf("%s/index.html", *ret_folder);
	}
	return fz_output_open(*path, ret_out, err);
}

static void print_remarks(const struct fz_cli_output *o, const struct fz_profile *p)
{
	fz_auto(fz_buf_release) struct fz_buf remarks = { 0 };
	bool table = o->chosen->text_on_stdout && !o->file;

	if (!table)
		fz_report_remarks(o->chosen, p, &remarks);
	if (remarks.n)
		fz_cli_warn("%s: %s", o->chosen->name, remarks.p);
}

static int write_profile(const struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = target_of(o, default_file(o, false), p);
	fz_auto(leave_folder) char *folder = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = open_report(o, &path, &folder, &out, err);

	if (r)
		return r;
	struct fz_report_options options = report_options(o, output_fd(out));
	print_writing(path);
	add_source(o, &p, 1);
	r = fz_report_prepare(o->chosen, &options, p, err);
	if (!r)
		r = o->chosen->profile(o->chosen, &options, p, out, err);
	if (r)
		return r;
	print_remarks(o, p);
	return finish(o, fz_steal(out), path, err);
}

/* A copy with the text format if none was chosen. */
static struct fz_cli_output with_text(const struct fz_cli_output *o)
{
	struct fz_cli_output copy = *o;

	if (!copy.chosen)
		copy.chosen = fz_report_by_name("text");
	return copy;
}

/* Apply the gate and print its result to standard error, so that reports do not depend on it. */
static void apply_gate(struct fz_cli_output *o, const struct fz_diff *d,
		       const struct fz_judgement *j)
{
	struct fz_buf why = { 0 };

	o->closed = fz_gate_closes((enum fz_gate)o->gate, o->threshold, d, j, &why);
	if (why.n && o->closed)
		fprintf(stderr, "fizeau: %s\n", why.p);
	else if (why.n)
		fz_cli_warn("%s", why.p);
	fz_buf_release(&why);
}

/* Print the verdict to standard error, if the report goes to a file. */
static void print_verdict(const struct fz_diff *d, const struct fz_judgement *j)
{
	struct fz_style style = fz_style_of(STDERR_FILENO, FZ_COLOR_NEVER);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (uint32_t i = 0; i < d->urgent; i++)
		fz_cli_warn("%s", d->warnings[i]);
	fz_findings_headline(d, j, &style, &text);
	fz_cli_note("%s", text.p);
}

/* Print the differences for which a comparison was refused, if there are any. */
static void show_differences(const struct fz_profile *base, const struct fz_profile *head)
{
	struct fz_buf b = { 0 };

	if (fz_diff_differences(base, head, &b))
		fputs(b.p, stderr);
	fz_buf_release(&b);
}

static int keep_process_of_both(const struct fz_cli_output *o, struct fz_profile *base,
				struct fz_profile *head, struct fz_error *err)
{
	int r = o->process ? keep_process(base, o->process, o->labels[FZ_BASE], err) : 0;

	return !r && o->process ? keep_process(head, o->process, o->labels[FZ_HEAD], err) : r;
}

static int prepare_both(const struct fz_cli_output *o, struct fz_profile *base,
			struct fz_profile *head, struct fz_error *err)
{
	struct fz_profile *both[FZ_SIDES] = { base, head };
	struct fz_cli_filter filter = filter_of(o);
	int r = keep_process_of_both(o, base, head, err);

	if (!r)
		r = fz_cli_filter_keep(&filter, both, FZ_SIDES, err);
	if (r)
		return r;
	set_own(o, base);
	set_own(o, head);
	add_source(o, both, FZ_SIDES);
	return 0;
}

/* Write the picture beside a report that cannot contain one. */
static int write_picture(const char *path, const struct fz_report_options *options,
			 const struct fz_comparison *c, struct fz_error *err)
{
	struct fz_report_options small = *options;
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = fz_output_open(path, &out, err);

	small.html.changed_only = true;
	if (!r)
		r = fz_report_by_suffix(path)->diff(&small, c->diff, c->judgement, out, err);
	return r ? r : fz_output_close(fz_steal(out), err);
}

static int write_comparison(const struct fz_cli_output *o, const struct fz_comparison *c,
			    const struct fz_profile *head, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = target_of(o, o->chosen->diff_file, head);
	fz_auto(fz_free_ptr) char *picture = NULL;
	fz_auto(leave_folder) char *folder = NULL;
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = open_report(o, &path, &folder, &out, err);

	if (r)
		return r;
	print_writing(path);
	struct fz_report_options report = report_options(o, output_fd(out));
	if (o->chosen->picture && strcmp(path, "-") != 0) {
		picture = fz_asprintf("%s%s", path, o->chosen->picture);
		report.text.picture = fz_path_base(fz_str_of(picture)).p;
		report.text.beside = !strchr(path, '/');
		r = write_picture(picture, &report, c, err);
	}
	if (!r)
		r = o->chosen->diff(&report, c->diff, c->judgement, out, err);
	if (r)
		return r;
	if (!fz_output_is_stdout(out))
		print_verdict(c->diff, c->judgement);
	r = finish(o, fz_steal(out), path, err);
	if (!r && picture)
		fz_cli_output_report(picture);
	return r;
}

static struct fz_comparison_options comparison_options(const struct fz_cli_output *o,
						       const struct fz_report *chosen)
{
	struct fz_comparison_options options = {
		.diff = { .match = (enum fz_match)o->match,
			  .scale = (enum fz_scale_mode)o->scale,
			  .force = o->force,
			  .no_rename = o->no_rename,
			  .as_measured = o->as_measured,
			  .two_commands = o->two_commands,
			  .renames = o->renames.list,
			  .maps = o->maps.list,
			  .inverted = o->invert && !chosen->turns_itself,
			  .cells = chosen->page,
			  .lines = chosen->page },
		.fold_recursion = o->fold_recursion,
		.delta = o->delta,
	};

	if (o->metric)
		options.diff.metric = fz_str_of(o->metric);
	memcpy(options.diff.units, o->work, sizeof(o->work));
	return options;
}

int fz_cli_output_write_diff(struct fz_cli_output *o, struct fz_profile *base,
			     struct fz_profile *head, struct fz_error *err)
{
	struct fz_cli_output with = with_text(o);
	struct fz_comparison_options options = comparison_options(o, with.chosen);
	fz_auto(fz_comparison_freep) struct fz_comparison *c = NULL;
	fz_cli_busy("comparing");
	int r = prepare_both(&with, base, head, err);
	if (!r)
		r = fz_comparison_new(base, head, &options, &c, err);
	fz_cli_busy_end();
	if (r && !o->force)
		show_differences(base, head);
	if (!r)
		r = write_comparison(&with, c, head, err);
	if (r)
		return r;
	apply_gate(o, c->diff, c->judgement);
	return 0;
}

int fz_cli_output_write(struct fz_cli_output *o, struct fz_profile *p, struct fz_error *err)
{
	struct fz_cli_output with = with_text(o);
	struct fz_cli_filter filter = filter_of(o);
	int r = fz_cli_range_keep(&o->range, o->labels[FZ_HEAD], p, err);

	if (!r && o->base)
		r = fz_cli_range_keep(&o->range, o->baseline, o->base, err);
	if (r || o->base)
		return r ? r : fz_cli_output_write_diff(o, o->base, p, err);
	p->metric_line = o->metric_line;
	r = choose_metric(p, o->metric, err);
	if (!r && o->process)
		r = keep_process(p, o->process, o->labels[FZ_HEAD], err);
	if (!r)
		r = fz_cli_filter_keep(&filter, &p, 1, err);
	set_own(o, p);
	return r ? r : write_profile(&with, p, err);
}

void fz_cli_output_print(const struct fz_cli_output *o, struct fz_profile *p)
{
	struct fz_report_options options = report_options(o, STDOUT_FILENO);
	struct fz_cli_filter filter = filter_of(o);

	if (!fz_idle_all(p))
		fz_cli_filter_keep(&filter, &p, 1, NULL);
	fz_profile_per_run(p);
	fz_auto(fz_output_abortp) struct fz_output *text = fz_output_memory();

	fz_report_text_profile(p, &options.text, text);
	fz_cli_print(fz_buf_view(fz_output_buffer(text)));
}

void fz_cli_output_release(struct fz_cli_output *o)
{
	fz_profile_free(o->base);
	free(o->path);
	free(o->folder);
	o->base = NULL;
	o->path = o->folder = NULL;
}
