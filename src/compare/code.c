/* SPDX-License-Identifier: MIT */
/* Finds sources by function and by canonical file, and their definitions.
 *
 *   function --file--> source --first line and name--> definition --words--> body
 *       `--canonical file--> source of the other side --qualified name--> definition
 *
 * Files are parsed on demand. Two files with the same canonical name (recordings with base names
 * only) cannot be distinguished, so neither is matched with the other side's file.
 */
#include "compare/code.h"

enum { AMBIGUOUS = FZ_NONE - 1 };

static void index_sources(struct fz_code *c, enum fz_side side)
{
	const struct fz_profile *p = c->profile[side];

	c->file_count[side] = c->file_cap[side] = fz_profile_recorded_sources(p);
	c->files[side] = fz_calloc(FZ_MAX(c->file_count[side], 1), sizeof(*c->files[side]));
	for (uint32_t i = 0; i < c->file_count[side]; i++) {
		fz_map_put(&c->by_file[side], p->sources[i].file, i);
		c->files[side][i].text = (struct fz_str){ p->sources[i].text, p->sources[i].size };
	}
	for (uint32_t f = 0; f < p->function_count; f++) {
		struct fz_str key = c->names[side][f].key,
			      module = p->strings[p->functions[f].module];
		uint32_t source = fz_code_source(c, side, f);

		if (fz_module_file(module).n < module.n)
			fz_map_put(&c->modules[side], fz_hash_bytes(module.p, module.n), f);
		if (source == FZ_NONE || !key.n)
			continue;
		uint32_t *slot = fz_map_slot(&c->by_key[side], fz_hash_bytes(key.p, key.n));
		*slot = *slot == FZ_NONE || *slot == source ? source : AMBIGUOUS;
		c->files[side][source].key = key;
	}
}

struct fz_code *fz_code_new(const struct fz_profile *const profile[FZ_SIDES],
			    struct fz_name *const names[FZ_SIDES])
{
	struct fz_code *c = fz_calloc(1, sizeof(*c));

	c->names = names;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		c->profile[s] = profile[s];
		index_sources(c, s);
	}
	return c;
}

static void release_file(struct fz_code_file *f)
{
	for (uint32_t i = 0; f->bodies && i < f->outline.n; i++)
		fz_body_release(&f->bodies[i]);
	free(f->bodies);
	fz_outline_release(&f->outline);
	free(f->own);
}

static void release_texts(struct fz_code *c)
{
	for (uint32_t i = 0; i < c->text_count; i++)
		for (enum fz_side s = 0; s < FZ_SIDES; s++)
			free(c->texts[i].spots[s]);
	free(c->texts);
	fz_map_release(&c->by_text);
}

void fz_code_freep(struct fz_code **code)
{
	struct fz_code *c = *code;

	if (!c)
		return;
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		for (uint32_t i = 0; i < c->file_count[s]; i++)
			release_file(&c->files[s][i]);
		free(c->files[s]);
		free(c->namesake[s]);
		fz_map_release(&c->absent[s]);
		fz_map_release(&c->folders[s]);
		fz_map_release(&c->modules_of[s]);
		fz_map_release(&c->own_modules[s]);
		fz_map_release(&c->by_name[s]);
		fz_map_release(&c->by_file[s]);
		fz_map_release(&c->by_key[s]);
		fz_map_release(&c->modules[s]);
		fz_imports_release(&c->imports[s]);
	}
	release_texts(c);
	free(c);
}

const struct fz_outline *fz_code_outline(struct fz_code *c, enum fz_side side, uint32_t source)
{
	fz_assert(source < c->file_count[side]);
	struct fz_code_file *f = &c->files[side][source];

	if (!f->outline.n)
		fz_outline_init(&f->outline, f->text);
	return &f->outline;
}

const struct fz_body *fz_code_body(struct fz_code *c, enum fz_side side, struct fz_code_place at)
{
	struct fz_code_file *f = &c->files[side][at.source];
	const struct fz_outline *o = fz_code_outline(c, side, at.source);

	fz_assert(at.definition < o->n);
	if (!f->bodies)
		f->bodies = fz_calloc(o->n, sizeof(*f->bodies));
	if (!f->bodies[at.definition].runs)
		fz_body_init(&f->bodies[at.definition], o, at.definition);
	return &f->bodies[at.definition];
}

uint32_t fz_code_source(const struct fz_code *c, enum fz_side side, uint32_t function)
{
	const struct fz_function *f = &c->profile[side]->functions[function];

	return f->kind == FZ_KIND_PYTHON ? fz_map_get(&c->by_file[side], f->file) : FZ_NONE;
}

uint32_t fz_code_source_named(const struct fz_code *c, enum fz_side side, struct fz_str key)
{
	uint32_t at = FZ_NONE;

	if (key.n)
		at = fz_map_get(&c->by_key[side], fz_hash_bytes(key.p, key.n));
	return at == AMBIGUOUS ? FZ_NONE : at;
}

