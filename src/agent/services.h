/* SPDX-License-Identifier: MIT */
/* Which service a process belongs to.
 *
 *   fizeau.ini     [service shop]              the first section that fits
 *                  command = *gunicorn*shop*   patterns of a shell: over the command line,
 *                  cgroup = *shop*.service     and over the path of the control group
 *                  version = 1.4               its version; or
 *                  folder = /srv/shop          the checkout whose commit is its version
 *   cgroup         the unit of systemd, "shop" of /system.slice/shop.service; the container's name
 *   command        what is run: "app.py"
 *
 * Threads of the kernel are "kernel", and what ended before it could be looked at is "gone".
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

/* Sections of other commands (ci, benchmark, accept) are left alone. */
int fz_agent_rules_parse(struct fz_agent_rules *r, const char *text, const char *name,
			 struct fz_error *err);
/* A missing file is no error unless it is `wanted`. */
int fz_agent_rules_load(struct fz_agent_rules *r, const char *path, bool wanted,
			struct fz_error *err);
void fz_agent_rules_release(struct fz_agent_rules *r);

enum fz_agent_by { FZ_AGENT_BY_INI, FZ_AGENT_BY_CGROUP, FZ_AGENT_BY_COMMAND, FZ_AGENT_BYS };
extern const char *const fz_agent_by_names[]; /* NULL-terminated, by enum fz_agent_by */
/* What is asked, in that order; each once. */
struct fz_agent_order {
	enum fz_agent_by list[FZ_AGENT_BYS];
	unsigned n;
};
/* "ini,cgroup,command" */
int fz_agent_order_parse(const char *text, struct fz_agent_order *ret, struct fz_error *err);

/* A name that fz_fleet_check_service accepts, whatever the process calls itself. *ret_rule is the
 * section that fits, whoever names the service, or NULL. */
void fz_agent_service_of(const struct fz_agent_rules *rules, const struct fz_agent_order *order,
			 const struct fz_agent_program *p, const struct fz_agent_container *c,
			 char ret[FZ_FLEET_NAME_MAX + 1], const struct fz_agent_rule **ret_rule);
/* Text as a name of a service or a version: printable, no "@", no longer than a name may be. */
void fz_agent_name(struct fz_str text, char ret[FZ_FLEET_NAME_MAX + 1]);
