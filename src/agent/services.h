/* SPDX-License-Identifier: MIT */
/* The service of a process.
 *
 *   fizeau.ini     [service shop]              the first matching section
 *                  command = *gunicorn*shop*   shell pattern of the command line
 *                  cgroup = *shop*.service     shell pattern of the control group's path
 *                  version = 1.4               its version; or
 *                  folder = /srv/shop          the checkout whose commit is its version
 *   cgroup         the unit of systemd, "shop" of /system.slice/shop.service; the container's name
 *   command        the program: "app.py"
 *
 * Kernel threads are "kernel", and processes that ended before they could be read are "gone".
 */
#pragma once

#include "agent/container.h"
#include "agent/program.h"
#include "base/arena.h"
#include "base/error.h"
#include "fleet/fleet.h"

struct fz_agent_rule {
	const char *service;
	const char *command, *cgroup, *version, *folder; /* NULL: not given */
};

struct fz_agent_rules {
	struct fz_arena arena;
	struct fz_agent_rule *list;
	size_t n, cap;
};

/* Sections of other commands (ci, benchmark, accept) are ignored. */
int fz_agent_rules_parse(struct fz_agent_rules *r, const char *text, const char *name,
			 struct fz_error *err);
/* A missing file is an error only if `wanted`. */
int fz_agent_rules_load(struct fz_agent_rules *r, const char *path, bool wanted,
			struct fz_error *err);
void fz_agent_rules_release(struct fz_agent_rules *r);

enum fz_agent_by { FZ_AGENT_BY_INI, FZ_AGENT_BY_CGROUP, FZ_AGENT_BY_COMMAND, FZ_AGENT_BYS };
extern const char *const fz_agent_by_names[]; /* NULL-terminated, by enum fz_agent_by */
/* The sources of names in order, each once. */
struct fz_agent_order {
	enum fz_agent_by list[FZ_AGENT_BYS];
	unsigned n;
};
/* Parse "ini,cgroup,command". */
int fz_agent_order_parse(const char *text, struct fz_agent_order *ret, struct fz_error *err);

/* Find the service; its name is always valid for fz_fleet_check_service. *ret_rule is the matching
 * section, even if the name has another source, or NULL. */
void fz_agent_service_of(const struct fz_agent_rules *rules, const struct fz_agent_order *order,
			 const struct fz_agent_program *p, const struct fz_agent_container *c,
			 char ret[FZ_FLEET_NAME_MAX + 1], const struct fz_agent_rule **ret_rule);
/* Convert text to a valid name of a service or version: printable, without "@", of limited length.
 */
void fz_agent_name(struct fz_str text, char ret[FZ_FLEET_NAME_MAX + 1]);
