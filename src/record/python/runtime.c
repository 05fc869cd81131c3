/* SPDX-License-Identifier: MIT */
/* The interpreter's state is one variable, _PyRuntime, in the executable or in libpython.
 *
 * A candidate is a mapping of the start of such a file. Its symbols are looked up in memory first,
 * which needs no file and so works for deleted files and other roots; then in the file; then the
 * memory is searched for the table of offsets that 3.13 and later contain. A finding is valid only
 * if the interpreter and thread that it leads to point back at each other, because a program may
 * map the same file twice.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/procstat.h"
#include "runtime.h"
#include "symbol/elf.h"

enum {
	LIST_MAX = 4096, /* interpreters followed before giving up */
	SCAN_CHUNK = 1 << 20,
	LIBRARY_MIN = 1 << 20, /* no interpreter is smaller */
	SCAN_MAX = 256 << 20,  /* bytes of writable memory of a candidate to search */
	FILE_MAX = 1 << 30,
};

FZ_PRINTF(3, 4)
static void report(const struct fz_py_steps *steps, const char *what, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!steps || !steps->fn)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	steps->fn(steps->arg, what, text);
}

static bool read_memory(void *arg, uint64_t at, void *out, size_t n)
{
	return fz_process_read(arg, at, out, n);
}

/* ---- files ---- */

struct file_view {
	const uint8_t *p;
	size_t n;
};

static bool read_view(void *arg, uint64_t at, void *out, size_t n)
{
	const struct file_view *v = arg;

	if (at > v->n || n > v->n - at)
		return false;
	memcpy(out, v->p + at, n);
	return true;
}

/* Map a file, and close it. */
static bool map_file(int file, struct file_view *ret)
{
	fz_auto(fz_close_fd) int fd = file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > FILE_MAX)
		return false;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	*ret = (struct file_view){ p, (size_t)st.st_size };
	return true;
}

/* ---- candidates ---- */

struct candidate {
	const struct fz_mapping *first; /* mapping of the file's start */
	const struct fz_mapping *end;   /* after the last mapping that belongs to it */
	bool is_named;
};

/* What was found in a candidate; addresses are 0 if unknown. */
struct finding {
	uint64_t runtime, version_at, none;
	int refused; /* error code if we cannot read this program, else 0 */
};

static bool base_has(const struct fz_mapping *m, const char *part)
{
	struct fz_str base = fz_path_base(fz_str_of(m->path));

	return memmem(base.p, base.n, part, strlen(part)) != NULL;
}

/* Index after the mappings from i on that belong to the same file, including the anonymous one
 * (.bss) after them. */
static size_t candidate_end(const struct fz_mappings *maps, size_t i)
{
	size_t end = i + 1;

	while (end < maps->n && (maps->list[end].inode == maps->list[i].inode ||
				 (maps->list[end].path[0] == '\0' &&
				  maps->list[end].start == maps->list[end - 1].end)))
		end++;
	return end;
}

static struct finding find_in_memory(struct fz_process *p, const struct candidate *c,
				     struct fz_error *err)
{
	struct fz_elf_source source = { read_memory, p };
	struct fz_elf_symbol symbols[] = { { "_PyRuntime" },
					   { "Py_Version" },
					   { "_Py_NoneStruct" } };
	struct finding f = { 0 };
	int rc = fz_elf_find_mapped(&source, c->first->start, symbols, FZ_ARRAY_LEN(symbols), err);

	if (rc == FZ_EUNSUPPORTED)
		f.refused = rc;
	f.runtime = symbols[0].address;
	f.version_at = symbols[1].address;
	f.none = symbols[2].address;
	return f;
}

static struct finding find_in_file(struct fz_process *p, const struct candidate *c)
{
	struct file_view view;
	struct fz_elf_symbol symbols[] = { { "_PyRuntime" },
					   { "Py_Version" },
					   { "_Py_NoneStruct" } };
	struct fz_elf_section section = { ".PyRuntime" };
	struct finding f = { 0 };

