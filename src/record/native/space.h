/* SPDX-License-Identifier: MIT */
/* The executable mappings of a process: from an address to its file.
 *
 * Files are opened while the process lives, from its own root, and compared with what is mapped;
 * one that cannot be opened is copied from memory. The images belong to the recording and outlive
 * the process, so that symbols can be looked up at the end.
 */
#pragma once

#include "record/process.h"
#include "symbol/images.h"

struct fz_space {
	struct fz_process *process;
	struct fz_images *images;      /* borrowed */
	struct fz_space_range *ranges; /* executable ones by address */
	size_t n, cap;
	/* Unknown addresses cause no refresh before this time, except `credit` times: libraries may
	 * be loaded within milliseconds of each other. */
	int64_t next_refresh;
	unsigned credit;
	int64_t next_check;  /* when to check whether other code is at known addresses */
	uint32_t generation; /* counts changes: they invalidate what is cached by address */
	size_t last;         /* the last range found */
	/* where stacks can be: writable mappings by address */
	struct fz_space_area {
		uint64_t start, end;
	} * areas;
	size_t area_n, area_cap;
};

/* One executable mapping. */
struct fz_space_range {
	uint64_t start, end, offset;
	uint32_t image;  /* in images; FZ_NONE: code made at run time, or an unreadable file */
	uint32_t module; /* in images: the entry of its interned addresses */
	bool tried;      /* to open its file */
	/* identify the file */
	uint64_t device, inode;
	char *path;
};

void fz_space_init(struct fz_space *s, struct fz_process *process, struct fz_images *images);
void fz_space_release(struct fz_space *s);
/* Once a second, read the mappings again. */
void fz_space_refresh(struct fz_space *s, int64_t now);
/* The range around an address, with its file opened; NULL if there is no code. */
struct fz_space_range *fz_space_find(struct fz_space *s, uint64_t address);
/* End of the writable memory around an address; 0 if there is none. */
uint64_t fz_space_area_end(struct fz_space *s, uint64_t address);
