/* SPDX-License-Identifier: MIT */
/* Packages of a repository that a Python environment has installed in place (`pip install -e`):
 * it imports them from one certain checkout, whichever of them runs. What imports from the folders
 * found here, in its own checkout and before all others, runs its own code.
 */
#pragma once

#include "base/buf.h"
#include "base/environ.h"

/* Folders of any checkout of the repository that `tree` is the top of, from which the Python of a
 * command imports: relative to the checkout's top and with a colon between them, "src:."; nothing
 * where there are none. The command is looked for in `folder`; where it is no Python's, such as
 * make, the Pythons are those of PATH. */
void fz_inplace_find(const char *const *argv, const char *folder, const char *tree,
		     struct fz_buf *out);
/* Put those folders (NULL: there are none) of the checkout `tree` before what PYTHONPATH holds. */
void fz_inplace_prefer(const char *imports, const char *tree, struct fz_environ *e);
