/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces the command `valgrind`: executes the tool in its own folder, never an installed
 * Valgrind. Child processes of the counted program come through here, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	char self[4096], tool[sizeof(self) + 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0 || argc < 1)
		return 127;
	self[n] = '\0';
	setenv("VALGRIND_LAUNCHER", self, 1);
	*strrchr(self, '/') = '\0';
	setenv("VALGRIND_LIB", self, 1);
	snprintf(tool, sizeof(tool), "%s/fzcount-amd64-linux", self);
	execv(tool, argv);
	perror(tool);
	return 127;
}
