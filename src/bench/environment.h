/* SPDX-License-Identifier: MIT */
/* Everything that counts depend on besides the compared code, as text: two recordings are
 * comparable if their texts are equal.
 *
 *   architecture x86_64
 *   counter Valgrind 3.19.0, fizeau 0.5.0
 *   processor x86-64-v2               the one that the program sees
 *   caches not simulated
 *   interpreter outlined
 *   libc 2.36 51a2c3d4e5f60718         version, and hash of the file
 *   program python3.11 0123456789abcdef
 *   packages 12 89abcdef01234567       of Python: number, and hash of names and versions
 *   command /usr/bin/python3 bench.py
 *   path 4 2 7                        lengths of the parts of /home/me/project
 *   folder
 *   setup make
 *   imports src                       folders of the tree that Python imports from first
 *   variable PYTHONHASHSEED=0          those that are set
 *
 * A program in the checkout is itself compared, so its compilers are listed instead of a hash. The
 * machine's processor is not listed, because the counter emulates one of its own; simulated caches
 * have the counter's fixed geometry.
 */
#pragma once

#include "base/buf.h"

struct fz_environment {
	char *const *argv;    /* the command */
	const char *folder;   /* where it runs */
	const char *root;     /* top of the checkout */
	const char *prefix;   /* of the folder in it */
	const char *setup;    /* NULL: none */
	const char *valgrind; /* its version */
	const char *imports;  /* folders that come first in PYTHONPATH (inplace.h); NULL: none */
	bool cache, memory, apart;
	bool native; /* functions of an interpreter are counted separately */
};

/* Append the text, which recordings have as the fact "environment". */
void fz_environment_describe(const struct fz_environment *e, struct fz_buf *out);
/* Find the first line in which two texts differ, in both ("" if one has ended). False if they are
 * equal. */
bool fz_environment_differ(struct fz_str a, struct fz_str b, struct fz_str *ret_a,
			   struct fz_str *ret_b);
