/* SPDX-License-Identifier: MIT */
/* A map from hashes of module and address to results, with shared texts; see names.h. */
#include "symbol/names.h"

#include "base/arena.h"
#include "base/map.h"

enum { ANSWERS_MAX = 1 << 16 };
#define BYTES_MAX ((size_t)16 << 20)

struct answer {
	uint64_t check; /* second hash of the key */
	struct fz_symbols_call *calls;
	unsigned n;
};

struct fz_names {
	struct fz_arena arena;
	struct fz_map by_key, texts; /* -> results; hash of a text -> its index */
	struct answer *answers;
	size_t n, cap;
	const char **text_list;
	size_t text_n, text_cap;
};

struct fz_names *fz_names_new(void)
{
	return fz_calloc(1, sizeof(struct fz_names));
}

static void forget(struct fz_names *n)
{
	fz_arena_release(&n->arena);
	fz_map_clear(&n->by_key);
	fz_map_clear(&n->texts);
	n->arena = (struct fz_arena){ 0 };
	n->n = n->text_n = 0;
}

void fz_names_free(struct fz_names *n)
{
	if (!n)
		return;
	forget(n);
	fz_map_release(&n->by_key);
	fz_map_release(&n->texts);
	free(n->answers);
	free(n->text_list);
	free(n);
}

bool fz_names_can_cache(const char *module)
{
	return module[0] == '/' && strchr(module, ' ');
}

static uint64_t key_of(const char *module, uint64_t address)
{
	return fz_hash64(fz_map_hash(module, strlen(module)) ^ fz_hash64(address));
}

static uint64_t check_of(const char *module, uint64_t address)
{
	return fz_hash64(fz_hash_bytes(module, strlen(module)) + address);
}

bool fz_names_get(const struct fz_names *n, const char *module, uint64_t address,
		  struct fz_symbols_call ret[FZ_SYMBOLS_CALLS_MAX], unsigned *ret_n)
{
	uint32_t i = fz_map_get(&n->by_key, key_of(module, address));

	if (i == FZ_NONE || n->answers[i].check != check_of(module, address))
		return false;
	*ret_n = n->answers[i].n;
	fz_assert(*ret_n <= FZ_SYMBOLS_CALLS_MAX);
	if (*ret_n)
		memcpy(ret, n->answers[i].calls, *ret_n * sizeof(*ret));
	return true;
}

static const char *keep(struct fz_names *n, const char *text)
{
	if (!text)
		return NULL;
	uint32_t *slot = fz_map_slot(&n->texts, fz_map_hash(text, strlen(text)));
	if (*slot != FZ_NONE && strcmp(n->text_list[*slot], text) == 0)
		return n->text_list[*slot];
	const char *copy = fz_arena_strndup(&n->arena, text, strlen(text));
	fz_grow(n->text_list, n->text_n, n->text_cap);
	*slot = (uint32_t)n->text_n;
	return n->text_list[n->text_n++] = copy;
}

void fz_names_put(struct fz_names *n, const char *module, uint64_t address,
		  const struct fz_symbols_call *calls, unsigned call_n)
{
	fz_assert(call_n <= FZ_SYMBOLS_CALLS_MAX && fz_names_can_cache(module));
	if (n->n >= ANSWERS_MAX || n->arena.bytes > BYTES_MAX)
		forget(n);
	struct answer answer = { .check = check_of(module, address), .n = call_n };
	if (call_n)
		answer.calls = fz_arena_alloc(&n->arena, call_n * sizeof(*answer.calls));
	for (unsigned i = 0; i < call_n; i++) {
		answer.calls[i] = calls[i];
		answer.calls[i].name = keep(n, calls[i].name);
		answer.calls[i].file = keep(n, calls[i].file);
	}
	fz_grow(n->answers, n->n, n->cap);
	fz_map_put(&n->by_key, key_of(module, address), (uint32_t)n->n);
	n->answers[n->n++] = answer;
}
