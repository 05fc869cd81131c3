/* SPDX-License-Identifier: MIT */
/* The agent's threads; see agent.h.
 *
 * The sampler owns the window being sampled, the maker the one being converted to pushes. There is
 * no third, which bounds memory. The sampler owns the table of programs while the maker is idle,
 * and only reads it otherwise; the maker sets names.
 */
#include "agent/agent.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sender.h"
#include "agent/split.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/thread.h"
#include "record/facts.h"
#include "format/format.h"
#include "record/record.h"

enum { MAKER_NICE = 5, SEND_SECONDS = 30 };

struct agent {
	const struct fz_agent_options *o;
	const struct fz_notify *notify;
	uint64_t id; /* another one after a restart, and on each host */
	struct fz_record_options how;
	struct fz_sampling sampling;
	struct fz_sampler sampler;
	bool sampler_set;
	int signal_fd;
	struct fz_agent_memory memory;
	struct fz_agent_naming naming;
	struct fz_agent_window *window; /* the current one */
	struct fz_client client;
	struct fz_agent_spool *spool;
	struct fz_agent_sender *sender;
	struct fz_agent_figures figures;
	struct fz_names *names; /* the maker's */

	pthread_t maker;
	bool has_maker;
	id_t maker_id; /* its tid; 0: not started yet */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct fz_agent_window *ended; /* the maker's; NULL: it is idle */
	bool ends;
};

/* ---- pushes ---- */

static int push_part(struct agent *a, const struct fz_agent_part *part, int64_t from_s,
		     struct fz_error *err)
{
	struct fz_fleet_push push = { .service = part->service,
				      .version = part->version,
				      .host = a->o->host,
				      .labels = a->o->labels };
	fz_auto(fz_output_abortp) struct fz_output *out = fz_output_memory();
	int r = fz_format_fz.write(part->profile, out, err);

	if (r)
		return r;
	struct fz_str body = fz_buf_view(fz_output_buffer(out));
	fz_auto(fz_free_ptr) char *id = fz_fleet_id(&push, body, 0);
	push.id = id;
	fz_auto(fz_free_ptr) char *plain = fz_client_push_query(&push);
	fz_auto(fz_free_ptr) char *query =
		fz_asprintf("%s&agent=%016llx", plain, (unsigned long long)a->id);
	return fz_agent_spool_add(a->spool, query, body, from_s, err);
}

static void make_pushes(struct agent *a, struct fz_agent_window *w)
{
	fz_auto(fz_agent_parts_release) struct fz_agent_parts parts = { 0 };
	int64_t from_s = w->start_unix_ns / FZ_SECOND;
	struct fz_error err;

	fz_agent_name_all(&a->naming, w->programs, w->program_n);
	w->images.names = a->names;
	if (fz_agent_split(w, &parts, &err))
		fz_notify_warn(a->notify, "lost a window: %s", err.message);
	for (size_t i = 0; i < parts.n; i++) {
		if (push_part(a, &parts.list[i], from_s, &err))
			fz_notify_warn(a->notify, "lost a push of %s: %s", parts.list[i].service,
				       err.message);
		a->figures.pushes++;
		a->figures.samples += parts.list[i].profile->quality.taken;
	}
	a->figures.windows++;
	fz_agent_sender_wake(a->sender);
}

