/* SPDX-License-Identifier: MIT */
/* The owner of a process: its user, and its control group, which identifies containers and
 * services. The caller frees what is returned. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* The name in /etc/passwd, or the number if there is none. */
char *fz_owner_user(uid_t uid);
/* Short name of the control group; "" if it is the root or the process is gone. */
char *fz_owner_cgroup(pid_t pid);
/* The whole path of the group in /proc/PID/cgroup; "" as above. */
char *fz_owner_cgroup_path(pid_t pid);
/* The short name from the text of /proc/PID/cgroup: the last part of the path without ".scope". A
 * container's long number is cut to 12 digits; if it is the whole part, the one before is added. */
char *fz_owner_cgroup_of(struct fz_str text);
