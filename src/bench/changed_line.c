/* SPDX-License-Identifier: MIT */
/* Finding the changed lines of a function; see changed_line.h.
 *
 *   base                     head
 *   8 def parse(text):       8 def parse(text):
 *   9     out = []           9     out = []
 *  10     out.sort()        10     return out      <- the line after a removed one
 *  11     return out
 *
 * Only the two bodies are aligned, so a function that moved, in its file or to another one, has no
 * other changed lines. The outlines of both texts show where it starts and ends.
 */
#include "bench/changed_line.h"

#include "compare/lines.h"
#include "compare/outline.h"

#include <ctype.h>

/* A function in the text of one side. */
struct body {
	struct fz_outline outline;
	struct fz_line_list file;
	uint32_t definition;      /* in the outline */
	struct fz_line_list body; /* within `file` */
	int32_t first;
};

static void release(struct body *b)
{
	fz_outline_release(&b->outline);
	fz_lines_release(&b->file);
}

/* The definition at a line. Lambdas and comprehensions have none: they are that line alone. */
static bool find_extent(struct body *b, struct fz_str name, int32_t line)
{
	bool module = fz_str_eq(name, FZ_STR("<module>"));
	int32_t last = line;

	b->first = line;
	b->definition = module ? 0 : fz_outline_at(&b->outline, line);
	if (module || !fz_str_ends(name, ">")) {
		if (!module && b->definition == 0)
			return false;
		b->first = b->outline.definitions[b->definition].first_line;
		last = b->outline.definitions[b->definition].last_line;
	}
	last = FZ_MIN(last, (int32_t)b->file.n);
	if (b->first < 1 || b->first > last)
		return false;
	b->body = (struct fz_line_list){ b->file.list + b->first - 1,
					 (uint32_t)(last - b->first) + 1 };
	return true;
}

static bool find_body(const struct fz_diff *d, const struct fz_diff_function *f, enum fz_side s,
		      struct body *b)
{
	const struct fz_profile *p = d->profile[s];
	const struct fz_function *at = &p->functions[f->on_side[s]];
	const struct fz_source_text *t = fz_profile_source(p, at->file);
	struct fz_str text = t ? (struct fz_str){ t->text, t->size } : FZ_STR("");

	fz_outline_init(&b->outline, text);
	fz_lines_init(&b->file, text);
	return t && find_extent(b, fz_profile_text(p, at->name), at->first_line);
}

static bool is_code(struct fz_str line)
{
	line = fz_str_trimmed(line);
	return line.n && *line.p != '#';
}

/* Flags the lines of the head's body that the diff has, and those after removed ones. */
static bool *flag_changed(const struct body bodies[FZ_SIDES])
{
	const struct fz_line_list sides[FZ_SIDES] = { bodies[FZ_BASE].body, bodies[FZ_HEAD].body };
	bool *changed = fz_calloc(sides[FZ_HEAD].n, sizeof(*changed)), removed = false;
	uint32_t n, last = 0;
	fz_auto(fz_free_ptr) struct fz_line_pair *pairs = fz_lines_align(sides, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t base = pairs[i].on_side[FZ_BASE], head = pairs[i].on_side[FZ_HEAD];
		if (head == FZ_NONE) {
			removed = removed || is_code(sides[FZ_BASE].list[base]);
		} else if (is_code(sides[FZ_HEAD].list[head])) {
			changed[head] = removed || base == FZ_NONE;
			removed = false;
			last = head;
		}
	}
	changed[last] = changed[last] || removed;
	return changed;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool has_word(struct fz_str line, struct fz_str word)
{
	const char *end = line.p + line.n, *at = line.p;

	for (; (at = memmem(at, (size_t)(end - at), word.p, word.n)) != NULL; at++)
		if ((at == line.p || !is_name(at[-1])) &&
		    (at + word.n == end || !is_name(at[word.n])))
			return true;
	return false;
}

/* "feed" of "Parser.feed"; "Parser" of "Parser.__init__", which is called under that name. */
static struct fz_str called_as(struct fz_str name)
{
	for (;;) {
		const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
		size_t from = dot ? (size_t)(dot - name.p) + 1 : 0;
		struct fz_str tail = { name.p + from, name.n - from };
		if (!dot || !fz_str_starts(tail, "__"))
			return tail;
		name.n = from - 1;
	}
}

/* Choose a flagged line, below the "def" if possible. A word: only a line with it. */
static int32_t choose_line(const struct body *b, const bool *changed, struct fz_str word)
{
	int32_t def = b->outline.definitions[b->definition].line, found = 0;

	for (uint32_t i = 0; i < b->body.n && found <= def; i++) {
		int32_t line = b->first + (int32_t)i;
		if (changed[i] && (!word.n || has_word(b->body.list[i], word)) &&
		    (!found || line > def) &&
		    (b->definition || fz_outline_at(&b->outline, line) == 0))
			found = line;
	}
	return found;
}

static int32_t find_line(const struct fz_diff *d, const struct fz_diff_function *f,
			 struct fz_str word)
{
	fz_auto(fz_free_ptr) bool *changed = NULL;
	struct body bodies[FZ_SIDES] = { 0 };
	bool is_new = f->on_side[FZ_BASE] == FZ_NONE;
	int32_t line = 0;

	/* What the base had, but did not run, is not in the diff. */
	if (f->kind != FZ_KIND_PYTHON || f->line <= 0 || f->on_side[FZ_HEAD] == FZ_NONE ||
	    (is_new && f->presence == FZ_PRESENCE_YES))
		return 0;
	if ((is_new || find_body(d, f, FZ_BASE, &bodies[FZ_BASE])) &&
	    find_body(d, f, FZ_HEAD, &bodies[FZ_HEAD])) {
		changed = flag_changed(bodies);
		line = choose_line(&bodies[FZ_HEAD], changed, word);
	}
	release(&bodies[FZ_BASE]);
	release(&bodies[FZ_HEAD]);
	return line;
}

int32_t fz_changed_line(const struct fz_diff *d, const struct fz_diff_function *f)
{
	bool is_new = f->on_side[FZ_BASE] == FZ_NONE && f->presence != FZ_PRESENCE_YES;

	return is_new ? FZ_MAX(f->line, 0) : find_line(d, f, FZ_STR(""));
}

int32_t fz_changed_call(const struct fz_diff *d, const struct fz_diff_function *f,
			const struct fz_diff_function *callee)
{
	struct fz_str word = called_as(callee->name);

	return word.n ? find_line(d, f, word) : 0;
}
