/* SPDX-License-Identifier: MIT */
/* The certificate that the server presents; there is one server in a process. */
#pragma once

#include "base/error.h"

/* From now on, new connections get this certificate with its chain (PEM texts). On error the former
 * one stays. FZ_EUSAGE: not a certificate and its key. */
int fz_tls_use(const char *certificate, const char *key, struct fz_error *err);
/* What MHD_OPTION_HTTPS_CERT_CALLBACK is given, after fz_tls_use. */
void *fz_tls_callback(void);
/* When no connection is left. */
void fz_tls_release(void);
