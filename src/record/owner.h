/* SPDX-License-Identifier: MIT */
/* Whose a process is: its user, and the control group that it runs in, by which containers and
 * services are known. The caller frees what is returned. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* By name, as /etc/passwd has it, else the number. */
char *fz_owner_user(uid_t uid);
/* "" where it is in none of its own, or gone. */
char *fz_owner_cgroup(pid_t pid);
/* The whole path of the group, as the kernel has it; "" as above. */
char *fz_owner_cgroup_path(pid_t pid);
/* The same from what /proc/PID/cgroup holds: the last part of the path, without ".scope"; of the
 * long number of a container the first 12 digits, and before a number alone the part before. */
char *fz_owner_cgroup_of(struct fz_str text);
