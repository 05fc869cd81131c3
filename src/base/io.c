/* SPDX-License-Identifier: MIT */
/* Input that unwraps compression, output that replaces its target in one step; see io.h.
 *
 *   file or memory -> raw[64 KiB] -> (nothing | inflate | zstd | UTF-16) -> plain[] -> reader
 *
 * `plain` has decompressed bytes not yet read, so that readers can peek.
 */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "outfile.h"
#include "str.h"
#include "utf16.h"

enum { CHUNK = 64 * 1024, WINDOW_LOG_MAX = 27 };

/* Limits far above real profiles: size of the text, and bytes per stored byte. */
enum { BOMB_BYTES = 1 << 28, BOMB_RATIO = 400 };

/* The largest known amplification of a real file is a recording of one stack: 64 bytes of memory
 * per sample of two bytes. */
#define BUDGET_BYTES ((uint64_t)256 << 20)
enum { BUDGET_RATIO = 64 };

enum wrapping { PLAIN, GZIP, ZSTD, UTF16 };

struct fz_input {
	int fd; /* -1: memory */
	char *name;
	const uint8_t *raw; /* next raw byte */
	size_t raw_left;
	uint8_t *raw_buf;
	bool raw_end;
	enum wrapping wrapping;
	enum fz_utf16 order; /* of UTF16 */
	bool probed;
	z_stream zs;
	ZSTD_DStream *zstd;
	bool stream_open; /* inside a gzip member or zstd frame */
	struct fz_buf plain;
	size_t taken; /* of plain */
	bool plain_end, ended_in_line;
	uint64_t delivered, limit;
	uint64_t stored; /* raw bytes consumed */
	uint64_t size;   /* of the file, as far as known */
	uint64_t budget; /* memory allowed for any size */
	uint64_t charged;
	struct fz_budget_part *shared; /* NULL: none */
};

/* Hours of idle time give a small file with millions of samples, so a file named by the user may
 * use a quarter of the machine's memory. */
static uint64_t file_budget(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return FZ_MAX(BUDGET_BYTES, (uint64_t)FZ_MAX(pages, 0) / 4 * (uint64_t)FZ_MAX(size, 0));
}

/* Memory allowed for its content. */
static uint64_t allowed(const struct fz_input *in)
{
	return in->budget + BUDGET_RATIO * FZ_MAX(in->size, in->stored);
}

static struct fz_input *input_new(int fd, const char *name)
{
	struct fz_input *in = fz_calloc(1, sizeof(*in));

	in->fd = fd;
	in->name = fz_strdup(name);
	in->limit = (uint64_t)FZ_INPUT_LIMIT_DEFAULT_GIB << 30;
	in->budget = fd < 0 ? BUDGET_BYTES : file_budget();
	return in;
}

