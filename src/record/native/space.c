/* SPDX-License-Identifier: MIT */
/* /proc/PID/maps is read again when an address is in no known range, but only a limited number of
 * times per second: a newly loaded library is found at once, and garbage stacks cost little.
 */
#include "record/native/space.h"

#include "base/buf.h"
#include "base/clock.h"

#include <elf.h>
#include <sys/stat.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK_EVERY_NS FZ_SECOND

enum {
	REFRESH_EVERY_NS = 5000000,
	HEAD = 4096,
	PHDRS_MAX = 64,
	COPY_MAX = 256 << 20,
	DYNAMIC_MAX = 256,
	AREA_JOIN_MAX = 64 << 20,
	CREDIT = 32
};

void fz_space_init(struct fz_space *s, struct fz_process *process, struct fz_images *images)
{
	*s = (struct fz_space){ .process = process, .images = images, .credit = CREDIT };
}

static void release_ranges(struct fz_space_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(ranges[i].path);
	free(ranges);
}

void fz_space_release(struct fz_space *s)
{
	release_ranges(s->ranges, s->n);
	free(s->areas);
	*s = (struct fz_space){ 0 };
}

/* ---- opening files ---- */

/* Make addresses in the dynamic section relative again, as in the file; the loader made them
 * absolute. */
static void restore_dynamic(struct fz_space *s, int fd, const Elf64_Phdr *ph, uint64_t bias)
{
	Elf64_Dyn list[DYNAMIC_MAX];
	size_t n = FZ_MIN(ph->p_filesz / sizeof(*list), (size_t)DYNAMIC_MAX);

	if (!fz_process_read(s->process, bias + ph->p_vaddr, list, n * sizeof(*list)))
		return;
	for (size_t i = 0; i < n && list[i].d_tag != DT_NULL; i++) {
		int64_t tag = list[i].d_tag;
		bool table = tag == DT_STRTAB || tag == DT_SYMTAB || tag == DT_HASH ||
			     tag == DT_GNU_HASH || tag == DT_VERSYM;
		if (table && list[i].d_un.d_ptr >= bias)
			list[i].d_un.d_ptr -= bias;
	}
	/* Without it only symbols are missing. */
	if (pwrite(fd, list, n * sizeof(*list), (off_t)ph->p_offset) < 0)
		return;
}

/* Copy the segments of a mapped image into a memory file. Sections are lost; what the unwinder and
 * the dynamic linker need is kept. Returns the file, or -1. */
static int copy_from_memory(struct fz_space *s, uint64_t base)
{
	Elf64_Ehdr e;
	Elf64_Phdr list[PHDRS_MAX];

	if (!fz_process_read(s->process, base, &e, sizeof(e)) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64)
		return -1;
	size_t n = FZ_MIN(e.e_phnum, PHDRS_MAX);
	if (!fz_process_read(s->process, base + e.e_phoff, list, n * sizeof(*list)))
		return -1;
	fz_auto(fz_close_fd) int fd = memfd_create("image", MFD_CLOEXEC);
	uint64_t bias = 0;
	for (size_t i = n; i-- > 0;)
		if (list[i].p_type == PT_LOAD)
			bias = base - (list[i].p_vaddr & ~(uint64_t)(HEAD - 1));
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		if (list[i].p_type != PT_LOAD || list[i].p_filesz > COPY_MAX ||
		    list[i].p_offset > COPY_MAX)
			continue;
		fz_auto(fz_free_ptr) void *copy = fz_malloc(list[i].p_filesz + 1);
		if (fz_process_read(s->process, bias + list[i].p_vaddr, copy, list[i].p_filesz) &&
		    pwrite(fd, copy, list[i].p_filesz, (off_t)list[i].p_offset) < 0)
			return -1;
	}
	for (size_t i = 0; fd >= 0 && i < n; i++)
		if (list[i].p_type == PT_DYNAMIC && list[i].p_offset <= COPY_MAX)
			restore_dynamic(s, fd, &list[i], bias);
	e.e_shoff = 0;
	e.e_shnum = e.e_shstrndx = 0;
	if (fd < 0 || pwrite(fd, &e, sizeof(e), 0) != sizeof(e))
		return -1;
	return fz_steal_fd(&fd);
}

