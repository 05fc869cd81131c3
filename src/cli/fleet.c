/* SPDX-License-Identifier: MIT */
/* Read releases from a server or from its database file on this machine; see fleet.h. */
#include "cli/fleet.h"

#include <stdlib.h>
#include <time.h>

#include "base/io.h"
#include "base/map.h"
#include "fleet/client.h"
#include "fleet/fold.h"
#include "format/format.h"
#include "serve/serve.h"
#include "bench/checkout.h"
#include "cli/busy.h"

int fz_cli_fleet_add_label(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_fleet *f = opt->value;

	if (f->label_n == FZ_CLI_LABELS_MAX)
		return fz_fail(err, FZ_EUSAGE, "--label: can be given at most %d times",
			       FZ_CLI_LABELS_MAX);
	f->labels[f->label_n++] = text;
	return 0;
}

/* Parse a time before now: "90m", "24h", "7d". */
int fz_cli_fleet_set_since(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	struct fz_cli_fleet *f = opt->value;

	if (fz_parse_ago(fz_str_of(text), opt->long_name[0] == 's' ? &f->since_s : &f->until_s))
		return 0;
	return fz_fail(err, FZ_EUSAGE,
		       "invalid --%s '%s': use a time before now, such as 90m, 24h or 7d",
		       opt->long_name, text);
}

