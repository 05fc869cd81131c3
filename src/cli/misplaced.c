/* SPDX-License-Identifier: MIT */
/* See misplaced.h. Names that many programs use themselves (output, format, limit) are ignored. */
#include "cli/misplaced.h"

#include "cli/cli.h"

#include <stdio.h>

enum { SCRIPT_MAX = 1 << 20 };

static const char *const only_ours[] = {
	"flamegraph",  "heatmap",        "pstats",  "collapsed",    "gecko",       "jsonl",
	"all-threads", "sampling-rate",  "opcodes", "subprocesses", "async-aware", "native",
	"blocking",    "realtime-stats", "no-gc",   "callgrind",    "no-source",
};

/* Any of these in a script: it may look at its arguments, or leave that to somebody. */
static const char *const looks[] = { "arg", "opt", "click", "fire", "typer", "main", "exec" };

static const char *name_of(const struct fz_opt *table, const char *word)
{
	if (strncmp(word, "--", 2) != 0)
		return NULL;
	fz_auto(fz_free_ptr) char *name = fz_strndup(word + 2, strcspn(word + 2, "="));
	for (size_t i = 0; i < FZ_ARRAY_LEN(only_ours); i++) {
		if (strcmp(name, only_ours[i]) != 0)
			continue;
		for (const struct fz_opt *o = table; o->kind != FZ_OPT_END; o++)
			if (o->long_name && strcmp(o->long_name, name) == 0)
				return only_ours[i];
	}
	return NULL;
}

/* The text of a script; NULL: it is none that can be read. */
static char *text_of(const char *path)
{
	size_t n = strlen(path);
	FILE *f = n > 3 && strcmp(path + n - 3, ".py") == 0 ? fopen(path, "re") : NULL;

	if (!f)
		return NULL;
	char *text = fz_malloc(SCRIPT_MAX + 1);
	text[fread(text, 1, SCRIPT_MAX, f)] = '\0';
	fclose(f);
	return text;
}

/* Is it an option of the script's own, or may it be? */
static bool is_its_own(const char *text, const char *name, int status)
{
	enum { USAGE = 2 }; /* what argparse and others end with */
	fz_auto(fz_free_ptr) char *variable = fz_strndup(name, strlen(name));

	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (text && (strstr(text, name) || strstr(text, variable)))
		return true;
	for (size_t i = 0; !status && text && i < FZ_ARRAY_LEN(looks); i++)
		if (strstr(text, looks[i]))
			return true;
	return !text && status != USAGE;
}

void fz_cli_hint_misplaced(const struct fz_opt *table, char *const words[], int n, int status)
{
	const char *name = NULL;
	int i = 1;

	for (; i < n && strcmp(words[i], "--") != 0; i++)
		if ((name = name_of(table, words[i])))
			break;
	if (!name)
		return;
	fz_auto(fz_free_ptr) char *text = text_of(words[0]);
	if (!is_its_own(text, name, status))
		fz_cli_note("%s came after %s and was passed to it; to use it as an option of "
			    "fizeau, write: fizeau run %s %s ...",
			    words[i], words[0], words[i], words[0]);
}
