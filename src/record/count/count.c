/* SPDX-License-Identifier: MIT */
/* Running a program under Valgrind with our tool; see count.h. */
#include "record/count/count.h"

#include "record/count/callgrind.h"
#include "record/count/node.h"

#include "base/buf.h"
#include "base/io.h"
#include "record/launch.h"
#include "git/worktree.h"
#include "profile/benchmarks.h"
#include "profile/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define TOOL "fzcount-amd64-linux"
#else
#define TOOL "fzcount"
#endif

enum {
	/* larger than most environments, so their total is usually the same */
	STACK_STEP = 64 << 10,
	OTHER_STEP = 328,
	RESULT_MAX = 1 << 30,
	PIDS_MAX = 1 << 22, /* the kernel's own limit */
};

/* ---- finding it ---- */

/* The version of the installed Valgrind, such as "3.19.0", or NULL if there is none. */
static char *installed_version(void)
{
	char *argv[] = { (char *)"valgrind", (char *)"--version", NULL };
	char line[256] = "";
	int out[2], status = 1;
	sigset_t mask;

	if (pipe2(out, O_CLOEXEC))
		return NULL;
	struct fz_launch_place place = { .no_input = true, .output = out[1], .errors = -1 };
	sigprocmask(SIG_BLOCK, NULL, &mask);
	int rc = fz_launch_and_wait(argv, &mask, &place, &status, NULL);
	close(out[1]);
	ssize_t n = rc == 0 && status == 0 ? read(out[0], line, sizeof(line) - 1) : -1;
	close(out[0]);
	if (n < 9 || strncmp(line, "valgrind-", 9) != 0)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return fz_strdup(line + 9);
}

/* Find the tool with its own parts of Valgrind. False if it was not built. */
static bool find_tool(struct fz_counter *c)
{
	/* In the build folder; installed. */
	static const char *const places[] = { "valgrind/lib", FZ_PLACE_TOOL };
	size_t n;

	c->folder = fz_find_beside(places, FZ_ARRAY_LEN(places), TOOL, X_OK);
	if (!c->folder)
		return false;
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/VERSION", c->folder);
	c->command = fz_asprintf("%s/valgrind", c->folder);
	c->valgrind = fz_read_small(path, 64, &n);
	if (!c->valgrind || access(c->command, X_OK))
		return false;
	c->valgrind[strcspn(c->valgrind, "\n")] = '\0';
	c->engine = FZ_COUNTER_OURS;
	return true;
}

int fz_counter_find(struct fz_counter *c, struct fz_error *err)
{
	static const char missing[] =
		"the counting tool is not installed; rebuild fizeau now that Valgrind is "
		"installed, or pip install fizeau[count]";

	if (c->engine != FZ_COUNTER_CALLGRIND && find_tool(c))
		return 0;
	free(c->valgrind);
	free(c->command);
	c->command = fz_strdup("valgrind");
	c->valgrind = installed_version();
	if (!c->valgrind)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "counting requires Valgrind; install the package valgrind and "
			       "rebuild fizeau, or pip install fizeau[count]");
	if (c->engine == FZ_COUNTER_OURS)
		return fz_fail(err, FZ_EUNSUPPORTED, "%s", missing);
	if (c->memory)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "callgrind does not track allocations; drop --memory and memory "
			       "metrics, or count with Fizeau's own tool");
	if (c->engine == FZ_COUNTER_ANY)
		c->instead = fz_strdup(missing);
	c->engine = FZ_COUNTER_CALLGRIND;
	return 0;
}

/* ---- a fixed environment ---- */

/* Bytes of a list on a program's stack: the strings and pointers to them. */
static size_t size_on_stack(char *const list[])
{
	size_t size = 0;

	for (; *list; list++)
		size += strlen(*list) + 1 + sizeof(*list);
	return size;
}

/* Bytes that Valgrind adds to the environment; they depend on the path of its folder. */
static size_t size_of_preload(const struct fz_counter *c)
{
	static const char entry[] = "LD_PRELOAD=/vgpreload_core-amd64-linux.so";

	return c->folder ? sizeof(entry) + strlen(c->folder) + sizeof(char *) : 0;
}

/* The sizes of environment and arguments move the stack, which changes the counts of some string
 * functions: pad their total to a multiple of STACK_STEP. */
