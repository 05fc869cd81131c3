/* SPDX-License-Identifier: MIT */
/* Processes of the machine; processes.h has the contract.
 *
 *   tick --> member (new: its command, maps and interpreter are read) --> root
 *        --> Python's frames by the interpreter's own tables (record/python/ticks.c)
 *        --> the program's addresses by its maps (record/native/space.c), the kernel's by kallsyms
 *
 * A Python thread's stack is its Python frames, then the native code that the innermost frame
 * called, which is everything above the interpreter's own code. If frame pointers do not lead to
 * the interpreter, only the innermost address is certain, and only that is shown.
 *
 * Memory is bounded: after ADDRESSES_MAX addresses only their functions are distinguished, and
 * after STACKS_MAX stacks new ones are reduced to their process.
 */
#include "record/bpf/processes.h"

#include "base/clock.h"
#include "base/text.h"
#include "record/facts.h"
#include "record/native/space.h"
#include "record/owner.h"
#include "record/procstat.h"
#include "record/python/ticks.h"
#include "record/target_process.h"
#include "profile/processes.h"
#include "symbol/kallsyms.h"

#include <stdio.h>

/* Time between two searches for an interpreter in a process, doubled each time. */
#define PYTHON_PAUSE (20 * FZ_MS)
#define PYTHON_PAUSE_MAX (10000 * FZ_MS)
/* Time between two checks of a found interpreter. */
#define PYTHON_CHECK (500 * FZ_MS)
/* Minimum time before the map of a process is read again for an unknown address, doubled each time
 * that this was in vain. */
#define MAP_PAUSE (200 * FZ_MS)
/* Time between two checks for other code at known addresses. */
#define MAP_CHECK (10000 * FZ_MS)

enum {
	KTHREADD = 2, /* pid of the parent of all kernel threads */
	ADDRESSES_MAX = 1 << 16,
	STACKS_MAX = 1 << 19,
	THREADS_MAX = 1 << 16,
	COMMANDS_MAX = 4096, /* number of command lines that are kept */
	SEARCHES = 4,
	SEARCHED_MAX = 4096,
};

/* The code at an address. */
struct place {
	uint32_t frame;
	bool interpreter;
};

struct member {
	pid_t pid;
	uint32_t root; /* stack with its own frame only */
	bool gone;     /* it ended before it could be examined */
	bool no_python;
	struct fz_process process;
	struct fz_space space;
	struct fz_map place_of; /* address -> index in places */
	struct place *places;
	size_t place_n, place_cap;
	uint32_t generation; /* of the space, for which places are valid */
	int64_t next_check, map_pause;
	int64_t map_checked; /* next_check of the space when its map was last read in vain */
	struct fz_python *python;
	int64_t next_python, python_pause; /* when to search for it or check it */
	struct fz_map threads;             /* kernel tid -> thread of the profile */
};

struct fz_machine_processes {
	struct fz_sampler *s;
	struct fz_bpf *program;
	struct fz_kallsyms *kernel;
	struct fz_map kernel_frames; /* address -> frame */
	struct fz_map users;         /* uid -> name, a string of the profile */
	struct fz_map searched;      /* program -> number of searches for Python */
	struct member **list;
	size_t n, cap;
	uint32_t addresses, commands, cut_frame, unknown_frame;
	uint64_t gone, gone_ticks, merged;
	uint32_t chain[2 * FZ_BPF_NATIVE + 1]; /* native frames of the tick, innermost first */
	uint32_t chain_n;
};

static uint32_t marker(struct fz_machine_processes *m, const char *name)
{
	return fz_profile_frame_named(m->s->profile, fz_str_of(name), FZ_STR(""), FZ_NO_LINE,
				      FZ_KIND_MARKER);
}

static void make_markers(struct fz_machine_processes *m)
{
	m->cut_frame = marker(m, "[truncated]");
	m->unknown_frame = marker(m, "[unknown]");
}

