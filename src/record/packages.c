/* SPDX-License-Identifier: MIT */
/* Versions of packages; see packages.h.
 *
 *   /venv/lib/python3.12/site-packages/yaml/loader.py        executed file
 *   `------------- folder ------------' `top'
 *   FOLDER/PyYAML-6.0.1.dist-info                            its name is not "yaml", but
 *   FOLDER/PyYAML-6.0.1.dist-info/top_level.txt              "yaml" is a line of this
 *
 * In wheels the folder is NAME-VERSION.dist-info, with no "-" in NAME; setuptools' older form is
 * NAME-VERSION[-pyX.Y].egg-info, a folder or a file. Names compare as pip compares them: without
 * case, and with "-", "_" and "." alike.
 */
#include "record/packages.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/map.h"

enum { PLACES_MAX = 4096, TOP_LEVEL_MAX = 1 << 16, FACT_MAX = 1 << 13 };

/* A module or package at the top of an installation folder; pieces of the profile's strings. */
struct place {
	struct fz_str folder, top;
};

struct search {
	struct place *places; /* sorted */
	size_t n;
	char **found; /* "yaml 6.0.1" */
	size_t found_n, found_cap;
};

static bool split_path(struct fz_str path, struct place *ret)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++) {
		size_t n = strlen(folders[i]);
		const char *at = path.n ? memmem(path.p, path.n, folders[i], n) : NULL;
		if (!at)
			continue;
		const char *top = at + n, *end = path.p + path.n;
		const char *slash = memchr(top, '/', (size_t)(end - top));
		ret->folder = (struct fz_str){ path.p, (size_t)(top - 1 - path.p) };
		ret->top = (struct fz_str){ top, (size_t)((slash ? slash : end) - top) };
		if (!slash && fz_str_ends(ret->top, ".py"))
			ret->top.n -= strlen(".py");
		return ret->top.n > 0;
	}
	return false;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return fz_str_cmp(x->folder, y->folder) ?: fz_str_cmp(x->top, y->top);
}

static void collect_places(struct search *s, const struct fz_profile *p)
{
	fz_auto(fz_map_release) struct fz_map seen = { 0 };

	s->places = fz_calloc(FZ_MIN(p->function_count, PLACES_MAX) + 1, sizeof(*s->places));
	for (uint32_t i = 0; i < p->function_count && s->n < PLACES_MAX; i++) {
		const struct fz_function *f = &p->functions[i];
		uint32_t *slot = fz_map_slot(&seen, f->file);
		if (f->kind != FZ_KIND_PYTHON || *slot != FZ_NONE)
			continue;
		*slot = 1;
		s->n += split_path(fz_profile_text(p, f->file), &s->places[s->n]);
	}
	if (s->n)
		qsort(s->places, s->n, sizeof(*s->places), compare_places);
}

/* ---- names ---- */

static int folded(char c)
{
	return c == '-' || c == '.' ? '_' : tolower((unsigned char)c);
}

static bool same_name(struct fz_str a, struct fz_str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (folded(a.p[i]) != folded(b.p[i]))
			return false;
	return true;
}

static bool is_among(const struct place *places, size_t n, struct fz_str name)
{
	for (size_t i = 0; i < n; i++)
		if (same_name(places[i].top, name))
			return true;
	return false;
}

/* Does top_level.txt of this metadata name one of the modules? */
static bool lists_one(int folder, const char *metadata, const struct place *places, size_t n)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/top_level.txt", metadata);
	fz_auto(fz_close_fd) int fd =
		openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	struct stat st;
	fz_auto(fz_free_ptr) char *text = fd < 0 ? NULL : fz_read_text(fd, TOP_LEVEL_MAX, &st);
	struct fz_str rest = { text, text ? (size_t)st.st_size : 0 };

	while (rest.n)
		if (is_among(places, n, fz_str_trimmed(fz_str_take_line(&rest))))
			return true;
	return false;
}

bool fz_packages_split(const char *entry, struct fz_str *ret_name, struct fz_str *ret_version)
{
	struct fz_str whole = fz_str_of(entry);
	size_t name = strcspn(entry, "-");

	if (!entry[name] || !(fz_str_ends(whole, ".dist-info") || fz_str_ends(whole, ".egg-info")))
		return false;
	const char *version = entry + name + 1;
	bool wheel = fz_str_ends(whole, ".dist-info");
	size_t end = strlen(version) - strlen(wheel ? ".dist-info" : ".egg-info");
	size_t n = wheel ? end : FZ_MIN(end, strcspn(version, "-"));
	*ret_name = (struct fz_str){ entry, name };
	*ret_version = (struct fz_str){ version, n };
	return name > 0 && n > 0;
}

/* ---- folders ---- */

static void add_found(struct search *s, char *text)
{
	fz_push(s->found, s->found_n, s->found_cap, text);
}

/* Find the versions of places that are all in folder fd; closes fd. */
static void search_folder(struct search *s, int fd, const struct place *places, size_t n)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d))) {
		struct fz_str name, version;
		if (!fz_packages_split(e->d_name, &name, &version))
			continue;
		if (is_among(places, n, name) || lists_one(dirfd(d), e->d_name, places, n))
			add_found(s, fz_asprintf("%.*s %.*s", (int)name.n, name.p, (int)version.n,
						 version.p));
	}
	closedir(d);
}

static void search_all(struct search *s, fz_packages_open *open, void *arg)
{
	for (size_t i = 0, end; i < s->n; i = end) {
		for (end = i + 1; end < s->n; end++)
			if (!fz_str_eq(s->places[i].folder, s->places[end].folder))
				break;
		fz_auto(fz_free_ptr) char *path =
			fz_strndup(s->places[i].folder.p, s->places[i].folder.n);
		int fd = open(arg, path);
		if (fd >= 0)
			search_folder(s, fd, &s->places[i], end - i);
	}
}

/* ---- the fact ---- */

/* Add the packages of an earlier process of the same recording. */
static void add_earlier(struct search *s, struct fz_str fact)
{
	while (fact.n) {
		struct fz_str item = fz_str_take_item(&fact, ", ");
		add_found(s, fz_strndup(item.p, item.n));
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static void set_fact(struct fz_profile *p, struct search *s)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (!s->found_n)
		return;
	qsort(s->found, s->found_n, sizeof(*s->found), compare_texts);
	for (size_t i = 0; i < s->found_n && text.n < FACT_MAX; i++)
		if (i == 0 || strcmp(s->found[i - 1], s->found[i]) != 0)
			fz_buf_printf(&text, "%s%s", text.n ? ", " : "", s->found[i]);
	fz_profile_set_fact(p, "packages", fz_buf_view(&text));
}

void fz_packages_record(struct fz_profile *p, fz_packages_open *open, void *arg)
{
	struct search s = { 0 };

	collect_places(&s, p);
	if (s.n) {
		search_all(&s, open, arg);
		add_earlier(&s, fz_profile_fact(p, "packages"));
		set_fact(p, &s);
	}
	for (size_t i = 0; i < s.found_n; i++)
		free(s.found[i]);
	free(s.found);
	free(s.places);
}
