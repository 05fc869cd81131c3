/* SPDX-License-Identifier: MIT */
/* fizeau.ini; see config.h. base/ini.h splits lines; the tables here list the keys. */
#include "bench/config.h"

#include "base/ini.h"
#include "base/opt.h"

#include <fnmatch.h>
#include <math.h>
#include <stddef.h>

enum { RULES_MAX = 10000 };

const char *const fz_ci_metrics[] = { "instructions", "cycles", "calls", "syscalls", "allocations",
				      "bytes",        "peak",   "live",  NULL };

const char *fz_ci_unit(const char *metric)
{
	return strcmp(metric, "bytes") == 0 || fz_ci_is_of_memory(metric) ? "bytes" : "count";
}

bool fz_ci_is_of_memory(const char *metric)
{
	return strcmp(metric, "peak") == 0 || strcmp(metric, "live") == 0;
}

/* ---- values ---- */

bool fz_ci_parse_part(struct fz_str text, double *ret)
{
	double v;

	text = fz_str_trimmed(text);
	bool percent = text.n && text.p[text.n - 1] == '%';
	if (percent)
		text = fz_str_trimmed((struct fz_str){ text.p, text.n - 1 });
	if (text.n && *text.p == '+')
		text.p++, text.n--;
	/* A bare 1 or 5 is meant as 1 % or 5 %, not as 100 % or 500 %. */
	if (!fz_parse_decimal(text, &v) || (!percent && v >= 1))
		return false;
	*ret = percent ? v / 100 : v;
	return true;
}

enum kind { TEXT, PART, SECONDS, SWITCH, COUNT, METRICS, MISSING, DATE };

const char fz_ci_metrics_wanted[] = "a comma-separated list of instructions, cycles, calls, "
				    "syscalls, allocations, bytes, peak and live";

static const char *const kind_wants[] = {
	[TEXT] = "a text",
	[PART] = "a share such as 5 % or 0.05",
	[SECONDS] = "a positive number of seconds",
	[SWITCH] = "yes or no",
	[COUNT] = "a number from 1 to 1000",
	[METRICS] = fz_ci_metrics_wanted,
	[MISSING] = "warn or fail",
	[DATE] = "a date such as 2026-12-31",
};

struct key {
	const char *name;
	enum kind kind;
	size_t offset;
};

static const struct key ci_keys[] = {
	{ "metric", METRICS, offsetof(struct fz_ci_config, metrics) },
	{ "missing", MISSING, offsetof(struct fz_ci_config, missing_fails) },
	{ "pairs", COUNT, offsetof(struct fz_ci_config, pairs) },
	{ "strict", SWITCH, offsetof(struct fz_ci_config, strict) },
	{ "threshold", PART, offsetof(struct fz_ci_config, threshold) },
	{ "timeout", SECONDS, offsetof(struct fz_ci_config, timeout) },
	{ "wall", SWITCH, offsetof(struct fz_ci_config, wall) },
	{ "wall-seconds", SECONDS, offsetof(struct fz_ci_config, wall_seconds) },
	{ 0 },
};

static const struct key rule_keys[] = {
	{ "ignore", TEXT, offsetof(struct fz_ci_rule, ignore) },
	{ "metric", METRICS, offsetof(struct fz_ci_rule, metrics) },
	{ "threshold", PART, offsetof(struct fz_ci_rule, threshold) },
	{ "until", DATE, offsetof(struct fz_ci_rule, until) },
	{ "wall", SWITCH, offsetof(struct fz_ci_rule, wall) },
	{ 0 },
};

static const struct key accept_keys[] = {
	{ "change", PART, offsetof(struct fz_ci_accept, change) },
	{ "commit", TEXT, offsetof(struct fz_ci_accept, commit) },
	{ "metric", METRICS, offsetof(struct fz_ci_accept, metrics) },
	{ "reason", TEXT, offsetof(struct fz_ci_accept, reason) },
	{ 0 },
};

static bool is_date(struct fz_str s)
{
	static const char form[] = "dddd-dd-dd";

	if (s.n != strlen(form))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (form[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != '-')
			return false;
	const char *month = s.p + 5, *day = s.p + 8;
	return memcmp(month, "01", 2) >= 0 && memcmp(month, "12", 2) <= 0 &&
	       memcmp(day, "01", 2) >= 0 && memcmp(day, "31", 2) <= 0;
}

static int word_of(struct fz_str s, const char *no, const char *yes)
{
	if (fz_str_eq(s, fz_str_of(no)))
		return 0;
	return fz_str_eq(s, fz_str_of(yes)) ? 1 : -1;
}

const char *fz_ci_metric(struct fz_str s)
{
	for (size_t i = 0; fz_ci_metrics[i]; i++)
		if (fz_str_eq(s, fz_str_of(fz_ci_metrics[i])))
			return fz_ci_metrics[i];
	return NULL;
}

static bool has_metric(const struct fz_ci_metric_list *m, const char *metric)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (strcmp(m->list[i], metric) == 0)
			return true;
	return false;
}