static void pad_environment(struct fz_counter *c, char *const argv[], size_t more)
{
	fz_environ_unset(&c->environ, "FIZEAU_PADDING");
	size_t used = size_on_stack(c->environ.list) + size_on_stack(argv) +
		      sizeof("FIZEAU_PADDING=") + sizeof(char *) + size_of_preload(c);
	/* The program's path is on the stack a second time. */
	used += argv[0] ? strlen(argv[0]) + 1 : (size_t)0;
	size_t room = STACK_STEP - used % STACK_STEP + more;
	fz_auto(fz_free_ptr) char *padding = fz_malloc(room + 1);
	memset(padding, '.', room);
	padding[room] = '\0';
	fz_environ_set(&c->environ, "FIZEAU_PADDING", padding);
}

const char *const fz_counter_variables[] = {
	"GLIBC_TUNABLES",
	"NPY_DISABLE_CPU_FEATURES",
	"NPY_ENABLE_CPU_FEATURES",
	"OMP_NUM_THREADS",
	"OPENBLAS_CORETYPE",
	"OPENBLAS_NUM_THREADS",
	"OPENSSL_ia32cap",
	"PYTHONHASHSEED",
	"TZ",
	NULL,
};

/* "GLIBC_TUNABLES=..., PYTHONHASHSEED=7" */
static char *users_variables(const struct fz_environ *e)
{
	struct fz_buf text = { 0 };

	for (const char *const *name = fz_counter_variables; *name; name++) {
		const char *value = fz_environ_get(e, *name);
		if (value && *value)
			fz_buf_printf(&text, "%s%s=%s", text.n ? ", " : "", *name, value);
	}
	return text.n ? fz_buf_take(&text) : NULL;
}

/* Variables that differ between terminals and hosts without the user's intention; and the time
 * zone, unless it is set. */
static const struct {
	const char *name, *value;
	bool usual; /* only a default */
} held[] = { { "COLUMNS", "80", false },
	     { "HOSTNAME", "localhost", false },
	     { "LINES", "24", false },
	     { "TERM", "dumb", false },
	     { "TZ", "UTC", true } };

static void hold_still(struct fz_environ *e)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(held); i++)
		if (!held[i].usual || !fz_environ_get(e, held[i].name))
			fz_environ_set(e, held[i].name, held[i].value);
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return a[0] == '/' && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* If `valgrind` is a shell script, as in Debian, the shell corrects PWD. Correct it before, because
 * pad_environment needs its size. */
static void settle_folder(struct fz_counter *c)
{
	const char *was = fz_environ_get(&c->environ, "PWD");
	const char *folder = c->options.cwd ? c->options.cwd : ".";
	fz_auto(fz_free_ptr) char *real = realpath(folder, NULL);

	if (real && !(was && is_same_folder(was, real)))
		fz_environ_set(&c->environ, "PWD", real);
}

static void settle_environment(struct fz_counter *c, char *const argv[])
{
	struct fz_environ *e = &c->environ;
	char seed[16];

	c->variables = users_variables(e);
	snprintf(seed, sizeof(seed), "%u", c->other);
	if (c->engine == FZ_COUNTER_OURS)
		fz_environ_set(e, "VALGRIND_LIB", c->folder);
	else
		/* Makes Python functions visible to callgrind. */
		fz_environ_set(e, "PYTHONPERFSUPPORT", "1");
	if (c->other || !fz_environ_get(e, "PYTHONHASHSEED"))
		fz_environ_set(e, "PYTHONHASHSEED", seed);
	/* The arenas of Python's own allocator would hide individual allocations. */
	if (c->memory)
		fz_environ_set(e, "PYTHONMALLOC", "malloc");
	/* Files written into the checkout would change the counts of the next run. */
	fz_environ_set(e, "PYTHONDONTWRITEBYTECODE", "1");
	settle_folder(c);
	hold_still(e);
	/* Moves strings by a number that is not a multiple of 16 bytes. */
	pad_environment(c, argv, (size_t)c->other * OTHER_STEP);
}

/* ---- running ---- */

static int is_result(const struct dirent *e)
{
	/* callgrind appends a number. */
	return fz_str_ends(fz_str_of(e->d_name), ".count") || strstr(e->d_name, ".callgrind");
}

/* Files that we made: results, and the script that replaces node. */
static bool is_ours(const struct dirent *e)
{
	return is_result(e) || strcmp(e->d_name, "node") == 0;
}

static void remove_results(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_ours(e))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
}

/* Remove the results of a run. */
static void clear(struct fz_counter *c)
{
	if (c->results)
		remove_results(c->results);
	free(c->results);
	free(c->folder_option);
	free(c->variables);
	c->results = c->folder_option = c->variables = NULL;
	fz_environ_release(&c->environ);
}

