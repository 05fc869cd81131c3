/* SPDX-License-Identifier: MIT */
/* From records to waits. Each thread has at most one that goes on:
 *
 *   OFF: since, stack, what for  -->  WAKER: who  -->  ON: one sample, and one of waiting for a CPU
 *
 * A thread that wants the GIL asks for it every 5 ms: until the holder lets it go those are parts
 * of one wait, which is known only then.
 */
#include "capture/bpf/waits.h"

#include "base/clock.h"
#include "base/io.h"
#include "capture/engine.h"
#include "capture/process.h"
#include "capture/python/ticks.h"
#include "profile/waits.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { STATE_SLEEPS = 1 | 2, STATE_STOPPED = 4 | 8 };

/* ---- what for ---- */

/* Besides the kinds of waits: by the file that the call's first argument names. */
enum { BY_FILE = FZ_WAIT_KINDS, BY_POLLED, BY_SELECTED };

static const struct {
	int32_t number;
	uint8_t what;
} calls[] = {
	{ SYS_futex, FZ_WAIT_LOCK },
	{ SYS_recvfrom, FZ_WAIT_SOCKET },
	{ SYS_sendto, FZ_WAIT_SOCKET },
	{ SYS_recvmsg, FZ_WAIT_SOCKET },
	{ SYS_sendmsg, FZ_WAIT_SOCKET },
	{ SYS_recvmmsg, FZ_WAIT_SOCKET },
	{ SYS_sendmmsg, FZ_WAIT_SOCKET },
	{ SYS_accept, FZ_WAIT_SOCKET },
	{ SYS_accept4, FZ_WAIT_SOCKET },
	{ SYS_connect, FZ_WAIT_SOCKET },
	{ SYS_read, BY_FILE },
	{ SYS_readv, BY_FILE },
	{ SYS_pread64, BY_FILE },
	{ SYS_preadv, BY_FILE },
	{ SYS_write, BY_FILE },
	{ SYS_writev, BY_FILE },
	{ SYS_pwrite64, BY_FILE },
	{ SYS_pwritev, BY_FILE },
	{ SYS_sendfile, BY_FILE },
	{ SYS_splice, BY_FILE },
	{ SYS_ioctl, BY_FILE },
	{ SYS_fcntl, BY_FILE },
	{ SYS_flock, FZ_WAIT_FILE },
	{ SYS_fsync, FZ_WAIT_FILE },
	{ SYS_fdatasync, FZ_WAIT_FILE },
	{ SYS_sync, FZ_WAIT_FILE },
	{ SYS_syncfs, FZ_WAIT_FILE },
	{ SYS_sync_file_range, FZ_WAIT_FILE },
	{ SYS_ftruncate, FZ_WAIT_FILE },
	{ SYS_fallocate, FZ_WAIT_FILE },
	{ SYS_copy_file_range, FZ_WAIT_FILE },
	{ SYS_openat, FZ_WAIT_FILE },
	{ SYS_newfstatat, FZ_WAIT_FILE },
	{ SYS_statx, FZ_WAIT_FILE },
	{ SYS_getdents64, FZ_WAIT_FILE },
	{ SYS_unlinkat, FZ_WAIT_FILE },
	{ SYS_mkdirat, FZ_WAIT_FILE },
	{ SYS_ppoll, BY_POLLED },
	{ SYS_pselect6, BY_SELECTED },
	{ SYS_epoll_pwait, FZ_WAIT_POLL },
	{ SYS_wait4, FZ_WAIT_CHILD },
	{ SYS_waitid, FZ_WAIT_CHILD },
	{ SYS_clone, FZ_WAIT_CHILD },
	{ SYS_nanosleep, FZ_WAIT_SLEEP },
	{ SYS_clock_nanosleep, FZ_WAIT_SLEEP },
	{ SYS_rt_sigtimedwait, FZ_WAIT_SIGNAL },
	{ SYS_rt_sigsuspend, FZ_WAIT_SIGNAL },
	{ SYS_mmap, FZ_WAIT_MEMORY },
	{ SYS_munmap, FZ_WAIT_MEMORY },
	{ SYS_mprotect, FZ_WAIT_MEMORY },
	{ SYS_madvise, FZ_WAIT_MEMORY },
	{ SYS_brk, FZ_WAIT_MEMORY },
#ifdef SYS_poll /* an older call, which newer machines do without */
	{ SYS_poll, BY_POLLED },
	{ SYS_select, BY_SELECTED },
	{ SYS_epoll_wait, FZ_WAIT_POLL },
	{ SYS_vfork, FZ_WAIT_CHILD },
	{ SYS_pause, FZ_WAIT_SIGNAL },
	{ SYS_open, FZ_WAIT_FILE },
	{ SYS_stat, FZ_WAIT_FILE },
	{ SYS_lstat, FZ_WAIT_FILE },
	{ SYS_unlink, FZ_WAIT_FILE },
	{ SYS_rename, FZ_WAIT_FILE },
	{ SYS_mkdir, FZ_WAIT_FILE },
#endif
};

