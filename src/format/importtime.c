/* SPDX-License-Identifier: MIT */
/* Reads what CPython prints with -X importtime.
 *
 *   import time: self [us] | cumulative | imported package
 *   import time:       235 |        235 |     json.scanner
 *   import time:       310 |        545 |   json.decoder
 *   import time:       402 |        947 | json
 *
 * A module is printed when its import ends, so it follows the modules that it imported, which are
 * two columns further right. Other lines are the program's. -X importtime=2 also prints modules
 * that were imported before, as "cached".
 */
#include "flame_frames.h"
#include "format.h"
#include "import.h"

#include "base/arena.h"

enum { DEPTH_MAX = 1 << 12, COLUMNS = 2 };

static const char prefix[] = "import time:";

struct module {
	struct fz_str name;
	uint64_t self;
	uint32_t depth; /* from 1 */
};

struct reader {
	struct fz_profile *p;
	struct fz_arena names;
	struct module *list; /* as printed */
	uint32_t n, cap;
	struct fz_flame_frames frames;
};

static void release(struct reader *r)
{
	free(r->list);
	free(r->frames.list);
	fz_arena_release(&r->names);
}

/* The depth is at most one more than that of the module that imports it, so it is limited later. */
static bool read_module(struct reader *r, struct fz_str line, struct module *ret)
{
	uint64_t cumulative;

	if (!fz_str_starts(line, prefix))
		return false;
	line.p += strlen(prefix);
	line.n -= strlen(prefix);
	if (!fz_parse_u64(fz_str_trimmed(fz_str_take_item(&line, " |")), UINT32_MAX, &ret->self) ||
	    !fz_parse_u64(fz_str_trimmed(fz_str_take_item(&line, " |")), UINT64_MAX, &cumulative))
		return false;
	struct fz_str name = fz_str_trimmed(line);
	ret->depth = 1 + (uint32_t)FZ_MIN((size_t)(name.p - line.p) / COLUMNS, DEPTH_MAX - 2ul);
	ret->name = (struct fz_str){ fz_arena_strndup(&r->names, name.p, name.n), name.n };
	return name.n > 0;
}

static int read_line(void *arg, struct fz_str line, struct fz_error *err)
{
	struct reader *r = arg;
	struct module m;

	(void)err;
	if (read_module(r, line, &m))
		fz_profile_push(r->p, r->list, r->n, r->cap, m);
	return 0;
}

/* From the last to the first, each module is after the one that imported it. */
static void make_frames(struct reader *r)
{
	uint32_t open[DEPTH_MAX] = { 0 }, depth = 0;

	r->frames.n = r->n + 1;
	r->frames.list = fz_calloc(r->frames.n, sizeof(*r->frames.list));
	for (uint32_t i = 1; i <= r->n; i++) {
		const struct module *m = &r->list[r->n - i];

		depth = FZ_MIN(m->depth, depth + 1);
		open[depth] = i;
		r->frames.list[i] = (struct fz_flame_frame){ .name = m->name,
							     .parent = open[depth - 1],
							     .self = m->self };
	}
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct reader r = { .p = p,
					     .frames = { .factor = 1, .unit = FZ_STR("us") } };
	int code = fz_import_lines(in, p, FZ_IMPORT_LINE_MAX, read_line, &r, err);

	if (!code && p->over_limit)
		code = fz_profile_check(p, err);
	if (code)
		return code;
	make_frames(&r);
	fz_profile_set_fact(p, "samples.made", FZ_STR("of times"));
	return fz_flame_frames_read(&r.frames, in, p, err);
}

static int sniff(const uint8_t *head, size_t n, const char *name)
{
	static const char title[] = "import time: self [us] | cumulative | imported package";

	(void)name;
	return memmem(head, n, title, strlen(title)) ? 90 : 0;
}

const struct fz_format fz_format_importtime = {
	.name = "importtime",
	.title = "import times of Python's -X importtime",
	.suffixes = ".txt",
	.sniff = sniff,
	.read = read,
};
