/* SPDX-License-Identifier: MIT */
/* Node numbers depend on the order of pushes and on the engine. With another order of rows, the
 * judge's random draws differ, and with them the last digits of its results. So nodes are sorted by
 * a hash of their function names, which is the same in every store. */
#include "fleet/order.h"

#include "base/map.h"
#include "fleet/engine.h"

enum { DEPTH_MAX = 1 << 16 };

struct orderer {
	struct fz_fleet *f;
	struct fz_map map; /* node -> index */
	struct entry {
		int64_t node;
		uint64_t key;
	} * list;
	uint32_t n, cap;
	/* of the last node that was read */
	int64_t parent;
	uint64_t function;
};

static void take(void *arg, const struct fz_fleet_node_row *row)
{
	struct orderer *k = arg;
	const uint64_t parts[] = { fz_hash_bytes(row->name.p, row->name.n),
				   fz_hash_bytes(row->file.p, row->file.n),
				   fz_hash_bytes(row->module.p, row->module.n),
				   (uint64_t)row->first_line, row->kind };

	k->parent = row->parent;
	k->function = fz_hash_bytes(parts, sizeof(parts));
}

/* Compute a node's key: go up to an ancestor with a known key, then down again. */
static int find_key(struct orderer *k, int64_t node, uint64_t *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) struct entry *path = NULL;
	uint32_t n = 0, cap = 0, place = FZ_NONE;
	uint64_t key = 0;

	while (node != 0 && (place = fz_map_get(&k->map, (uint64_t)node)) == FZ_NONE) {
		int r = k->f->engine->node(k->f, node, take, k, err);

		if (!r && n == DEPTH_MAX)
			r = fz_fail(err, FZ_EINPUT, "the store is damaged: dangling nodes");
		if (r)
			return r;
		fz_push(path, n, cap, (struct entry){ node, k->function });
		node = k->parent;
	}
	if (node != 0)
		key = k->list[place].key;
	while (n-- > 0) {
		const uint64_t parts[] = { key, path[n].key };

		key = fz_hash_bytes(parts, sizeof(parts));
		fz_map_put(&k->map, (uint64_t)path[n].node, k->n);
		fz_push(k->list, k->n, k->cap, (struct entry){ path[n].node, key });
	}
	*ret = key;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return FZ_CMP(x->key, y->key) ?: FZ_CMP(x->node, y->node);
}

int fz_fleet_sort_nodes(struct fz_fleet *f, int64_t *nodes, uint32_t n, struct fz_error *err)
{
	fz_auto(fz_free_ptr) struct entry *sorted = fz_calloc(FZ_MAX(n, 1), sizeof(*sorted));
	struct orderer k = { .f = f };
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++) {
		sorted[i].node = nodes[i];
		r = find_key(&k, nodes[i], &sorted[i].key, err);
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	for (uint32_t i = 0; !r && i < n; i++)
		nodes[i] = sorted[i].node;
	free(k.list);
	fz_map_release(&k.map);
	return r;
}
