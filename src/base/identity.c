/* SPDX-License-Identifier: MIT */
/* File access rights per thread; see identity.h. The kernel also keeps supplementary groups per
 * thread, but the C library would change those of all threads. */
#include "identity.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

static __thread gid_t *groups;
static __thread int group_n;

void fz_identity_assume(uid_t user, gid_t group)
{
	if (geteuid() != 0 || user == 0)
		return;
	group_n = getgroups(0, NULL);
	groups = fz_calloc((size_t)FZ_MAX(group_n, 1), sizeof(*groups));
	group_n = getgroups(group_n, groups);
	syscall(SYS_setgroups, 0, NULL);
	setfsgid(group);
	setfsuid(user);
}

void fz_identity_drop(void)
{
	if (!groups)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	if (group_n >= 0)
		syscall(SYS_setgroups, group_n, groups);
	free(groups);
	groups = NULL;
}
