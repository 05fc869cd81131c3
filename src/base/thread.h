/* SPDX-License-Identifier: MIT */
/* Threads with all signals blocked, so that signals go to the thread that started them. */
#pragma once

#include <pthread.h>

#include "base.h"

/* Like pthread_create; false if no thread can be created. */
bool fz_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
