/* SPDX-License-Identifier: MIT */
/* A made-up fleet that pushes: hosts and functions with deviations of their own, minutes that
 * remember the ones before, more to do in one minute than in another. */
#pragma once

#include <math.h>

#include "fleet/fleet.h"

enum {
	SIM_FUNCTIONS = 15,
	SIM_STARTING = 3 /* minutes */,
	SIM_START = 29000000 /* minutes since 1970 */
};

struct sim {
	const char *name;
	int hosts, minutes;
	bool same_hosts;  /* both sides ran on them */
	double host_sd;   /* of a function's cost on a host */
	double minute_sd; /* and from minute to minute, with this correlation */
	double memory;
	double samples;    /* a cell, on average */
	double stalls;     /* of a clock: how many a cell, each of 150 samples somewhere */
	double restart_sd; /* of a function's cost on a host, for as long as a release runs there */
	double load_sd;    /* of how much there is to do, from host to host and minute to minute */
	int start;         /* minutes after SIM_START */
	int every;         /* minutes between cells; 0: 1 */
	double daily;    /* how much a function's cost changes with the time of day, on all hosts */
	double weekend;  /* and at weekends */
	int rolls;       /* minutes from one host's start to the next one's, all end together */
	double starting; /* how much more function 5 costs in the first 3 minutes of a host */
};

static uint64_t sim_state = 1;

static double sim_uniform(void)
{
	uint64_t z = sim_state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double sim_normal(void)
{
	return sqrt(-2 * log(sim_uniform())) * cos(6.283185307179586 * sim_uniform());
}

static int64_t sim_poisson(double mean)
{
	if (mean > 50)
		return (int64_t)FZ_MAX(0, mean + sqrt(mean) * sim_normal() + 0.5);
	int64_t n = 0;
	for (double p = sim_uniform(); p > exp(-mean); p *= sim_uniform())
		n++;
	return n;
}

/* main, and below it functions, each with 0.8 of the cost of the previous one; the last two hardly
 * ever run. */
static struct fz_profile *sim_profile(struct fz_fleet_node nodes[SIM_FUNCTIONS + 1])
{
	struct fz_profile *p = fz_profile_new();

	for (uint32_t i = 0; i <= SIM_FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), i ? "f%u" : "main", i);
		nodes[i].parent = i ? 0 : FZ_NONE;
		nodes[i].function = fz_profile_function(
			p, &(struct fz_function){ .name = fz_profile_string(p, fz_str_of(name)),
						  .file = fz_profile_string(p, FZ_STR("app.py")),
						  .first_line = (int32_t)i + 1 });
	}
	return p;
}

static double sim_share(uint32_t function)
{
	double rare = function + 2 > SIM_FUNCTIONS ? 0.01 : 1;

	return rare * 0.2 * pow(0.8, function - 1) / (1 - pow(0.8, SIM_FUNCTIONS));
}

/* How much more or less a function costs at some time, as a logarithm. */
static double sim_pattern(const struct sim *sim, uint32_t function, int64_t minute)
{
	double day = (double)(minute % 1440) / 1440;
	bool weekend = minute / 1440 % 7 >= 5;

	return sim->daily * sin(6.283185307179586 * (day + 0.13 * function)) +
	       (weekend ? function % 2 ? sim->weekend : -sim->weekend : 0);
}

/* What one host pushes for a side; slower: how much more function 3 (13 %) costs. */
static void sim_host(const struct sim *sim, double slower, uint64_t host, uint64_t minutes,
		     struct fz_fleet_batch *b)
{
	double own[SIM_FUNCTIONS + 1], now[SIM_FUNCTIONS + 1];