static enum fz_wait wait_for_file(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFSOCK:
		return FZ_WAIT_SOCKET;
	case S_IFIFO:
		return FZ_WAIT_PIPE;
	case S_IFCHR:
		return FZ_WAIT_DEVICE;
	case 0:
		return mode ? FZ_WAIT_EVENT : FZ_WAIT_OTHER;
	default:
		return FZ_WAIT_FILE;
	}
}

static enum fz_wait wait_in_call(const struct fz_bpf_call *call)
{
	uint8_t what = FZ_WAIT_OTHER;

	for (size_t i = 0; i < FZ_ARRAY_LEN(calls); i++)
		if (calls[i].number == call->number)
			what = calls[i].what;
	if (what == BY_FILE)
		return wait_for_file(call->fd_mode);
	if (what == BY_POLLED && call->args[1] == 1)
		return wait_for_file(call->fd_mode);
	if (what == BY_POLLED)
		return call->args[1] ? FZ_WAIT_POLL : FZ_WAIT_SLEEP;
	if (what == BY_SELECTED)
		return call->args[0] ? FZ_WAIT_POLL : FZ_WAIT_SLEEP;
	return what;
}

static enum fz_wait what_for(const struct fz_python *python, const struct fz_bpf_call *call)
{
	if (call->state & STATE_STOPPED)
		return FZ_WAIT_STOPPED;
	if (!(call->state & STATE_SLEEPS))
		return FZ_WAIT_CPU;
	if (call->number < 0)
		return FZ_WAIT_MEMORY;
	enum fz_wait kind = wait_in_call(call);
	return kind == FZ_WAIT_LOCK && fz_python_ticks_is_gil(python, call->args[0]) ? FZ_WAIT_GIL
										     : kind;
}

/* ---- who ended it ---- */

enum { FUTEX = 1, GIVE = 2, UNLOCK = 4, END = 8, KILL = 16 };

/* Calls that end others' waits; what another call is in the middle of when somebody is woken did
 * not do that: an interrupt did, which came there. */
static const struct {
	int32_t number;
	uint8_t does;
} wakers[] = {
	{ SYS_futex, FUTEX },
	{ SYS_write, GIVE },
	{ SYS_writev, GIVE },
	{ SYS_pwrite64, GIVE },
	{ SYS_sendto, GIVE },
	{ SYS_sendmsg, GIVE },
	{ SYS_sendmmsg, GIVE },
	{ SYS_sendfile, GIVE },
	{ SYS_splice, GIVE },
	{ SYS_connect, GIVE },
	{ SYS_accept, GIVE },
	{ SYS_accept4, GIVE },
	{ SYS_shutdown, GIVE },
	{ SYS_close, GIVE | UNLOCK },
	{ SYS_read, GIVE }, /* there is room to write again */
	{ SYS_readv, GIVE },
	{ SYS_recvfrom, GIVE },
	{ SYS_recvmsg, GIVE },
	{ SYS_flock, UNLOCK },
	{ SYS_fcntl, UNLOCK },
	{ SYS_exit_group, GIVE | UNLOCK | END },
	{ SYS_exit, GIVE | END | FUTEX },
	{ SYS_execve, END },
	{ SYS_kill, KILL },
	{ SYS_tkill, KILL },
	{ SYS_tgkill, KILL },
};