struct fz_machine_processes *fz_machine_processes_new(struct fz_sampler *s, struct fz_bpf *program)
{
	struct fz_machine_processes *m = fz_calloc(1, sizeof(*m));

	m->s = s;
	m->program = program;
	m->kernel = fz_kallsyms_open("/proc/kallsyms");
	make_markers(m);
	return m;
}

static void forget_places(struct member *p)
{
	fz_map_clear(&p->place_of);
	p->place_n = 0;
}

static void free_member(struct member *p)
{
	fz_python_close(p->python);
	fz_space_release(&p->space);
	if (!p->gone)
		fz_process_release(&p->process);
	fz_map_release(&p->place_of);
	fz_map_release(&p->threads);
	free(p->places);
	free(p);
}

void fz_machine_processes_forget(struct fz_machine_processes *m)
{
	while (m->n)
		free_member(m->list[--m->n]);
}

/* Results of searches in programs stay valid, and are kept unless there are too many. */
void fz_machine_processes_turn(struct fz_machine_processes *m)
{
	fz_machine_processes_forget(m);
	fz_map_clear(&m->kernel_frames);
	fz_map_clear(&m->users);
	if (m->searched.len > SEARCHED_MAX)
		fz_map_clear(&m->searched);
	m->addresses = m->commands = 0;
	m->gone = m->gone_ticks = m->merged = 0;
	make_markers(m);
}

void fz_machine_processes_free(struct fz_machine_processes *m)
{
	fz_machine_processes_forget(m);
	free(m->list);
	fz_map_release(&m->kernel_frames);
	fz_map_release(&m->users);
	fz_map_release(&m->searched);
	fz_kallsyms_free(m->kernel);
	free(m);
}

/* ---- names ---- */

static struct fz_str comm_of(const struct fz_bpf_tick *t)
{
	return (struct fz_str){ t->comm, strnlen(t->comm, sizeof(t->comm)) };
}

/* Name of a kernel thread without what follows a slash, as in "kworker/0:1". */
static char *kernel_name(struct fz_str comm)
{
	const char *slash = memchr(comm.p, '/', comm.n);

	return fz_asprintf("[%.*s]", (int)(slash ? slash - comm.p : (int)comm.n), comm.p);
}

static void set_owner(struct fz_machine_processes *m, pid_t pid, uid_t uid)
{
	fz_auto(fz_free_ptr) char *cgroup = fz_owner_cgroup(pid);
	uint32_t *slot = fz_map_slot(&m->users, uid);

	if (*slot == FZ_NONE) {
		fz_auto(fz_free_ptr) char *user = fz_owner_user(uid);
		*slot = fz_profile_string(m->s->profile, fz_str_of(user));
	}
	fz_profile_set_owner(m->s->profile, (uint64_t)pid, fz_profile_text(m->s->profile, *slot),
			     fz_str_of(cgroup));
}

/* Name of what the process runs; NULL if it is gone. The caller frees. */
static char *name_of(struct fz_machine_processes *m, const struct member *p,
		     const struct fz_bpf_tick *t, enum fz_met *ret)
{
	struct fz_procstat stat;
	struct fz_str comm = comm_of(t);

	if (!fz_procstat_read(p->pid, 0, &stat))
		return NULL;
	if (p->pid == KTHREADD || stat.parent == KTHREADD) {
		*ret = FZ_MET_KERNEL;
		return kernel_name(comm);
	}
	fz_auto(fz_free_ptr) char *command = fz_facts_command_of(p->pid);
	/* A zombie has no command line. */
	if (!*command)
		return NULL;
	if (m->commands++ < COMMANDS_MAX) {
		fz_profile_set_process(m->s->profile, (uint64_t)p->pid, (uint64_t)stat.parent,
				       fz_str_of(command));
		set_owner(m, p->pid, (uid_t)t->uid);
	}
	struct fz_str name = fz_process_name(fz_str_of(command));
	return fz_strndup(name.p, name.n);
}

