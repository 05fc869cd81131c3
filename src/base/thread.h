/* SPDX-License-Identifier: MIT */
/* Threads with all signals blocked, so that signals go to the thread that started them. */
#pragma once

#include <pthread.h>

#include "base.h"

/* Like pthread_create; false if no thread can be created. */
bool fz_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* Does the same work on two objects at once, such as the two sides of a comparison, and returns
 * when both are done. Most of that work waits for memory, so a second processor halves the time.
 * The work must not write shared data, so that the result does not depend on the order. */
void fz_both(void (*work)(void *arg), void *first, void *second);
