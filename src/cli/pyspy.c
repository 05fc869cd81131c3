/* SPDX-License-Identifier: MIT */
/* py-spy's spelling of `run` and `attach`; see cli.h.
 *
 *   record -o out.svg -f raw -sn --pid 4711
 *       -> attach -o out.svg --format collapsed --subprocesses --native=stacks 4711
 *
 * Options before the program are translated one by one. Options that are not in the table are ours
 * and are kept, like everything from the program on.
 */
#include "cli/cli.h"

static const struct spelling {
	char letter;
	const char *name;
	bool takes_value;
	const char *ours; /* NULL: the process id; "": has no effect here */
} spellings[] = {
	{ 'p', "pid", true, NULL },
	{ 'o', "output", true, "--output" },
	{ 'f', "format", true, "--format" },
	{ 'd', "duration", true, "--duration" },
	{ 'r', "rate", true, "--sampling-rate" },
	{ 'n', "native", false, "--native=stacks" },
	{ 's', "subprocesses", false, "--subprocesses" },
	{ 't', "threads", false, "--all-threads" },
	{ 'g', "gil", false, "--mode=gil" },
	{ 'i', "idle", false, "" },
	{ 'F', "function", false, "" },
	{ 0, "nolineno", false, "" },
	{ 0, "nonblocking", false, "" },
	{ 0, "full-filenames", false, "" },
};

/* Values with other names. "": the option is dropped. */
static const struct {
	const char *ours, *theirs, *value;
} values[] = {
	{ "--format", "flamegraph", "svg" },
	{ "--format", "raw", "collapsed" },
	{ "--format", "chrometrace", "perfetto" },
	{ "--duration", "unlimited", "" },
};

struct words {
	char **list;
	size_t n, cap;
	char *pid;
	bool system;    /* --system, which is ours: no process id */
	bool formatted; /* an output was requested */
};

static void add(struct words *w, char *word)
{
	fz_push(w->list, w->n, w->cap, word);
}

static void add_option(struct words *w, const struct spelling *s, const char *value)
{
	if (!s->ours) {
		free(w->pid);
		w->pid = fz_strndup(value, strlen(value));
		return;
	}
	for (size_t i = 0; value && i < FZ_ARRAY_LEN(values); i++)
		if (strcmp(s->ours, values[i].ours) == 0 && strcmp(value, values[i].theirs) == 0)
			value = values[i].value;
	w->formatted |= strcmp(s->ours, "--output") == 0 || strcmp(s->ours, "--format") == 0;
	if (*s->ours && (!s->takes_value || *value))
		add(w, s->takes_value ? fz_asprintf("%s=%s", s->ours, value)
				      : fz_asprintf("%s", s->ours));
}

static const struct spelling *find(char letter, struct fz_str name)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(spellings); i++)
		if (letter ? spellings[i].letter == letter
			   : fz_str_eq(name, fz_str_of(spellings[i].name)))
			return &spellings[i];
	return NULL;
}

/* True if one of our own options takes the next word. */
static bool takes_next(char letter, struct fz_str name)
{
	for (const struct fz_opt *o = fz_command_run.options; o->kind != FZ_OPT_END; o++)
		if (letter ? o->short_name == letter
			   : o->long_name && fz_str_eq(name, fz_str_of(o->long_name)))
			return o->argument && !o->optional;
	return false;
}

/* --name, --name=value or --name value; returns how many words it took. */
static int add_long(struct words *w, char **argv, int left)
{
	const char *text = argv[0] + 2;
	struct fz_str name = { text, strcspn(text, "=") };
	const char *value = text[name.n] ? text + name.n + 1 : left > 1 ? argv[1] : NULL;
	const struct spelling *s = find(0, name);

	/* Their --native is a flag, ours takes a value after "=". */
	bool theirs = s && (s->takes_value ? value != NULL : !text[name.n]);
	w->system |= fz_str_eq(name, FZ_STR("system"));
	if (theirs)
		add_option(w, s, s->takes_value ? value : NULL);
	else
		add(w, fz_asprintf("%s", argv[0]));
	bool next = !text[name.n] && left > 1 && (theirs ? s->takes_value : takes_next(0, name));
	if (next && !theirs)
		add(w, fz_asprintf("%s", argv[1]));
	return next ? 2 : 1;
}

/* -abc value; returns how many words it took. */
static int add_short(struct words *w, char **argv, int left)
{
	const struct fz_str none = { 0 };

	for (const char *c = argv[0] + 1; *c; c++) {
		const struct spelling *s = find(*c, none);
		bool takes = s ? s->takes_value : takes_next(*c, none);
		const char *value = c[1] ? c + 1 : left > 1 ? argv[1] : NULL;
		if (takes && value && s)
			add_option(w, s, value);
		else if (takes && value)
			add(w, fz_asprintf("-%c%s", *c, value));
		else if (s && !takes)
			add_option(w, s, NULL);
		else
			add(w, fz_asprintf("-%c", *c));
		if (takes)
			return c[1] || left < 2 ? 1 : 2;
	}
	return 1;
}

int fz_cli_record_alias(int argc, char **argv)
{
	struct words w = { 0 };
	int i = 1;

	add(&w, NULL);
	while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += argv[i][1] == '-' ? add_long(&w, argv + i, argc - i)
				       : add_short(&w, argv + i, argc - i);
	const struct fz_command *command = w.pid || w.system ? &fz_command_attach : &fz_command_run;
	w.list[0] = fz_asprintf("%s", command->name);
	/* Like py-spy; without an output attach does this itself. */
	if (w.pid && w.formatted)
		add(&w, fz_asprintf("--all-threads"));
	size_t own = w.n;
	if (w.pid)
		add(&w, w.pid);
	for (; i < argc; i++)
		add(&w, argv[i]);
	add(&w, NULL);
	/* Parsing permutes the list, so keep the strings to free. */
	fz_auto(fz_free_ptr) char **made = fz_calloc(own, sizeof(*made));
	memcpy(made, w.list, own * sizeof(*made));
	int status = fz_cli_run(command, (int)w.n - 1, w.list);
	for (size_t k = 0; k < own; k++)
		free(made[k]);
	free(w.pid);
	free(w.list);
	return status;
}
