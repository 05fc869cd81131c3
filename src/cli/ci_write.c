/* SPDX-License-Identifier: MIT */
/* The reports of `fizeau ci`; see ci.h. */
#include "cli/ci.h"

#include "ci/report.h"
#include "format/format.h"
#include "report/html.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int write_text(const char *folder, const char *name, const struct fz_buf *text,
		      struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, name);
	struct fz_output *out;
	int rc = fz_output_open(path, &out, err);

	if (rc)
		return rc;
	fz_output_add(out, text->p ? text->p : "", text->n);
	return fz_output_close(out, err);
}

static int write_json(const struct fz_ci_run *c, const char *folder, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/report.json", folder);
	struct fz_output *out;
	int rc = fz_output_open(path, &out, err);

	if (rc)
		return rc;
	fz_ci_json(&c->result, out);
	return fz_output_close(out, err);
}

/* The caller frees the array; what their reasons are lies in the arena. */
static struct fz_html_verdict *list_verdicts(const struct fz_ci_result *r, struct fz_arena *arena)
{
	struct fz_html_verdict *list = fz_calloc(r->n + 1, sizeof(*list));

	for (uint32_t i = 0; i < r->n; i++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };
		fz_ci_reasons(r, &r->benches[i], &text);
		list[i] = (struct fz_html_verdict){
			.benchmark = r->benches[i].name,
			.word = fz_ci_verdict_names[r->benches[i].verdict],
			.reasons = fz_str_of(fz_arena_strndup(arena, text.p ? text.p : "", text.n)),
		};
	}
	return list;
}

static int write_page(const struct fz_ci_run *c, const struct fz_diff *d, const char *folder,
		      struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/report.html", folder);
	fz_auto(fz_judgement_freep) struct fz_judgement *j = NULL;
	fz_auto(fz_arena_release) struct fz_arena reasons = { 0 };
	fz_auto(fz_free_ptr) struct fz_html_verdict *verdicts = list_verdicts(&c->result, &reasons);
	struct fz_judge_options how = FZ_JUDGE_DEFAULTS;
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	struct fz_output *out;

	how.paths = true;
	j = fz_judge(d, &how);
	o.judgement = j;
	o.verdicts = verdicts;
	o.verdict_count = c->result.n;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		o.labels[s] = c->labels[s];
	int rc = fz_output_open(path, &out, err);
	if (rc)
		return rc;
	rc = fz_report_html_diff(d, &o, out, err);
	if (rc) {
		fz_output_abort(out);
		return rc;
	}
	return fz_output_close(out, err);
}

static int write_recordings(const struct fz_ci_run *c, const char *folder, struct fz_error *err)
{
	static const char *const names[FZ_SIDES] = { "base.fz", "head.fz" };
	int rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES && !rc; s++) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, names[s]);
		if (c->profile[s])
			rc = fz_format_save(c->profile[s], &fz_format_fz, path, err);
	}
	return rc;
}

static int write_folder(const struct fz_ci_run *c, const struct fz_diff *d, const char *folder,
			struct fz_error *err)
{
	static const struct {
		const char *name;
		void (*write)(const struct fz_ci_result *r, struct fz_buf *out);
	} files[] = {
		{ "comment.md", fz_ci_markdown },
		{ "junit.xml", fz_ci_junit },
		{ "badge.svg", fz_ci_badge },
		{ "annotations.txt", fz_ci_annotations },
	};
	int rc = fz_make_output_folder(folder, err);

	for (size_t i = 0; i < FZ_ARRAY_LEN(files) && !rc; i++) {
		fz_auto(fz_buf_release) struct fz_buf text = { 0 };
		files[i].write(&c->result, &text);
		rc = write_text(folder, files[i].name, &text, err);
	}
	if (!rc)
		rc = write_json(c, folder, err);
	if (!rc)
		rc = write_page(c, d, folder, err);
	return rc ? rc : write_recordings(c, folder, err);
}

/* Where GitHub runs us it shows a summary of the job, and annotations that stand on a line. */
static void tell_github(const struct fz_ci_run *c)
{
	const char *summary = getenv("GITHUB_STEP_SUMMARY"), *runs = getenv("GITHUB_ACTIONS");
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (summary && *summary) {
		fz_ci_markdown(&c->result, &text);
		fz_auto(fz_close_fd) int fd =
			open(summary, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || !fz_write_full(fd, text.p, text.n))
			fz_cli_warn("ci: %s: the summary cannot be written: %s", summary,
				    strerror(errno));
		fz_buf_reset(&text);
	}
	if (runs && strcmp(runs, "true") == 0) {
		fz_ci_annotations(&c->result, &text);
		fz_cli_print(fz_buf_view(&text));
	}
}

int fz_cli_ci_report(struct fz_ci_run *c, const struct fz_cli_ci_options *o, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_diff_freep) struct fz_diff *d = NULL;
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)o->color);
	int rc = fz_ci_run_judge(c, &d, err);

	if (!rc && o->output)
		rc = write_folder(c, d, o->output, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < c->result.trouble_n; i++)
		fz_cli_warn("ci: %s", c->result.troubles[i]);
	for (uint32_t i = 0; i < c->result.note_n; i++)
		fz_cli_note("%s", c->result.notes[i]);
	fz_ci_text(&c->result, &style, &text);
	fz_cli_print(fz_buf_view(&text));
	tell_github(c);
	return 0;
}