	if (!map_file(fz_process_open_mapped(p, c->first), &view))
		return f;
	struct fz_elf_source source = { read_view, &view };
	fz_elf_find_file(&source, c->first->start, symbols, FZ_ARRAY_LEN(symbols), &section, 1,
			 NULL);
	munmap((void *)view.p, view.n);
	f.runtime = symbols[0].address ? symbols[0].address : section.address;
	f.version_at = symbols[1].address;
	f.none = symbols[2].address;
	return f;
}

/* Search a candidate's writable memory for the cookie of _Py_DebugOffsets; 0 if not found. */
static uint64_t scan_for_cookie(struct fz_process *p, const struct candidate *c)
{
	fz_auto(fz_free_ptr) uint8_t *chunk = fz_malloc(SCAN_CHUNK);
	uint64_t budget = SCAN_MAX;

	for (const struct fz_mapping *m = c->first; m < c->end; m++) {
		if (!m->writable || !m->readable)
			continue;
		for (uint64_t at = m->start; at < m->end && budget; at += SCAN_CHUNK) {
			size_t n = (size_t)FZ_MIN(m->end - at, (uint64_t)SCAN_CHUNK);
			budget -= FZ_MIN(budget, n);
			if (!fz_process_read(p, at, chunk, n))
				break;
			for (size_t i = 0; i + 8 <= n; i += 8)
				if (memcmp(chunk + i, FZ_PY_COOKIE, 8) == 0)
					return at + i;
		}
	}
	return 0;
}

/* Address of None in the program itself: one linked to a fixed address has its own copy of a
 * library's variables, and the loader makes the library use that. */
static uint64_t none_of_program(struct fz_process *p, const struct fz_mappings *maps,
				const char *exe)
{
	struct fz_elf_source source = { read_memory, p };
	struct fz_elf_symbol none = { "_Py_NoneStruct" };

	for (size_t i = 0; i < maps->n && !none.address; i++) {
		const struct fz_mapping *m = &maps->list[i];
		if (m->offset == 0 && m->readable && strcmp(m->path, exe) == 0)
			fz_elf_find_mapped(&source, m->start, &none, 1, NULL);
	}
	return none.address;
}

/* ---- checking findings ---- */

/* Does the runtime lead to an interpreter whose threads point back at it? The newest interpreter
 * comes first; from 3.13 on an idle one has no thread. */
static bool runtime_is_alive(struct fz_process *p, uint64_t runtime, const struct fz_py_layout *l)
{
	uint64_t interp, thread, back;

	if (!fz_process_read_u64(p, runtime + l->runtime.interpreters_head, &interp))
		return false;
	for (int i = 0; interp && i < LIST_MAX; i++) {
		if (!fz_process_read_u64(p, interp + l->interp.threads_head, &thread))
			return false;
		if (thread)
			return fz_process_read_u64(p, thread + l->thread.interp, &back) &&
			       back == interp;
		if (!fz_process_read_u64(p, interp + l->interp.next, &interp))
			return false;
	}
	return false;
}

/* "libpython3.8.so.1.0", "python3.9": the minor version, or 0. */
static unsigned minor_of_name(const char *path)
{
	struct fz_str base = fz_path_base(fz_str_of(path));
	const char *p = memmem(base.p, base.n, "python3.", 8);

	return p ? (unsigned)strtoul(p + 8, NULL, 10) : 0;
}

/* The newest layout before 3.13 that fits the runtime, or NULL. */
static const struct fz_py_layout *guess_layout(struct fz_process *p, uint64_t runtime)
{
	for (unsigned minor = 12; minor >= FZ_PY_MINOR_MIN; minor--) {
		const struct fz_py_layout *l = fz_py_layout_static(minor);
		if (runtime_is_alive(p, runtime, l))
			return l;
	}
	return NULL;
}