static void *run_maker(void *arg)
{
	struct agent *a = arg;

	pthread_mutex_lock(&a->lock);
	a->maker_id = (id_t)syscall(SYS_gettid);
	if (!a->ends)
		setpriority(PRIO_PROCESS, a->maker_id, MAKER_NICE);
	for (;;) {
		while (!a->ended && !a->ends)
			pthread_cond_wait(&a->changed, &a->lock);
		if (!a->ended)
			break;
		pthread_mutex_unlock(&a->lock);
		make_pushes(a, a->ended);
		fz_agent_window_free(a->ended);
		/* Symbols of all programs are large, and not needed until the next window. */
		malloc_trim(0);
		pthread_mutex_lock(&a->lock);
		a->ended = NULL;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* ---- windows ---- */

static struct fz_profile *new_profile(const struct agent *a)
{
	struct fz_profile *p = fz_profile_new();
	char text[64];

	fz_profile_add_run(p, &(struct fz_run){ .start_unix_ns = fz_clock_unix() });
	fz_sampler_add_metrics(p, FZ_CLOCK_CPU, a->o->rate);
	p->samples.timed = true;
	p->quality.known = true;
	fz_facts_machine(p);
	p->recording = fz_record_plan(&a->how);
	fz_profile_set_fact(p, "rate", fz_str_of(fz_rate_format(a->o->rate, text, sizeof(text))));
	fz_profile_set_fact(p, "mode", fz_str_of(fz_mode_names[FZ_MODE_CPU]));
	return p;
}

static void begin_window(struct agent *a, uint64_t number, struct fz_profile *p)
{
	a->window = fz_agent_window_new(number, p);
	a->sampling.start = a->window->start;
}

/* False while the maker is busy. */
static bool is_maker_free(struct agent *a)
{
	pthread_mutex_lock(&a->lock);
	bool is_free = !a->ended;
	pthread_mutex_unlock(&a->lock);
	return is_free;
}

static void hand_over(struct agent *a, struct fz_agent_window *w)
{
	pthread_mutex_lock(&a->lock);
	while (a->ended)
		pthread_cond_wait(&a->changed, &a->lock);
	a->ended = w;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

static void turn(struct agent *a)
{
	struct fz_agent_window *old = a->window;
	struct fz_profile *next = new_profile(a);

	/* Ticks that are fetched now still belong to the old window. */
	fz_sampler_turn(&a->sampler, next, &old->images);
	begin_window(a, old->number + 1, next);
	old->duration_ns = a->window->start - old->start;
	fz_agent_forget(&a->memory, old->number);
	hand_over(a, old);
}

static void on_second(void *arg, const struct fz_sampler *s)
{
	struct agent *a = arg;

	(void)s;
	if (fz_agent_window_is_over(a->window, a->o->every_ns, fz_clock_now(), fz_clock_unix()) &&
	    is_maker_free(a))
		turn(a);
}

static void on_process(void *arg, pid_t pid, enum fz_met met)
{
	struct agent *a = arg;

	fz_agent_window_add_program(
		a->window, pid,
		fz_agent_memory_find_or_add(&a->memory, pid, met, a->window->number));
}

static void on_sample(void *arg, const struct fz_sampler *s, const struct fz_sample *sample,
		      int64_t weight)
{
	struct agent *a = arg;
	pid_t pid = (pid_t)s->profile->threads[sample->thread].pid;

	/* With too many threads, the sampler does not report some processes. */
	if (!fz_agent_window_has_program(a->window, pid))
		on_process(a, pid, FZ_MET_GONE);
	fz_agent_window_add(a->window, pid, sample, weight);
}

static bool on_signal(void *arg, const struct signalfd_siginfo *info)
{
	(void)arg;
	(void)info;
	return true;
}

/* ---- beginning and end ---- */

static int catch_signals(struct agent *a, struct fz_error *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	a->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signal_fd < 0 ? fz_fail_errno(err, "signalfd") : 0;
}

static int open_sampler(struct agent *a, struct fz_error *err)
{
	a->how = (struct fz_record_options)FZ_RECORD_DEFAULTS;
	a->how.machine = a->how.coarse = a->how.all_threads = a->how.no_source = true;
	a->how.rate = a->o->rate;
	a->how.mode = FZ_MODE_CPU;
	a->how.clock = FZ_CLOCK_CPU;
	a->how.sampled_by = FZ_ENGINE_BPF;
	a->sampling = (struct fz_sampling){
		.pidfd = -1,
		.signal_fd = a->signal_fd,
		.on_signal = on_signal,
		.on_second = on_second,
		.on_sample = on_sample,
		.on_process = on_process,
		.arg = a,
	};
	begin_window(a, 1, new_profile(a));
	fz_sampler_init(&a->sampler, &a->how, &a->sampling, a->window->profile);
	a->sampler_set = true;
	return fz_sampler_open(&a->sampler, err);
}

static int begin(struct agent *a, struct fz_error *err)
{
	const struct fz_agent_options *o = a->o;

	a->id = fz_hash64((uint64_t)fz_clock_unix() ^ fz_hash64((uint64_t)getpid()));
	a->names = fz_names_new();
	a->client = (struct fz_client){ .server = o->server,
					.token = o->token,
					.seconds = SEND_SECONDS };
	a->naming = (struct fz_agent_naming){ .order = o->order,
					      .versions = fz_agent_versions_new(),
					      .containers = o->containers };
	int r = fz_client_check(&a->client, err);
	if (!r)
		r = fz_agent_rules_load(&a->naming.rules, o->config ? o->config : "fizeau.ini",
					o->config != NULL, err);
	if (!r)
		r = fz_agent_spool_open(o->spool, o->spool_limit, false, a->notify, &a->spool, err);
	if (!r)
		r = catch_signals(a, err);
	if (!r && (r = open_sampler(a, err)))
		fz_error_prefix(err, "cannot sample the machine");
	if (!r)
		r = fz_agent_sender_start(&a->client, a->spool, a->notify, &a->sender, err);
	if (!r) {
		a->has_maker = fz_thread_start(&a->maker, run_maker, a);
		r = a->has_maker ? 0 : fz_fail(err, FZ_ESYSTEM, "cannot start a thread");
	}
	return r;
}

/* After sampling: send the rest to the server, or leave it in the spool. */
static void finish(struct agent *a)
{
	struct fz_agent_window *last = fz_steal(a->window);

	last->images = a->sampler.images;
	a->sampler.images = (struct fz_images){ 0 };
	last->duration_ns = a->sampler.end_time - last->start;
	hand_over(a, last);
}

static void release(struct agent *a)
{
	pthread_mutex_lock(&a->lock);
	a->ends = true;
	/* The user waits for the maker now. */
	if (a->maker_id)
		setpriority(PRIO_PROCESS, a->maker_id, 0);
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	if (a->has_maker)
		pthread_join(a->maker, NULL);
	a->figures.sent = fz_agent_sender_finish(a->sender);
	if (a->spool) {
		struct fz_agent_spool_counts c = fz_agent_spool_count(a->spool);
		a->figures.kept = c.n;
		a->figures.dropped = c.dropped;
	}
	fz_agent_spool_close(a->spool);
	if (a->sampler_set)
		fz_sampler_release(&a->sampler);
	fz_agent_window_free(a->window);
	fz_agent_memory_release(&a->memory);
	fz_agent_rules_release(&a->naming.rules);
	fz_agent_versions_free(a->naming.versions);
	fz_names_free(a->names);
	fz_close_fd(&a->signal_fd);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
}

int fz_agent_run(const struct fz_agent_options *o, const struct fz_notify *notify,
		 void (*ready)(void), struct fz_agent_figures *ret, struct fz_error *err)
{
	struct agent a = { .o = o, .notify = notify, .signal_fd = -1 };

	pthread_mutex_init(&a.lock, NULL);
	pthread_cond_init(&a.changed, NULL);
	/* With one heap, memory freed by one thread can be used by another. */
	mallopt(M_ARENA_MAX, 1);
	int r = begin(&a, err);
	if (!r) {
		ready();
		fz_sampler_run(&a.sampler);
		if (a.sampler.end == FZ_END_OUTPUT) {
			*err = a.sampler.trouble;
			r = err->code;
		}
		finish(&a);
	}
	release(&a);
	*ret = a.figures;
	return r;
}
