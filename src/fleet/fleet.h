/* SPDX-License-Identifier: MIT */
/* Profiles of many hosts, kept by service and version so that releases can be compared.
 *
 *   profile --batch.h--> batch --put--> cells --find, each--> fold.h --> a profile with runs
 *
 * A *cell* is what one host did in one minute, of one service, version, set of labels and kind of
 * profile: its exposure (how much was watched), and values and numbers of samples by node. A *node*
 * is a path of functions; functions and nodes are stored once for a project. Costs from host to
 * host and from minute to minute differ for themselves, so cells are what a verdict's variance is
 * taken from; they are kept as they are until they are too old.
 *
 * Every question and every change is about one project: what others have is never seen.
 *
 * An engine keeps it (engine.h). Each handle belongs to one thread at a time; several may have the
 * same store open, also from several processes.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

enum {
	FZ_FLEET_NAME_MAX = 128,     /* bytes of the name of a service, version, host, label, id */
	FZ_FLEET_LABELS_MAX = 16,    /* of a push */
	FZ_FLEET_LABEL_SETS = 1000,  /* of a service */
	FZ_FLEET_VERSIONS = 10000,   /* of a service */
	FZ_FLEET_HOSTS = 100000,     /* of a project */
	FZ_FLEET_SERVICES = 10000,   /* of a project */
	FZ_FLEET_MINUTES = 7 * 1440, /* of a push */
	FZ_FLEET_SLICE = 2000,       /* rows that are deleted at once */
};

/* What is the same for all samples of a push that may be added up. */
struct fz_fleet_kind {
	struct fz_str metric, unit;
	struct fz_str clock; /* the fact of a recording, "" when unknown */
	int32_t mode;        /* enum fz_mode */
	int32_t features;    /* enum fz_feature bits; -1: unknown */
	int64_t interval_ns; /* 0: unknown */
	bool main;           /* the profile's default metric */
};

/* How much was watched. */
struct fz_fleet_exposure {
	int64_t cpu_ns;  /* CPU time, where that was measured */
	int64_t wall_ns; /* for how long */
	int64_t samples;
	int64_t lost; /* samples that were missed or could not be read */
};

struct fz_fleet_cell {
	uint32_t kind, host; /* indices; a batch has one host */
	int64_t minute;      /* since 1970 */
	struct fz_fleet_exposure exposure;
	/* of a cell that was found, the engine's; cells of a group can be added up at once; 0: none
	 */
	int64_t key;
	uint32_t group;
};

struct fz_fleet_value {
	uint32_t cell, node;
	int64_t value;
	int64_t n; /* samples */
};

/* Who pushes what. Terminated texts that fz_fleet_check_push accepts; labels as
 * fz_fleet_labels makes them. */
struct fz_fleet_push {
	const char *project, *service, *version, *host;
	const char *labels; /* "" or "\nkey=value\n...key=value\n", in order of keys */
	const char *id;     /* the same push with the same id once more changes nothing */
};

/* What a push adds. Nodes come after their parents; functions are those of `profile`. */
struct fz_fleet_batch {
	const struct fz_profile *profile;
	struct fz_fleet_kind *kinds;
	struct fz_fleet_node {
		uint32_t parent, function; /* parent FZ_NONE: a root */
	} * nodes;
	struct fz_fleet_cell *cells;
	struct fz_fleet_value *values;
	uint32_t kind_n, kind_cap, node_n, node_cap, cell_n, cell_cap;
	size_t value_n, value_cap;
};

/* ---- names ---- */

/* A service, a version ...: UTF-8 without control characters, of 1 to FZ_FLEET_NAME_MAX bytes. */
int fz_fleet_check_name(const char *what, const char *name, struct fz_error *err);
/* Of a service: besides, no "@". */
int fz_fleet_check_service(const char *name, struct fz_error *err);
/* "key=value" each, in any order; keys of letters, digits, "_", "-" and "."; the last one of a key
 * counts. */
