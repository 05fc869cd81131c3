/* SPDX-License-Identifier: MIT */
/* Check the options of --system and --pagefaults, which exclude most options for sampling one
 * process. Here, options that were not given have values that users cannot specify. */
#include "cli/system.h"

enum { ENGINE_NONE = -1, RATE = 99, RATE_MAX = 10000 };
#define RATE_NONE UINT64_MAX

void fz_cli_system_begin(struct fz_cli_record *o)
{
	o->how.rate.micro_hz = RATE_NONE;
	o->how.sampled_by = ENGINE_NONE;
}

static int check(const struct fz_cli_record *o, struct fz_error *err)
{
	bool tasks = o->async.mode != FZ_CLI_ASYNC_NOT_GIVEN || o->async.aware || o->async.names;
	bool machine = o->how.machine, growth = o->how.growth;
	bool cpu = o->mode == FZ_CLI_MODE_NONE || fz_cli_mode(o->mode) == FZ_MODE_CPU;
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ machine && growth, "--pagefaults" },
		{ o->how.subprocesses, "--subprocesses" },
		{ growth ? o->mode != FZ_CLI_MODE_NONE : !cpu, "--mode" },
		{ growth && o->clock != FZ_CLOCK_NONE, "--clock" },
		{ machine && o->clock == FZ_CLOCK_WALL, "--clock wall" },
		{ o->how.sampled_by == FZ_ENGINE_READ, "--engine read" },
		{ growth && o->how.rate.micro_hz != RATE_NONE, "--sampling-rate" },
		{ o->how.waits, "--wait" },
		{ o->how.native != FZ_NATIVE_NONE, "--native" },
		{ o->how.opcodes, "--opcodes" },
		{ o->how.blocking, "--blocking" },
		{ tasks, "--async-aware" },
		{ growth && o->live, "--live" },
	};

	for (size_t i = 0; i < FZ_ARRAY_LEN(options); i++)
		if (options[i].given)
			return fz_fail(err, FZ_EUSAGE, "%s cannot be combined with %s",
				       options[i].name, machine ? "--system" : "--pagefaults");
	return 0;
}

static int check_rate(const struct fz_cli_record *o, struct fz_error *err)
{
	if (o->how.rate.micro_hz == 0 || o->how.rate.micro_hz > RATE_MAX * (uint64_t)1000000)
		return fz_fail(
			err, FZ_EUSAGE,
			"--system: the maximum --sampling-rate is 10,000 per second on each CPU");
	return 0;
}

int fz_cli_system_settle(struct fz_cli_record *o, struct fz_error *err)
{
	const struct fz_record_options usual = FZ_RECORD_DEFAULTS;
	bool machine = o->how.machine, kernel = machine || o->how.growth;
	int rc = kernel ? check(o, err) : 0;

	if (o->how.rate.micro_hz == RATE_NONE)
		o->how.rate.micro_hz = machine ? RATE * (uint64_t)1000000 : usual.rate.micro_hz;
	if (!rc && machine)
		rc = check_rate(o, err);
	if (rc)
		return rc;
	if (o->how.sampled_by == ENGINE_NONE)
		o->how.sampled_by = o->how.waits ? FZ_ENGINE_AUTO : usual.sampled_by;
	if (!kernel)
		return 0;
	/* A waiting thread does not grow memory. */
	o->clock = FZ_CLOCK_CPU;
	o->how.sampled_by = FZ_ENGINE_BPF;
	o->how.all_threads = true;
	o->how.no_source = machine || o->how.no_source;
	return 0;
}