/* "3.9.18 (main, ..." or "3.10.0rc1 (...": the start of sys.version. */
static bool parse_version(const char *text, uint8_t version[3])
{
	char *end;
	unsigned long minor = strtoul(text + 2, &end, 10);

	if (end == text + 2 || *end != '.' || !isdigit((unsigned char)end[1]) || minor > 255)
		return false;
	unsigned long patch = strtoul(end + 1, &end, 10);
	end += strspn(end, "abrc0123456789+");
	if (patch > 255 || strncmp(end, " (", 2) != 0)
		return false;
	memcpy(version, (uint8_t[3]){ 3, (uint8_t)minor, (uint8_t)patch }, 3);
	return true;
}

/* Get the version from sys.version, which is in a buffer in .bss. */
static bool version_from_text(struct fz_process *p, const struct candidate *c, uint8_t version[3])
{
	enum { TEXT_MAX = 32 };
	fz_auto(fz_free_ptr) char *chunk = fz_malloc(SCAN_CHUNK + 1);
	uint64_t budget = SCAN_MAX;

	for (const struct fz_mapping *m = c->first; m < c->end; m++) {
		if (!m->writable || !m->readable)
			continue;
		for (uint64_t at = m->start; at < m->end && budget; at += SCAN_CHUNK - TEXT_MAX) {
			size_t n = (size_t)FZ_MIN(m->end - at, (uint64_t)SCAN_CHUNK);
			budget -= FZ_MIN(budget, n);
			if (!fz_process_read(p, at, chunk, n))
				break;
			chunk[n] = '\0';
			for (const char *t = chunk; (t = memmem(t, chunk + n - t, "\0003.", 3));
			     t++)
				if (parse_version(t + 1, version))
					return true;
		}
	}
	return false;
}

static int too_old(unsigned major, unsigned minor, struct fz_error *err)
{
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "Python %u.%u is not supported; supported versions are 3.%d to 3.%d", major,
		       minor, FZ_PY_MINOR_MIN, FZ_PY_MINOR_MAX);
}

/* Determine version and layout of the runtime that was found. */
static int identify(struct fz_process *p, const struct candidate *c, const struct finding *f,
		    struct fz_py_runtime *ret, struct fz_error *err)
{
	uint64_t table[FZ_PY_DEBUG_OFFSETS_MAX / 8];
	uint32_t version = 0;
	const struct fz_py_layout *l = NULL;

	ret->address = f->runtime;
	ret->none = f->none;
	if (!fz_process_read(p, f->runtime, table, sizeof(table)))
		return fz_process_trouble(p, errno, err);
	if (memcmp(table, FZ_PY_COOKIE, 8) == 0) {
		version = (uint32_t)table[1];
		memcpy(ret->version,
		       (uint8_t[3]){ version >> 24, version >> 16 & 255, version >> 8 & 255 }, 3);
		return fz_py_layout_parse(table, sizeof(table), false, &ret->layout, err);
	}
	if (f->version_at && fz_process_read(p, f->version_at, &version, sizeof(version)) &&
	    version >> 24 == 3) {
		memcpy(ret->version,
		       (uint8_t[3]){ version >> 24, version >> 16 & 255, version >> 8 & 255 }, 3);
		l = fz_py_layout_static(version >> 16 & 255);
		if (!l)
			return too_old(version >> 24, version >> 16 & 255, err);
	} else {
		bool known = version_from_text(p, c, ret->version);
		unsigned minor = known ? ret->version[1] : minor_of_name(c->first->path);
		if (minor && minor < FZ_PY_MINOR_MIN)
			return too_old(3, minor, err);
		l = minor ? fz_py_layout_static(minor) : guess_layout(p, f->runtime);
		if (!l)
			return fz_fail(err, FZ_EAGAIN, "the interpreter has not started yet");
		if (!known)
			memcpy(ret->version, (uint8_t[3]){ 3, l->minor, 0 }, 3);
	}
	ret->layout = *l;
	return 0;
}

/* ---- the search ---- */

struct search {
	struct fz_process *process;
	const struct fz_py_steps *steps;
	struct fz_mappings maps;
	char exe[4096];
};

