/* SPDX-License-Identifier: MIT */
/* One ELF file that is mapped into a process: who it is, how to unwind its code, where its
 * functions begin.
 *
 * Addresses are those in the file (virtual addresses of its segments); what is mapped is found by
 * its offset in the file. The file is kept open, so it can still be read when it was replaced or
 * deleted meanwhile. Whatever is in it is untrusted.
 */
#pragma once

#include "base/base.h"
#include "base/error.h"

struct fz_image;

/* Takes the file over, also on failure. path: as the process maps it, for names only. */
int fz_image_open(int fd, const char *path, struct fz_image **ret, struct fz_error *err);
void fz_image_free(struct fz_image *image);
int fz_image_fd(const struct fz_image *image);
/* The path and, behind a space, the build id if it has one: fz_function.module. */
const char *fz_image_module(const struct fz_image *image);
/* File name part of the path. */
const char *fz_image_name(const struct fz_image *image);
const char *fz_image_path(const struct fz_image *image);
/* Address of what lies at an offset in the file. False: at none. */
bool fz_image_address(const struct fz_image *image, uint64_t offset, uint64_t *ret);
/* Where the function around an address begins, from the table of the unwinder, which stripping
 * leaves in place. False when it is not listed. */
bool fz_image_function_start(struct fz_image *image, uint64_t address, uint64_t *ret);
/* Range of the symbol with this name, from all symbol tables. */
bool fz_image_symbol(struct fz_image *image, const char *name, uint64_t *ret_lo, uint64_t *ret_hi);

/* ---- unwinding ---- */

/* Registers are numbered as DWARF does for the machine. */
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
	FZ_RULE_EXPRESSION, /* saved where an expression says */
};

struct fz_rule {
	uint8_t kind, reg;
	uint16_t op_n;
	int32_t offset;
	const void *ops; /* Dwarf_Op[op_n] */
};

enum { FZ_ROW_RULES_MAX = 16 };

/* How to get from the registers at an address to those of the caller. Registers without a rule
 * are the caller's already. */
struct fz_row {
	bool known;
	bool signal_frame; /* the caller was interrupted, it did not call */
	bool outermost;    /* the return address is undefined: there is no caller */
	uint8_t cfa_reg, rule_n;
	uint16_t cfa_op_n; /* 0: the CFA is cfa_reg + cfa_offset */
	int32_t cfa_offset;
	const void *cfa_ops;
	struct fz_rule rules[FZ_ROW_RULES_MAX];
};

/* `known` is false when the file says nothing about that address. What the row points to lives as
 * long as the image. */
void fz_image_row(struct fz_image *image, uint64_t address, struct fz_row *ret);
