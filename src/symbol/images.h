/* SPDX-License-Identifier: MIT */
/* All files with code in a recording, until their names are resolved.
 *
 * While sampling, an address is recorded as a function "FILE+0xADDRESS" of a module, which is what
 * a truncated recording has. At the end these functions are replaced by real ones
 * (fz_images_resolve).
 */
#pragma once

#include "profile/profile.h"
#include "symbol/image.h"
#include "symbol/jitmap.h"
#include "symbol/names.h"

struct fz_images_entry {
	char *module;               /* fz_function.module of addresses in it */
	struct fz_image *image;     /* NULL: generated code, or a file that could not be read */
	struct fz_jitmap *map;      /* of generated code; NULL: none */
	struct fz_symbols *symbols; /* of the image, created on demand */
	/* Identity of the image's open file: device as in maps of processes, inode, and time of
	 * change; inode 0: unknown. */
	uint64_t device, inode;
	int64_t changed;
};

struct fz_images {
	struct fz_images_entry *list;
	uint32_t n, cap;
	/* Live view: resolve functions immediately, without inlined calls. */
	bool eager;
	/* Cache of names across recordings; borrowed. With it, addresses resolve to functions
	 * without inlined calls, and symbols of just one file at a time are in memory. NULL:
	 * none. */
	struct fz_names *names;
};

void fz_images_release(struct fz_images *images);
/* Finds or creates the entry of a name. */
uint32_t fz_images_add(struct fz_images *images, const char *module);
/* Takes ownership of an image; frees it if one with its path and build id exists. */
uint32_t fz_images_add_image(struct fz_images *images, struct fz_image *image);

/* Frame of an unresolved address in a file, or in generated code. */
uint32_t fz_images_raw_frame(struct fz_images *images, uint32_t entry, uint64_t address,
			     struct fz_profile *p);
/* Sets ret to the frames of an address, innermost first; several with inlined calls, at most
 * FZ_SYMBOLS_CALLS_MAX. Returns their number, at least 1. */
uint32_t fz_images_name(struct fz_images *images, uint32_t entry, uint64_t address,
			struct fz_profile *p, uint32_t *ret);
/* Returns a new profile with functions, lines and inlined calls in place of addresses, without
 * samples before `valid_from` (as fz_sample.time) and their data. Frees the old one. */
struct fz_profile *fz_images_resolve(struct fz_images *images, struct fz_profile *p,
				     int64_t valid_from);
