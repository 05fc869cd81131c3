/* SPDX-License-Identifier: MIT */
/* Finding imports that only moved; see import_moves.h.
 *
 *   before   main.py imports a, which imports json     <module> a.py      30 ms
 *   after    main.py imports json, then a              <module> a.py       5 ms, no faster itself
 */
#include "report/import_moves.h"

#include "profile/machinery.h"

#include <math.h>

static bool is_module(const struct fz_diff_function *f)
{
	return fz_str_eq(f->name, FZ_STR("<module>"));
}

/* Flags of functions that only run below the import machinery: modules, and the machinery itself.
 * Adds the change of all imports to *ret_net. Freed by the caller. */
static bool *find_imports(const struct fz_diff *d, double *ret_net)
{
	bool *imports = fz_calloc(d->function_count + 1ul, sizeof(*imports));
	fz_auto(fz_free_ptr) bool *below = fz_calloc(d->node_count + 1ul, sizeof(*below));
	fz_auto(fz_free_ptr) bool *machinery = fz_calloc(d->function_count + 1ul, sizeof(bool));

	for (uint32_t i = 0; i < d->function_count; i++) {
		machinery[i] = fz_machinery_imports(d->functions[i].file);
		imports[i] = machinery[i] || is_module(&d->functions[i]);
	}
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *n = &d->nodes[i];
		bool is_inside = n->parent != FZ_NONE && below[n->parent];
		below[i] = is_inside || machinery[n->function];
		if (!below[i])
			imports[n->function] = false;
		else if (!is_inside)
			*ret_net +=
				fz_diff_delta(d, n->cost.total[FZ_BASE], n->cost.total[FZ_HEAD]);
	}
	return imports;
}

/* Did only the total change, not the self cost? */
static bool is_moved(const struct fz_diff *d, const struct fz_judgement *j, uint32_t function)
{
	const struct fz_diff_cost *cost = &d->functions[function].cost;
	double self = fz_diff_delta(d, cost->self[FZ_BASE], cost->self[FZ_HEAD]);
	double total = fz_diff_delta(d, cost->total[FZ_BASE], cost->total[FZ_HEAD]);

	return d->functions[function].state == FZ_COMMON &&
	       j->total[function].verdict == FZ_VERDICT_CHANGED &&
	       j->self[function].verdict != FZ_VERDICT_CHANGED && 2 * fabs(self) < fabs(total);
}

struct fz_import_moves fz_import_moves_find(const struct fz_diff *d, const struct fz_judgement *j)
{
	struct fz_import_moves moves = { 0 };
	double largest = 0;

	if (d->inverted)
		return moves;
	moves.moved = find_imports(d, &moves.net);
	for (uint32_t i = 0; i < d->function_count; i++) {
		const struct fz_diff_cost *cost = &d->functions[i].cost;
		moves.moved[i] = moves.moved[i] && is_moved(d, j, i);
		if (!moves.moved[i])
			continue;
		moves.n++;
		largest = fmax(largest,
			       fabs(fz_diff_delta(d, cost->total[FZ_BASE], cost->total[FZ_HEAD])));
	}
	/* If imports as a whole cost more or less, their order is not the only cause. */
	if (!moves.n || 2 * fabs(moves.net) > largest) {
		free(moves.moved);
		moves = (struct fz_import_moves){ 0 };
	}
	return moves;
}