bool fz_ci_parse_metrics(struct fz_str text, struct fz_ci_metric_list *ret)
{
	struct fz_ci_metric_list m = { .n = 0 };
	const char *comma;

	do {
		comma = text.n ? memchr(text.p, ',', text.n) : NULL;
		size_t n = comma ? (size_t)(comma - text.p) : text.n;
		const char *metric = fz_ci_metric(fz_str_trimmed((struct fz_str){ text.p, n }));
		if (!metric || has_metric(&m, metric))
			return false;
		m.list[m.n++] = metric;
		text.p += n + !!comma;
		text.n -= n + !!comma;
	} while (comma);
	*ret = m;
	return true;
}

/* Parse a value of that kind into *to; false if it is invalid. */
static bool store(struct fz_arena *arena, enum kind kind, struct fz_str s, void *to, bool as_int)
{
	double number;
	uint64_t count;
	int word;

	switch (kind) {
	case PART:
		return fz_ci_parse_part(s, to);
	case SECONDS:
		if (!fz_parse_decimal(s, &number) || number <= 0)
			return false;
		*(double *)to = number;
		return true;
	case COUNT:
		if (!fz_parse_u64(s, 1000, &count) || count == 0)
			return false;
		*(unsigned *)to = (unsigned)count;
		return true;
	case SWITCH:
	case MISSING:
		word = kind == MISSING ? word_of(s, "warn", "fail") : word_of(s, "no", "yes");
		if (word >= 0 && as_int)
			*(int *)to = word;
		else if (word >= 0)
			*(bool *)to = word;
		return word >= 0;
	case METRICS:
		return fz_ci_parse_metrics(s, to);
	case DATE:
	case TEXT:
		if (!s.n || (kind == DATE && !is_date(s)))
			return false;
		*(const char **)to = fz_arena_strndup(arena, s.p, s.n);
		return true;
	}
	return false;
}

/* ---- lines ---- */

static int set(struct fz_ini *ini, const struct key *keys, void *to, const struct fz_ini_line *line,
	       bool as_int)
{
	struct fz_ci_config *c = ini->to;
	const char *names[16] = { 0 };

	for (size_t i = 0; keys[i].name; i++) {
		names[i] = keys[i].name;
		if (strcmp(keys[i].name, line->name) != 0)
			continue;
		if (store(&c->arena, keys[i].kind, fz_str_trimmed(fz_str_of(line->value)),
			  (char *)to + keys[i].offset, as_int))
			return 1;
		return fz_ini_complain(ini, "'%s' must be %s", line->name,
				       kind_wants[keys[i].kind]);
	}
	const char *near = fz_opt_nearest(line->name, names);
	return near ? fz_ini_complain(ini, "unknown key '%s'; did you mean '%s'?", line->name, near)
		    : fz_ini_complain(ini, "unknown key '%s' in [%s]", line->name, line->section);
}

/* What follows "benchmark " in a section's name, or NULL. */
static const char *pattern_of(const char *section, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(section, word, n) != 0 || section[n] != ' ')
		return NULL;
	struct fz_str glob = fz_str_trimmed(fz_str_of(section + n));
	return glob.n ? glob.p : NULL;
}

static void begin_section(struct fz_ci_config *c, const char *section)
{
	const char *glob;

	if (c->rule_n >= RULES_MAX || c->accept_n >= RULES_MAX)
		return;
	if ((glob = pattern_of(section, "benchmark"))) {
		fz_push(c->rules, c->rule_n, c->rule_cap,
			(struct fz_ci_rule){
				.glob = fz_arena_strndup(&c->arena, glob, strlen(glob)),
				.threshold = NAN,
				.wall = -1 });
	} else if ((glob = pattern_of(section, "accept"))) {
		fz_push(c->accepts, c->accept_n, c->accept_cap,
			(struct fz_ci_accept){
				.glob = fz_arena_strndup(&c->arena, glob, strlen(glob)),
				.change = NAN });
	}
}

static int take_line(struct fz_ini *ini, const struct fz_ini_line *line)
{
	struct fz_ci_config *c = ini->to;

	if (line->begins)
		begin_section(c, line->section);
	if (!line->name)
		return 1;
	if (strcmp(line->section, "ci") == 0)
		return set(ini, ci_keys, c, line, false);
	if (pattern_of(line->section, "benchmark") && c->rule_n)
		return set(ini, rule_keys, &c->rules[c->rule_n - 1], line, true);
	if (pattern_of(line->section, "accept") && c->accept_n)
		return set(ini, accept_keys, &c->accepts[c->accept_n - 1], line, false);
	/* Names of services, for `fizeau agent`. */
	if (pattern_of(line->section, "service"))
		return 1;
	return fz_ini_complain(ini,
			       "unknown section [%s]; use [ci], [benchmark NAME] or [accept NAME]",
			       line->section);
}

