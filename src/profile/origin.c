/* SPDX-License-Identifier: MIT */
/* Maps paths to origins; see origin.h. Each language has its library and its packages below folders
 * with known names; the first matching rule decides.
 *
 *   /srv/app/.venv/lib/python3.13/site-packages/rich/text.py    LIBRARY
 *   /usr/lib/python3.13/json/decoder.py, <frozen os>            STDLIB
 *   /usr/lib/x86_64-linux-gnu/libc.so.6                         OTHER
 *   /srv/app/main.py, app/main.py                               OWN
 */
#include "profile/origin.h"

#include "base/str.h"
#include "profile/heap_fact.h"

static const struct {
	const char *part;
	enum fz_origin origin;
	bool at_start; /* match only there */
} rules[] = {
	{ "/site-packages/", FZ_ORIGIN_LIBRARY },
	{ "/dist-packages/", FZ_ORIGIN_LIBRARY },
	{ "site-packages/", FZ_ORIGIN_LIBRARY, true },
	{ "dist-packages/", FZ_ORIGIN_LIBRARY, true },
	{ "/node_modules/", FZ_ORIGIN_LIBRARY },
	{ "node_modules/", FZ_ORIGIN_LIBRARY, true },
	{ "/.cargo/registry/", FZ_ORIGIN_LIBRARY },
	{ "/go/pkg/mod/", FZ_ORIGIN_LIBRARY },
	{ "/rustc/", FZ_ORIGIN_STDLIB, true },
	{ "/lib/rustlib/src/", FZ_ORIGIN_STDLIB },
	{ "/go/src/runtime/", FZ_ORIGIN_STDLIB },
	{ "/usr/local/go/src/", FZ_ORIGIN_STDLIB, true },
	{ "/usr/lib/go", FZ_ORIGIN_STDLIB, true },
	{ "<frozen ", FZ_ORIGIN_STDLIB, true },
	{ "node:", FZ_ORIGIN_STDLIB, true },
	{ "<", FZ_ORIGIN_OTHER, true },
	{ "[", FZ_ORIGIN_OTHER, true },
	{ "~", FZ_ORIGIN_OTHER, true },
};

/* System folders: files there are the program's own only if below its own folder. */
static const char *const system_folders[] = { "/usr/", "/lib/", "/lib64/", "/opt/", "/bin/" };

/* ".../lib/python3.13/json/decoder.py", "lib/python3/json/decoder.py" */
static bool in_python_library(struct fz_str path)
{
	static const char *const folders[] = { "lib/python", "lib64/python" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(folders); i++) {
		size_t n = strlen(folders[i]);
		const char *at = memmem(path.p, path.n, folders[i], n);
		if (!at || (at > path.p && at[-1] != '/'))
			continue;
		const char *end = path.p + path.n, *c = at + n;
		if (c < end && *c >= '0' && *c <= '9' && memchr(c, '/', (size_t)(end - c)))
			return true;
	}
	return false;
}

bool fz_origin_is_interpreter(struct fz_str path)
{
	struct fz_str base = fz_path_base(path);

	if (fz_str_starts(base, "libpython"))
		return true;
	if (!fz_str_starts(base, "python"))
		return false;
	for (size_t i = strlen("python"); i < base.n; i++)
		if (!strchr("0123456789.t", base.p[i]))
			return false;
	return true;
}

static bool below(struct fz_str path, struct fz_str folder)
{
	return folder.n > 1 && path.n > folder.n && memcmp(path.p, folder.p, folder.n) == 0 &&
	       (folder.p[folder.n - 1] == '/' || path.p[folder.n] == '/');
}

static bool fits(struct fz_str path, const char *part, bool at_start)
{
	return at_start ? fz_str_starts(path, part)
			: memmem(path.p, path.n, part, strlen(part)) != NULL;
}

enum fz_origin fz_origin_of_file(struct fz_str path, struct fz_str cwd)
{
	fz_auto(fz_free_ptr) char *slashed = fz_path_slashed(path);

	path.p = slashed ? slashed : path.p;
	for (size_t i = 0; i < FZ_ARRAY_LEN(rules); i++)
		if (fits(path, rules[i].part, rules[i].at_start))
			return rules[i].origin;
	if (in_python_library(path))
		return FZ_ORIGIN_STDLIB;
	if (!path.n || fz_origin_is_interpreter(path))
		return FZ_ORIGIN_OTHER;
	if (below(path, cwd))
		return FZ_ORIGIN_OWN;
	for (size_t i = 0; i < FZ_ARRAY_LEN(system_folders); i++)
		if (fz_str_starts(path, system_folders[i]))
			return FZ_ORIGIN_OTHER;
	return FZ_ORIGIN_OWN;
}

static enum fz_origin origin_of(const struct fz_profile *p, const struct fz_function *f,
				struct fz_str cwd)
{
	struct fz_str file = p->strings[f->file], module = fz_module_file(p->strings[f->module]);

	if (f->kind == FZ_KIND_MARKER || f->kind == FZ_KIND_TASK)
		return FZ_ORIGIN_OTHER;
	/* In a system library's debug information, file names are those of the build machine. */
	enum fz_origin origin = fz_origin_of_file(module.n ? module : file, cwd);
	return module.n && file.n && origin == FZ_ORIGIN_OWN ? fz_origin_of_file(file, cwd)
							     : origin;
}

/* Marks only what the user's pattern matches as own code. */
static void mark_own(const struct fz_profile *p, const char *pattern, uint8_t *origins)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED))
		return;
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		struct fz_str file = p->strings[f->file];
		struct fz_str module = fz_module_file(p->strings[f->module]);
		if ((file.n && fz_str_matches(file, &regex)) ||
		    (module.n && fz_str_matches(module, &regex)))
			origins[i] = FZ_ORIGIN_OWN;
		else if (origins[i] == FZ_ORIGIN_OWN)
			origins[i] = FZ_ORIGIN_LIBRARY;
	}
	regfree(&regex);
}

uint8_t *fz_profile_origins(const struct fz_profile *p)
{
	struct fz_str cwd = fz_profile_fact(p, "cwd");
	struct fz_str own = fz_profile_fact(p, FZ_ORIGIN_FACT);
	fz_auto(fz_free_ptr) char *pattern = fz_strndup(own.p, own.n);
	uint8_t *origins = fz_calloc(p->function_count + 1ul, sizeof(*origins));
	/* Objects of any type belong to the program. */
	bool is_heap = fz_profile_is_heap(p);

	for (uint32_t i = 0; i < p->function_count; i++) {
		bool is_type = is_heap && !p->strings[p->functions[i].file].n;
		origins[i] = is_type ? FZ_ORIGIN_OWN : origin_of(p, &p->functions[i], cwd);
	}
	if (own.n)
		mark_own(p, pattern, origins);
	return origins;
}
