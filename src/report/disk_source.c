/* SPDX-License-Identifier: MIT */
/* Source from disk; see disk_source.h.
 *
 *   functions -> files named like source, without recorded text -> candidates, read from disk
 *   frames    -> compared with the text -> source of the profile, or a reason to reject it
 *
 * A candidate is rejected for the first reason found.
 */
#include "report/disk_source.h"

#include "base/clock.h"
#include "base/identity.h"
#include "base/io.h"
#include "report/disk_fit.h"

#include <fcntl.h>
#include <limits.h>

enum { NAMED_MAX = 3 }; /* files that are reported by name */

struct candidate {
	uint32_t file; /* string */
	bool newer;
	struct fz_disk_text fit;
	char *text;
	struct fz_buf why; /* why it is not shown; empty: it is shown */
};

struct finder {
	struct fz_profile *p;
	struct fz_source_root *roots;
	uint32_t root_n;
	struct fz_map by_file; /* string -> candidate, or LEFT_OUT */
	struct candidate *list;
	uint32_t n, cap;
	size_t bytes;
};

enum { LEFT_OUT = FZ_NONE - 1 };

/* ---- names ---- */

static bool is_python(struct fz_str name)
{
	return fz_str_ends(name, ".py") || fz_str_ends(name, ".pyw");
}

/* Does the name have a suffix of source files? No other files are opened, so that a crafted profile
 * cannot show other files in a page. */
static bool is_called_like_source(struct fz_str name)
{
	static const char *const suffixes[] = {
		".c",   ".h",     ".cc",  ".cpp",   ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".m",
		".rs",  ".go",    ".js",  ".mjs",   ".cjs", ".ts", ".tsx", ".jsx", ".rb",  ".java",
		".kt",  ".scala", ".cs",  ".swift", ".zig", ".d",  ".nim", ".pyx", ".pxd", ".php",
		".lua", ".jl",    ".erl", ".ex",    ".hs",  ".ml", ".f90", ".s",   ".S",   ".asm",
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(suffixes); i++)
		if (fz_str_ends(name, suffixes[i]))
			return true;
	return is_python(name);
}

/* The part of a name below a root, without the slash; p is NULL if the name is not below it. */
static struct fz_str behind(struct fz_str name, struct fz_str root)
{
	struct fz_str rest = { name.p + root.n, name.n - root.n };

	if (!root.n)
		return name.p[0] == '/' ? (struct fz_str){ 0 } : name;
	if (name.n < root.n || memcmp(name.p, root.p, root.n) != 0)
		return (struct fz_str){ 0 };
	if (rest.n && root.p[root.n - 1] != '/' && rest.p[0] != '/')
		return (struct fz_str){ 0 };
	while (rest.n && rest.p[0] == '/')
		rest = (struct fz_str){ rest.p + 1, rest.n - 1 };
	return rest;
}

/* Path of a file on disk, freed by the caller; NULL: none. The longest matching root wins. */
static char *path_of(struct finder *f, struct fz_str name, bool *ret_mapped)
{
	struct fz_source_root *best = NULL;

	for (uint32_t i = 0; i < f->root_n; i++)
		if (behind(name, f->roots[i].from).p &&
		    (!best || f->roots[i].from.n > best->from.n))
			best = &f->roots[i];
	*ret_mapped = best != NULL;
	if (!best)
		return name.p[0] == '/' && !f->p->stored.has_sources ? fz_strndup(name.p, name.n)
								     : NULL;
	best->used = true;
	struct fz_str rest = behind(name, best->from);
	return rest.n ? fz_asprintf("%.*s/%.*s", (int)best->to.n, best->to.p, (int)rest.n, rest.p)
		      : fz_strndup(best->to.p, best->to.n);
}

/* ---- files ---- */

/* Earliest known start of the program. */
static int64_t began(const struct fz_profile *p)
{
	int64_t ret = p->stored.written_unix_ns - p->recording.duration_ns;

	for (uint32_t i = 0; i < p->run_count; i++)
		if (p->runs[i].start_unix_ns > 0)
			ret = FZ_MIN(ret, p->runs[i].start_unix_ns);
	return ret;
}

/* Open a regular file with the owner's rights. Never opens pipes and devices. -1 on failure. */
static int open_as_owner(const struct fz_stored *stored, const char *path)
{
	struct stat st;
	int fd = -1;

	fz_identity_assume(stored->owner, stored->group);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	fz_identity_drop();
	return fd;
}