int fz_fleet_labels(const char *const *list, size_t n, struct fz_buf *ret, struct fz_error *err);

/* An id that the same bytes of the same release, host and time have again; start_unix_ns 0 where
 * the bytes say when they were recorded, or nobody does. The caller frees. */
char *fz_fleet_id(const struct fz_fleet_push *push, struct fz_str bytes, int64_t start_unix_ns);

/* ---- a store ---- */

struct fz_fleet;

enum fz_fleet_access { FZ_FLEET_READ, FZ_FLEET_WRITE /* made where it is missing */ };

/* A file of SQLite's; ":memory:" is one that nobody else sees. Or databases of ClickHouse's, all
 * that the store has and always in that order: "http://host:8123/database,http://...". FZ_EAGAIN:
 * none of them answers. */
int fz_fleet_open(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		  struct fz_error *err);
void fz_fleet_close(struct fz_fleet *f);
void fz_fleet_closep(struct fz_fleet **f); /* for fz_auto */
/* What did not answer since the handle was opened, so that answers are of the rest alone; NULL: all
 * did. Until the next call. */
const char *fz_fleet_missing(struct fz_fleet *f);

enum fz_fleet_put { FZ_FLEET_STORED, FZ_FLEET_KNOWN /* that id was there: nothing changed */ };

/* All of it or nothing; on success it is on the disk. FZ_EINPUT: the id is that of another push;
 * FZ_ELIMIT: too many names of a kind;
 * FZ_ESYSTEM: the disk; FZ_EAGAIN: who keeps it does not answer, and has it or has it not. */
int fz_fleet_put(struct fz_fleet *f, const struct fz_fleet_push *push,
		 const struct fz_fleet_batch *batch, enum fz_fleet_put *ret, struct fz_error *err);

/* One of several that reach the disk together, which takes no longer than for one. */
struct fz_fleet_item {
	const struct fz_fleet_push *push;
	const struct fz_fleet_batch *batch;
	uint64_t digest; /* of both; set by fz_fleet_put_all */
	/* what came of it: as of fz_fleet_put */
	int result;
	enum fz_fleet_put put;
	struct fz_error err;
};
/* Each all of it or nothing. */
void fz_fleet_put_all(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n);

/* Forget cells of minutes before that one (ClickHouse: of whole days), of all projects, and what
 * nothing refers to any more. Returns how many cells went, or an error. */
int64_t fz_fleet_forget(struct fz_fleet *f, int64_t before, struct fz_error *err);
/* The same beside others that write to the store. After each transaction, of at most
 * FZ_FLEET_SLICE rows or one cell more, `between` gets the number of deleted rows and returns
 * whether to continue; what is left is deleted the next time that something is old. SQLite only. */
int64_t fz_fleet_forget_between(struct fz_fleet *f, int64_t before,
				bool (*between)(void *arg, int64_t rows), void *arg,
				struct fz_error *err);
/* Whether a handle of its own may forget while this one is used. */
bool fz_fleet_forgets_beside(const struct fz_fleet *f);

/* Adds up the cells of some hours that ended before that minute, for later queries. Returns how
 * many hours, 0 when there are no more, or an error. Answers are the same with and without. */
int64_t fz_fleet_sum_hours(struct fz_fleet *f, int64_t before, struct fz_error *err);

/* ---- alarms ---- */

/* What became more expensive with a release. */
struct fz_fleet_alarm {
	const char *service, *base, *head, *function;
	const char *text;           /* all that is known of it, as a line of JSON */
	double change, low, high;   /* relative to what it cost before; NaN: it is new */
	int64_t first_seen, raised; /* minutes */
};
/* A release has one alarm of a function, whenever it is raised; whether it is new is *ret. */
int fz_fleet_raise(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
		   bool *ret, struct fz_error *err);
