/* SPDX-License-Identifier: MIT */
/* libmicrohttpd reads a certificate once, when it starts. To replace one while connections are
 * open, GnuTLS asks us for it in each handshake:
 *
 *   handshake -> in use -> {chain, key} -> earlier -> {chain, key} -> ...
 *
 * A handshake may still refer to an earlier one, so they are freed together at the end.
 * libmicrohttpd passes no argument to the callback, so the current certificate is global.
 */
#include "serve/tls.h"

#include <gnutls/abstract.h>
#include <stdatomic.h>

#include "base/library.h"

enum { CHAIN_MAX = 16 };

static struct {
	__typeof__(&gnutls_certificate_allocate_credentials) new_pair;
	__typeof__(&gnutls_certificate_free_credentials) free_pair;
	__typeof__(&gnutls_certificate_set_x509_key_mem) set_pair;
	__typeof__(&gnutls_pcert_list_import_x509_raw) import_chain;
	__typeof__(&gnutls_pcert_deinit) free_certificate;
	__typeof__(&gnutls_privkey_init) new_key;
	__typeof__(&gnutls_privkey_import_x509_raw) import_key;
	__typeof__(&gnutls_privkey_deinit) free_key;
} tls;

struct identity {
	struct identity *earlier;
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned n;
	gnutls_privkey_t key;
};

static _Atomic(struct identity *) in_use;

static int load(struct fz_error *err)
{
	static const struct fz_library_symbol symbols[] = {
		{ "gnutls_certificate_allocate_credentials", &tls.new_pair },
		{ "gnutls_certificate_free_credentials", &tls.free_pair },
		{ "gnutls_certificate_set_x509_key_mem", &tls.set_pair },
		{ "gnutls_pcert_list_import_x509_raw", &tls.import_chain },
		{ "gnutls_pcert_deinit", &tls.free_certificate },
		{ "gnutls_privkey_init", &tls.new_key },
		{ "gnutls_privkey_import_x509_raw", &tls.import_key },
		{ "gnutls_privkey_deinit", &tls.free_key },
	};

	return fz_library_load("libgnutls.so.30", "libgnutls30", symbols, FZ_ARRAY_LEN(symbols),
			       err);
}

static gnutls_datum_t datum_of(const char *text)
{
	return (gnutls_datum_t){ (unsigned char *)(void *)text, (unsigned)strlen(text) };
}

/* Does the key belong to the certificate? */
static bool is_pair(const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
	gnutls_certificate_credentials_t pair;

	if (tls.new_pair(&pair) < 0)
		return false;
	bool ret = tls.set_pair(pair, certificate, key, GNUTLS_X509_FMT_PEM) >= 0;
	tls.free_pair(pair);
	return ret;
}

static void free_identity(struct identity *i)
{
	for (unsigned c = 0; c < i->n; c++)
		tls.free_certificate(&i->chain[c]);
	if (i->key)
		tls.free_key(i->key);
	free(i);
}

static bool import(struct identity *i, const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
	unsigned n = CHAIN_MAX;

	if (!is_pair(certificate, key) ||
	    tls.import_chain(i->chain, &n, certificate, GNUTLS_X509_FMT_PEM,
			     GNUTLS_X509_CRT_LIST_SORT) < 0)
		return false;
	i->n = n;
	return tls.new_key(&i->key) >= 0 &&
	       tls.import_key(i->key, key, GNUTLS_X509_FMT_PEM, NULL, 0) >= 0;
}

int fz_tls_use(const char *certificate, const char *key, struct fz_error *err)
{
	const gnutls_datum_t pem[] = { datum_of(certificate), datum_of(key) };
	int r = load(err);

	if (r)
		return r;
	struct identity *i = fz_calloc(1, sizeof(*i));
	if (!import(i, &pem[0], &pem[1])) {
		free_identity(i);
		return fz_fail(err, FZ_EUSAGE,
			       "--tls-cert, --tls-key: not a certificate and its key (PEM)");
	}
	i->earlier = atomic_load(&in_use);
	atomic_store(&in_use, i);
	return 0;
}

static int present(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_n,
		   const gnutls_pk_algorithm_t *algorithms, int algorithm_n, gnutls_pcert_st **ret,
		   unsigned *ret_n, gnutls_privkey_t *ret_key)
{
	struct identity *i = atomic_load(&in_use);

	(void)session;
	(void)authorities;
	(void)authority_n;
	(void)algorithms;
	(void)algorithm_n;
	*ret = i->chain;
	*ret_n = i->n;
	*ret_key = i->key;
	return 0;
}

void *fz_tls_callback(void)
{
	gnutls_certificate_retrieve_function2 *callback = present;

	return (void *)callback;
}

void fz_tls_release(void)
{
	struct identity *i = atomic_exchange(&in_use, NULL);

	while (i) {
		struct identity *earlier = i->earlier;

		free_identity(i);
		i = earlier;
	}
}
