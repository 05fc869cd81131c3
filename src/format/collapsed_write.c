/* SPDX-License-Identifier: MIT */
/* Writes folded text, on request byte for byte like CPython's --collapsed.
 *
 *   profile frame -> label {file, name, line}   identity of frames in the text
 *   profile stack -> path {parent path, label}  merges columns and opcodes
 *   (thread, path) -> line {count}
 *
 * Lines are ordered by descending count, then by text. CPython distinguishes labels by full file
 * names but prints only the last part, so two of its lines can look the same, and so can ours.
 */
#include "collapsed.h"
#include "metric_fit.h"
#include "format.h"

#include <ctype.h>

struct label {
	size_t at, n; /* in writer.text */
};

struct path {
	uint32_t parent, label;
};

struct line {
	uint32_t thread, path;
	int64_t count;
	struct fz_str text;
};

struct writer {
	const struct fz_profile *p;
	bool names_only;
	struct fz_buf text; /* of all labels, escaped */
	struct label *labels;
	uint32_t label_count, label_cap;
	uint32_t *label_of_frame;
	struct path *paths;
	uint32_t path_count, path_cap;
	uint32_t *path_of_stack;
	struct line *lines;
	uint32_t line_count, line_cap;
	struct fz_arena arena;
};

/* ---- names as text ---- */

static void add_escaped_byte(struct fz_buf *b, uint8_t c)
{
	fz_buf_printf(b, "\\x%02x", c);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of an escape that this file writes, or -1: other text such as "\x64" may be a folder in
 * a Windows path. */
static int escaped_byte(const char *p, size_t n)
{
	if (n < 4 || p[0] != '\\' || p[1] != 'x' || hex_digit(p[2]) < 0 || hex_digit(p[3]) < 0)
		return -1;
	int c = hex_digit(p[2]) << 4 | hex_digit(p[3]);
	return c < 0x20 || (c < 0x80 && strchr(";:\\# \x7f", c)) || c == 0xef || c >= 0xfe ? c : -1;
}

static bool is_empty_name(const char *p, size_t n)
{
	return n == 2 && p[0] == '\\' && p[1] == 'x';
}

static void add_escaped(struct fz_buf *b, struct fz_str s, char also)
{
	bool all = is_empty_name(s.p, s.n);

	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];
		bool escape = c < 0x20 || c == 0x7f || c == ';' || c == also ||
			      (c == '\\' && (all || escaped_byte(s.p + i, s.n - i) >= 0));
		if (escape)
			add_escaped_byte(b, c);
		else
			fz_buf_char(b, (char)c);
	}
}