/* Use the runtime found in a candidate. FZ_EAGAIN: unusable, or not yet. */
static int take_finding(struct search *s, const struct candidate *c, struct finding *f,
			const char *how, struct fz_py_runtime *ret, struct fz_error *err)
{
	uint64_t copied = none_of_program(s->process, &s->maps, s->exe);

	if (copied)
		f->none = copied;
	report(s->steps, c->first->path, "_PyRuntime at %#llx, %s", (unsigned long long)f->runtime,
	       how);
	int rc = identify(s->process, c, f, ret, err);
	if (rc < 0)
		return rc;
	report(s->steps, "version", "%u.%u.%u%s", ret->version[0], ret->version[1], ret->version[2],
	       ret->layout.free_threaded ? ", free-threaded" : "");
	if (!runtime_is_alive(s->process, f->runtime, &ret->layout)) {
		report(s->steps, "interpreter", "not started, or this copy is not in use");
		return fz_fail(err, FZ_EAGAIN, "the interpreter in %s has not started yet",
			       c->first->path);
	}
	return 0;
}

/* Try one candidate; a file not named like an interpreter must have the symbol in memory. FZ_EAGAIN
 * as above. */
static int try_candidate(struct search *s, const struct candidate *c, struct fz_py_runtime *ret,
			 struct fz_error *err)
{
	struct finding f = find_in_memory(s->process, c, err);
	const char *how = "found in memory through the dynamic symbols";

	if (f.refused && c->is_named)
		return fz_error_prefix(err, "%s", c->first->path);
	if (!f.runtime && c->is_named) {
		f = find_in_file(s->process, c);
		how = "found in the file's symbols or sections";
	}
	if (!f.runtime && c->is_named) {
		f.runtime = scan_for_cookie(s->process, c);
		how = "found by its cookie";
	}
	if (f.runtime)
		return take_finding(s, c, &f, how, ret, err);
	if (c->is_named)
		report(s->steps, c->first->path, "no _PyRuntime");
	return fz_fail(err, FZ_EAGAIN, "no Python interpreter in %s", c->first->path);
}

/* The next mapped file that is named like an interpreter, or else the next of another name that is
 * large enough for one: a library that was renamed or, on NFS, removed has any name. */
static bool next_candidate(const struct search *s, bool named, size_t *at, struct candidate *ret)
{
	for (; *at < s->maps.n; (*at)++) {
		const struct fz_mapping *m = &s->maps.list[*at];
		bool is_named = strcmp(m->path, s->exe) == 0 || base_has(m, "libpython") ||
				base_has(m, "python3.");
		if (m->path[0] != '/' || m->offset != 0 || !m->readable || is_named != named)
			continue;
		*ret = (struct candidate){ m, s->maps.list + candidate_end(&s->maps, *at), named };
		if (!named && ret->end[-1].end - m->start < LIBRARY_MIN)
			continue;
		(*at)++;
		return true;
	}
	return false;
}

static int refuse_pypy(const struct search *s, struct fz_error *err)
{
	for (size_t i = 0; i < s->maps.n; i++) {
		const struct fz_mapping *m = &s->maps.list[i];
		if (m->offset == 0 && m->path[0] == '/' &&
		    (base_has(m, "libpypy") ||
		     (strcmp(m->path, s->exe) == 0 && base_has(m, "pypy"))))
			return fz_fail(err, FZ_EUNSUPPORTED,
				       "it runs PyPy, which is not supported; only CPython is");
	}
	return 0;
}

/* Try all candidates of a kind. *first becomes the most definite error. */
static bool try_all(struct search *s, bool named, struct fz_py_runtime *ret, struct fz_error *first)
{
	struct candidate c;
	size_t at = 0;

	while (next_candidate(s, named, &at, &c)) {
		struct fz_error this = { 0 };
		int rc = try_candidate(s, &c, ret, &this);
		if (rc == 0) {
			ret->module = fz_strdup(c.first->path);
			return true;
		}
		if (first->code == 0 || (first->code == FZ_EAGAIN && rc != FZ_EAGAIN))
			*first = this;
	}
	return false;
}

