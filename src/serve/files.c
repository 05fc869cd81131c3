/* SPDX-License-Identifier: MIT */
/* Stored files: pushed recordings, and counts of commits for `fizeau ci --save`.
 *
 *   GET  /api/recordings[?service=S][&version=V][&id=ID][&since=][&until=][&limit=N]   as JSON
 *   GET  /api/recording?id=ID                       one, as received
 *   GET  /api/counts[?commit=C]                     a line "COMMIT/KEY.fz" for each
 *   GET  /api/count?commit=C&key=K                  one
 *   POST /api/count?commit=C&key=K[&replace=no]     stores one; replaces an existing one, or not
 *
 * A key is a hash of everything that counts depend on, which the recording contains too: a
 * recording with another key is rejected.
 */
#include "base/clock.h"
#include "base/json.h"
#include "bench/baseline.h"
#include "serve/inputs.h"
#include "serve/routes.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 10000, COUNTS_MAX = 1000000 };

/* False if files are not stored; the response is then an error. */
static bool has_files(const struct fz_server *s, struct fz_http_answer *ret)
{
	if (s->files)
		return true;
	ret->status = 404;
	fz_buf_str(&ret->body,
		   "this server does not store files; start it with --recordings FOLDER\n");
	return false;
}

static void send_file(struct fz_server *s, const struct fz_http_request *q, enum fz_files_kind kind,
		      const char *name, struct fz_http_answer *ret)
{
	struct fz_error err;

	if (fz_files_read(s->files, q->project, kind, name, &ret->file, &ret->file_bytes, &err))
		fz_http_refuse(ret, &err);
	else
		ret->type = "application/octet-stream";
}

/* ---- recordings ---- */

static void write_labels(struct fz_json *j, struct fz_str labels)
{
	fz_json_kopen(j, "labels", '[');
	while (labels.n) {
		struct fz_str label = fz_str_take_line(&labels);
		if (label.n)
			fz_json_str(j, label);
	}
	fz_json_close(j, ']');
}

static void write_recording(void *arg, const struct fz_file *file)
{
	struct fz_json *j = arg;

	fz_json_open(j, '{');
	fz_json_kstr(j, "id", fz_str_of(file->name));
	fz_json_kstr(j, "service", fz_str_of(file->group));
	fz_json_kstr(j, "version", fz_str_of(file->version));
	fz_json_kstr(j, "host", fz_str_of(file->host));
	write_labels(j, fz_str_of(file->labels));
	fz_json_kint(j, "began", file->began_unix_ns / FZ_SECOND);
	fz_json_kint(j, "came", file->came_unix_ns / FZ_SECOND);
	fz_json_kint(j, "bytes", file->bytes);
	fz_json_close(j, '}');
}

static int parse_list_query(const struct fz_http_request *q, struct fz_files_query *ret,
			    struct fz_error *err)
{
	const char *limit = fz_inputs_text(q, "limit");
	uint64_t most = LIST_DEFAULT;

	*ret = (struct fz_files_query){ .project = q->project,
					.kind = FZ_FILES_RECORDINGS,
					.name = fz_http_parameter(q, "id"),
					.group = fz_http_parameter(q, "service"),
					.version = fz_http_parameter(q, "version"),
					.until = INT64_MAX };
	int r = fz_inputs_time("since", fz_inputs_text(q, "since"), &ret->from, err);
	if (!r)
		r = fz_inputs_time("until", fz_inputs_text(q, "until"), &ret->until, err);
	if (!r && *limit && (!fz_parse_u64(fz_str_of(limit), LIST_MAX, &most) || !most))
		return fz_fail(err, FZ_EUSAGE, "limit: invalid number '%.40s' (expected 1 to %d)",
			       limit, LIST_MAX);
	ret->most = (int64_t)most;
	return r;
}

static int list_recordings(struct fz_server *s, const struct fz_http_request *q,
			   struct fz_output *out, struct fz_error *err)
{
	struct fz_files_query query;
	struct fz_json j;
	int r = parse_list_query(q, &query, err);

	fz_json_init(&j, out, 2);
	fz_json_open(&j, '{');
	fz_json_kopen(&j, "recordings", '[');
	if (!r)
		r = fz_files_list(s->files, &query, write_recording, &j, err);
	fz_json_close(&j, ']');
	fz_json_close(&j, '}');
	return r;
}

