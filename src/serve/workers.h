/* SPDX-License-Identifier: MIT */
/* Threads that work on complete requests, a limited number; more requests wait in order. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A piece of work; `run` may free it. */
struct fz_work {
	struct fz_work *next;
	void (*run)(struct fz_work *work);
};

struct fz_workers {
	pthread_mutex_t lock;
	pthread_cond_t done; /* a thread ended */
	size_t thread_max, waiting_max;
	size_t thread_n, waiting_n;
	struct fz_work *first, **last; /* waiting */
	bool closed;
};

void fz_workers_init(struct fz_workers *w, size_t thread_max, size_t waiting_max);
/* Run some work in another thread. False if too much is waiting, or after fz_workers_close. */
bool fz_workers_do(struct fz_workers *w, struct fz_work *work);
/* Accept no more work, and wait for what was accepted. */
void fz_workers_close(struct fz_workers *w);
void fz_workers_release(struct fz_workers *w);
