/* SPDX-License-Identifier: MIT */
/* Rules for the names of services; see services.h. */
#include "agent/services.h"

#include <fnmatch.h>

#include "base/ini.h"
#include "base/opt.h"

enum { RULES_MAX = 1000 };

const char *const fz_agent_by_names[] = { "ini", "cgroup", "command", NULL };

/* ---- fizeau.ini ---- */

static const struct {
	const char *name;
	size_t offset;
} keys[] = {
	{ "command", offsetof(struct fz_agent_rule, command) },
	{ "cgroup", offsetof(struct fz_agent_rule, cgroup) },
	{ "version", offsetof(struct fz_agent_rule, version) },
	{ "folder", offsetof(struct fz_agent_rule, folder) },
};

/* The text after "service " in a section's name, perhaps ""; NULL for other sections. */
static const char *service_in(const char *section)
{
	const size_t n = strlen("service");

	if (strncmp(section, "service", n) != 0 || (section[n] && section[n] != ' '))
		return NULL;
	return section + n + strspn(section + n, " ");
}

static int begin_section(struct fz_ini *ini, const char *service)
{
	struct fz_agent_rules *rules = ini->to;
	struct fz_error err;

	if (fz_fleet_check_service(service, &err))
		return fz_ini_complain(ini, "%s", err.message);
	if (rules->n == RULES_MAX)
		return fz_ini_complain(ini, "more than %d sections", RULES_MAX);
	fz_push(rules->list, rules->n, rules->cap,
		(struct fz_agent_rule){
			.service = fz_arena_strndup(&rules->arena, service, strlen(service)) });
	return 1;
}

static int set(struct fz_ini *ini, const struct fz_ini_line *line)
{
	struct fz_agent_rules *rules = ini->to;
	struct fz_agent_rule *rule = &rules->list[rules->n - 1];
	const char *names[FZ_ARRAY_LEN(keys) + 1] = { NULL };

	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++) {
		names[i] = keys[i].name;
		if (strcmp(line->name, keys[i].name) != 0)
			continue;
		if (!*line->value)
			return fz_ini_complain(ini, "empty value of '%s'", line->name);
		*(const char **)(void *)((char *)rule + keys[i].offset) =
			fz_arena_strndup(&rules->arena, line->value, strlen(line->value));
		return 1;
	}
	const char *near = fz_opt_nearest(line->name, names);
	return near ? fz_ini_complain(ini, "unknown key; did you mean '%s'?", near)
		    : fz_ini_complain(ini, "unknown key '%s' in a service section", line->name);
}

static int parse_line(struct fz_ini *ini, const struct fz_ini_line *line)
{
	const char *service = service_in(line->section);

	if (!service)
		return 1;
	if (line->begins && !begin_section(ini, service))
		return 0;
	return line->name ? set(ini, line) : 1;
}

static int check(const struct fz_agent_rules *r, const char *file, struct fz_error *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct fz_agent_rule *rule = &r->list[i];

		if (!rule->command && !rule->cgroup)
			return fz_fail(err, FZ_EINPUT,
				       "%s: [service %s]: 'command' or 'cgroup' is required", file,
				       rule->service);
		if (rule->version && rule->folder)
			return fz_fail(
				err, FZ_EINPUT,
				"%s: [service %s]: 'version' and 'folder' are mutually exclusive",
				file, rule->service);
	}
	return 0;
}

int fz_agent_rules_parse(struct fz_agent_rules *r, const char *text, const char *name,
			 struct fz_error *err)
{
	int bad = fz_ini_parse(text, name, parse_line, r, err);

	return bad ? bad : check(r, name, err);
}

int fz_agent_rules_load(struct fz_agent_rules *r, const char *path, bool wanted,
			struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	int bad = fz_ini_load(path, wanted, &text, err);

	return text ? fz_agent_rules_parse(r, text, path, err) : bad;
}

void fz_agent_rules_release(struct fz_agent_rules *r)
{
	fz_arena_release(&r->arena);
	free(r->list);
	*r = (struct fz_agent_rules){ 0 };
}

