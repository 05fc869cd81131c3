/* SPDX-License-Identifier: MIT */
/* Recording facts, all from /proc and uname; those of git are in git/facts.c. */
#include "record/facts.h"

#include "base/checkout.h"
#include "base/io.h"
#include "base/str.h"
#include "profile/processes.h"
#include "record/process.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	SMALL_FILE = 65536,
	COMMAND_MAX = 65536,
};

static void set(struct fz_profile *p, const char *key, const char *value)
{
	fz_profile_set_fact(p, key, fz_str_of(value));
}

static void set_once(struct fz_profile *p, const char *key, const char *value)
{
	if (fz_profile_fact(p, key).n == 0)
		set(p, key, value);
}

/* ---- the machine ---- */

/* The value of the first line "key : value". */
static bool find_field(const char *text, const char *key, char *out, size_t size)
{
	const char *line = strstr(text, key);
	const char *colon = line ? strchr(line, ':') : NULL;

	if (!colon)
		return false;
	colon += 1 + strspn(colon + 1, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
	return true;
}

static void set_processor(struct fz_profile *p)
{
	static const char *const keys[] = { "model name", "CPU part", "Processor" };
	char value[256], text[320];
	size_t n;
	char *info = fz_read_small("/proc/cpuinfo", 16 * SMALL_FILE, &n);

	for (size_t i = 0; info && i < FZ_ARRAY_LEN(keys); i++) {
		if (!find_field(info, keys[i], value, sizeof(value)))
			continue;
		snprintf(text, sizeof(text), "%s, %ld processors", value,
			 sysconf(_SC_NPROCESSORS_ONLN));
		set(p, "cpu", text);
		break;
	}
	free(info);
}

void fz_facts_machine(struct fz_profile *p)
{
	struct utsname u;
	char text[sizeof(u.release) + sizeof(u.machine) + 16];

	set(p, "fizeau", FZ_VERSION);
	set_processor(p);
	if (uname(&u))
		return;
	set(p, "host", u.nodename);
	snprintf(text, sizeof(text), "Linux %s %s", u.release, u.machine);
	set(p, "kernel", text);
}

void fz_facts_load(struct fz_profile *p, const char *key)
{
	size_t n;
	char *text = fz_read_small("/proc/loadavg", SMALL_FILE, &n);

	if (text)
		fz_profile_set_fact(p, key, (struct fz_str){ text, strcspn(text, " ") });
	free(text);
}

/* ---- the command ---- */

/* Quoted for a shell. */
static void join_words(struct fz_buf *b, char *const argv[])
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fz_buf_char(b, ' ');
		fz_buf_shell_word(b, argv[i]);
	}
}

static void set_words(struct fz_profile *p, const char *key, char *const argv[])
{
	fz_auto(fz_buf_release) struct fz_buf b = { .limit = COMMAND_MAX };

	join_words(&b, argv);
	fz_profile_set_fact(p, key, fz_buf_view(&b));
}

void fz_facts_command(struct fz_profile *p, char *const argv[])
{
	char cwd[4096];

	set_words(p, "command", argv);
	if (getcwd(cwd, sizeof(cwd)))
		set(p, "cwd", cwd);
}

/* ---- the process ---- */

/* Options of the interpreter that take a value in the next word. */
static bool takes_value(const char *word)
{
	return strcmp(word, "-W") == 0 || strcmp(word, "-X") == 0 ||
	       strcmp(word, "--check-hash-based-pycs") == 0;
}

static const char *base_name(const char *path)
{
	return fz_path_base(fz_str_of(path)).p;
}

struct fz_facts_runnable fz_facts_runnable_of(char *const argv[])
{
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *w = argv[i];
		if (w[0] != '-')
			return (struct fz_facts_runnable){ .script = w };
		if (w[1] == 0)
			break;
		if (w[1] == 'c')
			return (struct fz_facts_runnable){ .text = w[2] ? w + 2 : argv[i + 1] };
		if (w[1] == 'm')
			return (struct fz_facts_runnable){ .module = w[2] ? w + 2 : argv[i + 1] };
		if (takes_value(w) && argv[i + 1])
			i++;
	}
	return (struct fz_facts_runnable){ NULL };
}

static const char *program_of(char *const argv[])
{
	struct fz_facts_runnable r = fz_facts_runnable_of(argv);

	if (r.script)
		return base_name(r.script);
	/* The interpreter's name is of no use, because it differs between environments. */
	return r.module ? r.module : r.text ? "python -c" : "python";
}

