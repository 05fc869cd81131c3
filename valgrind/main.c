/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's registration with Valgrind, and its options. */
#include "control.h"
#include "fzcount.h"
#include "instrument.h"

#include "pub_tool_libcprint.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"

struct fzc_options fzc_options = { .python = True };

static Bool process_option(const HChar *arg)
{
	if VG_STR_CLO (arg, "--folder", fzc_options.folder) {
	} else if VG_BOOL_CLO (arg, "--cache", fzc_options.cache) {
	} else if VG_BOOL_CLO (arg, "--memory", fzc_options.memory) {
	} else if VG_BOOL_CLO (arg, "--fixed-random", fzc_options.fixed_random) {
	} else if VG_BOOL_CLO (arg, "--fixed-processor", fzc_options.fixed_processor) {
	} else if VG_BOOL_CLO (arg, "--python", fzc_options.python) {
	} else if VG_BOOL_CLO (arg, "--harnesses", fzc_options.harnesses) {
	} else {
		return False;
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --folder=FOLDER           where to write PID.count\n"
	 "    --cache=no|yes            simulate caches [no]\n"
	 "    --memory=no|yes           follow blocks from their allocation to their end [no]\n"
	 "    --fixed-random=no|yes     give the program the same random bytes in every run [no]\n"
	 "    --fixed-processor=no|yes  show the program the same processor on every machine [no]\n"
	 "    --python=no|yes           follow Python functions [yes]\n"
	 "    --harnesses=no|yes        know the benchmarks of Google Benchmark, criterion, "
	 "divan, bencher and Go [no]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static void start_client(ThreadId tid, ULong blocks)
{
	static Bool started;

	(void)blocks;
	if (!started)
		fzc_control_first_instruction(tid);
	started = True;
	fzc_tree_switch(tid);
}

static void signal_comes(ThreadId tid, Int number, Bool own_stack)
{
	(void)number;
	fzc_tree_signal(tid, own_stack);
}

static void signal_done(ThreadId tid, Int number)
{
	(void)tid, (void)number;
	fzc_tree_signal_done();
}

static void begin(void)
{
	if (!fzc_options.folder)
		VG_(fmsg_bad_option)("--folder", "is required\n");
	fzc_control_init();
}

static void end(Int status)
{
	(void)status;
	fzc_control_end();
}

static void register_tool(void)
{
	VG_(details_name)("fzcount");
	VG_(details_version)(NULL);
	VG_(details_description)("counts instructions in their calling contexts");
	VG_(details_copyright_author)("Copyright (C) the Fizeau authors, GPL-2.0-or-later.");
	VG_(details_bug_reports_to)("the Fizeau project");
	VG_(details_avg_translation_sizeB)(300);
	VG_(basic_tool_funcs)(begin, fzc_instrument, end);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(fzc_control_request);
	VG_(needs_syscall_wrapper)(fzc_control_before, fzc_control_after);
	VG_(track_start_client_code)(start_client);
	VG_(track_pre_thread_ll_exit)(fzc_tree_thread_ended);
	VG_(track_pre_deliver_signal)(signal_comes);
	VG_(track_post_deliver_signal)(signal_done);
	/* Blocks must end at calls, and have an up-to-date stack pointer at their head. */
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_px_file_backed) = VexRegUpdSpAtMemAccess;
	fzc_tree_init();
	fzc_memory_init();
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
