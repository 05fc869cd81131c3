/* SPDX-License-Identifier: MIT */
/* Finds the version of its service that a process runs, from the first of these that is known:
 *
 *   fizeau.ini       'version', or the commit of the checkout at 'folder'
 *   git              the commit that was checked out when the process started, around its script
 *                    ("python -m": around the folder it works in), else around its executable;
 *                    "-dirty" if files are modified
 *   container        a label of its image
 *   package          the Python package of the module or script; the Debian package of the script
 *                    or executable
 *   build id         of the executable, unless that is an interpreter
 *
 * A package's version is not used if the file is newer than the process. Kernel threads have the
 * version of the kernel. */
#pragma once

#include "agent/program.h"
#include "agent/services.h"

struct fz_agent_wanted {
	const struct fz_agent_program *program;
	const struct fz_agent_rule *rule; /* NULL: none matches */
	const char *label;                /* of its container; NULL: none */
	char version[FZ_FLEET_NAME_MAX + 1];
};

struct fz_agent_versions; /* cache of package versions */

struct fz_agent_versions *fz_agent_versions_new(void);
void fz_agent_versions_free(struct fz_agent_versions *v);
/* Set each version; an unknown one is "unversioned". Passing many programs takes about as long as
 * one. */
void fz_agent_versions_find(struct fz_agent_versions *v, struct fz_agent_wanted *list, size_t n);