static int search(struct search *s, struct fz_py_runtime *ret, struct fz_error *err)
{
	struct fz_error first = { 0 };
	int rc = refuse_pypy(s, err);

	if (rc < 0)
		return rc;
	if (try_all(s, true, ret, &first) ||
	    (first.code == FZ_EAGAIN && try_all(s, false, ret, &first)))
		return 0;
	if (first.code == 0)
		return fz_fail(err, FZ_EAGAIN, "no Python interpreter is loaded in it");
	if (err)
		*err = first;
	return first.code;
}

int fz_py_runtime_find(struct fz_process *process, const struct fz_py_steps *steps,
		       struct fz_py_runtime *ret, struct fz_error *err)
{
	struct search s = { .process = process, .steps = steps };
	struct fz_py_runtime found = { 0 };
	struct fz_error local = { 0 };
	char probe;

	err = err ? err : &local;
	int rc = fz_process_maps(process, &s.maps, err);
	if (rc < 0)
		return rc;
	if (s.maps.n == 0) {
		struct fz_procstat now;

		fz_mappings_release(&s.maps);
		/* An exiting process loses its memory some time before it is gone. */
		if (fz_procstat_read(process->pid, 0, &now) && now.is_kernel)
			return fz_fail(err, FZ_EUNSUPPORTED, "process %d is a kernel thread",
				       (int)process->pid);
		return fz_fail(err, FZ_EGONE, "process %d has ended", (int)process->pid);
	}
	if (!fz_process_link(process, "exe", s.exe, sizeof(s.exe)))
		s.exe[0] = '\0';
	if (fz_str_ends(fz_str_of(s.exe), " (deleted)"))
		s.exe[strlen(s.exe) - strlen(" (deleted)")] = '\0';
	report(steps, "program", "%s", s.exe);
	/* Reading the first byte shows whether we are permitted to. */
	if (!fz_process_read(process, s.maps.list[0].start, &probe, 1) && errno != EFAULT) {
		rc = fz_process_trouble(process, errno, err);
		report(steps, "memory", "%s", err->message);
	} else {
		report(steps, "memory", "readable");
		rc = search(&s, &found, err);
		if (rc == FZ_EAGAIN && !fz_process_alive(process))
			rc = fz_fail(err, FZ_EGONE, "it has ended");
		if (rc < 0)
			fz_error_prefix(err, "process %d", (int)process->pid);
	}
	fz_mappings_release(&s.maps);
	if (rc == 0)
		*ret = found;
	return rc;
}

/* Address of a section of at least `size` bytes in the mapped file; 0 if there is none. */
static uint64_t section_of(struct fz_process *p, const struct fz_mapping *m, const char *name,
			   size_t size)
{
	struct file_view view;
	struct fz_elf_section section = { .name = name };

	if (!map_file(fz_process_open_mapped(p, m), &view))
		return 0;
	struct fz_elf_source source = { read_view, &view };
	fz_elf_find_file(&source, m->start, NULL, 0, &section, 1, NULL);
	munmap((void *)view.p, view.n);
	return section.size >= size ? section.address : 0;
}

bool fz_py_runtime_section(struct fz_process *process, const struct fz_py_runtime *r,
			   const char *base, const char *section, size_t size, uint64_t *ret)
{
	struct fz_mappings maps = { 0 };
	uint64_t found = 0;

	if (fz_process_maps(process, &maps, NULL) < 0)
		return false;
	for (size_t i = 0; i < maps.n && !found; i++) {
		const struct fz_mapping *m = &maps.list[i];
		if (m->path[0] == '/' && m->offset == 0 &&
		    (base_has(m, base) || strcmp(m->path, r->module) == 0))
			found = section_of(process, m, section, size);
	}
	fz_mappings_release(&maps);
	*ret = found;
	return found != 0;
}

void fz_py_runtime_release(struct fz_py_runtime *r)
{
	free(r->module);
	r->module = NULL;
}
