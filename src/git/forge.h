/* SPDX-License-Identifier: MIT */
/* Where the commits and files of a repository can be read: pages of the forges that are known by
 * their hosts. Nothing is asked of any network. */
#pragma once

/* What a commit's full hash is appended to, "https://github.com/me/project/commit/"; the caller
 * frees it. NULL: the remote (as git has it, may be NULL) is of no forge that we know. Names and
 * passwords in a remote stay out of it. */
char *fz_forge_commits(const char *remote);
/* What "path/file.py#L12" is appended to for a line of a commit's file. The caller frees it. NULL:
 * as above, or its pages have other names for lines. */
char *fz_forge_files(const char *remote, const char *commit);
/* What tells a remote's repository from all others, "github.com/me/project": others have projects
 * of the same path. The caller frees it. NULL: the remote is of no host. */
char *fz_forge_name(const char *remote);
