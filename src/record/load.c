/* SPDX-License-Identifier: MIT */
/* What the processors did; see load.h.
 *
 *   /proc/stat           user nice system idle iowait irq softirq steal, of all processors
 *   /proc/PID/schedstat  "ran waited turns" of the first thread, in ns
 *   getrusage            we and our ended children; the calling thread
 *   /proc/PID/stat       what still runs
 *
 * /proc/stat counts ticks of 10 ms each: for a run of 0.1 s on two processors, shares are accurate
 * to 5 %. Our own CPU time is not others' work, so it is added to the program's. Time that the
 * program waited because we sampled it is not a wait for others either; it is at most the CPU time
 * of our thread, which is subtracted.
 */
#include "record/load.h"

#include "base/clock.h"
#include "base/io.h"
#include "record/procstat.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static int64_t ticks_to_ns(unsigned long long ticks)
{
	static const unsigned long long most = INT64_MAX / FZ_SECOND;
	long hertz = sysconf(_SC_CLK_TCK);

	return (int64_t)(FZ_MIN(ticks, most) * (unsigned long long)(FZ_SECOND / FZ_MAX(hertz, 1L)));
}

/* ---- readings ---- */

static bool read_machine(struct fz_load_start *s)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
	size_t n;
	fz_auto(fz_free_ptr) char *text = fz_read_small("/proc/stat", TEXT_MAX, &n);

	if (!text || sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
			    &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
		return false;
	unsigned long long busy = user + nice + system + irq + softirq;
	s->others_ns = ticks_to_ns(busy);
	s->stolen_ns = ticks_to_ns(steal);
	s->machine_ns = ticks_to_ns(busy + idle + iowait + steal);
	return true;
}

bool fz_load_read_waits(pid_t pid, int64_t *ret_ran_ns, int64_t *ret_waited_ns)
{
	long long ran, waited;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, TEXT_MAX, &n);
	if (!text || sscanf(text, "%lld %lld", &ran, &waited) != 2)
		return false;
	*ret_ran_ns = ran;
	*ret_waited_ns = waited;
	return true;
}

static int64_t usage_of(int who)
{
	struct rusage u;

	if (getrusage(who, &u))
		return 0;
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * FZ_SECOND +
	       ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

int64_t fz_load_read_usage(pid_t pid)
{
	struct fz_procstat stat;

	return pid && fz_procstat_read(pid, 0, &stat) ? ticks_to_ns(stat.used) : 0;
}

/* ---- a run ---- */

void fz_load_begin(struct fz_load_start *start, pid_t pid)
{
	*start = (struct fz_load_start){ 0 };
	if (pid)
		fz_load_read_waits(pid, &start->ran_ns, &start->waited_ns);
	start->looked_ns = usage_of(RUSAGE_THREAD);
	start->own_ns = usage_of(RUSAGE_SELF);
	start->used_ns = start->own_ns + usage_of(RUSAGE_CHILDREN) + fz_load_read_usage(pid);
	start->known = read_machine(start);
}

struct fz_load fz_load_end(const struct fz_load_start *start, pid_t pid, int64_t ran_ns,
			   int64_t waited_ns)
{
	struct fz_load_start now = { 0 };
	int64_t own = usage_of(RUSAGE_SELF);
	int64_t used = own + usage_of(RUSAGE_CHILDREN) + fz_load_read_usage(pid) - start->used_ns;
	int64_t looked = usage_of(RUSAGE_THREAD) - start->looked_ns;
	struct fz_load l = { 0 };

	l.ran_ns = FZ_MAX(ran_ns - start->ran_ns, 0);
	l.waited_ns = FZ_MAX(waited_ns - start->waited_ns - looked, 0);
	if (!start->known || !read_machine(&now))
		return l;
	l.used_ns = FZ_MAX(used - (own - start->own_ns), 0);
	l.stolen_ns = FZ_MAX(now.stolen_ns - start->stolen_ns, 0);
	l.machine_ns = FZ_MAX(now.machine_ns - start->machine_ns, 0);
	l.others_ns = FZ_MAX(now.others_ns - start->others_ns - FZ_MAX(used, 0), 0);
	return l;
}
