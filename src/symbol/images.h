/* SPDX-License-Identifier: MIT */
/* All files that code of a recording comes from, until their names have been looked up.
 *
 * While sampling, an address is recorded as a function called "FILE+0xADDRESS" of a module; that
 * is all that a recording has which was cut off. At its end these functions are replaced by real
 * ones (fz_images_resolve).
 */
#pragma once

#include "profile/profile.h"
#include "symbol/image.h"
#include "symbol/jitmap.h"
#include "symbol/names.h"

struct fz_images_entry {
	char *module;           /* fz_function.module of addresses in it */
	struct fz_image *image; /* NULL: code made at run time, or a file that could not be read */
	struct fz_jitmap *map;  /* of code made at run time; NULL: none */
	struct fz_symbols *symbols; /* of the image, when first asked */
	/* What identifies the image's file as long as it is open: its device as maps of processes
	 * have it, its inode, and when it was changed; inode 0: it is not known. */
	uint64_t device, inode;
	int64_t changed;
};

struct fz_images {
	struct fz_images_entry *list;
	uint32_t n, cap;
	/* Somebody is watching: name functions at once, inlined calls left out. */
	bool eager;
	/* Where names are kept beyond the recording; borrowed. Addresses are known by their
	 * function alone then, without what was inlined there, and symbols of one file at a time
	 * are in memory. NULL: nowhere. */
	struct fz_names *names;
};

void fz_images_release(struct fz_images *images);
/* The entry of that name, new if need be. */
uint32_t fz_images_add(struct fz_images *images, const char *module);
/* Take over an image; one that is known by its path and build id is kept and the new one freed. */
uint32_t fz_images_add_image(struct fz_images *images, struct fz_image *image);

/* Frame of an address that has not been looked up: of a file, or where code was made at run time
 * the address itself. */
uint32_t fz_images_raw_frame(struct fz_images *images, uint32_t entry, uint64_t address,
			     struct fz_profile *p);
/* The frames that an address stands for, innermost first: at most FZ_SYMBOLS_CALLS_MAX, because of
 * inlined calls. Returns their number, at least 1. */
uint32_t fz_images_name(struct fz_images *images, uint32_t entry, uint64_t address,
			struct fz_profile *p, uint32_t *ret);
/* A new profile in which addresses have become functions, lines and inlined calls, without the
 * samples taken before `valid_from` (as fz_sample.time) and all that only they need. The old one
 * is freed. */
struct fz_profile *fz_images_resolve(struct fz_images *images, struct fz_profile *p,
				     int64_t valid_from);