/* Units are binary multiples. */
int fz_cli_spool_set_limit(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	static const char units[] = "KMGT";
	enum { LEAST = 1 << 16 };
	size_t n = strlen(text);
	const char *unit = n > 1 ? strchr(units, text[n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t most = FZ_MIN(UINT64_MAX >> shift, UINT32_MAX), value;

	if (!fz_parse_u64((struct fz_str){ text, n - (unit != NULL) }, most, &value) ||
	    value << shift < LEAST)
		return fz_fail(err, FZ_EUSAGE,
			       "invalid --spool-limit '%s': use a size of at least 64K, such as "
			       "256M or 2G",
			       text);
	*(uint64_t *)opt->value = value << shift;
	return 0;
}

void fz_cli_fleet_notify(void *command, enum fz_notice kind, const char *text)
{
	if (kind == FZ_NOTICE_WARNING)
		fz_cli_warn("%s: %s", (const char *)command, text);
	else
		fz_cli_note("%s: %s", (const char *)command, text);
}

int fz_cli_fleet_missing(struct fz_error *err)
{
	return fz_fail(err, FZ_EUNSUPPORTED,
		       "not available in this build; install the Debian package, or build with "
		       "libsqlite3-dev, libmicrohttpd-dev, libcurl4-openssl-dev and "
		       "libgnutls28-dev installed");
}

int fz_cli_fleet_do(const char *command, fz_cli_fleet_work *work, const struct fz_opt_state *state)
{
	struct fz_error err;
	int r = work ? work(state->arguments, state->argument_count, &err)
		     : fz_cli_fleet_missing(&err);

	if (!r)
		return FZ_EXIT_OK;
	return fz_cli_fail(command, &err);
}

int fz_cli_fleet_token(const struct fz_cli_fleet *f, char **ret, struct fz_error *err)
{
	enum { TOKEN_MAX = 4096 };
	const char *set = getenv("FIZEAU_TOKEN");
	fz_auto(fz_free_ptr) char *text = NULL;
	size_t n;

	if (!f->token_file) {
		*ret = set && *set ? fz_strdup(set) : NULL;
		return 0;
	}
	text = fz_read_small(f->token_file, TOKEN_MAX, &n);
	if (!text)
		return fz_fail_errno(err, "--token-file %s: cannot be read", f->token_file);
	struct fz_str token = fz_str_trimmed((struct fz_str){ text, n });
	if (!token.n)
		return fz_fail(err, FZ_EINPUT, "--token-file %s: file is empty", f->token_file);
	*ret = fz_strndup(token.p, token.n);
	return 0;
}

#ifdef FZ_FLEET

int fz_cli_spool_folder(const struct fz_cli_spool *s, const char *server, const char *whose,
			const char *token, char **ret, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *address = fz_client_url(server, "");
	fz_auto(fz_free_ptr) char *all =
		fz_asprintf("%s\n%s\n%s", address, whose, token ? token : "");
	fz_auto(fz_free_ptr) char *top = NULL;
	int rc = s->folder ? 0 : fz_workspace_cache_folder("spool", &top, err);

	if (!rc)
		*ret = fz_asprintf("%s/%016llx", top ? top : s->folder,
				   (unsigned long long)fz_hash_bytes(all, strlen(all)));
	return rc;
}

static void on_converting(void *arg, int percent)
{
	const char *store = arg;

	if (percent == 0)
		fz_notify_note(&fz_cli_notify,
			       "%s: converting from the layout of an earlier fizeau; it may be "
			       "interrupted and continues the next time",
			       store);
	else if (percent < 100)
		fz_notify_progress(&fz_cli_notify, "%s: %d %% converted", store, percent);
	else
		fz_notify_progress_end(&fz_cli_notify);
}

int fz_cli_fleet_convert(const char *store, struct fz_error *err)
{
	return fz_fleet_convert(store, on_converting, (void *)store, err);
}

static int from_store(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		      struct fz_profile *ret[2], struct fz_error *err)
{
	fz_auto(fz_fleet_closep) struct fz_fleet *store = NULL;
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	int64_t now = time(NULL);
	int r = fz_fleet_labels(f->labels, f->label_n, &labels, err);

	if (!r)
		r = fz_cli_fleet_convert(f->store, err);
	if (!r)
		r = fz_fleet_open(f->store, FZ_FLEET_READ, &store, err);
	if (r)
		return r;
	struct fz_fleet_query q = {
		.project = "default",
		.labels = labels.p,
		.metric = metric,
		.from = f->since_s ? (now - f->since_s) / 60 : 0,
		.until = f->until_s ? (now - f->until_s) / 60 : INT64_MAX,
	};
	return fz_fleet_pair(store, &q, names, ret, err);
}

static void add_parameter(struct fz_buf *out, const char *name, const char *value)
{
	fz_buf_printf(out, "%s=", name);
	fz_buf_uri_part(out, fz_str_of(value));
	fz_buf_char(out, '&');
}

static char *query_of(const struct fz_cli_fleet *f, const char *const names[2], const char *metric)
{
	struct fz_buf out = { 0 };
	int64_t now = time(NULL);

	fz_buf_str(&out, "/api/pair?");
	add_parameter(&out, "base", names[0]);
	add_parameter(&out, "head", names[1]);
	for (size_t i = 0; i < f->label_n; i++)
		add_parameter(&out, "label", f->labels[i]);
	if (metric)
		add_parameter(&out, "metric", metric);
	if (f->since_s)
		fz_buf_printf(&out, "since=%lld&", (long long)(now - f->since_s));
	if (f->until_s)
		fz_buf_printf(&out, "until=%lld&", (long long)(now - f->until_s));
	return fz_buf_take(&out);
}

/* Parse an answer: a line with the size of the base, the base, the head. */
static int parse_pair(struct fz_str answer, const char *server, struct fz_profile *ret[2],
		      struct fz_error *err)
{
	struct fz_str size = fz_str_take_line(&answer);
	uint64_t base;
	int r = 0;

	if (!fz_parse_u64(size, answer.n, &base))
		return fz_fail(err, FZ_EINPUT, "%s: unexpected response: not a pair of releases",
			       server);
	const struct fz_str part[2] = { { answer.p, base }, { answer.p + base, answer.n - base } };
	for (int side = 0; !r && side < 2; side++) {
		fz_auto(fz_input_closep) struct fz_input *in = NULL;

		r = fz_input_open_memory(part[side].p, part[side].n, server, &in, err);
		if (!r)
			r = fz_format_load_input(in, &ret[side], err);
	}
	return r;
}

static int from_server(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		       struct fz_profile *ret[2], struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *token = NULL;
	fz_auto(fz_free_ptr) char *query = query_of(f, names, metric);
	fz_auto(fz_buf_release) struct fz_buf answer = { 0 };
	struct fz_profile *profile[2] = { NULL, NULL };
	int r = fz_cli_fleet_token(f, &token, err);
	struct fz_client client = { .server = f->server, .token = token };

	if (!r)
		r = fz_client_request(&client, query, NULL, &answer, err);
	if (!r)
		r = parse_pair(fz_buf_view(&answer), f->server, profile, err);
	for (int side = 0; side < 2; side++) {
		if (r)
			fz_profile_free(profile[side]);
		else
			ret[side] = profile[side];
	}
	return r;
}

int fz_cli_fleet_load(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		      struct fz_profile *ret[2], struct fz_error *err)
{
	if (!f->server == !f->store)
		return fz_fail(err, FZ_EUSAGE,
			       f->server ? "--server and --store exclude each other"
					 : "--label, --since, --until and --token-file require "
					   "--server URL or --store PATH");
	if (f->store && f->token_file)
		return fz_fail(err, FZ_EUSAGE, "--token-file requires --server");
	fz_cli_busy("reading %s and %s from %s", names[0], names[1],
		    f->server ? f->server : f->store);
	int r = f->server ? from_server(f, names, metric, ret, err)
			  : from_store(f, names, metric, ret, err);
	fz_cli_busy_end();
	return r;
}

int fz_cli_fleet_check_client(struct fz_error *err)
{
	return fz_client_load(err);
}

int fz_cli_fleet_check_server(struct fz_error *err)
{
	return fz_serve_load(err);
}

#else

int fz_cli_fleet_check_client(struct fz_error *err)
{
	return fz_cli_fleet_missing(err);
}

int fz_cli_fleet_check_server(struct fz_error *err)
{
	return fz_cli_fleet_missing(err);
}

int fz_cli_fleet_load(const struct fz_cli_fleet *f, const char *const names[2], const char *metric,
		      struct fz_profile *ret[2], struct fz_error *err)
{
	(void)f;
	(void)names;
	(void)metric;
	(void)ret;
	fz_cli_fleet_missing(err);
	return fz_error_prefix(err, "--server, --store");
}

#endif
