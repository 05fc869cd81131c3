/* SPDX-License-Identifier: MIT */
/* Listing threads:
 *
 *   _PyRuntime.interpreters.head -> interpreter -> next interpreter ...
 *                                     threads.head -> thread state -> next ...
 *
 * New ones are inserted at the head, so the last in a list is the oldest: the main one, unless the
 * kernel's thread ids show another. A thread state belongs to one kernel thread, whose id it
 * contains from 3.11 on; before, the id is in the C library's thread structure.
 */
#include "names.h"
#include "threads.h"

/* How often to read a thread's name again, which it gets when it first holds the GIL; and how often
 * to list the threads soon for that, since it may end soon. */
enum { NAME_ASKS = 20, NAME_ASKS_SOON = 16 };

enum { INTERPRETERS_MAX = 4096, THREADS_MAX = 1 << 16, LIBC_THREAD_SIZE = 1024 };

static bool read_u64(const struct fz_py_threads_context *c, uint64_t at, uint64_t *ret)
{
	return fz_process_read_u64(c->process, at, ret);
}

/* ---- kernel thread ids ---- */

static bool is_inner_tid(const struct fz_process_threads *tasks, uint64_t tid)
{
	for (size_t i = 0; i < tasks->n; i++)
		if ((uint64_t)tasks->list[i].inner_tid == tid)
			return true;
	return false;
}

/* pthread_t is the address of the C library's thread structure. In glibc the id has always been at
 * the same offset; in other libraries search for any of the process's ids. */
static uint64_t tid_from_libc(const struct fz_py_threads_context *c,
			      const struct fz_process_threads *tasks, uint64_t pthread)
{
	uint32_t words[LIBC_THREAD_SIZE / 4];

	if (pthread % 8 || !fz_process_read(c->process, pthread, words, sizeof(words)))
		return 0;
	if (is_inner_tid(tasks, words[FZ_PY_LIBC_TID / 4]))
		return words[FZ_PY_LIBC_TID / 4];
	for (size_t i = 0; i < FZ_ARRAY_LEN(words); i++)
		if (words[i] > 1 && is_inner_tid(tasks, words[i]))
			return words[i];
	return 0;
}

/* The identity of a thread, from its state; 0 if it is unreadable. */
static uint64_t read_identity(const struct fz_py_threads_context *c, uint64_t tstate)
{
	const struct fz_py_layout *l = &c->runtime->layout;
	uint64_t id = 0, ident;

	if (l->thread.native_thread_id != FZ_PY_ABSENT)
		read_u64(c, tstate + l->thread.native_thread_id, &id);
	else if (read_u64(c, tstate + l->thread.id, &id) &&
		 read_u64(c, tstate + l->thread.thread_id, &ident))
		id = fz_py_walk_serial(id, ident);
	return id;
}

static uint64_t outer_tid(const struct fz_process_threads *tasks, uint64_t inner)
{
	for (size_t i = 0; i < tasks->n; i++)
		if ((uint64_t)tasks->list[i].inner_tid == inner)
			return (uint64_t)tasks->list[i].tid;
	return inner;
}

/* ---- listing ---- */

struct listing {
	const struct fz_py_threads_context *c;
	struct fz_py_threads *t;
	struct fz_process_threads tasks; /* read when first needed */
	bool have_tasks, read_tasks_again;
	uint32_t state_n; /* thread states that have been listed, of all interpreters */
	uint64_t pthread; /* of the last one */
	bool several;     /* they are of several threads */
	uint64_t named;   /* interpreter whose names have been read in this round */
	struct fz_py_names names;
	struct {
		uint64_t *list; /* ids of threads that were not taken */
		size_t n, cap;
	} left_out;
};

static void need_tasks(struct listing *l)
{
	if (l->have_tasks)
		return;
	fz_process_threads(l->c->process, &l->tasks, NULL);
	l->have_tasks = true;
}

/* Does a state in the memory of a forked process belong to a thread of its parent? The list of
 * threads may be older than the state, so it is read again first. False (unknown) for several
 * threads if no state ever had an id of the process, as in a pid namespace that /proc does not
 * describe. */
static bool is_of_parent(struct listing *l, uint64_t inner)
{
	need_tasks(l);
	if (is_inner_tid(&l->tasks, inner))
		return false;
	if (!l->read_tasks_again) {
		fz_process_threads_release(&l->tasks);
		fz_process_threads(l->c->process, &l->tasks, NULL);
		l->read_tasks_again = true;
	}
	return !is_inner_tid(&l->tasks, inner) && (l->tasks.n == 1 || l->t->ids_are_known);
}

