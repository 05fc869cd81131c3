/* SPDX-License-Identifier: MIT */
/* Hand-made traces of PyTorch's profiler in Kineto's layout: GPU work goes below the operator that
 * launched it, and steps become runs. */
#include "read_format.h"

#define HEAD "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":["
#define X(cat, name, pid, tid, ts, dur, args)                                                  \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}},"
#define TAIL                                                                                      \
	"{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":0,\"dur\":9,\"pid\":\"Spans\",\"tid\":\"PyTorch " \
	"Profiler\",\"name\":\"PyTorch Profiler (0)\"}]}"

#define CPU(cat, name, ts, dur, args) X(cat, name, "70", "71", ts, dur, args)
#define GPU(cat, name, ts, dur, args) X(cat, name, "0", "7", ts, dur, args)

/* A module of 100 us with an operator of 40, which launches a kernel that ends after both. */
#define ONE_STEP                                                                           \
	CPU("python_function", "nn.Module: Linear_0", "1000.5", "100", "\"Python id\":1")  \
	CPU("python_function", "torch/nn/functional.py(1501): linear", "1005.5", "80", "") \
	CPU("cpu_op", "aten::mm", "1010.5", "40", "\"External id\":5")                     \
	CPU("cuda_runtime", "cudaLaunchKernel", "1020.5", "10",                            \
	    "\"External id\":5,\"correlation\":9")                                         \
	GPU("kernel", "gemm", "1025.25", "300.125",                                        \
	    "\"External id\":5,\"correlation\":9,\"stream\":7")                            \
	GPU("gpu_memcpy", "Memcpy HtoD", "1400", "8", "\"External id\":5")                 \
	GPU("gpu_memset", "Memset", "1500", "2", "\"correlation\":77")                     \
	GPU("gpu_user_annotation", "part", "1000", "900", "\"External id\":5")             \
	GPU("cuda_sync", "Stream Sync", "1000", "900", "\"correlation\":9")

static void test_tree(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(HEAD ONE_STEP TAIL);

	(void)state;
	assert_string_equal(p->metrics[p->default_metric].name, "gpu");
	assert_string_equal(p->metrics[p->default_metric].unit, "ns");
	assert_int_equal(p->run_count, 1);
	assert_int_equal(cost(p, "gpu", "gemm", false), 300125);
	assert_int_equal(sum_of_metric(p, "gpu"), 310125);
	/* A launch by the runtime belongs to the operator; one without an operator has no caller.
	 */
	assert_int_equal(cost(p, "gpu", "aten::mm", true), 308125);
	assert_int_equal(cost(p, "gpu", "linear", true), 308125);
	assert_int_equal(cost(p, "gpu", "nn.Module: Linear_0", true), 308125);
	assert_int_equal(cost(p, "gpu", "Memset", true), 2000);
	assert_int_equal(cost(p, "gpu", "cudaLaunchKernel", true), 0);
	assert_int_equal(cost(p, "wall", "nn.Module: Linear_0", true), 100000);
	assert_int_equal(cost(p, "wall", "nn.Module: Linear_0", false), 20000);
	assert_int_equal(cost(p, "wall", "linear", false), 40000);
	assert_int_equal(cost(p, "wall", "aten::mm", false), 30000);
	assert_int_equal(cost(p, "wall", "cudaLaunchKernel", false), 10000);
	assert_int_equal(sum_of_metric(p, "wall"), 100000);
}

/* Newer versions write nanoseconds since 1970 in microseconds. */
static void test_exact(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p =
		load_text(HEAD CPU("cpu_op", "a", "1732107141551429.130", "0.980", "")
				  CPU("cpu_op", "b", "1732107141551430.110", "0.049", "") TAIL);

	(void)state;
	assert_int_equal(cost(p, "wall", "a", true), 980);
	assert_int_equal(cost(p, "wall", "a", false), 980);
	assert_int_equal(cost(p, "wall", "b", true), 49);
}

static void test_names(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(HEAD ONE_STEP TAIL);
	bool found = false;

	(void)state;
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct fz_function *f = &p->functions[i];
		if (!fz_str_eq(fz_profile_text(p, f->name), FZ_STR("linear")))
			continue;
		found = true;
		assert_true(
			fz_str_eq(fz_profile_text(p, f->file), FZ_STR("torch/nn/functional.py")));
		assert_int_equal(f->first_line, 1501);
		assert_int_equal(f->kind, FZ_KIND_PYTHON);
	}
	assert_true(found);
}