char **fz_facts_words_of(pid_t pid, char **ret_text)
{
	char path[64];
	size_t n, words = 0, cap = 0;
	char **argv = NULL;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)fz_process_live(pid));
	char *text = fz_read_small(path, COMMAND_MAX, &n);
	for (size_t at = 0; text && at < n; at += strlen(text + at) + 1) {
		fz_push(argv, words, cap, text + at);
	}
	fz_grow(argv, words, cap);
	argv[words] = NULL;
	*ret_text = text;
	return argv;
}

static void set_link(struct fz_profile *p, const char *key, pid_t pid, const char *name)
{
	char path[64], target[4096];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)fz_process_live(pid), name);
	ssize_t n = readlink(path, target, sizeof(target));
	if (n > 0 && fz_profile_fact(p, key).n == 0)
		fz_profile_set_fact(p, key, (struct fz_str){ target, (size_t)n });
}

/* The GNU build id among the notes of an ELF segment, as hexadecimal digits. */
static bool find_build_id(struct fz_cursor c, char out[FZ_BUILD_ID_SIZE])
{
	while (fz_cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name = fz_cursor_u32(&c), desc = fz_cursor_u32(&c);
		uint32_t type = fz_cursor_u32(&c);
		const uint8_t *who = fz_cursor_bytes(&c, (name + 3u) & ~3u);
		const uint8_t *id = fz_cursor_bytes(&c, (desc + 3u) & ~3u);
		if (c.bad)
			return false;
		if (type != NT_GNU_BUILD_ID || name != 4 || memcmp(who, "GNU", 4) != 0)
			continue;
		if (desc == 0 || 2 * desc >= FZ_BUILD_ID_SIZE)
			return false;
		for (uint32_t k = 0; k < desc; k++)
			snprintf(out + 2 * k, 3, "%02x", id[k]);
		return true;
	}
	return false;
}

bool fz_facts_build_id(int fd, char out[FZ_BUILD_ID_SIZE])
{
	Elf64_Ehdr e;
	Elf64_Phdr ph;
	uint8_t note[1024];

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(ph))
		return false;
	for (unsigned i = 0; i < FZ_MIN(e.e_phnum, 64); i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(e.e_phoff + i * sizeof(ph))) != sizeof(ph))
			return false;
		if (ph.p_type != PT_NOTE)
			continue;
		ssize_t n = pread(fd, note, FZ_MIN(ph.p_filesz, sizeof(note)), (off_t)ph.p_offset);
		if (n > 0 && find_build_id(fz_cursor_of(note, (size_t)n), out))
			return true;
	}
	return false;
}

/* Open a file that a process has mapped, or its executable if the path is "". */
static int open_module(pid_t pid, const char *module)
{
	fz_auto(fz_mappings_release) struct fz_mappings maps = { 0 };
	fz_auto(fz_process_release) struct fz_process process = {
		.pid = pid, .pidfd = -1, .stat_fd = -1, .mem_fd = -1
	};
	size_t i = 0;

	if (!module[0])
		return fz_process_open_executable(pid);
	fz_process_maps(&process, &maps, NULL);
	while (i < maps.n && strcmp(maps.list[i].path, module) != 0)
		i++;
	return i < maps.n ? fz_process_open_mapped(&process, &maps.list[i]) : -1;
}

static void set_build_id(struct fz_profile *p, const char *key, pid_t pid, const char *module)
{
	char id[FZ_BUILD_ID_SIZE];
	fz_auto(fz_close_fd) int fd = open_module(pid, module);

	if (fd >= 0 && fz_facts_build_id(fd, id))
		set_once(p, key, id);
}

static void set_python(struct fz_profile *p, const struct fz_python_info *info)
{
	char version[64];

	snprintf(version, sizeof(version), "%u.%u.%u%s", info->version[0], info->version[1],
		 info->version[2], info->free_threaded ? " free-threaded" : "");
	set_once(p, "python", version);
	if (!p->recording.python[0])
		memcpy(p->recording.python, info->version, sizeof(info->version));
	if (!info->exact)
		set_once(p, "inexact",
			 "stacks of this Python version can be wrong without --blocking");
}

void fz_facts_program(pid_t pid, char *out, size_t size)
{
	char *text;
	char **argv = fz_facts_words_of(pid, &text);
	const char *name = argv[0] ? base_name(argv[0]) : "";

	if (strncmp(name, "python", strlen("python")) == 0)
		name = program_of(argv);
	snprintf(out, size, "%s", name);
	free(argv);
	free(text);
}

