/* SPDX-License-Identifier: MIT */
/* Resolves addresses to names in three cached steps:
 *
 *   pid -> maps (sorted ranges; a fork shares them until one side maps something)
 *   range -> file -> its image here, if that is the recorded one
 *   (file, address in it) -> frames, inlined calls included
 *
 * A file on disk is used only if it is the recorded one: the build id must match or, if none was
 * recorded, the inode and its generation; for the kernel the host, release and address. Otherwise
 * code has only its file name: "[libc.so.6]".
 */
#include "perfdata_space.h"

#include "base/io.h"
#include "import.h"
#include "symbol/images.h"
#include "symbol/kallsyms.h"
#include "symbol/symbols.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { IMAGES_MAX = 200, MAPS_MAX = 3000, WORK_SHARE = 32, BUILD_ID_MAX = 40 };

#define KERNEL_NAME "[kernel.kallsyms]"

struct range {
	uint64_t start, end, offset;
	uint32_t file;
};

struct maps {
	uint32_t users;
	struct range *list;
	size_t n, cap;
};

struct file {
	uint32_t path, build_id; /* strings */
	uint64_t inode, generation;
	bool tried;
	struct fz_image *image; /* owned by the images */
	uint32_t entry;         /* in the images; FZ_NONE: its code is not available */
};

/* A resolved address. */
struct site {
	uint64_t where, address;
	uint32_t first, n; /* range in chains */
};

struct process {
	struct maps *maps;
	struct fz_jitmap *jit;
	bool jit_tried;
	uint32_t pid;
};

struct fz_perfspace {
	struct fz_profile *p;
	bool same_host, same_release; /* of the kernel */
	struct process *processes;
	size_t process_n, process_cap;
	struct fz_map process_of; /* pid -> in processes */
	struct maps kernel_maps;
	struct file *files;
	uint32_t file_n, file_cap;
	struct fz_map file_of;     /* (path, build id) -> in files */
	struct fz_map build_id_of; /* path -> build id, both strings */
	struct fz_images images;
	unsigned opened, jits;
	struct site *sites;
	uint32_t site_n, site_cap;
	struct fz_map site_of; /* hash -> in sites */
	uint32_t *chains;
	uint32_t chain_n, chain_cap;
	bool kernel_tried;
	struct fz_kallsyms *kernel;
	uint64_t kernel_text; /* address of _text during recording; 0: unknown */
	int64_t kernel_bias;  /* added to a recorded address for a lookup in the table */
};

struct fz_perfspace *fz_perfspace_new(struct fz_profile *p, struct fz_str host,
				      struct fz_str release)
{
	struct fz_perfspace *s = fz_calloc(1, sizeof(*s));
	struct utsname here = { 0 };

	s->p = p;
	uname(&here);
	s->same_host = !host.n || fz_str_eq(host, fz_str_of(here.nodename));
	s->same_release = release.n && fz_str_eq(release, fz_str_of(here.release));
	return s;
}

static void drop(struct maps *m)
{
	if (!m || --m->users)
		return;
	free(m->list);
	free(m);
}

void fz_perfspace_free(struct fz_perfspace *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->process_n; i++) {
		drop(s->processes[i].maps);
		fz_jitmap_free(s->processes[i].jit);
	}
	free(s->processes);
	free(s->kernel_maps.list);
	free(s->files);
	free(s->sites);
	free(s->chains);
	fz_map_release(&s->process_of);
	fz_map_release(&s->file_of);
	fz_map_release(&s->build_id_of);
	fz_map_release(&s->site_of);
	fz_images_release(&s->images);
	fz_kallsyms_free(s->kernel);
	free(s);
}

/* ---- files ---- */

void fz_perfspace_build_id(struct fz_perfspace *s, struct fz_str path, struct fz_str hex)
{
	uint32_t key = fz_profile_string(s->p, path);

	fz_map_put(&s->build_id_of, key, fz_profile_string(s->p, hex));
}

static uint32_t file_of(struct fz_perfspace *s, const struct fz_perfspace_map *m)
{
	uint32_t path = fz_profile_string(s->p, m->path);
	uint32_t build_id = fz_profile_string(s->p, m->build_id);

	if (!build_id) {
		uint32_t known = fz_map_get(&s->build_id_of, path);
		build_id = known == FZ_NONE ? 0 : known;
	}
	uint32_t *slot = fz_map_slot(&s->file_of, FZ_KEY(path, build_id));
	if (*slot != FZ_NONE)
		return *slot;
	*slot = s->file_n;
	fz_profile_grow(s->p, s->files, s->file_n, s->file_cap);
	s->files[s->file_n] = (struct file){ .path = path,
					     .build_id = build_id,
					     .inode = m->inode,
					     .generation = m->generation,
					     .entry = FZ_NONE };
	return s->file_n++;
}