static int check_complete(const struct fz_ci_config *c, const char *file, struct fz_error *err)
{
	for (uint32_t i = 0; i < c->rule_n; i++)
		if (c->rules[i].until && !c->rules[i].ignore)
			return fz_fail(
				err, FZ_EINPUT,
				"%s: [benchmark %s]: 'until' requires 'ignore' with a reason", file,
				c->rules[i].glob);
	for (uint32_t i = 0; i < c->accept_n; i++)
		if (!c->accepts[i].reason || isnan(c->accepts[i].change))
			return fz_fail(err, FZ_EINPUT,
				       "%s: [accept %s]: 'change' and 'reason' are required", file,
				       c->accepts[i].glob);
	return 0;
}

int fz_ci_config_parse(struct fz_ci_config *c, const char *text, const char *name,
		       struct fz_error *err)
{
	int r = fz_ini_parse(text, name, take_line, c, err);

	return r ? r : check_complete(c, name, err);
}

int fz_ci_config_load(struct fz_ci_config *c, const char *path, bool wanted, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *text = NULL;
	int r = fz_ini_load(path, wanted, &text, err);

	return text ? fz_ci_config_parse(c, text, path, err) : r;
}

void fz_ci_config_init(struct fz_ci_config *c)
{
	*c = (struct fz_ci_config){ .metrics = { { "instructions" }, 1 },
				    .threshold = 0.02,
				    .wall = true,
				    .pairs = 40,
				    .timeout = 600,
				    .wall_seconds = 60 };
}

void fz_ci_config_release(struct fz_ci_config *c)
{
	fz_arena_release(&c->arena);
	free(c->rules);
	free(c->accepts);
}

/* ---- queries ---- */

/* glob: the name itself, or a shell pattern. */
static bool matches(const char *glob, const struct fz_ci_metric_list *metrics,
		    const struct fz_ci_subject *s)
{
	if (metrics->n && !has_metric(metrics, s->metric))
		return false;
	if (fz_str_eq(s->name, fz_str_of(glob)))
		return true;
	fz_auto(fz_free_ptr) char *text = fz_strndup(s->name.p, s->name.n);
	return fnmatch(glob, text, FNM_NOESCAPE) == 0;
}

static bool applies(const struct fz_ci_rule *rule, const struct fz_ci_subject *s)
{
	return matches(rule->glob, &rule->metrics, s);
}

void fz_ci_config_accept(struct fz_ci_config *c, const struct fz_ci_accept *a, const char *metric)
{
	struct fz_ci_accept copy = *a;

	copy.by = fz_arena_strndup(&c->arena, a->by, strlen(a->by));
	copy.glob = fz_arena_strndup(&c->arena, a->glob, strlen(a->glob));
	copy.reason = fz_arena_strndup(&c->arena, a->reason, strlen(a->reason));
	copy.commit = a->commit ? fz_arena_strndup(&c->arena, a->commit, strlen(a->commit)) : NULL;
	copy.metrics = (struct fz_ci_metric_list){ { metric }, 1 };
	fz_push(c->accepts, c->accept_n, c->accept_cap, copy);
}

bool fz_ci_config_accepts(const struct fz_ci_accept *a, const struct fz_ci_subject *s)
{
	if (a->by)
		return has_metric(&a->metrics, s->metric) && fz_str_eq(s->name, fz_str_of(a->glob));
	return matches(a->glob, &a->metrics, s);
}

double fz_ci_config_threshold(const struct fz_ci_config *c, const struct fz_ci_subject *s)
{
	double threshold = c->threshold;

	for (uint32_t i = 0; i < c->rule_n; i++)
		if (!isnan(c->rules[i].threshold) && applies(&c->rules[i], s))
			threshold = c->rules[i].threshold;
	return threshold;
}

bool fz_ci_config_wall(const struct fz_ci_config *c, const struct fz_ci_subject *s)
{
	bool wall = c->wall;

	if (fz_ci_is_of_memory(s->metric))
		return false;
	for (uint32_t i = 0; i < c->rule_n; i++)
		if (c->rules[i].wall >= 0 && applies(&c->rules[i], s))
			wall = c->rules[i].wall;
	return wall;
}

const char *fz_ci_config_ignored(const struct fz_ci_config *c, const struct fz_ci_subject *s,
				 const char *today, const char **ret_expired)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < c->rule_n; i++) {
		const struct fz_ci_rule *rule = &c->rules[i];
		if (!rule->ignore || !applies(rule, s))
			continue;
		if (rule->until && strcmp(today, rule->until) > 0)
			*ret_expired = rule->until;
		else
			why = rule->ignore;
	}
	return why;
}
