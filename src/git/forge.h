/* SPDX-License-Identifier: MIT */
/* URLs of a repository's commits and files on known forges, derived from the host without network
 * access. */
#pragma once

/* Returns the URL to append a commit's full hash to, "https://github.com/me/project/commit/",
 * without user and password; the caller frees it. NULL if the remote (from git, may be NULL) is on
 * no known forge. */
char *fz_forge_commits(const char *remote);
/* Returns the URL to append "path/file.py#L12" to for a line in a commit. The caller frees it. NULL
 * as above, or if the forge has different anchors. */
char *fz_forge_files(const char *remote, const char *commit);
/* Returns the unique name of a remote's repository, "github.com/me/project", including the host.
 * The caller frees it. NULL if the remote has no host. */
char *fz_forge_name(const char *remote);
