/* SPDX-License-Identifier: MIT */
/* What reader and writer of .fz share; docs/format.md has the words.
 *
 *   "\x89FIZEAU\n" version u32 flags u32 | block | block | ...
 *   block: mark[8] type u8 flags u8 0 u16 packed u32 plain u32 check u64 header_check u32 | payload
 *
 * Every block stands alone but for the tables before it, so a reader that meets damage looks for
 * the next mark and goes on.
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
	FZ_FZ_LOOKS_MAX = 1 << 16,
	FZ_FZ_WAKES_MAX = 1 << 16,
	FZ_FZ_LOOK_QUANTUM = 10000, /* ns: of times of looks */
	FZ_FZ_COST_QUANTUM = 10,
};

enum fz_file_block {
	FZ_FZ_SETUP = 1, /* metrics and units: must come before samples; repeated now and then */
	FZ_FZ_TABLES,    /* strings, functions, frames, stacks, threads that are new */
	FZ_FZ_SAMPLES,
	FZ_FZ_FACTS, /* about the recording; a later one replaces what it names */
	FZ_FZ_SOURCE,
	FZ_FZ_END,   /* nothing was cut off */
	FZ_FZ_SPEED, /* looks at the machine's speed */
	FZ_FZ_GRAPH, /* a part of the recorded graph of calls */
	FZ_FZ_WAKES, /* which thread let which go on */
};

/* What a part of the graph lists. */
enum fz_file_graph { FZ_FZ_GRAPH_FUNCTIONS, FZ_FZ_GRAPH_SELVES, FZ_FZ_GRAPH_CALLS, FZ_FZ_GRAPHS };

enum fz_file_flag {
	FZ_FZ_ZSTD = 1,
	FZ_FZ_CRITICAL = 128, /* a reader that does not know the type must refuse the file */
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
	FZ_FZ_THREAD, /* index, main flag, name: what was learnt after the thread was written */
};

enum {
	FZ_FZ_COMPLETE = 1,
	FZ_FZ_RECONSTRUCTED = 2,
	FZ_FZ_UNORDERED = 4,
	FZ_FZ_UNTIMED = 8,
	FZ_FZ_SPANS = 16,
};

/* The nearest multiple of the quantum, as how many of it; of two the one nearer to 0. */
static inline int64_t fz_file_round_quanta(int64_t ns, int64_t quantum)
{
	int64_t half = quantum / 2, q = ns / quantum, rest = ns % quantum;

	return rest > half ? q + 1 : rest < -half ? q - 1 : q;
}

/* The number of entries of each list, the metrics' number and which are stated; then a list, the
 * index of its first entry here, how many there are, and they. */
uint32_t fz_file_graph_count(const struct fz_callgraph *g, enum fz_file_graph list);
void fz_file_graph_encode(const struct fz_callgraph *g, enum fz_file_graph list, uint32_t *done,
			  struct fz_buf *out);

/* Their number, then they; times in quanta. At most FZ_FZ_WAKES_MAX. */
void fz_file_wakes_encode(const struct fz_wakes *w, int64_t quantum, struct fz_buf *out);

int fz_file_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
