/* SPDX-License-Identifier: MIT */
/* Finding start-up and imports in a union tree; see startup.h.
 *
 *   <module> app.py
 *     _find_and_load importlib/_bootstrap.py     <- from here on down
 *       <module> json/__init__.py                   folded
 *       <module> settings.py                        the program's own: never
 *     dumps json/__init__.py                     called by the program too: not folded
 */
#include "report/startup.h"

#include "profile/machinery.h"

bool *fz_startup_functions(const struct fz_diff *d)
{
	bool *machinery = fz_calloc(d->function_count, sizeof(*machinery));
	bool *startup = fz_calloc(d->function_count, sizeof(*startup));
	bool *below = fz_calloc(d->node_count, sizeof(*below));

	for (uint32_t i = 0; i < d->function_count; i++) {
		machinery[i] = fz_machinery_imports(d->functions[i].file);
		startup[i] = fz_machinery_is_library(d->functions[i].file);
	}
	/* in an inverted tree nodes are not below their callers */
	for (uint32_t i = 0; i < d->node_count; i++) {
		const struct fz_diff_node *n = &d->nodes[i];
		below[i] = machinery[n->function] ||
			   (!d->inverted && n->parent != FZ_NONE && below[n->parent]);
		if (!below[i])
			startup[n->function] = false;
	}
	free(below);
	free(machinery);
	return startup;
}
