/* SPDX-License-Identifier: MIT */
/* Where the bytes of kept files lie: in a folder, or in a bucket. What they are, and whose, an
 * index knows (fleet/files.h). */
#pragma once

#include "base/error.h"
#include "base/str.h"

enum { FZ_FILE_DRAWN = 16, FZ_FILE_NAME_SIZE = 2 * FZ_FILE_DRAWN + 1 };

struct fz_file_bytes {
	const char *folder;       /* borrowed */
	int fd;                   /* of the folder; -1: not opened */
	struct fz_bucket *bucket; /* NULL: the files are in the folder */
};

/* The folder is there already; a bucket may be opened into it, and is closed with it. */
int fz_file_bytes_open(struct fz_file_bytes *b, const char *folder, struct fz_error *err);
void fz_file_bytes_close(struct fz_file_bytes *b);

/* 32 hexadecimal digits that nobody else has. */
void fz_file_bytes_draw(char out[FZ_FILE_NAME_SIZE]);

/* What is put is on a disk when this returns 0. After an error it may be there, in a bucket. */
int fz_file_bytes_put(const struct fz_file_bytes *b, const char *name, struct fz_str bytes,
		      struct fz_error *err);
/* Open for reading, whatever becomes of it meanwhile; the caller closes. FZ_EINPUT: not there. */
int fz_file_bytes_get(const struct fz_file_bytes *b, const char *name, int *ret_fd,
		      struct fz_error *err);
/* What is not there is removed. */
int fz_file_bytes_remove(const struct fz_file_bytes *b, const char *name, struct fz_error *err);