static const uint8_t ended_by[FZ_WAIT_KINDS] = {
	[FZ_WAIT_LOCK] = FUTEX,  [FZ_WAIT_GIL] = FUTEX,    [FZ_WAIT_SOCKET] = GIVE,
	[FZ_WAIT_PIPE] = GIVE,   [FZ_WAIT_POLL] = GIVE,    [FZ_WAIT_FILE] = UNLOCK,
	[FZ_WAIT_DEVICE] = GIVE, [FZ_WAIT_EVENT] = GIVE,   [FZ_WAIT_CHILD] = END,
	[FZ_WAIT_SIGNAL] = KILL, [FZ_WAIT_STOPPED] = KILL,
};

static bool can_end(enum fz_wait kind, int32_t call)
{
	for (size_t i = 0; i < FZ_ARRAY_LEN(wakers); i++)
		if (wakers[i].number == call)
			return wakers[i].does & ended_by[kind];
	return false;
}

/* A marker that says it, at the place where it was done. */
static uint32_t waker_frame(struct fz_profile *p, struct fz_python *python, enum fz_wait kind,
			    const struct fz_bpf_tick *t)
{
	uint32_t frame = t->flags & FZ_BPF_FOREIGN ? FZ_NONE : fz_python_ticks_waker(python, t);
	struct fz_str name = { t->comm, strnlen(t->comm, sizeof(t->comm)) };
	struct fz_function f = { .kind = FZ_KIND_MARKER };
	struct fz_frame place = fz_frame_at(FZ_NONE, FZ_NO_LINE);
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (frame != FZ_NONE) {
		place = p->frames[frame];
		f.file = p->functions[place.function].file;
		f.first_line = p->functions[place.function].first_line;
		name = p->strings[p->functions[place.function].name];
	}
	fz_buf_printf(&text, "<%s %.*s>", fz_wait_kinds[kind].by, (int)name.n, name.p);
	f.name = fz_profile_string(p, fz_buf_view(&text));
	place.function = fz_profile_function(p, &f);
	return fz_profile_frame(p, &place);
}

/* ---- one wait ---- */

struct wait {
	bool open; /* it goes on */
	enum fz_wait kind;
	struct fz_python_stack stack;
	int64_t since;
	int64_t ran;  /* when it was first seen on a CPU since; 0: it was not */
	uint32_t by;  /* frame; FZ_NONE: nobody that we know of */
	int64_t owed; /* of the GIL: ns of earlier parts, with no sample yet */
	int64_t last; /* when it ran again after the last of them */
};

struct fz_bpf_waits {
	struct fz_map threads; /* as the kernel numbers them -> index */
	struct wait *list;
	size_t n, cap;
};

struct fz_bpf_waits *fz_bpf_waits_new(void)
{
	return fz_calloc(1, sizeof(struct fz_bpf_waits));
}

void fz_bpf_waits_free(struct fz_bpf_waits *w)
{
	if (!w)
		return;
	fz_map_release(&w->threads);
	free(w->list);
	free(w);
}

static struct wait *wait_of(struct fz_bpf_waits *w, uint32_t waiter)
{
	uint32_t *slot = fz_map_slot(&w->threads, waiter);

	if (*slot == FZ_NONE) {
		*slot = (uint32_t)w->n;
		fz_grow(w->list, w->n, w->cap);
		w->list[w->n++] = (struct wait){ 0 };
	}
	return &w->list[*slot];
}

static enum fz_oncpu_answer oncpu_of(enum fz_wait kind)
{
	if (kind == FZ_WAIT_CPU)
		return FZ_ONCPU_WAITING;
	return kind == FZ_WAIT_FILE || kind == FZ_WAIT_MEMORY ? FZ_ONCPU_DISK : FZ_ONCPU_NO;
}