size_t fz_collapsed_unescape(char *text, size_t n)
{
	size_t w = 0;

	if (is_empty_name(text, n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int c = escaped_byte(text + i, n - i);
		text[w++] = c >= 0 ? (char)c : text[i];
		i += c >= 0 ? 3 : 0;
	}
	return w;
}

/* Like Python's os.path.basename. */
static struct fz_str base_name(struct fz_str path)
{
	struct fz_str folder = fz_path_folder(path);
	size_t skip = folder.p == path.p ? folder.n : 0;

	return (struct fz_str){ path.p + skip, path.n - skip };
}

void fz_collapsed_add_name(struct fz_buf *b, struct fz_str name, uint8_t kind)
{
	if (name.n)
		add_escaped(b, name, ';');
	else
		fz_buf_str(b, "\\x");
	if (kind == FZ_KIND_KERNEL)
		fz_buf_str(b, "_[k]");
}

/* Whether to write the name alone: markers and functions without file and line, like Tachyon's "~"
 * frames. */
static bool is_bare(const struct writer *w, const struct fz_function *f, int32_t line)
{
	struct fz_str file = fz_profile_text(w->p, f->file);

	return w->names_only || f->kind == FZ_KIND_MARKER || f->kind == FZ_KIND_TASK ||
	       (file.n == 0 && f->module == 0) || (fz_str_eq(file, FZ_STR("~")) && line <= 0);
}

static struct label add_label(struct writer *w, const struct fz_function *f, int32_t line)
{
	struct label label = { .at = w->text.n };
	struct fz_str name = fz_profile_text(w->p, f->name);

	if (is_bare(w, f, line)) {
		fz_collapsed_add_name(&w->text, name, f->kind);
	} else {
		struct fz_str file = f->file ? fz_profile_text(w->p, f->file)
					     : fz_module_file(fz_profile_text(w->p, f->module));
		add_escaped(&w->text, base_name(file), ':');
		fz_buf_char(&w->text, ':');
		add_escaped(&w->text, name, ';');
		fz_buf_printf(&w->text, ":%d", FZ_MAX(line, 0));
	}
	label.n = w->text.n - label.at;
	return label;
}

/* ---- the three tables ---- */

static void make_labels(struct writer *w)
{
	const struct fz_profile *p = w->p;
	struct fz_map files = { 0 }, names = { 0 }, labels = { 0 };

	w->label_of_frame = fz_calloc(p->frame_count, sizeof(*w->label_of_frame));
	for (uint32_t i = 0; i < p->frame_count; i++) {
		const struct fz_function *f = &p->functions[p->frames[i].function];
		int32_t line = w->names_only ? 0 : FZ_MAX(p->frames[i].line, 0);
		uint64_t place = w->names_only ? f->kind == FZ_KIND_KERNEL
					       : FZ_KEY(f->file ? f->file : f->module, f->kind);
		uint32_t *slot = fz_map_slot(&files, place);
		if (*slot == FZ_NONE)
			*slot = (uint32_t)files.len;
		uint32_t file = *slot;
		slot = fz_map_slot(&names, FZ_KEY(file, f->name));
		if (*slot == FZ_NONE)
			*slot = (uint32_t)names.len;
		slot = fz_map_slot(&labels, FZ_KEY(*slot, line));
		if (*slot == FZ_NONE) {
			*slot = w->label_count;
			fz_push(w->labels, w->label_count, w->label_cap, add_label(w, f, line));
		}
		w->label_of_frame[i] = *slot;
	}
	fz_map_release(&files);
	fz_map_release(&names);
	fz_map_release(&labels);
}

static void make_paths(struct writer *w)
{
	const struct fz_profile *p = w->p;
	struct fz_map map = { 0 };

	w->path_of_stack = fz_calloc(p->stack_count, sizeof(*w->path_of_stack));
	for (uint32_t i = 0; i < p->stack_count; i++) {
		const struct fz_stack *s = &p->stacks[i];
		uint32_t parent = s->parent == FZ_NONE ? FZ_NONE : w->path_of_stack[s->parent];
		uint32_t label = w->label_of_frame[s->frame];
		uint32_t *slot = fz_map_slot(&map, FZ_KEY(parent + 1, label));
		if (*slot == FZ_NONE) {
			*slot = w->path_count;
			fz_push(w->paths, w->path_count, w->path_cap,
				(struct path){ parent, label });
		}
		w->path_of_stack[i] = *slot;
	}
	fz_map_release(&map);
}

/* Merges threads with the same text, since the text has no processes. */
static uint32_t *merge_threads(const struct writer *w)
{
	const struct fz_profile *p = w->p;
	uint32_t *first = fz_calloc(p->thread_count, sizeof(*first));
	struct fz_map map = { 0 };

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct fz_thread *t = &p->threads[i];
		uint32_t *slot = fz_map_slot(&map, w->names_only ? 0 : fz_hash64(t->tid));
		if (*slot == FZ_NONE)
			*slot = i;
		first[i] = *slot;
	}
	fz_map_release(&map);
	return first;
}

/* Our samples are at worst late, except that the engine in the kernel takes one for each wait,
 * however long that was. */
static bool is_taken_on_time(const struct fz_profile *p)
{
	return fz_profile_is_ours(p) && !fz_str_eq(fz_profile_fact(p, "engine"), FZ_STR("bpf"));
}

/* Whether to write numbers of samples: only if these are proportional to their times, apart from
 * lateness, as with Python's samplers. Otherwise, and if the user chose a metric, its values are
 * written. */
static bool counts_samples(const struct fz_profile *p)
{
	if (p->metric_chosen || strcmp(p->metrics[p->default_metric].unit, "ns") != 0 ||
	    (!p->samples.timed && p->recording.interval_ns <= 0))
		return false;
	return is_taken_on_time(p) || fz_fit_is_even(p);
}

/* Writes the unit of numbers that are not samples, in a comment like Austin's. Other tools would
 * fail on it, so it is optional. */
static void write_unit(const struct fz_profile *p, struct fz_output *out)
{
	const struct fz_metric *m = &p->metrics[p->default_metric];
	bool plain = fz_fit_counts_samples(p) || strcmp(m->name, "units") == 0;

	if (p->metric_line && !plain && !counts_samples(p))
		fz_output_printf(out, "# metric: %s %s\n", m->name, m->unit);
}

static void new_line(struct writer *w, uint32_t thread, uint32_t path)
{
	fz_push(w->lines, w->line_count, w->line_cap,
		(struct line){ .thread = thread, .path = path });
}

/* The line of each (thread, path). Usually a table of all pairs is small enough. */
struct line_index {
	uint32_t *table; /* [thread * paths + path]: line + 1; NULL: use the map */
	size_t paths;
	struct fz_map map;
};

enum { TABLE_MAX = 1 << 22 };

static struct line *find_line(struct writer *w, struct line_index *x, uint32_t thread,
			      uint32_t path)
{
	if (x->table) {
		uint32_t *slot = &x->table[thread * x->paths + path];
		if (!*slot) {
			new_line(w, thread, path);
			*slot = w->line_count;
		}
		return &w->lines[*slot - 1];
	}
	uint32_t *slot = fz_map_slot(&x->map, FZ_KEY(thread, path));
	if (*slot == FZ_NONE) {
		*slot = w->line_count;
		new_line(w, thread, path);
	}
	return &w->lines[*slot];
}

