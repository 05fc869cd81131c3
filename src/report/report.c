/* SPDX-License-Identifier: MIT */
/* The table of reports; see report.h. */
#include "report/report.h"

#include "format/format.h"
#include "format/tachyon.h"
#include "profile/filter.h"
#include "profile/fold.h"
#include "profile/per_run.h"
#include "report/folded.h"
#include "report/function_rows.h"
#include "report/gecko.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/markdown.h"
#include "report/svg.h"

/* Text and JSON reports cannot fail: these adapt them to the signatures in the table. */
#define UNUSED __attribute__((unused))

static int text_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			const struct fz_profile *p, struct fz_output *out,
			UNUSED struct fz_error *err)
{
	fz_report_text_profile(p, &o->text, out);
	return 0;
}

static int text_diff(const struct fz_report_options *o, const struct fz_diff *d,
		     const struct fz_judgement *j, struct fz_output *out,
		     UNUSED struct fz_error *err)
{
	fz_report_text_diff(d, j, &o->text, out);
	return 0;
}

static int tree_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			const struct fz_profile *p, struct fz_output *out,
			UNUSED struct fz_error *err)
{
	fz_report_tree_profile(p, o->inverted, &o->text, out);
	return 0;
}

static int tree_diff(const struct fz_report_options *o, const struct fz_diff *d,
		     const struct fz_judgement *j, struct fz_output *out,
		     UNUSED struct fz_error *err)
{
	fz_report_tree_diff(d, j, &o->text, out);
	return 0;
}

static int html_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_report_html_profile(p, &o->html, out, err);
}

static int html_diff(const struct fz_report_options *o, const struct fz_diff *d,
		     const struct fz_judgement *j, struct fz_output *out, struct fz_error *err)
{
	struct fz_html_options html = o->html;

	html.judgement = j;
	return fz_report_html_diff(d, &html, out, err);
}

static int svg_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
		       const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_report_svg_profile(p, &o->html, out, err);
}

static int svg_diff(const struct fz_report_options *o, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_output *out, struct fz_error *err)
{
	struct fz_html_options html = o->html;

	html.judgement = j;
	return fz_report_svg_diff(d, &html, out, err);
}

static int json_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			const struct fz_profile *p, struct fz_output *out,
			UNUSED struct fz_error *err)
{
	fz_report_json_profile(p, o->inverted, out);
	return 0;
}

static int json_diff(UNUSED const struct fz_report_options *o, const struct fz_diff *d,
		     const struct fz_judgement *j, struct fz_output *out,
		     UNUSED struct fz_error *err)
{
	fz_report_json_diff(d, j, out);
	return 0;
}

static int csv_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
		       const struct fz_profile *p, struct fz_output *out,
		       UNUSED struct fz_error *err)
{
	fz_report_csv_profile(p, o->text.csv_limit, out);
	return 0;
}

static int csv_diff(const struct fz_report_options *o, const struct fz_diff *d,
		    const struct fz_judgement *j, struct fz_output *out,
		    UNUSED struct fz_error *err)
{
	fz_report_csv_diff(d, j, o->text.csv_limit, out);
	return 0;
}

static int lines_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			 const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_report_lines_profile(p, o->html.metric, out, err);
}

static int lines_diff(UNUSED const struct fz_report_options *o, const struct fz_diff *d,
		      const struct fz_judgement *j, struct fz_output *out,
		      UNUSED struct fz_error *err)
{
	fz_report_lines_diff(d, j, out);
	return 0;
}

static int markdown_diff(const struct fz_report_options *o, const struct fz_diff *d,
			 const struct fz_judgement *j, struct fz_output *out,
			 UNUSED struct fz_error *err)
{
	fz_report_markdown_diff(d, j, &o->text, out);
	return 0;
}

static int folded_diff(const struct fz_report_options *o, const struct fz_diff *d,
		       const struct fz_judgement *j, struct fz_output *out,
		       UNUSED struct fz_error *err)
{
	fz_report_folded_diff(d, j, o->scaled, out);
	return 0;
}

/* A heat map is the page, opened with its files. */
static int heatmap_profile(const struct fz_report *r, const struct fz_report_options *o,
			   const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	struct fz_report_options opened = *o;

	opened.html.opens_source = true;
	return html_profile(r, &opened, p, out, err);
}

