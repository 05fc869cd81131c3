/* SPDX-License-Identifier: MIT */
/* Reads the trees and tries that Pyroscope's agents push ("format=tree", "format=trie").
 *
 *   node = length of its name, name, own value, number of children; its children follow
 *
 * with varints, and a root without a name (pkg/storage/tree/serialize.go and
 * pkg/structs/transporttrie of Pyroscope 0.37). In a tree a name is a frame, in a trie a piece of
 * folded text. Both are converted to folded text and read as such. The unit of the numbers is in
 * the HTTP request, not in the file.
 */
#include "format.h"
#include "import.h"

#include "base/str.h"

enum { NAME_MAX_BYTES = 1 << 16, DEPTH_MAX = 1 << 20 };

struct node {
	struct fz_str name;
	uint64_t value, children;
};

static bool read_node(struct fz_cursor *c, struct node *ret)
{
	ret->name.n = fz_cursor_varint32(c, NAME_MAX_BYTES);
	ret->name.p = (const char *)fz_cursor_bytes(c, ret->name.n);
	ret->value = fz_cursor_varint(c);
	ret->children = fz_cursor_varint(c);
	return !c->bad && !memchr(ret->name.n ? ret->name.p : "", '\n', ret->name.n);
}

/* ---- as folded text ---- */

struct level {
	size_t path;   /* bytes of the path so far */
	uint64_t left; /* remaining children */
};

struct writer {
	struct fz_input *in;
	struct fz_buf path, text;
	struct level *levels;
	size_t depth, cap;
	bool trie;
};

static void release(struct writer *w)
{
	fz_buf_release(&w->path);
	fz_buf_release(&w->text);
	free(w->levels);
}

/* Whether the file is a trie: frames of a tree have no semicolon. */
static bool is_trie(struct fz_cursor c)
{
	struct node node;

	while (fz_cursor_left(&c) && read_node(&c, &node))
		if (node.name.n && memchr(node.name.p, ';', node.name.n))
			return true;
	return false;
}

/* Writes a node as folded text; false if the output exceeds its limit. */
static bool write_node(struct writer *w, const struct node *node)
{
	if (!w->trie && w->path.n && node->name.n)
		fz_buf_char(&w->path, ';');
	fz_buf_add(&w->path, node->name.p, node->name.n);
	if (!node->value || !w->path.n)
		return true;
	fz_buf_add(&w->text, w->path.p, w->path.n);
	fz_buf_printf(&w->text, " %llu\n", (unsigned long long)node->value);
	return fz_input_charge(w->in, w->path.n + 24);
}

/* Moves to the next node's parent; false if the tree is complete. */
static bool descend(struct writer *w, uint64_t children)
{
	fz_push(w->levels, w->depth, w->cap, (struct level){ w->path.n, children });
	while (w->depth && !w->levels[w->depth - 1].left)
		w->depth--;
	if (!w->depth)
		return false;
	struct level *above = &w->levels[w->depth - 1];
	above->left--;
	w->path.n = above->path;
	return true;
}

static int write_text(struct writer *w, struct fz_cursor c, struct fz_error *err)
{
	const char *name = fz_input_name(w->in);
	struct node node;

	w->trie = is_trie(c);
	do {
		if (!read_node(&c, &node))
			return fz_fail(err, FZ_EINPUT, "%s: a truncated or damaged Pyroscope tree",
				       name);
		if (w->depth == DEPTH_MAX)
			return fz_fail(err, FZ_ELIMIT, "%s: is more than %d frames deep", name,
				       DEPTH_MAX);
		if (!write_node(w, &node))
			return fz_input_check(w->in, err);
	} while (descend(w, node.children));
	return fz_cursor_left(&c)
		       ? fz_fail(err, FZ_EINPUT, "%s: trailing data after the tree", name)
		       : 0;
}

static int read(struct fz_input *in, struct fz_profile *p, struct fz_error *err)
{
	fz_auto(release) struct writer w = { .in = in };
	fz_auto(fz_buf_release) struct fz_buf raw = { 0 };
	fz_auto(fz_input_closep) struct fz_input *text = NULL;
	int code = fz_input_read_all(in, &raw, FZ_IMPORT_FILE_MAX, err);

	if (!code)
		code = write_text(&w, fz_cursor_of(raw.p, raw.n), err);
	if (!code && !w.text.n)
		code = fz_fail(err, FZ_EINPUT, "%s: a Pyroscope tree without values",
			       fz_input_name(in));
	if (!code)
		code = fz_input_open_memory(w.text.p, w.text.n, fz_input_name(in), &text, err);
	return code ? code : fz_format_collapsed.read(text, p, err);
}

/* Recognizes a root without a name, followed by nodes with printable names. */
static int sniff(const uint8_t *head, size_t n, const char *name)
{
	struct fz_cursor c = fz_cursor_of(head, n);
	struct node node;
	uint64_t open = 1, named = 0;

	(void)name;
	if (n < 8 || head[0] != 0)
		return 0;
	while (open && fz_cursor_left(&c) && read_node(&c, &node)) {
		for (size_t i = 0; i < node.name.n; i++)
			if ((uint8_t)node.name.p[i] < ' ')
				return 0;
		if (node.children > UINT32_MAX)
			return 0;
		open += node.children - 1;
		named += node.name.n > 0;
	}
	/* Checked all of the file, or all of the buffer. */
	bool whole = !open && !fz_cursor_left(&c);
	return named && (whole || (open && c.bad && n >= 4096)) ? 40 : 0;
}

const struct fz_format fz_format_pyroscope = {
	.name = "pyroscope",
	.title = "trees and tries pushed by Pyroscope agents",
	.suffixes = ".tree .trie",
	.notes = "bare numbers: --input-unit states their unit",
	.sniff = sniff,
	.read = read,
};
