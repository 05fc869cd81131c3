/* SPDX-License-Identifier: MIT */
/* The option parser; see opt.h. */
#include "opt.h"
#include "table.h"

#include <limits.h>

#define EACH_OPTION(o, table)             \
	const struct fz_opt *o = (table); \
	o->kind != FZ_OPT_END;            \
	o++

static bool takes_value(const struct fz_opt *o)
{
	return o->argument != NULL;
}

static int parse_int(const char *text, const struct fz_opt *o, struct fz_error *err)
{
	bool negative = text[0] == '-';
	uint64_t digits;
	bool ok = fz_parse_u64(fz_str_of(text + negative), INT_MAX, &digits);
	int v = !ok ? 0 : negative ? -(int)digits : (int)digits;

	if (!ok || v < o->min || v > o->max)
		return fz_fail(err, FZ_EUSAGE, "--%s: '%s' is not a whole number from %d to %d",
			       o->long_name, text, o->min, o->max);
	*(int *)o->value = v;
	return 0;
}

static int parse_choice(const char *text, const struct fz_opt *o, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf all = { 0 };

	for (int i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], text) == 0) {
			*(int *)o->value = i;
			return 0;
		}
		fz_buf_printf(&all, "%s%s", i ? ", " : "", o->choices[i]);
	}
	return fz_fail(err, FZ_EUSAGE, "--%s: '%s' is not one of %s", o->long_name, text, all.p);
}

static int apply(const struct fz_opt *o, const char *value, struct fz_error *err)
{
	switch (o->kind) {
	case FZ_OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case FZ_OPT_STRING:
		*(const char **)o->value = value;
		return 0;
	case FZ_OPT_INT:
		fz_assert(o->min <= o->max);
		return parse_int(value, o, err);
	case FZ_OPT_CHOICE:
		fz_assert(value || o->optional);
		if (value)
			return parse_choice(value, o, err);
		*(int *)o->value = o->min;
		return 0;
	case FZ_OPT_SET:
		*(int *)o->value = o->min;
		return 0;
	case FZ_OPT_CALL:
		return o->call(value, o, err);
	case FZ_OPT_END:
	case FZ_OPT_GROUP:
	case FZ_OPT_ALIAS:
		break;
	}
	fz_assert(!"an option that can be applied");
	return FZ_EUSAGE;
}

static int unknown_option(const struct fz_opt_state *state, struct fz_str name,
			  struct fz_error *err)
{
	const char *names[256];
	size_t n = 0;
	fz_auto(fz_free_ptr) char *text = fz_strndup(name.p, name.n);

	for (EACH_OPTION(o, state->options))
		if (o->long_name && !o->hidden && n + 1 < FZ_ARRAY_LEN(names))
			names[n++] = o->long_name;
	names[n] = NULL;
	const char *near = fz_opt_nearest(text, names);
	if (near)
		return fz_fail(err, FZ_EUSAGE, "unknown option '--%s'; did you mean '--%s'?", text,
			       near);
	return fz_fail(err, FZ_EUSAGE, "unknown option '--%s'; see 'fizeau %s --help all'", text,
		       state->command);
}

/* The option that an alias refers to; other options are returned unchanged. */
static const struct fz_opt *resolve(const struct fz_opt *options, const struct fz_opt *alias)
{
	if (alias->kind != FZ_OPT_ALIAS)
		return alias;
	for (EACH_OPTION(o, options))
		if (o->kind != FZ_OPT_ALIAS && o->long_name &&
		    strcmp(o->long_name, alias->alias_of) == 0)
			return o;
	fz_assert(!"an alias names an option of its table");
	return alias;
}

/* Exact name, or the only option that starts with it. */
static int find_long(const struct fz_opt_state *state, struct fz_str name,
		     const struct fz_opt **ret, struct fz_error *err)
{
	const struct fz_opt *found = NULL, *other = NULL;

	for (EACH_OPTION(o, state->options)) {
		if (!o->long_name || strncmp(o->long_name, name.p, name.n) != 0)
			continue;
		if (o->long_name[name.n] == '\0') {
			*ret = resolve(state->options, o);
			return 0;
		}
		if (o->kind == FZ_OPT_ALIAS)
			continue;
		if (found)
			other = o;
		else
			found = o;
	}
	if (other && name.n)
		return fz_fail(err, FZ_EUSAGE, "ambiguous option '--%.*s': could be --%s or --%s",
			       (int)name.n, name.p, found->long_name, other->long_name);
	if (!found || name.n == 0)
		return unknown_option(state, name, err);
	*ret = found;
	return 0;
}

/* Both return how many further arguments were used (0 or 1), or a negative code. */
static int parse_long(const struct fz_opt_state *state, char **argv, int left, struct fz_error *err)
{
	const char *text = argv[0] + 2;
	struct fz_str name = { text, strcspn(text, "=") };
	const struct fz_opt *o = NULL;
	int r = find_long(state, name, &o, err);

	if (r)
		return r;
	bool inline_value = text[name.n] == '=';
	if (!takes_value(o)) {
		if (inline_value)
			return fz_fail(err, FZ_EUSAGE, "--%s takes no value", o->long_name);
		return apply(o, NULL, err);
	}
	if (!inline_value && o->optional)
		return apply(o, NULL, err);
	if (!inline_value && left < 1)
		return fz_fail(err, FZ_EUSAGE, "--%s requires a value (%s)", o->long_name,
			       o->argument);
	r = apply(o, inline_value ? text + name.n + 1 : argv[1], err);
	return r ? r : !inline_value;
}

