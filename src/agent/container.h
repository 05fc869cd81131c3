/* SPDX-License-Identifier: MIT */
/* The name and image version of a container, found by its id, which is part of the control group,
 * in Docker's files on disk. */
#pragma once

#include "base/base.h"

struct fz_agent_container {
	bool is_one;   /* the control group is a container's */
	char *name;    /* of Compose's service, else the container's own; NULL: unknown */
	char *version; /* the label org.opencontainers.image.version, else .revision; NULL: none */
};

/* root: Docker's folder of containers, "/var/lib/docker/containers". */
void fz_agent_container_of(const char *root, const char *cgroup, struct fz_agent_container *ret);
void fz_agent_container_release(struct fz_agent_container *c);
