/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID once, when a process is found; see program.h.
 *
 * The process controls all of it (command line, folder, links), so it is used only as a name, or as
 * a path that is read with its owner's rights (version.c).
 */
#include "agent/program.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "record/owner.h"
#include "record/process.h"
#include "record/procstat.h"

static const char gone[] = " (deleted)";

/* The first argument of these that is not an option is a script. */
static const char *const interpreters[] = { "node", "nodejs", "ruby", "perl", "php",
					    "bash", "dash",   "sh",   NULL };

static char *link_of(pid_t pid, const char *name)
{
	char path[64], target[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)fz_process_live(pid), name);
	ssize_t n = readlink(path, target, sizeof(target));
	return fz_strndup(target, n > 0 ? (size_t)n : 0);
}

/* Ignores version suffixes: "ruby3.1" is ruby. */
static bool is_interpreter(const char *word)
{
	struct fz_str name = fz_path_base(fz_str_of(word));

	while (name.n && strchr("0123456789.", name.p[name.n - 1]))
		name.n--;
	for (size_t i = 0; interpreters[i]; i++)
		if (fz_str_eq(name, fz_str_of(interpreters[i])))
			return true;
	return false;
}

static bool is_python(const char *word)
{
	return fz_str_starts(fz_path_base(fz_str_of(word)), "python");
}

/* The real path of a script; in another root its path there. The caller frees. */
static char *path_of(const struct fz_agent_program *p, const char *script)
{
	fz_auto(fz_free_ptr) char *path =
		*script == '/' ? fz_strdup(script) : fz_asprintf("%s/%s", p->folder, script);
	char real[PATH_MAX];

	return fz_strdup(!p->elsewhere && realpath(path, real) ? real : path);
}

/* A program may replace its command line with a title in one word: "nginx: worker process". Cut it
 * to the program, because the rest can differ in each process, and contain secrets. */
static void cut_title(const struct fz_agent_program *p, char *word)
{
	struct fz_str executable = fz_str_of(p->executable);
	char *begin = word + strspn(word, " \t["), *end = begin + strcspn(begin, " \t");

	/* Names and paths may contain spaces, too. */
	if (!*begin || (!*end && begin == word) ||
	    fz_str_eq(fz_path_base(fz_str_of(word)), fz_path_base(executable)))
		return;
	if (executable.n && fz_str_starts(fz_str_of(begin), p->executable) &&
	    begin[executable.n] == ' ')
		end = begin + executable.n;
	else if (*begin == '/' && strchr(end, '/'))
		end = strstr(end, " -") ?: strchr(end, '\0');
	while (end > begin + 1 && end[-1] == ':')
		end--;
	memmove(word, begin, (size_t)(end - begin));
	word[end - begin] = '\0';
}

static void set_script(struct fz_agent_program *p, char *const argv[])
{
	const char *script = NULL;

	p->interpreted = is_python(argv[0]) || is_interpreter(argv[0]);
	if (is_python(argv[0])) {
		struct fz_facts_runnable r = fz_facts_runnable_of(argv);
		script = r.script;
		if (r.module)
			p->module = fz_strdup(r.module);
	} else if (p->interpreted && argv[1] && argv[1][0] != '-') {
		script = argv[1];
	}
	p->called = argv[0][0] == '/' ? fz_strdup(argv[0]) : fz_strdup("");
	p->script = script ? path_of(p, script) : fz_strdup("");
}

static void set_build(struct fz_agent_program *p)
{
	char id[FZ_BUILD_ID_SIZE];

	/* The build id would be that of the interpreter. */
	if (p->interpreted)
		return;
	fz_auto(fz_close_fd) int fd = fz_process_open_executable(p->pid);
	if (fd >= 0 && fz_facts_build_id(fd, id))
		p->build = fz_strdup(id);
}

static void set_name(struct fz_agent_program *p, const char *word)
{
	struct fz_str path = fz_str_of(*p->script ? p->script : word), name = fz_path_base(path);

	if (p->module)
		name = fz_str_of(p->module);
	p->name = fz_strndup(name.p, name.n);
}

/* The resolution is one clock tick, 10 ms. */
static void set_start(struct fz_agent_program *p)
{
	struct fz_procstat stat;
	double ticks = (double)sysconf(_SC_CLK_TCK);

	if (!fz_procstat_read(p->pid, 0, &stat))
		return;
	p->start_ticks = stat.start_time;
	p->start_unix_ns = fz_clock_unix() - fz_clock_read(CLOCK_BOOTTIME) +
			   (int64_t)((double)stat.start_time / ticks * FZ_SECOND);
}

static bool is_elsewhere(pid_t pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)fz_process_live(pid));
	return stat("/", &ours) || stat(path, &its) || ours.st_dev != its.st_dev ||
	       ours.st_ino != its.st_ino;
}

static void cut_deleted(struct fz_agent_program *p)
{
	p->deleted = fz_str_ends(fz_str_of(p->executable), gone);
	if (p->deleted)
		p->executable[strlen(p->executable) - strlen(gone)] = '\0';
}

void fz_agent_program_read(pid_t pid, enum fz_met met, struct fz_agent_program *ret)
{
	struct fz_agent_program *p = ret;

	*p = (struct fz_agent_program){ .pid = pid, .met = met };
	if (met == FZ_MET_PROGRAM) {
		fz_auto(fz_free_ptr) char *text = NULL;
		char **argv = fz_facts_words_of(pid, &text);

		set_start(p);
		p->elsewhere = is_elsewhere(pid);
		p->command = fz_facts_command_of(pid);
		p->cgroup = fz_owner_cgroup_path(pid);
		p->executable = link_of(pid, "exe");
		p->folder = link_of(pid, "cwd");
		cut_deleted(p);
		if (argv[0]) {
			cut_title(p, argv[0]);
			set_script(p, argv);
			set_build(p);
			set_name(p, argv[0]);
		}
		free(argv);
	}
	char **const texts[] = { &p->command, &p->name,   &p->cgroup, &p->executable, &p->folder,
				 &p->script,  &p->module, &p->called, &p->build };
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		if (!*texts[i])
			*texts[i] = fz_strdup("");
}

void fz_agent_program_release(struct fz_agent_program *p)
{
	free(p->command);
	free(p->name);
	free(p->cgroup);
	free(p->executable);
	free(p->folder);
	free(p->script);
	free(p->module);
	free(p->called);
	free(p->build);
	*p = (struct fz_agent_program){ 0 };
}

uint64_t fz_agent_program_key(const struct fz_agent_program *p)
{
	uint64_t key = fz_hash64((uint64_t)p->met << 32 | (uint32_t)p->pid);
	const char *const texts[] = { p->command, p->cgroup, p->executable };

	/* All processes that could not be read have the same key. */
	if (p->met != FZ_MET_PROGRAM)
		return (uint64_t)p->met;
	key = fz_hash64(key ^ p->start_ticks);
	for (size_t i = 0; i < FZ_ARRAY_LEN(texts); i++)
		key = fz_hash64(key ^ fz_map_hash(texts[i], strlen(texts[i])));
	return key;
}

const char *fz_agent_program_file(const struct fz_agent_program *p)
{
	return p->interpreted ? p->script : p->executable;
}
