/* SPDX-License-Identifier: MIT */
/* Reads and writes files.
 *
 * Input is a stream that transparently decompresses gzip and zstd, recodes UTF-16, drops a byte
 * order mark, and limits the output so that a small file cannot expand without bound. Output goes
 * to a temporary file next to its target, which it replaces when complete: an interrupted or failed
 * write never leaves a partial file or destroys the old one.
 */
#pragma once

#include <sys/stat.h>

#include "base.h"
#include "budget.h"
#include "buf.h"
#include "error.h"

/* ---- input ---- */

struct fz_input;

enum { FZ_INPUT_LIMIT_DEFAULT_GIB = 16 };

/* Opens a file ("-": standard input). Directories, missing and unreadable files are errors. */
int fz_input_open(const char *path, struct fz_input **ret, struct fz_error *err);
/* Opens memory, which must outlive the input; for tests and fuzzing. name is for messages. */
int fz_input_open_memory(const void *p, size_t n, const char *name, struct fz_input **ret,
			 struct fz_error *err);
void fz_input_close(struct fz_input *in);
void fz_input_closep(struct fz_input **in); /* for fz_auto */
const char *fz_input_name(const struct fz_input *in);
/* Status of the file; false if it is not a regular file. */
bool fz_input_stat(const struct fz_input *in, struct stat *ret);
/* Limits the plain bytes; fz_input_read fails beyond. */
void fz_input_set_limit(struct fz_input *in, uint64_t bytes);
/* Accounts for memory, and disproportionate work, while reading. The limit for any format is a
 * quarter of the machine's memory (256 MiB for input from memory) plus a multiple of the stored
 * size. False beyond it; further reads then fail, too. */
bool fz_input_charge(struct fz_input *in, uint64_t bytes);
/* Also takes the memory accounted for from a budget, which must outlive the input. Closing the
 * input does not give it back. */
void fz_input_set_budget(struct fz_input *in, struct fz_budget_part *budget);
/* FZ_ELIMIT if a limit was exceeded; FZ_EAGAIN if others use the budget. */
int fz_input_check(const struct fz_input *in, struct fz_error *err);
/* Reads up to n bytes; fewer only at the end. Returns the count or a negative error code. */
int64_t fz_input_read(struct fz_input *in, void *out, size_t n, struct fz_error *err);
/* Peeks at up to 64 KiB without consuming them. Returns the count available. */
int64_t fz_input_peek(struct fz_input *in, const uint8_t **ret, size_t n, struct fz_error *err);
/* Appends the rest until `out` has max bytes (FZ_ELIMIT if there are more). */
int fz_input_read_all(struct fz_input *in, struct fz_buf *out, uint64_t max, struct fz_error *err);
/* Reads one line without its end ("\n" or "\r\n"). Returns 1, 0 at the end, or a negative code;
 * FZ_ELIMIT for lines longer than max. The view is valid until the next call. */
int fz_input_line(struct fz_input *in, size_t max, struct fz_str *ret, struct fz_error *err);
/* Passes all lines of a file to `take`. */
int fz_input_each_line(const char *path, size_t max, void (*take)(void *arg, struct fz_str line),
		       void *arg, struct fz_error *err);
/* Whether the last line had no line end. */
bool fz_input_ended_in_line(const struct fz_input *in);

/* ---- output ---- */

struct fz_output;

/* Opens for writing ("-": standard output). A missing or unwritable folder fails here, before any
 * work. outfile.h chooses the file. */
int fz_output_open(const char *path, struct fz_output **ret, struct fz_error *err);
/* Writes to memory; see fz_output_buffer. */
struct fz_output *fz_output_memory(void);
struct fz_buf *fz_output_buffer(struct fz_output *out);
/* Errors are reported by fz_output_close. */
void fz_output_add(struct fz_output *out, const void *p, size_t n);
void fz_output_str(struct fz_output *out, const char *s);
FZ_PRINTF(2, 3)
void fz_output_printf(struct fz_output *out, const char *fmt, ...);
bool fz_output_is_stdout(const struct fz_output *out);
/* Flushes, renames into place, frees. On error the target is unchanged and the temporary file
 * removed. */
int fz_output_close(struct fz_output *out, struct fz_error *err);
/* Discards the output; the target is unchanged. NULL is allowed. */
void fz_output_abort(struct fz_output *out);
void fz_output_abortp(struct fz_output **out); /* for fz_auto */

/* ---- small helpers ---- */

/* Writes all n bytes, or fails with errno set. */
bool fz_write_full(int fd, const void *p, size_t n);
/* Reads a small file, such as one in /proc, completely; at most max bytes. NULL with errno set. */
char *fz_read_small(const char *path, size_t max, size_t *ret_n);
/* Reads the text of an open file, ret->st_size bytes. NULL if it is not a regular file, empty,
 * longer than max, or contains a zero byte. */
char *fz_read_text(int fd, size_t max, struct stat *ret);
/* The folder for temporary files: $TMPDIR or /tmp. */
const char *fz_temporary_folder(void);
/* Finds an executable on $PATH; links are not resolved. NULL if there is none. The caller frees. */
char *fz_find_on_path(const char *name);
/* Finds a file in the first of the folders that has it with that access(2) mode: R_OK, X_OK.
 * Folders are relative to this program. NULL if there is none. The caller frees. */
char *fz_find_beside(const char *const *folders, size_t n, const char *name, int mode);
/* mkdir -p with mode 0700, for private files. */
int fz_make_folder(const char *path, struct fz_error *err);
/* mkdir -p with the mode of the umask, for folders named by the user. */
int fz_make_output_folder(const char *path, struct fz_error *err);
