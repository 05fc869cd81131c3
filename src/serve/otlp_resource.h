/* SPDX-License-Identifier: MIT */
/* The service, version and host of an OpenTelemetry resource.
 *
 *   attributes of a resource    {key or its number, value {text or its number}}*
 *   service.name                -> service; where it is missing, process.executable.name
 *   service.version, host.name  -> version, host
 *
 * Numbers are indices of strings in the request's dictionary, where exporters store those of
 * profiles.
 */
#pragma once

#include "base/error.h"
#include "fleet/fleet.h"

/* Texts of a request by their numbers; they are the request's. */
struct fz_otlp_texts {
	struct fz_str *list;
	uint32_t n, cap;
};

/* FZ_EINPUT: it is no dictionary; FZ_ELIMIT: it has too many texts. */
int fz_otlp_read_texts(struct fz_str dictionary, struct fz_otlp_texts *ret, struct fz_error *err);
void fz_otlp_texts_release(struct fz_otlp_texts *t);

struct fz_otlp_who {
	char *service, *version, *host; /* NULL: not said */
	struct fz_buf labels;           /* as of fz_fleet_labels */
	uint32_t profiles;              /* of this resource */
};

/* Of one message ResourceProfiles. FZ_EINPUT: it is none; FZ_EUSAGE: a name is none, or there is no
 * service. *ret is to be released in any case. */
int fz_otlp_read_resource(struct fz_str resource, const struct fz_otlp_texts *texts,
			  struct fz_otlp_who *ret, struct fz_error *err);
void fz_otlp_who_release(struct fz_otlp_who *w);
