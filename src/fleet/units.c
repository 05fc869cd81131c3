/* SPDX-License-Identifier: MIT */
/* Cells are in order of hosts and minutes, so hosts are found by merging the two sides:
 *
 *   base   a a a b b   d d        a  b  d   on both sides: may be pairs
 *   head   a a   b b c d d              c   on one side
 */
#include "fleet/units.h"

/* Minimum share of each side's work done by hosts on both sides, for pairs and for blocks; and how
 * similarly it must be distributed among them. Hosts differ by a few percent, so a tenth of that is
 * small. */
static const double pairs_least = 0.5, blocks_least = 0.9, alike_least = 0.9;

/* Cells from[side] .. until[side] - 1 of a host; empty if it did not run there. */
struct host {
	uint32_t from[2], until[2];
	double samples[2];
};

struct chooser {
	const struct fz_fleet_found *found[2];
	struct host *hosts;
	uint32_t n, common, cap;
	double all[2], shared[2]; /* samples of a side; of hosts on both sides */
	struct fz_fleet_units *u;
};

/* ---- hosts ---- */

static const char *name_at(const struct fz_fleet_found *found, uint32_t cell)
{
	return found->hosts[found->cells[cell].host];
}

/* Which sides have the next host by name? */
static void next_sides(const struct chooser *k, const uint32_t at[2], bool ret[2])
{
	int order = 0;

	if (at[0] == k->found[0]->cell_n)
		order = 1;
	else if (at[1] == k->found[1]->cell_n)
		order = -1;
	else
		order = strcmp(name_at(k->found[0], at[0]), name_at(k->found[1], at[1]));
	ret[0] = order <= 0;
	ret[1] = order >= 0;
}

static void find_hosts(struct chooser *k)
{
	uint32_t at[2] = { 0, 0 };

	while (at[0] < k->found[0]->cell_n || at[1] < k->found[1]->cell_n) {
		struct host host = { 0 };
		bool has[2];

		next_sides(k, at, has);
		for (int side = 0; side < 2; side++) {
			const struct fz_fleet_cell *cells = k->found[side]->cells;
			uint32_t first = host.from[side] = host.until[side] = at[side];

			for (; has[side] && at[side] < k->found[side]->cell_n &&
			       cells[at[side]].host == cells[first].host;
			     at[side]++)
				host.samples[side] += (double)cells[at[side]].exposure.samples;
			host.until[side] = at[side];
			k->all[side] += host.samples[side];
		}
		fz_push(k->hosts, k->n, k->cap, host);
	}
}

static bool is_common(const struct host *h)
{
	return h->samples[0] > 0 && h->samples[1] > 0;
}

/* Choose by the work of hosts on both sides and its distribution. */
static enum fz_fleet_unit choose(struct chooser *k)
{
	double alike = 0, least;

	for (uint32_t i = 0; i < k->n; i++) {
		if (!is_common(&k->hosts[i]))
			continue;
		k->common++;
		k->shared[0] += k->hosts[i].samples[0];
		k->shared[1] += k->hosts[i].samples[1];
	}
	for (uint32_t i = 0; i < k->n; i++)
		if (is_common(&k->hosts[i])) /* so neither sum is 0 */
			alike += FZ_MIN(k->hosts[i].samples[0] / k->shared[0],
					k->hosts[i].samples[1] / k->shared[1]);
	least = k->shared[1] / FZ_MAX(k->all[1], 1);
	/* A release that is only on some of the hosts so far is compared with these. */
	if (least < blocks_least)
		least = FZ_MIN(least, k->shared[0] / FZ_MAX(k->all[0], 1));
	if (alike < alike_least || least < pairs_least)
		return FZ_FLEET_BY_HOSTS;
	if (k->common >= FZ_FLEET_HOST_PAIRS)
		return FZ_FLEET_BY_PAIRS;
	return least < blocks_least ? FZ_FLEET_BY_HOSTS : FZ_FLEET_BY_BLOCKS;
}

static double enough_of(double samples)
{
	return FZ_MAX(samples / FZ_FLEET_UNITS, FZ_FLEET_UNIT_SAMPLES);
}

/* ---- units ---- */

static void mark(struct chooser *k, const struct host *h, int side, uint32_t unit)
{
	for (uint32_t i = h->from[side]; i < h->until[side]; i++)
		k->u->of[side][i] = unit;
}

/* Add an incomplete unit at the end to the last one. */
static void choose_remainder(struct chooser *k, int side)
{
	uint32_t n = k->u->n[side];

	for (uint32_t i = 0; i < k->found[side]->cell_n; i++)
		if (k->u->of[side][i] != FZ_NONE && k->u->of[side][i] >= n)
			k->u->of[side][i] = FZ_MAX(n, 1) - 1;
	k->u->n[side] = FZ_MAX(n, 1);
}

