/* SPDX-License-Identifier: MIT */
/* Hash map from a 64-bit key to a 32-bit value, the shape all interning here takes.
 *
 * Where a key lies is another place in every process, so that no file can be made whose keys all
 * lie in one. There is no way through a map but by its keys: order is kept beside it.
 *
 * Open addressing with linear probing in one flat table that doubles at 3/4 full. Keys are any
 * 64-bit numbers; the value FZ_NONE cannot be stored because it marks an empty slot. A key made
 * of two indices is FZ_KEY(a, b); where the key is a hash of something larger the caller
 * compares and probes on with the cursor form.
 */
#pragma once

#include "base.h"

struct fz_map {
	struct fz_map_slot *slots;
	size_t mask; /* table size - 1, or 0 when empty */
	size_t len;
};

struct fz_map_slot {
	uint64_t key;
	uint32_t value; /* FZ_NONE: empty */
};

#define FZ_KEY(a, b) ((uint64_t)(a) << 32 | (uint32_t)(b))

void fz_map_release(struct fz_map *m);
struct fz_map fz_map_copy(const struct fz_map *m);
/* FZ_NONE when absent. */
uint32_t fz_map_get(const struct fz_map *m, uint64_t key);
/* The slot of key: its value is FZ_NONE when the key is new, and the caller must then store one
 * before the next call on this map. The pointer is valid until then. */
uint32_t *fz_map_slot(struct fz_map *m, uint64_t key);
/* Insert or replace. */
void fz_map_put(struct fz_map *m, uint64_t key, uint32_t value);
void fz_map_clear(struct fz_map *m);

/* Strong 64-bit mix of a key; also for callers that combine hashes. */
static inline uint64_t fz_hash64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

/* The next of a sequence of random numbers; its state is the one before. */
static inline uint64_t fz_dice_roll(uint64_t *dice)
{
	return *dice = fz_hash64(*dice + 0x9e3779b97f4a7c15u);
}

/* XXH3 of bytes: the same in every process, so for names and digests that are kept. */
uint64_t fz_hash_bytes(const void *p, size_t n);
/* A key for bytes: another one in every process. Whoever writes a file cannot know which of its
 * strings meet in a table. Nothing that is written may depend on it. */
uint64_t fz_map_hash(const void *p, size_t n);