static bool is_inode(int fd, const struct file *f)
{
	struct stat st;
	int generation;

	if (fstat(fd, &st) || st.st_ino != f->inode)
		return false;
	return ioctl(fd, FS_IOC_GETVERSION, &generation) ||
	       (uint32_t)generation == (uint32_t)f->generation;
}

/* The image of a file at `path` if it is the recorded one, else NULL. */
static struct fz_image *open_image(struct fz_perfspace *s, const struct file *f, const char *path,
				   const char *recorded_path)
{
	struct fz_str id = fz_profile_text(s->p, f->build_id);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct fz_image *image;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (!id.n && !is_inode(fd, f))) {
		close(fd);
		return NULL;
	}
	if (fz_image_open(fd, recorded_path, &image, NULL))
		return NULL;
	const char *module = fz_image_module(image);
	const char *own = strrchr(module, ' ');
	if (!id.n || (own && fz_str_eq(id, fz_str_of(own + 1))))
		return image;
	fz_image_free(image);
	return NULL;
}

/* Opens perf record's copy of a file below ~/.debug. */
static struct fz_image *open_kept(struct fz_perfspace *s, const struct file *f,
				  const char *recorded_path)
{
	static const char *const names[] = { "elf", "vdso" };
	struct fz_str id = fz_profile_text(s->p, f->build_id);
	const char *home = getenv("HOME");
	struct fz_image *image = NULL;

	if (!home || id.n < 4 || id.n > BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < FZ_ARRAY_LEN(names) && !image; i++) {
		fz_auto(fz_free_ptr) char *path =
			fz_asprintf("%s/.debug/.build-id/%.2s/%.*s/%s", home, id.p, (int)id.n - 2,
				    id.p + 2, names[i]);
		image = open_image(s, f, path, recorded_path);
	}
	return image;
}

static void open_file(struct fz_perfspace *s, struct file *f)
{
	struct fz_str path = fz_profile_text(s->p, f->path);
	fz_auto(fz_free_ptr) char *name = fz_strndup(path.p, path.n);
	struct fz_image *image = NULL;

	f->tried = true;
	if (s->opened >= IMAGES_MAX || (!f->build_id && !f->inode))
		return;
	if (name[0] == '/')
		image = open_image(s, f, name, name);
	if (!image)
		image = open_kept(s, f, name);
	if (!image)
		return;
	s->opened++;
	f->entry = fz_images_add_image(&s->images, image);
	f->image = s->images.list[f->entry].image;
}

/* ---- maps ---- */

static struct process *process_of(struct fz_perfspace *s, uint32_t pid)
{
	uint32_t *slot = fz_map_slot(&s->process_of, pid);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)s->process_n;
		fz_profile_push(s->p, s->processes, s->process_n, s->process_cap,
				(struct process){ .pid = pid });
	}
	return &s->processes[*slot];
}