static void choose_hosts(struct chooser *k)
{
	for (int side = 0; side < 2; side++) {
		double sum = 0;

		k->u->n[side] = 0;
		for (uint32_t i = 0; i < k->n; i++) {
			mark(k, &k->hosts[i], side, k->u->n[side]);
			sum += k->hosts[i].samples[side];
			if (sum < enough_of(k->all[side]))
				continue;
			k->u->n[side]++;
			sum = 0;
		}
		choose_remainder(k, side);
	}
}

static void leave_out(struct chooser *k, const struct host *h)
{
	for (int side = 0; side < 2; side++) {
		mark(k, h, side, FZ_NONE);
		k->u->left_out[side] += h->until[side] > h->from[side];
	}
}

/* Keep only hosts on both sides. */
static void leave_others_out(struct chooser *k)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		if (is_common(&k->hosts[i]))
			k->hosts[kept++] = k->hosts[i];
		else
			leave_out(k, &k->hosts[i]);
	}
	k->n = kept;
}

static void choose_pairs(struct chooser *k)
{
	double sum[2] = { 0, 0 };
	uint32_t n = 0;

	leave_others_out(k);

	for (uint32_t i = 0; i < k->n; i++) {
		const struct host *h = &k->hosts[i];

		for (int side = 0; side < 2; side++) {
			mark(k, h, side, n);
			sum[side] += h->samples[side];
		}
		if (sum[0] < enough_of(k->shared[0]) || sum[1] < enough_of(k->shared[1]))
			continue;
		n++;
		sum[0] = sum[1] = 0;
	}
	for (int side = 0; side < 2; side++) {
		k->u->n[side] = n;
		choose_remainder(k, side);
	}
}

/* End of the cells that must be in one block with cell i: those of the same minute or, from the
 * first that is known only by the hour on, of the same hour. */
static uint32_t end_of_time(const struct fz_fleet_cell *cells, uint32_t i, uint32_t end)
{
	bool by_hour = false;
	uint32_t until = i;

	for (; until < end; until++) {
		bool same = cells[until].minute == cells[i].minute ||
			    (by_hour && cells[until].minute / 60 == cells[i].minute / 60);

		if (!same)
			break;
		by_hour |= cells[until].by_hour;
	}
	return until;
}

/* Divide a host's cells into blocks of similar size, numbered from `first`. False if one would be
 * empty. */
static bool cut(struct chooser *k, const struct host *h, int side, uint32_t blocks, uint32_t first)
{
	const struct fz_fleet_cell *cells = k->found[side]->cells;
	uint32_t last = 0, seen = 0;
	double sum = 0;

	for (uint32_t i = h->from[side], until; i < h->until[side]; i = until) {
		double samples = 0;

		until = end_of_time(cells, i, h->until[side]);
		for (uint32_t j = i; j < until; j++)
			samples += (double)cells[j].exposure.samples;
		double middle = (sum + samples / 2) / h->samples[side];
		uint32_t block = FZ_MIN((uint32_t)(middle * blocks), blocks - 1);
		for (uint32_t j = i; j < until; j++)
			k->u->of[side][j] = first + block;
		seen += samples > 0 && (seen == 0 || block != last);
		last = samples > 0 ? block : last;
		sum += samples;
	}
	return seen == blocks;
}

static void choose_blocks(struct chooser *k)
{
	uint32_t n = 0;

	leave_others_out(k);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct host *h = &k->hosts[i];

		double blocks = FZ_MIN(h->samples[0] / enough_of(k->shared[0]),
				       h->samples[1] / enough_of(k->shared[1]));
		uint32_t b = (uint32_t)FZ_MAX(blocks, 1);
		while (b > 1 && !(cut(k, h, 0, b, n) && cut(k, h, 1, b, n)))
			b--;
		if (b == 1) {
			mark(k, h, 0, n);
			mark(k, h, 1, n);
		}
		n += b;
	}
	k->u->n[0] = k->u->n[1] = n;
}

void fz_fleet_units_of(const struct fz_fleet_found *base, const struct fz_fleet_found *head,
		       struct fz_fleet_units *ret)
{
	static void (*const take[])(struct chooser * k) = {
		[FZ_FLEET_BY_HOSTS] = choose_hosts,
		[FZ_FLEET_BY_PAIRS] = choose_pairs,
		[FZ_FLEET_BY_BLOCKS] = choose_blocks,
	};
	struct chooser k = { .found = { base, head }, .u = ret };

	*ret = (struct fz_fleet_units){ 0 };
	for (int side = 0; side < 2; side++)
		ret->of[side] = fz_calloc(FZ_MAX(k.found[side]->cell_n, 1), sizeof(*ret->of[side]));
	find_hosts(&k);
	ret->kind = choose(&k);
	take[ret->kind](&k);
	fz_assert(ret->kind == FZ_FLEET_BY_HOSTS || ret->n[0] == ret->n[1]);
	ret->hosts = k.common;
	free(k.hosts);
}

void fz_fleet_units_release(struct fz_fleet_units *u)
{
	free(u->of[0]);
	free(u->of[1]);
	*u = (struct fz_fleet_units){ 0 };
}
