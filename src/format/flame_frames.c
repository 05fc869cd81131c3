/* SPDX-License-Identifier: MIT */
/* Frames of a flame graph as folded lines; see flame_frames.h. */
#include "flame_frames.h"

#include "collapsed.h"
#include "format.h"

#include <inttypes.h>

struct folder {
	const struct fz_flame_frames *f;
	struct fz_input *in;
	struct fz_buf line;
	uint32_t *path, next; /* next: frame whose own samples are the next line */
};

static void release(struct folder *r)
{
	fz_buf_release(&r->line);
	free(r->path);
}

static void add_path(struct folder *r, uint32_t frame)
{
	uint32_t depth = 0;

	for (; frame != 0; frame = r->f->list[frame].parent)
		r->path[depth++] = frame;
	if (!depth)
		fz_buf_str(&r->line, "[not drawn]");
	while (depth-- > 0) {
		const struct fz_flame_frame *f = &r->f->list[r->path[depth]];
		fz_collapsed_add_name(&r->line, f->name, FZ_KIND_UNKNOWN);
		fz_buf_str(&r->line, f->suffix ? f->suffix : "");
		fz_buf_str(&r->line, depth ? ";" : "");
	}
}

static int next_line(void *arg, struct fz_str *ret, struct fz_error *err)
{
	struct folder *r = arg;

	while (r->next < r->f->n && !r->f->list[r->next].self)
		r->next++;
	if (r->next == r->f->n)
		return 0;
	uint64_t self = r->f->list[r->next].self;
	fz_buf_reset(&r->line);
	add_path(r, r->next++);
	if (r->f->factor == 1)
		fz_buf_printf(&r->line, " %" PRIu64, self);
	else
		fz_buf_printf(&r->line, " %.6f", (double)self * r->f->factor);
	*ret = fz_buf_view(&r->line);
	return fz_input_charge(r->in, r->line.n) ? 1 : fz_input_check(r->in, err);
}

/* Most tools call any number "samples", so such numbers are interpreted like those of folded text.
 */
static uint8_t stated_unit(struct fz_str name)
{
	return fz_str_eq(name, FZ_STR("samples")) ? 0 : fz_number_unit(name);
}

static uint32_t longest_path(const struct fz_flame_frames *f)
{
	fz_auto(fz_free_ptr) uint32_t *depth = fz_calloc(f->n + 1ul, sizeof(*depth));
	uint32_t longest = 0;

	for (uint32_t i = 1; i < f->n; i++) {
		fz_assert(f->list[i].parent < i);
		depth[i] = depth[f->list[i].parent] + 1;
		longest = FZ_MAX(longest, depth[i]);
	}
	return longest;
}

int fz_flame_frames_read(const struct fz_flame_frames *f, struct fz_input *in, struct fz_profile *p,
			 struct fz_error *err)
{
	fz_auto(release) struct folder r = { .f = f, .in = in };
	const struct fz_collapsed_lines lines = { next_line, &r, fz_input_name(in) };
	uint8_t unit = p->numbers.unit ? 0 : stated_unit(f->unit);

	r.path = fz_calloc(longest_path(f) + 1ul, sizeof(*r.path));
	if (unit)
		p->numbers.unit = unit;
	int code = fz_collapsed_read_lines(&lines, p, err);
	if (unit)
		p->numbers.bare = false;
	return code;
}