/* Is a state left over from a thread that has ended? */
static bool has_ended(struct listing *l, uint64_t inner)
{
	return l->t->ids_are_known && is_of_parent(l, inner);
}

/* Index of the known thread with this state in the newest interpreter, or FZ_NONE. */
static uint32_t find_thread(const struct fz_py_threads *t, uint64_t tstate)
{
	uint64_t interp = t->interps[t->interp_n - 1].address;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->list[i].walk.tstate == tstate && t->list[i].walk.interp == interp)
			return i;
	return FZ_NONE;
}

/* The kernel's id of a state's thread, or the id in the state. Python does not notice a fork in C:
 * the state of the child's only thread still has its id in the parent. The C library has the right
 * one. */
static uint64_t inner_tid(struct listing *l, uint64_t tstate, uint64_t identity, uint32_t known)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	bool native = layout->thread.native_thread_id != FZ_PY_ABSENT;
	uint64_t id = native ? identity : 0, pthread = 0;

	if (native && !identity)
		return 0;
	if (native && known != FZ_NONE && l->t->list[known].walk.identity == identity)
		return l->t->list[known].inner_tid;
	need_tasks(l);
	if (!is_inner_tid(&l->tasks, id) &&
	    read_u64(l->c, tstate + layout->thread.thread_id, &pthread)) {
		uint64_t own = tid_from_libc(l->c, &l->tasks, pthread);
		id = !native || own == (uint64_t)l->c->process->inner_pid ? own : id;
	}
	l->t->ids_are_known |= is_inner_tid(&l->tasks, id);
	return id;
}

static void read_names(struct listing *l)
{
	struct fz_py_threads *t = l->t;
	uint64_t interp = t->interps[t->interp_n - 1].address;
	uint32_t id = t->interps[t->interp_n - 1].id;

	if (l->named == interp)
		return;
	if (t->active_id != id)
		t->active = 0;
	t->active_id = id;
	fz_py_names_read(&l->names, l->c->process, l->c->runtime, interp, &t->active);
	l->named = interp;
}

/* Is it the name of the process's first thread, which new threads have until they get their own? */
static bool is_inherited(struct listing *l, const char *comm)
{
	const struct fz_process *process = l->c->process;
	char first[64];

	return fz_process_thread_name(process, process->pid, first, sizeof(first)) &&
	       strcmp(first, comm) == 0;
}

/* *ret_known: it is the thread's own. Since 3.14 Python gives that to the kernel. */
static uint32_t thread_name(struct listing *l, uint64_t tstate, uint64_t tid, bool is_main,
			    bool *ret_known)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	fz_auto(fz_buf_release) struct fz_buf name = { 0 };
	uint64_t ident;
	char comm[64];

	*ret_known = true;
	if (layout->minor < 14 && read_u64(l->c, tstate + layout->thread.thread_id, &ident)) {
		read_names(l);
		if (fz_py_names_get(&l->names, ident, &name) && name.n)
			return fz_profile_string(l->c->into, fz_buf_view(&name));
	}
	/* The name that `threading` gives it; the kernel has the program's name. */
	if (is_main)
		return fz_profile_string(l->c->into, FZ_STR("MainThread"));
	*ret_known = false;
	if (fz_process_thread_name(l->c->process, (pid_t)tid, comm, sizeof(comm))) {
		*ret_known = layout->minor >= 14 && !is_inherited(l, comm);
		return fz_profile_string(l->c->into, fz_str_of(comm));
	}
	return 0;
}

static void read_name_again(struct listing *l, struct fz_py_thread *t)
{
	struct fz_thread *thread = &l->c->into->threads[t->thread];
	bool known;

	if (t->name_asks >= NAME_ASKS)
		return;
	t->name_asks++;
	uint32_t name = thread_name(l, t->walk.tstate, thread->tid, t->is_main, &known);
	l->t->young |= !known && t->name_asks < NAME_ASKS_SOON;
	if (name)
		thread->name = name;
}

/* A thread state, as listed. */
struct state {
	uint64_t address, next, inner, identity, pthread;
	uint32_t known; /* index of its thread in the previous listing, or FZ_NONE */
};

static void add_thread(struct listing *l, const struct state *s)
{
	struct fz_py_threads *t = l->t;
	uint32_t interp = t->interp_n - 1;
	bool known;

	need_tasks(l);
	struct fz_thread thread = {
		.pid = (uint64_t)l->c->process->pid,
		.tid = outer_tid(&l->tasks, s->inner),
		.interp = t->interps[interp].id,
		.is_main = s->inner == (uint64_t)l->c->process->inner_pid,
	};
	thread.name = thread_name(l, s->address, thread.tid, thread.is_main, &known);
	t->young |= !known;
	fz_push(t->list, t->n, t->cap,
		(struct fz_py_thread){
			.walk = { .tstate = s->address,
				  .interp = t->interps[interp].address,
				  .identity = s->identity,
				  .dual = true },
			.interp = interp,
			.inner_tid = s->inner,
			.pthread = s->pthread,
			.next = s->next,
			.is_main = thread.is_main,
			.kept = true,
			.exceptions = { .process = l->c->process },
			.thread = fz_profile_thread(l->c->into, &thread),
		});
}