static void count_lines(struct writer *w)
{
	const struct fz_samples *s = &w->p->samples;
	fz_auto(fz_free_ptr) uint32_t *thread_of = merge_threads(w);
	bool samples = counts_samples(w->p);
	struct line_index x = { .paths = w->path_count };
	size_t pairs;

	if (!__builtin_mul_overflow((size_t)w->p->thread_count, x.paths, &pairs) &&
	    pairs <= TABLE_MAX)
		x.table = fz_calloc(pairs, sizeof(*x.table));
	for (size_t row = 0; row < s->n; row++) {
		if (s->stack[row] == FZ_NONE)
			continue;
		struct line *l = find_line(w, &x, thread_of[s->thread[row]],
					   w->path_of_stack[s->stack[row]]);
		l->count += samples ? fz_sample_count_in(w->p, w->p->default_metric, row)
				    : fz_sample_weight(w->p, w->p->default_metric, row);
	}
	free(x.table);
	fz_map_release(&x.map);
}

/* ---- lines ---- */

/* Escapes the end of a leaf that could be mistaken for a part of the count: a space, or a space and
 * a number. */
static void protect_end(struct fz_buf *b, size_t leaf_at)
{
	size_t i = b->n;

	while (i > leaf_at && (isdigit((unsigned char)b->p[i - 1]) || b->p[i - 1] == '.'))
		i--;
	if (i == leaf_at || b->p[i - 1] != ' ')
		return;
	fz_auto(fz_free_ptr) char *tail = fz_strndup(b->p + i, b->n - i);
	b->n = i - 1;
	fz_buf_str(b, "\\x20");
	fz_buf_str(b, tail);
}

/* Adds the first label, escaped if it looks like the start of a comment or a byte order mark. */
static void add_first(struct fz_buf *b, struct fz_str label)
{
	uint8_t c = label.n ? (uint8_t)label.p[0] : 0;

	if (c == '#' || c == 0xef || c == 0xfe || c == 0xff) {
		add_escaped_byte(b, c);
		label.p++;
		label.n--;
	}
	fz_buf_add(b, label.p, label.n);
}

static void add_path(const struct writer *w, uint32_t path, struct fz_buf *b)
{
	fz_auto(fz_free_ptr) uint32_t *up = NULL;
	size_t n = 0, cap = 0, leaf_at = b->n;

	for (; path != FZ_NONE; path = w->paths[path].parent) {
		fz_push(up, n, cap, w->paths[path].label);
	}
	while (n-- > 0) {
		const struct label *l = &w->labels[up[n]];
		struct fz_str text = { fz_buf_view(&w->text).p + l->at, l->n };
		if (b->n)
			fz_buf_char(b, ';');
		leaf_at = b->n;
		if (b->n)
			fz_buf_add(b, text.p, text.n);
		else
			add_first(b, text);
	}
	protect_end(b, leaf_at);
}

static void render_lines(struct writer *w)
{
	fz_auto(fz_buf_release) struct fz_buf b = { 0 };

	for (uint32_t i = 0; i < w->line_count; i++) {
		struct line *l = &w->lines[i];
		const struct fz_thread *t = &w->p->threads[l->thread];
		fz_buf_reset(&b);
		if (!w->names_only && (t->tid || t->pid))
			fz_buf_printf(&b, "tid:%llu", (unsigned long long)t->tid);
		add_path(w, l->path, &b);
		l->text.p = fz_arena_strndup(&w->arena, b.p, b.n);
		l->text.n = b.n;
	}
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return FZ_CMP(b->count, a->count) ?: fz_str_cmp(a->text, b->text);
}

static void release(struct writer *w)
{
	fz_buf_release(&w->text);
	free(w->labels);
	free(w->label_of_frame);
	free(w->paths);
	free(w->path_of_stack);
	free(w->lines);
	fz_arena_release(&w->arena);
}

static int write(const struct fz_profile *p, struct fz_output *out, bool names_only)
{
	fz_auto(release) struct writer w = { .p = p, .names_only = names_only };

	make_labels(&w);
	make_paths(&w);
	count_lines(&w);
	render_lines(&w);
	if (w.line_count)
		qsort(w.lines, w.line_count, sizeof(*w.lines), compare_lines);
	write_unit(p, out);
	for (uint32_t i = 0; i < w.line_count; i++) {
		if (w.lines[i].count <= 0)
			continue;
		fz_output_add(out, w.lines[i].text.p, w.lines[i].text.n);
		fz_output_printf(out, " %lld\n", (long long)w.lines[i].count);
	}
	return 0;
}

int fz_collapsed_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	(void)err;
	return write(p, out, false);
}

int fz_folded_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err)
{
	(void)err;
	return write(p, out, true);
}
