/* SPDX-License-Identifier: MIT */
/* Open addressing; see map.h. */
#include "map.h"

#define XXH_INLINE_ALL
#include <sys/auxv.h>
#include <xxhash.h>

/* From the random bytes that the kernel passes to each program, which cannot fail. */
static uint64_t seed[2];

__attribute__((constructor)) static void choose_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint8_t bytes[16] = { 0 };

	if (random)
		memcpy(bytes, random, sizeof(bytes));
	seed[0] = XXH3_64bits_withSeed(bytes, sizeof(bytes), 1);
	/* odd: invertible in products */
	seed[1] = XXH3_64bits_withSeed(bytes, sizeof(bytes), 2) | 1;
}

void fz_map_release(struct fz_map *m)
{
	free(m->slots);
	*m = (struct fz_map){ 0 };
}

struct fz_map fz_map_copy(const struct fz_map *m)
{
	struct fz_map copy = *m;

	copy.slots = fz_memdup(m->slots, (m->mask + 1) * sizeof(*m->slots));
	return copy;
}

void fz_map_clear(struct fz_map *m)
{
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		m->slots[i].value = FZ_NONE;
	m->len = 0;
}

static struct fz_map_slot *find(const struct fz_map *m, uint64_t key)
{
	size_t i = fz_hash64((key ^ seed[0]) * seed[1]) & m->mask;

	while (m->slots[i].value != FZ_NONE && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

uint32_t fz_map_get(const struct fz_map *m, uint64_t key)
{
	return m->slots ? find(m, key)->value : FZ_NONE;
}

static void rehash(struct fz_map *m, size_t size)
{
	struct fz_map old = *m;

	fz_assert((size & (size - 1)) == 0 && size > m->len);
	m->slots = fz_reallocarray(NULL, size, sizeof(*m->slots));
	m->mask = size - 1;
	for (size_t i = 0; i < size; i++)
		m->slots[i].value = FZ_NONE;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].value != FZ_NONE)
			*find(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint32_t *fz_map_slot(struct fz_map *m, uint64_t key)
{
	if (!m->slots || (m->len + 1) * 4 > (m->mask + 1) * 3)
		rehash(m, m->slots ? (m->mask + 1) * 2 : 16);
	struct fz_map_slot *slot = find(m, key);
	if (slot->value == FZ_NONE) {
		slot->key = key;
		m->len++;
	}
	return &slot->value;
}

void fz_map_put(struct fz_map *m, uint64_t key, uint32_t value)
{
	fz_assert(value != FZ_NONE);
	*fz_map_slot(m, key) = value;
}

uint64_t fz_hash_bytes(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

uint64_t fz_map_hash(const void *p, size_t n)
{
	return XXH3_64bits_withSeed(p, n, seed[0]);
}
