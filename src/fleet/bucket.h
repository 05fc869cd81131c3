/* SPDX-License-Identifier: MIT */
/* Objects in a bucket, at a server that speaks S3's protocol (Amazon's, or one of the many others).
 *
 * Credentials come from the usual environment variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * optionally AWS_SESSION_TOKEN; AWS_REGION or AWS_DEFAULT_REGION (default: us-east-1). libcurl
 * signs requests (AWS Signature Version 4), including the SHA-256 of the body, so that a server
 * rejects data modified in transit. All functions may be called from several threads at once.
 *
 * Errors: FZ_EAGAIN if a later retry may succeed, FZ_ESYSTEM if the server rejects the request.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct fz_bucket;

/* url: "https://host/bucket" or "https://bucket.host", optionally with a longer path; objects are
 * stored below it. Writes an object "fizeau" that names the owner, so that missing write permission
 * is an error at once. */
int fz_bucket_open(const char *url, struct fz_bucket **ret, struct fz_error *err);
void fz_bucket_close(struct fz_bucket *b); /* NULL is allowed */

/* Names consist of letters and digits. */
int fz_bucket_put(const struct fz_bucket *b, const char *name, struct fz_str bytes,
		  struct fz_error *err);
/* Returns the object's bytes in an anonymous file, positioned at its start; the caller closes it.
 * FZ_EINPUT if there is no such object. */
int fz_bucket_get(const struct fz_bucket *b, const char *name, int *ret_fd, struct fz_error *err);
/* Succeeds if there is no such object. */
int fz_bucket_remove(const struct fz_bucket *b, const char *name, struct fz_error *err);
