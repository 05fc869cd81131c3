/* SPDX-License-Identifier: MIT */
/* The environment of a program whose benchmarks are measured; see bench_env.h.
 *
 * The plug-in for pytest lies beside us, so that whoever has fizeau has the same one; it is put in
 * front of what these two variables hold.
 */
#include "session/bench_env.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const lists[] = { "PYTHONPATH", "PYTEST_PLUGINS" };

/* Put a word in front of a variable's list. */
static void prepend(const char *name, const char *word, char separator)
{
	const char *old = getenv(name);
	fz_auto(fz_free_ptr) char *text =
		old && *old ? fz_asprintf("%s%c%s", word, separator, old) : fz_strdup(word);

	setenv(name, text, 1);
}

static void offer_plugin(struct fz_bench_env *env)
{
	static const char *const places[] = { "../bindings/python",
					      "../share/fizeau/bindings/python" };
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	for (size_t i = 0; i < FZ_ARRAY_LEN(lists); i++)
		env->before[i] = getenv(lists[i]) ? fz_strdup(getenv(lists[i])) : NULL;
	if (n <= 0)
		return;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	for (size_t i = 0; i < FZ_ARRAY_LEN(places); i++) {
		fz_auto(fz_free_ptr) char *folder = fz_asprintf("%s/%s", exe, places[i]);
		fz_auto(fz_free_ptr) char *file = fz_asprintf("%s/pytest_fizeau.py", folder);
		if (access(file, R_OK))
			continue;
		fz_auto(fz_free_ptr) char *real = realpath(folder, NULL);
		prepend("PYTHONPATH", real ? real : folder, ':');
		prepend("PYTEST_PLUGINS", "pytest_fizeau", ',');
		return;
	}
}

static void withdraw_plugin(struct fz_bench_env *env)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(lists); i++) {
		if (env->before[i])
			setenv(lists[i], env->before[i], 1);
		else
			unsetenv(lists[i]);
		free(env->before[i]);
		env->before[i] = NULL;
	}
}

void fz_bench_env_set(struct fz_bench_env *env, const char *mode, const char *log,
		      const char *filter)
{
	offer_plugin(env);
	setenv("FIZEAU_BENCH", mode, 1);
	if (log)
		setenv("FIZEAU_BENCH_LOG", log, 1);
	if (filter)
		setenv("FIZEAU_BENCH_FILTER", filter, 1);
	/* CodSpeed's own plug-ins look at these, and mark with callgrind's requests. */
	if (strcmp(mode, "count") == 0) {
		setenv("CODSPEED_ENV", "runner", 1);
		setenv("CODSPEED_RUNNER_MODE", "instrumentation", 1);
	}
}

void fz_bench_env_unset(struct fz_bench_env *env)
{
	static const char *const names[] = { "FIZEAU_BENCH", "FIZEAU_BENCH_LOG",
					     "FIZEAU_BENCH_FILTER", "CODSPEED_ENV",
					     "CODSPEED_RUNNER_MODE" };

	for (size_t i = 0; i < FZ_ARRAY_LEN(names); i++)
		unsetenv(names[i]);
	withdraw_plugin(env);
}
