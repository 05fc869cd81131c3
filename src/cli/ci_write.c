/* SPDX-License-Identifier: MIT */
/* The reports of `fizeau ci`; see ci.h. */
#include "cli/ci.h"

#include "bench/ci_merge.h"
#include "bench/report.h"
#include "format/format.h"
#include "report/html.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

static struct fz_str keep(struct fz_arena *arena, struct fz_buf *text)
{
	struct fz_str kept = { fz_arena_strndup(arena, text->p ? text->p : "", text->n), text->n };

	fz_buf_reset(text);
	return kept;
}

/* Each metric has a page with its tree. */
char *fz_cli_ci_page_name(const struct fz_ci_result *r, const char *metric)
{
	return strcmp(metric, r->metrics.list[0]) == 0 ? fz_strdup("report.html")
						       : fz_asprintf("report-%s.html", metric);
}

/* metric: that of the page. */
static struct fz_html_benchmark describe(const struct fz_ci_result *r, const struct fz_ci_bench *b,
					 const char *metric, struct fz_arena *arena)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	fz_auto(fz_free_ptr) char *page = fz_cli_ci_page_name(r, b->metric);
	bool here = strcmp(b->metric, metric) == 0;
	struct fz_html_benchmark h = {
		.name = b->name,
		.metric = b->metric,
		.unit = b->unit,
		.page = here ? NULL : fz_arena_strndup(arena, page, strlen(page)),
		.verdict = fz_ci_verdict_names[b->verdict],
		.word = fz_ci_word(b),
		.fails = b->fails,
		.count = { b->on_side[FZ_BASE] ? b->count[FZ_BASE] : NAN,
			   b->on_side[FZ_HEAD] ? b->count[FZ_HEAD] : NAN },
		.change = b->change,
		.limit = b->limit,
		.file = b->place.file,
		.line = b->place.line,
	};

	fz_ci_place(b, &text);
	h.where = keep(arena, &text);
	fz_ci_clock(b, &text);
	h.clock = keep(arena, &text);
	fz_ci_note_of(b, &text);
	h.note = keep(arena, &text);
	return h;
}

/* The caller frees the list; all texts are in the arena. */
static struct fz_html_gate describe_gate(const struct fz_ci_result *r, const char *metric,
					 struct fz_arena *arena)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_html_benchmark *list = fz_calloc(r->n + 1, sizeof(*list));
	struct fz_html_gate gate = { .status = fz_ci_exit(r), .list = list, .n = r->n };

	fz_ci_headline(r, &text);
	gate.headline = keep(arena, &text);
	fz_ci_why(r, &text);
	gate.why = keep(arena, &text);
	for (uint32_t i = 0; i < r->n; i++)
		list[i] = describe(r, &r->benches[i], metric, arena);
	return gate;
}

int fz_cli_ci_page(struct fz_ci_run *c, const char *metric, struct fz_output *out,
		   struct fz_error *err)
{
	fz_auto(fz_comparison_freep) struct fz_comparison *found = NULL;
	fz_auto(fz_arena_release) struct fz_arena texts = { 0 };
	struct fz_html_options o = FZ_HTML_DEFAULTS;
	int rc = fz_ci_diff(&c->result, c->profile[FZ_BASE], c->profile[FZ_HEAD], metric, &found,
			    err);

	if (rc)
		return rc;
	struct fz_html_gate gate = describe_gate(&c->result, metric, &texts);
	o.judgement = found->judgement;
	o.gate = &gate;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		o.labels[s] = c->labels[s];
	rc = fz_report_html_diff(found->diff, &o, out, err);
	free((void *)gate.list);
	return rc;
}

static int write_page(struct fz_ci_run *c, const char *metric, const char *folder,
		      struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *name = fz_cli_ci_page_name(&c->result, metric);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, name);
	struct fz_output *out;
	int rc = fz_output_open(path, &out, err);

	if (rc)
		return rc;
	rc = fz_cli_ci_page(c, metric, out, err);
	if (rc)
		fz_output_abort(out);
	else
		rc = fz_output_close(out, err);
	return rc;
}

static int write_recordings(const struct fz_ci_run *c, const char *folder, struct fz_error *err)
{
	int rc = 0;

	for (enum fz_side s = 0; s < FZ_SIDES && !rc; s++) {
		fz_auto(fz_free_ptr) char *path =
			fz_asprintf("%s/%s", folder, fz_ci_recording_names[s]);
		if (c->profile[s])
			rc = fz_format_save(c->profile[s], &fz_format_fz, path, err);
	}
	return rc;
}

static int write_folder(struct fz_ci_run *c, const char *folder, struct fz_error *err)
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
	for (uint32_t i = 0; i < c->result.metrics.n && !rc; i++)
		rc = write_page(c, c->result.metrics.list[i], folder, err);
	return rc ? rc : write_recordings(c, folder, err);
}

/* In GitHub Actions, write the summary of the job, and print annotations. */
static void write_for_github(const struct fz_ci_run *c)
{
	const char *summary = getenv("GITHUB_STEP_SUMMARY"), *runs = getenv("GITHUB_ACTIONS");
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (summary && *summary) {
		fz_ci_markdown(&c->result, &text);
		fz_auto(fz_close_fd) int fd =
			open(summary, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || !fz_write_full(fd, text.p, text.n))
			fz_cli_warn("ci: %s: cannot write the summary: %s", summary,
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
	struct fz_style style = fz_style_of(STDOUT_FILENO, (enum fz_color_when)o->color);
	int rc = o->output ? write_folder(c, o->output, err) : 0;

	if (rc)
		return rc;
	for (uint32_t i = 0; i < c->result.trouble_n; i++)
		fz_cli_warn("ci: %s", c->result.troubles[i]);
	for (uint32_t i = 0; i < c->result.note_n; i++)
		fz_cli_note("%s", c->result.notes[i]);
	fz_ci_text(&c->result, &style, &text);
	fz_cli_print(fz_buf_view(&text));
	write_for_github(c);
	return 0;
}
