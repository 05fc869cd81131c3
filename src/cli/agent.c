/* SPDX-License-Identifier: MIT */
/* fizeau agent: profile this whole machine and push to a server; see agent/agent.h. */
#include "cli/cli.h"
#include "cli/fleet.h"

#include <limits.h>
#include <unistd.h>

#include "cli/record.h"

enum { RATE = 49, RATE_MAX = 1000, EVERY = 60, EVERY_MAX = 3600 };

static struct fz_cli_fleet fleet;
static struct fz_rate rate = { .micro_hz = RATE * (uint64_t)1000000 };
static double every = EVERY;
static const char *host, *config, *order = "ini,cgroup,command";
static struct fz_cli_spool spool = { "/var/spool/fizeau", FZ_CLI_SPOOL_LIMIT };

/* Parse "90", "90s" or "5m". */
static int set_every(const char *text, const struct fz_opt *opt, struct fz_error *err)
{
	size_t n = strlen(text);
	char unit = n ? text[n - 1] : '\0';
	bool has_unit = unit == 's' || unit == 'm' || unit == 'h';
	double scale = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1, value;

	if (!fz_parse_decimal((struct fz_str){ text, n - has_unit }, &value) || value * scale < 1 ||
	    value * scale > EVERY_MAX)
		return fz_fail(
			err, FZ_EUSAGE,
			"invalid --every '%s': use a duration from 1s to 1h, such as 30s or 5m",
			text);
	*(double *)opt->value = value * scale;
	return 0;
}

static const struct fz_opt option_table[] = {
	FZ_CLI_FLEET_SERVER_ENTRIES(fleet),
	FZ_OPT_HEADING("Sampling"),
	FZ_OPT(CALL, "rate", "HZ", &rate, "samples per second on each busy CPU (default 49)",
	       .short_name = 'r', .call = fz_cli_parse_rate),
	FZ_OPT(CALL, "every", "DURATION", &every, "interval between pushes: 30s, 5m (default 1m)",
	       .call = set_every),
	FZ_OPT_HEADING("Names"),
	FZ_OPT(STRING, "service-by", "RULES", &order,
	       "sources of the service name, tried in order: ini, cgroup, command (default "
	       "ini,cgroup,command)"),
	FZ_OPT(STRING, "config", "FILE", &config,
	       "read [service NAME] sections, which match commands and control groups, from FILE "
	       "(default: ./fizeau.ini, if it exists)"),
	FZ_OPT(STRING, "host", "NAME", &host, "host name to report (default: this machine's)"),
	FZ_OPT(CALL, "label", "KEY=VALUE", &fleet, "attach a label, such as region=eu; repeatable",
	       .call = fz_cli_fleet_add_label),
	FZ_CLI_SPOOL_ENTRIES(spool, "/var/spool/fizeau"),
	{ .kind = FZ_OPT_END },
};

#ifdef FZ_FLEET
#include "agent/agent.h"

static void ready(void)
{
	char text[64];

	fz_cli_note("agent: sampling this machine at %s, pushing to %s",
		    fz_rate_format(rate, text, sizeof(text)), fleet.server);
}

static void print_figures(const struct fz_agent_figures *f)
{
	char samples[FZ_NUMBER_SIZE], windows[FZ_NUMBER_SIZE], pushes[FZ_NUMBER_SIZE];
	char sent[FZ_NUMBER_SIZE], kept[FZ_NUMBER_SIZE], dropped[FZ_NUMBER_SIZE];

	fz_cli_note("agent: %s in %s, %s pushes; %s sent, %s dropped, %s queued",
		    fz_format_plural((int64_t)f->samples, "sample", samples),
		    fz_format_plural((int64_t)f->windows, "window", windows),
		    fz_format_count((int64_t)f->pushes, pushes),
		    fz_format_count((int64_t)f->sent, sent),
		    fz_format_count((int64_t)f->dropped, dropped),
		    fz_format_count((int64_t)f->kept, kept));
}

static int start(char **names, int n, struct fz_error *err)
{
	static char command[] = "agent";
	static const struct fz_notify notify = { .call = fz_cli_fleet_notify, .arg = command };
	fz_auto(fz_buf_release) struct fz_buf labels = { 0 };
	fz_auto(fz_free_ptr) char *token = NULL;
	char name[HOST_NAME_MAX + 1] = "";
	struct fz_agent_figures figures = { 0 };
	struct fz_agent_options o = { .server = fleet.server,
				      .rate = rate,
				      .every_ns = (int64_t)(every * 1e9),
				      .spool = spool.folder,
				      .spool_limit = spool.limit,
				      .config = config,
				      .containers = "/var/lib/docker/containers" };

	(void)names;
	(void)n;
	gethostname(name, sizeof(name) - 1);
	o.host = host ? host : name;
	int r = fz_agent_order_parse(order, &o.order, err);
	if (!r)
		r = fz_fleet_check_name("host", o.host, err);
	if (!r)
		r = fz_fleet_labels(fleet.labels, fleet.label_n, &labels, err);
	if (!r)
		r = fz_cli_fleet_token(&fleet, &token, err);
	o.labels = labels.p;
	o.token = token;
	if (!r)
		r = fz_agent_run(&o, &notify, ready, &figures, err);
	if (!r)
		print_figures(&figures);
	return r;
}

#endif

static int run(struct fz_opt_state *state)
{
	if (state->argument_count)
		return fz_cli_errorf("agent: takes no arguments");
	if (!fleet.server)
		return fz_cli_errorf("agent: --server URL is required");
	if (!rate.micro_hz || rate.micro_hz > RATE_MAX * (uint64_t)1000000)
		return fz_cli_errorf(
			"agent: --rate: the maximum is 1,000 samples per second on each CPU");
	return fz_cli_fleet_do("agent", FZ_CLI_FLEET_WORK(start), state);
}

const struct fz_command fz_command_agent = {
	.name = "agent",
	.summary = "profile this whole machine continuously and push to a server",
	.usage = "--server URL [options]",
	.examples = "  $ fizeau agent --server http://localhost:4999\n"
		    "  $ fizeau agent --server http://fleet:4999 --rate 19 --label region=eu\n",
	.options = option_table,
	.argument = FZ_ARGUMENT_NOTHING,
	.run = run,
};
