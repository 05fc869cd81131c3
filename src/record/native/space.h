/* SPDX-License-Identifier: MIT */
/* What code is mapped where in a process: from an address to the file it comes from.
 *
 * Files are opened while the process lives, from its own root, and compared with what is mapped;
 * one that cannot be had that way is copied out of memory. They belong to the recording, not to
 * the process: the images outlive it, so that names can be looked up at the end.
 */
#pragma once

#include "record/process.h"
#include "symbol/images.h"

struct fz_space {
	struct fz_process *process;
	struct fz_images *images;      /* borrowed */
	struct fz_space_range *ranges; /* executable ones by address */
	size_t n, cap;
	/* Not before this time, however many unknown addresses come, but for as many times as there
	 * is credit: libraries are loaded within milliseconds. */
	int64_t next_refresh;
	unsigned credit;
	int64_t next_look;   /* other code may be at known addresses from then on */
	uint32_t generation; /* counts changes: what was remembered by address is void */
	size_t last;         /* range found last */
	/* where stacks can be: writable mappings by address */
	struct fz_space_area {
		uint64_t start, end;
	} * areas;
	size_t area_n, area_cap;
};

/* One executable mapping. */
struct fz_space_range {
	uint64_t start, end, offset;
	uint32_t image;  /* in images; FZ_NONE: made at run time, or a file that is unreadable */
	uint32_t module; /* in images: under which addresses in it are interned */
	bool tried;
	/* to find it again and to open its file */
	uint64_t device, inode;
	char *path;
};

void fz_space_init(struct fz_space *s, struct fz_process *process, struct fz_images *images);
void fz_space_release(struct fz_space *s);
/* Once a second, see whether other code is mapped now. */
void fz_space_look(struct fz_space *s, int64_t now);
/* The range around an address, its file opened; NULL when there is no code. */
struct fz_space_range *fz_space_find(struct fz_space *s, uint64_t address);
/* End of the writable memory around an address; 0: there is none. */
uint64_t fz_space_area_end(struct fz_space *s, uint64_t address);