/* Those raised last first, at most `most` of them; of all services where that is "". */
int fz_fleet_alarms(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, const struct fz_fleet_alarm *a), void *arg,
		    struct fz_error *err);
/* The version of a service that was seen last of those that began before that one did; appended to
 * ret, which stays empty when there is none. */
int fz_fleet_previous(struct fz_fleet *f, const char *project, const char *service,
		      const char *version, struct fz_buf *ret, struct fz_error *err);

/* One version of a service, of one kind of metric. */
struct fz_fleet_entry {
	const char *service, *version, *metric, *unit;
	int64_t first, last; /* minutes */
	int64_t hosts, cells, pushes, samples, lost;
	double cpu_ns, wall_ns;
};
/* Services by name, the version that was seen last first. */
int fz_fleet_list(struct fz_fleet *f, const char *project,
		  void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		  struct fz_error *err);

struct fz_fleet_query {
	const char *project, *service;
	const char *version; /* NULL: all of them */
	const char *labels;  /* as in a push: cells that have all of them */
	/* NULL: of what main profiles are of CPU time, else time, else samples, else the one that
	 * most cells are about */
	const char *metric;
	int64_t from, until; /* minutes: from <= minute < until */
	int64_t head_from;   /* of two releases: the head's is at least this */
	int64_t base_until;  /* and the base's at most this; 0: as the head's */
};

/* The cells that a query is about, ordered by host and minute. */
struct fz_fleet_found {
	struct fz_arena arena;
	struct fz_fleet_kind *kinds;
	struct fz_fleet_cell *cells;
	char **hosts;
	uint32_t kind_n, kind_cap, cell_n, cell_cap, host_n, host_cap;
};

/* FZ_EINPUT when there are none; the message then names what there is. FZ_EAGAIN: the same, and
 * part of the store does not answer. From here to the end of the handle nobody's changes are seen.
 */
int fz_fleet_find(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_fleet_found *ret,
		  struct fz_error *err);
void fz_fleet_found_release(struct fz_fleet_found *found);
/* All values of cells that were found, each of which is of a unit; FZ_NONE: it is left out. Several
 * of a unit and node may come as one or one by one. A node is a number of the store's. */
int fz_fleet_each(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		  void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		  void *arg, struct fz_error *err);
/* What a node is: its parent (0: a root), and its function interned in p. */
int fz_fleet_node(struct fz_fleet *f, int64_t node, struct fz_profile *p, int64_t *ret_parent,
		  uint32_t *ret_function, struct fz_error *err);

/* ---- a service over time ---- */

enum {
	FZ_FLEET_BUCKETS = 480, /* of a timeline, at most */
	FZ_FLEET_BANDS = 50,    /* and versions, before the older ones are put together */
};

struct fz_fleet_timeline {
	struct fz_arena arena;
	struct fz_str metric;
	int64_t first;    /* minute at which the first bucket begins, a multiple of the next */
	int64_t minutes;  /* a bucket */
	uint32_t buckets; /* bucket i is of first + i * minutes and what follows */
	bool by_cpu;      /* costs are CPU time in ns, else numbers of samples */
	/* In order of the first minutes that there are of them, whatever time is asked for. Of more
	 * versions than have a band of their own the older ones are the first, without a name. */
	struct fz_fleet_band {
		const char *version; /* NULL: of several */
		int64_t first;       /* minute */
	} * bands;
	uint32_t band_n, older; /* how many the band without a name is of */
	/* bands x buckets; cells: of a host and a minute */
	struct fz_fleet_amount {
		int64_t cost, cells;
	} * amounts;
};

/* What a service cost, by version, in the time of a query; its version plays no part. Errors as of
 * fz_fleet_find. */
int fz_fleet_timeline(struct fz_fleet *f, const struct fz_fleet_query *q,
		      struct fz_fleet_timeline *ret, struct fz_error *err);
void fz_fleet_timeline_release(struct fz_fleet_timeline *t);