static struct member *add_member(struct fz_machine_processes *m, const struct fz_bpf_tick *t)
{
	struct member *p = fz_calloc(1, sizeof(*p));
	const struct fz_sampling *o = m->s->sampling;
	enum fz_met what = FZ_MET_PROGRAM;
	struct fz_error ignored;

	p->pid = (pid_t)t->process;
	p->python_pause = PYTHON_PAUSE;
	fz_auto(fz_free_ptr) char *name = name_of(m, p, t, &what);
	p->gone = !name || fz_process_open(&p->process, p->pid, &ignored);
	if (p->gone) {
		struct fz_str comm = comm_of(t);
		free(name);
		name = fz_asprintf("[gone: %.*s]", (int)comm.n, comm.p);
		m->gone++;
		what = FZ_MET_GONE;
	} else {
		fz_space_init(&p->space, &p->process, &m->s->images);
		fz_space_refresh(&p->space, m->s->now);
		p->next_check = m->s->now + MAP_CHECK;
	}
	p->root = fz_profile_stack(m->s->profile, FZ_NONE, marker(m, name));
	if (o->on_process)
		o->on_process(o->arg, p->pid, what);
	fz_grow(m->list, m->n, m->cap);
	return m->list[m->n++] = p;
}

static struct member *member_of(struct fz_machine_processes *m, const struct fz_bpf_tick *t)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->list[i]->pid == (pid_t)t->process)
			return m->list[i];
	return add_member(m, t);
}

void fz_machine_processes_end(struct fz_machine_processes *m, pid_t pid)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->list[i]->pid != pid)
			continue;
		free_member(m->list[i]);
		m->list[i] = m->list[--m->n];
		return;
	}
}

/* Thread of the profile for a tick; after THREADS_MAX threads the same nameless one for all new
 * ones. */
static uint32_t thread_of(struct fz_machine_processes *m, struct member *p,
			  const struct fz_bpf_tick *t)
{
	struct fz_profile *profile = m->s->profile;
	uint32_t *slot = fz_map_slot(&p->threads, t->thread);

	if (*slot != FZ_NONE)
		return *slot;
	struct fz_thread thread = { .pid = t->process,
				    .tid = t->thread,
				    .name = fz_profile_string(profile, comm_of(t)),
				    .is_main = t->thread == t->process };
	if (profile->thread_count >= THREADS_MAX) {
		thread = (struct fz_thread){ .name = 0 };
		m->merged++;
	}
	return *slot = fz_profile_thread(profile, &thread);
}

/* ---- its interpreter ---- */

static bool maps_python(const struct member *p)
{
	for (size_t i = 0; i < p->space.n; i++) {
		struct fz_str base = fz_path_base(fz_str_of(p->space.ranges[i].path));
		if (base.n && memmem(base.p, base.n, "python", strlen("python")))
			return true;
	}
	return false;
}

/* Any program may embed an interpreter, but a search takes as long as hundreds of samples: if no
 * mapped file is called Python, only the first SEARCHES processes of a program are searched. */
static bool is_worth_a_search(struct fz_machine_processes *m, const struct member *p)
{
	const struct fz_process_image *image = &p->process.image;
	uint32_t *tries =
		fz_map_slot(&m->searched, fz_hash64(fz_hash64(image->device) ^ image->inode));

	*tries = *tries == FZ_NONE ? 0 : *tries;
	return maps_python(p) || (*tries)++ < SEARCHES;
}

/* Search a process for an interpreter, less often each time. */
static void find_python(struct fz_machine_processes *m, struct member *p, int64_t now)
{
	struct fz_python_options options = fz_target_process_python(m->s->options);
	struct fz_bpf_config config;
	struct fz_error why;

	if (p->gone || p->python || p->no_python || now < p->next_python)
		return;
	p->next_python = now + p->python_pause;
	p->python_pause = FZ_MIN(2 * p->python_pause, PYTHON_PAUSE_MAX);
	if (!is_worth_a_search(m, p))
		return;
	int rc = fz_python_open(p->pid, &options, m->s->profile, &p->python, &why);
	if (!rc)
		rc = fz_python_ticks_config(p->python, &config, &why);
	if (!rc && !fz_bpf_add_python(m->program, p->pid, &config))
		rc = FZ_ELIMIT;
	if (!rc) {
		fz_python_ticks_set_root(p->python, p->root);
		return;
	}
	p->no_python = rc != FZ_EAGAIN;
	fz_python_close(fz_steal(p->python));
}

