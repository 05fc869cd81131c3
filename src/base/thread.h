/* SPDX-License-Identifier: MIT */
/* Threads that receive no signals: signals are for the thread that started them. */
#pragma once

#include <pthread.h>

#include "base.h"

/* As pthread_create; false: there is no room for another. */
bool fz_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
