/* SPDX-License-Identifier: MIT */
/* Tables of other profilers' files; see foreign.h. */
#include "foreign.h"

#include "jsonread.h"

#include <ctype.h>

struct magic {
	const char *bytes;
	size_t n;
	struct fz_foreign is;
};
#define MAGIC(bytes) bytes, sizeof(bytes) - 1

#define LEGACY_PPROF                                                       \
	{                                                                  \
		"a profile of gperftools", "pprof -proto FILE >FILE.pb.gz" \
	}

#define JULIA                                                                         \
	{                                                                             \
		"a profile of Julia", "pprof(out=\"FILE.pb.gz\") of PProf.jl writes " \
				      "a readable format"                             \
	}

/* Fizeau unpacked one layer. */
#define PACKED_TWICE                                                     \
	{                                                                \
		"packed twice", "unpack it once with gzip -d or zstd -d" \
	}

static const struct magic magics[] = {
	{ MAGIC("SIMPLEPERF"),
	  { "a recording of simpleperf", "gecko_profile_generator.py -i FILE >FILE.json" } },
	{ MAGIC("v 1"), { "a recording of heaptrack", "heaptrack_print FILE -F FILE.folded" } },
	{ MAGIC("goroutine "),
	  { "a dump of Go's goroutines", "?debug=1 instead of 2 writes a readable format" } },
	{ MAGIC("go 1."),
	  { "an execution trace of Go",
	    "go tool trace -pprof=sched FILE >FILE.pb.gz writes a readable format" } },
	{ MAGIC("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), LEGACY_PPROF },
	{ MAGIC("\x04\x22\x4d\x18"), { "packed by lz4", "lz4 -d FILE" } },
	{ MAGIC("\xfd\x37zXZ"), { "packed by xz", "xz -d FILE" } },
	{ MAGIC("BZh"), { "packed by bzip2", "bzip2 -d FILE" } },
	{ MAGIC("\x1f\x8b\x08"), PACKED_TWICE },
	{ MAGIC("\x28\xb5\x2f\xfd"), PACKED_TWICE },
	{ MAGIC("memray"), { "a recording of memray", "memray transform speedscope FILE" } },
	{ MAGIC("PAR1"),
	  { "a Parquet table, as Pyroscope stores profiles",
	    "profilecli query profile --output pprof=FILE.pb.gz" } },
	{ MAGIC("PeriodType: "),
	  { "the text of pprof -raw", "pprof -proto FILE >FILE.pb.gz writes a readable format" } },
	{ MAGIC("gmon"),
	  { "a recording for gprof", "gprof PROGRAM FILE >FILE.txt writes a readable format" } },
	{ MAGIC("v8-version,"), { "a log of V8", "node --cpu-prof records a readable format" } },
	{ MAGIC("Nettrace"),
	  { "a trace of .NET", "dotnet-trace convert --format Speedscope FILE" } },
	{ MAGIC("PK\3\4"), { "packed by zip", "unzip FILE" } },
	{ MAGIC("NYTProf "), { "a profile of NYTProf", "nytprofcalls FILE >FILE.folded" } },
	{ MAGIC("hdrb"), { "an event log of GHC", "hs-speedscope FILE" } },
	{ MAGIC("JLPROF"), JULIA },
	{ MAGIC("Ftrace!"),
	  { "a recording of uftrace", "uftrace dump --flame-graph -d FOLDER >FILE.folded" } },
	{ MAGIC("SLOW"),
	  { "a method trace of Android",
	    "profiler.firefox.com opens it and saves a readable format" } },
};

static const struct {
	const char *key; /* of the outermost object */
	struct fz_foreign is;
} keys[] = {
	{ "elapsed_time_sec", { "a profile of scalene", "no converter exists" } },
	{ "snapshot", { "a heap snapshot of V8", "node --heap-prof records a readable format" } },
	{ "cost_centres",
	  { "a JSON profile of GHC", "record with +RTS -p, then inferno-collapse-ghcprof" } },
	{ "linux-perf-json-version",
	  { "a JSON file of perf data convert",
	    "perf script -i perf.data >FILE.perf writes a readable format" } },
	{ "main()", { "a profile of XHProf", "no converter exists" } },
	{ "machine_info",
	  { "results of pytest-benchmark", "fizeau ci -- pytest measures and compares them" } },
};

static const struct {
	const char *mark, *and; /* both within one line */
	struct fz_foreign is;
} marks[] = {
	{ "<trace-query-result",
	  "",
	  { "a table of xctrace export", "copy the call tree in Instruments, Edit > Deep Copy" } },
	{ " Time and Allocation Profiling Report ",
	  "",
	  { "a profile of GHC", "inferno-collapse-ghcprof FILE >FILE.folded" } },
	{ "Level,Function Name,Number of Calls,",
	  "",
	  { "a table of Visual Studio", "inferno-collapse-vsprof FILE >FILE.folded" } },
	{ "Overhead ", "Count File:Line", JULIA },
	{ "# Samples: ",
	  " of event ",
	  { "the output of perf report", "perf script >FILE.perf writes a readable format" } },
	{ "TRACE START [",
	  "",
	  { "a trace of Xdebug", "stackcollapse-xdebug.php FILE >FILE.folded" } },
	{ "ncalls  tottime ",
	  "cumtime",
	  { "a table of cProfile", "python -m cProfile -o FILE.pstats writes a readable format" } },
	{ "Timer unit: ", "", { "a table of line_profiler", "fizeau run records lines, too" } },
	{ "flat  flat%   sum%",
	  "cum%",
	  { "a table of pprof", "pprof -proto FILE >FILE.pb.gz writes a readable format" } },
	{ "Function",
	  "CPU Time",
	  { "a table of VTune",
	    "inferno-collapse-vtune --help shows how to export and convert one" } },
	{ "{\"type\":\"meta\",",
	  "\"sample_interval_usec\":",
	  { "a file of CPython's --jsonl, which has no stacks,",
	    "--binary writes a readable format" } },
	{ "`", "+0x", { "stacks of dtrace", "stackcollapse.pl FILE >FILE.folded" } },
};

static bool has_marks(struct fz_str text, const char *mark, const char *and)
{
	while (text.n) {
		struct fz_str line = fz_str_take_line(&text);
		const char *at = memmem(line.p, line.n, mark, strlen(mark));
		if (at && memmem(at, (size_t)(line.p + line.n - at), and, strlen(and)))
			return true;
	}
	return false;
}

const struct fz_foreign *fz_foreign_recognise(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(magics); i++)
		if (n >= magics[i].n && memcmp(head, magics[i].bytes, magics[i].n) == 0)
			return &magics[i].is;
	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++)
		if (fz_jsonread_has_key(head, n, 1, keys[i].key))
			return &keys[i].is;
	for (size_t i = 0; i < FZ_ARRAY_LEN(marks); i++)
		if (has_marks((struct fz_str){ (const char *)head, n }, marks[i].mark,
			      marks[i].and))
			return &marks[i].is;
	return NULL;
}

static bool starts(const uint8_t *head, size_t n, const char *word)
{
	size_t length = strlen(word);

	return n >= length && strncasecmp((const char *)head, word, length) == 0;
}

bool fz_foreign_is_markup(const uint8_t *head, size_t n)
{
	static const char *const words[] = {
		"<html", "<!doctype", "<?xml", "<!--", "<svg", "<head"
	};
	size_t at = 0;

	while (at < n && isspace(head[at]))
		at++;
	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++)
		if (starts(head + at, n - at, words[i]))
			return true;
	bool open = at < n && (head[at] == '{' || head[at] == '[');
	/* "[unknown];main" is a stack. */
	for (at += open; open && at < n && isspace(head[at]); at++)
		;
	return open && at < n && strchr("\"{[]}", head[at]);
}