static const struct range *find_range(const struct maps *m, uint64_t address)
{
	size_t lo = 0, hi = m ? m->n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (m->list[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && address < m->list[lo - 1].end ? &m->list[lo - 1] : NULL;
}

/* Replaces n ranges at `at` by k others. */
static void replace_ranges(struct fz_profile *p, struct maps *m, size_t at, size_t n,
			   const struct range *with, size_t k)
{
	size_t behind = m->n - at - n;

	/* Many maps in unfavourable order need much work for few bytes. */
	if (m->n > MAPS_MAX)
		fz_profile_takes(p, behind * sizeof(*m->list) / WORK_SHARE);
	while (m->n - n + k > m->cap) {
		size_t full = m->cap;
		fz_profile_grow(p, m->list, full, m->cap);
	}
	memmove(m->list + at + k, m->list + at + n, behind * sizeof(*m->list));
	memcpy(m->list + at, with, k * sizeof(*m->list));
	m->n = m->n - n + k;
}

/* Adds a range, replacing overlapped ones. */
static void insert(struct fz_profile *p, struct maps *m, struct range r)
{
	struct range with[3];
	size_t k = 0, first = 0, hi = m->n;

	while (first < hi) {
		size_t mid = first + (hi - first) / 2;
		if (m->list[mid].end <= r.start)
			first = mid + 1;
		else
			hi = mid;
	}
	size_t last = first;
	while (last < m->n && m->list[last].start < r.end)
		last++;
	if (first < last && m->list[first].start < r.start) {
		with[k] = m->list[first];
		with[k++].end = r.start;
	}
	with[k++] = r;
	if (first < last && m->list[last - 1].end > r.end) {
		with[k] = m->list[last - 1];
		with[k].offset += r.end - with[k].start;
		with[k++].start = r.end;
	}
	replace_ranges(p, m, first, last - first, with, k);
}

/* The maps of a process, unshared. */
static struct maps *own_maps(struct fz_perfspace *s, struct process *p)
{
	struct maps *old = p->maps;

	if (old && old->users == 1)
		return old;
	p->maps = fz_calloc(1, sizeof(*p->maps));
	p->maps->users = 1;
	if (old && old->n && fz_profile_takes(s->p, old->n * sizeof(*old->list))) {
		p->maps->n = p->maps->cap = old->n;
		p->maps->list = fz_reallocarray(NULL, old->n, sizeof(*old->list));
		memcpy(p->maps->list, old->list, old->n * sizeof(*old->list));
	}
	drop(old);
	return p->maps;
}

static void map(struct fz_perfspace *s, struct maps *maps, const struct fz_perfspace_map *m)
{
	struct range r = { .start = m->start, .end = m->start + m->size, .offset = m->offset };

	if (r.end <= r.start)
		return;
	r.file = file_of(s, m);
	insert(s->p, maps, r);
}

void fz_perfspace_map(struct fz_perfspace *s, uint32_t pid, const struct fz_perfspace_map *m)
{
	map(s, own_maps(s, process_of(s, pid)), m);
}

/* For the kernel itself, the offset is the address of _text in its table. */
void fz_perfspace_map_kernel(struct fz_perfspace *s, const struct fz_perfspace_map *m)
{
	struct fz_perfspace_map whole = *m;

	if (fz_str_starts(m->path, KERNEL_NAME)) {
		whole.path = FZ_STR(KERNEL_NAME);
		s->kernel_text = m->offset;
	}
	map(s, &s->kernel_maps, &whole);
}

void fz_perfspace_fork(struct fz_perfspace *s, uint32_t parent, uint32_t child)
{
	struct maps *maps = process_of(s, parent)->maps;
	struct process *p = process_of(s, child);

	if (parent == child)
		return;
	if (maps)
		maps->users++;
	drop(p->maps);
	p->maps = maps;
}

void fz_perfspace_exec(struct fz_perfspace *s, uint32_t pid)
{
	struct process *p = process_of(s, pid);

	drop(p->maps);
	p->maps = NULL;
}

/* ---- names ---- */

static void put_frame(struct fz_perfspace *s, struct site *site, uint32_t frame)
{
	fz_profile_push(s->p, s->chains, s->chain_n, s->chain_cap, frame);
	site->n++;
}

/* Names code without a symbol by its file: "[libc.so.6]". */
static void put_unnamed(struct fz_perfspace *s, struct site *site, struct fz_str module,
			struct fz_str build_id, enum fz_kind kind)
{
	fz_auto(fz_buf_release) struct fz_buf name = { 0 }, full = { 0 };

	module = fz_import_module(module);
	struct fz_str base = fz_path_base(module);
	bool bare = base.n && base.p[0] == '[';
	fz_buf_str(&name, bare ? "" : "[");
	fz_buf_add(&name, base.n ? base.p : "unknown", base.n ? base.n : strlen("unknown"));
	fz_buf_str(&name, bare ? "" : "]");
	fz_buf_add(&full, module.p, module.n);
	if (build_id.n)
		fz_buf_printf(&full, " %.*s", (int)build_id.n, build_id.p);
	put_frame(s, site,
		  fz_import_frame(s->p, &(struct fz_import_frame){ .name = fz_buf_view(&name),
								   .module = fz_buf_view(&full),
								   .kind = kind }));
}

static void put_made(struct fz_perfspace *s, struct site *site, struct fz_str text)
{
	struct fz_made_code made = fz_jitmap_split(text);
	struct fz_import_frame f = { .name = made.name,
				     .file = made.file,
				     .module = made.file.n ? FZ_STR("") : FZ_STR("[jit]"),
				     .first_line = made.line,
				     .kind = made.python ? FZ_KIND_PYTHON : FZ_KIND_NATIVE };

	put_frame(s, site, fz_import_frame(s->p, &f));
}

static bool is_made(struct fz_str path)
{
	static const char *const starts[] = { "//anon", "/anon_hugepage", "[heap]",    "[stack",
					      "/SYSV",  "/memfd:",        "/dev/zero", "[anon" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(starts); i++)
		if (fz_str_starts(path, starts[i]))
			return true;
	return false;
}

/* Opens the map of a process's generated code: in /tmp of the machine where the program ran, owned
 * by the user or root. */
static struct fz_jitmap *jitmap_of(struct fz_perfspace *s, struct process *p)
{
	char path[64];

	if (p->jit_tried || !s->same_host || s->jits >= IMAGES_MAX)
		return p->jit;
	p->jit_tried = true;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", p->pid);
	p->jit = fz_jitmap_open(path, geteuid());
	s->jits += p->jit != NULL;
	return p->jit;
}

static void name_made(struct fz_perfspace *s, struct site *site, struct process *p,
		      uint64_t address)
{
	struct fz_jitmap *jit = jitmap_of(s, p);
	struct fz_str name;

	if (jit && fz_jitmap_find(jit, address, &name))
		put_made(s, site, name);
	else
		put_unnamed(s, site, FZ_STR("[jit]"), FZ_STR(""), FZ_KIND_NATIVE);
}

static void name_in_file(struct fz_perfspace *s, struct site *site, struct file *f, uint64_t offset)
{
	uint32_t frames[FZ_SYMBOLS_CALLS_MAX];
	uint64_t address;

	if (!f->tried)
		open_file(s, f);
	if (f->entry == FZ_NONE || !fz_image_address(f->image, offset, &address)) {
		put_unnamed(s, site, fz_profile_text(s->p, f->path),
			    fz_profile_text(s->p, f->build_id), FZ_KIND_NATIVE);
		return;
	}
	uint32_t n = fz_images_name(&s->images, f->entry, address, s->p, frames);
	for (uint32_t i = 0; i < n; i++)
		put_frame(s, site, frames[i]);
}

/* ---- the kernel ---- */

/* Reads the running kernel's build id from its notes: {length of name, of content, type, name,
 * content}. */
static bool running_build_id(char ret[2 * 64 + 1])
{
	enum { TYPE_BUILD_ID = 3, NOTES_MAX = 1 << 16 };
	size_t n = 0;
	fz_auto(fz_free_ptr) char *notes = fz_read_small("/sys/kernel/notes", NOTES_MAX, &n);
	struct fz_cursor c = fz_cursor_of(notes ? notes : "", n);

	while (!c.bad && fz_cursor_left(&c)) {
		uint32_t name_n = fz_cursor_u32(&c), id_n = fz_cursor_u32(&c);
		uint32_t type = fz_cursor_u32(&c);
		const uint8_t *name = fz_cursor_bytes(&c, ((size_t)name_n + 3) & ~(size_t)3);
		const uint8_t *id = fz_cursor_bytes(&c, ((size_t)id_n + 3) & ~(size_t)3);
		if (!name || !id || type != TYPE_BUILD_ID || name_n != 4 ||
		    memcmp(name, "GNU", 4) != 0 || id_n > 64)
			continue;
		for (uint32_t i = 0; i < id_n; i++)
			snprintf(ret + 2 * (size_t)i, 3, "%02x", id[i]);
		return id_n > 0;
	}
	return false;
}

/* Finds a kernel's table by build id: the running one's, or perf's copy. */
static struct fz_kallsyms *kernel_of(struct fz_str id)
{
	const char *home = getenv("HOME");
	char running[2 * 64 + 1] = "";
	struct fz_kallsyms *ret = NULL;

	if (running_build_id(running) && fz_str_eq(id, fz_str_of(running)))
		ret = fz_kallsyms_open("/proc/kallsyms");
	if (!ret && home) {
		fz_auto(fz_free_ptr) char *path = fz_asprintf(
			"%s/.debug/" KERNEL_NAME "/%.*s/kallsyms", home, (int)id.n, id.p);
		ret = fz_kallsyms_open(path);
	}
	return ret;
}

/* Without build ids, as from "perf record -z" and -B: the running kernel's table if host, release
 * and the address of the code match. */
static struct fz_kallsyms *kernel_without_id(const struct fz_perfspace *s)
{
	if (!s->same_host || !s->same_release || !s->kernel_text)
		return NULL;
	struct fz_kallsyms *ret = fz_kallsyms_open("/proc/kallsyms");
	if (ret && fz_kallsyms_text(ret) == s->kernel_text)
		return ret;
	fz_kallsyms_free(ret);
	return NULL;
}

static void open_kernel(struct fz_perfspace *s)
{
	uint32_t known = fz_map_get(&s->build_id_of, fz_profile_string(s->p, FZ_STR(KERNEL_NAME)));
	struct fz_str id = known == FZ_NONE ? FZ_STR("") : fz_profile_text(s->p, known);

	s->kernel_tried = true;
	if (id.n > BUILD_ID_MAX)
		return;
	s->kernel = id.n ? kernel_of(id) : kernel_without_id(s);
	if (!s->kernel)
		return;
	uint64_t text = fz_kallsyms_text(s->kernel);
	if (s->kernel_text && text)
		s->kernel_bias = (int64_t)(text - s->kernel_text);
}

static void name_kernel(struct fz_perfspace *s, struct site *site, uint64_t address)
{
	const struct range *r = find_range(&s->kernel_maps, address);
	struct fz_str module =
		r ? fz_profile_text(s->p, s->files[r->file].path) : FZ_STR(KERNEL_NAME);
	struct fz_str name, of;

	if (!s->kernel_tried)
		open_kernel(s);
	/* Modules are relocated independently. */
	bool here = fz_str_eq(module, FZ_STR(KERNEL_NAME)) || !s->kernel_bias;
	if (s->kernel && here &&
	    fz_kallsyms_find(s->kernel, address + (uint64_t)s->kernel_bias, &name, &of))
		put_frame(s, site,
			  fz_import_frame(s->p,
					  &(struct fz_import_frame){ .name = name,
								     .module = of.n ? of : module,
								     .kind = FZ_KIND_KERNEL }));
	else
		put_unnamed(s, site, module, FZ_STR(""), FZ_KIND_KERNEL);
}

/* ---- looking up ---- */

/* Finds the site of an address; creates it without frames if needed. */
static struct site *site_of(struct fz_perfspace *s, uint64_t where, uint64_t address)
{
	uint64_t key[2] = { where, address };
	uint64_t hash = fz_map_hash(key, sizeof(key));
	uint32_t *slot;

	for (;; hash++) {
		slot = fz_map_slot(&s->site_of, hash);
		if (*slot == FZ_NONE)
			break;
		struct site *site = &s->sites[*slot];
		if (site->where == where && site->address == address)
			return site;
	}
	*slot = s->site_n;
	fz_profile_grow(s->p, s->sites, s->site_n, s->site_cap);
	s->sites[s->site_n] =
		(struct site){ .where = where, .address = address, .first = s->chain_n };
	return &s->sites[s->site_n++];
}

/* Kinds of places; combined with the number of a file or process. */
enum { WHERE_FILE, WHERE_MADE, WHERE_KERNEL, WHERE_GUEST, WHERE_NOWHERE };

static struct site *user_site(struct fz_perfspace *s, uint32_t pid, uint64_t address)
{
	struct process *p = process_of(s, pid);
	const struct range *r = find_range(p->maps, address);
	struct site *site;

	if (!r) {
		site = site_of(s, FZ_KEY(WHERE_NOWHERE, 0), 0);
		if (!site->n)
			put_unnamed(s, site, FZ_STR(""), FZ_STR(""), FZ_KIND_NATIVE);
		return site;
	}
	struct file *f = &s->files[r->file];
	if (is_made(fz_profile_text(s->p, f->path))) {
		site = site_of(s, FZ_KEY(WHERE_MADE, pid), address);
		if (!site->n)
			name_made(s, site, p, address);
		return site;
	}
	uint64_t offset = address - r->start + r->offset;
	site = site_of(s, FZ_KEY(WHERE_FILE, r->file), offset);
	if (!site->n)
		name_in_file(s, site, f, offset);
	return site;
}

const uint32_t *fz_perfspace_frames(struct fz_perfspace *s, uint32_t pid,
				    enum fz_perfspace_mode mode, uint64_t address, bool exact,
				    uint32_t *ret_n)
{
	struct site *site;

	/* The call precedes the return address, and may be the last instruction of its function. */
	address -= !exact && address;
	if (mode == FZ_PERFSPACE_KERNEL) {
		site = site_of(s, FZ_KEY(WHERE_KERNEL, 0), address);
		if (!site->n)
			name_kernel(s, site, address);
	} else if (mode == FZ_PERFSPACE_GUEST) {
		site = site_of(s, FZ_KEY(WHERE_GUEST, 0), 0);
		if (!site->n)
			put_unnamed(s, site, FZ_STR("[guest]"), FZ_STR(""), FZ_KIND_UNKNOWN);
	} else {
		site = user_site(s, pid, address);
	}
	*ret_n = site->n;
	return s->chains + site->first;
}
