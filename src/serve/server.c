/* SPDX-License-Identifier: MIT */
/* What all request handlers share: turns, memory and locks. */
#include "serve/server.h"

#include <errno.h>
#include <sys/stat.h>

#include "fleet/sqlite_calls.h"

enum { AT_ONCE = 2 };

/* ---- files ---- */

static struct fz_server_place place_of(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st))
		return (struct fz_server_place){ 0 };
	return (struct fz_server_place){ st.st_dev, st.st_ino };
}

void fz_server_note_places(struct fz_server *s)
{
	s->store_place = place_of(s->options.store);
	s->benchmarks_place = place_of(s->options.benchmarks);
}

static int check_place(const char *path, struct fz_server_place noted, struct fz_error *err)
{
	struct fz_server_place now = place_of(path);
	bool same = now.device == noted.device && now.inode == noted.inode;

	return same || !noted.inode ? 0 : fz_sql_fail_moved(path, err);
}

int fz_server_open_store(const struct fz_server *s, enum fz_fleet_access access,
			 struct fz_fleet **ret, struct fz_error *err)
{
	int r = check_place(s->options.store, s->store_place, err);

	return r ? r : fz_fleet_open(s->options.store, access, ret, err);
}

int fz_server_open_benchmarks(const struct fz_server *s, struct fz_results **ret,
			      struct fz_error *err)
{
	int r = check_place(s->options.benchmarks, s->benchmarks_place, err);

	return r ? r : fz_results_open(s->options.benchmarks, false, ret, err);
}

/* ---- turns and memory ---- */

void fz_server_begin_work(struct fz_server *s)
{
	while (sem_wait(&s->work) && errno == EINTR)
		;
}

void fz_server_end_work(struct fz_server *s)
{
	sem_post(&s->work);
}

struct fz_budget_part fz_server_memory(struct fz_server *s)
{
	return (struct fz_budget_part){ .budget = &s->memory, .limit = s->memory.limit / 2 };
}

int fz_server_open_body(struct fz_str body, struct fz_budget_part *memory, struct fz_input **ret,
			struct fz_error *err)
{
	int r = body.n ? fz_input_open_memory(body.p, body.n, "the body", ret, err)
		       : fz_fail(err, FZ_EINPUT, "the body is empty; send a profile");

	if (r)
		return r;
	fz_input_set_limit(*ret, memory->limit);
	fz_input_set_budget(*ret, memory);
	return 0;
}

void fz_server_init_locks(struct fz_server *s)
{
	pthread_mutex_init(&s->writing, NULL);
	pthread_mutex_init(&s->results_writing, NULL);
	fz_commits_init(&s->commits);
	fz_agents_init(&s->agents);
	fz_answer_cache_init(&s->answers);
	sem_init(&s->work, 0, AT_ONCE);
}

void fz_server_release_locks(struct fz_server *s)
{
	sem_destroy(&s->work);
	fz_answer_cache_release(&s->answers);
	fz_agents_release(&s->agents);
	fz_commits_release(&s->commits);
	pthread_mutex_destroy(&s->results_writing);
	pthread_mutex_destroy(&s->writing);
}
