/* SPDX-License-Identifier: MIT */
/* Pages of the target's heap; pages.h has the picture.
 *
 *   list: {address, ...} sorted by address, then those added in this round
 *   a, b: the copy of list[i] is at i * 4096
 *
 * Whole pages are copied because the kernel does so anyway, and because the objects (tasks,
 * coroutines) fill them. Adjacent pages are one part of the call. Only the bytes that were read are
 * compared. A page not used for some rounds is dropped.
 */
#include "pages.h"

enum {
	PAGE = 4096,
	PAGES_MAX = 1 << 15,
	PIECES_MAX = 1 << 21, /* per round: tasks never need more */
	IDLE_ROUNDS = 32,
};

void fz_py_pages_release(struct fz_py_pages *p)
{
	free(p->list);
	free(p->a);
	free(p->b);
	free(p->pieces);
	fz_map_release(&p->by_address);
	*p = (struct fz_py_pages){ 0 };
}

static void need(uint8_t **buffer, size_t *size, uint32_t pages)
{
	size_t wanted = (size_t)pages * PAGE;

	if (wanted <= *size)
		return;
	*size = FZ_MAX(wanted, *size * 2);
	*buffer = fz_reallocarray(*buffer, *size, 1);
}

static int by_address(const void *x, const void *y)
{
	const struct fz_py_page *a = x, *b = y;

	return FZ_CMP(a->at, b->at);
}

/* Sort the list, dropping pages that are no longer used or gone. */
static void tidy(struct fz_py_pages *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->round - p->list[i].used <= IDLE_ROUNDS)
			p->list[n++] = p->list[i];
	if (n == p->n && !p->changed)
		return;
	p->n = n;
	p->changed = false;
	qsort(p->list, n, sizeof(*p->list), by_address);
	fz_map_clear(&p->by_address);
	for (uint32_t i = 0; i < n; i++)
		fz_map_put(&p->by_address, p->list[i].at, i);
}

/* Mark as gone; tidy drops it. */
static void lose(struct fz_py_pages *p, uint32_t i)
{
	p->list[i].used = p->round - IDLE_ROUNDS - 1;
	p->list[i].young = true;
	p->changed = true;
}

/* Copy all pages to `out`, joining adjacent ones. Pages that are gone are marked so. */
static bool copy_all(struct fz_py_pages *p, uint8_t *out)
{
	struct iovec parts[FZ_PROCESS_PARTS_MAX];
	uint32_t i = 0;
	bool all = true;

	while (i < p->n) {
		uint32_t first = i, part_n = 0;
		for (; i < p->n; i++) {
			struct iovec *last = &parts[part_n ? part_n - 1 : 0];
			if (part_n &&
			    (uint64_t)(uintptr_t)last->iov_base + last->iov_len == p->list[i].at)
				last->iov_len += PAGE;
			else if (part_n < FZ_PROCESS_PARTS_MAX)
				parts[part_n++] =
					(struct iovec){ (void *)(uintptr_t)p->list[i].at, PAGE };
			else
				break;
		}
		ssize_t got =
			fz_process_read_parts(p->process, parts, part_n, out + (size_t)first * PAGE,
					      (size_t)(i - first) * PAGE);
		uint32_t done = first + (uint32_t)(FZ_MAX(got, 0) / PAGE);
		if (done < i) {
			lose(p, done);
			i = done + 1;
			all = false;
		}
	}
	return all;
}

void fz_py_pages_begin(struct fz_py_pages *p, bool fresh)
{
	p->round++;
	p->piece_n = 0;
	if (fresh) {
		p->n = 0;
		fz_map_clear(&p->by_address);
	}
	tidy(p);
	for (uint32_t i = 0; i < p->n; i++)
		p->list[i].young = false;
	need(&p->a, &p->a_size, p->n);
	copy_all(p, p->a);
}

/* Index of a page in the list, or FZ_NONE. */
static uint32_t known_page(const struct fz_py_pages *p, uint64_t at)
{
	uint32_t i = p->hints[at / PAGE % FZ_ARRAY_LEN(p->hints)];

	if (i >= p->n || p->list[i].at != at)
		i = fz_map_get(&p->by_address, at);
	return i;
}

static bool is_lost(const struct fz_py_pages *p, uint32_t i)
{
	return p->round - p->list[i].used > IDLE_ROUNDS;
}

/* Index of the page at an address, copied first if it is new; FZ_NONE if it is gone. */
static uint32_t find_page(struct fz_py_pages *p, uint64_t at)
{
	uint32_t i = known_page(p, at);

	if (i != FZ_NONE) {
		if (is_lost(p, i))
			return FZ_NONE;
		p->list[i].used = p->round;
		p->hints[at / PAGE % FZ_ARRAY_LEN(p->hints)] = i;
		return i;
	}
	if (p->n >= PAGES_MAX)
		return FZ_NONE;
	need(&p->a, &p->a_size, p->n + 1);
	if (!fz_process_read(p->process, at, p->a + (size_t)p->n * PAGE, PAGE))
		return FZ_NONE;
	fz_grow(p->list, p->n, p->cap);
	p->list[p->n] = (struct fz_py_page){ .at = at, .used = p->round, .young = true };
	fz_map_put(&p->by_address, at, p->n);
	p->changed = true;
	return p->n++;
}

bool fz_py_pages_glance(struct fz_py_pages *p, uint64_t at, void *out, uint32_t n)
{
	uint8_t *to = out;

	if (n > PAGE || at + n < at)
		return false;
	while (n) {
		uint64_t page = at & ~(uint64_t)(PAGE - 1);
		uint32_t offset = (uint32_t)(at - page), part = FZ_MIN(n, PAGE - offset);
		uint32_t i = find_page(p, page);
		if (i == FZ_NONE)
			return false;
		memcpy(to, p->a + (size_t)i * PAGE + offset, part);
		to += part;
		at += part;
		n -= part;
	}
	return true;
}

bool fz_py_pages_read(struct fz_py_pages *p, uint64_t at, void *out, uint32_t n)
{
	if (p->piece_n >= PIECES_MAX)
		return false;
	fz_push(p->pieces, p->piece_n, p->piece_cap, (struct fz_py_piece){ at, n });
	return fz_py_pages_glance(p, at, out, n);
}

bool fz_py_pages_confirm(struct fz_py_pages *p)
{
	need(&p->b, &p->b_size, p->n);
	return copy_all(p, p->b);
}

bool fz_py_pages_agree(const struct fz_py_pages *p, uint32_t from, uint32_t to, bool old)
{
	for (uint32_t k = from; k < to; k++) {
		uint64_t at = p->pieces[k].at;
		for (uint32_t n = p->pieces[k].n; n;) {
			uint64_t page = at & ~(uint64_t)(PAGE - 1);
			uint32_t offset = (uint32_t)(at - page), part = FZ_MIN(n, PAGE - offset);
			uint32_t i = known_page(p, page);
			if (i == FZ_NONE || is_lost(p, i))
				return false;
			size_t where = (size_t)i * PAGE + offset;
			if ((old && p->list[i].young) || memcmp(p->a + where, p->b + where, part))
				return false;
			at += part;
			n -= part;
		}
	}
	return true;
}