/* Check an interpreter now and then. Its end is reported by the kernel; earlier frames can be named
 * as far as their code objects are known. */
static void check_python(struct member *p, int64_t now)
{
	struct fz_error ignored;

	if (!p->python || now < p->next_python)
		return;
	p->next_python = now + PYTHON_CHECK;
	fz_python_ticks_begin(p->python, &ignored);
}

/* ---- addresses ---- */

static void push(struct fz_machine_processes *m, uint32_t frame)
{
	m->chain[m->chain_n++] = frame;
}

static uint32_t kernel_frame(struct fz_machine_processes *m, uint64_t address)
{
	uint32_t *slot = fz_map_slot(&m->kernel_frames, address);
	struct fz_profile *p = m->s->profile;
	struct fz_str name = FZ_STR("[kernel]"), module = { 0 };

	if (*slot != FZ_NONE)
		return *slot;
	if (m->kernel)
		fz_kallsyms_find(m->kernel, address, &name, &module);
	struct fz_function f = {
		.name = fz_profile_string(p, name),
		.module = fz_profile_string(p, module.n ? module : FZ_STR("[kernel.kallsyms]")),
		.kind = FZ_KIND_KERNEL,
	};
	struct fz_frame frame = fz_frame_at(fz_profile_function(p, &f), FZ_NO_LINE);

	return *slot = fz_profile_frame(p, &frame);
}

/* The range that contains an address, or NULL. Reads of the map are limited, because garbage in
 * frame pointers may give any address. */
static const struct fz_space_range *range_at(struct member *p, uint64_t address, int64_t now)
{
	if (now >= p->next_check) {
		fz_space_refresh(&p->space, now);
		p->next_check = now + MAP_CHECK;
	}
	const struct fz_space_range *r = fz_space_find(&p->space, address);
	p->space.credit = 0;
	if (p->generation != p->space.generation)
		p->map_pause = MAP_PAUSE;
	if (!r && p->space.next_check > p->map_checked) {
		p->map_checked = p->space.next_check;
		p->space.next_refresh = now + p->map_pause;
		p->map_pause = FZ_MIN(2 * p->map_pause, MAP_CHECK);
	}
	return r;
}

static uint64_t file_address(const struct fz_machine_processes *m, const struct fz_space_range *r,
			     uint64_t address)
{
	const struct fz_images_entry *e = &m->s->images.list[r->module];
	uint64_t at = address - r->start + r->offset, start;

	if (r->image == FZ_NONE)
		return address;
	if (!fz_image_address(e->image, at, &at))
		return at;
	bool coarse = m->s->options->coarse || m->addresses >= ADDRESSES_MAX;
	return coarse && fz_image_function_start(e->image, at, &start) ? start : at;
}

/* The code at a user address; its frame is FZ_NONE if there is none. */
static struct place place_at(struct fz_machine_processes *m, struct member *p, uint64_t address)
{
	struct place place = { .frame = FZ_NONE };
	uint32_t known = fz_map_get(&p->place_of, address);

	if (known != FZ_NONE)
		return p->places[known];
	const struct fz_space_range *r = range_at(p, address, m->s->now);
	if (p->generation != p->space.generation)
		forget_places(p);
	p->generation = p->space.generation;
	if (!r || r->module == FZ_NONE)
		return place;
	place.interpreter = p->python && strcmp(r->path, fz_python_info(p->python)->module) == 0;
	place.frame = fz_images_raw_frame(&m->s->images, r->module, file_address(m, r, address),
					  m->s->profile);
	m->addresses++;
	fz_grow(p->places, p->place_n, p->place_cap);
	fz_map_put(&p->place_of, address, (uint32_t)p->place_n);
	p->places[p->place_n++] = place;
	return place;
}

