/* SPDX-License-Identifier: MIT */
/* Reading Google Benchmark's times; see bench_times.h.
 *
 *   {"benchmarks": [{"name": "BM_Copy/8", "run_name": "BM_Copy/8", "run_type": "iteration",
 *                    "real_time": 12.5, "time_unit": "ns", ...}, ...]}
 *
 * Means and the like have other run types. If a program was killed, the list is not closed.
 */
#include "bench/bench_times.h"

#include "format/jsonread.h"

#include <unistd.h>

struct visitor {
	fz_bench_google_visit *visit;
	void *arg;
};

static double ns_of_unit(struct fz_str unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

	for (size_t i = 0; i < FZ_ARRAY_LEN(units); i++)
		if (fz_str_eq(unit, fz_str_of(units[i].name)))
			return units[i].ns;
	return 0;
}

static bool take(void *arg, const json_t *v)
{
	struct visitor *to = arg;
	struct fz_str name = fz_jsonread_kstr(v, "run_name");
	struct fz_str type = fz_jsonread_kstr(v, "run_type");
	struct fz_str failed = FZ_STR("");
	double time = fz_jsonread_number(json_object_get(v, "real_time"), -1);
	double ns = time * ns_of_unit(fz_jsonread_kstr(v, "time_unit"));

	if (json_is_true(json_object_get(v, "error_occurred")))
		failed = fz_jsonread_kstr(v, "error_message");
	if (name.n && fz_str_eq(type, FZ_STR("iteration")) && (failed.n || ns > 0))
		to->visit(to->arg, name, ns, failed);
	return true;
}

int fz_bench_google_read(const char *path, fz_bench_google_visit *visit, void *arg,
			 struct fz_error *err)
{
	struct visitor to = { visit, arg };
	struct fz_input *in = NULL;

	if (access(path, R_OK))
		return 0;
	int rc = fz_input_open(path, &in, err);
	if (rc)
		return rc;
	struct fz_jsonread_stream s = { .in = in, .err = err };
	fz_jsonread_each(&s, "benchmarks", take, &to);
	rc = s.code;
	fz_jsonread_stream_release(&s);
	fz_input_close(in);
	return rc;
}
