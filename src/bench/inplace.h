/* SPDX-License-Identifier: MIT */
/* Packages of a repository that a Python environment has installed in editable mode (`pip install
 * -e`): they are imported from a fixed checkout, whichever one is measured. With the folders found
 * here first in PYTHONPATH, a checkout runs its own code.
 */
#pragma once

#include "base/buf.h"
#include "base/environ.h"

/* Append the folders of any checkout of the repository of `tree` from which the Python of a command
 * imports: relative to the checkout's top, separated by colons, "src:."; nothing if there are none.
 * The command is searched in `folder`. For other programs, such as make, Python is found in PATH.
 */
void fz_inplace_find(const char *const *argv, const char *folder, const char *tree,
		     struct fz_buf *out);
/* Prepend those folders (NULL: none) of the checkout `tree` to PYTHONPATH. */
void fz_inplace_prefer(const char *imports, const char *tree, struct fz_environ *e);
