/* SPDX-License-Identifier: MIT */
/* Files with an index; files.h.
 *
 * A name is loose while it has no row but its bytes may exist. Storing a file writes a loose name,
 * then its bytes to disk, then its row, which ends the loose state; a file that this replaces or
 * that exceeds the limit becomes loose. The bytes of loose names are deleted, then the names; names
 * that were loose when a server stopped are deleted at the next start. So each file with a row is
 * complete, and no file remains without one.
 */
#include "fleet/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
#include "fleet/bucket.h"
#include "fleet/file_bytes.h"
#include "fleet/sqlite_calls.h"

enum { ATTEMPTS = 3 };

struct fz_files {
	char *folder;
	struct fz_file_bytes bytes;
	int lock_fd;
	uint64_t limit;
	pthread_mutex_t lock; /* of the index */
	struct fz_sql index;
};

struct names {
	char (*list)[FZ_FILE_NAME_SIZE];
	size_t n, cap;
};

#define THE_FOLDER "the folder"

/* A file that loses its row becomes loose and must be deleted (going); a new file is loose until it
 * has a row. */
static const char tables[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS file (project TEXT NOT NULL, kind INTEGER NOT NULL,"
	" name TEXT NOT NULL, of TEXT NOT NULL, version TEXT NOT NULL, host TEXT NOT NULL,"
	" labels TEXT NOT NULL, began INTEGER NOT NULL, came INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, file TEXT NOT NULL UNIQUE, PRIMARY KEY (project, kind, name))"
	" STRICT, WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS file_came ON file (project, kind, came, bytes);"
	"CREATE TABLE IF NOT EXISTS loose (file TEXT PRIMARY KEY, going INTEGER NOT NULL)"
	" STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER IF NOT EXISTS file_gone AFTER DELETE ON file"
	" BEGIN INSERT INTO loose VALUES (old.file, 1); END;"
	"CREATE TRIGGER IF NOT EXISTS file_there AFTER INSERT ON file"
	" BEGIN DELETE FROM loose WHERE file = new.file; END;"
	"CREATE TABLE IF NOT EXISTS place (url TEXT NOT NULL) STRICT;" /* URL of the bucket, or
									  THE_FOLDER */
	"PRAGMA user_version = 1;"
	"COMMIT;";

/* A file occupies whole blocks, which also limits the number of small files. */
#define BLOCK 4096
#define ON_DISK "((bytes + 4095) / 4096 * 4096)"
#define THIS " WHERE project = ?1 AND kind = ?2 AND name = ?3"

/* ---- the index ---- */

static int run(struct fz_files *f, const char *text, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(&f->index, text);

	return fz_sql_step(&f->index, s, err);
}

static void bind_name(sqlite3_stmt *s, const char *project, enum fz_files_kind kind,
		      const char *name)
{
	fz_sql_text(s, 1, fz_str_of(project));
	fz_sqlite.bind_int(s, 2, kind);
	fz_sql_text(s, 3, fz_str_of(name));
}

static void add_name(struct names *ret, struct fz_str file)
{
	fz_grow(ret->list, ret->n, ret->cap);
	snprintf(ret->list[ret->n++], FZ_FILE_NAME_SIZE, "%.*s", (int)file.n, file.p);
}

/* Append the first column of all rows of a statement. ret is NULL for statements without rows. */
static int read_names(struct fz_files *f, sqlite3_stmt *s, struct names *ret, struct fz_error *err)
{
	int r;

	while ((r = fz_sql_step(&f->index, s, err)) == 1)
		add_name(ret, fz_sql_column(s, 0));
	return r;
}

/* Run a statement on the row with the file's project, kind and name. */
static int do_this(struct fz_files *f, const char *text, const struct fz_file *file,
		   struct names *ret, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(&f->index, text);

	bind_name(s, file->project, file->kind, file->name);
	return read_names(f, s, ret, err);
}

/* ---- loose files ---- */

static int do_loose(struct fz_files *f, const char *text, const char *name, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(&f->index, text);

	fz_sql_text(s, 1, fz_str_of(name));
	pthread_mutex_lock(&f->lock);
	int r = fz_sql_step(&f->index, s, err);
	pthread_mutex_unlock(&f->lock);
	return r;
}

static int list_going(struct fz_files *f, struct names *ret, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s =
		fz_sql_once(&f->index, "SELECT file FROM loose WHERE going");

	pthread_mutex_lock(&f->lock);
	int r = read_names(f, s, ret, err);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int fz_files_tidy(struct fz_files *f, struct fz_error *err)
{
	struct names going = { 0 };
	int r = list_going(f, &going, err);

	for (size_t i = 0; !r && i < going.n; i++) {
		r = fz_file_bytes_remove(&f->bytes, going.list[i], err);
		if (!r)
			r = do_loose(f, "DELETE FROM loose WHERE file = ?", going.list[i], err);
	}
	free(going.list);
	return r;
}

/* ---- putting ---- */

static int add_row(struct fz_files *f, const struct fz_file *file, int64_t bytes, const char *name,
		   struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s =
		fz_sql_once(&f->index, "INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	bind_name(s, file->project, file->kind, file->name);
	fz_sql_text(s, 4, fz_str_of(file->group));
	fz_sql_text(s, 5, fz_str_of(file->version));
	fz_sql_text(s, 6, fz_str_of(file->host));
	fz_sql_text(s, 7, fz_str_of(file->labels));
	fz_sqlite.bind_int(s, 8, file->began_unix_ns);
	fz_sqlite.bind_int(s, 9, file->came_unix_ns);
	fz_sqlite.bind_int(s, 10, bytes);
	fz_sql_text(s, 11, fz_str_of(name));
	return fz_sql_step(&f->index, s, err);
}

/* Remove the oldest files until the rest is within the limit; the new file is kept. */
static int make_room(struct fz_files *f, const struct fz_file *file, struct fz_error *err)
{
	/* `since` is the size of a file and all newer ones; delete those that exceed the limit. */
	static const char text[] =
		"DELETE FROM file WHERE project = ?1 AND kind = ?2 AND name IN"
		" (SELECT name FROM (SELECT name, sum(" ON_DISK ") OVER (ORDER BY name = ?3 DESC,"
		" came DESC, name) AS since FROM file WHERE project = ?1 AND kind = ?2)"
		" WHERE since > ?4)";
	fz_auto(fz_sql_drop) sqlite3_stmt *sum = fz_sql_once(
		&f->index, "SELECT sum(" ON_DISK ") FROM file WHERE project = ?1 AND kind = ?2");
	fz_auto(fz_sql_drop) sqlite3_stmt *s = NULL;

	fz_sql_text(sum, 1, fz_str_of(file->project));
	fz_sqlite.bind_int(sum, 2, file->kind);
	int r = fz_sql_step(&f->index, sum, err);
	if (r < 0 || (uint64_t)fz_sqlite.column_int(sum, 0) <= f->limit)
		return r < 0 ? r : 0;
	fz_sql_reset(sum);
	s = fz_sql_once(&f->index, text);
	bind_name(s, file->project, file->kind, file->name);
	fz_sqlite.bind_int(s, 4, (int64_t)f->limit);
	return fz_sql_step(&f->index, s, err);
}

static int enter(struct fz_files *f, const struct fz_file *file, int64_t bytes, const char *name,
		 struct fz_error *err)
{
	int r = fz_sql_run(&f->index, FZ_SQL_BEGIN, err);

	if (r)
		return r;
	r = do_this(f, "DELETE FROM file" THIS, file, NULL, err);
	if (!r)
		r = add_row(f, file, bytes, name, err);
	if (!r)
		r = make_room(f, file, err);
	return fz_sql_end(&f->index, r, err);
}

static int find(struct fz_files *f, const struct fz_file *file, struct names *ret,
		struct fz_error *err)
{
	pthread_mutex_lock(&f->lock);
	int r = do_this(f, "SELECT file FROM file" THIS, file, ret, err);
	pthread_mutex_unlock(&f->lock);
	return r;
}

static int is_known(struct fz_files *f, const struct fz_file *file, bool *ret, struct fz_error *err)
{
	struct names there = { 0 };
	int r = find(f, file, &there, err);

	*ret = there.n > 0;
	free(there.list);
	return r;
}

static int put(struct fz_files *f, const struct fz_file *file, struct fz_str bytes,
	       struct fz_error *err)
{
	char name[FZ_FILE_NAME_SIZE];

	fz_file_bytes_draw(name);
	int r = do_loose(f, "INSERT INTO loose VALUES (?, 0)", name, err);
	if (r)
		return r;
	r = fz_file_bytes_put(&f->bytes, name, bytes, err);
	if (!r) {
		pthread_mutex_lock(&f->lock);
		r = enter(f, file, (int64_t)bytes.n, name, err);
		pthread_mutex_unlock(&f->lock);
	}
	if (r)
		do_loose(f, "UPDATE loose SET going = 1 WHERE file = ?", name, NULL);
	/* Failures are retried by the next call. */
	fz_files_tidy(f, NULL);
	return r;
}

int fz_files_put(struct fz_files *f, const struct fz_file *file, struct fz_str bytes, bool replace,
		 struct fz_error *err)
{
	bool known = false;
	int r = replace ? 0 : is_known(f, file, &known, err);

	if (r || known)
		return r;
	if (bytes.n + BLOCK - 1 > f->limit)
		return fz_fail(
			err, FZ_ELIMIT,
			"it is larger than the project's limit (fizeau serve --recordings-limit)");
	return put(f, file, bytes, err);
}

/* ---- reading ---- */

static void read_row(sqlite3_stmt *s, struct fz_file *ret)
{
	const char **texts[] = { &ret->name, &ret->group, &ret->version, &ret->host, &ret->labels };

	for (int i = 0; i < (int)FZ_ARRAY_LEN(texts); i++)
		*texts[i] = fz_sql_column(s, i).p;
	ret->began_unix_ns = fz_sqlite.column_int(s, 5);
	ret->came_unix_ns = fz_sqlite.column_int(s, 6);
	ret->bytes = fz_sqlite.column_int(s, 7);
}

static int list(struct fz_files *f, const struct fz_files_query *q,
		void (*take)(void *arg, const struct fz_file *file), void *arg,
		struct fz_error *err)
{
	static const char text[] =
		"SELECT name, of, version, host, labels, began, came, bytes FROM file"
		" WHERE project = ?1 AND kind = ?2 AND (?3 = '' OR name = ?3) AND"
		" (?4 = '' OR of = ?4) AND (?5 = '' OR version = ?5) AND began >= ?6 AND began < ?7"
		" ORDER BY began DESC, came DESC, name LIMIT ?8";
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(&f->index, text);
	struct fz_file file = { .project = q->project, .kind = q->kind };
	int r;

	bind_name(s, q->project, q->kind, q->name ? q->name : "");
	fz_sql_text(s, 4, fz_str_of(q->group ? q->group : ""));
	fz_sql_text(s, 5, fz_str_of(q->version ? q->version : ""));
	fz_sqlite.bind_int(s, 6, q->from);
	fz_sqlite.bind_int(s, 7, q->until);
	fz_sqlite.bind_int(s, 8, q->most);
	while ((r = fz_sql_step(&f->index, s, err)) == 1) {
		read_row(s, &file);
		take(arg, &file);
	}
	return r;
}

int fz_files_list(struct fz_files *f, const struct fz_files_query *q,
		  void (*take)(void *arg, const struct fz_file *file), void *arg,
		  struct fz_error *err)
{
	pthread_mutex_lock(&f->lock);
	int r = list(f, q, take, arg, err);
	pthread_mutex_unlock(&f->lock);
	return r;
}

/* Open the current file of that name. */
static int open_known(struct fz_files *f, const struct fz_file *file, int *ret_fd,
		      struct fz_error *err)
{
	struct names there = { 0 };
	int r = find(f, file, &there, err);

	if (!r)
		r = there.n ? fz_file_bytes_get(&f->bytes, there.list[0], ret_fd, err) : FZ_EINPUT;
	if (r == FZ_EINPUT)
		fz_fail(err, r, "not found, or already deleted");
	free(there.list);
	return r;
}

int fz_files_read(struct fz_files *f, const char *project, enum fz_files_kind kind,
		  const char *name, int *ret_fd, uint64_t *ret_bytes, struct fz_error *err)
{
	const struct fz_file file = { .project = project, .kind = kind, .name = name };
	fz_auto(fz_close_fd) int fd = -1;
	struct stat st;
	int r = FZ_EINPUT;

	/* It may be replaced between query and open. */
	for (int attempt = 0; attempt < ATTEMPTS && r == FZ_EINPUT; attempt++)
		r = open_known(f, &file, &fd, err);
	if (r)
		return r;
	if (fstat(fd, &st))
		return fz_fail_errno(err, "%s", f->folder);
	*ret_fd = fz_steal_fd(&fd);
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

int fz_files_forget(struct fz_files *f, int64_t before_unix_ns, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s =
		fz_sql_once(&f->index, "DELETE FROM file WHERE began < ?");

	fz_sqlite.bind_int(s, 1, before_unix_ns);
	pthread_mutex_lock(&f->lock);
	int r = fz_sql_step(&f->index, s, err);
	pthread_mutex_unlock(&f->lock);
	return r;
}

/* ---- opening ---- */

static int claim(struct fz_files *f, struct fz_error *err)
{
	f->lock_fd = openat(f->bytes.fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->lock_fd < 0)
		return fz_fail_errno(err, "%s: cannot be written", f->folder);
	if (flock(f->lock_fd, LOCK_EX | LOCK_NB))
		return fz_fail(err, FZ_EUSAGE,
			       "%s: in use by another server; specify another folder", f->folder);
	return 0;
}

/* Fail if the files are in another place. *ret_known: is the place known? */
static int check_place(struct fz_files *f, const char *place, bool *ret_known, struct fz_error *err)
{
	static const char text[] =
		"SELECT url FROM place UNION ALL"
		" SELECT '" THE_FOLDER "' WHERE EXISTS (SELECT 1 FROM file) LIMIT 1";
	fz_auto(fz_sql_drop) sqlite3_stmt *s = fz_sql_once(&f->index, text);
	int r = fz_sql_step(&f->index, s, err);

	*ret_known = r == 1;
	if (r != 1)
		return r;
	struct fz_str url = fz_sql_column(s, 0);
	if (fz_str_eq(url, fz_str_of(place)))
		return 0;
	return fz_fail(err, FZ_EUSAGE, "%s: its files are in %.*s; specify that, or another folder",
		       f->folder, (int)url.n, url.p);
}

static int note_place(struct fz_files *f, const char *place, struct fz_error *err)
{
	fz_auto(fz_sql_drop) sqlite3_stmt *s =
		fz_sql_once(&f->index, "INSERT INTO place VALUES (?)");

	fz_sql_text(s, 1, fz_str_of(place));
	return fz_sql_step(&f->index, s, err);
}

static int open_index(struct fz_files *f, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *index = fz_asprintf("%s/index.db", f->folder);

	return fz_sql_open_with(&f->index, index, tables, err);
}

/* Resolve links in the folder's path that other users could change. */
static int resolve(struct fz_files *f, struct fz_error *err)
{
	size_t n = strlen(f->folder);
	char *path;
	bool direct;

	/* A link with a trailing slash would be followed. */
	while (n > 1 && f->folder[n - 1] == '/')
		f->folder[--n] = 0;
	int r = fz_outfile_resolve(f->folder, &path, &direct, err);
	if (r)
		return r;
	free(f->folder);
	f->folder = path;
	return 0;
}

static int open_all(struct fz_files *f, const char *bucket, struct fz_error *err)
{
	const char *place = bucket ? bucket : THE_FOLDER;
	bool known = false;
	int r = resolve(f, err);

	if (!r)
		r = fz_make_folder(f->folder, err);
	if (!r)
		r = fz_file_bytes_open(&f->bytes, f->folder, err);
	if (!r)
		r = claim(f, err);
	if (!r)
		r = open_index(f, err);
	if (!r)
		r = check_place(f, place, &known, err);
	if (!r && bucket)
		r = fz_bucket_open(bucket, &f->bytes.bucket, err);
	if (!r && !known)
		r = note_place(f, place, err);
	/* Delete files of interrupted puts. */
	if (!r)
		r = run(f, "UPDATE loose SET going = 1", err);
	if (!r)
		fz_files_tidy(f, NULL);
	return r;
}

int fz_files_open(const char *folder, const char *bucket, uint64_t limit, struct fz_files **ret,
		  struct fz_error *err)
{
	struct fz_files *f = fz_calloc(1, sizeof(*f));

	*f = (struct fz_files){
		.folder = fz_strdup(folder), .bytes.fd = -1, .lock_fd = -1, .limit = limit
	};
	pthread_mutex_init(&f->lock, NULL);
	int r = open_all(f, bucket, err);
	if (r) {
		fz_files_close(f);
		return fz_error_prefix(err, "--recordings");
	}
	*ret = f;
	return 0;
}

void fz_files_close(struct fz_files *f)
{
	if (!f)
		return;
	if (f->index.db)
		fz_sql_close(&f->index);
	fz_close_fd(&f->lock_fd);
	fz_file_bytes_close(&f->bytes);
	pthread_mutex_destroy(&f->lock);
	free(f->folder);
	free(f);
}
