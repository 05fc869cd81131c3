/* SPDX-License-Identifier: MIT */
/* Valid names of services, versions and labels. A set of labels becomes one text with a label per
 * line, so that a set is one key and a label is found by a text search. */
#include "fleet/engine.h"

#include "base/map.h"
#include "base/str.h"

static bool is_plain(struct fz_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return fz_utf8_valid(s);
}

int fz_fleet_check_name(const char *what, const char *name, struct fz_error *err)
{
	size_t n = strlen(name);

	if (n == 0)
		return fz_fail(err, FZ_EUSAGE, "%s: missing name", what);
	if (n > FZ_FLEET_NAME_MAX)
		return fz_fail(err, FZ_EUSAGE, "%s: '%.40s...' has more than %d bytes", what, name,
			       FZ_FLEET_NAME_MAX);
	if (!is_plain(fz_str_of(name)))
		return fz_fail(err, FZ_EUSAGE,
			       "%s: invalid text '%s' (expected UTF-8 without control characters)",
			       what, name);
	return 0;
}

int fz_fleet_check_service(const char *name, struct fz_error *err)
{
	int r = fz_fleet_check_name("service", name, err);

	if (!r && strchr(name, '@'))
		return fz_fail(err, FZ_EUSAGE,
			       "service: '%s' must not contain @, which separates the version",
			       name);
	return r;
}

static bool is_key(struct fz_str s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";

	for (size_t i = 0; i < s.n; i++)
		if (!memchr(letters, s.p[i], sizeof(letters) - 1))
			return false;
	return s.n > 0 && s.n <= FZ_FLEET_NAME_MAX;
}

static struct fz_str key_of(const char *label)
{
	return (struct fz_str){ label, strcspn(label, "=") };
}

static int check_label(const char *label, struct fz_error *err)
{
	struct fz_str key = key_of(label);

	if (!label[key.n] || !label[key.n + 1] || !is_key(key))
		return fz_fail(err, FZ_EUSAGE,
			       "label: invalid label '%.200s' (expected KEY=VALUE, key of letters, "
			       "digits, _, - and .)",
			       label);
	return fz_fleet_check_name("label", label + key.n + 1, err);
}

static int compare_keys(const void *a, const void *b)
{
	return fz_str_cmp(key_of(*(const char *const *)a), key_of(*(const char *const *)b));
}

int fz_fleet_labels(const char *const *list, size_t n, struct fz_buf *ret, struct fz_error *err)
{
	const char *sorted[FZ_FLEET_LABELS_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;
		int r = check_label(list[i], err);
		if (r)
			return r;
		while (at < kept && compare_keys(&sorted[at], &list[i]) != 0)
			at++;
		if (at == FZ_FLEET_LABELS_MAX)
			return fz_fail(err, FZ_EUSAGE, "more than %d labels", FZ_FLEET_LABELS_MAX);
		sorted[at] = list[i];
		kept = FZ_MAX(kept, at + 1);
	}
	qsort(sorted, kept, sizeof(*sorted), compare_keys);
	for (size_t i = 0; i < kept; i++)
		fz_buf_printf(ret, "%s%s\n", i ? "" : "\n", sorted[i]);
	fz_buf_str(ret, "");
	return 0;
}

char *fz_fleet_id(const struct fz_fleet_push *push, struct fz_str bytes, int64_t start_unix_ns)
{
	fz_auto(fz_buf_release) struct fz_buf names = { 0 };

	fz_buf_printf(&names, "%s\n%s\n%s\n%s\n%lld", push->service, push->version, push->host,
		      push->labels, (long long)start_unix_ns);
	return fz_asprintf("%016llx-%016llx-%zx",
			   (unsigned long long)fz_hash_bytes(bytes.p, bytes.n),
			   (unsigned long long)fz_hash_bytes(names.p, names.n), bytes.n);
}

int fz_fleet_fail_id(const char *id, struct fz_error *err)
{
	return fz_fail(err, FZ_EINPUT, "id '%s' was used for another push; use a new id", id);
}
