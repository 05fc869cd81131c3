/* SPDX-License-Identifier: MIT */
/* fizeau pull: list or fetch recordings that a server stores. The server's response is untrusted:
 * a name in it is never used as a path. */
#include "cli/busy.h"
#include "cli/cli.h"
#include "cli/fleet.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/table.h"
#include "fleet/client.h"
#include "fleet/sides.h"
#include "format/format.h"

enum { LIST_DEFAULT = 30, NUMBER_MAX = 10000 };

static struct fz_cli_fleet fleet;
static const char *output;
static int number;
static bool list_only;

static const struct fz_opt option_table[] = {
	FZ_CLI_FLEET_SERVER_ENTRIES(fleet),
	FZ_OPT(FLAG, "list", NULL, &list_only, "list matching recordings without fetching them"),
	FZ_OPT(INT, "number", "N", &number,
	       "fetch the latest N of each (default 1; with --list 30)", .short_name = 'n',
	       .min = 1, .max = NUMBER_MAX),
	FZ_OPT(STRING, "output", "PATH", &output,
	       "write to a file, to a folder if there are several, or to - (default: the current "
	       "folder, named by service, version and time)",
	       .short_name = 'o'),
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET

/* A recording on the server; texts are borrowed from the answer. */
struct row {
	const char *id, *service, *version, *host;
	int64_t began, bytes;
};

/* ---- queries ---- */

static void add_parameter(struct fz_buf *out, const char *name, const char *value)
{
	fz_buf_printf(out, "&%s=", name);
	fz_buf_uri_part(out, fz_str_of(value));
}

/* Query recordings; the caller releases *ret. */
static int query_list(const struct fz_client *client, const char *query, json_t **ret,
		      struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	int r = fz_client_request(client, query, NULL, &answer, err);

	if (r)
		return r;
	fz_auto(json_decrefp) json_t *parsed =
		json_loadb(answer.p ? answer.p : "", answer.n, 0, NULL);
	json_t *list = json_object_get(parsed, "recordings");
	if (!json_is_array(list))
		return fz_fail(err, FZ_EINPUT, "%s: unexpected response: not a list of recordings",
			       client->server);
	*ret = json_incref(list);
	return 0;
}

static char *query_of_side(const struct fz_fleet_side *side, int most)
{
	struct fz_buf out = { 0 };

	fz_buf_printf(&out, "/api/recordings?limit=%d", most);
	add_parameter(&out, "service", side->service);
	if (side->version)
		add_parameter(&out, "version", side->version);
	if (side->from)
		fz_buf_printf(&out, "&since=%lld", (long long)side->from * 60);
	if (side->until != INT64_MAX)
		fz_buf_printf(&out, "&until=%lld", (long long)side->until * 60);
	return fz_buf_take(&out);
}

static int find_side(const struct fz_client *client, const char *what, int most, json_t **ret,
		     struct fz_error *err)
{
	fz_auto(fz_fleet_side_release) struct fz_fleet_side side = { 0 };
	int r = fz_fleet_side_of(what, time(NULL) / 60, &side, err);

	if (!r && side.labels.n)
		r = fz_fail(err, FZ_EUSAGE, "'%s': recordings are not selected by labels", what);
	if (r)
		return r;
	fz_auto(fz_free_ptr) char *query = query_of_side(&side, most);
	return query_list(client, query, ret, err);
}

/* Find the recordings of a service, or the one with that id; there may be none. */
static int find_named(const struct fz_client *client, const char *what, int most, json_t **ret,
		      struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf service = { 0 };
	fz_auto(fz_buf_release) struct fz_buf id = { 0 };
	fz_auto(json_decrefp) json_t *list = NULL;

	fz_buf_printf(&service, "/api/recordings?limit=%d", most);
	add_parameter(&service, "service", what);
	int r = query_list(client, service.p, &list, err);
	if (r)
		return r;
	if (json_array_size(list)) {
		*ret = fz_steal(list);
		return 0;
	}
	fz_buf_str(&id, "/api/recordings?limit=1");
	add_parameter(&id, "id", what);
	return query_list(client, id.p, ret, err);
}

static int find(const struct fz_client *client, const char *what, int most, json_t **ret,
		struct fz_error *err)
{
	fz_auto(json_decrefp) json_t *list = NULL;
	int r = strchr(what, '@') ? find_side(client, what, most, &list, err)
				  : find_named(client, what, most, &list, err);

	if (r)
		return r;
	if (!json_array_size(list))
		return fz_fail(err, FZ_EINPUT,
			       "%s: no such recording on the server; use --list to list them",
			       what);
	*ret = fz_steal(list);
	return 0;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static struct row row_of(const json_t *o)
{
	return (struct row){ .id = text_of(o, "id"),
			     .service = text_of(o, "service"),
			     .version = text_of(o, "version"),
			     .host = text_of(o, "host"),
			     .began = json_integer_value(json_object_get(o, "began")),
			     .bytes = json_integer_value(json_object_get(o, "bytes")) };
}

/* ---- the list ---- */

static void add_time(const struct row *r, const char *format, struct fz_buf *out)
{
	time_t began = (time_t)r->began;
	char text[32] = "-";
	struct tm tm;

	if (gmtime_r(&began, &tm))
		strftime(text, sizeof(text), format, &tm);
	fz_buf_str(out, text);
}

static void add_row(struct fz_table *t, size_t i, const void *arg)
{
	const struct row r = row_of(json_array_get(arg, i));
	fz_auto(fz_buf_release) struct fz_buf began = { 0 };
	fz_auto(fz_free_ptr) char *release = fz_asprintf("%s@%s", r.service, r.version);

	add_time(&r, "%Y-%m-%d %H:%M", &began);
	fz_table_str(t, fz_buf_view(&began));
	fz_table_cell(t, release);
	fz_table_cell(t, r.host);
	fz_table_value(t, (double)r.bytes, "bytes");
	fz_table_cell(t, r.id);
}

/* Ids are not cut: they are needed to fetch the recordings. */
static void print_list(const json_t *list)
{
	static const struct fz_column columns[] = {
		{ .min = 16 },
		{ .gap = 2, .min = 28, .max = 28 },
		{ .gap = 2, .min = 14, .max = 14 },
		{ .align = FZ_RIGHT, .gap = 2, .min = 10 },
		{ .gap = 2 },
	};
	struct fz_style style = fz_style_of(STDOUT_FILENO, FZ_COLOR_NEVER);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };
	struct fz_table t;

	fz_table_init(&t, columns, FZ_ARRAY_LEN(columns), &style, &text);
	fz_table_rows(&t, json_array_size(list), add_row, list);
	fz_cli_print(fz_buf_view(&text));
}

static int show_all(const struct fz_client *client, char **names, int n, struct fz_error *err)
{
	int most = number ? number : LIST_DEFAULT, r = 0;

	for (int i = 0; !r && i < n; i++) {
		fz_auto(json_decrefp) json_t *list = NULL;
		r = find(client, names[i], most, &list, err);
		print_list(list);
	}
	if (n)
		return r;
	fz_auto(fz_free_ptr) char *query = fz_asprintf("/api/recordings?limit=%d", most);
	fz_auto(json_decrefp) json_t *list = NULL;
	r = query_list(client, query, &list, err);
	if (!r && !json_array_size(list))
		fz_cli_note("pull: no recordings on the server");
	print_list(list);
	return r;
}

/* ---- fetching ---- */

/* Append a part of a file name, so that it can neither contain a path nor hide the file. */
static void add_name(struct fz_buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.";
	enum { PART = 40 };

	for (size_t i = 0; text[i] && i < PART; i++)
		fz_buf_char(out,
			    strchr(plain, text[i]) && (out->n || text[i] != '.') ? text[i] : '_');
}

/* The first suffix of its format; "" if it has none. */
static struct fz_str suffix_of(const struct fz_buf *bytes)
{
	fz_auto(fz_input_closep) struct fz_input *in = NULL;
	const struct fz_format *f;

	if (fz_input_open_memory(bytes->p, bytes->n, "", &in, NULL) ||
	    fz_format_recognise(in, &f, NULL))
		return FZ_STR("");
	struct fz_str suffixes = fz_str_of(f->suffixes ? f->suffixes : "");
	return fz_str_take_word(&suffixes);
}

/* "api-1.4-20261125-1754-1f0a33c2.fz"; the last part distinguishes recordings of the same minute.
 * The caller frees. */
static char *name_of(const struct row *r, const struct fz_buf *bytes)
{
	struct fz_buf out = { 0 };
	struct fz_str suffix = suffix_of(bytes);

	add_name(&out, r->service);
	fz_buf_char(&out, '-');
	add_name(&out, r->version);
	add_time(r, "-%Y%m%d-%H%M", &out);
	fz_buf_printf(&out, "-%08x%.*s", (unsigned)fz_hash_bytes(r->id, strlen(r->id)),
		      (int)suffix.n, suffix.p);
	return fz_buf_take(&out);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return path[0] &&
	       (path[strlen(path) - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)));
}

