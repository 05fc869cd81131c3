/* SPDX-License-Identifier: MIT */
/* Switch only LC_NUMERIC; character classes stay the same. See numeric.h. */
#include "numeric.h"

#include "base.h"

struct fz_numeric fz_numeric_enter(void)
{
	struct fz_numeric n = { .before = uselocale((locale_t)0) };
	locale_t copy = duplocale(n.before);

	/* newlocale takes over the copy. */
	n.ours = copy ? newlocale(LC_NUMERIC_MASK, "C", copy) : (locale_t)0;
	if (n.ours)
		uselocale(n.ours);
	else if (copy)
		freelocale(copy);
	return n;
}

void fz_numeric_leave(struct fz_numeric *n)
{
	if (!n->ours)
		return;
	uselocale(n->before);
	freelocale(n->ours);
}
