/* SPDX-License-Identifier: MIT */
/* The table of profile formats: functions that recognise, read and write a file.
 *
 * Adding a format is one file with a `const struct fz_format fz_format_NAME`, one line in the
 * table of format.c, a fuzz target entry and a golden test.
 */
#pragma once

#include "base/io.h"
#include "profile/profile.h"

struct fz_format {
	const char *name;     /* as in --format NAME */
	const char *title;    /* "Tachyon binary" */
	const char *suffixes; /* space separated, with dot: ".bin" */
	const char *notes;    /* data that the format cannot store, on one line; NULL: none */
	/* Confidence that a file has this format, 0 (no) to 100 (magic number), from its first
	 * bytes after decompression and its name. NULL: cannot be read. */
	int (*sniff)(const uint8_t *head, size_t n, const char *name);
	/* Fills an empty profile. On error the profile is in an undefined but freeable state. A
	 * partially readable recording is a success with quality.dropped_bytes set. */
	int (*read)(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
	/* The same without samples and tables, much faster; NULL if not supported. */
	int (*read_facts)(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
	/* NULL: cannot be written. Errors of the output itself surface in fz_output_close. */
	int (*write)(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
	bool binary; /* never written to a terminal */
};

extern const struct fz_format fz_format_fz;      /* native: docs/format.md */
extern const struct fz_format fz_format_tachyon; /* CPython 3.15 .bin */
extern const struct fz_format
	fz_format_collapsed;                    /* Tachyon's collapsed text; reads every dialect */
extern const struct fz_format fz_format_folded; /* plain folded: names only */
extern const struct fz_format fz_format_asprof_page;
extern const struct fz_format fz_format_bcc;
extern const struct fz_format fz_format_bpftrace;
extern const struct fz_format fz_format_pprof;
extern const struct fz_format fz_format_pprof_text;
extern const struct fz_format fz_format_speedscope;
extern const struct fz_format fz_format_cpuprofile;
extern const struct fz_format fz_format_callgrind;
extern const struct fz_format fz_format_perf_data;
extern const struct fz_format fz_format_perf_script;
extern const struct fz_format fz_format_pstats;
extern const struct fz_format fz_format_pyinstrument;
extern const struct fz_format fz_format_pyinstrument_page;
extern const struct fz_format fz_format_rprof;
extern const struct fz_format fz_format_sentry;
extern const struct fz_format fz_format_stackprof;
extern const struct fz_format fz_format_mojo;
extern const struct fz_format fz_format_otlp;
extern const struct fz_format fz_format_tachyon_page;
extern const struct fz_format fz_format_trace;
extern const struct fz_format fz_format_gecko;
extern const struct fz_format fz_format_gprof;
extern const struct fz_format fz_format_importtime;
extern const struct fz_format fz_format_instruments;
extern const struct fz_format fz_format_jfr;
extern const struct fz_format fz_format_kineto;
extern const struct fz_format fz_format_macsample;
extern const struct fz_format fz_format_massif;
extern const struct fz_format fz_format_perfetto;
extern const struct fz_format fz_format_dhat;
extern const struct fz_format fz_format_flamebearer;
extern const struct fz_format fz_format_flamegraph;
extern const struct fz_format fz_format_pyroscope;

/* NULL-terminated, in order of names. */
extern const struct fz_format *const fz_formats[];

const struct fz_format *fz_format_by_name(const char *name);

/* Detects the format of a file without consuming input. */
int fz_format_recognise(struct fz_input *in, const struct fz_format **ret, struct fz_error *err);
/* Recognise and read a profile from a file ("-": standard input). Errors name the file. */
int fz_format_load(const char *path, struct fz_profile **ret, struct fz_error *err);
/* Units for the bare numbers of folded text: "auto", "ns", ...; NULL-terminated. */
extern const char *const fz_number_unit_names[];
/* Index of a unit; 0, "auto", if there is none of that name. */
uint8_t fz_number_unit(struct fz_str name);
/* The same, with the index of the unit of such numbers; other formats have their own units. */
int fz_format_load_numbers(const char *path, unsigned unit, struct fz_profile **ret,
			   struct fz_error *err);
/* Loads facts; samples only if the format has no faster way. */
int fz_format_load_facts(const char *path, struct fz_profile **ret, struct fz_error *err);
int fz_format_load_input(struct fz_input *in, struct fz_profile **ret, struct fz_error *err);
/* The same for a known format. */
int fz_format_load_input_as(struct fz_input *in, const struct fz_format *f, struct fz_profile **ret,
			    struct fz_error *err);
int fz_format_save(const struct fz_profile *p, const struct fz_format *f, const char *path,
		   struct fz_error *err);

/* Readers and writers in files of their own. */
int fz_speedscope_read(struct fz_input *in, struct fz_profile *p, struct fz_error *err);
/* FZ_EUNSUPPORTED if the default metric is not a time. */
int fz_perfetto_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
/* CPython's line-delimited JSON: the cost of each position in the code. */
int fz_jsonl_write(const struct fz_profile *p, struct fz_output *out, struct fz_error *err);
/* For Python's pstats module. Entries are functions, or with per_line lines of functions. */
int fz_pstats_write(const struct fz_profile *p, bool per_line, struct fz_output *out,
		    struct fz_error *err);

/* Whether `more` rows are plausible for the bytes read so far; checked before adding rows, because
 * compressed input can expand to any number. */
static inline bool fz_format_rows_allowed(const struct fz_profile *p, uint64_t more,
					  uint64_t file_bytes)
{
	return p->samples.n + more <= p->limits->free_samples + 64 * file_bytes;
}