static int write_bytes(const char *path, const struct fz_buf *bytes, struct fz_error *err)
{
	fz_auto(fz_output_abortp) struct fz_output *out = NULL;
	int r = fz_output_open(path, &out, err);

	if (r)
		return r;
	fz_output_add(out, bytes->p, bytes->n);
	return fz_output_close(fz_steal(out), err);
}

static int fetch(const struct fz_client *client, const struct row *r, bool several,
		 struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf query = { 0 };
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };

	fz_buf_str(&query, "/api/recording?id=");
	fz_buf_uri_part(&query, fz_str_of(r->id));
	fz_cli_busy("fetching %s@%s, %s", r->service, r->version, r->id);
	int rc = fz_client_request(client, query.p, NULL, &bytes, err);
	fz_cli_busy_end();
	if (rc)
		return rc;
	fz_auto(fz_free_ptr) char *name = name_of(r, &bytes);
	bool in_folder = output && (several || is_folder(output));
	fz_auto(fz_free_ptr) char *path =
		in_folder ? fz_asprintf("%s/%s", output, name) : fz_strdup(output ? output : name);
	if (in_folder)
		rc = fz_make_output_folder(output, err);
	if (!rc)
		rc = write_bytes(path, &bytes, err);
	if (!rc && strcmp(path, "-") != 0)
		printf("%s\n", path);
	return rc;
}