uint32_t fz_code_counterpart(const struct fz_code *c, enum fz_side side, uint32_t function)
{
	if (c->profile[side]->functions[function].kind != FZ_KIND_PYTHON)
		return FZ_NONE;
	return fz_code_source_named(c, !side, c->names[side][function].key);
}

/* ---- imports ---- */

enum { BY_ANY = 1, BY_COMMON = 2 }; /* importers: any source, or one that both sides have */

static void read_imports(struct fz_code *c)
{
	if (c->has_imports)
		return;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		for (uint32_t i = 0; i < c->file_count[s]; i++) {
			struct fz_str key = c->files[s][i].key;
			bool common = fz_code_source_named(c, !s, key) != FZ_NONE;
			fz_imports_add(&c->imports[s], key, c->files[s][i].text,
				       common ? BY_ANY | BY_COMMON : BY_ANY);
		}
	c->has_imports = true;
}

/* Collects folders ("pkg" for pkg/core.py, and all above it) and modules ("pkg/core"). The
 * canonical lib/python3/ of the standard library is not a package named lib. */
static void read_folders(struct fz_code *c, enum fz_side side)
{
	for (uint32_t f = 0; f < c->profile[side]->function_count; f++) {
		struct fz_str key = c->names[side][f].key;
		if (c->profile[side]->functions[f].kind != FZ_KIND_PYTHON)
			continue;
		size_t first = fz_str_starts(key, "lib/python3/") ? strlen("lib/python3/") : 1;
		for (size_t i = first; i < key.n; i++)
			if (key.p[i] == '/')
				fz_map_put(&c->folders[side], fz_hash_bytes(key.p, i), f);
		if (fz_str_ends(key, ".py"))
			fz_map_put(&c->modules_of[side],
				   fz_hash_bytes(key.p, key.n - strlen(".py")), f);
	}
}

static bool has_folder(const struct fz_code *c, enum fz_side side, struct fz_str folder)
{
	return fz_map_get(&c->folders[side], fz_hash_bytes(folder.p, folder.n)) != FZ_NONE;
}

/* Whether `folder`.py is a file of a side and there is no such folder. */
static bool is_module(const struct fz_code *c, enum fz_side side, struct fz_str folder)
{
	return !has_folder(c, side, folder) &&
	       fz_map_get(&c->modules_of[side], fz_hash_bytes(folder.p, folder.n)) != FZ_NONE;
}

/* Name by which a module is imported from its folder: "core" for pkg/core.py, "pkg" for
 * pkg/__init__.py. */
static struct fz_str module_name(struct fz_str key)
{
	return fz_path_base(fz_imports_module(key));
}

/* Collects the names of modules whose path only this side has. */
static void read_own_modules(struct fz_code *c, enum fz_side side)
{
	for (uint32_t f = 0; f < c->profile[side]->function_count; f++) {
		struct fz_str key = c->names[side][f].key, name = module_name(key);

		if (c->profile[side]->functions[f].kind != FZ_KIND_PYTHON ||
		    !fz_str_ends(key, ".py"))
			continue;
		key.n -= strlen(".py");
		if (fz_map_get(&c->modules_of[!side], fz_hash_bytes(key.p, key.n)) == FZ_NONE)
			fz_map_put(&c->own_modules[side], fz_hash_bytes(name.p, name.n), f);
	}
}

static void read_modules(struct fz_code *c)
{
	if (c->has_folders)
		return;
	c->has_folders = true;
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		read_folders(c, s);
	for (enum fz_side s = 0; s < FZ_SIDES; s++)
		read_own_modules(c, s);
}

/* Whether the other side has a module of this name at a path that this side lacks. */
static bool has_other_path(struct fz_code *c, enum fz_side side, struct fz_str key)
{
	struct fz_str name = module_name(key);

	read_modules(c);
	return fz_map_get(&c->own_modules[!side], fz_hash_bytes(name.p, name.n)) != FZ_NONE;
}

struct fz_str fz_code_other_layout(struct fz_code *c, enum fz_side side, struct fz_str key)
{
	read_modules(c);
	if (fz_str_ends(key, ".py")) {
		struct fz_str module = { key.p, key.n - strlen(".py") };
		if (has_folder(c, !side, module) && !has_folder(c, side, module))
			return module;
	}
	for (size_t i = key.n; i-- > 1;)
		if (key.p[i] == '/' && is_module(c, !side, (struct fz_str){ key.p, i }))
			return (struct fz_str){ key.p, i };
	return FZ_STR("");
}

/* Whether the tree of a side was read and lacks a file. */
static bool is_absent(const struct fz_code *c, enum fz_side side, struct fz_str key)
{
	return fz_map_get(&c->absent[side], fz_hash_bytes(key.p, key.n)) != FZ_NONE;
}