static void write_wait(struct fz_sampler *s, const struct wait *wait, enum fz_wait kind,
		       int64_t time, int64_t ns)
{
	struct fz_profile *p = s->profile;
	struct fz_python_stack stack = wait->stack;
	uint32_t frame;

	if (ns <= 0 || p->over_limit)
		return;
	frame = fz_profile_frame_named(p, fz_str_of(fz_wait_kinds[kind].frame), FZ_STR(""),
				       FZ_NO_LINE, FZ_KIND_MARKER);
	stack.stack = fz_profile_stack(p, stack.stack, frame);
	if (kind != FZ_WAIT_CPU && wait->by != FZ_NONE)
		stack.stack = fz_profile_stack(p, stack.stack, wait->by);
	if (kind == FZ_WAIT_CPU)
		stack.rejected = stack.rejected && wait->kind == FZ_WAIT_CPU;
	fz_sampler_write(s, &(struct fz_engine_sample){ .stack = &stack,
							.time = time,
							.weight = ns,
							.oncpu = oncpu_of(kind),
							.cpu = FZ_NONE });
}

/* Parts of a wait for the GIL, of which nobody told the end. */
static void pay(struct fz_sampler *s, struct wait *wait)
{
	if (wait->owed)
		write_wait(s, wait, FZ_WAIT_GIL, wait->last, wait->owed);
	wait->owed = 0;
}

static void begin(struct fz_sampler *s, struct wait *wait, enum fz_wait kind,
		  struct fz_python_stack stack, int64_t since)
{
	if (kind == FZ_WAIT_GIL)
		stack.status =
			(uint8_t)((stack.status & ~FZ_STATUS_HAS_GIL) | FZ_STATUS_GIL_REQUESTED);
	if ((kind != FZ_WAIT_GIL && kind != FZ_WAIT_CPU) || stack.stack != wait->stack.stack)
		pay(s, wait);
	*wait = (struct wait){ .open = true,
			       .kind = kind,
			       .stack = stack,
			       .since = since,
			       .by = FZ_NONE,
			       .owed = wait->owed,
			       .last = wait->last };
}

/* What went on after the recording had ended is none of it. */
static int64_t recorded(const struct fz_sampler *s, int64_t time)
{
	return s->end ? FZ_MIN(time, s->end_time) : time;
}

static void end(struct fz_sampler *s, struct wait *wait, int64_t woken, int64_t now)
{
	now = recorded(s, now);
	woken = recorded(s, woken);
	int64_t until = wait->kind == FZ_WAIT_CPU ? wait->since : woken ? woken : now;
	int64_t ns = until - wait->since;

	wait->open = false;
	if (wait->kind == FZ_WAIT_GIL) {
		wait->owed += ns;
		wait->last = wait->by == FZ_NONE ? now : until;
		if (wait->by != FZ_NONE)
			pay(s, wait);
	} else {
		write_wait(s, wait, wait->kind, until, ns);
	}
	write_wait(s, wait, FZ_WAIT_CPU, now, now - until);
}

static void take_off(struct fz_sampler *s, struct fz_python *python, struct wait *wait,
		     const struct fz_bpf_tick *t)
{
	struct fz_python_stack stack;

	fz_python_ticks_take(python, t, &stack);
	begin(s, wait, what_for(python, &t->call), stack, (int64_t)t->time);
}

void fz_bpf_waits_take(struct fz_bpf_waits *w, struct fz_sampler *s,
		       const struct fz_target_process *p, const struct fz_bpf_tick *t)
{
	struct wait *wait = wait_of(w, t->thread);

	if (t->kind == FZ_BPF_TICK) {
		pay(s, wait);
		wait->ran = wait->ran ? wait->ran : (int64_t)t->time;
	} else if (t->kind == FZ_BPF_OFF) {
		take_off(s, p->target.python, wait, t);
	} else if (wait->open && t->kind == FZ_BPF_ON) {
		end(s, wait, (int64_t)t->woken, (int64_t)t->time);
	} else if (wait->open && can_end(wait->kind, t->call.number)) {
		wait->by = waker_frame(s->profile, p->target.python, wait->kind, t);
	}
}