static int heatmap_diff(const struct fz_report_options *o, const struct fz_diff *d,
			const struct fz_judgement *j, struct fz_output *out, struct fz_error *err)
{
	struct fz_report_options opened = *o;

	opened.html.opens_source = true;
	return html_diff(&opened, d, j, out, err);
}

static int binary_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			  const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return o->uncompressed ? fz_tachyon_write_plain(p, out, err)
			       : fz_tachyon_write(p, out, err);
}

static int codec_profile(const struct fz_report *r, UNUSED const struct fz_report_options *o,
			 const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_format_by_name(r->codec)->write(p, out, err);
}

static int pstats_profile(UNUSED const struct fz_report *r, const struct fz_report_options *o,
			  const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	if (o->to_file)
		return fz_pstats_write(p, o->pstats.per_line, out, err);
	return fz_report_pstats(p, &o->text, &o->pstats, out, err);
}

static int jsonl_profile(UNUSED const struct fz_report *r, UNUSED const struct fz_report_options *o,
			 const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_jsonl_write(p, out, err);
}

static int gecko_profile(UNUSED const struct fz_report *r, UNUSED const struct fz_report_options *o,
			 const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_report_gecko(p, out, err);
}

static const struct fz_report reports[] = {
	{ .name = "text",
	  .title = "summary and tables",
	  .suffixes = ".txt",
	  .profile = text_profile,
	  .diff = text_diff },
	{ .name = "tree",
	  .title = "a call tree, library frames folded",
	  .suffixes = "",
	  .inverts = true,
	  .profile = tree_profile,
	  .diff = tree_diff },
	{ .name = "html",
	  .alias = "flamegraph",
	  .title = "a page with flame graph, summary and tables and sources",
	  .suffixes = ".html .htm",
	  .profile_file = "flamegraph_%llu.html",
	  .diff_file = "diff_flamegraph_%llu.html",
	  .page = true,
	  .inverts = true,
	  .turns_itself = true,
	  .profile = html_profile,
	  .diff = html_diff },
	{ .name = "heatmap",
	  .title = "the page, opened with the cost of every source line",
	  .suffixes = "",
	  .profile_file = "heatmap_%llu",
	  .diff_file = "diff_heatmap_%llu",
	  .page = true,
	  .folder = true,
	  .profile = heatmap_profile,
	  .diff = heatmap_diff },
	{ .name = "svg",
	  .title = "a flame graph image",
	  .suffixes = ".svg",
	  .profile_file = "flamegraph_%llu.svg",
	  .diff_file = "diff_flamegraph_%llu.svg",
	  .page = true,
	  .inverts = true,
	  .profile = svg_profile,
	  .diff = svg_diff },
	{ .name = "pprof",
	  .suffixes = ".pb.gz .pprof .pb",
	  .profile_file = "profile_%llu.pb.gz",
	  .codec = "pprof",
	  .binary = true,
	  .profile = codec_profile },
	{ .name = "speedscope",
	  .suffixes = ".speedscope.json .speedscope",
	  .profile_file = "profile_%llu.speedscope.json",
	  .codec = "speedscope",
	  .drops_negative = true,
	  .profile = codec_profile },
	{ .name = "callgrind",
	  .suffixes = ".callgrind",
	  .profile_file = "callgrind.out.%llu",
	  .codec = "callgrind",
	  .drops_negative = true,
	  .drops_stackless = true,
	  .profile = codec_profile },
	{ .name = "cpuprofile",
	  .suffixes = ".cpuprofile",
	  .profile_file = "profile_%llu.cpuprofile",
	  .codec = "cpuprofile",
	  .drops_negative = true,
	  .holds_times = true,
	  .profile = codec_profile },
	{ .name = "perfetto",
	  .suffixes = ".pftrace .perfetto-trace",
	  .profile_file = "profile_%llu.pftrace",
	  .codec = "perfetto",
	  .binary = true,
	  .holds_times = true,
	  .profile = codec_profile },
	{ .name = "json",
	  .title = "all data, see docs/diff-json.md",
	  .suffixes = ".json",
	  .inverts = true,
	  .profile = json_profile,
	  .diff = json_diff },
	{ .name = "csv",
	  .title = "the functions as a table, named and measured as in json",
	  .suffixes = ".csv",
	  .profile = csv_profile,
	  .diff = csv_diff },
	{ .name = "lines",
	  .title = "the cost of every source line, as JSON for editors, see docs/diff-json.md",
	  .suffixes = "",
	  .profile = lines_profile,
	  .diff = lines_diff },
	{ .name = "markdown",
	  .alias = "md",
	  .title = "for a pull request",
	  .suffixes = ".md",
	  .picture = ".svg",
	  .diff = markdown_diff },
	{ .name = "collapsed",
	  .no_unreadable = true,
	  .suffixes = ".collapsed .col",
	  .profile_file = "collapsed_%llu.txt",
	  .codec = "collapsed",
	  .drops_negative = true,
	  .drops_stackless = true,
	  .profile = codec_profile,
	  .diff = folded_diff,
	  .inverts = true },
	{ .name = "folded",
	  .suffixes = ".folded",
	  .codec = "folded",
	  .drops_negative = true,
	  .drops_stackless = true,
	  .profile = codec_profile,
	  .diff = folded_diff,
	  .inverts = true },
	{ .name = "pstats",
	  .no_unreadable = true,
	  .suffixes = ".pstats .prof",
	  .profile_file = "pstats_%llu.pstats",
	  .holds_times = true,
	  .drops_stackless = true,
	  .text_on_stdout = true,
	  .binary = true,
	  .profile = pstats_profile },
	{ .name = "gecko",
	  .no_unreadable = true,
	  .title = "for profiler.firefox.com",
	  .suffixes = "",
	  .profile_file = "gecko_%llu.json",
	  .holds_times = true,
	  .drops_stackless = true,
	  .profile = gecko_profile },
	{ .name = "jsonl",
	  .no_unreadable = true,
	  .title = "CPython's position records, one JSON object per line",
	  .suffixes = ".jsonl",
	  .profile_file = "jsonl_%llu.jsonl",
	  .profile = jsonl_profile },
	{ .name = "binary",
	  .no_unreadable = true,
	  .alias = "tachyon",
	  .suffixes = ".bin",
	  .profile_file = "binary_%llu.bin",
	  .codec = "tachyon",
	  .drops_negative = true,
	  .holds_times = true,
	  .binary = true,
	  .profile = binary_profile },
	{ .name = "fz",
	  .suffixes = ".fz",
	  .profile_file = "recording_%llu.fz",
	  .codec = "fz",
	  .binary = true,
	  .profile = codec_profile },
};

