/* SPDX-License-Identifier: MIT */
/* Versions of the installed Python packages whose code was sampled.
 *
 * Two recordings of one program may differ because a dependency was upgraded. The fact "packages"
 * lists what ran: "django 3.2.25, sqlparse 0.4.4", sorted by name.
 */
#pragma once

#include "profile/profile.h"

/* Opens a file or folder of the recorded process for reading; a negative number if it cannot. */
typedef int fz_packages_open(void *arg, const char *path);

/* "PyYAML" and "6.0.1" of "PyYAML-6.0.1.dist-info", the name of a folder or file of metadata. Both
 * are pieces of "entry"; false if it is another name. */
bool fz_packages_split(const char *entry, struct fz_str *ret_name, struct fz_str *ret_version);

/* Set the fact "packages" from the files of all functions in p, in addition to the packages of
 * earlier calls. Nothing changes if no version is found. */
void fz_packages_record(struct fz_profile *p, fz_packages_open *open, void *arg);
