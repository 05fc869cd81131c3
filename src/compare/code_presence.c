/* SPDX-License-Identifier: MIT */
/* Whether the other side has a function: in the same file, in another one, or in a file of its tree
 * without samples.
 *
 *   base  main.py:  class Meta: def new()      head  build.py:  class Meta: def new()
 *         main.py no longer defines it in the head: it moved, and has no samples in the base
 */
#include "compare/code.h"
#include "compare/link_internal.h"

#include "base/io.h"

#include <unistd.h>

/* ---- files of a tree ---- */

enum { FILE_BYTES_MAX = 4 << 20, FILES_MAX = 2000 };

/* Name of a file relative to a tree; "" if it is elsewhere. */
static struct fz_str below(struct fz_str file, const char *tree)
{
	size_t n = strlen(tree);

	if (file.n && file.p[0] != '/' && fz_str_ends(file, ".py"))
		return file;
	while (n > 1 && tree[n - 1] == '/')
		n--;
	if (file.n <= n + 1 || memcmp(file.p, tree, n) != 0 || file.p[n] != '/')
		return FZ_STR("");
	return (struct fz_str){ file.p + n + 1, file.n - n - 1 };
}

static uint32_t add_file(struct fz_code *c, enum fz_side side, struct fz_str key, char *text,
			 size_t n)
{
	uint32_t source = c->file_count[side];

	fz_grow(c->files[side], c->file_count[side], c->file_cap[side]);
	fz_map_put(&c->by_key[side], fz_hash_bytes(key.p, key.n), source);
	c->files[side][c->file_count[side]++] =
		(struct fz_code_file){ .text = { text, n }, .key = key, .own = text };
	return source;
}

/* Reads a file that a recording lacks; FZ_NONE if the tree lacks it, too. */
static uint32_t read_file(struct fz_code *c, enum fz_side side, struct fz_str key, const char *path)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_error ignored;

	if (access(path, F_OK) != 0)
		fz_map_put(&c->absent[side], fz_hash_bytes(key.p, key.n), 0);
	if (access(path, R_OK) != 0 || fz_input_open(path, &in, &ignored) ||
	    fz_input_read_all(in, &text, FILE_BYTES_MAX, &ignored) ||
	    (text.n && memchr(text.p, '\0', text.n)))
		return FZ_NONE;
	size_t n = text.n;
	return add_file(c, side, key, fz_buf_take(&text), n);
}

static bool has_source(struct fz_code *c, enum fz_side side, struct fz_str key, const char *tree,
		       struct fz_str name)
{
	if (fz_map_get(&c->by_key[side], fz_hash_bytes(key.p, key.n)) != FZ_NONE)
		return fz_code_source_named(c, side, key) != FZ_NONE;
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%.*s", tree, (int)name.n, name.p);
	return read_file(c, side, key, path) != FZ_NONE;
}

/* Reads a file of a side's tree and its counterpart on the other side. */
static void read_pair(struct fz_code *c, enum fz_side side, uint32_t function, struct fz_str name,
		      const char *const trees[FZ_SIDES])
{
	struct fz_str key = c->names[side][function].key;
	uint32_t file = c->profile[side]->functions[function].file;

	if (!key.n || !has_source(c, side, key, trees[side], name))
		return;
	if (fz_code_source(c, side, function) == FZ_NONE)
		fz_map_put(&c->by_file[side], file, fz_code_source_named(c, side, key));
	has_source(c, !side, key, trees[!side], name);
}

/* Recordings of counts contain no sources, so the files of both sides are read. */
void fz_code_read_trees(struct fz_code *c, const char *const trees[FZ_SIDES])
{
	uint32_t files = 0;

	if (!trees[FZ_BASE] || !trees[FZ_HEAD])
		return;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		const struct fz_profile *p = c->profile[s];
		struct fz_map done = { 0 };
		for (uint32_t f = 0; f < p->function_count; f++) {
			uint32_t file = p->functions[f].file;
			struct fz_str name = below(p->strings[file], trees[s]);
			if (!name.n || p->functions[f].kind != FZ_KIND_PYTHON ||
			    fz_map_get(&done, file) != FZ_NONE || files == FILES_MAX)
				continue;
			fz_map_put(&done, file, f);
			read_pair(c, s, f, name, trees);
			files++;
		}
		fz_map_release(&done);
	}
}

