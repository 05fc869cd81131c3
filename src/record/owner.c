/* SPDX-License-Identifier: MIT */
/* "0::/system.slice/docker-0123456789abcdef....scope" becomes docker-0123456789ab, and
 * "/kubepods/pod7/0123456789abcdef..." becomes pod7/0123456789ab. The line of the unified hierarchy
 * is used if it names a group, otherwise the first line of version 1 that does.
 */
#include "record/owner.h"

#include "base/io.h"

#include <ctype.h>
#include <stdio.h>

enum { PASSWD_MAX = 1 << 20, CGROUP_MAX = 65536, NUMBER_MIN = 32, NUMBER_SHOWN = 12 };

/* Field number `at` of a line with colons between fields. */
static struct fz_str field(struct fz_str line, int at)
{
	const char *p = line.p, *end = line.p + line.n;

	for (; at > 0 && p; at--) {
		p = memchr(p, ':', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return FZ_STR("");
	const char *colon = memchr(p, ':', (size_t)(end - p));
	return (struct fz_str){ p, (size_t)((colon ? colon : end) - p) };
}

/* False if no line is left. */
static bool next_line(struct fz_str *rest, struct fz_str *ret)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : rest->n;

	if (!rest->n)
		return false;
	*ret = (struct fz_str){ rest->p, n };
	n += end != NULL;
	*rest = (struct fz_str){ rest->p + n, rest->n - n };
	return true;
}

char *fz_owner_user(uid_t uid)
{
	size_t n = 0;
	fz_auto(fz_free_ptr) char *text = fz_read_small("/etc/passwd", PASSWD_MAX, &n);
	struct fz_str rest = { text, text ? n : 0 }, line;
	uint64_t number;

	while (next_line(&rest, &line)) {
		struct fz_str name = field(line, 0);
		if (name.n && fz_parse_u64(field(line, 2), UINT32_MAX, &number) && number == uid)
			return fz_strndup(name.p, name.n);
	}
	return fz_asprintf("%u", (unsigned)uid);
}

static struct fz_str last_part(struct fz_str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	size_t cut = slash ? (size_t)(slash + 1 - path.p) : 0;

	return (struct fz_str){ path.p + cut, path.n - cut };
}

static char *name_of(struct fz_str path)
{
	const struct fz_str scope = FZ_STR(".scope");
	struct fz_str part = last_part(path);
	size_t digits = 0;

	if (part.n > scope.n && memcmp(part.p + part.n - scope.n, scope.p, scope.n) == 0)
		part.n -= scope.n;
	while (digits < part.n && isxdigit((unsigned char)part.p[part.n - 1 - digits]))
		digits++;
	if (digits < NUMBER_MIN)
		return fz_strndup(part.p, part.n);
	struct fz_str group = FZ_STR("");
	if (digits == part.n && part.p > path.p + 1)
		group = last_part((struct fz_str){ path.p, (size_t)(part.p - 1 - path.p) });
	part.n -= digits - NUMBER_SHOWN;
	return fz_asprintf("%.*s%s%.*s", (int)group.n, group.p, group.n ? "/" : "", (int)part.n,
			   part.p);
}

/* Split "4:memory:/a" at its first two colons; the path may contain more. */
static bool split(struct fz_str line, struct fz_str *ret_controllers, struct fz_str *ret_path)
{
	const char *end = line.p + line.n, *first = memchr(line.p, ':', line.n);
	const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;

	if (!second)
		return false;
	*ret_controllers = (struct fz_str){ first + 1, (size_t)(second - first - 1) };
	*ret_path = (struct fz_str){ second + 1, (size_t)(end - second - 1) };
	return true;
}

static struct fz_str path_of(struct fz_str text)
{
	struct fz_str rest = text, line, found = FZ_STR("");

	while (next_line(&rest, &line)) {
		struct fz_str controllers, path;
		if (split(line, &controllers, &path) && path.n > 1 && (!found.n || !controllers.n))
			found = path;
	}
	return found;
}

char *fz_owner_cgroup_of(struct fz_str text)
{
	return name_of(path_of(text));
}

/* The text of /proc/PID/cgroup; the caller frees. NULL if the process is gone. */
static char *read_groups(pid_t pid)
{
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return fz_read_small(path, CGROUP_MAX, &n);
}

char *fz_owner_cgroup(pid_t pid)
{
	fz_auto(fz_free_ptr) char *text = read_groups(pid);

	return fz_owner_cgroup_of(fz_str_of(text ? text : ""));
}

char *fz_owner_cgroup_path(pid_t pid)
{
	fz_auto(fz_free_ptr) char *text = read_groups(pid);
	struct fz_str path = path_of(fz_str_of(text ? text : ""));

	return fz_strndup(path.p, path.n);
}
