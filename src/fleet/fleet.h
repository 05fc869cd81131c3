/* SPDX-License-Identifier: MIT */
/* Profiles of many hosts, stored by service and version so that releases can be compared.
 *
 *   profile --batch.h--> batch --put--> cells --find, each--> fold.h --> a profile with runs
 *
 * A *cell* is what one host did in one minute, of one service, version, set of labels and kind of
 * profile: its exposure (how much was observed), and values and numbers of samples by node. A
 * *node* is a path of functions; functions and nodes are stored once for a project. Costs vary
 * between hosts and minutes even without a change of code, so a verdict's variance is computed from
 * cells; they are kept unchanged until retention deletes them, or replaces them by sums of hours.
 *
 * Every query and every change concerns one project; data of other projects is never visible.
 *
 * An engine stores the data (engine.h). A handle may be used by one thread at a time; several
 * threads and processes may have the same store open.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "fleet/texts.h"
#include "profile/profile.h"

enum {
	FZ_FLEET_NAME_MAX = 128,     /* bytes of a service, version, host, label or id */
	FZ_FLEET_LABELS_MAX = 16,    /* of a push */
	FZ_FLEET_LABEL_SETS = 1000,  /* of a service */
	FZ_FLEET_SAMPLE_SETS = 500,  /* of these, from labels of samples */
	FZ_FLEET_VERSIONS = 10000,   /* of a service */
	FZ_FLEET_HOSTS = 100000,     /* of a project */
	FZ_FLEET_SERVICES = 10000,   /* of a project */
	FZ_FLEET_MINUTES = 7 * 1440, /* of a push */
	FZ_FLEET_SLICE = 2000,       /* rows deleted in one transaction */
};

/* Properties that samples must share to be added up. */
struct fz_fleet_kind {
	struct fz_str metric, unit;
	struct fz_str clock; /* fact of the recording, "" if unknown */
	int32_t mode;        /* enum fz_mode */
	int32_t features;    /* enum fz_feature bits; -1: unknown */
	int64_t interval_ns; /* 0: unknown */
	bool main;           /* the profile's default metric */
};

/* How much was observed. */
struct fz_fleet_exposure {
	int64_t cpu_ns;  /* CPU time, if measured */
	int64_t wall_ns; /* duration */
	int64_t samples;
	int64_t lost; /* samples missed or unreadable */
};

struct fz_fleet_cell {
	uint32_t kind, host; /* indices; a batch has one host */
	int64_t minute;      /* since 1970 */
	struct fz_fleet_exposure exposure;
	/* of a found cell, assigned by the engine; cells of a group may be read as one sum; 0: none
	 */
	int64_t key;
	uint32_t group;
	bool by_hour; /* values exist only as the sum of the group: a series and host in an hour */
	uint32_t minutes; /* of a found cell: how many it is the sum of */
};

struct fz_fleet_value {
	uint32_t cell, node;
	int64_t value;
	int64_t n; /* samples */
};

/* What a push belongs to. Terminated texts, checked by the functions below; labels as made by
 * fz_fleet_labels. */
