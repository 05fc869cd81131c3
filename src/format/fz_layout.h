/* SPDX-License-Identifier: MIT */
/* Definitions shared by reader and writer of .fz; described in docs/format.md.
 *
 *   "\x89FIZEAU\n" version u32 flags u32 | block | block | ...
 *   block: mark[8] type u8 flags u8 0 u16 packed u32 plain u32 check u64 header_check u32 | payload
 *
 * A block only depends on the tables before it, so a reader skips damage by searching for the next
 * mark.
 */
#pragma once

#include "base/io.h"
#include "profile/callgraph.h"

#define FZ_FZ_MAGIC \
	"\x89"      \
	"FIZEAU\n"
#define FZ_FZ_MARK \
	"\xf5"     \
	"FzB\x1a\xd7\x0e\xa9"

enum {
	FZ_FZ_VERSION = 1,
	FZ_FZ_FILE_HEADER = 16,
	FZ_FZ_MARK_SIZE = 8,
	FZ_FZ_BLOCK_HEADER = 32,
	FZ_FZ_PACKED_MAX = 64 << 20, /* payload as stored, and unpacked */
	FZ_FZ_PLAIN_MAX = 256 << 20,
	FZ_FZ_ROWS_MAX = 1 << 16, /* in one block */
	FZ_FZ_PROBES_MAX = 1 << 16,
	FZ_FZ_WAKES_MAX = 1 << 16,
	FZ_FZ_PROBE_QUANTUM = 10000, /* ns: quantum of the times of speed measurements */
	FZ_FZ_COST_QUANTUM = 10,
};

enum fz_file_block {
	FZ_FZ_SETUP = 1, /* metrics and units, before samples; repeated now and then */
	FZ_FZ_TABLES,    /* new strings, functions, frames, stacks, threads */
	FZ_FZ_SAMPLES,
	FZ_FZ_FACTS, /* about the recording; replaces earlier values */
	FZ_FZ_SOURCE,
	FZ_FZ_END,   /* the file is complete */
	FZ_FZ_SPEED, /* measurements of the machine's speed */
	FZ_FZ_GRAPH, /* a part of the recorded call graph */
	FZ_FZ_WAKES, /* wake-ups of threads */
};

/* List in a part of the graph. */
enum fz_file_graph { FZ_FZ_GRAPH_FUNCTIONS, FZ_FZ_GRAPH_SELVES, FZ_FZ_GRAPH_CALLS, FZ_FZ_GRAPHS };

enum fz_file_flag {
	FZ_FZ_ZSTD = 1,
	FZ_FZ_CRITICAL = 128, /* readers that do not know the type must refuse the file */
};

/* Fields of a FACTS block: tag, length, content; unknown ones are skipped. */
enum fz_file_field {
	FZ_FZ_MODE = 1,
	FZ_FZ_FEATURES,
	FZ_FZ_INTERVAL,
	FZ_FZ_DURATION,
	FZ_FZ_PYTHON,
	FZ_FZ_FLAGS,
	FZ_FZ_ERROR_RATE,
	FZ_FZ_MISSED_RATE,
	FZ_FZ_ACHIEVED_HZ,
	FZ_FZ_QUALITY,
	FZ_FZ_SKIPPED_LINES,
	FZ_FZ_FACT,   /* key length, key, value */
	FZ_FZ_RUN,    /* index, start, duration */
	FZ_FZ_THREAD, /* index, main flag, name: changes after the thread was written */
};

enum {
	FZ_FZ_COMPLETE = 1,
	FZ_FZ_RECONSTRUCTED = 2,
	FZ_FZ_UNORDERED = 4,
	FZ_FZ_UNTIMED = 8,
	FZ_FZ_SPANS = 16,
};

/* Rounds to a number of quanta; ties towards 0. */
static inline int64_t fz_file_round_quanta(int64_t ns, int64_t quantum)
{
	int64_t half = quantum / 2, q = ns / quantum, rest = ns % quantum;

	return rest > half ? q + 1 : rest < -half ? q - 1 : q;
}

/* Contents of a GRAPH block: sizes of all lists, number of metrics and those with function totals;
 * then the list, the index of its first entry in this block, the number of entries, and the
 * entries. */
uint32_t fz_file_graph_count(const struct fz_callgraph *g, enum fz_file_graph list);
void fz_file_graph_encode(const struct fz_callgraph *g, enum fz_file_graph list, uint32_t *done,
			  struct fz_buf *out);

/* Writes the number of wakes, then the wakes, with times in quanta. At most FZ_FZ_WAKES_MAX. */
void fz_file_wakes_encode(const struct fz_wakes *w, int64_t quantum, struct fz_buf *out);

int fz_file_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