const struct fz_report *fz_report_at(size_t i)
{
	return i < FZ_ARRAY_LEN(reports) ? &reports[i] : NULL;
}

const struct fz_report *fz_report_by_name(const char *name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(reports); i++)
		if (strcmp(reports[i].name, name) == 0 ||
		    (reports[i].alias && strcmp(reports[i].alias, name) == 0))
			return &reports[i];
	return NULL;
}

const struct fz_report *fz_report_by_suffix(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < FZ_ARRAY_LEN(reports); i++) {
		for (const char *s = reports[i].suffixes; *s;) {
			size_t n = strcspn(s, " ");
			if (length > n && memcmp(path + length - n, s, n) == 0)
				return &reports[i];
			s += n + strspn(s + n, " ");
		}
	}
	return NULL;
}

bool fz_report_is_folder(const struct fz_report *r, const char *path)
{
	struct fz_str s = fz_str_of(path);

	return r->folder && strcmp(path, "-") != 0 && !fz_str_ends(s, ".html") &&
	       !fz_str_ends(s, ".htm");
}

bool fz_report_writes(const struct fz_report *r, bool diff)
{
	return diff ? r->diff != NULL : r->profile != NULL;
}

int fz_report_prepare(const struct fz_report *r, const struct fz_report_options *o,
		      struct fz_profile *p, struct fz_error *err)
{
	if (r->no_unreadable)
		fz_profile_drop_unreadable(p);
	if (!r->codec)
		fz_profile_per_run(p);
	return r->codec && o->inverted ? fz_profile_invert(p, err) : 0;
}

void fz_report_names(bool diff, struct fz_buf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < FZ_ARRAY_LEN(reports); i++) {
		if (!fz_report_writes(&reports[i], diff))
			continue;
		fz_buf_printf(out, "%s%s", comma, reports[i].name);
		comma = ", ";
	}
}
