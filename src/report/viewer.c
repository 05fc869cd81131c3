/* SPDX-License-Identifier: MIT */
/* Fills the placeholders of a viewer; see viewer.h. */
#include "report/viewer.h"

void fz_viewer_fill(const char *html, void (*fill)(void *arg, struct fz_str name), void *arg,
		    struct fz_output *out)
{
	static const char open[] = "<!--fz:", close[] = "-->";
	const char *at = html;

	for (;;) {
		const char *mark = strstr(at, open);
		if (!mark)
			break;
		fz_output_add(out, at, (size_t)(mark - at));
		const char *name = mark + strlen(open);
		const char *end = strstr(name, close);
		fz_assert(end);
		fill(arg, (struct fz_str){ name, (size_t)(end - name) });
		at = end + strlen(close);
	}
	fz_output_str(out, at);
}