struct states {
	struct state *list;
	size_t n, cap;
};

static bool read_states(struct listing *l, uint64_t at, struct states *ret)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	uint64_t next, seen = 0;

	for (; at; at = next) {
		if (at == seen || l->state_n++ >= THREADS_MAX || at % 8 ||
		    !read_u64(l->c, at + layout->thread.next, &next))
			return false;
		if ((ret->n & (ret->n + 1)) == 0)
			seen = at; /* a loop comes back to one of these */
		fz_grow(ret->list, ret->n, ret->cap);
		uint64_t identity = read_identity(l->c, at);
		uint32_t known = find_thread(l->t, at);
		struct state s = {
			.address = at, .next = next, .identity = identity, .known = known
		};
		s.inner = inner_tid(l, at, identity, known);
		read_u64(l->c, at + layout->thread.thread_id, &s.pthread);
		l->several |= l->state_n > 1 && s.pthread != l->pthread;
		l->pthread = s.pthread;
		ret->list[ret->n++] = s;
	}
	return true;
}

/* Does a listed state still belong to the thread that was sampled? */
static bool is_same(const struct listing *l, const struct fz_py_thread *known,
		    const struct state *s, uint32_t interp)
{
	return known->inner_tid == s->inner && known->walk.identity == s->identity &&
	       l->c->into->threads[known->thread].interp == l->t->interps[interp].id;
}

static void add_state(struct listing *l, const struct state *s)
{
	uint32_t interp = l->t->interp_n - 1;
	struct fz_py_thread *known = s->known == FZ_NONE ? NULL : &l->t->list[s->known];

	if (known && is_same(l, known, s, interp) && !has_ended(l, s->inner)) {
		known->kept = true;
		known->next = s->next;
		known->interp = interp;
		read_name_again(l, known);
	} else if (is_of_parent(l, s->inner)) {
		return;
	} else if (l->c->all || s->inner == (uint64_t)l->c->process->inner_pid) {
		add_thread(l, s);
	} else if (l->c->left_out) {
		fz_push(l->left_out.list, l->left_out.n, l->left_out.cap, s->inner);
	}
}

/* List the threads of the newest interpreter, oldest first. A thread that has not begun has no id.
 * Up to 3.11 it has that of the thread that started it, and so looks like a second state of that
 * thread. If only the main thread is wanted, *last becomes the oldest one, in case no thread has
 * the process's id. */
static bool list_threads(struct listing *l, struct state *last)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	struct fz_py_interp *interp = &l->t->interps[l->t->interp_n - 1];
	struct states states = { 0 };
	struct fz_map seen = { 0 };
	uint64_t head;

	bool ok = read_u64(l->c, interp->address + layout->interp.threads_head, &head) &&
		  read_states(l, head, &states);
	interp->head = ok ? head : 0;
	for (size_t i = states.n; ok && i-- > 0;) {
		const struct state *s = &states.list[i];
		uint32_t *slot = fz_map_slot(&seen, s->inner);
		bool bound = layout->thread.status != FZ_PY_ABSENT;
		bool begun = s->inner || layout->thread.native_thread_id == FZ_PY_ABSENT;
		l->t->young |= !begun || (*slot != FZ_NONE && !bound);
		*slot = 0;
		if (begun)
			add_state(l, s);
	}
	if (ok && states.n && !has_ended(l, states.list[states.n - 1].inner))
		*last = states.list[states.n - 1];
	fz_map_release(&seen);
	free(states.list);
	return ok;
}

static uint32_t add_gil(struct fz_py_threads *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->gil_n; i++)
		if (t->gils[i].address == address)
			return i;
	fz_grow(t->gils, t->gil_n, t->gil_cap);
	t->gils[t->gil_n] = (struct fz_py_gil){ .address = address };
	return t->gil_n++;
}

static void add_interp(struct listing *l, uint64_t address, uint64_t id, uint64_t next)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	struct fz_py_threads *t = l->t;
	uint64_t gil;

	fz_grow(t->interps, t->interp_n, t->interp_cap);
	struct fz_py_interp *interp = &t->interps[t->interp_n++];
	*interp = (struct fz_py_interp){
		.address = address, .id = (uint32_t)id, .next = next, .gil = FZ_NONE
	};
	if (layout->interp.gil_pointer == FZ_PY_ABSENT)
		interp->gil = add_gil(t, l->c->runtime->address + layout->runtime.gil);
	else if (read_u64(l->c, address + layout->interp.gil_pointer, &gil) && gil && gil % 8 == 0)
		interp->gil = add_gil(t, gil);
}