static int make_results(struct fz_counter *c, struct fz_error *err)
{
	c->results = fz_asprintf("%s/fizeau-count-XXXXXX", fz_temporary_folder());
	if (!mkdtemp(c->results)) {
		fz_fail_errno(err, "%s: cannot create a temporary folder; set TMPDIR", c->results);
		free(c->results);
		c->results = NULL;
		return err->code;
	}
	return 0;
}

/* Store the tool's options in ret; returns their number. */
static size_t tool_options(struct fz_counter *c, bool node, const char **ret)
{
	size_t n = 0;

	if (c->engine == FZ_COUNTER_OURS) {
		c->folder_option = fz_asprintf("--folder=%s", c->results);
		ret[n++] = "--tool=fzcount";
		ret[n++] = "--fixed-random=yes";
		ret[n++] = "--fixed-processor=yes";
		ret[n++] = c->cache ? "--cache=yes" : "--cache=no";
		ret[n++] = c->memory ? "--memory=yes" : "--memory=no";
		if (c->options.benchmarks || c->options.bodies)
			ret[n++] = "--harnesses=yes";
	} else {
		c->graph = node && !c->options.benchmarks;
		c->folder_option = fz_asprintf("--callgrind-out-file=%s/%%p.callgrind", c->results);
		fz_counter_callgrind_options(c, ret);
		while (ret[n])
			n++;
	}
	ret[n++] = c->folder_option;
	return n;
}

/* If configured, cargo and go start the benchmarks that they built under the command in this
 * variable (bindings/rust/cargo-runner, bindings/go/test-runner), so that neither they nor
 * compilers run under Valgrind. */
static void leave_to_builder(struct fz_counter *c, const char *const *words, size_t n)
{
	fz_auto(fz_buf_release) struct fz_buf under = { 0 };

	for (size_t i = 0; i < n; i++) {
		fz_buf_str(&under, i ? " " : "");
		fz_buf_shell_word(&under, words[i]);
	}
	fz_buf_char(&under, '\0');
	fz_environ_set(&c->environ, "FIZEAU_UNDER", under.p);
}

/* True if such a runner is configured. */
static bool has_runner(const struct fz_counter *c)
{
	return (c->options.benchmarks || c->options.bodies) &&
	       (fz_environ_get(&c->environ, "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER") ||
		fz_environ_get(&c->environ, "FIZEAU_GO"));
}

static bool is_builder(const char *program)
{
	struct fz_str name = fz_path_base(fz_str_of(program ? program : ""));

	return fz_str_eq(name, FZ_STR("cargo")) || fz_str_eq(name, FZ_STR("go"));
}

int fz_counter_begin(struct fz_counter *c, char *const argv[], char *const *from, char ***ret_argv,
		     struct fz_error *err)
{
	static const char *const options[] = { "--quiet", "--vgdb=no", "--demangle=no",
					       "--show-below-main=yes", "--trace-children=yes" };
	size_t n = 0, at = 0;

	clear(c);
	int rc = make_results(c, err);
	if (rc)
		return rc;
	while (argv[n])
		n++;
	fz_environ_init(&c->environ, from);
	rc = fz_counter_node_offer(&c->environ, c->results, err);
	if (rc)
		return rc;
	bool node = n && fz_counter_is_node(argv[0]);
	const char **all =
		fz_calloc(1 + FZ_ARRAY_LEN(options) + FZ_CALLGRIND_OPTIONS + FZ_NODE_FLAGS + n + 3,
			  sizeof(*all));
	all[at++] = c->command;
	for (size_t i = 0; i < FZ_ARRAY_LEN(options); i++)
		all[at++] = options[i];
	at += tool_options(c, node, all + at);
	if (has_runner(c)) {
		all[at++] = "--trace-children-skip=*/cargo,*/rustup,*/go";
		leave_to_builder(c, all, at);
		at = is_builder(argv[0]) ? (size_t)0 : at;
	}
	if (n)
		all[at++] = argv[0];
	for (size_t i = 0; node && i < FZ_NODE_FLAGS; i++)
		all[at++] = fz_counter_node_flags[i];
	for (size_t i = 1; i < n; i++)
		all[at++] = argv[i];
	all[at] = NULL;
	settle_environment(c, argv);
	*ret_argv = (char **)all;
	return 0;
}

/* ---- reading ---- */

/* The processor that programs see: with callgrind, what Valgrind supports of this machine's. */
static const char *processor_of(const struct fz_counter *c)
{
	if (c->engine == FZ_COUNTER_OURS)
		return FZ_COUNTER_PROCESSOR;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return "this machine's, with AVX2";
	if (__builtin_cpu_supports("avx"))
		return "this machine's, with AVX";
#endif
	return "this machine's";
}