/* ---- in the same file ---- */

static bool is_same_text(const struct fz_code *c, enum fz_side side, uint32_t mine, uint32_t other)
{
	return fz_str_eq(c->files[side][mine].text, c->files[!side][other].text);
}

static enum fz_presence presence_in(struct fz_code *c, enum fz_side side, uint32_t function,
				    uint32_t other)
{
	uint32_t mine = fz_code_source(c, side, function);
	bool within;

	if (mine != FZ_NONE && is_same_text(c, side, mine, other))
		return FZ_PRESENCE_YES;
	struct fz_code_place at = fz_code_find(c, side, function, &within);
	if (at.definition == FZ_NONE)
		return FZ_PRESENCE_UNKNOWN;
	const struct fz_definition *d =
		&fz_code_outline(c, side, at.source)->definitions[at.definition];
	uint32_t there = fz_outline_find(fz_code_outline(c, !side, other), d->name);
	if (there == FZ_NONE)
		return FZ_PRESENCE_NO;
	if (!within)
		return FZ_PRESENCE_YES;
	/* The enclosing definition exists. The function certainly exists, too, if its line does, or
	 * if nothing changed. */
	if (fz_code_spot_is_common(fz_code_spot(c, side, function)))
		return FZ_PRESENCE_YES;
	const struct fz_body *a = fz_code_body(c, side, at);
	const struct fz_body *b = fz_code_body(c, !side, (struct fz_code_place){ other, there });
	return a->n == b->n && fz_body_common(a, b) == a->n ? FZ_PRESENCE_YES : FZ_PRESENCE_UNKNOWN;
}

/* The same release of Python has the same standard library. */
static bool is_in_same_library(const struct fz_code *c, enum fz_side side, uint32_t function)
{
	const uint8_t *mine = c->profile[side]->recording.python;

	return c->profile[side]->functions[function].kind == FZ_KIND_PYTHON && mine[0] &&
	       memcmp(mine, c->profile[!side]->recording.python, 3) == 0 &&
	       fz_str_starts(c->names[side][function].file, "lib/python3/");
}

enum fz_presence fz_code_presence(struct fz_code *c, enum fz_side side, uint32_t function)
{
	const struct fz_profile *p = c->profile[side];
	struct fz_str module = p->strings[p->functions[function].module];
	uint32_t other = fz_code_counterpart(c, side, function);

	if (module.n &&
	    fz_map_get(&c->modules[!side], fz_hash_bytes(module.p, module.n)) != FZ_NONE)
		return FZ_PRESENCE_YES; /* the same build of the same shared object */
	if (other != FZ_NONE)
		return presence_in(c, side, function, other);
	if (is_in_same_library(c, side, function))
		return FZ_PRESENCE_YES;
	uint32_t mine = fz_code_source(c, side, function);
	return mine != FZ_NONE && fz_code_imported(c, side, mine) == FZ_PRESENCE_NO
		       ? FZ_PRESENCE_NO
		       : FZ_PRESENCE_UNKNOWN;
}

/* ---- functions that moved ---- */

/* Whether a file's counterpart on the other side defines a name, too. */
static bool is_still_there(struct fz_code *c, enum fz_side side, uint32_t source,
			   struct fz_str name)
{
	uint32_t other = fz_code_source_named(c, !side, c->files[side][source].key);

	return other != FZ_NONE &&
	       fz_outline_find(fz_code_outline(c, !side, other), name) != FZ_NONE;
}

/* Whether the other side has this definition in a file whose counterpart on this side lacks it. */
static enum fz_presence find_lost(struct fz_code *c, enum fz_side side, struct fz_code_place at)
{
	struct fz_str name = fz_code_outline(c, side, at.source)->definitions[at.definition].name;
	enum fz_presence found = FZ_PRESENCE_NO;