static int64_t of_run(const struct fz_profile *p, const char *metric, uint16_t run)
{
	uint32_t m = fz_profile_find_metric(p, fz_str_of(metric));
	int64_t sum = 0;

	for (size_t row = 0; row < p->samples.n; row++)
		if ((p->samples.run ? p->samples.run[row] : 0) == run)
			sum += fz_sample_weight(p, m, row);
	return sum;
}

#define STEP(number, ts, dur) \
	CPU("user_annotation", "ProfilerStep#" number, ts, dur, "\"External id\":1")

/* A kernel is of the step that launched it, however late it runs; calls are cut at steps; what lies
 * outside is left out. Times are as large as real ones, where a double has quarters of a us. */
static void test_steps(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		HEAD STEP("8", "1712195495502200", "50") STEP("7", "1712195495502100", "100") CPU(
			"python_function", "train.py(3): main", "1712195495502000", "1000",
			"") CPU("cpu_op", "aten::mm", "1712195495502190", "5.007", "")
			CPU("cuda_runtime", "cudaLaunchKernel", "1712195495502191", "2",
			    "\"correlation\":1") GPU("kernel", "gemm", "1712195495502230", "15.007",
						     "\"correlation\":1")
				CPU("cuda_runtime", "cudaLaunchKernel", "1712195495502210", "2",
				    "\"correlation\":2") GPU("kernel", "relu", "1712195495502260",
							     "3.001", "\"correlation\":2")
					CPU("cuda_runtime", "cudaLaunchKernel", "1712195495502255",
					    "2", "\"correlation\":3")
						GPU("kernel", "late", "1712195495502270", "4",
						    "\"correlation\":3") TAIL);

	(void)state;
	assert_int_equal(p->run_count, 2);
	assert_true(p->recording.complete);
	assert_int_equal(p->recording.duration_ns, 150000);
	assert_int_equal(p->runs[0].duration_ns, 100000);
	assert_int_equal(of_run(p, "wall", 0), 100000);
	assert_int_equal(of_run(p, "wall", 1), 50000);
	assert_int_equal(of_run(p, "gpu", 0), 15007);
	assert_int_equal(of_run(p, "gpu", 1), 3001);
	assert_int_equal(cost(p, "wall", "aten::mm", false), 3007);
	assert_int_equal(cost(p, "gpu", "late", true), 0);
	assert_int_equal(cost(p, "gpu", "main", true), 18008);
	assert_int_equal(cost(p, "wall", "ProfilerStep#7", true), 0);
}

/* Two processes of one file have each step a little apart. */
static void test_steps_of_two(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		HEAD STEP("1", "100", "100") X("user_annotation", "ProfilerStep#1", "80", "81",
					       "103", "100", "") STEP("2", "205", "100")
			X("user_annotation", "ProfilerStep#2", "80", "81", "207", "100", "")
				CPU("cpu_op", "aten::mm", "100", "300", "") TAIL);

	(void)state;
	assert_int_equal(p->run_count, 2);
	assert_int_equal(of_run(p, "wall", 0), 100000);
	assert_int_equal(of_run(p, "wall", 1), 100000);
}

/* Older versions: other categories and keys, and no head. */
static void test_old(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		"{\"traceEvents\":[" CPU("Operator", "aten::mm", "10", "40", "\"external id\":5")
			CPU("Runtime", "cudaLaunchKernel", "20", "10", "\"external id\":5")
				GPU("Kernel", "gemm", "25", "30",
				    "\"external id\":5,\"correlation\":9") "{\"ph\":\"X\",\"ts\":");

	(void)state;
	assert_int_equal(cost(p, "gpu", "aten::mm", true), 30000);
}

/* Invalid times, and an end without an event. */
static void test_odd(void **state)
{
	fz_auto(fz_profile_freep) struct fz_profile *p = load_text(
		HEAD CPU("cpu_op", "bad", "null", "1", "") CPU("cpu_op", "bad", "1", "-1", "")
			CPU("cpu_op", "bad", "1", "\"x\"", "") "7,[],{\"ph\":\"M\"}," CPU(
				"cpu_op", "good", "1", "1", "\"External id\":\"x\"") TAIL);

	(void)state;
	assert_string_equal(p->metrics[p->default_metric].name, "wall");
	assert_int_equal(sum_of_metric(p, "wall"), 1000);
	expect_error(HEAD TAIL, "without operators and kernels");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),         cmocka_unit_test(test_names),
		cmocka_unit_test(test_exact),        cmocka_unit_test(test_steps),
		cmocka_unit_test(test_steps_of_two), cmocka_unit_test(test_old),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
