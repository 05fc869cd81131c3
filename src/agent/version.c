/* SPDX-License-Identifier: MIT */
/* Versions of processes; see version.h. Debian packages are queried last and all at once, because a
 * query reads all package lists. */
#include "agent/version.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include "agent/git_version.h"
#include "agent/package.h"
#include "base/clock.h"
#include "base/map.h"
#include "fleet/sides.h"

enum { PACKAGES_MAX = 4096 };

/* A cache of package versions by file and its state. */
struct fz_agent_versions {
	struct fz_map packages; /* file -> version */
	char **list;            /* NULL: in no package */
	size_t n, cap;
};

struct fz_agent_versions *fz_agent_versions_new(void)
{
	return fz_calloc(1, sizeof(struct fz_agent_versions));
}

static void forget(struct fz_agent_versions *v)
{
	while (v->n)
		free(v->list[--v->n]);
	fz_map_clear(&v->packages);
}

void fz_agent_versions_free(struct fz_agent_versions *v)
{
	if (!v)
		return;
	forget(v);
	fz_map_release(&v->packages);
	free(v->list);
	free(v);
}

static void set(struct fz_agent_wanted *w, const char *version)
{
	fz_agent_name(fz_str_of(version), w->version);
}

/* The version from a checkout, without querying a package manager. */

static void by_git(struct fz_agent_checkouts *c, struct fz_agent_wanted *w)
{
	const struct fz_agent_program *p = w->program;
	bool folder = w->rule && w->rule->folder;
	fz_auto(fz_free_ptr) char *where = NULL;

	if (folder) {
		where = fz_strdup(w->rule->folder);
	} else if (!p->elsewhere && !*p->script && *p->module) {
		where = fz_strdup(p->folder);
	} else if (!p->elsewhere) {
		struct fz_str above = fz_path_folder(fz_str_of(fz_agent_program_file(p)));
		where = fz_strndup(above.p, above.n);
	}
	/* A path in another root, or none. */
	if (!where || *where != '/')
		return;
	fz_auto(fz_free_ptr) char *commit = fz_agent_commit_of(c, where, p->start_unix_ns);
	if (commit)
		set(w, commit);
}

/* True if the file has not changed since the process started. */
static bool is_unchanged(const struct fz_agent_program *p, struct stat *ret)
{
	return !p->elsewhere && (*p->script || !p->deleted) &&
	       !stat(fz_agent_program_file(p), ret) &&
	       (!p->start_unix_ns || fz_clock_ns(ret->st_ctim) <= p->start_unix_ns);
}

static void by_python_package(struct fz_agent_wanted *w)
{
	struct stat st;

	if (w->program->elsewhere || (*w->program->script && !is_unchanged(w->program, &st)))
		return;
	fz_auto(fz_free_ptr) char *version = fz_agent_python_package(w->program);
	if (version)
		set(w, version);
}

static void set_by_program(struct fz_agent_checkouts *c, struct fz_agent_wanted *w)
{
	struct utsname kernel;

	if (w->program->met == FZ_MET_KERNEL && !uname(&kernel))
		set(w, kernel.release);
	if (w->program->met != FZ_MET_PROGRAM)
		return;
	if (w->rule && w->rule->version)
		set(w, w->rule->version);
	if (!*w->version)
		by_git(c, w);
	if (!*w->version && w->label)
		set(w, w->label);
	if (!*w->version)
		by_python_package(w);
}

/* ---- Debian packages ---- */

/* True if the file is in a folder of packages. */
static bool may_be_packaged(const char *file)
{
	static const char *const folders[] = { "/usr/", "/bin/", "/sbin/", "/lib", "/opt/" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++)
		if (strncmp(file, folders[i], strlen(folders[i])) == 0)
			return strncmp(file, "/usr/local/", strlen("/usr/local/")) != 0;
	return false;
}

/* The slot of a program's file in `packages`; NULL if it cannot be in a package. */
static uint32_t *slot_of(struct fz_agent_versions *v, const struct fz_agent_wanted *w)
{
	const char *file = fz_agent_program_file(w->program);
	struct stat st;

	if (*w->version || w->program->met != FZ_MET_PROGRAM || !may_be_packaged(file) ||
	    !is_unchanged(w->program, &st))
		return NULL;
	uint64_t key = fz_map_hash(file, strlen(file)) ^ fz_hash64(st.st_ino) ^
		       fz_hash64((uint64_t)fz_clock_ns(st.st_ctim));
	return fz_map_slot(&v->packages, key);
}

static void by_debian_package(struct fz_agent_versions *v, struct fz_agent_wanted *list, size_t n)
{
	const char **files = fz_calloc(FZ_MAX(n, 1), sizeof(*files));
	size_t file_n = 0, first;

	if (v->n > PACKAGES_MAX)
		forget(v);
	first = v->n;
	for (size_t i = 0; i < n; i++) {
		uint32_t *slot = slot_of(v, &list[i]);
		if (!slot || *slot != FZ_NONE)
			continue;
		files[file_n++] = fz_agent_program_file(list[i].program);
		fz_grow(v->list, v->n, v->cap);
		*slot = (uint32_t)v->n++;
	}
	char **versions = fz_agent_debian_packages(files, file_n);
	for (size_t i = 0; i < file_n; i++)
		v->list[first + i] = versions[i];
	free(versions);
	free(files);
	for (size_t i = 0; i < n; i++) {
		uint32_t *slot = slot_of(v, &list[i]);
		/* If the file has changed just now, its version is unknown. */
		if (slot && *slot == FZ_NONE) {
			fz_grow(v->list, v->n, v->cap);
			v->list[v->n] = NULL;
			*slot = (uint32_t)v->n++;
		} else if (slot && v->list[*slot]) {
			set(&list[i], v->list[*slot]);
		}
	}
}

void fz_agent_versions_find(struct fz_agent_versions *v, struct fz_agent_wanted *list, size_t n)
{
	fz_auto(fz_agent_checkouts_release) struct fz_agent_checkouts checkouts = { 0 };
	struct fz_error ignored;

	for (size_t i = 0; i < n; i++) {
		*list[i].version = '\0';
		set_by_program(&checkouts, &list[i]);
	}
	by_debian_package(v, list, n);
	for (size_t i = 0; i < n; i++) {
		if (!*list[i].version)
			set(&list[i], list[i].program->build);
		if (fz_fleet_check_version(list[i].version, &ignored))
			set(&list[i], "unversioned");
	}
}
