/* SPDX-License-Identifier: MIT */
/* Running a program under Valgrind with our tool; see count.h. */
#include "capture/count/count.h"

#include "capture/count/callgrind.h"
#include "capture/count/node.h"

#include "base/buf.h"
#include "base/io.h"
#include "capture/launch.h"
#include "capture/worktree.h"
#include "profile/benchmarks.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

#if defined(__x86_64__)
#define TOOL "fzcount-amd64-linux"
#else
#define TOOL "fzcount"
#endif

enum {
	STACK_STEP = 64 << 10, /* more than most environments: then not even its end moves */
	OTHER_STEP = 328,
	RESULT_MAX = 1 << 30,
	PIDS_MAX = 1 << 22, /* the kernel's own limit */
};

/* ---- finding it ---- */

/* Where the tool is, from where this program is: in the build folder, installed. */
static char *find_folder(void)
{
	static const char *const places[] = { "valgrind/lib", "../libexec/fizeau/valgrind" };
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	for (size_t i = 0; i < FZ_ARRAY_LEN(places); i++) {
		char *folder = fz_asprintf("%s/%s", exe, places[i]);
		fz_auto(fz_free_ptr) char *tool = fz_asprintf("%s/" TOOL, folder);
		if (access(tool, X_OK) == 0)
			return folder;
		free(folder);
	}
	return NULL;
}

/* The version "3.19.0" of "valgrind-3.19.0", or NULL when there is none. */
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

static int find_tool(struct fz_counter *c, struct fz_error *err)
{
	size_t n;

	c->folder = find_folder();
	if (!c->folder)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "the tool that counts was not built; build fizeau again, now that "
			       "Valgrind %s is installed",
			       c->valgrind);
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/VERSION", c->folder);
	fz_auto(fz_free_ptr) char *built = fz_read_small(path, 64, &n);
	if (built)
		built[strcspn(built, "\n")] = '\0';
	if (!built || strcmp(built, c->valgrind) != 0)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "the tool that counts was built for Valgrind %s, and %s is "
			       "installed; build fizeau again",
			       built ? built : "(unknown)", c->valgrind);
	return 0;
}

int fz_counter_find(struct fz_counter *c, struct fz_error *err)
{
	struct fz_error reason;

	c->valgrind = installed_version();
	if (!c->valgrind)
		return fz_fail(err, FZ_EUNSUPPORTED,
			       "counting needs Valgrind; install the package valgrind");
	if (c->engine == FZ_COUNTER_OURS)
		return find_tool(c, err);
	if (c->engine == FZ_COUNTER_ANY && find_tool(c, &reason) == 0) {
		c->engine = FZ_COUNTER_OURS;
	} else if (c->engine == FZ_COUNTER_ANY) {
		c->engine = FZ_COUNTER_CALLGRIND;
		c->instead = fz_strdup(reason.message);
	}
	return 0;
}

/* ---- an environment that is always the same ---- */

/* What the kernel copies onto a program's stack of a list: the strings and pointers to them. */
static size_t size_on_stack(char *const list[])
{
	size_t size = 0;

	for (; *list; list++)
		size += strlen(*list) + 1 + sizeof(*list);
	return size;
}

/* The sizes of environment and arguments move the stack, and with it what some string functions
 * do: together they are filled up to a multiple of STACK_STEP. */
static void pad_environment(char *const argv[], size_t more)
{
	unsetenv("FIZEAU_PADDING");
	size_t used = size_on_stack(environ) + size_on_stack(argv) + sizeof("FIZEAU_PADDING=") +
		      sizeof(char *);
	/* The program's path is there once more. */
	used += argv[0] ? strlen(argv[0]) + 1 : (size_t)0;
	size_t room = STACK_STEP - used % STACK_STEP + more;
	fz_auto(fz_free_ptr) char *padding = fz_malloc(room + 1);
	memset(padding, '.', room);
	padding[room] = '\0';
	setenv("FIZEAU_PADDING", padding, 1);
}

const char *const fz_counter_variables[] = {
	"GLIBC_TUNABLES",  "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES",
	"OMP_NUM_THREADS", "OPENBLAS_CORETYPE",        "OPENBLAS_NUM_THREADS",
	"OPENSSL_ia32cap", "PYTHONHASHSEED",           NULL,
};

