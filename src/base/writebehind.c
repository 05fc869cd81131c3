/* SPDX-License-Identifier: MIT */
/* Writes to a file from a separate thread; see writebehind.h.
 *
 * Callers append to `waiting`; the thread swaps it for an empty buffer and writes it.
 */
#include "writebehind.h"

#include "buf.h"
#include "io.h"
#include "thread.h"

#include <errno.h>
#include <unistd.h>

struct fz_write_behind {
	int fd;
	bool threaded; /* false: no thread could be created, so writes are synchronous */
	bool ending;
	bool writing; /* a swapped buffer is being written */
	int error;
	struct fz_buf waiting;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t added, taken, written;
};

static int empty(int fd)
{
	/* A device or a pipe cannot and need not be truncated. */
	return ftruncate(fd, 0) && errno != EINVAL ? errno : 0;
}

/* Call both with the lock held; it is released during writes. */
static void set_error(struct fz_write_behind *w, int error)
{
	if (!w->error)
		w->error = error;
}

static void write_waiting(struct fz_write_behind *w)
{
	struct fz_buf taken = w->waiting;
	int error = w->error;

	w->waiting = (struct fz_buf){ 0 };
	w->writing = true;
	pthread_cond_signal(&w->taken);
	pthread_mutex_unlock(&w->lock);
	if (!error && !fz_write_full(w->fd, taken.p, taken.n))
		error = errno;
	fz_buf_release(&taken);
	pthread_mutex_lock(&w->lock);
	w->writing = false;
	pthread_cond_signal(&w->written);
	set_error(w, error);
}

static void *run(void *arg)
{
	struct fz_write_behind *w = arg;
	int error = empty(w->fd);

	pthread_mutex_lock(&w->lock);
	set_error(w, error);
	while (w->waiting.n || !w->ending) {
		if (w->waiting.n)
			write_waiting(w);
		else
			pthread_cond_wait(&w->added, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct fz_write_behind *fz_write_behind_new(int fd)
{
	struct fz_write_behind *w = fz_calloc(1, sizeof(*w));

	w->fd = fd;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->added, NULL);
	pthread_cond_init(&w->taken, NULL);
	pthread_cond_init(&w->written, NULL);
	w->threaded = fz_thread_start(&w->thread, run, w);
	if (!w->threaded)
		w->error = empty(fd);
	return w;
}

void fz_write_behind_add(struct fz_write_behind *w, const void *p, size_t n)
{
	pthread_mutex_lock(&w->lock);
	fz_assert(!w->ending);
	while (w->waiting.n > FZ_WRITE_BEHIND_MOST)
		pthread_cond_wait(&w->taken, &w->lock);
	fz_buf_add(&w->waiting, p, n);
	if (w->threaded)
		pthread_cond_signal(&w->added);
	else
		write_waiting(w);
	pthread_mutex_unlock(&w->lock);
}

int fz_write_behind_error(struct fz_write_behind *w)
{
	pthread_mutex_lock(&w->lock);
	int error = w->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}

int fz_write_behind_wait(struct fz_write_behind *w)
{
	pthread_mutex_lock(&w->lock);
	while (w->waiting.n || w->writing)
		pthread_cond_wait(&w->written, &w->lock);
	int error = w->error;
	pthread_mutex_unlock(&w->lock);
	return error;
}

int fz_write_behind_finish(struct fz_write_behind *w)
{
	pthread_mutex_lock(&w->lock);
	bool join = w->threaded && !w->ending;
	w->ending = true;
	pthread_cond_signal(&w->added);
	pthread_mutex_unlock(&w->lock);
	if (join)
		pthread_join(w->thread, NULL);
	return w->error;
}

void fz_write_behind_free(struct fz_write_behind *w)
{
	if (!w)
		return;
	fz_write_behind_finish(w);
	pthread_cond_destroy(&w->taken);
	pthread_cond_destroy(&w->written);
	pthread_cond_destroy(&w->added);
	pthread_mutex_destroy(&w->lock);
	fz_buf_release(&w->waiting);
	free(w);
}
