/* SPDX-License-Identifier: MIT */
/* The table of reports; see report.h. */
#include "report/report.h"

#include "format/format.h"
#include "report/folded.h"
#include "report/json.h"
#include "report/markdown.h"
#include "report/svg.h"

/* The text and JSON reports cannot fail: these give them the shape of the table. */
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
		    UNUSED const struct fz_judgement *j, struct fz_output *out,
		    struct fz_error *err)
{
	return fz_report_svg_diff(d, &o->html, out, err);
}

static int json_profile(UNUSED const struct fz_report *r, UNUSED const struct fz_report_options *o,
			const struct fz_profile *p, struct fz_output *out,
			UNUSED struct fz_error *err)
{
	fz_report_json_profile(p, out);
	return 0;
}

static int json_diff(UNUSED const struct fz_report_options *o, const struct fz_diff *d,
		     const struct fz_judgement *j, struct fz_output *out,
		     UNUSED struct fz_error *err)
{
	fz_report_json_diff(d, j, out);
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
		       UNUSED const struct fz_judgement *j, struct fz_output *out,
		       UNUSED struct fz_error *err)
{
	fz_report_folded_diff(d, o->scaled, out);
	return 0;
}

static int codec_profile(const struct fz_report *r, UNUSED const struct fz_report_options *o,
			 const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	return fz_format_by_name(r->codec)->write(p, out, err);
}

static const struct fz_report reports[] = {
	{ .name = "text", .suffixes = ".txt", .profile = text_profile, .diff = text_diff },
	{ .name = "html",
	  .alias = "flamegraph",
	  .suffixes = ".html .htm",
	  .profile_file = "flamegraph_%llu.html",
	  .diff_file = "diff_flamegraph_%llu.html",
	  .page = true,
	  .by_path = true,
	  .profile = html_profile,
	  .diff = html_diff },
	{ .name = "svg",
	  .suffixes = ".svg",
	  .profile_file = "flamegraph_%llu.svg",
	  .diff_file = "diff_flamegraph_%llu.svg",
	  .page = true,
	  .profile = svg_profile,
	  .diff = svg_diff },
	{ .name = "json",
	  .suffixes = ".json",
	  .by_path = true,
	  .profile = json_profile,
	  .diff = json_diff },
	{ .name = "markdown", .alias = "md", .suffixes = ".md", .diff = markdown_diff },
	{ .name = "collapsed",
	  .suffixes = ".collapsed .col",
	  .profile_file = "collapsed_%llu.txt",
	  .codec = "collapsed",
	  .profile = codec_profile,
	  .diff = folded_diff,
	  .by_samples = true },
	{ .name = "folded",
	  .suffixes = ".folded",
	  .codec = "folded",
	  .profile = codec_profile,
	  .diff = folded_diff,
	  .by_samples = true },
	{ .name = "binary",
	  .alias = "tachyon",
	  .suffixes = ".bin",
	  .profile_file = "binary_%llu.bin",
	  .codec = "tachyon",
	  .binary = true,
	  .profile = codec_profile },
	{ .name = "fz",
	  .suffixes = ".fz",
	  .profile_file = "recording_%llu.fz",
	  .codec = "fz",
	  .binary = true,
	  .profile = codec_profile },
};

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

bool fz_report_writes(const struct fz_report *r, bool diff)
{
	return diff ? r->diff != NULL : r->profile != NULL;
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
