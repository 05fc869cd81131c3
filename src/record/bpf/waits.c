/* SPDX-License-Identifier: MIT */
/* Turns records into waits. Each thread has at most one open wait:
 *
 *   OFF: since, stack, what for  -->  WAKER: who  -->  ON: one sample, and one of waiting for a CPU
 *
 * A thread that waits for the GIL wakes up every 5 ms to request it: until it gets the GIL these
 * are parts of one wait, which is written at its end.
 */
#include "record/bpf/waits.h"

#include "base/clock.h"
#include "base/io.h"
#include "record/engine_host.h"
#include "record/process.h"
#include "record/python/ticks.h"
#include "record/waitcall.h"
#include "profile/waits.h"

#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>

enum { STATE_SLEEPS = 1 | 2, STATE_STOPPED = 4 | 8 };

/* ---- kinds ---- */

static enum fz_wait what_for(const struct fz_python *python, const struct fz_bpf_call *call)
{
	if (call->state & STATE_STOPPED)
		return FZ_WAIT_STOPPED;
	if (!(call->state & STATE_SLEEPS))
		return FZ_WAIT_CPU;
	enum fz_wait kind =
		fz_waitcall_kind(&(struct fz_waitcall){ .number = call->number,
							.args = { call->args[0], call->args[1] },
							.fd_mode = call->fd_mode });
	return kind == FZ_WAIT_LOCK && fz_python_ticks_is_gil(python, call->args[0]) ? FZ_WAIT_GIL
										     : kind;
}

/* Can only threads of its own process end this call? If another process was running at the wake-up,
 * an interrupt caused it, after a timeout. */
static bool is_private(const struct fz_bpf_call *call)
{
	return call->number == SYS_futex && call->args[1] & FUTEX_PRIVATE_FLAG;
}

/* ---- wakers ---- */

enum { FUTEX = 1, GIVE = 2, UNLOCK = 4, END = 8, KILL = 16 };

/* Calls that can wake other threads. During any other call a wake-up is due to an interrupt. */
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
	{ SYS_read, GIVE }, /* makes room for a writer */
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

/* What ended a wait: a place or, if there is none, a name. */
struct ender {
	struct fz_frame place; /* function FZ_NONE: there is none */
	struct fz_str name;
	uint32_t thread; /* of the profile, or FZ_NONE */
};

