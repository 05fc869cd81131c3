/* SPDX-License-Identifier: MIT */
/* Converts stacks of several lines to folded text; see unfolded.h. */
#include "unfolded.h"

#include "collapsed.h"

enum { FRAMES_MAX = 1 << 14, TEXT_MAX = 8 << 20 };

void fz_unfolded_reset(struct fz_unfolded *u)
{
	fz_buf_reset(&u->text);
	fz_buf_reset(&u->root);
	u->count = 0;
}

void fz_unfolded_add(struct fz_unfolded *u, struct fz_str name, bool kernel)
{
	if (u->count == FRAMES_MAX || name.n > TEXT_MAX - u->text.n)
		return;
	fz_push(u->frames, u->count, u->cap,
		(struct fz_unfolded_frame){ u->text.n, name.n, kernel });
	fz_buf_add(&u->text, name.p, name.n);
}

/* Adds a name, escaped if it starts with "#", which would make the line a comment. */
static void add_name(struct fz_buf *line, struct fz_str name, bool kernel)
{
	if (!line->n && fz_str_starts(name, "#")) {
		fz_buf_str(line, "\\x23");
		name = (struct fz_str){ name.p + 1, name.n - 1 };
		if (!name.n)
			return;
	} else if (line->n) {
		fz_buf_char(line, ';');
	}
	fz_collapsed_add_name(line, name, kernel ? FZ_KIND_KERNEL : FZ_KIND_UNKNOWN);
}

struct fz_str fz_unfolded_line(struct fz_unfolded *u, struct fz_str number)
{
	fz_buf_reset(&u->line);
	if (u->root.n)
		add_name(&u->line, fz_buf_view(&u->root), false);
	else if (!u->count)
		add_name(&u->line, FZ_STR("[unknown]"), false);
	for (size_t i = u->count; i-- > 0;) {
		const struct fz_unfolded_frame *f = &u->frames[i];
		add_name(&u->line, (struct fz_str){ u->text.p + f->at, f->n }, f->kernel);
	}
	fz_buf_char(&u->line, ' ');
	fz_buf_add(&u->line, number.p, number.n);
	return fz_buf_view(&u->line);
}

void fz_unfolded_release(struct fz_unfolded *u)
{
	fz_buf_release(&u->text);
	fz_buf_release(&u->root);
	fz_buf_release(&u->line);
	free(u->frames);
}