/* Open the file whose start is a mapping, or a copy of it from memory. */
static int open_file(struct fz_space *s, const struct fz_mapping *m)
{
	int fd = m->path[0] == '/' ? fz_process_open_mapped(s->process, m) : -1;

	return fd < 0 ? copy_from_memory(s, m->start) : fd;
}

/* Open the file in which a program writes the names of code that it made at run time. Its path has
 * the pid in the program's own namespace. */
static void open_map(struct fz_space *s, struct fz_images_entry *entry)
{
	struct stat st;
	char path[128];

	if (entry->map)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map",
		 (int)fz_process_live(s->process->pid), (int)s->process->inner_pid);
	if (fstat(s->process->stat_fd, &st) == 0)
		entry->map = fz_jitmap_open(path, st.st_uid);
}

/* The mapping of the start of the range's file; NULL if there is none. */
static const struct fz_mapping *find_start(const struct fz_mappings *maps,
					   const struct fz_space_range *r)
{
	const struct fz_mapping *found = NULL;

	for (size_t i = 0; i < maps->n && maps->list[i].start <= r->start; i++) {
		const struct fz_mapping *m = &maps->list[i];
		if (m->offset == 0 && m->inode == r->inode && strcmp(m->path, r->path) == 0)
			found = m;
	}
	return found;
}

/* The inode of an image's file, which is open, so the number is not reused; 0 if unknown. */
static uint64_t file_of(const struct fz_image *image, int64_t *ret_changed)
{
	struct stat st;

	if (fstat(fz_image_fd(image), &st))
		return 0;
	*ret_changed = fz_clock_ns(st.st_mtim);
	return st.st_ino;
}

static void remember_file(struct fz_images_entry *e, const struct fz_space_range *r)
{
	if (!e->inode && file_of(e->image, &e->changed) == r->inode) {
		e->device = r->device;
		e->inode = r->inode;
	}
}

/* Find an image of the same file that another process mapped, since opening one is expensive. */
static uint32_t find_file(const struct fz_images *images, const struct fz_space_range *r)
{
	int64_t changed = 0;

	for (uint32_t i = 0; i < images->n; i++) {
		const struct fz_images_entry *e = &images->list[i];
		if (e->inode && e->inode == r->inode && e->device == r->device &&
		    strcmp(fz_image_path(e->image), r->path) == 0 &&
		    file_of(e->image, &changed) == e->inode && changed == e->changed)
			return i;
	}
	return FZ_NONE;
}

static void open_range(struct fz_space *s, struct fz_space_range *r)
{
	fz_auto(fz_mappings_release) struct fz_mappings maps = { 0 };
	char name[64];
	struct fz_image *image;

	r->tried = true;
	bool made = r->path[0] != '/' && strcmp(r->path, "[vdso]") != 0;
	if (made || strncmp(r->path, "/memfd:", 7) == 0 || strncmp(r->path, "/dev/", 5) == 0) {
		snprintf(name, sizeof(name), "[jit] %d", (int)s->process->pid);
		r->module = fz_images_add(s->images, name);
		return;
	}
	r->image = r->module = find_file(s->images, r);
	if (r->image != FZ_NONE)
		return;
	int fd = -1;
	const struct fz_mapping *start = NULL;
	if (fz_process_maps(s->process, &maps, NULL) == 0)
		start = find_start(&maps, r);
	if (start)
		fd = open_file(s, start);
	if (fd >= 0 && fz_image_open(fd, r->path, &image, NULL) == 0) {
		r->module = r->image = fz_images_add_image(s->images, image);
		remember_file(&s->images->list[r->image], r);
	} else {
		r->module = fz_images_add(s->images, r->path);
	}
}

/* ---- ranges ---- */

static struct fz_space_range *search(struct fz_space *s, uint64_t address)
{
	size_t lo = 0, hi = s->n;

