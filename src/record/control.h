/* SPDX-License-Identifier: MIT */
/* Switching a sampler on and off while it runs, by lines on a Unix socket. The words are those of
 * CPython's profiler (its issue 145411): enable, disable, ping, status, quit; each is answered with
 * a line that begins with "ok" or "err". docs/control.md tells all of it.
 */
#pragma once

#include "base/lineserver.h"
#include "record/sampler.h"

/* uri: "unix:PATH". Others can connect from now on; they are answered while the sampler runs. It
 * may be initialised later, at the same place. */
int fz_control_open(const char *uri, struct fz_sampler *s, struct fz_lineserver **ret,
		    struct fz_error *err);

/* What every recorder listens on while nobody gave it a place: "unix:@..." of the process that it
 * was told to record. */
enum { FZ_CONTROL_URI_SIZE = 48 };
void fz_control_uri(pid_t pid, char out[FZ_CONTROL_URI_SIZE]);
