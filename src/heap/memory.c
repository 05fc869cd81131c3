/* SPDX-License-Identifier: MIT */
/* Copies the writable memory of a process; see the picture in memory.h. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	PAGES_AT_ONCE = 8192, /* entries of the page map */
	PART_MAX = 1 << 20,   /* bytes of one part of a call */
	PARTS_AT_ONCE = 64,
};
#define PAGE_EXISTS (3ull << 62) /* in memory, or swapped out */

void fz_heap_memory_release(struct fz_heap_memory *m)
{
	if (m->copy)
		munmap(m->copy, m->bytes);
	free(m->seen);
	free(m->list);
	*m = (struct fz_heap_memory){ 0 };
}

static void add_pages(struct fz_heap_memory *m, uint64_t start, uint64_t end)
{
	if (m->n && m->list[m->n - 1].end == start) {
		m->list[m->n - 1].end = end;
	} else {
		fz_push(m->list, m->n, m->cap,
			(struct fz_heap_segment){ .start = start, .end = end });
	}
	m->bytes += end - start;
}

/* Adds the existing pages of a mapping. */
static bool add_mapping(struct fz_heap_memory *m, int pagemap, const struct fz_mapping *mapping)
{
	uint64_t entries[PAGES_AT_ONCE];

	for (uint64_t at = mapping->start; at < mapping->end;) {
		uint64_t n = FZ_MIN((mapping->end - at) / PAGE, (uint64_t)PAGES_AT_ONCE);
		ssize_t got = pread(pagemap, entries, n * 8, (off_t)(at / PAGE * 8));
		if (got < 8)
			return false;
		for (uint64_t i = 0; i < (uint64_t)got / 8; i++, at += PAGE)
			if (entries[i] & PAGE_EXISTS)
				add_pages(m, at, at + PAGE);
	}
	return true;
}

static int find_pages(struct fz_process *process, struct fz_heap_memory *m, struct fz_error *err)
{
	struct fz_mappings maps = { 0 };
	char path[64];
	int rc = fz_process_maps(process, &maps, err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)fz_process_live(process->pid));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		rc = fz_process_trouble(process, errno, err);
	for (size_t i = 0; !rc && i < maps.n; i++) {
		const struct fz_mapping *mapping = &maps.list[i];
		if (strcmp(mapping->path, "[heap]") == 0) {
			m->heap_start = mapping->start;
			m->heap_end = mapping->end;
		}
		if (mapping->readable && mapping->writable && !add_mapping(m, fd, mapping) &&
		    !fz_process_alive(process))
			rc = fz_process_trouble(process, ESRCH, err);
	}
	if (fd >= 0)
		close(fd);
	fz_mappings_release(&maps);
	return rc;
}

/* Copies a segment; truncates it if later bytes no longer exist. */
static int copy_segment(struct fz_process *process, struct fz_heap_segment *s, struct fz_error *err)
{
	for (uint64_t at = s->start; at < s->end;) {
		struct iovec parts[PARTS_AT_ONCE];
		uint64_t total = 0;
		size_t n = 0;

		while (n < PARTS_AT_ONCE && at + total < s->end) {
			uint64_t size = FZ_MIN(s->end - at - total, (uint64_t)PART_MAX);
			parts[n++] = (struct iovec){ .iov_base = (void *)(uintptr_t)(at + total),
						     .iov_len = size };
			total += size;
		}
		ssize_t got =
			fz_process_read_parts(process, parts, n, s->bytes + (at - s->start), total);
		if (got <= 0 && errno != EFAULT && errno != EIO)
			return fz_process_trouble(process, errno, err);
		if (got < (ssize_t)total) {
			s->end = (at + (uint64_t)FZ_MAX(got, (ssize_t)0)) & ~7ull;
			return 0;
		}
		at += total;
	}
	return 0;
}

static int copy_all(struct fz_process *process, struct fz_heap_memory *m, struct fz_error *err)
{
	uint8_t *to;
	uint64_t words = 0;

	m->copy = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->copy == MAP_FAILED) {
		m->copy = NULL;
		return fz_fail(err, FZ_ELIMIT,
			       "not enough memory to copy the %llu MiB of process %d",
			       (unsigned long long)(m->bytes >> 20), (int)process->pid);
	}
	madvise(m->copy, m->bytes, MADV_HUGEPAGE);
	m->seen = fz_calloc(m->bytes / 512 + 1, 8);
	to = m->copy;
	for (uint32_t i = 0; i < m->n; i++) {
		struct fz_heap_segment *s = &m->list[i];
		s->bytes = to;
		s->seen = m->seen + words;
		to += s->end - s->start;
		words += (s->end - s->start) / 512;
		int rc = copy_segment(process, s, err);
		if (rc)
			return rc;
	}
	return 0;
}

int fz_heap_memory_read(struct fz_process *process, struct fz_heap_memory *ret,
			struct fz_error *err)
{
	*ret = (struct fz_heap_memory){ 0 };
	int rc = find_pages(process, ret, err);

	if (!rc && !ret->bytes)
		rc = fz_process_denied(process, err);
	return rc ? rc : copy_all(process, ret, err);
}

static struct fz_heap_segment *find(struct fz_heap_memory *m, uint64_t address)
{
	uint32_t lo = 0, hi = m->n;

	if (m->last < m->n && address >= m->list[m->last].start && address < m->list[m->last].end)
		return &m->list[m->last];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (m->list[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == m->n || m->list[lo].start > address)
		return NULL;
	m->last = lo;
	return &m->list[lo];
}

const uint8_t *fz_heap_memory_at(struct fz_heap_memory *m, uint64_t address, uint64_t n)
{
	const struct fz_heap_segment *s = find(m, address);

	if (!s || s->end - address < n)
		return NULL;
	return s->bytes + (address - s->start);
}

bool fz_heap_memory_is_marked(struct fz_heap_memory *m, uint64_t address)
{
	const struct fz_heap_segment *s = find(m, address);
	uint64_t bit = s ? (address - s->start) / 8 : 0;

	return s && s->seen[bit / 64] >> (bit & 63) & 1;
}

bool fz_heap_memory_mark(struct fz_heap_memory *m, uint64_t address)
{
	struct fz_heap_segment *s = find(m, address);

	fz_assert(s);
	uint64_t bit = (address - s->start) / 8, mask = 1ull << (bit & 63);
	bool fresh = !(s->seen[bit / 64] & mask);

	s->seen[bit / 64] |= mask;
	return fresh;
}