/* "GLIBC_TUNABLES=..., PYTHONHASHSEED=7" */
static char *users_variables(void)
{
	struct fz_buf text = { 0 };

	for (const char *const *name = fz_counter_variables; *name; name++) {
		const char *value = getenv(*name);
		if (value && *value)
			fz_buf_printf(&text, "%s%s=%s", text.n ? ", " : "", *name, value);
	}
	return text.n ? fz_buf_take(&text) : NULL;
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return a[0] == '/' && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Where `valgrind` is a shell script, as in Debian, the shell sets PWD to where it runs, unless it
 * says so. Of what it sets the size must be known. */
static void settle_folder(struct fz_counter *c)
{
	const char *was = getenv("PWD"), *folder = c->options.cwd ? c->options.cwd : ".";
	fz_auto(fz_free_ptr) char *real = realpath(folder, NULL);

	if (!real || (was && is_same_folder(was, real)))
		return;
	c->moved = true;
	c->pwd = was ? fz_strdup(was) : NULL;
	setenv("PWD", real, 1);
}

static void restore_folder(struct fz_counter *c)
{
	if (c->moved && c->pwd)
		setenv("PWD", c->pwd, 1);
	else if (c->moved)
		unsetenv("PWD");
	free(c->pwd);
	c->pwd = NULL;
	c->moved = false;
}

static void settle_environment(struct fz_counter *c, char *const argv[])
{
	char seed[16];

	c->variables = users_variables();
	c->seeded = !getenv("PYTHONHASHSEED");
	snprintf(seed, sizeof(seed), "%u", c->other);
	if (c->engine == FZ_COUNTER_OURS)
		setenv("VALGRIND_LIB", c->folder, 1);
	else
		/* The only way in which callgrind sees Python functions. */
		setenv("PYTHONPERFSUPPORT", "1", 1);
	setenv("PYTHONHASHSEED", seed, c->other != 0);
	/* Written into the checkout it would change what the next run counts. */
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	settle_folder(c);
	/* Strings are moved by 16 bytes and by less. */
	pad_environment(argv, (size_t)c->other * OTHER_STEP);
}

/* ---- running ---- */

static int is_result(const struct dirent *e)
{
	/* callgrind puts a number behind it. */
	return fz_str_ends(fz_str_of(e->d_name), ".count") || strstr(e->d_name, ".callgrind");
}

/* Made by us: a result, or what stands for node. */
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

/* Forget the results of a run. */
static void clear(struct fz_counter *c)
{
	if (c->results)
		remove_results(c->results);
	free(c->results);
	free(c->folder_option);
	free(c->variables);
	c->results = c->folder_option = c->variables = NULL;
	if (c->seeded)
		unsetenv("PYTHONHASHSEED");
	c->seeded = false;
	restore_folder(c);
	fz_counter_node_end(&c->node);
	/* The next "valgrind --version" is not to look there. */
	unsetenv("VALGRIND_LIB");
	if (c->engine == FZ_COUNTER_CALLGRIND)
		unsetenv("PYTHONPERFSUPPORT");
}

static int make_results(struct fz_counter *c, struct fz_error *err)
{
	c->results = fz_asprintf("%s/fizeau-count-XXXXXX", fz_temporary_folder());
	if (!mkdtemp(c->results)) {
		fz_fail_errno(err, "%s: no temporary folder can be made; set TMPDIR", c->results);
		free(c->results);
		c->results = NULL;
		return err->code;
	}
	return 0;
}

/* What the tool is to do; returns how many. */
static size_t tool_options(struct fz_counter *c, bool node, const char **ret)
{
	size_t n = 0;

	if (c->engine == FZ_COUNTER_OURS) {
		c->folder_option = fz_asprintf("--folder=%s", c->results);
		ret[n++] = "--tool=fzcount";
		ret[n++] = "--fixed-random=yes";
		ret[n++] = "--fixed-processor=yes";
		ret[n++] = c->cache ? "--cache=yes" : "--cache=no";
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

int fz_counter_begin(struct fz_counter *c, char *const argv[], char ***ret_argv,
		     struct fz_error *err)
{
	static const char *const options[] = { "valgrind",
					       "--quiet",
					       "--vgdb=no",
					       "--demangle=no",
					       "--show-below-main=yes",
					       "--trace-children=yes" };
	size_t n = 0, at = 0;

	clear(c);
	int rc = make_results(c, err);
	if (rc)
		return rc;
	while (argv[n])
		n++;
	rc = fz_counter_node_begin(&c->node, c->results, err);
	if (rc)
		return rc;
	bool node = n && fz_counter_is_node(argv[0]);
	const char **all = fz_calloc(
		FZ_ARRAY_LEN(options) + FZ_CALLGRIND_OPTIONS + FZ_NODE_FLAGS + n + 2, sizeof(*all));
	for (; at < FZ_ARRAY_LEN(options); at++)
		all[at] = options[at];
	at += tool_options(c, node, all + at);
	if (n)
		all[at++] = argv[0];
	for (size_t i = 0; node && i < FZ_NODE_FLAGS; i++)
		all[at++] = fz_counter_node_flags[i];
	for (size_t i = 1; i < n; i++)
		all[at++] = argv[i];
	settle_environment(c, argv);
	*ret_argv = (char **)all;
	return 0;
}

/* ---- reading ---- */

/* What programs see: of callgrind the best of Valgrind's that the machine can stand for. */
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

/* Process ids grow in the order in which processes were started, from the program's on, and begin
 * anew after the largest. */
static long order_of(const struct fz_counter *c, const char *name)
{
	long pid = strtol(name, NULL, 10);

	return pid < c->pid ? pid + PIDS_MAX : pid;
}

/* Of one process the parts are numbered, and what is behind them is not. */
static int by_start(const void *pa, const void *pb, void *counter)
{
	const char *a = (*(struct dirent *const *)pa)->d_name;
	const char *b = (*(struct dirent *const *)pb)->d_name;
	long x = order_of(counter, a), y = order_of(counter, b);

	if (x == y) {
		x = strtol(strrchr(a, '.') + 1, NULL, 10) - 1;
		y = strtol(strrchr(b, '.') + 1, NULL, 10) - 1;
		return (unsigned long)x < (unsigned long)y ? -1 : x != y;
	}
	return x < y ? -1 : 1;
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

/* Under what a program was counted. */
static void add_facts(const struct fz_counter *c, struct fz_profile *p)
{
	bool ours = c->engine == FZ_COUNTER_OURS;

	fz_profile_set_fact(p, "valgrind", fz_str_of(c->valgrind));
	/* Recordings of the two are not alike, and this is what makes comparisons say so. */
	fz_profile_set_fact(p, "clock",
			    ours ? FZ_STR("instructions") : FZ_STR("instructions by callgrind"));
	fz_profile_set_fact(p, "processor", fz_str_of(processor_of(c)));
	if (c->variables)
		fz_profile_set_fact(p, "variables", fz_str_of(c->variables));
}

int fz_counter_read(struct fz_counter *c, struct fz_profile **ret, struct fz_error *err)
{
	struct dirent **list;
	int n = scandir(c->results, &list, is_result, NULL), rc = 0;
	struct fz_profile *p = fz_profile_new();
	uint32_t process = 0;
	long last = -1;

	if (c->engine == FZ_COUNTER_OURS)
		fz_count_add_metrics(p, c->cache);
	else
		fz_counter_callgrind_add_metrics(c, p);
	if (c->options.wall)
		fz_profile_add_metric(p, FZ_STR("wall"), FZ_STR("ns"), 0, true);
	fz_profile_add_run(p, &(struct fz_run){ 0 });
	if (n > 0)
		qsort_r(list, (size_t)n, sizeof(*list), by_start, c);
	for (int i = 0; i < n; i++) {
		long pid = strtol(list[i]->d_name, NULL, 10);
		process += pid != last;
		last = pid;
		if (rc == 0)
			rc = read_result(c, list[i]->d_name, process, p, err);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (rc == 0 && p->samples.n == 0 && (n <= 0 || !c->options.benchmarks)) {
		fz_auto(fz_free_ptr) char *why = fz_benchmarks_trouble(p);
		rc = fz_fail(err, FZ_EINPUT, "nothing was counted: %s",
			     why ? why : "the program was killed, or did not run under Valgrind");
	}
	if (rc) {
		fz_profile_free(p);
		return rc;
	}
	add_facts(c, p);
	*ret = p;
	return 0;
}

void fz_counter_end(struct fz_counter *c)
{
	clear(c);
	free(c->folder);
	free(c->valgrind);
	free(c->instead);
	*c = (struct fz_counter){ 0 };
}