/* ---- waits that nobody saw begin ---- */

/* As /proc/PID/task/TID/syscall has it: "202 0x7f0c3c0031f0 0x189 ...", "-1 ..." outside of calls,
 * "running". */
static bool read_call(struct fz_process *process, pid_t tid, struct fz_bpf_call *ret)
{
	char path[96];
	struct stat file;
	unsigned long long args[2] = { 0, 0 };
	int number, state = fz_process_thread_state(process->pid, tid);

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)process->pid, (int)tid);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, 256, NULL);
	if (!text || sscanf(text, "%d %llx %llx", &number, &args[0], &args[1]) < 1 ||
	    !strchr("SDTt", state))
		return false;
	*ret = (struct fz_bpf_call){ .number = number,
				     .state = strchr("Tt", state) ? STATE_STOPPED : STATE_SLEEPS,
				     .args = { args[0], args[1] } };
	uint32_t fd = (uint32_t)args[0];
	if (args[0] > UINT16_MAX && !fz_process_read(process, args[0], &fd, sizeof(fd)))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)process->pid, fd);
	if (stat(path, &file) == 0)
		ret->fd_mode = file.st_mode;
	return true;
}

/* How long it was on a CPU in ns, and how often: the same again says that it was not since. */
static char *turns_of(pid_t pid, pid_t tid)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	return fz_read_small(path, 256, NULL);
}

static bool stood_still(pid_t pid, pid_t tid, const char *before)
{
	fz_auto(fz_free_ptr) char *now = turns_of(pid, tid);

	return now && before && strcmp(now, before) == 0;
}

/* A thread that may wait since before it was watched. */
struct candidate {
	struct fz_bpf_thread thread;
	char *turns; /* before stacks were read */
};

/* The stack was read from outside. */
static void adopt(struct fz_bpf_waits *w, struct fz_sampler *s, struct fz_bpf *program,
		  struct fz_python *python, const struct fz_python_stack *stack, int64_t since,
		  const struct candidate *c)
{
	struct fz_process *process = fz_python_process(python);
	pid_t tid = (pid_t)c->thread.seen;
	struct fz_bpf_call call;

	if (!read_call(process, tid, &call) || !stood_still(process->pid, tid, c->turns) ||
	    !fz_bpf_add_wait(program, c->thread.kernel, since, strtoull(c->turns, NULL, 10)))
		return;
	/* If it did not, its next wait takes the place of this one. */
	if (stood_still(process->pid, tid, c->turns))
		begin(s, wait_of(w, c->thread.kernel), what_for(python, &call), *stack, since);
}

void fz_bpf_waits_adopt(struct fz_bpf_waits *w, struct fz_sampler *s,
			const struct fz_target_process *p, struct fz_bpf *program)
{
	struct fz_python *python = p->target.python;
	fz_auto(fz_free_ptr) struct fz_bpf_thread *threads = NULL;
	struct fz_python_sample sample;
	struct fz_error ignored;
	int64_t since = fz_clock_now();
	size_t n = fz_bpf_threads(program, &threads);
	fz_auto(fz_free_ptr) struct candidate *list = fz_calloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct candidate){ threads[i],
					      turns_of(p->target.pid, (pid_t)threads[i].seen) };
	if (fz_python_take(python, &sample, &ignored))
		sample.n = 0;
	for (uint32_t i = 0; i < sample.n; i++)
		for (size_t k = 0; k < n; k++)
			if (s->profile->threads[sample.stacks[i].thread].tid == threads[k].seen)
				adopt(w, s, program, python, &sample.stacks[i], since, &list[k]);
	for (size_t i = 0; i < n; i++)
		free(list[i].turns);
}

void fz_bpf_waits_end(struct fz_bpf_waits *w, struct fz_sampler *s, int64_t now)
{
	for (size_t i = 0; i < w->n; i++) {
		struct wait *wait = &w->list[i];

		if (wait->open)
			end(s, wait, 0, wait->ran ? wait->ran : now);
		pay(s, wait);
	}
	fz_map_clear(&w->threads);
	w->n = 0;
}