/* "site-packages/m" for a file of an installed package, else "". */
static struct fz_str installed_package(struct fz_str key)
{
	struct fz_str site = FZ_STR("site-packages/"), module = fz_imports_module(key);

	if (!fz_str_starts(module, site.p))
		return FZ_STR("");
	const char *slash = memchr(module.p + site.n, '/', module.n - site.n);
	return slash ? (struct fz_str){ module.p, (size_t)(slash - module.p) } : module;
}

static bool has_package(const struct fz_code *c, enum fz_side side, struct fz_str package)
{
	return has_folder(c, side, package) ||
	       fz_map_get(&c->modules_of[side], fz_hash_bytes(package.p, package.n)) != FZ_NONE;
}

/* Whether `outer` is in a copy, within another package, of the package that has `key`, which both
 * sides have. */
static bool is_in_copy(const struct fz_code *c, struct fz_str outer, struct fz_str key)
{
	struct fz_str package = installed_package(key), other = installed_package(outer);
	struct fz_str rest = { outer.p + other.n, outer.n - other.n };
	fz_auto(fz_free_ptr) char *folder = NULL;

	if (!package.n || !other.n || fz_str_eq(package, other))
		return false;
	struct fz_str name = fz_path_base(package);
	folder = fz_asprintf("/%.*s/", (int)name.n, name.p);
	return memmem(rest.p, rest.n, folder, name.n + 2) && has_package(c, FZ_BASE, package) &&
	       has_package(c, FZ_HEAD, package);
}

bool fz_code_is_copy(struct fz_code *c, struct fz_str base, struct fz_str head)
{
	read_modules(c);
	return is_in_copy(c, base, head) || is_in_copy(c, head, base);
}

static bool is_in_package(struct fz_str file, struct fz_str package)
{
	return fz_str_shared(file, package) == package.n &&
	       fz_path_base(file).n + 1 + package.n == file.n;
}

/* Whether the other side has half of the definitions of a package's __init__.py in a file of the
 * package that this side lacks. An import of the package is then no evidence of them. */
static bool has_left_init(struct fz_code *c, enum fz_side side, uint32_t source)
{
	struct fz_str key = c->files[side][source].key;
	const struct fz_outline *mine = fz_code_outline(c, side, source);

	for (uint32_t i = 0; i < c->file_count[!side]; i++) {
		struct fz_str file = c->files[!side][i].key;
		uint32_t same = 0;
		if (!is_in_package(file, fz_imports_module(key)) ||
		    fz_code_source_named(c, side, file) != FZ_NONE)
			continue;
		const struct fz_outline *other = fz_code_outline(c, !side, i);
		for (uint32_t k = 1; k < mine->n; k++)
			same += fz_outline_find(other, mine->definitions[k].name) != FZ_NONE;
		if (same && 2 * same >= mine->n - 1)
			return true;
	}
	return false;
}

enum fz_presence fz_code_imported(struct fz_code *c, enum fz_side side, uint32_t source)
{
	struct fz_str key = c->files[side][source].key;

	if (!key.n || !c->file_count[!side])
		return FZ_PRESENCE_UNKNOWN;
	if (is_absent(c, !side, key))
		return FZ_PRESENCE_NO;
	/* "import m" does not import m.py if m is a package on that side, nor v1/m.py if that side
	 * has v2/m.py. */
	if (fz_code_other_layout(c, side, key).n || has_other_path(c, side, key))
		return FZ_PRESENCE_UNKNOWN;
	if (fz_str_ends(key, "/__init__.py") && has_left_init(c, side, source))
		return FZ_PRESENCE_UNKNOWN;
	read_imports(c);
	if (fz_imports_find(&c->imports[!side], key))
		return FZ_PRESENCE_YES;
	return fz_imports_find(&c->imports[side], key) & BY_COMMON ? FZ_PRESENCE_NO
								   : FZ_PRESENCE_UNKNOWN;
}

struct fz_code_place fz_code_find(struct fz_code *c, enum fz_side side, uint32_t function,
				  bool *ret_within)
{
	const struct fz_profile *p = c->profile[side];
	const struct fz_function *f = &p->functions[function];
	struct fz_str name = p->strings[f->name], tail = fz_outline_tail(name);
	uint32_t source = fz_code_source(c, side, function), at;

	*ret_within = false;
	if (source == FZ_NONE)
		return (struct fz_code_place){ FZ_NONE, FZ_NONE };
	const struct fz_outline *o = fz_code_outline(c, side, source);
	if (fz_str_eq(name, FZ_STR("<module>"))) {
		at = 0;
	} else if (tail.n && tail.p[0] == '<') {
		*ret_within = true;
		at = f->first_line > 0 ? fz_outline_at(o, f->first_line) : FZ_NONE;
	} else {
		at = f->first_line > 0 ? fz_outline_find_at(o, tail, f->first_line)
				       : fz_outline_find(o, name);
	}
	return (struct fz_code_place){ at == FZ_NONE ? FZ_NONE : source, at };
}
