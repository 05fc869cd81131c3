/* SPDX-License-Identifier: MIT */
/* Files in and out.
 *
 * Input is a stream that unwraps gzip and zstd by itself, so every reader sees plain bytes, and
 * that counts what it delivered against a limit, so a small file cannot become a huge one.
 * Output goes to a temporary file beside its target that is renamed over it when complete: an
 * interrupted or failed write never leaves half a file or destroys the old one.
 */
#pragma once

#include <sys/stat.h>

#include "base.h"
#include "buf.h"
#include "error.h"

/* ---- input ---- */

struct fz_input;

enum { FZ_INPUT_LIMIT_DEFAULT_GIB = 16 };

/* Open a file ("-": standard input). Directories, missing and unreadable files are errors. */
int fz_input_open(const char *path, struct fz_input **ret, struct fz_error *err);
/* Over memory that must outlive the input; for tests and fuzzing. name is for messages. */
int fz_input_open_memory(const void *p, size_t n, const char *name, struct fz_input **ret,
			 struct fz_error *err);
void fz_input_close(struct fz_input *in);
void fz_input_closep(struct fz_input **in); /* for fz_auto */
const char *fz_input_name(const struct fz_input *in);
/* What is known of the file itself; false when it is no regular file. */
bool fz_input_stat(const struct fz_input *in, struct stat *ret);
/* Most plain bytes that this input may deliver; fz_input_read fails beyond. */
void fz_input_set_limit(struct fz_input *in, uint64_t bytes);
/* What its content takes while it is read: memory, and work that its bytes do not account for. A
 * file may take so much and no more, whatever its format: a quarter of the machine's memory and a
 * multiple of its size as stored; what is read from memory may take 256 MiB instead of the quarter.
 * False beyond; reading on then fails, too. */
bool fz_input_charge(struct fz_input *in, uint64_t bytes);
/* FZ_ELIMIT when it took too much. */
int fz_input_check(const struct fz_input *in, struct fz_error *err);
/* Up to n bytes; fewer only at the end. Returns the count or a negative error code. */
int64_t fz_input_read(struct fz_input *in, void *out, size_t n, struct fz_error *err);
/* Look at up to 64 KiB of what comes next without taking it. Returns the count available. */
int64_t fz_input_peek(struct fz_input *in, const uint8_t **ret, size_t n, struct fz_error *err);
/* Append everything that is left, at most max bytes (FZ_ELIMIT when there is more). */
int fz_input_read_all(struct fz_input *in, struct fz_buf *out, uint64_t max, struct fz_error *err);
/* One line without its end ("\n" or "\r\n"). Returns 1, 0 at the end, or a negative code. A line
 * longer than max is an FZ_ELIMIT error. The view is valid until the next call. */
int fz_input_line(struct fz_input *in, size_t max, struct fz_str *ret, struct fz_error *err);
/* All lines of a file, one after the other. */
int fz_input_each_line(const char *path, size_t max, void (*take)(void *arg, struct fz_str line),
		       void *arg, struct fz_error *err);
/* The line that came last was the end of the input, without an end of its own. */
bool fz_input_ended_in_line(const struct fz_input *in);

/* ---- output ---- */

struct fz_output;

/* Open for writing ("-": standard output). The target is checked now: a folder that is missing
 * or cannot be written is found before any work is done. Which file it becomes: outfile.h. */
int fz_output_open(const char *path, struct fz_output **ret, struct fz_error *err);
/* Collects in memory; fz_output_buffer gives access. */
struct fz_output *fz_output_memory(void);
struct fz_buf *fz_output_buffer(struct fz_output *out);
/* Errors are remembered and reported by fz_output_close. */
void fz_output_add(struct fz_output *out, const void *p, size_t n);
void fz_output_str(struct fz_output *out, const char *s);
FZ_PRINTF(2, 3)
void fz_output_printf(struct fz_output *out, const char *fmt, ...);
bool fz_output_is_stdout(const struct fz_output *out);
/* Flush, rename into place, free. On error the target is untouched and the temporary removed. */
int fz_output_close(struct fz_output *out, struct fz_error *err);
/* Drop everything; the target is untouched. NULL is allowed. */
void fz_output_abort(struct fz_output *out);
void fz_output_abortp(struct fz_output **out); /* for fz_auto */

/* ---- small helpers ---- */

/* Write all n bytes or fail with errno set. */
bool fz_write_full(int fd, const void *p, size_t n);
/* Read a small file such as one in /proc completely; at most max bytes. NULL with errno set. */
char *fz_read_small(const char *path, size_t max, size_t *ret_n);
/* The text of an open file, ret->st_size bytes of it. NULL: it is no regular file, empty, longer
 * than max, or holds a zero byte. */
char *fz_read_text(int fd, size_t max, struct stat *ret);
/* Where files go that nobody keeps: $TMPDIR or /tmp. */
const char *fz_temporary_folder(void);
/* The executable file of that name in the first folder of $PATH that has one, links and all. NULL:
 * none has. The caller frees. */
char *fz_find_on_path(const char *name);
/* The first of the folders that has a file of that name with that access(2): R_OK, X_OK. Folders
 * are as seen from where this program lies. NULL: none has. The caller frees. */
char *fz_find_beside(const char *const *folders, size_t n, const char *name, int mode);
/* mkdir -p with mode 0700: for what is private. */
int fz_make_folder(const char *path, struct fz_error *err);
/* mkdir -p with the mode that the umask gives: for what the user names. */
int fz_make_output_folder(const char *path, struct fz_error *err);
