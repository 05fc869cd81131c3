/* SPDX-License-Identifier: MIT */
/* Reads ROOT/ID/config.v2.json; see container.h. */
#include "agent/container.h"

#include <ctype.h>
#include <jansson.h>

#include "base/io.h"
#include "base/str.h"

enum { NUMBER = 64, CONFIG_MAX = 4 << 20 };

/* The last sequence of 64 hexadecimal digits; NULL if there is none. */
static const char *number_in(const char *cgroup)
{
	const char *found = NULL;
	size_t digits = 0;

	for (const char *at = cgroup; *at; at++) {
		digits = isxdigit((unsigned char)*at) ? digits + 1 : 0;
		if (digits == NUMBER)
			found = at + 1 - NUMBER;
	}
	return found;
}

/* The text of a key; the caller frees. NULL if it is missing or empty. */
static char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && *text ? fz_strdup(text) : NULL;
}

void fz_agent_container_of(const char *root, const char *cgroup, struct fz_agent_container *ret)
{
	const char *number = number_in(cgroup);
	size_t n;

	*ret = (struct fz_agent_container){ 0 };
	ret->is_one = number != NULL;
	if (!number)
		return;
	fz_auto(fz_free_ptr) char *path =
		fz_asprintf("%s/%.*s/config.v2.json", root, NUMBER, number);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, CONFIG_MAX, &n);
	json_t *config = text ? json_loadb(text, n, 0, NULL) : NULL;
	const json_t *labels = json_object_get(json_object_get(config, "Config"), "Labels");

	ret->name = text_at(labels, "com.docker.compose.service");
	if (!ret->name && (ret->name = text_at(config, "Name")) && *ret->name == '/')
		memmove(ret->name, ret->name + 1, strlen(ret->name));
	ret->version = text_at(labels, "org.opencontainers.image.version");
	if (!ret->version)
		ret->version = text_at(labels, "org.opencontainers.image.revision");
	json_decref(config);
}

void fz_agent_container_release(struct fz_agent_container *c)
{
	free(c->name);
	free(c->version);
	*c = (struct fz_agent_container){ 0 };
}