static const struct fz_agent_rule *rule_of(const struct fz_agent_rules *r,
					   const struct fz_agent_program *p)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct fz_agent_rule *rule = &r->list[i];

		if ((!rule->command || fnmatch(rule->command, p->command, FNM_NOESCAPE) == 0) &&
		    (!rule->cgroup || fnmatch(rule->cgroup, p->cgroup, FNM_NOESCAPE) == 0))
			return rule;
	}
	return NULL;
}

/* ---- the order ---- */

int fz_agent_order_parse(const char *text, struct fz_agent_order *ret, struct fz_error *err)
{
	struct fz_agent_order order = { .n = 0 };

	for (const char *at = text;; at++) {
		struct fz_str word = { at, strcspn(at, ",") };
		unsigned by = 0;

		while (by < FZ_AGENT_BYS && !fz_str_eq(word, fz_str_of(fz_agent_by_names[by])))
			by++;
		for (unsigned i = 0; i < order.n; i++)
			if (by == order.list[i])
				by = FZ_AGENT_BYS;
		if (by == FZ_AGENT_BYS)
			return fz_fail(err, FZ_EUSAGE,
				       "--service-by: invalid value '%s' (expected ini, cgroup and "
				       "command, each once, comma-separated)",
				       text);
		order.list[order.n++] = (enum fz_agent_by)by;
		at += word.n;
		if (!*at)
			break;
	}
	*ret = order;
	return 0;
}

/* ---- names ---- */

void fz_agent_name(struct fz_str text, char ret[FZ_FLEET_NAME_MAX + 1])
{
	fz_str_printable(text.p, text.n, ret, FZ_FLEET_NAME_MAX + 1);
	for (char *at = ret; (at = strchr(at, '@'));)
		*at = '_';
}

/* The last part of the path that is a systemd service, without the instance of a template.
 * user@1000.service is skipped: it contains a user's units. */
static struct fz_str unit_of(const char *path)
{
	const struct fz_str suffix = FZ_STR(".service");
	struct fz_str found = FZ_STR("");

	for (const char *at = path; *at;) {
		struct fz_str part = { at, strcspn(at, "/") };
		const char *instance = memchr(part.p, '@', part.n);

		at += part.n + (at[part.n] == '/');
		if (!fz_str_ends(part, ".service") || part.n == suffix.n ||
		    fz_str_starts(part, "user@"))
			continue;
		found = (struct fz_str){ part.p, instance ? (size_t)(instance - part.p)
							  : part.n - suffix.n };
	}
	return found;
}

static struct fz_str name_by(enum fz_agent_by by, const struct fz_agent_rule *rule,
			     const struct fz_agent_program *p, const struct fz_agent_container *c)
{
	switch (by) {
	case FZ_AGENT_BY_INI:
		return rule ? fz_str_of(rule->service) : FZ_STR("");
	case FZ_AGENT_BY_CGROUP:
		/* In a container the unit is not used: it is the service that starts containers. */
		return c->is_one ? fz_str_of(c->name ? c->name : "") : unit_of(p->cgroup);
	case FZ_AGENT_BY_COMMAND:
		return fz_str_of(p->name);
	case FZ_AGENT_BYS:
		break;
	}
	return FZ_STR("");
}

void fz_agent_service_of(const struct fz_agent_rules *rules, const struct fz_agent_order *order,
			 const struct fz_agent_program *p, const struct fz_agent_container *c,
			 char ret[FZ_FLEET_NAME_MAX + 1], const struct fz_agent_rule **ret_rule)
{
	struct fz_str name = FZ_STR("");

	*ret_rule = NULL;
	if (p->met == FZ_MET_PROGRAM)
		*ret_rule = rule_of(rules, p);
	for (unsigned i = 0; p->met == FZ_MET_PROGRAM && !name.n && i < order->n; i++)
		name = name_by(order->list[i], *ret_rule, p, c);
	if (p->met != FZ_MET_PROGRAM)
		name = p->met == FZ_MET_KERNEL ? FZ_STR("kernel") : FZ_STR("gone");
	fz_agent_name(name.n ? name : FZ_STR("other"), ret);
}
