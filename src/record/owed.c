/* SPDX-License-Identifier: MIT */
/* Time of threads that lost their CPU in the middle of a change; owed.h has the contract. */
#include "record/owed.h"

#include "base/clock.h"

#include <stdlib.h>

#define OWED_MOST (100 * FZ_MS)

void fz_owed_release(struct fz_owed *o)
{
	free(o->ns);
	*o = (struct fz_owed){ 0 };
}

int64_t fz_owed_sum(const struct fz_owed *o)
{
	int64_t sum = 0;

	for (size_t i = 0; i < o->n; i++)
		sum += o->ns[i];
	return sum;
}

int64_t fz_owed_settle(struct fz_owed *o, const struct fz_python_stack *stack, int64_t weight)
{
	while (o->n <= stack->thread)
		fz_push(o->ns, o->n, o->cap, 0);
	int64_t *owed = &o->ns[stack->thread], sum = weight + *owed;

	*owed = stack->midway && sum < OWED_MOST ? sum : 0;
	return sum - *owed;
}