	if (s->last < s->n && address >= s->ranges[s->last].start &&
	    address < s->ranges[s->last].end)
		return &s->ranges[s->last];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->ranges[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->n || address < s->ranges[lo].start)
		return NULL;
	s->last = lo;
	return &s->ranges[lo];
}

/* Keep what is known about a range that still exists. False if the range is new. */
static bool take_over(struct fz_space_range *r, struct fz_space_range *old, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (old[i].start == r->start && old[i].end == r->end &&
		    old[i].offset == r->offset && old[i].inode == r->inode &&
		    strcmp(old[i].path, r->path) == 0) {
			r->image = old[i].image;
			r->module = old[i].module;
			r->tried = old[i].tried;
			return true;
		}
	return false;
}

/* Join adjacent mappings: a stack may consist of several. */
static void add_area(struct fz_space *s, uint64_t start, uint64_t end)
{
	if (s->area_n && s->areas[s->area_n - 1].end == start &&
	    start - s->areas[s->area_n - 1].start < AREA_JOIN_MAX) {
		s->areas[s->area_n - 1].end = end;
		return;
	}
	fz_push(s->areas, s->area_n, s->area_cap, (struct fz_space_area){ start, end });
}

static void refresh(struct fz_space *s, int64_t now)
{
	fz_auto(fz_mappings_release) struct fz_mappings maps = { 0 };
	struct fz_space_range *old = s->ranges;
	size_t old_n = s->n;
	bool changed = false;

	s->next_refresh = now + REFRESH_EVERY_NS;
	s->next_check = now + CHECK_EVERY_NS;
	if (fz_process_maps(s->process, &maps, NULL) || maps.n == 0)
		return;
	s->ranges = NULL;
	s->n = s->cap = s->last = 0;
	s->area_n = 0;
	for (size_t i = 0; i < maps.n; i++) {
		const struct fz_mapping *m = &maps.list[i];
		if (m->writable)
			add_area(s, m->start, m->end);
		if (!m->executable || strcmp(m->path, "[vsyscall]") == 0)
			continue;
		fz_grow(s->ranges, s->n, s->cap);
		struct fz_space_range *r = &s->ranges[s->n++];
		*r = (struct fz_space_range){ .start = m->start,
					      .end = m->end,
					      .offset = m->offset,
					      .device = FZ_KEY(m->dev_major, m->dev_minor),
					      .inode = m->inode,
					      .image = FZ_NONE,
					      .module = FZ_NONE,
					      .path = fz_strdup(m->path) };
		changed |= !take_over(r, old, old_n);
	}
	s->generation += changed || s->n != old_n;
	release_ranges(old, old_n);
}

void fz_space_refresh(struct fz_space *s, int64_t now)
{
	if (now < s->next_check)
		return;
	refresh(s, now);
	s->credit = CREDIT;
}

/* True if the map of the process may be read again for an unknown address. */
static bool may_refresh(struct fz_space *s, int64_t now)
{
	if (now >= s->next_refresh)
		return true;
	if (s->credit == 0)
		return false;
	s->credit--;
	return true;
}

struct fz_space_range *fz_space_find(struct fz_space *s, uint64_t address)
{
	struct fz_space_range *r = search(s, address);

	if (!r) {
		int64_t now = fz_clock_now();
		if (!may_refresh(s, now))
			return NULL;
		refresh(s, now);
		r = search(s, address);
	}
	if (r && !r->tried)
		open_range(s, r);
	if (r && r->image == FZ_NONE && r->module != FZ_NONE && r->path[0] != '/')
		open_map(s, &s->images->list[r->module]);
	return r;
}

static uint64_t search_area(const struct fz_space *s, uint64_t address)
{
	size_t lo = 0, hi = s->area_n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->areas[mid].end <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->area_n && address >= s->areas[lo].start ? s->areas[lo].end : 0;
}

uint64_t fz_space_area_end(struct fz_space *s, uint64_t address)
{
	uint64_t end = search_area(s, address);

	if (end)
		return end;
	int64_t now = fz_clock_now();
	if (!may_refresh(s, now))
		return 0;
	refresh(s, now);
	return search_area(s, address);
}
