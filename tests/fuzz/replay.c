/* SPDX-License-Identifier: MIT */
/* Run a fuzz target over corpus folders, without a fuzzer: every file as it is, cut short at many
 * places, with bits flipped, with counts made huge, and some large inputs made here. Prints TAP.
 * Nothing may crash, hang, or take more than half a gigabyte. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <zlib.h>

/* A sanitizer reserves more address space than the limit on memory allows; gcc and clang tell in
 * different ways that there is one. */
#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_ASAN 1
#endif
#endif
#ifndef FUZZ_ASAN
#define FUZZ_ASAN 0
#endif

enum { CUTS = 24, FLIPS = 64, HUGES = 24, BOMB_BYTES = 64 << 20 };

static int case_number;

static void run(const char *p, size_t n)
{
	/* An exact allocation, so that one byte too far is seen. */
	fz_auto(fz_free_ptr) uint8_t *copy = fz_malloc(n ? n : 1);

	if (n)
		memcpy(copy, p, n);
	LLVMFuzzerTestOneInput(copy, n);
}

static void run_damaged(char *p, size_t n)
{
	for (size_t i = 0; i < CUTS && n; i++)
		run(p, n * i / CUTS);
	for (size_t i = 0; i < FLIPS && n; i++) {
		size_t at = n * i / FLIPS;
		p[at] ^= (char)(1 << i % 8);
		run(p, n);
		p[at] ^= (char)(1 << i % 8);
	}
	for (size_t i = 0; i < HUGES && n >= 8; i++) {
		size_t at = (n - 8) * i / HUGES;
		char saved[8];
		memcpy(saved, p + at, 8);
		memset(p + at, i % 2 ? 0xff : 0x7f, 8);
		run(p, n);
		memcpy(p + at, saved, 8);
	}
}

static void report(const char *name)
{
	printf("ok %d - %s\n", ++case_number, name);
	fflush(stdout);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void run_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, by_name);

	fz_assert(n >= 0); /* or nothing would be tried, and no one told */
	for (int i = 0; i < n; i++) {
		fz_auto(fz_free_ptr) struct dirent *entry = entries[i];
		if (entry->d_name[0] == '.')
			continue;
		fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", folder, entry->d_name);
		size_t size = 0;
		fz_auto(fz_free_ptr) char *data = fz_read_small(path, 1 << 20, &size);
		fz_assert(data);
		run(data, size);
		run_damaged(data, size);
		report(entry->d_name);
	}
	free(entries);
}

/* A small file that unpacks to much: zeros, or one line again and again. */
static void run_bomb(const char *name, const char *piece)
{
	size_t piece_n = strlen(piece) ? strlen(piece) : 1, n = 1 << 16;
	fz_auto(fz_free_ptr) char *plain = fz_malloc(n);
	fz_auto(fz_buf_release) struct fz_buf packed = { 0 };
	z_stream z = { 0 };

	for (size_t i = 0; i < n; i++)
		plain[i] = piece[i % piece_n];
	fz_assert(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	for (size_t done = 0; done < BOMB_BYTES; done += n) {
		z.next_in = (Bytef *)plain;
		z.avail_in = (uInt)n;
		z.next_out = (Bytef *)fz_buf_reserve(&packed, n);
		z.avail_out = (uInt)n;
		deflate(&z, done + n >= BOMB_BYTES ? Z_FINISH : Z_NO_FLUSH);
		packed.n += n - z.avail_out;
	}
	deflateEnd(&z);
	run(packed.p, packed.n);
	report(name);
}

/* One line of a hundred thousand frames, as deep as any recorder goes. */
static void run_deep(void)
{
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	for (int i = 0; i < 100000; i++)
		fz_buf_printf(&text, "%sf%d", i ? ";" : "", i % 7);
	fz_buf_str(&text, " 1\n");
	run(text.p, text.n);
	report("a deep stack");
}

static void run_noise(void)
{
	char noise[4096];
	uint64_t random = 7;

	for (int round = 0; round < 64; round++) {
		for (size_t i = 0; i < sizeof(noise); i++) {
			random = fz_hash64(random + i + 1);
			noise[i] = (char)random;
		}
		run(noise, sizeof(noise) >> round % 12);
	}
	report("noise");
}

int main(int argc, char **argv)
{
#if !FUZZ_ASAN
	struct rlimit limit = { 512 << 20, 512 << 20 };
	setrlimit(RLIMIT_AS, &limit);
#endif
	for (int i = 1; i < argc; i++)
		run_folder(argv[i]);
	run("", 0);
	report("nothing");
	run_bomb("zeros in gzip", "");
	run_bomb("lines in gzip", "main;f 1\n");
	run_deep();
	run_noise();
	printf("1..%d\n", case_number);
	return 0;
}