void fz_answer_recordings(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_error err;

	if (!has_files(arg, ret))
		return;
	if (list_recordings(arg, q, out, &err)) {
		fz_http_refuse(ret, &err);
		return;
	}
	struct fz_str text = fz_buf_view(fz_output_buffer(out));
	fz_buf_add(&ret->body, text.p, text.n);
	ret->type = "application/json";
}

void fz_answer_recording(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	if (has_files(arg, ret))
		send_file(arg, q, FZ_FILES_RECORDINGS, fz_inputs_text(q, "id"), ret);
}

/* ---- counts ---- */

/* The file name for a commit and key; the caller frees. NULL if they are invalid. */
static char *name_of(const struct fz_http_request *q, struct fz_error *err)
{
	const char *commit = fz_inputs_text(q, "commit"), *key = fz_inputs_text(q, "key");

	if (fz_baseline_is_name(fz_str_of(commit), fz_str_of(key)))
		return fz_asprintf("%s/%s", commit, key);
	fz_fail(err, FZ_EUSAGE,
		"commit, key: must be a full commit hash and a key, in hexadecimal digits");
	return NULL;
}

static void write_count(void *arg, const struct fz_file *file)
{
	fz_buf_printf(arg, "%s.fz\n", file->name);
}

void fz_answer_counts(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	const struct fz_files_query query = { .project = q->project,
					      .kind = FZ_FILES_COUNTS,
					      .group = fz_http_parameter(q, "commit"),
					      .until = INT64_MAX,
					      .most = COUNTS_MAX };
	struct fz_server *s = arg;
	struct fz_error err;

	if (has_files(s, ret) && fz_files_list(s->files, &query, write_count, &ret->body, &err))
		fz_http_refuse(ret, &err);
}

void fz_answer_count(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_error err;

	if (!has_files(arg, ret))
		return;
	fz_auto(fz_free_ptr) char *name = name_of(q, &err);
	if (name)
		send_file(arg, q, FZ_FILES_COUNTS, name, ret);
	else
		fz_http_refuse(ret, &err);
}

/* Check that the body was counted for this commit and key. */
static int check_count(struct fz_server *s, const struct fz_http_request *q, struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);
	fz_auto(fz_profile_freep) struct fz_profile *p = NULL;
	const char *commit = fz_inputs_text(q, "commit");
	char key[FZ_BASELINE_KEY_SIZE];
	int r = fz_server_open_body(q->body, &memory, &in, err);

	if (r)
		return r;
	r = fz_format_load_input(in, &p, err);
	if (r)
		return r;
	struct fz_str of = fz_profile_fact(p, "git.commit");
	fz_baseline_key(fz_profile_fact(p, "environment"), key);
	if (strcmp(key, fz_inputs_text(q, "key")) != 0)
		return fz_fail(err, FZ_EINPUT,
			       "the body was not counted in the environment of this key");
	if (!of.n)
		return fz_fail(err, FZ_EINPUT, "the body does not state its commit");
	if (!fz_str_eq(of, fz_str_of(commit)))
		return fz_fail(err, FZ_EINPUT, "the body belongs to another commit, %.*s",
			       (int)of.n, of.p);
	return 0;
}

static int keep_count(struct fz_server *s, const struct fz_http_request *q, struct fz_error *err)
{
	int64_t now = fz_clock_unix();
	const char *replace = fz_inputs_text(q, "replace");
	bool stays = strcmp(replace, "no") == 0;
	fz_auto(fz_free_ptr) char *name = name_of(q, err);

	if (!name)
		return FZ_EUSAGE;
	if (*replace && !stays)
		return fz_fail(err, FZ_EUSAGE, "replace: invalid value '%.40s' (expected no)",
			       replace);
	fz_server_begin_work(s);
	int r = check_count(s, q, err);
	fz_server_end_work(s);
	if (r)
		return r;
	const struct fz_file file = { .project = q->project,
				      .kind = FZ_FILES_COUNTS,
				      .name = name,
				      .group = fz_inputs_text(q, "commit"),
				      .version = fz_inputs_text(q, "key"),
				      .host = "",
				      .labels = "",
				      .began_unix_ns = now,
				      .came_unix_ns = now };
	r = fz_files_put(s->files, &file, q->body, !stays, err);
	if (r == FZ_ESYSTEM || r == FZ_EAGAIN)
		s->say(err->message);
	return r;
}

void fz_answer_keep_count(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_error err;

	if (!has_files(arg, ret))
		return;
	if (keep_count(arg, q, &err))
		fz_http_refuse(ret, &err);
	else
		fz_inputs_answer(ret, "stored", NULL, 0);
}
