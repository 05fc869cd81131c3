/* SPDX-License-Identifier: MIT */
/* Numbers that differ by at most a fraction of the wanted one. Include cmocka.h first. */
#pragma once

#include <math.h>

#define assert_close(got, wanted, relative) check_close(got, wanted, relative, __FILE__, __LINE__)

static inline void check_close(double got, double wanted, double relative, const char *file,
			       int line)
{
	if (fabs(got - wanted) <= relative * fabs(wanted))
		return;
	print_error("%.17g is not %.17g\n", got, wanted);
	_fail(file, line);
}
