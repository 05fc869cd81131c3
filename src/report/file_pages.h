/* SPDX-License-Identifier: MIT */
/* Links from a report to the source files of a comparison's head. */
#pragma once

#include "git/worktree.h"
#include "profile/profile.h"

struct fz_file_pages {
	struct fz_repository repository; /* that contains the current folder; root NULL: none */
	char *page;                      /* URL prefix of a path; NULL: no links */
	bool below; /* paths start at the top of the repository, not in the current folder */
};

/* Find out where the head's files can be read. beside: the report is written to the current
 * folder. */
void fz_file_pages_init(struct fz_file_pages *ret, const struct fz_profile *head, bool beside);
void fz_file_pages_release(struct fz_file_pages *p);
/* The path, below the page, of a file named by a comparison; "" if there is no link. May use the
 * buffer `room`. */
struct fz_str fz_file_pages_path(const struct fz_file_pages *p, struct fz_str file,
				 struct fz_buf *room);