struct fz_fleet_push {
	const char *project, *service, *version, *host;
	const char *labels; /* "" or "\nkey=value\n...key=value\n", in order of keys */
	const char *id;     /* pushing the same again with the same id changes nothing */
	bool of_samples;    /* some of the labels are those of samples */
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

/* Check a name: UTF-8 without control characters, 1 to FZ_FLEET_NAME_MAX bytes. */
int fz_fleet_check_name(const char *what, const char *name, struct fz_error *err);
/* The same for a service; also, no "@". */
int fz_fleet_check_service(const char *name, struct fz_error *err);
/* Make a set of labels from "key=value" texts in any order. Keys consist of letters, digits, "_",
 * "-" and "."; the last label with a key wins. */
int fz_fleet_labels(const char *const *list, size_t n, struct fz_buf *ret, struct fz_error *err);

/* Make an id from the bytes, release, host, labels and time of a push: the same for the same push.
 * start_unix_ns: 0 if the bytes contain their time or it is unknown. The caller frees. */
char *fz_fleet_id(const struct fz_fleet_push *push, struct fz_str bytes, int64_t start_unix_ns);

/* ---- a store ---- */

struct fz_fleet;

enum fz_fleet_access { FZ_FLEET_READ, FZ_FLEET_WRITE /* creates a missing store */ };

/* path: a SQLite file; ":memory:" for a private one; or all ClickHouse databases of the store,
 * always in the same order: "http://host:8123/database,http://...". FZ_EAGAIN if none of them
 * responds. */
int fz_fleet_open(const char *path, enum fz_fleet_access access, struct fz_fleet **ret,
		  struct fz_error *err);
/* Convert an existing store of an earlier layout; otherwise fz_fleet_open does so. progress gets 0,
 * if there is something to convert and the store can be written, and 100 at the end. If the process
 * ends during the conversion, the next one continues it. */
int fz_fleet_convert(const char *path, void (*progress)(void *arg, int percent), void *arg,
		     struct fz_error *err);
void fz_fleet_close(struct fz_fleet *f);
void fz_fleet_closep(struct fz_fleet **f); /* for fz_auto */
/* Names of the shards that failed to respond since the handle was opened, whose data is missing
 * from results; NULL: none. Valid until the next call. */
const char *fz_fleet_missing(struct fz_fleet *f);

enum fz_fleet_put { FZ_FLEET_STORED, FZ_FLEET_KNOWN /* the id existed: nothing changed */ };

/* Store a push completely or not at all; on success it is on disk. FZ_EINPUT: the id belongs to
 * another push; FZ_ELIMIT: too many names of a kind; FZ_ESYSTEM: disk error; FZ_EAGAIN: no
 * response; the push may or may not be stored. */
int fz_fleet_put(struct fz_fleet *f, const struct fz_fleet_push *push,
		 const struct fz_fleet_batch *batch, enum fz_fleet_put *ret, struct fz_error *err);

/* One of several pushes that are written to disk together, in the time of one. */
struct fz_fleet_item {
	const struct fz_fleet_push *push;
	const struct fz_fleet_batch *batch;
	uint64_t digest; /* of both; set by fz_fleet_put_all */
	/* results, as of fz_fleet_put */
	int result;
	enum fz_fleet_put put;
	struct fz_error err;
};
/* Store each push completely or not at all. */
void fz_fleet_put_all(struct fz_fleet *f, struct fz_fleet_item *const *items, size_t n);

/* Delete cells before a minute (ClickHouse: whole days) in all projects, and rows that are
 * unreferenced after that. Returns the number of deleted cells, or an error. */
int64_t fz_fleet_forget(struct fz_fleet *f, int64_t before, struct fz_error *err);
/* The same while others write to the store. After each transaction, of at most FZ_FLEET_SLICE rows
 * or one cell more, `between` gets the number of deleted rows and returns whether to continue; the
 * rest is deleted the next time that there are old cells. SQLite only. */
int64_t fz_fleet_forget_between(struct fz_fleet *f, int64_t before,
				bool (*between)(void *arg, int64_t rows), void *arg,
				struct fz_error *err);
/* May another handle delete old data while this one is in use? */
bool fz_fleet_forgets_beside(const struct fz_fleet *f);

/* Add up the cells of some hours that ended before a minute, to speed up later queries; results do
 * not change. Returns the number of hours, 0 if there are no more, or an error. */
int64_t fz_fleet_sum_hours(struct fz_fleet *f, int64_t before, struct fz_error *err);

/* Replace the cells of hours that ended before a minute by the sums of each hour: from then on a
 * query gets only whole hours, those whose middle is in its time. `between` is as above, but an
 * hour may have 60 rows. Returns the number of replaced hours (ClickHouse: of a service on a shard,
 * in all projects), or an error. */
int64_t fz_fleet_age_between(struct fz_fleet *f, int64_t before,
			     bool (*between)(void *arg, int64_t rows), void *arg,
			     struct fz_error *err);

/* ---- alarms ---- */

/* A function that a release made more expensive. */
struct fz_fleet_alarm {
	const char *service, *base, *head, *function;
	const char *text;           /* all details, as a line of JSON */
	double change, low, high;   /* relative to the cost before; NaN: it is new */
	int64_t first_seen, raised; /* minutes */
};
/* Store an alarm; a release has at most one for each function. *ret: is it new? */
int fz_fleet_raise(struct fz_fleet *f, const char *project, const struct fz_fleet_alarm *a,
		   bool *ret, struct fz_error *err);
/* At most `most` alarms, latest first. service "": of all services. */
int fz_fleet_alarms(struct fz_fleet *f, const char *project, const char *service, unsigned most,
		    void (*take)(void *arg, const struct fz_fleet_alarm *a), void *arg,
		    struct fz_error *err);
/* Append the previous version of a service to ret: of those that began before `version`, the one
 * seen last. Appends nothing if there is none. */
int fz_fleet_previous(struct fz_fleet *f, const char *project, const char *service,
		      const char *version, struct fz_buf *ret, struct fz_error *err);

/* One version of a service with one metric. */
struct fz_fleet_entry {
	const char *service, *version, *metric, *unit;
	int64_t first, last; /* minutes */
	int64_t hosts, cells, pushes, samples, lost;
	double cpu_ns, wall_ns;
};
/* Services by name; for each, the version seen last comes first. */
int fz_fleet_list(struct fz_fleet *f, const char *project,
		  void (*take)(void *arg, const struct fz_fleet_entry *e), void *arg,
		  struct fz_error *err);

/* Minutes that a host may need to start, from its first minute of a release on. The store does not
 * show a later restart: a program that restarts within a minute has no gap. */
enum { FZ_FLEET_START = 5 };

struct fz_fleet_query {
	const char *project, *service;
	const char *version; /* NULL: all versions */
	const char *labels;  /* as in a push; selects cells with all of them */
	/* NULL: among main metrics CPU time, else time, else samples, else the one with most
	 * cells */
	const char *metric;
	int64_t from, until; /* minutes: from <= minute < until */
	int64_t head_from;   /* in comparisons: minimum for the head */
	int64_t base_until;  /* and end for the base; 0: until */
	/* in comparisons: hosts of the head start at their first minute from here on; their first
	 * FZ_FLEET_START minutes are left out; 0: nothing is */
	int64_t starts_from;
	bool whole_hours; /* find one cell for a host and hour if the engine has its sum */
};

/* The cells of a query, ordered by host and minute. A host's cells with by_hour belong to one unit
 * for each hour. */
struct fz_fleet_found {
	struct fz_arena arena;
	struct fz_fleet_kind *kinds;
	struct fz_fleet_cell *cells;
	char **hosts;
	uint32_t kind_n, cell_n, cell_cap, host_n;
};

/* FZ_EINPUT if there are none; the message then lists what exists. FZ_EAGAIN: the same, but part of
 * the store does not respond. From then on the handle does not see changes by others. */
int fz_fleet_find(struct fz_fleet *f, const struct fz_fleet_query *q, struct fz_fleet_found *ret,
		  struct fz_error *err);
void fz_fleet_found_release(struct fz_fleet_found *found);

/* Hosts and the first minute of each. */
struct fz_fleet_starts {
	struct fz_arena arena;
	struct fz_texts hosts;
	int64_t *minutes;
	uint32_t n, cap;
};
/* Find the hosts of a query. Errors are those of fz_fleet_find. */
int fz_fleet_find_starts(struct fz_fleet *f, const struct fz_fleet_query *q,
			 struct fz_fleet_starts *ret, struct fz_error *err);
void fz_fleet_starts_release(struct fz_fleet_starts *s);
/* Pass all values of found cells to `take`. unit: the unit of each cell; FZ_NONE: skip it. Values
 * with the same unit and node may be passed separately or as a sum. node: its number in the store.
 */
int fz_fleet_each(struct fz_fleet *f, const struct fz_fleet_found *found, const uint32_t *unit,
		  void (*take)(void *arg, uint32_t unit, int64_t node, int64_t value, int64_t n),
		  void *arg, struct fz_error *err);
/* Get a node's parent (0: it is a root) and its function, interned in p. */
int fz_fleet_node(struct fz_fleet *f, int64_t node, struct fz_profile *p, int64_t *ret_parent,
		  uint32_t *ret_function, struct fz_error *err);

/* Append a text that identifies the data of a service and version (NULL: all versions) and changes
 * whenever the result of a query may change. Returns 1, or 0 if part of the data is missing. From
 * then on a handle of SQLite does not see changes by others. */
int fz_fleet_state(struct fz_fleet *f, const char *project, const char *service,
		   const char *version, struct fz_buf *ret, struct fz_error *err);

/* ---- a service over time ---- */

enum {
	FZ_FLEET_BUCKETS = 480, /* maximum of a timeline */
	FZ_FLEET_BANDS = 50,    /* versions shown before older ones share a band */
};

struct fz_fleet_timeline {
	struct fz_arena arena;
	struct fz_str metric;
	int64_t first;    /* start of the first bucket, a multiple of `minutes` */
	int64_t minutes;  /* length of a bucket */
	uint32_t buckets; /* bucket i starts at first + i * minutes */
	bool by_cpu;      /* costs are CPU time in ns, else numbers of samples */
	/* Ordered by the first minute of a version at any time. If there are too many versions, the
	 * older ones share the first band, without a name. */
	struct fz_fleet_band {
		const char *version; /* NULL: several */
		int64_t first;       /* minute */
	} * bands;
	uint32_t band_n, older; /* number of versions in the shared band */
	/* bands x buckets */
	struct fz_fleet_amount {
		int64_t cost, cells;
	} * amounts;
};

/* Costs of a service by version in the time of a query, whose version is ignored. Errors as for
 * fz_fleet_find. */
int fz_fleet_timeline(struct fz_fleet *f, const struct fz_fleet_query *q,
		      struct fz_fleet_timeline *ret, struct fz_error *err);
void fz_fleet_timeline_release(struct fz_fleet_timeline *t);