static int parse_short(const struct fz_opt_state *state, char **argv, int left,
		       struct fz_error *err)
{
	for (const char *c = argv[0] + 1; *c; c++) {
		const struct fz_opt *found = NULL;
		for (EACH_OPTION(o, state->options))
			if (o->short_name == *c)
				found = o;
		if (!found)
			return fz_fail(err, FZ_EUSAGE,
				       "unknown option '-%c'; see 'fizeau %s --help all'", *c,
				       state->command);
		if (takes_value(found)) {
			if (!c[1] && left < 1)
				return fz_fail(err, FZ_EUSAGE, "-%c requires a value (%s)", *c,
					       found->argument);
			int r = apply(found, c[1] ? c + 1 : argv[1], err);
			return r ? r : !c[1];
		}
		int r = apply(found, NULL, err);
		if (r)
			return r;
	}
	return 0;
}

static enum fz_opt_help_kind help_of(const char *arg, const char *next)
{
	if (strcmp(arg, "--help=all") == 0)
		return FZ_OPT_HELP_ALL;
	if (strcmp(arg, "--help") != 0 && strcmp(arg, "-h") != 0)
		return FZ_OPT_HELP_NONE;
	return next && strcmp(next, "all") == 0 ? FZ_OPT_HELP_ALL : FZ_OPT_HELP_COMMON;
}

int fz_opt_parse(struct fz_opt_state *state, int argc, char **argv, struct fz_error *err)
{
	int plain = 0;

	state->arguments = argv + 1;
	for (int i = 1; i < argc; i++) {
		char *arg = argv[i];
		bool rest = state->saw_dashes || (state->stop_at_first && plain > 0);
		if (!rest && strcmp(arg, "--") == 0) {
			state->saw_dashes = true;
			state->after_dashes = plain;
			continue;
		}
		if (rest || arg[0] != '-' || arg[1] == '\0') {
			state->arguments[plain++] = arg;
			continue;
		}
		enum fz_opt_help_kind help = help_of(arg, i + 1 < argc ? argv[i + 1] : NULL);
		if (help) {
			state->help = help;
			continue;
		}
		int used = arg[1] == '-' ? parse_long(state, argv + i, argc - i - 1, err)
					 : parse_short(state, argv + i, argc - i - 1, err);
		if (used < 0)
			return used;
		i += used;
	}
	state->argument_count = plain;
	return 0;
}

bool fz_opt_has_short_help(const struct fz_opt *options)
{
	for (EACH_OPTION(o, options))
		if (o->common)
			return true;
	return false;
}

static void help_option(const struct fz_opt *o, unsigned columns, struct fz_buf *out)
{
	enum { INDENT = 28 };
	size_t start = out->n;

	if (o->short_name)
		fz_buf_printf(out, "  -%c", o->short_name);
	else
		fz_buf_str(out, "    ");
	if (o->long_name)
		fz_buf_printf(out, "%s--%s", o->short_name ? ", " : "  ", o->long_name);
	if (o->argument)
		fz_buf_printf(out, o->optional ? "[=%s]" : " %s", o->argument);
	size_t at = out->n - start;
	if (at + 2 > INDENT) {
		fz_buf_char(out, '\n');
		at = 0;
	}
	fz_buf_printf(out, "%*s", (int)(INDENT - at), "");
	fz_table_wrap_at(o->help, INDENT, INDENT, columns, out);
}

void fz_opt_help(const struct fz_opt *options, enum fz_opt_help_kind kind, unsigned columns,
		 struct fz_buf *out)
{
	bool whole = kind == FZ_OPT_HELP_ALL || !fz_opt_has_short_help(options);
	const char *heading = "Options";

	for (EACH_OPTION(o, options)) {
		if (o->kind == FZ_OPT_GROUP) {
			heading = o->help;
			continue;
		}
		if (o->hidden || !(whole || o->common))
			continue;
		if (heading)
			fz_buf_printf(out, "\n%s:\n", heading);
		heading = NULL;
		help_option(o, columns, out);
	}
}

/* Levenshtein distance, bounded by the lengths of option names. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n + 1 > FZ_ARRAY_LEN(row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];
		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t substitute = diagonal + (a[i] != b[j - 1]);
			diagonal = row[j];
			row[j] = FZ_MIN(substitute, FZ_MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

const char *fz_opt_nearest(const char *text, const char *const *names)
{
	const char *best = NULL;
	size_t nearest = strlen(text) / 3 + 2;

	for (; *names; names++) {
		size_t d = distance(text, *names);
		if (d < nearest) {
			nearest = d;
			best = *names;
		}
	}
	return best;
}
