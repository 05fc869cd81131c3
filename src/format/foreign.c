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

static const struct magic magics[] = {
	{ MAGIC("SIMPLEPERF"),
	  { "a recording of simpleperf", "gecko_profile_generator.py -i FILE >FILE.json" } },
	{ MAGIC("v 1"), { "a recording of heaptrack", "heaptrack_print FILE -F FILE.folded" } },
	{ MAGIC("goroutine "),
	  { "a dump of Go's goroutines", "?debug=1 instead of 2 writes a readable format" } },
	{ MAGIC("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), LEGACY_PPROF },
	{ MAGIC("\x04\x22\x4d\x18"), { "packed by lz4", "lz4 -d FILE" } },
	{ MAGIC("memray"), { "a recording of memray", "memray transform speedscope FILE" } },
	{ MAGIC("PAR1"),
	  { "a Parquet table, as Pyroscope stores profiles",
	    "profilecli query profile --output pprof=FILE.pb.gz" } },
	{ MAGIC("gmon"), { "a file of gprof", "gprof PROGRAM FILE shows it" } },
	{ MAGIC("v8-version,"), { "a log of V8", "node --cpu-prof records a readable format" } },
};

static const struct {
	const char *key; /* of the outermost object */
	struct fz_foreign is;
} keys[] = {
	{ "elapsed_time_sec", { "a profile of scalene", "no converter exists" } },
};

const struct fz_foreign *fz_foreign_recognise(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(magics); i++)
		if (n >= magics[i].n && memcmp(head, magics[i].bytes, magics[i].n) == 0)
			return &magics[i].is;
	for (size_t i = 0; i < FZ_ARRAY_LEN(keys); i++)
		if (fz_jsonread_has_key(head, n, 1, keys[i].key))
			return &keys[i].is;
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
