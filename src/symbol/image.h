/* SPDX-License-Identifier: MIT */
/* An ELF file that is mapped into a process: its identity, unwind tables and starts of functions.
 *
 * Addresses are those in the file (virtual addresses of its segments); mappings refer to offsets in
 * the file. The file stays open, so it can be read even if it was replaced or deleted meanwhile.
 * Its contents are untrusted.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

struct fz_image;

/* Takes ownership of fd, even on failure. path: as mapped by the process, for names only. */
int fz_image_open(int fd, const char *path, struct fz_image **ret, struct fz_error *err);
void fz_image_free(struct fz_image *image);
int fz_image_fd(const struct fz_image *image);
/* The path, a space and the build id if there is one: fz_function.module. */
const char *fz_image_module(const struct fz_image *image);
/* File name part of the path. */
const char *fz_image_name(const struct fz_image *image);
const char *fz_image_path(const struct fz_image *image);
/* Converts an offset in the file to an address; false if it has none. */
bool fz_image_address(const struct fz_image *image, uint64_t offset, uint64_t *ret);
/* Start of the function around an address, from the unwind table, which stripped files also have.
 * False if no function there is listed. */
bool fz_image_function_start(struct fz_image *image, uint64_t address, uint64_t *ret);
/* Range of the symbol with this name, from all symbol tables. */
bool fz_image_symbol(struct fz_image *image, const char *name, uint64_t *ret_lo, uint64_t *ret_hi);

/* ---- unwinding ---- */

/* DWARF register numbers of the machine. */
#if defined(__x86_64__)
enum { FZ_REG_FP = 6, FZ_REG_SP = 7, FZ_REG_RETURN = 16, FZ_REGS = 17 };
#elif defined(__aarch64__)
enum { FZ_REG_FP = 29, FZ_REG_LR = 30, FZ_REG_SP = 31, FZ_REG_RETURN = 32, FZ_REGS = 33 };
#else
#error "native stacks are known for x86-64 and aarch64"
#endif

enum fz_rule_kind {
	FZ_RULE_UNDEFINED,
	FZ_RULE_OFFSET,     /* saved at CFA + offset */
	FZ_RULE_VALUE,      /* is CFA + offset */
	FZ_RULE_EXPRESSION, /* saved at the address of an expression */
};

struct fz_rule {
	uint8_t kind, reg;
	uint16_t op_n;
	int32_t offset;
	const void *ops; /* Dwarf_Op[op_n] */
};

enum { FZ_ROW_RULES_MAX = 16 };

/* Rules for the caller's registers, given those at an address. Registers without a rule are
 * unchanged. */
struct fz_row {
	bool known;
	bool signal_frame; /* the caller was interrupted and did not call */
	bool outermost;    /* the return address is undefined: there is no caller */
	uint8_t cfa_reg, rule_n;
	uint16_t cfa_op_n; /* 0: the CFA is cfa_reg + cfa_offset */
	int32_t cfa_offset;
	const void *cfa_ops;
	struct fz_rule rules[FZ_ROW_RULES_MAX];
};

/* Sets *ret to the row of an address; `known` is false if there is none. Pointers in it are valid
 * as long as the image. */
void fz_image_row(struct fz_image *image, uint64_t address, struct fz_row *ret);