/* ---- a stack ---- */

/* Push the user stack up to the first address that is not code, where frame pointers are wrong.
 * python: stop at the interpreter, and return true if it was found. */
static bool push_program(struct fz_machine_processes *m, struct member *p, const uint64_t *user,
			 uint32_t n, bool python)
{
	for (uint32_t i = 0; i < n; i++) {
		/* A return address may belong to the next function. */
		struct place place = place_at(m, p, user[i] - (i > 0));
		if (python && place.interpreter)
			return true;
		if (place.frame == FZ_NONE && i > 0)
			return false;
		push(m, place.frame == FZ_NONE ? m->unknown_frame : place.frame);
	}
	return false;
}

static void push_native(struct fz_machine_processes *m, struct member *p,
			const struct fz_bpf_tick *t)
{
	const uint64_t *kernel = (const uint64_t *)&t->frames[t->frame_n];
	const uint64_t *user = kernel + t->kernel_n;
	bool python = t->flags & FZ_BPF_PYTHON && t->frame_n;

	m->chain_n = 0;
	for (uint32_t i = 0; i < FZ_MIN(t->kernel_n, FZ_BPF_NATIVE); i++)
		push(m, kernel_frame(m, kernel[i]));
	uint32_t below = m->chain_n;
	if (p->gone) {
		if (t->user_n)
			push(m, m->unknown_frame);
		return;
	}
	uint32_t n = FZ_MIN(t->user_n, FZ_BPF_NATIVE);
	if (!push_program(m, p, user, n, python) && python)
		m->chain_n = FZ_MIN(m->chain_n, below + 1);
	else if (n == FZ_BPF_NATIVE && !python)
		push(m, m->cut_frame);
}

/* The base of a stack of a thread that does not run Python. */
static void add_plain(struct fz_machine_processes *m, struct member *p, const struct fz_bpf_tick *t,
		      struct fz_python_stack *ret)
{
	*ret = (struct fz_python_stack){ .thread = thread_of(m, p, t), .stack = p->root };
	ret->status = t->thread == t->process ? FZ_STATUS_MAIN_THREAD : 0;
}

void fz_machine_processes_read(struct fz_machine_processes *m, const struct fz_bpf_tick *t,
			       struct fz_python_stack *ret)
{
	struct member *p = member_of(m, t);
	struct fz_profile *profile = m->s->profile;

	m->gone_ticks += p->gone;
	find_python(m, p, m->s->now);
	check_python(p, m->s->now);
	if (p->python && t->flags & FZ_BPF_PYTHON)
		fz_python_ticks_read(p->python, t, ret);
	else
		add_plain(m, p, t, ret);
	push_native(m, p, t);
	if (profile->stack_count >= STACKS_MAX) {
		ret->stack = fz_profile_stack(profile, p->root, m->cut_frame);
		m->merged++;
		return;
	}
	while (m->chain_n)
		ret->stack = fz_profile_stack(profile, ret->stack, m->chain[--m->chain_n]);
}

void fz_machine_processes_note(const struct fz_machine_processes *m)
{
	struct fz_profile *p = m->s->profile;
	char n[FZ_NUMBER_SIZE], samples[FZ_NUMBER_SIZE];

	if (m->gone)
		fz_profile_note(p,
				"%s of processes that ended before they could be read ([gone]: %s)",
				fz_format_plural((int64_t)m->gone_ticks, "sample", samples),
				fz_format_count((int64_t)m->gone, n));
	if (!m->kernel)
		fz_profile_note(p,
				"/proc/kallsyms hides addresses: kernel functions have no names");
	if (m->merged)
		fz_profile_note(
			p,
			"too many different stacks or threads: %s attributed to the process only",
			fz_format_plural((int64_t)m->merged, "sample", n));
}
