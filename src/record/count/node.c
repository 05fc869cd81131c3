/* SPDX-License-Identifier: MIT */
/* Options that make V8 deterministic; see node.h. */
#include "record/count/node.h"

#include "base/buf.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const fz_counter_node_flags[FZ_NODE_FLAGS] = {
	/* optimising compilers would run in threads, at random times */
	"--no-opt",
	"--no-sparkplug",
	"--single-threaded",
	"--predictable",
	"--predictable-gc-schedule",
	/* V8 up to 10 (Node 18) would leave part of each collection to a worker */
	"--v8-pool-size=0",
	/* a collection before a body would drop code that was not called lately */
	"--no-flush-bytecode",
	"--hash-seed=1",
	"--random-seed=1",
	/* each function gets its own code, and a line in /tmp/perf-PID.map */
	"--interpreted-frames-native-stack",
	"--perf-basic-prof",
	/* its log goes to a temporary file, not to the current folder */
	"--no-logfile-per-isolate",
	"--logfile=+",
	/* for harnesses that collect garbage before they measure */
	"--expose-gc",
	/* for CodSpeed's, which ask V8 to optimise a body (no effect here) */
	"--allow-natives-syntax",
};

bool fz_counter_is_node(const char *program)
{
	struct fz_str base = fz_path_base(fz_str_of(program));

	return fz_str_eq(base, FZ_STR("node")) || fz_str_eq(base, FZ_STR("nodejs"));
}

static void write_script(const char *node, struct fz_buf *out)
{
	fz_buf_str(out, "#!/bin/sh\nexec '");
	for (const char *p = node; *p; p++)
		if (*p == '\'')
			fz_buf_str(out, "'\\''");
		else
			fz_buf_char(out, *p);
	fz_buf_char(out, '\'');
	for (size_t i = 0; i < FZ_NODE_FLAGS; i++)
		fz_buf_printf(out, " %s", fz_counter_node_flags[i]);
	fz_buf_str(out, " \"$@\"\n");
}

int fz_counter_node_offer(struct fz_environ *e, const char *folder, struct fz_error *err)
{
	fz_auto(fz_free_ptr) char *node = fz_find_on_path("node");
	fz_auto(fz_buf_release) struct fz_buf script = { 0 };
	fz_auto(fz_close_fd) int fd = -1;

	if (!node)
		return 0;
	fz_auto(fz_free_ptr) char *path = fz_asprintf("%s/node", folder);
	write_script(node, &script);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0 || !fz_write_full(fd, script.p, script.n))
		return fz_fail_errno(err, "%s", path);
	fz_environ_prepend(e, "PATH", folder, ':');
	return 0;
}
