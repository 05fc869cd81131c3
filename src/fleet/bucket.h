/* SPDX-License-Identifier: MIT */
/* Objects in a bucket, at a server that speaks S3's protocol (Amazon's, or one of the many others).
 *
 * Who asks is told by the environment, as everywhere: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN where there is one; AWS_REGION or AWS_DEFAULT_REGION (us-east-1). Requests are
 * signed by libcurl (AWS Signature Version 4), with the SHA-256 of what is sent, so that a server
 * refuses what was changed on the way. All functions may be called from several threads at once.
 *
 * Errors: FZ_EAGAIN where it may help to ask later, FZ_ESYSTEM where the server refuses.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct fz_bucket;

/* url: "https://host/bucket", "https://bucket.host", either with more of a path; objects lie below
 * it. A first object is put there, "fizeau", which says whose they are: it is an error here and now
 * when that may not be done. */
int fz_bucket_open(const char *url, struct fz_bucket **ret, struct fz_error *err);
void fz_bucket_close(struct fz_bucket *b); /* NULL is allowed */

/* Names are of letters and digits. */
int fz_bucket_put(const struct fz_bucket *b, const char *name, struct fz_str bytes,
		  struct fz_error *err);
/* Its bytes in a file without a name, at its begin; the caller closes. FZ_EINPUT: it is not there.
 */
int fz_bucket_get(const struct fz_bucket *b, const char *name, int *ret_fd, struct fz_error *err);
/* What is not there is removed. */
int fz_bucket_remove(const struct fz_bucket *b, const char *name, struct fz_error *err);