static bool list_all(struct listing *l, struct state *last)
{
	const struct fz_py_layout *layout = &l->c->runtime->layout;
	uint64_t interp, next, id, seen = 0;

	if (!read_u64(l->c, l->c->runtime->address + layout->runtime.interpreters_head, &interp))
		return false;
	for (unsigned i = 0; interp; i++) {
		if (interp == seen || i >= INTERPRETERS_MAX || interp % 8 ||
		    !read_u64(l->c, interp + layout->interp.id, &id) ||
		    !read_u64(l->c, interp + layout->interp.next, &next))
			return false;
		if ((i & (i + 1)) == 0)
			seen = interp;
		add_interp(l, interp, id, next);
		if (!list_threads(l, last))
			return false;
		interp = next;
	}
	return true;
}

static void release_thread(struct fz_py_thread *t)
{
	fz_py_walk_release(&t->walk);
	fz_py_pages_release(&t->exceptions);
}

static void drop_threads(struct fz_py_threads *t, bool all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		if (all || t->list[i].kept)
			t->list[n++] = t->list[i];
		else
			release_thread(&t->list[i]);
	}
	t->n = n;
}

/* If no thread has the process's own id, the oldest of the oldest interpreter is the main one. But
 * a process with one thread and states of several has just been forked, and it is not known yet
 * which state is of the thread that forked. */
static void adopt_main(struct listing *l, const struct state *oldest)
{
	for (uint32_t i = 0; i < l->t->n; i++)
		if (l->t->list[i].is_main)
			return;
	need_tasks(l);
	if (l->several && l->tasks.n == 1) {
		l->t->young = true;
		return;
	}
	struct fz_py_thread *known = NULL;
	for (uint32_t i = 0; i < l->t->n; i++)
		if (l->t->list[i].walk.tstate == oldest->address)
			known = &l->t->list[i];
	if (!known && l->t->interp_n && oldest->address) {
		add_thread(l, oldest);
		known = &l->t->list[l->t->n - 1];
	}
	if (known) {
		struct fz_thread *thread = &l->c->into->threads[known->thread];
		bool is_known;
		known->is_main = thread->is_main = true;
		thread->name = thread_name(l, known->walk.tstate, thread->tid, true, &is_known);
	}
}

/* Report threads that will not be sampled, except one that meanwhile became the main one. */
static void report_left_out(struct listing *l)
{
	const struct fz_py_threads *t = l->t;

	for (size_t i = 0; i < l->left_out.n; i++) {
		uint32_t k = 0;
		while (k < t->n && t->list[k].inner_tid != l->left_out.list[i])
			k++;
		if (k == t->n)
			fz_map_put(l->c->left_out, l->left_out.list[i], 0);
	}
}

/* A kernel thread that enters another interpreter has a state in each, and the GIL does not always
 * count the change from one to the other. */
static void find_shared(struct fz_py_threads *t)
{
	struct fz_map seen = { 0 };

	t->shared = false;
	for (uint32_t i = 0; i < t->n; i++)
		t->list[i].shared = false;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t *first = fz_map_slot(&seen, t->list[i].inner_tid);
		*first = *first == FZ_NONE ? i : *first;
		t->list[i].first = *first;
		if (*first != i)
			t->list[i].shared = t->list[*first].shared = t->shared = true;
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->list[i].waits = t->list[i].waits && !t->list[i].shared;
	fz_map_release(&seen);
}

bool fz_py_threads_refresh(struct fz_py_threads *t, const struct fz_py_threads_context *c)
{
	struct listing l = { .c = c, .t = t };
	struct state last = { 0 };

	for (uint32_t i = 0; i < t->n; i++)
		t->list[i].kept = false;
	t->young = false;
	t->interp_n = t->gil_n = 0;
	bool ok = list_all(&l, &last);
	if (ok) {
		drop_threads(t, false);
		adopt_main(&l, &last);
		find_shared(t);
		report_left_out(&l);
	}
	free(l.left_out.list);
	fz_process_threads_release(&l.tasks);
	fz_py_names_release(&l.names);
	return ok;
}

void fz_py_threads_release(struct fz_py_threads *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		release_thread(&t->list[i]);
	free(t->list);
	free(t->interps);
	free(t->gils);
	*t = (struct fz_py_threads){ 0 };
}
