/* SPDX-License-Identifier: MIT */
/* The certificate that the server presents; there is one server in a process. */
#pragma once

#include "base/error.h"

/* Use this certificate with its chain (PEM texts) for new connections. On error the previous one
 * stays in use. FZ_EUSAGE if they are not a certificate and its key. */
int fz_tls_use(const char *certificate, const char *key, struct fz_error *err);
/* Callback for MHD_OPTION_HTTPS_CERT_CALLBACK; call fz_tls_use first. */
void *fz_tls_callback(void);
/* Free all certificates; no connection may be open. */
void fz_tls_release(void);