	for (uint32_t i = 0; i < c->file_count[!side]; i++) {
		uint32_t there = fz_outline_find(fz_code_outline(c, !side, i), name);
		if (there == FZ_NONE || is_still_there(c, !side, i, name))
			continue;
		const struct fz_body *a = fz_code_body(c, side, at);
		const struct fz_body *b =
			fz_code_body(c, !side, (struct fz_code_place){ i, there });
		if (fz_body_similarity(a, b) >= FZ_LIKE_NAMESAKES)
			return FZ_PRESENCE_YES;
		found = FZ_PRESENCE_UNKNOWN;
	}
	return found;
}

static void index_names(struct fz_code *c, enum fz_side side)
{
	const struct fz_profile *p = c->profile[side];

	c->namesake[side] = fz_calloc(FZ_MAX(p->function_count, 1), sizeof(uint32_t));
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct fz_str name = c->names[side][f].name;
		uint32_t *slot = fz_map_slot(&c->by_name[side], fz_hash_bytes(name.p, name.n));
		c->namesake[side][f] = *slot;
		*slot = f;
	}
}

static bool has_function(const struct fz_code *c, enum fz_side side, struct fz_str name,
			 struct fz_str key)
{
	uint32_t f = fz_map_get(&c->by_name[side], fz_hash_bytes(name.p, name.n));

	for (; f != FZ_NONE; f = c->namesake[side][f])
		if (fz_str_eq(c->names[side][f].name, name) &&
		    fz_str_eq(c->names[side][f].key, key))
			return true;
	return false;
}

/* Whether the other side ran a function of that name in a file or shared object where this side ran
 * none. */
static bool ran_elsewhere(struct fz_code *c, enum fz_side side, uint32_t function)
{
	struct fz_str name = c->names[side][function].name;

	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		if (!c->namesake[s])
			index_names(c, s);
	uint32_t f = fz_map_get(&c->by_name[!side], fz_hash_bytes(name.p, name.n));
	for (; f != FZ_NONE; f = c->namesake[!side][f])
		if (fz_str_eq(c->names[!side][f].name, name) &&
		    !has_function(c, side, name, c->names[!side][f].key))
			return true;
	return false;
}

/* Presence of a function whose module is a package on the other side, or the reverse. The only
 * known files of a package are those with samples. */
static enum fz_presence presence_in_layout(struct fz_code *c, enum fz_side side,
					   struct fz_code_place at, struct fz_str layout)
{
	struct fz_str name = fz_code_outline(c, side, at.source)->definitions[at.definition].name;
	bool is_module = false;

	for (uint32_t i = 0; i < c->file_count[!side]; i++) {
		struct fz_str key = c->files[!side][i].key;
		if (key.n <= layout.n || memcmp(key.p, layout.p, layout.n) != 0 ||
		    (key.p[layout.n] != '/' && key.p[layout.n] != '.'))
			continue;
		if (fz_outline_find(fz_code_outline(c, !side, i), name) != FZ_NONE)
			return FZ_PRESENCE_YES;
		is_module |= key.p[layout.n] == '.';
	}
	return is_module ? FZ_PRESENCE_NO : FZ_PRESENCE_UNKNOWN;
}

enum fz_presence fz_code_presence_anywhere(struct fz_code *c, enum fz_side side, uint32_t function)
{
	enum fz_presence known = fz_code_presence(c, side, function);
	struct fz_str layout = fz_code_other_layout(c, side, c->names[side][function].key);
	bool within;
	struct fz_code_place at = fz_code_find(c, side, function, &within);
	bool is_defined = at.definition != FZ_NONE && at.definition != 0;

	if (known == FZ_PRESENCE_UNKNOWN && layout.n && is_defined && !within)
		known = presence_in_layout(c, side, at, layout);
	if (known == FZ_PRESENCE_NO && is_defined && ran_elsewhere(c, side, function))
		return FZ_PRESENCE_UNKNOWN;
	if (known == FZ_PRESENCE_NO && is_defined)
		known = find_lost(c, side, at);
	if (known == FZ_PRESENCE_YES && within)
		return fz_code_presence(c, side, function) == FZ_PRESENCE_YES ? FZ_PRESENCE_YES
									      : FZ_PRESENCE_UNKNOWN;
	return known;
}
