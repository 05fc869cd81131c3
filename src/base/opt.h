/* SPDX-License-Identifier: MIT */
/* Command-line options from a table: one table feeds the parser and --help.
 *
 * Long options take "--name value" and "--name=value", may be cut short where that is
 * unambiguous, and short ones cluster ("-al 5"). Options may stand anywhere before "--"; a
 * command that runs another program sets `stop_at_first` so that the program's own options are
 * left alone.
 */
#pragma once

#include "base.h"
#include "buf.h"
#include "error.h"

enum fz_opt_kind {
	FZ_OPT_END,
	FZ_OPT_GROUP,  /* a heading in --help: only `help` is used */
	FZ_OPT_FLAG,   /* bool *: set true */
	FZ_OPT_OFF,    /* bool *: set false */
	FZ_OPT_STRING, /* const char **: borrowed from argv */
	FZ_OPT_INT,    /* int *: decimal, min..max */
	FZ_OPT_CHOICE, /* int *: index into `choices` (NULL-terminated); `optional`: or `min` */
	FZ_OPT_SET,    /* int *: set to `min` (several flags that exclude one another) */
	FZ_OPT_CALL,   /* call(value, option, err) parses the text; value is where to put it */
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
	/* For completion by a shell: what the value of an FZ_OPT_CALL may be, separated by
	 * spaces; NULL: not known. */
	void (*list_values)(struct fz_buf *out);
	bool hidden;
	bool optional; /* the value may be left out, and is given as "--name=value" only */
};

struct fz_opt_state {
	const struct fz_opt *options;
	bool stop_at_first; /* the first plain argument ends the options */
	/* results */
	bool help_asked;  /* -h or --help was there */
	char **arguments; /* plain arguments in order, pointing into argv */
	int argument_count;
	bool saw_dashes;  /* "--" was there */
	int after_dashes; /* index in arguments of the first one after "--" */
};

/* Parse argv[1..argc). argv is reordered; `arguments` points into it. */
int fz_opt_parse(struct fz_opt_state *state, int argc, char **argv, struct fz_error *err);
/* The options part of --help, wrapped to the columns. */
void fz_opt_help(const struct fz_opt *options, unsigned columns, struct fz_buf *out);
/* The entry of `names` (NULL-terminated) nearest to text, or NULL when none is near. */
const char *fz_opt_nearest(const char *text, const char *const *names);
