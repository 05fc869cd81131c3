/* SPDX-License-Identifier: MIT */
/* Switching a sampler on and off while it runs, by lines on a Unix socket. The commands are those
 * of CPython's profiler (its issue 145411): enable, disable, ping, status, quit, and our own save
 * and mark. Each reply is a line that begins with "ok" or "err"; docs/control.md describes all.
 */
#pragma once

#include "base/lineserver.h"
#include "record/sampler.h"

/* uri: "unix:PATH". Clients can connect from now on and are answered while the sampler runs. *s may
 * be initialised later. */
int fz_control_open(const char *uri, struct fz_sampler *s, struct fz_lineserver **ret,
		    struct fz_error *err);

/* The default URI of a recorder without --control: "unix:@..." with the pid of the recorded
 * process. */
enum { FZ_CONTROL_URI_SIZE = 48 };
void fz_control_uri(pid_t pid, char out[FZ_CONTROL_URI_SIZE]);
