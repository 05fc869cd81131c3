/* SPDX-License-Identifier: MIT */
/* Links markers of functions that ended a wait. Such a marker has the name, file and first line of
 * the function (profile/waits.h), so it is linked like a function that was renamed or moved.
 */
#include "compare/link_internal.h"
#include "profile/wait_graph.h"

/* The first kind of wait whose waker a marker names ("lock released by"); FZ_WAIT_KINDS if it is
 * not such a marker or names no function. */
static enum fz_wait kind_of_marker(const struct fz_profile *p, const struct fz_function *f)
{
	struct fz_str text = p->strings[f->name];
	enum fz_wait kind = 0;

	if (f->kind != FZ_KIND_MARKER || !p->strings[f->file].n || !text.n)
		return FZ_WAIT_KINDS;
	while (kind < FZ_WAIT_KINDS &&
	       !fz_str_starts((struct fz_str){ text.p + 1, text.n - 1 }, fz_wait_kinds[kind].by))
		kind++;
	return kind;
}

/* Maps names as in markers to the functions of a side. */
static struct fz_map list_functions(const struct fz_linker *l, enum fz_side side)
{
	const struct fz_profile *p = l->d->profile[side];
	struct fz_map found = { 0 };

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		if (f->kind != FZ_KIND_MARKER && l->d->function_of[side][i] != FZ_NONE)
			fz_map_put(&found, fz_wait_ender_key(p->strings[f->name], f),
				   l->d->function_of[side][i]);
	}
	return found;
}

struct waker {
	uint32_t function; /* the head's function for the one it names; FZ_NONE if unknown */
	enum fz_wait kind;
};

static struct waker waker_of(const struct fz_linker *l, uint32_t marker, enum fz_side side,
			     const struct fz_map *functions)
{
	const struct fz_profile *p = l->d->profile[side];
	uint32_t by = l->d->functions[marker].on_side[side];
	const struct fz_function *f = &p->functions[by];
	struct waker w = { FZ_NONE, kind_of_marker(p, f) };

	if (w.kind == FZ_WAIT_KINDS)
		return w;
	uint32_t function =
		fz_map_get(functions, fz_wait_ender_key(fz_wait_ender(p, by, w.kind), f));
	if (function != FZ_NONE)
		w.function = fz_link_known(l, function);
	return w;
}

static uint64_t key_of_waker(const struct waker *w)
{
	return FZ_KEY(w->kind, w->function);
}

void fz_link_wakers(struct fz_linker *l)
{
	struct fz_map functions[FZ_SIDES], bases = { 0 };

	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		functions[side] = list_functions(l, side);
	for (uint32_t f = 0; f < l->n; f++) {
		if (!fz_link_is_orphan(l, f) || fz_link_side(l, f) != FZ_BASE)
			continue;
		struct waker w = waker_of(l, f, FZ_BASE, &functions[FZ_BASE]);
		if (w.function != FZ_NONE)
			fz_map_put(&bases, key_of_waker(&w), f);
	}
	for (uint32_t f = 0; f < l->n; f++) {
		if (!fz_link_is_orphan(l, f) || fz_link_side(l, f) != FZ_HEAD)
			continue;
		struct waker w = waker_of(l, f, FZ_HEAD, &functions[FZ_HEAD]);
		uint32_t base =
			w.function == FZ_NONE ? FZ_NONE : fz_map_get(&bases, key_of_waker(&w));
		if (base == FZ_NONE || !fz_link_is_orphan(l, base))
			continue;
		const struct fz_link *link = &l->d->functions[w.function].link;
		fz_link_pair(l, base, f, link->how, link->score);
	}
	for (enum fz_side side = 0; side < FZ_SIDES; side++)
		fz_map_release(&functions[side]);
	fz_map_release(&bases);
}