/* A marker frame for what ended a wait, with the line of its place. */
static uint32_t ender_frame(struct fz_profile *p, const struct ender *e, enum fz_wait kind)
{
	struct fz_str name = e->name;
	struct fz_function f = { .kind = FZ_KIND_MARKER };
	struct fz_frame place = e->place;
	fz_auto(fz_buf_release) struct fz_buf text = { 0 };

	if (place.function != FZ_NONE) {
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

/* State of a thread, by kernel tid. */
struct wait {
	const struct fz_target_process *of; /* process; NULL: not known yet */
	bool open;                          /* the thread is waiting */
	bool is_private;                    /* see is_private() */
	enum fz_wait kind;
	struct fz_bpf_call call;
	struct fz_python_stack stack;
	int64_t since;   /* 0: it has not waited yet, so call and stack are unset */
	int64_t ran;     /* when it was first seen on a CPU since then; 0: not seen */
	uint32_t by;     /* frame of what ended it; FZ_NONE: unknown */
	uint32_t waker;  /* its thread of the profile, or FZ_NONE */
	uint32_t entry;  /* frame of the thread's entry function; FZ_NONE: unknown */
	uint32_t parent; /* thread that started it, until written; FZ_NONE */
	int64_t born;
	int64_t owed; /* ns of earlier parts of a wait for the GIL, not written yet */
	int64_t last; /* when it ran again after the last part */
};

static const struct wait none_yet = { .waker = FZ_NONE, .entry = FZ_NONE, .parent = FZ_NONE };

struct fz_bpf_waits {
	struct fz_map threads; /* kernel tid -> index */
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
		fz_push(w->list, w->n, w->cap, none_yet);
	}
	return &w->list[*slot];
}

static enum fz_oncpu_answer oncpu_of(enum fz_wait kind)
{
	if (kind == FZ_WAIT_CPU)
		return FZ_ONCPU_WAITING;
	return kind == FZ_WAIT_FILE || kind == FZ_WAIT_MEMORY ? FZ_ONCPU_DISK : FZ_ONCPU_NO;
}

static void write_wake(struct fz_sampler *s, uint32_t thread, uint32_t by, int64_t time)
{
	if (by != FZ_NONE && by != thread)
		fz_file_writer_add_wake(s->writer,
					&(struct fz_wake){ .time = time - s->sampling->start,
							   .thread = thread,
							   .by = by });
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
	/* The order in which threads get the GIL is not a dependency of the program. */
	if (kind != FZ_WAIT_CPU && kind != FZ_WAIT_GIL)
		write_wake(s, stack.thread, wait->waker, time);
}

/* Write the pending parts of a wait for the GIL. */
static void pay(struct fz_sampler *s, struct wait *wait)
{
	if (wait->owed)
		write_wait(s, wait, FZ_WAIT_GIL, wait->last, wait->owed);
	wait->owed = 0;
}

/* Replace restart_syscall, after the thread was stopped, by the call that it resumes. */
static struct fz_bpf_call resumed(const struct wait *wait, const struct fz_bpf_call *call)
{
	struct fz_bpf_call ret = *call;

	if (call->number == SYS_restart_syscall && wait->since) {
		ret = wait->call;
		ret.state = call->state;
	}
	return ret;
}

static void begin(struct fz_sampler *s, struct wait *wait, const struct fz_target_process *p,
		  const struct fz_bpf_call *told, struct fz_python_stack stack, int64_t since)
{
	struct fz_bpf_call call = resumed(wait, told);
	enum fz_wait kind = what_for(p->target.python, &call);

	if (kind == FZ_WAIT_GIL)
		stack.status =
			(uint8_t)((stack.status & ~FZ_STATUS_HAS_GIL) | FZ_STATUS_GIL_REQUESTED);
	if ((kind != FZ_WAIT_GIL && kind != FZ_WAIT_CPU) || stack.stack != wait->stack.stack)
		pay(s, wait);
	if (wait->entry == FZ_NONE)
		wait->entry = fz_python_ticks_entry(p->target.python, stack.stack);
	*wait = (struct wait){ .of = p,
			       .open = true,
			       .is_private = is_private(&call),
			       .kind = kind,
			       .call = call,
			       .stack = stack,
			       .since = since,
			       .by = FZ_NONE,
			       .waker = FZ_NONE,
			       .entry = wait->entry,
			       .parent = wait->parent,
			       .born = wait->born,
			       .owed = wait->owed,
			       .last = wait->last };
}

/* Limit a time to the recording: an attached process is watched slightly before it begins. */
static int64_t recorded(const struct fz_sampler *s, int64_t time)
{
	return FZ_MAX(s->end ? FZ_MIN(time, s->end_time) : time, s->sampling->start);
}

static void end(struct fz_sampler *s, struct wait *wait, int64_t woken, int64_t now)
{
	int64_t since = recorded(s, wait->since);
	now = recorded(s, now);
	woken = woken ? recorded(s, woken) : 0;
	int64_t until = wait->kind == FZ_WAIT_CPU ? since : woken ? woken : now;
	int64_t ns = until - since;

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

static void begin_wait(struct fz_sampler *s, const struct fz_target_process *p, struct wait *wait,
		       const struct fz_bpf_tick *t)
{
	struct fz_python_stack stack;

	fz_python_ticks_read(p->target.python, t, &stack);
	begin(s, wait, p, &t->call, stack, (int64_t)t->time);
}

/* A thread was started; its tid may have belonged to another. The wake-up by its parent is written
 * at its first other record, because it is not in the profile yet. */
static void begin_thread(struct fz_sampler *s, const struct fz_target_process *p, struct wait *wait,
			 const struct fz_bpf_tick *t)
{
	pay(s, wait);
	*wait = (struct wait){ .of = p,
			       .waker = FZ_NONE,
			       .entry = FZ_NONE,
			       .parent = fz_python_ticks_thread(p->target.python, t),
			       .born = (int64_t)t->time };
}

static void write_birth(struct fz_sampler *s, struct fz_python *python, struct wait *wait,
			const struct fz_bpf_tick *t)
{
	if (wait->parent != FZ_NONE && wait->born >= s->sampling->start)
		write_wake(s, fz_python_ticks_thread(python, t), wait->parent, wait->born);
	wait->parent = FZ_NONE;
}

static void add_tick(struct fz_sampler *s, const struct fz_target_process *p, struct wait *wait,
		     const struct fz_bpf_tick *t)
{
	pay(s, wait);
	wait->of = p;
	wait->ran = wait->ran ? wait->ran : (int64_t)t->time;
}

/* A thread of the process that waited before; NULL if there is none. */
static const struct wait *find_known(const struct fz_bpf_waits *w,
				     const struct fz_target_process *p, uint32_t thread)
{
	uint32_t i = fz_map_get(&w->threads, thread);

	return i != FZ_NONE && w->list[i].of == p && w->list[i].since ? &w->list[i] : NULL;
}

/* Name a waker by its entry function: a thread that exits has left its functions, and maybe its
 * state, when it wakes others. The kernel's name may contain a number that differs between runs. */
static void name_by_entry(const struct fz_profile *p, const struct wait *known, struct ender *e)
{
	e->thread = known->stack.thread;
	e->name = FZ_STR("a thread of Python");
	if (known->entry != FZ_NONE)
		e->place = fz_frame_at(p->frames[known->entry].function, FZ_NO_LINE);
}

/* Find what ended a wait. p: the waker's process; NULL if it is not watched. */
static struct ender find_ender(const struct fz_bpf_waits *w, const struct fz_target_process *p,
			       const struct fz_bpf_tick *t)
{
	struct ender e = { .place = fz_frame_at(FZ_NONE, FZ_NO_LINE),
			   .name = { t->comm, strnlen(t->comm, sizeof(t->comm)) },
			   .thread = FZ_NONE };
	bool foreign = !p || t->flags & FZ_BPF_FOREIGN;
	uint32_t frame = foreign ? FZ_NONE : fz_python_ticks_waker(p->target.python, t);
	const struct wait *known = p && frame == FZ_NONE ? find_known(w, p, t->waker) : NULL;

	if (!foreign)
		e.thread = fz_python_ticks_thread(p->target.python, t);
	if (frame != FZ_NONE)
		e.place = p->target.profile->frames[frame];
	else if (known)
		name_by_entry(p->target.profile, known, &e);
	return e;
}

static void set_waker(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, struct wait *wait,
		      const struct fz_bpf_tick *t)
{
	if (!can_end(wait->kind, t->call.number) ||
	    (wait->is_private && t->flags & FZ_BPF_ELSEWHERE))
		return;
	struct ender e = find_ender(w, p, t);
	wait->by = ender_frame(s->profile, &e, wait->kind);
	wait->waker = e.thread;
}

void fz_bpf_waits_add(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, const struct fz_bpf_tick *t)
{
	struct wait *wait = wait_of(w, t->thread);

	if (t->kind == FZ_BPF_ON) {
		if (wait->open)
			end(s, wait, (int64_t)t->woken, (int64_t)t->time);
	} else if (t->kind == FZ_BPF_WAKER) {
		if (wait->open)
			set_waker(w, s, p, wait, t);
	} else if (!p) {
		return; /* not watched any more */
	} else if (t->kind == FZ_BPF_BORN) {
		begin_thread(s, p, wait, t);
	} else {
		write_birth(s, p->target.python, wait, t);
		if (t->kind == FZ_BPF_OFF)
			begin_wait(s, p, wait, t);
		else
			add_tick(s, p, wait, t);
	}
}

/* ---- waits that are already open ---- */

static bool read_call(struct fz_process *process, pid_t tid, struct fz_bpf_call *ret)
{
	char path[96];
	struct fz_waitcall call;
	int state = fz_process_thread_state(process->pid, tid);

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)process->pid, (int)tid);
	fz_auto(fz_free_ptr) char *text = fz_read_small(path, FZ_WAITCALL_TEXT, NULL);
	if (!text || fz_waitcall_parse(text, &call) != FZ_WAITCALL_SLEEPS || !strchr("SDTt", state))
		return false;
	fz_waitcall_find_file(&call, process);
	*ret = (struct fz_bpf_call){ .number = call.number,
				     .state = strchr("Tt", state) ? STATE_STOPPED : STATE_SLEEPS,
				     .args = { call.args[0], call.args[1] },
				     .fd_mode = call.fd_mode };
	return true;
}

