/* SPDX-License-Identifier: MIT */
/* Hash map from 64-bit keys to 32-bit values, used for all interning.
 *
 * Hashing is randomized per process, so no file can be crafted to cause collisions. Maps cannot be
 * iterated; callers store an order separately.
 *
 * Open addressing with linear probing in one flat table that doubles at 3/4 full. Keys are any
 * 64-bit numbers; the value FZ_NONE cannot be stored because it marks an empty slot. FZ_KEY(a, b)
 * makes a key of two indices. If a key is a hash of larger content, the caller compares the content
 * and derives another key on a collision.
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
/* FZ_NONE if absent. */
uint32_t fz_map_get(const struct fz_map *m, uint64_t key);
/* Returns the slot of a key, valid until the next call on this map. If the key is new, its value is
 * FZ_NONE, and the caller must set it before that call. */
uint32_t *fz_map_slot(struct fz_map *m, uint64_t key);
/* Inserts or replaces a value. */
void fz_map_put(struct fz_map *m, uint64_t key, uint32_t value);
void fz_map_clear(struct fz_map *m);

/* Strong 64-bit mix; also for combining hashes. */
static inline uint64_t fz_hash64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

/* The next pseudo-random number; the state is the previous one. */
static inline uint64_t fz_dice_roll(uint64_t *dice)
{
	return *dice = fz_hash64(*dice + 0x9e3779b97f4a7c15u);
}

/* XXH3 of bytes, the same in every process, for stored names and digests. */
uint64_t fz_hash_bytes(const void *p, size_t n);
/* A key for bytes, different in every process, so that files cannot be crafted to cause collisions.
 * No output may depend on it. */
uint64_t fz_map_hash(const void *p, size_t n);
