/* SPDX-License-Identifier: MIT */
/* Describing what counts depend on; see environment.h. */
#include "bench/environment.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "record/count/count.h"
#include "bench/installed.h"

/* Variables that change what most programs do, besides the counter's (fz_counter_variables). */
static const char *const variables[] = { "HOME",
					 "LANG",
					 "LC_ALL",
					 "LD_LIBRARY_PATH",
					 "LD_PRELOAD",
					 "LOGNAME",
					 "NODE_OPTIONS",
					 "PYTHONHOME",
					 "PYTHONOPTIMIZE",
					 "PYTHONMALLOC",
					 "PYTHONTRACEMALLOC",
					 "USER",
					 NULL };

enum { COMMENT_MAX = 4096, SCRIPT_HEAD = 256 };

/* Map a file; NULL if it is missing or empty. */
static void *map_file(const char *path, size_t *ret_n)
{
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return NULL;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*ret_n = (size_t)st.st_size;
	return p == MAP_FAILED ? NULL : p;
}

static void add_hash(struct fz_buf *out, const char *path)
{
	size_t n;
	void *p = map_file(path, &n);

	fz_buf_printf(out, " %016llx\n", p ? (unsigned long long)fz_hash_bytes(p, n) : 0ull);
	if (p)
		munmap(p, n);
}

static void add_libc(struct fz_buf *out)
{
	Dl_info info;

	fz_buf_printf(out, "libc %s", gnu_get_libc_version());
	if (dladdr((void *)(uintptr_t)gnu_get_libc_version, &info) && info.dli_fname)
		add_hash(out, info.dli_fname);
	else
		fz_buf_char(out, '\n');
}

/* ---- the program ---- */

/* The path of the program that a word runs, without resolving links; the caller frees. NULL if
 * there is none. */
static char *find_program(const char *word, const char *folder)
{
	if (!strchr(word, '/'))
		return fz_find_on_path(word);
	return *word == '/' ? fz_strdup(word) : fz_asprintf("%s/%s", folder, word);
}

/* Add the names of the compilers of a program, from its section .comment. */
static void add_compilers(struct fz_buf *out, const char *path)
{
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t names;
	GElf_Shdr header;

	elf_version(EV_CURRENT);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	bool known = elf && elf_getshdrstrndx(elf, &names) == 0;
	for (Elf_Scn *s = NULL; known && (s = elf_nextscn(elf, s));) {
		const char *name =
			gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		Elf_Data *data =
			name && strcmp(name, ".comment") == 0 ? elf_getdata(s, NULL) : NULL;
		size_t n = data && data->d_buf ? FZ_MIN(data->d_size, (size_t)COMMENT_MAX) : 0;
		for (size_t i = 0; i < n; i++) {
			char c = ((const char *)data->d_buf)[i];
			fz_buf_char(out, c >= ' ' && c <= '~' ? c : ';');
		}
	}
	elf_end(elf);
}

/* "python3" for "#!/usr/bin/env python3", "/bin/sh" for "#!/bin/sh"; NULL if it is not a script. */
static char *interpreter_of(const char *path)
{
	char head[SCRIPT_HEAD + 1] = "";
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, head, SCRIPT_HEAD) < 3 || strncmp(head, "#!", 2) != 0)
		return NULL;
	head[strcspn(head, "\n")] = '\0';
	char *rest, *word = strtok_r(head + 2, " \t", &rest);
	if (word && strcmp(fz_path_base(fz_str_of(word)).p, "env") == 0)
		do
			word = strtok_r(NULL, " \t", &rest);
		while (word && *word == '-');
	return word ? fz_strdup(word) : NULL;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static void add_program(struct fz_buf *out, const struct fz_environment *e, const char *word,
			const char *what)
{
	fz_auto(fz_free_ptr) char *called = find_program(word, e->folder);
	fz_auto(fz_free_ptr) char *path = called ? realpath(called, NULL) : NULL;
	fz_auto(fz_free_ptr) char *script = path ? interpreter_of(path) : NULL;

	fz_buf_printf(out, "%s %s", what, path ? fz_path_base(fz_str_of(path)).p : word);
	if (path && is_below(path, e->root)) {
		fz_buf_str(out, " of the checkout ");
		add_compilers(out, path);
		fz_buf_char(out, '\n');
	} else {
		add_hash(out, path ? path : "");
	}
	/* Interpreters that are scripts themselves are not followed. */
	if (script && strcmp(what, "program") == 0)
		add_program(out, e, script, "interpreter");
	else if (path)
		fz_installed_describe(called, path, out);
}

/* ---- all ---- */

/* Add the command's words, with "." for the path of the checkout, which may change. */
static void add_command(struct fz_buf *out, const struct fz_environment *e)
{
	size_t n = strlen(e->root);

	fz_buf_str(out, "command");
	for (size_t i = 0; e->argv[i]; i++) {
		const char *word = e->argv[i], *at;
		fz_buf_char(out, ' ');
		for (; (at = strstr(word, e->root)); word = at + n) {
			fz_buf_add(out, word, (size_t)(at - word));
			fz_buf_char(out, '.');
		}
		fz_buf_str(out, word);
	}
	fz_buf_char(out, '\n');
}

/* Add the lengths of the parts of a path, which influence counts. */
static void add_shape(struct fz_buf *out, const char *path)
{
	fz_buf_str(out, "path");
	for (; *path == '/'; path += strcspn(path, "/"))
		fz_buf_printf(out, " %zu", strcspn(++path, "/"));
	fz_buf_char(out, '\n');
}

static void add_variables(struct fz_buf *out, const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);
		if (value && *value)
			fz_buf_printf(out, "variable %s=%s\n", *names, value);
	}
}

void fz_environment_describe(const struct fz_environment *e, struct fz_buf *out)
{
	struct utsname u = { 0 };

	uname(&u);
	fz_buf_printf(out, "architecture %s\ncounter Valgrind %s, fizeau " FZ_VERSION "\n",
		      u.machine, e->valgrind);
	fz_buf_str(out, "processor " FZ_COUNTER_PROCESSOR "\n");
	fz_buf_printf(out, "caches %s\n", e->cache ? "simulated" : "not simulated");
	fz_buf_printf(out, "memory %s\n",
		      !e->memory ? "not followed"
		      : e->apart ? "followed apart"
				 : "followed");
	fz_buf_printf(out, "interpreter %s\n", e->native ? "apart" : "outlined");
	add_libc(out);
	add_program(out, e, e->argv[0], "program");
	add_command(out, e);
	add_shape(out, e->root);
	fz_buf_printf(out, "folder %s\nsetup %s\n", e->prefix, e->setup ? e->setup : "");
	if (e->imports)
		fz_buf_printf(out, "imports %s\n", e->imports);
	add_variables(out, variables);
	add_variables(out, fz_counter_variables);
}

static struct fz_str take_line(struct fz_str *rest)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct fz_str line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };

	rest->p += line.n + !!end;
	rest->n -= line.n + !!end;
	return line;
}

bool fz_environment_differ(struct fz_str a, struct fz_str b, struct fz_str *ret_a,
			   struct fz_str *ret_b)
{
	while (a.n || b.n) {
		*ret_a = take_line(&a);
		*ret_b = take_line(&b);
		if (!fz_str_eq(*ret_a, *ret_b))
			return true;
	}
	return false;
}