	sim_state = fz_hash64(host);
	double load = exp(sim->load_sd * sim_normal());
	for (uint32_t f = 1; f <= SIM_FUNCTIONS; f++)
		own[f] = sim->host_sd * sim_normal() + (f == 3 ? log1p(slower) : 0);
	sim_state = fz_hash64(minutes);
	for (uint32_t f = 1; f <= SIM_FUNCTIONS; f++)
		own[f] += sim->restart_sd * sim_normal();
	for (uint32_t f = 1; f <= SIM_FUNCTIONS; f++)
		now[f] = sim->minute_sd * sim_normal();
	b->value_n = 0;
	for (uint32_t m = 0; m < (uint32_t)sim->minutes; m++) {
		double much = sim->samples * load * exp(sim->load_sd * sim_normal());

		int64_t minute = SIM_START + sim->start + (int64_t)m * FZ_MAX(sim->every, 1);
		b->cells[m] =
			(struct fz_fleet_cell){ .minute = minute,
						.exposure = { .wall_ns = 60000000000, .lost = 1 } };
		uint32_t stall = sim_uniform() < sim->stalls
					 ? 1 + (uint32_t)(sim_uniform() * SIM_FUNCTIONS)
					 : 0;

		for (uint32_t f = 1; f <= SIM_FUNCTIONS; f++) {
			bool starts = f == 5 && m < SIM_STARTING;
			int64_t n = (f == stall) * 150;

			n += sim_poisson(much * sim_share(f) * (1 + starts * sim->starting) *
					 exp(own[f] + now[f] + sim_pattern(sim, f, minute)));

			now[f] =
				sim->memory * now[f] +
				sim->minute_sd * sqrt(1 - sim->memory * sim->memory) * sim_normal();
			b->cells[m].exposure.samples += n;
			b->cells[m].exposure.cpu_ns += n * 10000000;
			if (n)
				b->values[b->value_n++] =
					(struct fz_fleet_value){ m, f, n * 10000000, n };
		}
	}
	b->cell_n = (uint32_t)sim->minutes;
}

/* What is pushed together. */
enum { SIM_GROUP = 20 };
struct sim_group {
	struct sim_host_push {
		char *host, *id;
		struct fz_fleet_push push;
		struct fz_fleet_batch batch;
		struct fz_fleet_item item;
	} of[SIM_GROUP];
	size_t n;
};

static int sim_push_group(struct fz_fleet *f, struct sim_group *g, struct fz_error *err)
{
	struct fz_fleet_item *items[SIM_GROUP];
	int r = 0;

	for (size_t i = 0; i < g->n; i++) {
		g->of[i].item =
			(struct fz_fleet_item){ .push = &g->of[i].push, .batch = &g->of[i].batch };
		items[i] = &g->of[i].item;
	}
	fz_fleet_put_all(f, items, g->n);
	for (size_t i = 0; i < g->n; i++) {
		if (!r && items[i]->result) {
			r = items[i]->result;
			*err = items[i]->err;
		}
		free(g->of[i].host);
		free(g->of[i].id);
	}
	g->n = 0;
	return r;
}

static const char *sim_project = "p";

/* Push a release of a service "s". A host's own deviations are those of its seed. */
static int sim_push(struct fz_fleet *f, const struct sim *sim, const char *version, bool head,
		    uint64_t seed, double slower, struct fz_error *err)
{
	struct fz_fleet_node nodes[SIM_FUNCTIONS + 1];
	struct fz_profile *p = sim_profile(nodes);
	struct fz_fleet_kind kind = { .metric = FZ_STR("cpu"),
				      .unit = FZ_STR("ns"),
				      .clock = FZ_STR(""),
				      .features = -1,
				      .interval_ns = 10000000,
				      .main = true };
	struct sim_group *g = fz_calloc(1, sizeof(*g));
	size_t minutes = (size_t)sim->minutes;
	int r = 0;

	for (size_t i = 0; i < SIM_GROUP; i++)
		g->of[i].batch = (struct fz_fleet_batch){
			.profile = p,
			.kinds = &kind,
			.kind_n = 1,
			.nodes = nodes,
			.node_n = SIM_FUNCTIONS + 1,
			.cells = fz_calloc(minutes, sizeof(struct fz_fleet_cell)),
			.values = fz_calloc(minutes * SIM_FUNCTIONS, sizeof(struct fz_fleet_value)),
		};
	for (int h = 0; !r && h < sim->hosts; h++) {
		struct sim_host_push *to = &g->of[g->n++];
		bool other = head && !sim->same_hosts;

		to->host = fz_asprintf("%s%d", other ? "new" : "old", h);
		to->id = fz_asprintf("%s-%s-%d", version, to->host, sim->start);
		to->push =
			(struct fz_fleet_push){ sim_project, "s", version, to->host, "", to->id };
		/* The same host has the same deviations; its minutes are others. */
		uint64_t stream = seed * 4000 + (uint64_t)h;
		struct sim own = *sim;
		own.start += h * sim->rolls;
		own.minutes -= h * sim->rolls;
		sim_host(&own, slower, stream + (other ? 1000 : 0), stream + (head ? 3000 : 2000),
			 &to->batch);
		if (g->n == SIM_GROUP || h == sim->hosts - 1)
			r = sim_push_group(f, g, err);
	}
	for (size_t i = 0; i < SIM_GROUP; i++) {
		free(g->of[i].batch.cells);
		free(g->of[i].batch.values);
	}
	free(g);
	fz_profile_free(p);
	return r;
}
