/* SPDX-License-Identifier: MIT */
/* Address spaces of the processes of a perf.data file, and names from files on this machine if they
 * are the recorded ones, maps of generated code, and the kernel's table.
 */
#pragma once

#include "profile/profile.h"

struct fz_perfspace;

/* The profile must outlive it; memory counts towards its input. host: of the recording, release: of
 * its kernel (as in uname); "": unknown. */
struct fz_perfspace *fz_perfspace_new(struct fz_profile *p, struct fz_str host,
				      struct fz_str release);
void fz_perfspace_free(struct fz_perfspace *s);

/* Sets the build id (hexadecimal) of a file. */
void fz_perfspace_build_id(struct fz_perfspace *s, struct fz_str path, struct fz_str hex);

/* A range of a file that a process mapped. */
struct fz_perfspace_map {
	uint64_t start, size, offset;
	struct fz_str path;
	struct fz_str build_id; /* hexadecimal; "": from fz_perfspace_build_id */
	uint64_t inode;         /* 0: unknown */
	uint64_t generation;    /* of the inode: how often its number was reused */
};
void fz_perfspace_map(struct fz_perfspace *s, uint32_t pid, const struct fz_perfspace_map *m);
/* The same for the kernel and its modules. */
void fz_perfspace_map_kernel(struct fz_perfspace *s, const struct fz_perfspace_map *m);
void fz_perfspace_fork(struct fz_perfspace *s, uint32_t parent, uint32_t child);
void fz_perfspace_exec(struct fz_perfspace *s, uint32_t pid);

enum fz_perfspace_mode { FZ_PERFSPACE_USER, FZ_PERFSPACE_KERNEL, FZ_PERFSPACE_GUEST };
/* Returns the frames of an address, innermost first, valid until the next call. exact: an
 * instruction pointer, else a return address. */
const uint32_t *fz_perfspace_frames(struct fz_perfspace *s, uint32_t pid,
				    enum fz_perfspace_mode mode, uint64_t address, bool exact,
				    uint32_t *ret_n);
