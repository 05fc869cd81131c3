/* SPDX-License-Identifier: MIT */
/* What all request handlers share: turns, memory and locks. */
#include "serve/server.h"

#include <errno.h>

enum { AT_ONCE = 2 };

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
	fz_answer_cache_init(&s->answers);
	sem_init(&s->work, 0, AT_ONCE);
}

void fz_server_release_locks(struct fz_server *s)
{
	sem_destroy(&s->work);
	fz_answer_cache_release(&s->answers);
	fz_commits_release(&s->commits);
	pthread_mutex_destroy(&s->results_writing);
	pthread_mutex_destroy(&s->writing);
}
