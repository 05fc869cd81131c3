/* SPDX-License-Identifier: MIT */
/* Which version of its service a process runs: the first that is known of
 *
 *   fizeau.ini       'version', or the commit of the checkout at 'folder'
 *   git              the commit that was checked out when the process started, around its script
 *                    ("python -m": around the folder it works in), else around its executable;
 *                    "-dirty" where files are edited
 *   container        a label of its image
 *   package          of Python that the module or script belongs to; of Debian that the script or
 *                    the executable does
 *   build id         of the executable, unless that is an interpreter
 *
 * A package's version is not believed where the file is younger than the process. Of threads of the
 * kernel it is the kernel's. */
#pragma once

#include "agent/program.h"
#include "agent/services.h"

struct fz_agent_wanted {
	const struct fz_agent_program *program;
	const struct fz_agent_rule *rule; /* NULL: none fits */
	const char *label;                /* of its container; NULL: none */
	char version[FZ_FLEET_NAME_MAX + 1];
};

struct fz_agent_versions; /* what was found of packages so far */

struct fz_agent_versions *fz_agent_versions_new(void);
void fz_agent_versions_free(struct fz_agent_versions *v);
/* Sets each version; one that is not known is "unversioned". Programs are asked together, so that
 * it takes no longer for many. */
void fz_agent_versions_find(struct fz_agent_versions *v, struct fz_agent_wanted *list, size_t n);