int fz_input_open(const char *path, struct fz_input **ret, struct fz_error *err)
{
	if (strcmp(path, "-") == 0) {
		*ret = input_new(dup(STDIN_FILENO), "standard input");
		return 0;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fz_fail_errno(err, "%s: cannot be opened", path);
	struct stat st;
	if (fstat(fd, &st) < 0) {
		fz_fail_errno(err, "%s: cannot be opened", path);
		close(fd);
		return err ? err->code : FZ_ESYSTEM;
	}
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return fz_fail(err, FZ_EINPUT, "%s: is a folder; specify a profile file", path);
	}
	*ret = input_new(fd, path);
	(*ret)->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

bool fz_input_stat(const struct fz_input *in, struct stat *ret)
{
	struct stat st;

	if (in->fd < 0 || fstat(in->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*ret = st;
	return true;
}

int fz_input_open_memory(const void *p, size_t n, const char *name, struct fz_input **ret,
			 struct fz_error *err)
{
	(void)err;
	struct fz_input *in = input_new(-1, name);

	in->raw = p;
	in->raw_left = n;
	in->raw_end = true;
	in->size = n;
	*ret = in;
	return 0;
}

void fz_input_close(struct fz_input *in)
{
	if (!in)
		return;
	if (in->fd >= 0)
		close(in->fd);
	if (in->wrapping == GZIP)
		inflateEnd(&in->zs);
	ZSTD_freeDStream(in->zstd);
	free(in->raw_buf);
	free(in->name);
	fz_buf_release(&in->plain);
	free(in);
}

void fz_input_closep(struct fz_input **in)
{
	fz_input_close(*in);
}

const char *fz_input_name(const struct fz_input *in)
{
	return in->name;
}

void fz_input_set_limit(struct fz_input *in, uint64_t bytes)
{
	in->limit = bytes;
}

void fz_input_set_budget(struct fz_input *in, struct fz_budget_part *budget)
{
	in->shared = budget;
}

bool fz_input_charge(struct fz_input *in, uint64_t bytes)
{
	in->charged += FZ_MIN(bytes, UINT64_MAX - in->charged);
	return in->charged <= allowed(in) && (!in->shared || fz_budget_take(in->shared, bytes));
}

int fz_input_check(const struct fz_input *in, struct fz_error *err)
{
	if (in->charged <= allowed(in))
		return in->shared ? fz_budget_check(in->shared, in->name, err) : 0;
	return fz_fail(
		err, FZ_ELIMIT,
		"%s: would use more than %llu MiB of memory, out of proportion to its %llu bytes",
		in->name, (unsigned long long)(allowed(in) >> 20),
		(unsigned long long)FZ_MAX(in->size, in->stored));
}

/* Buffers at least `want` raw bytes (want <= CHUNK) if the source has them. */
static int fill_raw(struct fz_input *in, size_t want, struct fz_error *err)
{
	if (in->raw_end || in->raw_left >= want)
		return 0;
	if (!in->raw_buf)
		in->raw_buf = fz_malloc(CHUNK);
	if (in->raw_left)
		memmove(in->raw_buf, in->raw, in->raw_left);
	in->raw = in->raw_buf;
	while (in->raw_left < want && !in->raw_end) {
		ssize_t n = read(in->fd, in->raw_buf + in->raw_left, CHUNK - in->raw_left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fz_fail_errno(err, "%s: cannot be read", in->name);
		in->raw_end = n == 0;
		in->raw_left += (size_t)n;
	}
	return 0;
}

static int probe(struct fz_input *in, struct fz_error *err)
{
	int r = fill_raw(in, 4, err);

	if (r)
		return r;
	in->probed = true;
	size_t mark;
	in->order = fz_utf16_probe(in->raw, in->raw_left, &mark);
	if (in->order) {
		in->wrapping = UTF16;
		in->raw += mark;
		in->raw_left -= mark;
	} else if (in->raw_left >= 3 && in->raw[0] == 0x1f && in->raw[1] == 0x8b &&
		   in->raw[2] == 8) {
		if (inflateInit2(&in->zs, 15 + 16) != Z_OK)
			return fz_fail(err, FZ_ELIMIT, "%s: cannot initialise zlib", in->name);
		in->wrapping = GZIP;
	} else if (in->raw_left >= 4 && memcmp(in->raw, "\x28\xb5\x2f\xfd", 4) == 0) {
		in->zstd = ZSTD_createDStream();
		fz_assert(in->zstd);
		ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
		in->wrapping = ZSTD;
	}
	return 0;
}

static int inflate_some(struct fz_input *in, char *out, size_t *n, struct fz_error *err)
{
	in->zs.next_in = (Bytef *)in->raw;
	in->zs.avail_in = (uInt)in->raw_left;
	in->zs.next_out = (Bytef *)out;
	in->zs.avail_out = (uInt)*n;
	int z = inflate(&in->zs, Z_NO_FLUSH);
	in->stream_open = z != Z_STREAM_END;
	if (z == Z_STREAM_END)
		inflateReset(&in->zs);
	else if (z != Z_OK && z != Z_BUF_ERROR)
		return fz_fail(err, FZ_EINPUT, "%s: corrupt gzip data", in->name);
	in->raw += in->raw_left - in->zs.avail_in;
	in->raw_left = in->zs.avail_in;
	*n -= in->zs.avail_out;
	return 0;
}

static int unzstd_some(struct fz_input *in, char *out, size_t *n, struct fz_error *err)
{
	ZSTD_inBuffer src = { in->raw, in->raw_left, 0 };
	ZSTD_outBuffer dst = { out, *n, 0 };
	size_t z = ZSTD_decompressStream(in->zstd, &dst, &src);

	if (ZSTD_isError(z))
		return fz_fail(err, FZ_EINPUT, "%s: corrupt zstd data (%s)", in->name,
			       ZSTD_getErrorName(z));
	in->stream_open = z != 0;
	in->raw += src.pos;
	in->raw_left -= src.pos;
	*n = dst.pos;
	return 0;
}

static int copy_some(struct fz_input *in, char *out, size_t *n, struct fz_error *err)
{
	(void)err;
	*n = FZ_MIN(*n, in->raw_left);
	if (*n)
		memcpy(out, in->raw, *n);
	in->raw += *n;
	in->raw_left -= *n;
	in->plain_end = *n == 0;
	return 0;
}

static int recode_some(struct fz_input *in, char *out, size_t *n, struct fz_error *err)
{
	(void)err;
	size_t take = FZ_MIN(*n / 2, in->raw_left); /* 2 bytes become 3 */
	bool last = in->raw_end && take == in->raw_left;
	size_t used = fz_utf16_decode(in->order, in->raw, take, last, out, n);
	in->raw += used;
	in->raw_left -= used;
	in->plain_end = last && !take;
	return 0;
}

/* Decompresses (or copies) one chunk to the end of `plain`. */
static int fill_plain(struct fz_input *in, struct fz_error *err)
{
	int r = in->probed ? 0 : probe(in, err);

	if (!r)
		r = fz_input_check(in, err);
	if (!r)
		r = fill_raw(in, in->wrapping == UTF16 ? 4 : 1, err);
	if (r)
		return r;
	if (in->taken == in->plain.n) {
		fz_buf_reset(&in->plain);
		in->taken = 0;
	}
	size_t n = CHUNK;
	char *out = fz_buf_reserve(&in->plain, n);
	size_t had_input = in->raw_left;
	if (in->wrapping == PLAIN || in->wrapping == UTF16) {
		r = in->wrapping == PLAIN ? copy_some(in, out, &n, err)
					  : recode_some(in, out, &n, err);
		if (r)
			return r;
	} else if (in->raw_left == 0 && !in->stream_open) {
		/* Between members or frames, where the input may end; the decompressor would start
		 * the next one. */
		n = 0;
		in->plain_end = true;
	} else {
		if (in->wrapping == GZIP)
			r = inflate_some(in, out, &n, err);
		else
			r = unzstd_some(in, out, &n, err);
		if (r)
			return r;
		in->plain_end = n == 0 && !had_input;
		if (in->plain_end && in->stream_open)
			return fz_fail(err, FZ_EINPUT, "%s: truncated compressed data", in->name);
	}
	in->stored += had_input - in->raw_left;
	in->plain.n += n;
	if (!in->delivered && fz_str_starts(fz_buf_view(&in->plain), "\xef\xbb\xbf"))
		in->taken = 3;
	in->delivered += n;
	if (in->delivered > in->limit)
		return fz_fail(err, FZ_ELIMIT, "%s: larger than %llu MiB when unpacked", in->name,
			       (unsigned long long)(in->limit >> 20));
	if (in->wrapping != PLAIN && in->delivered > BOMB_BYTES &&
	    in->delivered / BOMB_RATIO > in->stored)
		return fz_fail(err, FZ_ELIMIT, "%s: unpacks to more than %d times its size",
			       in->name, BOMB_RATIO);
	return 0;
}

/* Buffers at least `want` plain bytes, or all there are. */
static int want_plain(struct fz_input *in, size_t want, struct fz_error *err)
{
	fz_assert(in->taken <= in->plain.n);
	while (in->plain.n - in->taken < want && !in->plain_end) {
		int r = fill_plain(in, err);
		if (r)
			return r;
	}
	return 0;
}

int64_t fz_input_read(struct fz_input *in, void *out, size_t n, struct fz_error *err)
{
	size_t got = 0;

	while (got < n) {
		int r = want_plain(in, 1, err);
		if (r)
			return r;
		size_t ready = FZ_MIN(in->plain.n - in->taken, n - got);
		if (ready == 0)
			break;
		memcpy((char *)out + got, in->plain.p + in->taken, ready);
		in->taken += ready;
		got += ready;
	}
	return (int64_t)got;
}

int64_t fz_input_peek(struct fz_input *in, const uint8_t **ret, size_t n, struct fz_error *err)
{
	fz_assert(n <= CHUNK);
	int r = want_plain(in, n, err);
	if (r)
		return r;
	*ret = (const uint8_t *)in->plain.p + in->taken;
	return (int64_t)FZ_MIN(in->plain.n - in->taken, n);
}

int fz_input_read_all(struct fz_input *in, struct fz_buf *out, uint64_t max, struct fz_error *err)
{
	for (;;) {
		int r = want_plain(in, 1, err);
		if (r)
			return r;
		size_t ready = in->plain.n - in->taken;
		if (ready == 0)
			return 0;
		size_t n = FZ_MIN(ready, max - out->n);
		if (!n)
			return fz_fail(err, FZ_ELIMIT, "%s: larger than %llu MiB", in->name,
				       (unsigned long long)(max >> 20));
		if (!fz_input_charge(in, n))
			return fz_input_check(in, err);
		fz_buf_add(out, in->plain.p + in->taken, n);
		in->taken += n;
	}
}

int fz_input_line(struct fz_input *in, size_t max, struct fz_str *ret, struct fz_error *err)
{
	size_t searched = 0;

	for (;;) {
		char *start = in->plain.p ? in->plain.p + in->taken : NULL;
		size_t ready = in->plain.n - in->taken;
		char *nl =
			ready > searched ? memchr(start + searched, '\n', ready - searched) : NULL;
		if (!nl && ready > max)
			return fz_fail(err, FZ_ELIMIT, "%s: a line is longer than %zu bytes",
				       in->name, max);
		if (nl || (in->plain_end && ready)) {
			size_t n = nl ? (size_t)(nl - start) : ready;
			in->taken += n + (nl != NULL);
			in->ended_in_line = !nl;
			*ret = (struct fz_str){ start, n && start[n - 1] == '\r' ? n - 1 : n };
			return 1;
		}
		if (in->plain_end)
			return 0;
		searched = ready;
		/* Move the tail to the front to keep memory bounded. */
		if (in->taken > CHUNK) {
			memmove(in->plain.p, start, ready);
			in->plain.n = ready;
			in->taken = 0;
		}
		int r = fill_plain(in, err);
		if (r)
			return r;
	}
}

int fz_input_each_line(const char *path, size_t max, void (*take)(void *arg, struct fz_str line),
		       void *arg, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	struct fz_str line;
	int r = fz_input_open(path, &in, err);

	while (!r && (r = fz_input_line(in, max, &line, err)) > 0) {
		take(arg, line);
		r = 0;
	}
	return r;
}

bool fz_input_ended_in_line(const struct fz_input *in)
{
	return in->ended_in_line;
}

/* ---- output ---- */

struct fz_output {
	int fd; /* -1: memory */
	bool to_stdout;
	struct fz_outfile file;
	struct fz_buf buf;
	int error; /* errno of the first failure */
};

struct fz_output *fz_output_memory(void)
{
	struct fz_output *out = fz_calloc(1, sizeof(*out));

	out->fd = -1;
	return out;
}

struct fz_buf *fz_output_buffer(struct fz_output *out)
{
	return &out->buf;
}

int fz_output_open(const char *path, struct fz_output **ret, struct fz_error *err)
{
	if (!*path)
		return fz_fail(err, FZ_EUSAGE, "the name of the output file is empty");
	struct fz_output *out = fz_output_memory();
	int rc = 0;

	if (strcmp(path, "-") != 0) {
		rc = fz_outfile_open(&out->file, path, &out->fd, err);
	} else {
		out->to_stdout = true;
		out->fd = dup(STDOUT_FILENO);
		rc = out->fd < 0 ? fz_fail_errno(err, "standard output: cannot be written") : 0;
	}
	if (rc)
		fz_output_abort(out);
	else
		*ret = out;
	return rc;
}

bool fz_write_full(int fd, const void *p, size_t n)
{
	const char *next = p;

	while (n) {
		ssize_t w = write(fd, next, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return false;
		next += w;
		n -= (size_t)w;
	}
	return true;
}

static void output_flush(struct fz_output *out)
{
	if (out->fd < 0)
		return;
	if (!out->error && !fz_write_full(out->fd, out->buf.p, out->buf.n))
		out->error = errno;
	fz_buf_reset(&out->buf);
}

void fz_output_add(struct fz_output *out, const void *p, size_t n)
{
	fz_buf_add(&out->buf, p, n);
	if (out->buf.n >= CHUNK)
		output_flush(out);
}

void fz_output_str(struct fz_output *out, const char *s)
{
	fz_output_add(out, s, strlen(s));
}

void fz_output_printf(struct fz_output *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *s = NULL;
	int n = vasprintf(&s, fmt, ap);
	va_end(ap);
	fz_assert(n >= 0);
	fz_output_add(out, s, (size_t)n);
	free(s);
}

bool fz_output_is_stdout(const struct fz_output *out)
{
	return out->to_stdout;
}

int fz_output_close(struct fz_output *out, struct fz_error *err)
{
	if (!out)
		return 0;
	output_flush(out);
	if (out->fd >= 0 && !out->error) {
		out->error = fz_outfile_commit(&out->file, out->fd) ? 0 : errno;
		out->fd = -1;
	}
	errno = out->error;
	int r = 0;
	/* A closed pipe at standard output is not an error. */
	if (out->error && !(out->to_stdout && out->error == EPIPE))
		r = fz_fail_errno(err, "%s: cannot be written",
				  out->file.path ? out->file.path : "standard output");
	fz_output_abort(out);
	return r;
}

void fz_output_abort(struct fz_output *out)
{
	if (!out)
		return;
	if (out->fd >= 0)
		close(out->fd);
	fz_outfile_release(&out->file);
	fz_buf_release(&out->buf);
	free(out);
}

void fz_output_abortp(struct fz_output **out)
{
	fz_output_abort(*out);
}

/* ---- small helpers ---- */

char *fz_read_text(int fd, size_t max, struct stat *ret)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > max)
		return NULL;
	fz_auto(fz_free_ptr) char *text = fz_malloc((size_t)st.st_size);
	ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
	if (n <= 0 || memchr(text, 0, (size_t)n))
		return NULL;
	st.st_size = n;
	*ret = st;
	return fz_steal(text);
}

char *fz_read_small(const char *path, size_t max, size_t *ret_n)
{
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct fz_buf b = { 0 };

	if (fd < 0)
		return NULL;
	for (;;) {
		size_t room = FZ_MIN((size_t)CHUNK, max - b.n);
		ssize_t n = room ? read(fd, fz_buf_reserve(&b, room), room) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int saved = errno;
			fz_buf_release(&b);
			errno = saved;
			return NULL;
		}
		if (n == 0)
			break;
		b.n += (size_t)n;
	}
	if (b.p)
		b.p[b.n] = '\0';
	if (ret_n)
		*ret_n = b.n;
	return fz_buf_take(&b);
}

const char *fz_temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *fz_find_on_path(const char *name)
{
	const char *path = getenv("PATH");

	while (path) {
		size_t n = strcspn(path, ":");
		char *file =
			n ? fz_asprintf("%.*s/%s", (int)n, path, name) : fz_asprintf("./%s", name);
		if (is_program(file))
			return file;
		free(file);
		path = path[n] ? path + n + 1 : NULL;
	}
	return NULL;
}

char *fz_find_beside(const char *const *folders, size_t n, const char *name, int mode)
{
	char exe[4096];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (length <= 0)
		return NULL;
	exe[length] = '\0';
	*strrchr(exe, '/') = '\0';
	for (size_t i = 0; i < n; i++) {
		char *folder = fz_asprintf("%s/%s", exe, folders[i]);
		fz_auto(fz_free_ptr) char *file = fz_asprintf("%s/%s", folder, name);
		if (access(file, mode) == 0)
			return folder;
		free(folder);
	}
	return NULL;
}

static int make_folders(const char *path, mode_t mode, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *copy = fz_strdup(path);

	for (char *slash = copy; *slash;) {
		slash += strspn(slash, "/");
		slash += strcspn(slash, "/");
		char saved = *slash;
		*slash = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return fz_fail_errno(err, "%s: cannot be created", copy);
		*slash = saved;
	}
	return 0;
}

int fz_make_folder(const char *path, struct fz_error *err)
{
	return make_folders(path, 0700, err);
}

int fz_make_output_folder(const char *path, struct fz_error *err)
{
	if (!*path)
		return fz_fail(err, FZ_EUSAGE, "the name of the output folder is empty");
	return make_folders(path, 0777, err);
}