/* Process ids increase in the order of starting, from the program's on, and wrap around. */
static long order_of(const struct fz_counter *c, const char *name)
{
	long pid = strtol(name, NULL, 10);

	return pid < c->pid ? pid + PIDS_MAX : pid;
}

/* Files of one process have part numbers; the file with the rest has none and comes last. */
static int by_start(const void *pa, const void *pb, void *counter)
{
	const char *a = (*(struct dirent *const *)pa)->d_name;
	const char *b = (*(struct dirent *const *)pb)->d_name;
	long x = order_of(counter, a), y = order_of(counter, b);

	if (x == y) {
		x = strtol(strrchr(a, '.') + 1, NULL, 10) - 1;
		y = strtol(strrchr(b, '.') + 1, NULL, 10) - 1;
		return FZ_CMP((unsigned long)x, (unsigned long)y);
	}
	return FZ_CMP(x, y);
}

static int read_result(struct fz_counter *c, const char *name, uint32_t process,
		       struct fz_profile *p, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/%s", c->results, name);

	if (c->engine == FZ_COUNTER_CALLGRIND)
		return fz_counter_callgrind_read(c, path, strtol(name, NULL, 10), process, p, err);
	struct fz_input *in = NULL;
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	int rc = fz_input_open(path, &in, err);

	if (rc)
		return rc;
	rc = fz_input_read_all(in, &bytes, RESULT_MAX, err);
	fz_input_close(in);
	return rc < 0 ? rc : fz_count_read(bytes.p, bytes.n, path, p, process, &c->options, err);
}

/* Set the facts of how the program was counted. */
static void add_facts(const struct fz_counter *c, struct fz_profile *p)
{
	bool ours = c->engine == FZ_COUNTER_OURS;

	fz_profile_set_fact(p, "valgrind", fz_str_of(c->valgrind));
	/* Comparisons warn if this fact differs. */
	fz_profile_set_fact(p, "clock",
			    !ours       ? FZ_STR("instructions by callgrind")
			    : c->memory ? FZ_STR("instructions and memory")
					: FZ_STR("instructions"));
	fz_profile_set_fact(p, "processor", fz_str_of(processor_of(c)));
	if (c->variables)
		fz_profile_set_fact(p, "variables", fz_str_of(c->variables));
}

/* Name each process after the last program that it ran. Parents are not recorded. */
static void name_processes(struct fz_profile *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].is_main)
			fz_profile_set_process(p, p->threads[i].pid, 0,
					       fz_profile_text(p, p->threads[i].name));
}

static struct fz_profile *begin_profile(const struct fz_counter *c)
{
	struct fz_profile *p = fz_profile_new();

	if (c->engine == FZ_COUNTER_OURS)
		fz_count_add_metrics(p, c->cache, c->memory);
	else
		fz_counter_callgrind_add_metrics(c, p);
	if (c->options.wall)
		fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	return p;
}

int fz_counter_read(struct fz_counter *c, struct fz_profile **ret, struct fz_error *err)
{
	struct dirent **list;
	int n = scandir(c->results, &list, is_result, NULL), rc = 0;
	struct fz_profile *p = *ret ? *ret : begin_profile(c);
	uint32_t process = 0;
	long last = -1;

	*ret = NULL;
	c->silent = c->pid > 0;
	if (n > 0)
		qsort_r(list, (size_t)n, sizeof(*list), by_start, c);
	for (int i = 0; i < n; i++) {
		long pid = strtol(list[i]->d_name, NULL, 10);
		process += pid != last;
		last = pid;
		c->silent &= pid != c->pid;
		if (rc == 0)
			rc = read_result(c, list[i]->d_name, process, p, err);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (process > 1)
		name_processes(p);
	if (rc == 0 && p->samples.n == 0 && (n <= 0 || !c->options.benchmarks)) {
		fz_auto(fz_free_ptr) char *why = fz_benchmarks_trouble(p);
		rc = fz_fail(err, FZ_EINPUT, "nothing was counted: %s",
			     why ? why : "the program was killed, or did not run under Valgrind");
	}
	if (rc) {
		fz_profile_free(p);
		return rc;
	}
	/* Drop contexts that are not used: code before and between marked parts may have a
	 * million. */
	fz_profile_keep_used(p);
	add_facts(c, p);
	*ret = p;
	return 0;
}

void fz_counter_end(struct fz_counter *c)
{
	clear(c);
	free(c->folder);
	free(c->command);
	free(c->valgrind);
	free(c->instead);
	*c = (struct fz_counter){ 0 };
}
