/* SPDX-License-Identifier: MIT */
/* The service, version and host of an OpenTelemetry resource.
 *
 *   attributes of a resource    {key or its number, value {text or its number}}*
 *   service.name                -> service; if missing, process.executable.name
 *   service.version, host.name  -> version, host
 *
 * Numbers are indices of strings in the request's dictionary, where exporters store those of
 * profiles.
 */
#pragma once

#include "base/error.h"
#include "fleet/fleet.h"

/* Texts of a request by number, borrowed from it. */
struct fz_otlp_texts {
	struct fz_str *list;
	uint32_t n, cap;
};

/* FZ_EINPUT: invalid dictionary; FZ_ELIMIT: too many texts. */
int fz_otlp_read_texts(struct fz_str dictionary, struct fz_otlp_texts *ret, struct fz_error *err);
void fz_otlp_texts_release(struct fz_otlp_texts *t);

struct fz_otlp_source {
	char *service, *version, *host; /* NULL: unknown */
	struct fz_buf labels;           /* from fz_fleet_labels */
	uint32_t profiles;              /* number in this resource */
};

/* Read a ResourceProfiles message. FZ_EINPUT: invalid message; FZ_EUSAGE: invalid name or no
 * service. The caller releases *ret in any case. */
int fz_otlp_read_resource(struct fz_str resource, const struct fz_otlp_texts *texts,
			  struct fz_otlp_source *ret, struct fz_error *err);
void fz_otlp_source_release(struct fz_otlp_source *w);
