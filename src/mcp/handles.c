/* SPDX-License-Identifier: MIT */
/* The table of handles; see handles.h. */
#include "mcp/handles.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char *stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return fz_strdup("gone");
	return fz_asprintf("%llu:%lld:%lld.%ld", (unsigned long long)st.st_ino,
			   (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void release(struct fz_mcp_handle *h)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (h->measured && h->side[s].path)
			unlink(h->side[s].path);
		free(h->side[s].path);
		free(h->side[s].stamp);
		free(h->side[s].label);
	}
}

/* Append an empty handle; the oldest one is dropped if the table is full. */
static struct fz_mcp_handle *append(struct fz_mcp_handles *h)
{
	if (h->n == FZ_MCP_HANDLES_MAX) {
		release(&h->list[0]);
		memmove(h->list, h->list + 1, --h->n * sizeof(h->list[0]));
	}
	h->list[h->n] = (struct fz_mcp_handle){ 0 };
	return &h->list[h->n++];
}

const struct fz_mcp_handle *fz_mcp_handle_find(const struct fz_mcp_handles *h, const char *name,
					       bool *ret_gone)
{
	uint64_t id;

	*ret_gone = false;
	if ((name[0] != 'd' && name[0] != 'r') ||
	    !fz_parse_u64(fz_str_of(name + 1), UINT32_MAX, &id))
		return NULL;
	for (uint32_t i = 0; i < h->n; i++)
		if (h->list[i].id == id && !h->list[i].side[FZ_BASE].path == (name[0] == 'r'))
			return &h->list[i];
	*ret_gone = true;
	return NULL;
}

int fz_mcp_handle_check(const struct fz_mcp_handle *h, struct fz_error *err)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!h->side[s].path)
			continue;
		fz_auto(fz_free_ptr) char *now = stamp_of(h->side[s].path);
		if (strcmp(now, h->side[s].stamp) != 0)
			return fz_fail(err, FZ_EINPUT,
				       "%s: the file has changed; call changes or summary again",
				       h->side[s].label);
	}
	return 0;
}

static bool is_same(const struct fz_mcp_handle *a, const struct fz_mcp_handle *b)
{
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!a->side[s].path != !b->side[s].path)
			return false;
		if (a->side[s].path && (strcmp(a->side[s].path, b->side[s].path) != 0 ||
					strcmp(a->side[s].stamp, b->side[s].stamp) != 0))
			return false;
	}
	return true;
}

const struct fz_mcp_handle *fz_mcp_handle_add(struct fz_mcp_handles *h, char *const path[FZ_SIDES],
					      char *const label[FZ_SIDES], bool measured)
{
	struct fz_mcp_handle new = { .id = h->next, .measured = measured };

	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!path[s])
			continue;
		new.side[s].path = fz_strdup(path[s]);
		new.side[s].stamp = stamp_of(path[s]);
		new.side[s].label = fz_strdup(label[s]);
	}
	for (uint32_t i = 0; i < h->n; i++) {
		if (!is_same(&h->list[i], &new))
			continue;
		new.measured = false;
		release(&new);
		return &h->list[i];
	}
	fz_assert(!h->added);
	h->added = true;
	struct fz_mcp_handle *at = append(h);
	*at = new;
	return at;
}

void fz_mcp_handle_name(const struct fz_mcp_handle *h, char out[16])
{
	snprintf(out, 16, "%c%u", h->side[FZ_BASE].path ? 'd' : 'r', h->id);
}

/* ---- between processes ---- */

static const char *const keys[FZ_SIDES][3] = {
	{ "base_path", "base_stamp", "base_label" },
	{ "head_path", "head_stamp", "head_label" },
};

json_t *fz_mcp_handles_added(const struct fz_mcp_handles *h)
{
	if (!h->added)
		return NULL;
	const struct fz_mcp_handle *last = &h->list[h->n - 1];
	json_t *o = json_pack("{s:I, s:b}", "id", (json_int_t)last->id, "measured", last->measured);
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		if (!last->side[s].path)
			continue;
		json_object_set_new(o, keys[s][0], json_string_nocheck(last->side[s].path));
		json_object_set_new(o, keys[s][1], json_string(last->side[s].stamp));
		json_object_set_new(o, keys[s][2], json_string_nocheck(last->side[s].label));
	}
	return o;
}

static char *copy(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? fz_strdup(text) : NULL;
}

void fz_mcp_handles_take(struct fz_mcp_handles *h, const json_t *added)
{
	if (!added)
		return;
	struct fz_mcp_handle *at = append(h);
	at->id = (uint32_t)json_integer_value(json_object_get(added, "id"));
	at->measured = json_is_true(json_object_get(added, "measured"));
	for (enum fz_side s = 0; s < FZ_SIDES; s++) {
		at->side[s].path = copy(added, keys[s][0]);
		at->side[s].stamp = copy(added, keys[s][1]);
		at->side[s].label = copy(added, keys[s][2]);
	}
}

void fz_mcp_handles_release(struct fz_mcp_handles *h)
{
	while (h->n)
		release(&h->list[--h->n]);
}
