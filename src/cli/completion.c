/* SPDX-License-Identifier: MIT */
/* fizeau completion: scripts that let a shell complete commands, options and their values.
 *
 * Generated from the tables of commands and options, like --help. Recordings (@1, @2, ...) are
 * queried with 'fizeau list' on completion.
 */
#include "cli/cli.h"

#define EACH_COMMAND(c)                               \
	const struct fz_command *const *c = commands; \
	*c;                                           \
	c++

#define EACH_OPTION(o, command)                      \
	const struct fz_opt *o = (command)->options; \
	o->kind != FZ_OPT_END;                       \
	o++

static bool is_option(const struct fz_opt *o)
{
	return o->kind != FZ_OPT_GROUP && !o->hidden;
}

/* Append the valid values, separated by spaces; false if they are unknown. */
static bool values_of(const struct fz_opt *o, struct fz_buf *out)
{
	if (o->kind == FZ_OPT_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			fz_buf_printf(out, "%s%s", i ? " " : "", o->choices[i]);
	else if (o->list_values)
		o->list_values(out);
	return out->n > 0;
}

static bool is_file(const struct fz_opt *o)
{
	static const char *const words[] = { "FILE", "PATH", "BASELINE" };

	for (size_t i = 0; o->argument && i < FZ_ARRAY_LEN(words); i++)
		if (strcmp(o->argument, words[i]) == 0)
			return true;
	return false;
}

/* Append text escaped for '...' of a shell. */
static void add_quoted(struct fz_buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			fz_buf_str(out, "'\\''");
		else
			fz_buf_char(out, *text);
}

/* The first part of a help text that fits beside an option; the caller frees. */
static char *brief(const char *help)
{
	enum { LEAST = 12, MOST = 70 };
	size_t n = FZ_MIN(strlen(help), (size_t)LEAST);

	n += strcspn(help + n, ";:(");
	if (n > MOST)
		for (n = MOST; n > LEAST && help[n] != ' '; n--)
			;
	while (n > 1 && help[n - 1] == ' ')
		n--;
	return fz_strndup(help, n);
}

/* ---- bash ---- */

static void add_names(const struct fz_opt *o, struct fz_buf *out)
{
	if (o->short_name)
		fz_buf_printf(out, "-%c%s", o->short_name, o->long_name ? " " : "");
	if (o->long_name)
		fz_buf_printf(out, "--%s", o->long_name);
}

static void bash_option(const struct fz_command *command, const struct fz_opt *o,
			struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf values = { 0 };

	if (!o->argument)
		return;
	fz_buf_str(out, "\t");
	if (o->short_name)
		fz_buf_printf(out, "'%s -%c'%s", command->name, o->short_name,
			      o->long_name ? "|" : "");
	if (o->long_name)
		fz_buf_printf(out, o->optional ? "'%s --%s='" : "'%1$s --%2$s'|'%1$s --%2$s='",
			      command->name, o->long_name);
	if (values_of(o, &values))
		fz_buf_printf(out, ") words='%s' ;;\n", values.p);
	else
		fz_buf_printf(out, ") kind=%s ;;\n", is_file(o) ? "recording" : "nothing");
}

static void bash_command(const struct fz_command *command, struct fz_buf *out)
{
	const char *separator = "";

	fz_buf_printf(out, "\t%s)\n\t\tkind=%s options='", command->name,
		      fz_argument_names[command->argument]);
	for (EACH_OPTION(o, command))
		if (is_option(o)) {
			fz_buf_str(out, separator);
			add_names(o, out);
			separator = " ";
		}
	fz_buf_str(out, "'\n\t\ttakes='");
	for (EACH_OPTION(o, command))
		if (is_option(o) && o->argument && !o->optional) {
			fz_buf_char(out, ' ');
			add_names(o, out);
		}
	fz_buf_str(out, " ' ;;\n");
}

static const char bash_head[] =
	"# bash completion of fizeau; made by 'fizeau completion bash'\n"
	"_fizeau_words() { mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$1\" -- "
	"\"$cur\"); }\n"
	"_fizeau_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"_fizeau_recordings() { _fizeau_words \"$(fizeau list 2>/dev/null | awk '$1 ~ /^@/ { print "
	"$1 }')\"; }\n"
	"_fizeau_values() {\n"
	"\tcase $1 in\n"
	"\trecording) _fizeau_files; _fizeau_recordings ;;\n"
	"\tprogram)\n"
	"\t\t_fizeau_files\n"
	"\t\t[[ -n $cur ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- \"$cur\") "
	";;\n"
	"\tprocess) _fizeau_words \"$(cd /proc && echo [0-9]*)\" ;;\n"
	"\tshell) _fizeau_words 'bash zsh fish' ;;\n"
	"\tesac\n"
	"}\n";

static const char bash_middle[] =
	"\t*) return ;;\n"
	"\tesac\n"
	"\t# The arguments of a program that is run are the program's.\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [[ $word == -- ]]; then\n"
	"\t\t\t_fizeau_values program\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t[[ $takes == *\" $word \"* ]] && { ((i++)); [[ ${COMP_WORDS[i]} == '=' ]] && ((i++)); "
	"continue; }\n"
	"\t\tif [[ $kind == program && $word != -* && $command == run ]]; then\n"
	"\t\t\t_fizeau_files\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif [[ $cur == '=' ]]; then\n"
	"\t\tcur= prev=$prev=\n"
	"\telif [[ $prev == '=' ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	"\tfi\n"
	"\tcase \"$command $prev\" in\n";

static const char bash_tail[] = "\t*)\n"
				"\t\tif [[ $cur == -* ]]; then\n"
				"\t\t\twords=$options\n"
				"\t\tfi ;;\n"
				"\tesac\n"
				"\tif [[ -n $words ]]; then\n"
				"\t\t_fizeau_words \"$words\"\n"
				"\telse\n"
				"\t\t_fizeau_values \"$kind\"\n"
				"\tfi\n"
				"}\n"
				"complete -F _fizeau fizeau\n";

static void write_bash(const struct fz_command *const *commands, struct fz_buf *out)
{
	fz_buf_str(out, bash_head);
	fz_buf_str(out,
		   "_fizeau() {\n"
		   "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		   "\tlocal command=${COMP_WORDS[1]} commands kind options takes words= word i\n"
		   "\tCOMPREPLY=()\n"
		   "\tcommands='");
	for (EACH_COMMAND(c))
		fz_buf_printf(out, "%s ", (*c)->name);
	fz_buf_str(out, "help'\n"
			"\tif ((COMP_CWORD == 1)); then\n"
			"\t\t_fizeau_words \"$commands --help --version\"\n"
			"\t\treturn\n"
			"\tfi\n"
			"\tcase $command in\n"
			"\thelp)\n"
			"\t\t_fizeau_words \"$commands formats\"\n"
			"\t\treturn ;;\n");
	for (EACH_COMMAND(c))
		bash_command(*c, out);
	fz_buf_str(out, bash_middle);
	for (EACH_COMMAND(c))
		for (EACH_OPTION(o, *c))
			if (is_option(o))
				bash_option(*c, o, out);
	fz_buf_str(out, bash_tail);
}

/* ---- zsh ---- */

/* Append help escaped for [...] of an _arguments specification, inside '...'. */
static void add_zsh_help(struct fz_buf *out, const char *help)
{
	fz_auto(fz_free_ptr) char *text = brief(help);

	for (const char *p = text; *p; p++)
		if (*p == '\'')
			fz_buf_str(out, "'\\''");
		else if (strchr("[]:\\", *p))
			fz_buf_printf(out, "\\%c", *p);
		else
			fz_buf_char(out, *p);
}

static void zsh_value(const struct fz_opt *o, struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf values = { 0 };

	if (!o->argument)
		return;
	fz_buf_str(out, o->optional ? "::" : ":");
	for (const char *p = o->argument; *p; p++)
		fz_buf_char(out, *p == ':' ? ' ' : *p);
	fz_buf_char(out, ':');
	if (values_of(o, &values))
		fz_buf_printf(out, "(%s)", values.p);
	else if (is_file(o))
		fz_buf_str(out, "_fizeau_recordings");
	else
		fz_buf_char(out, ' ');
}

static void zsh_option(const struct fz_opt *o, struct fz_buf *out)
{
	const char short_name[3] = { '-', o->short_name, 0 };

	for (int k = 0; k < 2; k++) {
		if (k ? !o->long_name : !o->short_name)
			continue;
		fz_buf_str(out, "\t\t\t'");
		if (o->short_name && o->long_name)
			fz_buf_printf(out, "(%s --%s)", short_name, o->long_name);
		if (k)
			fz_buf_printf(out, "--%s%s", o->long_name,
				      o->optional   ? "=-"
				      : o->argument ? "="
						    : "");
		else
			fz_buf_printf(out, "%s%s", short_name, o->argument ? "+" : "");
		fz_buf_char(out, '[');
		add_zsh_help(out, o->help);
		fz_buf_char(out, ']');
		zsh_value(o, out);
		fz_buf_str(out, "' \\\n");
	}
}

static const char *const zsh_arguments[] = {
	[FZ_ARGUMENT_NOTHING] = "",
	[FZ_ARGUMENT_RECORDING] = " '*:recording:_fizeau_recordings'",
	[FZ_ARGUMENT_PROCESS] = " '*:process:_pids'",
	[FZ_ARGUMENT_PROGRAM] = " '(-)1:program:_fizeau_programs' '*::arguments:_files'",
	[FZ_ARGUMENT_SHELL] = " '1:shell:(bash zsh fish)'",
};

static void zsh_command(const struct fz_command *command, struct fz_buf *out)
{
	fz_buf_printf(out, "\t%s)\n\t\t_arguments -s -S \\\n", command->name);
	for (EACH_OPTION(o, command))
		if (is_option(o))
			zsh_option(o, out);
	fz_buf_printf(out, "\t\t\t'(- *)'{-h,--help}'[explain the command]'%s ;;\n",
		      zsh_arguments[command->argument]);
}

static void write_zsh(const struct fz_command *const *commands, struct fz_buf *out)
{
	fz_buf_str(
		out,
		"#compdef fizeau\n"
		"# zsh completion of fizeau; made by 'fizeau completion zsh'\n"
		"_fizeau_recordings() {\n"
		"\tlocal -a stored\n"
		"\tstored=(${(f)\"$(fizeau list 2>/dev/null | awk '$1 ~ /^@/ { print $1 }')\"})\n"
		"\t_alternative 'files:file:_files' \"stored:recording:($stored)\"\n"
		"}\n"
		"_fizeau_programs() { _alternative 'files:script:_files' "
		"'commands:program:_path_commands'; }\n"
		"_fizeau() {\n"
		"\tlocal -a commands\n"
		"\tcommands=(\n");
	for (EACH_COMMAND(c)) {
		fz_buf_printf(out, "\t\t'%s:", (*c)->name);
		add_quoted(out, (*c)->summary);
		fz_buf_str(out, "'\n");
	}
	fz_buf_str(out, "\t\t'help:explain a command'\n"
			"\t)\n"
			"\tif ((CURRENT == 2)); then\n"
			"\t\t_describe command commands\n"
			"\t\treturn\n"
			"\tfi\n"
			"\tlocal command=$words[2]\n"
			"\tshift words\n"
			"\t((CURRENT--))\n"
			"\tcase $command in\n"
			"\thelp) _describe command commands ;;\n");
	for (EACH_COMMAND(c))
		zsh_command(*c, out);
	fz_buf_str(out, "\tesac\n"
			"}\n"
			"if [[ $funcstack[1] == _fizeau ]]; then\n"
			"\t_fizeau \"$@\"\n"
			"else\n"
			"\tcompdef _fizeau fizeau\n"
			"fi\n");
}

/* ---- fish ---- */

static void fish_option(const struct fz_command *command, const struct fz_opt *o,
			struct fz_buf *out)
{
	fz_auto(fz_buf_release) struct fz_buf values = { 0 };
	fz_auto(fz_free_ptr) char *help = brief(o->help);

	fz_buf_printf(out, "complete -c fizeau -n '__fizeau_%s %s'",
		      command->argument == FZ_ARGUMENT_PROGRAM ? "before_program" : "in",
		      command->name);
	if (o->short_name)
		fz_buf_printf(out, " -s %c", o->short_name);
	if (o->long_name)
		fz_buf_printf(out, " -l %s", o->long_name);
	if (values_of(o, &values))
		fz_buf_printf(out, "%s -a '%s'", o->optional ? "" : " -x", values.p);
	else if (is_file(o))
		fz_buf_str(out, " -r -F -a '(__fizeau_recordings)'");
	else if (o->argument && !o->optional)
		fz_buf_str(out, " -x");
	fz_buf_str(out, " -d '");
	for (const char *p = help; *p; p++)
		fz_buf_printf(out, "%s%c", strchr("'\\", *p) ? "\\" : "", *p);
	fz_buf_str(out, "'\n");
}

static const char *const fish_arguments[] = {
	[FZ_ARGUMENT_NOTHING] = "-f",
	[FZ_ARGUMENT_RECORDING] = "-F -a '(__fizeau_recordings)'",
	[FZ_ARGUMENT_PROCESS] = "-f -a '(__fish_complete_pids)'",
	[FZ_ARGUMENT_PROGRAM] = "-F -a '(__fish_complete_command)'",
	[FZ_ARGUMENT_SHELL] = "-f -a 'bash zsh fish'",
};

static void write_fish(const struct fz_command *const *commands, struct fz_buf *out)
{
	fz_buf_str(out, "# fish completion of fizeau; made by 'fizeau completion fish'\n"
			"function __fizeau_in\n"
			"\tset -l words (commandline -opc)\n"
			"\ttest (count $words) -ge 2 -a \"$words[2]\" = $argv[1]\n"
			"end\n"
			"function __fizeau_first\n"
			"\ttest (count (commandline -opc)) -eq 1\n"
			"end\n"
			"# What follows the name of a program is the program's.\n"
			"function __fizeau_before_program\n"
			"\t__fizeau_in $argv[1]; or return 1\n"
			"\tset -l value 0\n"
			"\tfor word in (commandline -opc)[3..-1]\n"
			"\t\tif test $value = 1\n"
			"\t\t\tset value 0\n"
			"\t\telse if contains -- $word $__fizeau_takes\n"
			"\t\t\tset value 1\n"
			"\t\telse if test \"$word\" = --; or not string match -q -- '-*' $word\n"
			"\t\t\ttest $argv[1] != run; or return 1\n"
			"\t\tend\n"
			"\tend\n"
			"end\n"
			"function __fizeau_recordings\n"
			"\tfizeau list 2>/dev/null | string match -r '^@[0-9]+'\n"
			"end\n"
			"complete -c fizeau -f\n");
	fz_buf_str(out, "set -g __fizeau_takes");
	for (EACH_OPTION(o, &fz_command_run))
		if (is_option(o) && o->argument && !o->optional) {
			fz_buf_char(out, ' ');
			add_names(o, out);
		}
	fz_buf_char(out, '\n');
	for (EACH_COMMAND(c)) {
		fz_buf_printf(out, "complete -c fizeau -n __fizeau_first -a %s -d '", (*c)->name);
		for (const char *p = (*c)->summary; *p; p++)
			fz_buf_printf(out, "%s%c", strchr("'\\", *p) ? "\\" : "", *p);
		fz_buf_printf(out, "'\ncomplete -c fizeau -n '__fizeau_in help' -a %s\n",
			      (*c)->name);
	}
	fz_buf_str(out, "complete -c fizeau -n __fizeau_first -a help -d 'explain a command'\n"
			"complete -c fizeau -n __fizeau_first -l version -d 'print the version'\n"
			"complete -c fizeau -s h -l help -d 'explain the command'\n");
	for (EACH_COMMAND(c)) {
		fz_buf_printf(out, "complete -c fizeau -n '__fizeau_in %s' %s\n", (*c)->name,
			      fish_arguments[(*c)->argument]);
		for (EACH_OPTION(o, *c))
			if (is_option(o))
				fish_option(*c, o, out);
	}
}

static const struct {
	const char *name;
	void (*write)(const struct fz_command *const *commands, struct fz_buf *out);
} shells[] = { { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish } };

int fz_cli_completion_print(const struct fz_command *const *commands, const char *shell)
{
	fz_auto(fz_buf_release) struct fz_buf out = { 0 };

	for (size_t i = 0; i < FZ_ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].name, shell) != 0)
			continue;
		shells[i].write(commands, &out);
		fz_cli_print(fz_buf_view(&out));
		return FZ_EXIT_OK;
	}
	return fz_cli_errorf("completion: unknown shell '%s'; use bash, zsh or fish", shell);
}
