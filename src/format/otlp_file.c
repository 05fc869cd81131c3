/* SPDX-License-Identifier: MIT */
/* Splits a file into its messages.
 *
 *   message                            a protocol buffer or JSON, written by anything but the
 *                                      collector
 *   JSON \n JSON \n ...                written by the collector's file exporter
 *   length message length message ...  the same with "format: proto"; the length has 4 bytes, most
 *                                      significant first
 *   length zstd(message) ...           the same with "compression: zstd"
 */
#include "otlp_file.h"

#include "import.h"
#include "otlp_json.h"

enum { LENGTH_BYTES = 4, HEAD = 4096 };

static uint32_t length_at(struct fz_str s)
{
	const uint8_t *p = (const uint8_t *)s.p;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The first byte of a message, its tag, would be the first of a huge length. A message then starts
 * with its resources, the only field that all have, or as JSON or zstd do. */
bool fz_otlp_file_has_lengths(struct fz_str head)
{
	static const char zstd[] = "\x28\xb5\x2f\xfd";

	if (head.n <= LENGTH_BYTES || (uint8_t)head.p[0] >= 8 || !length_at(head))
		return false;
	struct fz_str message = { head.p + LENGTH_BYTES, head.n - LENGTH_BYTES };
	return message.p[0] == 0x0a || message.p[0] == 0x12 || fz_str_starts(message, zstd) ||
	       fz_otlp_is_json((const uint8_t *)message.p, message.n);
}

/* Whether each line is a value. An indented document has only its bracket on the first line. */
static bool has_lines(struct fz_str s)
{
	struct fz_str line = fz_str_trimmed(fz_str_take_line(&s));

	return fz_str_starts(line, "{") && fz_str_ends(line, "}") && fz_str_trimmed(s).n;
}

/* Takes the next part; false if it is incomplete. */
static bool take_part(struct fz_str *s, bool lines, struct fz_str *ret)
{
	if (lines) {
		*ret = fz_str_trimmed(fz_str_take_line(s));
		return !ret->n || fz_str_ends(*ret, "}");
	}
	if (s->n < LENGTH_BYTES || length_at(*s) > s->n - LENGTH_BYTES)
		return false;
	*ret = (struct fz_str){ s->p + LENGTH_BYTES, length_at(*s) };
	s->p = ret->p + ret->n;
	s->n -= LENGTH_BYTES + ret->n;
	return true;
}

static int read_message(struct fz_input *in, bool json, struct fz_buf *ret, struct fz_error *err)
{
	const uint8_t *head;
	int64_t n = fz_input_peek(in, &head, HEAD, err);

	if (n < 0)
		return (int)n;
	if (json || fz_otlp_is_json(head, (size_t)n))
		return fz_otlp_from_json(in, ret, err);
	return fz_input_read_all(in, ret, FZ_IMPORT_FILE_MAX, err);
}

/* Decompresses and converts a message. */
static int add_message(struct fz_input *in, struct fz_str part, bool json, struct fz_otlp_file *to,
		       struct fz_error *err)
{
	fz_auto(fz_input_closep) struct fz_input *inner = NULL;
	fz_auto(fz_buf_release) struct fz_buf message = { 0 };
	int code = fz_input_open_memory(part.p, part.n, fz_input_name(in), &inner, err);

	if (!code)
		code = read_message(inner, json, &message, err);
	if (code)
		return code;
	if (!fz_input_charge(in, message.cap + 2 * sizeof(message)))
		return fz_input_check(in, err);
	fz_push(to->messages, to->n, to->cap, message);
	message = (struct fz_buf){ 0 };
	return 0;
}

int fz_otlp_file_read(struct fz_input *in, struct fz_otlp_file *ret, struct fz_error *err)
{
	fz_auto(fz_buf_release) struct fz_buf bytes = { 0 };
	int code = fz_input_read_all(in, &bytes, FZ_IMPORT_FILE_MAX, err);
	struct fz_str rest = fz_buf_view(&bytes), part;
	bool lines = has_lines(rest), json = fz_str_starts(fz_str_trimmed(rest), "{");

	if (code)
		return code;
	if (!lines && !json && !fz_otlp_file_has_lengths(rest)) {
		fz_push(ret->messages, ret->n, ret->cap, bytes);
		bytes = (struct fz_buf){ 0 };
		return 0;
	}
	if (!lines && json)
		return add_message(in, rest, json, ret, err);
	while (rest.n && !code && !ret->cut) {
		ret->cut = !take_part(&rest, lines, &part);
		if (!ret->cut && part.n)
			code = add_message(in, part, lines, ret, err);
		/* A line that was being written may end in any bracket. */
		if (code == FZ_EINPUT && lines && !rest.n && bytes.p[bytes.n - 1] != '\n' &&
		    ret->n) {
			ret->cut = true;
			code = 0;
		}
	}
	return code;
}

void fz_otlp_file_release(struct fz_otlp_file *file)
{
	for (uint32_t i = 0; i < file->n; i++)
		fz_buf_release(&file->messages[i]);
	free(file->messages);
}