/* A thread's CPU time in ns and number of turns: if the text is unchanged, it did not run since.
 * The caller frees. */
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

/* A thread that may have been waiting before it was watched. */
struct candidate {
	struct fz_bpf_thread thread;
	char *turns; /* read before the stacks */
};

/* Begin a wait that is already open, with a stack that was read from outside, if the thread did not
 * run meanwhile. */
static void adopt(struct fz_bpf_waits *w, struct fz_sampler *s, struct fz_bpf *program,
		  const struct fz_target_process *p, const struct fz_python_stack *stack,
		  int64_t since, const struct candidate *c)
{
	struct fz_process *process = fz_python_process(p->target.python);
	pid_t tid = (pid_t)c->thread.seen;
	struct fz_bpf_call call;

	if (!read_call(process, tid, &call) || !stood_still(process->pid, tid, c->turns) ||
	    !fz_bpf_add_wait(program, c->thread.kernel, since, strtoull(c->turns, NULL, 10)))
		return;
	/* If it has run, its next wait replaces this one. */
	if (stood_still(process->pid, tid, c->turns))
		begin(s, wait_of(w, c->thread.kernel), p, &call, *stack, since);
}

void fz_bpf_waits_adopt(struct fz_bpf_waits *w, struct fz_sampler *s,
			const struct fz_target_process *p, struct fz_bpf *program)
{
	fz_auto(fz_free_ptr) struct fz_bpf_thread *threads = NULL;
	struct fz_python_sample sample;
	struct fz_error ignored;
	int64_t since = fz_clock_now();
	size_t n = fz_bpf_threads(program, p->target.pid, &threads);
	fz_auto(fz_free_ptr) struct candidate *list = fz_calloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct candidate){ threads[i],
					      turns_of(p->target.pid, (pid_t)threads[i].seen) };
	if (fz_python_sample_take(p->target.python, &sample, &ignored))
		sample.n = 0;
	for (uint32_t i = 0; i < sample.n; i++)
		for (size_t k = 0; k < n; k++)
			if (s->profile->threads[sample.stacks[i].thread].tid == threads[k].seen)
				adopt(w, s, program, p, &sample.stacks[i], since, &list[k]);
	for (size_t i = 0; i < n; i++)
		free(list[i].turns);
}

void fz_bpf_waits_end(struct fz_bpf_waits *w, struct fz_sampler *s,
		      const struct fz_target_process *p, int64_t now)
{
	for (size_t i = 0; i < w->n; i++) {
		struct wait *wait = &w->list[i];

		if (p && wait->of != p)
			continue;
		if (wait->open)
			end(s, wait, 0, wait->ran ? wait->ran : now);
		pay(s, wait);
		*wait = none_yet;
	}
	if (p)
		return;
	fz_map_clear(&w->threads);
	w->n = 0;
}
