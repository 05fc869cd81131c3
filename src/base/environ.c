/* SPDX-License-Identifier: MIT */
/* A modifiable copy of the environment; see environ.h. The order of variables is kept. */
#include "base/environ.h"

#include "base/base.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

static void add(struct fz_environ *e, char *entry)
{
	fz_grow(e->list, e->n + 1, e->cap);
	e->list[e->n++] = entry;
	e->list[e->n] = NULL;
}

void fz_environ_init(struct fz_environ *e, char *const *from)
{
	char *const *each = from ? from : environ;

	*e = (struct fz_environ){ .list = fz_calloc(1, sizeof(*e->list)), .cap = 1 };
	for (; each && *each; each++)
		add(e, fz_strdup(*each));
}

void fz_environ_release(struct fz_environ *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->list[i]);
	free(e->list);
	*e = (struct fz_environ){ 0 };
}

static bool is_called(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool has_prefix(const char *entry, const char *prefix)
{
	return strncmp(entry, prefix, strlen(prefix)) == 0;
}

/* Index of a variable; n if there is none. */
static size_t find(const struct fz_environ *e, const char *name)
{
	size_t i = 0;

	while (i < e->n && !is_called(e->list[i], name))
		i++;
	return i;
}

const char *fz_environ_get(const struct fz_environ *e, const char *name)
{
	size_t i = find(e, name);

	return i < e->n ? e->list[i] + strlen(name) + 1 : NULL;
}

void fz_environ_set(struct fz_environ *e, const char *name, const char *value)
{
	char *entry = fz_asprintf("%s=%s", name, value);
	size_t i = find(e, name);

	if (i == e->n) {
		add(e, entry);
		return;
	}
	free(e->list[i]);
	e->list[i] = entry;
}

static void drop(struct fz_environ *e, bool (*is)(const char *entry, const char *text),
		 const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->n; i++) {
		if (is(e->list[i], text))
			free(e->list[i]);
		else
			e->list[kept++] = e->list[i];
	}
	e->n = kept;
	e->list[kept] = NULL;
}

void fz_environ_unset(struct fz_environ *e, const char *name)
{
	drop(e, is_called, name);
}

void fz_environ_unset_prefix(struct fz_environ *e, const char *prefix)
{
	drop(e, has_prefix, prefix);
}

void fz_environ_prepend(struct fz_environ *e, const char *name, const char *word, char separator)
{
	const char *old = fz_environ_get(e, name);
	fz_auto(fz_free_ptr) char *text =
		old && *old ? fz_asprintf("%s%c%s", word, separator, old) : fz_strdup(word);

	fz_environ_set(e, name, text);
}