static void set_checkout(struct fz_profile *p, const char *path)
{
	long n = fz_checkout_length(path);

	if (n > 0 && fz_profile_fact(p, "checkout").n == 0)
		fz_profile_set_fact(p, "checkout", (struct fz_str){ path, (size_t)n });
}

/* Set the script's real path, so that the same program has one name, whatever path led to it. */
static void set_script(struct fz_profile *p, struct fz_facts_runnable r)
{
	struct fz_str cwd = fz_profile_fact(p, "cwd");
	fz_auto(fz_free_ptr) char *path = NULL;
	char real[PATH_MAX];

	if (r.module)
		path = fz_asprintf("-m %s", r.module);
	else if (r.text)
		path = fz_asprintf("-c %s", r.text);
	else if (r.script && r.script[0] == '/')
		path = fz_strdup(r.script);
	else if (r.script)
		path = fz_asprintf("%.*s/%s", (int)cwd.n, cwd.p, r.script);
	if (!path)
		return;
	const char *where = r.script && realpath(path, real) ? real : path;
	set_once(p, "script", where);
	if (r.script)
		set_checkout(p, where);
}

static void set_native(struct fz_profile *p, pid_t pid)
{
	struct fz_str executable = fz_profile_fact(p, "executable");
	fz_auto(fz_free_ptr) char *path = fz_strndup(executable.p, executable.n);

	set_checkout(p, path);
	set_build_id(p, "build", pid, "");
}

void fz_facts_process(struct fz_profile *p, pid_t pid, const struct fz_python_info *info)
{
	char number[16], *text;
	char **argv = fz_facts_words_of(pid, &text);

	if (info)
		set_python(p, info);
	set_once(p, "program", info ? program_of(argv) : argv[0] ? base_name(argv[0]) : "");
	if (fz_profile_fact(p, "command").n == 0)
		set_words(p, "command", argv);
	set_link(p, "cwd", pid, "cwd");
	if (info)
		set_script(p, fz_facts_runnable_of(argv));
	set_link(p, "executable", pid, "exe");
	if (info)
		set_build_id(p, "python.build", pid, info->module ? info->module : "");
	else
		set_native(p, pid);
	snprintf(number, sizeof(number), "%d", pid);
	set_once(p, "pid", number);
	free(argv);
	free(text);
}

char *fz_facts_command_of(pid_t pid)
{
	struct fz_buf b = { .limit = COMMAND_MAX };
	fz_auto(fz_free_ptr) char *text = NULL;
	char **argv = fz_facts_words_of(pid, &text);

	join_words(&b, argv);
	free(argv);
	return fz_buf_take(&b);
}

void fz_facts_member(struct fz_profile *p, pid_t pid, pid_t parent)
{
	fz_auto(fz_free_ptr) char *command = fz_facts_command_of(pid);

	fz_profile_set_process(p, (uint64_t)pid, (uint64_t)parent, fz_str_of(command));
}

/* ---- a program that has ended ---- */

static char *executable_of(const char *word, const char *folder)
{
	fz_auto(fz_free_ptr) char *path = NULL;

	if (!strchr(word, '/'))
		path = fz_find_on_path(word);
	else
		path = word[0] == '/' ? fz_strdup(word) : fz_asprintf("%s/%s", folder, word);
	return path ? realpath(path, NULL) : NULL;
}

static void set_executable(struct fz_profile *p, const char *path, bool python)
{
	char id[FZ_BUILD_ID_SIZE];
	fz_auto(fz_close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	set(p, "executable", path);
	if (!python)
		set_checkout(p, path);
	if (fd >= 0 && fz_facts_build_id(fd, id))
		set(p, python ? "python.build" : "build", id);
}

void fz_facts_words(struct fz_profile *p, char *const argv[], const char *folder)
{
	bool python = strncmp(base_name(argv[0]), "python", strlen("python")) == 0;
	char cwd[PATH_MAX];

	if (!folder)
		folder = getcwd(cwd, sizeof(cwd)) ? cwd : ".";
	fz_auto(fz_free_ptr) char *path = executable_of(argv[0], folder);
	set(p, "cwd", folder);
	set(p, "program", python ? program_of(argv) : base_name(argv[0]));
	if (python)
		set_script(p, fz_facts_runnable_of(argv));
	if (path)
		set_executable(p, path, python);
}
