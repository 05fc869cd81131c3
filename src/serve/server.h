/* SPDX-License-Identifier: MIT */
/* Shared by the request handlers of the server. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/budget.h"
#include "base/io.h"
#include "fleet/files.h"
#include "fleet/fleet.h"
#include "fleet/results.h"
#include "serve/agents.h"
#include "serve/answer_cache.h"
#include "serve/group_commit.h"
#include "serve/http.h"
#include "serve/options.h"

/* A file that is open as long as the server runs; zero: not a file. */
struct fz_server_place {
	uint64_t device, inode;
};

struct fz_server {
	struct fz_serve_options options;
	struct fz_server_place store_place, benchmarks_place;
	struct fz_fleet *writer;
	pthread_mutex_t writing; /* of writer */
	struct fz_group_commit commits;
	struct fz_results *results; /* NULL: no benchmarks are kept */
	pthread_mutex_t results_writing;
	struct fz_server_tokens {
		struct fz_server_tokens *earlier; /* requests may still refer to them */
		struct fz_tokens tokens;
	} * tokens;                 /* those in use; NULL: not required */
	struct fz_watcher *watcher; /* NULL: not started */
	struct fz_files *files;     /* NULL: no whole files are kept */
	atomic_llong oldest_minute; /* earlier ones are refused; 0: none */
	atomic_llong newest_minute; /* of all stored data */
	struct fz_agents agents;
	struct fz_answer_cache answers;
	struct fz_budget memory; /* for profiles that are read */
	sem_t work;              /* limits how many threads read profiles or compare at once */
	int64_t started;         /* ns since 1970 */
	struct {
		atomic_ullong stored, known, refused, failed; /* pushes */
		atomic_ullong bytes, samples, unlabelled;     /* of stored pushes */
		atomic_ullong cached, computed;               /* answers */
	} figures;
	void (*say)(const char *text);
};

/* Locks, the group commit and the cache of a server without requests. */
void fz_server_init_locks(struct fz_server *s);
void fz_server_release_locks(struct fz_server *s);

/* Note where the files of the store and the benchmarks are, after opening them. */
void fz_server_note_places(struct fz_server *s);
/* Open the store, or the benchmarks for reading, unless the file was deleted or replaced. */
int fz_server_open_store(const struct fz_server *s, enum fz_fleet_access access,
			 struct fz_fleet **ret, struct fz_error *err);
int fz_server_open_benchmarks(const struct fz_server *s, struct fz_results **ret,
			      struct fz_error *err);

/* Enclose work that takes memory and time, so that only a few threads do it at once. Must not be
 * nested. */
void fz_server_begin_work(struct fz_server *s);
void fz_server_end_work(struct fz_server *s);
/* The memory that one request may take for reading its body: half of the total. Release it when the
 * data that was read is freed. */
struct fz_budget_part fz_server_memory(struct fz_server *s);
/* Open a body, compressed or not, for reading within that memory; an empty one is an error. */
int fz_server_open_body(struct fz_str body, struct fz_budget_part *memory, struct fz_input **ret,
			struct fz_error *err);
