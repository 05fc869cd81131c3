/* SPDX-License-Identifier: MIT */
/* S3's PUT, GET and DELETE of an object; bucket.h. */
#include "fleet/bucket.h"

#include <gnutls/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/library.h"
#include "fleet/client.h"

enum { ATTEMPTS = 3, STALL_SECONDS = 30, SHA256_BYTES = 32 };

static struct {
	__typeof__(&gnutls_hash_fast) hash;
} gnutls;

struct fz_bucket {
	char *url;        /* without a slash at its end */
	char *user;       /* "KEY:SECRET" */
	char *signed_for; /* for CURLOPT_AWS_SIGV4 */
	char *session;    /* a header; NULL: none */
};

/* ---- one request ---- */

/* The header that S3 requires and libcurl signs; the caller frees. */
static char *digest_header(struct fz_str body)
{
	uint8_t digest[SHA256_BYTES];
	struct fz_buf line = { 0 };

	fz_assert(gnutls.hash(GNUTLS_DIG_SHA256, body.n ? body.p : "", body.n, digest) == 0);
	fz_buf_str(&line, "x-amz-content-sha256: ");
	fz_buf_hex(&line, digest, sizeof(digest));
	return fz_buf_take(&line);
}

/* Text of an element in an XML response; "" if there is none. */
static struct fz_str element(struct fz_str answer, const char *begin, const char *end)
{
	const char *from = answer.n ? memmem(answer.p, answer.n, begin, strlen(begin)) : NULL;
	const char *to = NULL;

	if (from) {
		from += strlen(begin);
		to = memmem(from, (size_t)(answer.p + answer.n - from), end, strlen(end));
	}
	return to ? (struct fz_str){ from, (size_t)(to - from) } : fz_str_of("");
}

static int refused(const struct fz_bucket *b, long status, struct fz_str answer,
		   struct fz_error *err)
{
	struct fz_str code = element(answer, "<Code>", "</Code>");
	struct fz_str message = element(answer, "<Message>", "</Message>");
	bool later = status == 429 || status >= 500;

	return fz_fail(
		err, later ? FZ_EAGAIN : FZ_ESYSTEM,
		"the bucket %s returned an error: %.*s %.*s (status %ld)%s", b->url,
		(int)FZ_MIN(code.n, 80), code.p, (int)FZ_MIN(message.n, 300), message.p, status,
		later ? "" : "; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION");
}

/* FZ_EINPUT if there is no such object. */
static int ask(const struct fz_bucket *b, const char *method, const char *name,
	       const struct fz_str *body, struct fz_buf *ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *url = fz_asprintf("%s/%s", b->url, name);
	fz_auto(fz_free_ptr) char *digest = digest_header(body ? *body : fz_str_of(""));
	const struct fz_client client = {
		.server = b->url,
		.method = method,
		.user = b->user,
		.signed_for = b->signed_for,
		.headers = (const char *const[]){ digest, b->session, NULL },
		.stall_seconds = STALL_SECONDS,
		.attempts = ATTEMPTS,
	};
	const char *why = NULL;
	long status = fz_client_fetch(&client, url, body, ret, &why);

	if (!status)
		return fz_fail(err, FZ_EAGAIN, "the bucket %s does not answer: %s", b->url, why);
	if (status >= 200 && status < 300)
		return 0;
	/* A missing bucket (NoSuchBucket) is a different error. */
	if (status == 404 &&
	    fz_str_eq(element(fz_buf_view(ret), "<Code>", "</Code>"), fz_str_of("NoSuchKey")))
		return fz_fail(err, FZ_EINPUT, "the bucket %s has no object %s", b->url, name);
	return refused(b, status, fz_buf_view(ret), err);
}

int fz_bucket_put(const struct fz_bucket *b, const char *name, struct fz_str bytes,
		  struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };

	return ask(b, "PUT", name, &bytes, &answer, err);
}

int fz_bucket_get(const struct fz_bucket *b, const char *name, int *ret_fd, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	fz_auto(fz_close_fd) int fd = -1;
	int r = ask(b, "GET", name, NULL, &answer, err);

	if (!r) {
		fd = memfd_create("object", MFD_CLOEXEC);
		if (fd < 0 || !fz_write_full(fd, answer.p, answer.n) || lseek(fd, 0, SEEK_SET))
			r = fz_fail_errno(err, "an object of the bucket %s", b->url);
	}
	if (r)
		return r;
	*ret_fd = fz_steal_fd(&fd);
	return 0;
}

int fz_bucket_remove(const struct fz_bucket *b, const char *name, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = ask(b, "DELETE", name, NULL, &answer, err);

	return r == FZ_EINPUT ? 0 : r;
}

/* ---- credentials ---- */

static const char *environment(const char *name, const char *other, const char *else_)
{
	const char *value = getenv(name);

	if (!value || !*value)
		value = other ? getenv(other) : NULL;
	return value && *value ? value : else_;
}

static int load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = { { "gnutls_hash_fast", &gnutls.hash } };
	int r = fz_client_load(err);

	return r ? r : fz_library_load("libgnutls.so.30", "libgnutls30", symbols, 1, err);
}

static int check(const char *url, const char *key, const char *secret, struct fz_error *err)
{
	bool is_address = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;

	if (!is_address || strpbrk(url, "?#@"))
		return fz_fail(err, FZ_EUSAGE,
			       "invalid bucket URL '%s' (expected https://HOST/BUCKET)", url);
	if (!key || !secret)
		return fz_fail(err, FZ_EUSAGE,
			       "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set");
	return 0;
}

static int introduce(const struct fz_bucket *b, struct fz_error *err)
{
	return fz_bucket_put(b, "fizeau",
			     fz_str_of("These objects belong to 'fizeau serve --bucket'; the index "
				       "is in its --recordings folder.\n"),
			     err);
}

int fz_bucket_open(const char *url, struct fz_bucket **ret, struct fz_error *err)
{
	const char *key = environment("AWS_ACCESS_KEY_ID", NULL, NULL);
	const char *secret = environment("AWS_SECRET_ACCESS_KEY", NULL, NULL);
	const char *session = environment("AWS_SESSION_TOKEN", NULL, NULL);
	const char *region = environment("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1");
	int r = check(url, key, secret, err);

	if (!r)
		r = load(err);
	if (r)
		return fz_error_prefix(err, "--bucket");
	struct fz_bucket *b = fz_calloc(1, sizeof(*b));
	b->url = fz_client_url(url, "");
	b->user = fz_asprintf("%s:%s", key, secret);
	b->signed_for = fz_asprintf("aws:amz:%s:s3", region);
	b->session = session ? fz_asprintf("x-amz-security-token: %s", session) : NULL;
	r = introduce(b, err);
	if (r) {
		fz_bucket_close(b);
		return fz_error_prefix(err, "--bucket");
	}
	*ret = b;
	return 0;
}

void fz_bucket_close(struct fz_bucket *b)
{
	if (!b)
		return;
	free(b->url);
	free(b->user);
	free(b->signed_for);
	free(b->session);
	free(b);
}
