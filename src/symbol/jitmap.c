/* SPDX-License-Identifier: MIT */
/* The map is read once and sorted by start; of lines with the same start the last one counts. An
 * address belongs to the nearest start below it whose code includes it.
 */
#include "symbol/jitmap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAP_BYTES_MAX = 256 << 20, ENTRIES_MAX = 4 << 20, BACK_MAX = 64 };

struct entry {
	uint64_t start, size;
	uint32_t order; /* line in the file */
	struct fz_str name;
};

struct fz_jitmap {
	int fd;
	bool read;
	char *text;
	struct entry *list;
	size_t n, cap;
};

struct fz_jitmap *fz_jitmap_new(int fd)
{
	struct fz_jitmap *map = fz_calloc(1, sizeof(*map));

	map->fd = fd;
	return map;
}

struct fz_jitmap *fz_jitmap_open(const char *path, uid_t owner)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && (st.st_uid == owner || st.st_uid == 0))
		return fz_jitmap_new(fd);
	close(fd);
	return NULL;
}

void fz_jitmap_free(struct fz_jitmap *map)
{
	if (!map)
		return;
	fz_close_fd(&map->fd);
	free(map->text);
	free(map->list);
	free(map);
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return FZ_CMP(x->start, y->start) ?: FZ_CMP(x->order, y->order);
}

/* Parses "START SIZE NAME"; skips other lines. */
static void add_line(struct fz_jitmap *map, char *line, size_t n)
{
	char *p = line, *end;
	uint64_t start = strtoull(p, &end, 16);

	if (end == p || *end != ' ')
		return;
	uint64_t size = strtoull(p = end + 1, &end, 16);
	if (end == p || *end != ' ' || end + 1 >= line + n || start + size < start ||
	    map->n == ENTRIES_MAX)
		return;
	fz_grow(map->list, map->n, map->cap);
	map->list[map->n] = (struct entry){ .start = start,
					    .size = size,
					    .order = (uint32_t)map->n,
					    .name = { end + 1, (size_t)(line + n - end - 1) } };
	map->n++;
}

static void keep_last_of_each(struct fz_jitmap *map)
{
	size_t n = 0;

	for (size_t i = 0; i < map->n; i++) {
		fz_assert(!n || map->list[n - 1].start <= map->list[i].start);
		if (n && map->list[n - 1].start == map->list[i].start)
			n--;
		map->list[n++] = map->list[i];
	}
	map->n = n;
}

static void read_map(struct fz_jitmap *map)
{
	struct stat st;

	map->read = true;
	if (fstat(map->fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return;
	size_t size = (size_t)FZ_MIN(st.st_size, (off_t)MAP_BYTES_MAX), n = 0;
	map->text = fz_malloc(size + 1);
	while (n < size) {
		ssize_t k = pread(map->fd, map->text + n, size - n, (off_t)n);
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	map->text[n] = 0;
	for (char *line = map->text, *end; (end = memchr(line, '\n', map->text + n - line));
	     line = end + 1) {
		*end = 0;
		add_line(map, line, (size_t)(end - line));
	}
	if (map->n)
		qsort(map->list, map->n, sizeof(*map->list), by_start);
	keep_last_of_each(map);
}

bool fz_jitmap_find(struct fz_jitmap *map, uint64_t address, struct fz_str *ret)
{
	if (!map)
		return false;
	if (!map->read)
		read_map(map);
	size_t lo = 0, hi = map->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (map->list[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && lo - i < BACK_MAX; i--) {
		const struct entry *e = &map->list[i - 1];
		if (address - e->start < e->size) {
			*ret = e->name;
			return true;
		}
	}
	return false;
}

static struct fz_str rest_of(struct fz_str s, size_t n)
{
	return (struct fz_str){ s.p + n, s.n - n };
}

/* Strips ":NUMBER" from the end. */
static bool cut_number(struct fz_str *s, uint64_t *ret)
{
	const char *colon = memrchr(s->p, ':', s->n);
	size_t n = colon ? (size_t)(colon - s->p) : s->n;

	if (!colon || !fz_parse_u64(rest_of(*s, n + 1), INT32_MAX, ret))
		return false;
	s->n = n;
	return true;
}

/* "py::Thing.method:/a/b.py", from CPython's perf trampoline. */
static bool split_python(struct fz_str text, struct fz_made_code *ret)
{
	if (!fz_str_starts(text, "py::"))
		return false;
	struct fz_str s = rest_of(text, strlen("py::"));
	const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	if (!colon)
		return false;
	size_t n = (size_t)(colon - s.p);
	*ret = (struct fz_made_code){ .name = { s.p, n },
				      .file = rest_of(s, n + 1),
				      .python = true };
	return true;
}

/* Strips V8's kind of code; false if there is none. */
static bool cut_kind(struct fz_str *text)
{
	static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:", "Script:",
					     "Eval:" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(kinds); i++)
		if (fz_str_starts(*text, kinds[i])) {
			*text = rest_of(*text, strlen(kinds[i]));
			return true;
		}
	return false;
}

/* Strips the mark of the tier of V8's compiler; false if there is none. */
static bool cut_mark(struct fz_str *text)
{
	struct fz_str s = *text;

	while (s.n && memchr("~*^+'", *s.p, 5))
		s = rest_of(s, 1);
	bool found = s.n < text->n;
	*text = s;
	return found;
}

/* Splits "NAME FILE:LINE:COLUMN"; V8 10 (Node 18) writes no column. */
static struct fz_made_code split_v8(struct fz_str text)
{
	const char *space = text.n ? memchr(text.p, ' ', text.n) : NULL;
	uint64_t line, last;

	if (!space)
		return (struct fz_made_code){ .name = text };
	struct fz_str name = { text.p, (size_t)(space - text.p) };
	struct fz_str place = rest_of(text, name.n + 1);
	if (!cut_number(&place, &last))
		return (struct fz_made_code){ .name = text };
	if (!cut_number(&place, &line))
		line = last;
	if (fz_str_starts(place, "file://"))
		place = rest_of(place, strlen("file://"));
	return (struct fz_made_code){ .name = name.n ? name : FZ_STR("(anonymous)"),
				      .file = place,
				      .line = (int32_t)line };
}

bool fz_jitmap_is_v8(struct fz_str text)
{
	return cut_kind(&text) && cut_mark(&text);
}

struct fz_made_code fz_jitmap_split(struct fz_str text)
{
	struct fz_made_code made;

	if (split_python(text, &made))
		return made;
	if (!cut_kind(&text))
		return (struct fz_made_code){ .name = text };
	cut_mark(&text);
	return split_v8(text);
}
