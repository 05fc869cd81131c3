/* SPDX-License-Identifier: MIT */
/* Parts of the benchmark pages; see gate.h. */
#include "serve/gate.h"

#include <time.h>

#include "report/markup.h"
#include "report/viewer.h"

enum { DIGITS = 10 };

void fz_gate_page_release(struct fz_gate_page *p)
{
	fz_buf_release(&p->title);
	fz_buf_release(&p->subtitle);
	fz_buf_release(&p->content);
}

struct filling {
	const struct fz_gate_page *page;
	struct fz_output *out;
};

static void fill_mark(void *arg, struct fz_str name)
{
	struct filling *k = arg;
	const struct {
		const char *name;
		struct fz_str text;
	} marks[] = {
		{ "title", fz_buf_view(&k->page->title) },
		{ "subtitle", fz_buf_view(&k->page->subtitle) },
		{ "content", fz_buf_view(&k->page->content) },
		{ "asks", k->page->asks_token ? FZ_STR("token") : FZ_STR("nothing") },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(marks); i++)
		if (fz_str_eq(name, fz_str_of(marks[i].name)) && marks[i].text.n)
			fz_output_add(k->out, marks[i].text.p, marks[i].text.n);
}

void fz_gate_page_write(const struct fz_gate_page *p, struct fz_http_answer *ret)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();

	fz_viewer_fill(fz_gate_html, fill_mark, &(struct filling){ p, out }, out);
	fz_http_page(ret, fz_buf_view(fz_output_buffer(out)));
}

void fz_gate_text(struct fz_buf *out, const char *text)
{
	fz_html_escape(out, fz_str_of(text));
}

void fz_gate_time(struct fz_buf *out, int64_t unix_seconds)
{
	time_t seconds = (time_t)unix_seconds;
	char text[32] = "";
	struct tm t;

	if (gmtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &t);
	fz_buf_str(out, text);
}

void fz_gate_commit(struct fz_buf *out, const char *pages, const char *hash)
{
	if (*pages) {
		fz_buf_str(out, "<a rel=\"noreferrer\" href=\"");
		fz_gate_text(out, pages);
		fz_gate_text(out, hash);
		fz_buf_str(out, "\">");
	}
	fz_buf_printf(out, "<code>%.*s</code>%s", DIGITS, hash, *pages ? "</a>" : "");
}

void fz_gate_address(struct fz_buf *out, const char *path, const char *repository, const char *name,
		     const char *value)
{
	fz_buf_printf(out, "%s?repository=", path);
	fz_buf_uri_part(out, fz_str_of(repository));
	if (!value)
		return;
	fz_buf_printf(out, "&amp;%s=", name);
	fz_buf_uri_part(out, fz_str_of(value));
}
