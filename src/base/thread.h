/* SPDX-License-Identifier: MIT */
/* Threads of our own, which no signal reaches: signals are for whoever started them. */
#pragma once

#include <pthread.h>

#include "base.h"

/* As pthread_create; false: there is no room for another. */
bool fz_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
