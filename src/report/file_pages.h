/* SPDX-License-Identifier: MIT */
/* Links from a report to the source files of a comparison's head. */
#pragma once

#include "git/worktree.h"
#include "profile/profile.h"

struct fz_file_pages {
	struct fz_repository repository; /* around the current folder; root NULL: none */
	char *page;                      /* what a path is appended to; NULL: nothing is linked */
	bool below; /* paths begin at the top of the repository, else in the current folder */
};

/* Find where the head's files can be read. beside: the report lies in the current folder. */
void fz_file_pages_init(struct fz_file_pages *ret, const struct fz_profile *head, bool beside);
void fz_file_pages_release(struct fz_file_pages *p);
/* The path below the page of a file as a comparison names it; "": no link. The buffer holds it. */
struct fz_str fz_file_pages_path(const struct fz_file_pages *p, struct fz_str file,
				 struct fz_buf *room);
