/* SPDX-License-Identifier: MIT */
/* Incoming profiles: fizeau's own push, and code that all inputs share.
 *
 *   POST /api/push?service=S&version=V&host=H[&id=ID][&label=K=V ...][&start=SECONDS][&keep=yes]
 *                 [&agent=ID]
 *
 * The body is a profile in any supported format, detected from its content.
 */
#include "serve/inputs.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "fleet/sides.h"
#include "serve/routes.h"

static const double NS_MAX = 9e18; /* the year 2255 */

void fz_inputs_answer(struct fz_http_answer *a, const char *status,
		      const struct fz_inputs_member *members, size_t n)
{
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	struct fz_json j;

	fz_json_init(&j, out, 0);
	fz_json_open(&j, '{');
	fz_json_kstr(&j, "status", fz_str_of(status));
	for (size_t i = 0; i < n; i++)
		if (members[i].is_bool)
			fz_json_kbool(&j, members[i].key, members[i].value);
		else
			fz_json_kint(&j, members[i].key, members[i].value);
	fz_json_close(&j, '}');
	a->type = "application/json";
	fz_buf_add(&a->body, fz_output_buffer(out)->p, fz_output_buffer(out)->n);
}

void fz_inputs_report(struct fz_http_answer *a, const struct fz_server_pushed *pushed,
		      const bool *kept)
{
	struct fz_inputs_member members[4] = { { "minutes", pushed->minutes },
					       { "samples", pushed->samples } };
	size_t n = 2;

	if (kept)
		members[n++] = (struct fz_inputs_member){ "kept", *kept, .is_bool = true };
	if (pushed->unlabelled)
		members[n++] = (struct fz_inputs_member){ "unlabelled", pushed->unlabelled };
	fz_inputs_answer(a, pushed->put == FZ_FLEET_STORED ? "stored" : "known", members, n);
}

const char *fz_inputs_text(const struct fz_http_request *q, const char *name)
{
	const char *text = fz_http_parameter(q, name);

	return text ? text : "";
}

int fz_inputs_time(const char *name, const char *text, int64_t *ret, struct fz_error *err)
{
	double v, unit = 1e9;

	if (!*text)
		return 0;
	bool good = fz_parse_decimal(fz_str_of(text), &v) && v >= 1;
	while (good && unit > 1 && v >= 1e11 * (1e9 / unit))
		unit /= 1000;
	if (!good || v * unit > NS_MAX)
		return fz_fail(err, FZ_EUSAGE,
			       "%s: invalid time '%s' (expected seconds since 1970)", name, text);
	*ret = (int64_t)(v * unit);
	return 0;
}

int fz_inputs_check(const struct fz_fleet_push *to, struct fz_error *err)
{
	int r = fz_fleet_check_service(to->service, err);

	if (!r)
		r = fz_fleet_check_version(to->version, err);
	if (!r)
		r = fz_fleet_check_name("host", to->host, err);
	if (!r && *to->id)
		r = fz_fleet_check_name("id", to->id, err);
	return r;
}

/* ---- fizeau push ---- */

/* *ret: keep the body unchanged? */
static int parse_keep(const struct fz_http_request *q, bool *ret, struct fz_error *err)
{
	const char *keep = fz_inputs_text(q, "keep");

	*ret = strcmp(keep, "yes") == 0;
	if (*keep && !*ret)
		return fz_fail(err, FZ_EUSAGE, "keep: invalid value '%.40s' (expected yes)", keep);
	if (*ret && !*fz_inputs_text(q, "id"))
		return fz_fail(err, FZ_EUSAGE, "keep: requires id=ID");
	return 0;
}

static void note_agent(struct fz_server *s, const struct fz_http_request *q,
		       const struct fz_server_pushed *pushed)
{
	const char *agent = fz_inputs_text(q, "agent"), *host = fz_inputs_text(q, "host");

	if (!*agent ||
	    !fz_agents_note(&s->agents, q->project, host, agent, pushed->start_unix_ns / FZ_MINUTE))
		return;
	fz_auto(fz_free_ptr) char *line = fz_asprintf(
		"project %s: two agents push host %s, so its costs count twice; stop one of them, "
		"or start each machine's with a --host of its own",
		q->project, host);
	s->say(line);
}

static int push(struct fz_server *s, const struct fz_http_request *q, struct fz_server_pushed *ret,
		bool *ret_asked, bool *ret_kept, struct fz_error *err)
{
	const char *list[FZ_HTTP_PARAMETERS_MAX];
	size_t n = fz_http_parameters(q, "label", list, FZ_ARRAY_LEN(list));
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_budget_release) struct fz_budget_part memory = fz_server_memory(s);
	struct fz_server_push p = { .to = { .project = q->project,
					    .service = fz_inputs_text(q, "service"),
					    .version = fz_inputs_text(q, "version"),
					    .host = fz_inputs_text(q, "host"),
					    .id = fz_inputs_text(q, "id") },
				    .body = q->body,
				    .memory = &memory };
	int r = fz_inputs_check(&p.to, err);

	if (!r)
		r = fz_fleet_labels(list, n, &labels, err);
	if (!r)
		r = fz_inputs_time("start", fz_inputs_text(q, "start"), &p.start_unix_ns, err);
	if (!r)
		r = parse_keep(q, ret_asked, err);
	p.to.labels = labels.p;
	if (!r)
		r = fz_server_store(s, &p, ret, err);
	if (!r)
		note_agent(s, q, ret);
	/* Do so even if the id was known: an earlier attempt may have failed between the two steps.
	 */
	if (!r && *ret_asked)
		r = fz_server_keep(s, &p, ret, ret_kept, err);
	return r;
}

void fz_answer_push(void *arg, const struct fz_http_request *q, struct fz_http_answer *ret)
{
	struct fz_server_pushed pushed;
	bool asked = false, kept = false;
	struct fz_error err;

	if (push(arg, q, &pushed, &asked, &kept, &err))
		fz_http_refuse(ret, &err);
	else
		fz_inputs_report(ret, &pushed, asked ? &kept : NULL);
}
