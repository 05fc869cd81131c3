/* SPDX-License-Identifier: MIT */
/* What counts depend on besides the code that is compared, as text: two recordings whose texts are
 * equal can be compared, others cannot.
 *
 *   architecture x86_64
 *   counter Valgrind 3.19.0, fizeau 0.5.0
 *   processor x86-64-v2               what the program sees
 *   caches not simulated
 *   interpreter outlined
 *   libc 2.36 51a2c3d4e5f60718         version, and hash of the file
 *   program python3.11 0123456789abcdef
 *   packages 12 89abcdef01234567       of Python: how many, and hash of their names and versions
 *   command /usr/bin/python3 bench.py
 *   path 4 2 7                        how long the parts of /home/me/project are
 *   folder
 *   setup make
 *   imports src                       folders of the tree that Python imports from first
 *   variable PYTHONHASHSEED=0          those that are set
 *
 * A program that lies in the checkout is what is compared: of it the compilers count that it
 * names, not its bytes. The machine's processor is not there, for the counter shows its own;
 * caches that are simulated have a fixed geometry, which is the counter's.
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
	bool native; /* functions of an interpreter are counted apart */
};

/* Recordings carry the text as the fact "environment". */
void fz_environment_describe(const struct fz_environment *e, struct fz_buf *out);
/* The first line in which two differ, of each ("" where it has none); false: they are equal. */
bool fz_environment_differ(struct fz_str a, struct fz_str b, struct fz_str *ret_a,
			   struct fz_str *ret_b);
