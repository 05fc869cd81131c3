/* SPDX-License-Identifier: MIT */
/* Parses /proc/PID/stat: "4711 (a name) R 1 ...", with fields counted from 1. A name may contain
 * anything, even blanks and ")", so it ends at the last ")".
 */
#include "record/procstat.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"

enum { TEXT_MAX = 2048 };

enum {
	STATE = 3,
	PARENT = 4,
	FLAGS = 9,
	USER = 14, /* followed by system time, and both of waited-for children */
	START_TIME = 22,
	START_STACK = 28,
	CPU = 39,
	FIELDS = 40
};

enum { KERNEL_THREAD = 0x00200000 }; /* PF_KTHREAD of include/linux/sched.h */

/* Split the fields from STATE on. */
static bool split(char *text, const char *field[FIELDS])
{
	char *at = strrchr(text, ')');
	int i = STATE;

	if (!at || at[1] != ' ')
		return false;
	for (at += 2; at && i < FIELDS; i++) {
		field[i] = at;
		at = strchr(at, ' ');
		if (at)
			*at++ = 0;
	}
	return i == FIELDS;
}

bool fz_procstat_read_fd(int fd, struct fz_procstat *ret)
{
	char text[TEXT_MAX];
	const char *field[FIELDS];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = 0;
	if (!split(text, field))
		return false;
	uint64_t used = 0;
	for (int i = USER; i < USER + 4; i++)
		used += strtoull(field[i], NULL, 10);
	*ret = (struct fz_procstat){ .state = field[STATE][0],
				     .parent = (pid_t)strtol(field[PARENT], NULL, 10),
				     .is_kernel = strtoul(field[FLAGS], NULL, 10) & KERNEL_THREAD,
				     .start_time = strtoull(field[START_TIME], NULL, 10),
				     .start_stack = strtoull(field[START_STACK], NULL, 10),
				     .cpu = (uint32_t)strtoul(field[CPU], NULL, 10),
				     .used = used };
	return true;
}

bool fz_procstat_read(pid_t pid, pid_t tid, struct fz_procstat *ret)
{
	char path[64];

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fz_procstat_read_fd(fd, ret);
}

uint64_t fz_procstat_now(void)
{
	return (uint64_t)((double)fz_clock_read(CLOCK_BOOTTIME) / 1e9 *
			  (double)sysconf(_SC_CLK_TCK));
}

size_t fz_procstat_children(pid_t pid, pid_t tid, pid_t *ret, size_t max)
{
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 1 << 20, NULL);
	for (char *at = text, *end; at && n < max; at = end) {
		ret[n] = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		n++;
	}
	return n;
}

size_t fz_procstat_children_of_all(pid_t pid, pid_t *ret, size_t max)
{
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return 0;
	for (struct dirent *e; n < max && (e = readdir(dir));)
		if (e->d_name[0] != '.')
			n += fz_procstat_children(pid, (pid_t)strtol(e->d_name, NULL, 10), ret + n,
						  max - n);
	closedir(dir);
	return n;
}