static int fetch_all(const struct fz_client *client, char **names, int n, struct fz_error *err)
{
	int most = number ? number : 1, r = 0;
	bool several = n > 1 || most > 1;

	if (several && output && strcmp(output, "-") == 0)
		return fz_fail(err, FZ_EUSAGE,
			       "-o - allows only one recording; specify a folder for several");
	for (int i = 0; !r && i < n; i++) {
		fz_auto(json_decrefp) json_t *list = NULL;
		r = find(client, names[i], most, &list, err);
		for (size_t k = 0; !r && k < json_array_size(list); k++) {
			struct row row = row_of(json_array_get(list, k));
			r = fetch(client, &row, several, err);
		}
	}
	return r;
}

static int pull(char **names, int n, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *token = NULL;
	int r = fz_cli_fleet_token(&fleet, &token, err);
	fz_auto(fz_connection_close) struct fz_connection connection = { 0 };
	const struct fz_client client = { .server = fleet.server,
					  .token = token,
					  .connection = &connection };

	if (r)
		return r;
	return list_only || !n ? show_all(&client, names, n, err)
			       : fetch_all(&client, names, n, err);
}

#endif

static int run(struct fz_opt_state *state)
{
	if (!fleet.server)
		return fz_cli_errorf("pull: --server URL is required");
	return fz_cli_fleet_do("pull", FZ_CLI_FLEET_WORK(pull), state);
}

const struct fz_command fz_command_pull = {
	.name = "pull",
	.summary = "list and fetch recordings from a server",
	.usage = "[options] [SERVICE[@VERSION] | ID]...",
	.examples = "  $ fizeau pull --server http://localhost:4999          # list all\n"
		    "  $ fizeau pull --server http://localhost:4999 api@1.4  # fetch the latest of "
		    "this release\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = run,
};