static char *read_file(struct finder *f, const char *path, size_t *ret_n, bool *ret_newer)
{
	fz_auto(fz_close_fd) int fd = open_as_owner(&f->p->stored, path);
	struct stat st;

	if (fd < 0)
		return NULL;
	char *text = fz_read_text(
		fd, FZ_MIN((size_t)FZ_SOURCE_MAX_BYTES, FZ_SOURCES_MAX_BYTES - f->bytes), &st);
	if (!text)
		return NULL;
	*ret_n = (size_t)st.st_size;
	/* Also check ctime: package managers preserve mtime. */
	*ret_newer = FZ_MAX(fz_clock_ns(st.st_mtim), fz_clock_ns(st.st_ctim)) > began(f->p);
	return text;
}

static void try_file(struct finder *f, uint32_t file)
{
	struct fz_str name = fz_profile_text(f->p, file);
	bool mapped, newer;
	size_t n;

	if (name.n >= PATH_MAX || memchr(name.p, 0, name.n) || !is_called_like_source(name))
		return;
	fz_auto(fz_free_ptr) char *path = path_of(f, name, &mapped);
	char *text = path ? read_file(f, path, &n, &newer) : NULL;
	if (!text)
		return;
	f->bytes += n;
	fz_map_put(&f->by_file, file, f->n);
	fz_grow(f->list, f->n, f->cap);
	struct candidate *c = &f->list[f->n++];
	*c = (struct candidate){ .file = file, .newer = newer, .text = text };
	fz_disk_text_init(&c->fit, (struct fz_str){ text, n }, is_python(name));
	if (newer && !mapped)
		fz_buf_str(&c->why, "it changed after the recording began; set --source-root "
				    "OLD=NEW to an unchanged tree");
}

/* ---- all of a profile ---- */

static void find_candidates(struct finder *f)
{
	for (uint32_t i = 0; i < f->p->function_count; i++) {
		const struct fz_function *function = &f->p->functions[i];
		uint32_t *slot = fz_map_slot(&f->by_file, function->file);
		if (*slot != FZ_NONE || function->kind == FZ_KIND_MARKER)
			continue;
		*slot = LEFT_OUT;
		if (!fz_profile_source(f->p, function->file))
			try_file(f, function->file);
	}
}

static void compare(struct finder *f)
{
	for (uint32_t i = 0; i < f->p->frame_count; i++) {
		const struct fz_frame *frame = &f->p->frames[i];
		uint32_t at = fz_map_get(&f->by_file, f->p->functions[frame->function].file);
		if (at < LEFT_OUT && !f->list[at].why.n)
			fz_disk_text_fits(&f->list[at].fit, f->p, frame, &f->list[at].why);
	}
}

static void append_reasons(const struct finder *f, struct fz_buf *why)
{
	uint32_t rejected = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		struct fz_str name = fz_profile_text(f->p, f->list[i].file);
		if (f->list[i].why.n && rejected++ < NAMED_MAX)
			fz_buf_printf(why, "the source of %.*s is not shown: %s\n", (int)name.n,
				      name.p, f->list[i].why.p);
	}
	if (rejected > NAMED_MAX)
		fz_buf_printf(why, "nor is the source of %u more files\n", rejected - NAMED_MAX);
}

static void keep(struct finder *f)
{
	uint32_t shown = 0, newer = 0, recorded = f->p->source_count;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct candidate *c = &f->list[i];
		if (c->why.n)
			continue;
		fz_profile_add_source(f->p, c->file, c->fit.text);
		shown++;
		newer += c->newer;
	}
	f->p->disk_source_count += f->p->source_count - recorded;
	if (newer)
		fz_profile_note(
			f->p, "source is from the current files, %u of %u newer than the recording",
			newer, shown);
	else if (shown)
		fz_profile_note(f->p, "source is from the current files");
}

static void release(struct finder *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		fz_disk_text_release(&f->list[i].fit);
		fz_buf_release(&f->list[i].why);
		free(f->list[i].text);
	}
	free(f->list);
	fz_map_release(&f->by_file);
}

void fz_disk_source_add(struct fz_profile *p, struct fz_source_root *roots, uint32_t root_n,
			struct fz_buf *why)
{
	fz_auto(release) struct finder f = { .p = p, .roots = roots, .root_n = root_n };

	if (!p->stored.known && root_n) {
		fz_buf_str(why, "source files are read only for a recording in a file, which has "
				"an owner and an age\n");
		for (uint32_t i = 0; i < root_n; i++)
			roots[i].used = true;
	}
	if (!p->stored.known)
		return;
	find_candidates(&f);
	compare(&f);
	append_reasons(&f, why);
	keep(&f);
}
