/* SPDX-License-Identifier: MIT */
/* Files in a folder or objects in a bucket; file_bytes.h. */
#include "fleet/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/io.h"
#include "fleet/bucket.h"

void fz_file_bytes_draw(char out[FZ_FILE_NAME_SIZE])
{
	uint8_t drawn[FZ_FILE_DRAWN];

	while (getrandom(drawn, sizeof(drawn), 0) != sizeof(drawn))
		fz_assert(errno == EINTR);
	for (size_t i = 0; i < FZ_FILE_DRAWN; i++)
		snprintf(out + 2 * i, 3, "%02x", drawn[i]);
}

int fz_file_bytes_open(struct fz_file_bytes *b, const char *folder, struct fz_error *err)
{
	*b = (struct fz_file_bytes){ .folder = folder };
	b->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return b->fd < 0 ? fz_fail_errno(err, "%s: cannot be opened", folder) : 0;
}

void fz_file_bytes_close(struct fz_file_bytes *b)
{
	fz_bucket_close(b->bucket);
	fz_close_fd(&b->fd);
}

static int write_file(const struct fz_file_bytes *b, const char *name, struct fz_str bytes,
		      struct fz_error *err)
{
	fz_auto(fz_close_fd) int fd =
		openat(b->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && fz_write_full(fd, bytes.p, bytes.n) && fdatasync(fd) == 0 &&
	    fsync(b->fd) == 0)
		return 0;
	int r = fz_fail_errno(
		err, "%s: disk full; free space or store less (--recordings-limit, --retain)",
		b->folder);
	if (fd >= 0)
		unlinkat(b->fd, name, 0);
	return r;
}

int fz_file_bytes_put(const struct fz_file_bytes *b, const char *name, struct fz_str bytes,
		      struct fz_error *err)
{
	return b->bucket ? fz_bucket_put(b->bucket, name, bytes, err)
			 : write_file(b, name, bytes, err);
}

int fz_file_bytes_get(const struct fz_file_bytes *b, const char *name, int *ret_fd,
		      struct fz_error *err)
{
	if (b->bucket)
		return fz_bucket_get(b->bucket, name, ret_fd, err);
	*ret_fd = openat(b->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return *ret_fd < 0 ? fz_fail(err, FZ_EINPUT, "%s has no file %s", b->folder, name) : 0;
}

int fz_file_bytes_remove(const struct fz_file_bytes *b, const char *name, struct fz_error *err)
{
	if (b->bucket)
		return fz_bucket_remove(b->bucket, name, err);
	if (unlinkat(b->fd, name, 0) && errno != ENOENT)
		return fz_fail_errno(err, "%s/%s", b->folder, name);
	return 0;
}
