/* SPDX-License-Identifier: MIT */
/* The bytes of stored files, in a folder or in a bucket. An index stores their names and projects
 * (fleet/files.h). */
#pragma once

#include "base/error.h"
#include "base/str.h"

enum { FZ_FILE_DRAWN = 16, FZ_FILE_NAME_SIZE = 2 * FZ_FILE_DRAWN + 1 };

struct fz_file_bytes {
	const char *folder;       /* borrowed */
	int fd;                   /* of the folder; -1: not open */
	struct fz_bucket *bucket; /* NULL: the files are in the folder */
};

/* Open an existing folder. The caller may set b->bucket, which is closed with it. */
int fz_file_bytes_open(struct fz_file_bytes *b, const char *folder, struct fz_error *err);
void fz_file_bytes_close(struct fz_file_bytes *b);

/* Generate a unique name of 32 hexadecimal digits. */
void fz_file_bytes_draw(char out[FZ_FILE_NAME_SIZE]);

/* On success the bytes are on disk. After an error a bucket may have them nevertheless. */
int fz_file_bytes_put(const struct fz_file_bytes *b, const char *name, struct fz_str bytes,
		      struct fz_error *err);
/* Opens for reading; a later removal does not matter. The caller closes. FZ_EINPUT if not there. */
int fz_file_bytes_get(const struct fz_file_bytes *b, const char *name, int *ret_fd,
		      struct fz_error *err);
/* Succeeds if there is no such file. */
int fz_file_bytes_remove(const struct fz_file_bytes *b, const char *name, struct fz_error *err);
