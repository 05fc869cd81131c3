/* SPDX-License-Identifier: MIT */
/* Command-line options: one table drives the parser and --help.
 *
 * Long options accept "--name value", "--name=value" and any unambiguous prefix of the name; short
 * options can be combined ("-al 5"). Options may appear anywhere before "--". A command that runs
 * another program sets `stop_at_first`, which leaves that program's options alone.
 */
#pragma once

#include "base.h"
#include "buf.h"
#include "error.h"

enum fz_opt_kind {
	FZ_OPT_END,
	FZ_OPT_GROUP,  /* a heading in --help: only `help` is used */
	FZ_OPT_FLAG,   /* bool *: set true */
	FZ_OPT_STRING, /* const char **: borrowed from argv */
	FZ_OPT_INT,    /* int *: decimal, min..max */
	FZ_OPT_CHOICE, /* int *: index into `choices` (NULL-terminated); `optional`: or `min` */
	FZ_OPT_SET,    /* int *: set to `min` (mutually exclusive flags) */
	FZ_OPT_CALL,   /* call(text, option, err) parses the text into option->value */
	FZ_OPT_ALIAS,  /* a former name of the option `alias_of` in the same table */
};

struct fz_opt {
	enum fz_opt_kind kind;
	char short_name; /* 0: none */
	const char *long_name;
	const char *argument; /* name of the value in --help; NULL: takes none */
	const char *help;
	void *value;
	int min, max;
	const char *const *choices;
	int (*call)(const char *text, const struct fz_opt *opt, struct fz_error *err);
	/* For shell completion: the possible values of an FZ_OPT_CALL, separated by spaces;
	 * NULL: unknown. */
	void (*list_values)(struct fz_buf *out);
	const char *alias_of; /* of an FZ_OPT_ALIAS */
	bool common;          /* also in the short --help */
	bool hidden;          /* accepted, but in no help */
	bool optional;        /* the value may be omitted, and is given as "--name=value" only */
};

/* An entry of a table and its further members: FZ_OPT(INT, "limit", "N", &limit, "at most N
 * rows", .short_name = 'l', .max = 100). A flag has no argument (NULL). */
#define FZ_OPT(kind_, name_, argument_, value_, help_, ...)                        \
	{                                                                          \
		.kind = FZ_OPT_##kind_, .long_name = name_, .argument = argument_, \
		.value = value_, .help = help_, __VA_ARGS__                        \
	}
#define FZ_OPT_HEADING(text)                       \
	{                                          \
		.kind = FZ_OPT_GROUP, .help = text \
	}
/* An entry that accepts a former name of an option; not in --help, not abbreviated. */
#define FZ_OPT_RENAMED(old, now)                                                        \
	{                                                                               \
		.kind = FZ_OPT_ALIAS, .long_name = old, .alias_of = now, .hidden = true \
	}

enum fz_opt_help_kind {
	FZ_OPT_HELP_NONE,
	FZ_OPT_HELP_COMMON, /* --help, -h */
	FZ_OPT_HELP_ALL,    /* --help all, --help=all */
};

struct fz_opt_state {
	const struct fz_opt *options;
	const char *command; /* its name, for messages */
	bool stop_at_first;  /* the first plain argument ends the options */
	/* results */
	enum fz_opt_help_kind help;
	char **arguments; /* plain arguments in order, pointing into argv */
	int argument_count;
	bool saw_dashes;  /* "--" was given */
	int after_dashes; /* index in arguments of the first one after "--" */
};

/* Parse argv[1..argc). argv is reordered; `arguments` points into it. */
int fz_opt_parse(struct fz_opt_state *state, int argc, char **argv, struct fz_error *err);
/* Whether the table has options that the short --help omits. */
bool fz_opt_has_short_help(const struct fz_opt *options);
/* Appends the options part of --help, wrapped to the columns: the common ones, or all. A table
 * without common options is always printed completely. */
void fz_opt_help(const struct fz_opt *options, enum fz_opt_help_kind kind, unsigned columns,
		 struct fz_buf *out);
/* The entry of `names` (NULL-terminated) closest to text, or NULL if none is close. */
const char *fz_opt_nearest(const char *text, const char *const *names);
