/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of a list of inputs, one after the other, as batches (scan.h).
 *
 * States of an input: next; open (stream or chunks is set); at its end, where a last record without
 * terminator gets one; closed, with its counters added to `done`.
 *
 * Invariant: sp__scan_owed() is the bytes of all batches at the end: the bytes read, plus the
 * terminators added, minus the headers, the blank lines and the records that were left out.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "flow/scan_impl.h"
#include "rec/key.h"

static int stream_until(void *scan, int64_t timeout_ns)
{
	struct sp__scan *s = scan;

	return s->chunks ? sp__chunks_wait(s->chunks, timeout_ns)
			 : sp__rstream_wait(s->stream, timeout_ns);
}

static int stream_fd(void *scan)
{
	struct sp__scan *s = scan;

	return s->chunks ? sp__queue_fd(sp__chunks_queue(s->chunks)) : sp__rstream_fd(s->stream);
}

static const struct sp__wait_ops wait_on_stream = { stream_until, stream_fd };

static int no_memory(const struct sp__scan *s)
{
	return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
}

int sp__scan_open(struct sp__scan **scan, const struct sp__scan_opts *opts)
{
	struct sp__scan *s = calloc(1, sizeof(*s));

	if (!s)
		return sp__err(opts->err, -ENOMEM, "allocate", NULL, -1);
	s->opts = *opts;
	/* In records that end with NUL a newline is a byte as any other. */
	s->opts.remove_blank &= opts->format.kind == SP_REC_CSV || opts->format.eol == '\n';
	s->skip_left = opts->skip_bytes;
	s->fd = -1;
	s->checks = opts->keys && sp__ks(opts->keys)->checks;
	s->text.json = &s->json;
	s->wait = (struct sp__waiter){ .ops = &wait_on_stream, .source = s };
	s->digest = opts->checksums ? sp__digest_new() : NULL;
	if (opts->checksums && !s->digest) {
		free(s);
		return sp__err(opts->err, -ENOMEM, "allocate", NULL, -1);
	}
	*scan = s;
	return 0;
}

/* Adds the counters of the current input. */
static void count_reads(const struct sp__scan *s, struct sp__io_counters *c)
{
	*c = (struct sp__io_counters){ 0 };
	if (s->chunks)
		*c = *sp__queue_counters(sp__chunks_queue(s->chunks));
	else if (s->stream)
		sp__rstream_counters(s->stream, c);
}

static void close_input(struct sp__scan *s)
{
	struct sp__io_counters c;
	const char *engine = NULL;

	count_reads(s, &c);
	sp__io_add(&s->done, &c);
	if (s->chunks)
		engine = sp__queue_engine(sp__chunks_queue(s->chunks));
	else if (s->stream)
		engine = sp__rstream_engine(s->stream);
	s->refused = sp__scan_refused(s);
	if (engine && strlen(engine) < sizeof(s->engine))
		strcpy(s->engine, engine);
	sp__rstream_close(s->stream);
	sp__chunks_close(s->chunks);
	sp__stitch_close(s->stitch);
	s->stream = NULL;
	s->chunks = NULL;
	s->stitch = NULL;
	if (s->fd >= 0 && s->digest)
		s->opts.checksums[s->input] = sp__digest_take(s->digest);
	if (s->fd >= 0 && !s->opts.part)
		sp__input_close(s->opts.inputs[s->input], s->fd);
	s->input += s->fd >= 0;
	s->fd = -1;
}

void sp__scan_close(struct sp__scan *s)
{
	if (!s)
		return;
	sp__waits_withdraw(&s->wait);
	close_input(s);
	sp__splitter_release(&s->splitter);
	sp__bytes_release(&s->header, NULL);
	sp__bytes_release(&s->lines, NULL);
	sp__keybuf_release(&s->text);
	sp__json_reader_release(&s->json);
	sp__filtering_release(&s->chosen);
	sp__digest_free(s->digest);
	free(s);
}

int sp__scan_begin(struct sp__scan *s)
{
	const struct sp__scan_part *part = s->opts.part;
	const char *name = s->opts.inputs[s->input];
	int fd = part ? part->fd : sp__input_open(name, s->opts.err);

	if (fd < 0)
		return fd;
	s->fd = fd;
	if (part && lseek(fd, (off_t)part->from, SEEK_SET) < 0)
		return sp__err(s->opts.err, -errno, "read", name, -1);
	return 0;
}

int sp__scan_fd(const struct sp__scan *s)
{
	return s->fd;
}

/* SP_EUNSUP: the input must be read in order. */
static int open_chunks(struct sp__scan *s, const struct sp__rstream_opts *o)
{
	int rc;

	if (!s->opts.any_order || s->opts.format.kind == SP_REC_CSV || s->opts.ahead.bytes ||
	    o->unpack)
		return SP_EUNSUP;
	rc = sp__chunks_open(&s->chunks, s->fd, s->opts.inputs[s->input], o, s->opts.err);
	if (rc < 0)
		return rc;
	rc = sp__stitch_open(&s->stitch, &s->opts.format, o->chunk_bytes,
			     sp__chunks_window(s->chunks));
	return rc < 0 ? no_memory(s) : 0;
}

static void take_span(struct sp__scan *s, const char *data, size_t bytes)
{
	s->bytes += bytes;
	if (s->digest)
		sp__digest_add(s->digest, data, bytes);
	if (s->opts.format.kind == SP_REC_CSV)
		s->newlines += sp__count_lines(data, bytes);
	(void)sp__splitter_feed(&s->splitter, data, bytes);
}

static int open_input(struct sp__scan *s)
{
	struct sp__rstream_opts o = s->opts.stream;
	int rc = s->fd < 0 ? sp__scan_begin(s) : 0;

	if (rc < 0)
		return rc;
	o.sim_file += (unsigned)s->input;
	o.drop_mark =
		(s->opts.format.kind == SP_REC_CSV || s->opts.format.json || s->opts.drop_mark) &&
		(!s->opts.part || !s->opts.part->from);
	if (!s->input)
		o.ahead = s->opts.ahead;
	o.limited = s->opts.part;
	if (s->opts.part)
		o.limit = s->opts.part->to;
	else if (s->opts.lengths && s->opts.lengths[s->input]) {
		o.limited = true;
		o.limit = s->opts.lengths[s->input];
	}
	rc = open_chunks(s, &o);
	if (rc == SP_EUNSUP)
		rc = sp__rstream_open(&s->stream, s->fd, s->opts.inputs[s->input], &o, s->opts.err);
	if (rc < 0)
		return rc;
	sp__splitter_release(&s->splitter);
	sp__splitter_init(&s->splitter, &s->opts.format);
	s->newlines = s->place = 0;
	s->blank_placed = s->blank.removed;
	s->from = s->input;
	s->header_left = s->opts.header_first && s->from ? 0 : s->opts.header_records;
	s->repeated = 0;
	s->marked = false;
	s->array = (struct sp__json_array){ 0 };
	s->blank.decided = s->opts.part && s->opts.part->decided;
	s->blank.remove = s->blank.decided && s->opts.part->removes_blank;
	return 0;
}

/* Records the error of a part that did not end with a record. */
static int miscut(struct sp__scan *s)
{
	const char *name = s->opts.inputs[s->input];

	if (s->opts.format.kind != SP_REC_CSV)
		return sp__file_changed(s->opts.part->to, sp__file_bytes(s->fd), name, s->opts.err);
	return sp__errf(s->opts.err, SP__MISCUT, "read", name, -1,
			"a part does not end with a record");
}

/* Ends an input; a record without terminator can remain. */
static int end_input(struct sp__scan *s, struct sp_batch *batch)
{
	const struct sp_recfmt *f = &s->opts.format;
	struct sp__bytes *last = &s->splitter.carry;
	const char *name = s->opts.inputs[s->input];
	char eol = sp__scan_line_end(s);
	uint64_t newlines = s->newlines;
	int rc;

	if (s->stitch)
		sp__stitch_rest(s->stitch, sp__chunks_count(s->chunks), last);
	if (f->array && (rc = sp__scan_end_array(s)) < 0)
		return rc;
	if (!last->bytes) {
		close_input(s);
		return SP_END;
	}
	if (s->opts.part && !s->opts.part->last)
		return miscut(s);
	if (f->kind == SP_REC_FIXED)
		return sp__rec_partial(f, name, s->opts.err);
	if (sp__bytes_append(last, &eol, 1, NULL) < 0)
		return no_memory(s);
	s->terminators++;
	if (!sp__rec_end(f, last->data, last->bytes)) {
		rc = sp__scan_add_before(s, &newlines);
		return rc < 0 ? rc
			      : sp__rec_unclosed(f, last->data, last->bytes - 1, name, newlines,
						 s->opts.err);
	}
	close_input(s);
	return sp__splitter_give_carry(&s->splitter, batch);
}

/*
 * Counts the byte order mark, once the beginning of an input has been read, as a part of its
 * header.  The mark of the first input is kept to begin the output.
 */
static int note_mark(struct sp__scan *s)
{
	if (s->marked || !s->stream || !sp__rstream_marked(s->stream))
		return 0;
	s->marked = true;
	s->bytes += SP__UTF8_MARK_BYTES;
	s->header_bytes += SP__UTF8_MARK_BYTES;
	if (s->digest)
		sp__digest_add(s->digest, SP__UTF8_MARK, SP__UTF8_MARK_BYTES);
	if (s->from)
		return 0;
	s->mark_bytes = SP__UTF8_MARK_BYTES;
	return sp__bytes_append(&s->header, SP__UTF8_MARK, SP__UTF8_MARK_BYTES, NULL);
}

/* Requests chunks in order until the header is complete, and while too many bytes are kept. */
static int next_chunk(struct sp__scan *s, struct sp__file_chunk *chunk)
{
	return sp__chunks_next(s->chunks,
			       s->header_left || sp__stitch_kept_bytes(s->stitch) >
							 s->opts.stream.chunk_bytes,
			       chunk);
}

/* Reads the next span.  SP_READY: data was read; SP_END: the end of this input. */
static int read_span(struct sp__scan *s)
{
	struct sp__file_chunk c;
	int rc = s->chunks ? next_chunk(s, &c)
			   : sp__rstream_next(s->stream, &c.data, &c.bytes, false);

	if (rc == SP_LATER)
		sp__waits_add(s->opts.waits, &s->wait);
	else
		sp__waits_withdraw(&s->wait);
	if ((rc == SP_READY || rc == SP_END) && note_mark(s) < 0)
		return no_memory(s);
	if (rc != SP_READY)
		return rc;
	if (s->opts.format.array)
		return sp__scan_take_array(s, c.data, c.bytes);
	if (!s->stitch) {
		take_span(s, c.data, c.bytes);
		return rc;
	}
	s->bytes += c.bytes;
	return sp__stitch_put(s->stitch, &c) < 0 ? no_memory(s) : rc;
}

/* Returns the next batch of the list of inputs, headers included. */
static int next_batch(struct sp__scan *s, struct sp_batch *batch)
{
	int rc;

	for (;;) {
		rc = s->stitch ? sp__stitch_next(s->stitch, batch)
			       : sp__splitter_next(&s->splitter, batch);
		if (rc != SP_END)
			return rc < 0 ? no_memory(s) : rc;
		if (!s->stream && !s->chunks) {
			if (s->input == s->opts.ninputs)
				return SP_END;
			rc = open_input(s);
			if (rc < 0)
				return rc;
			continue; /* earlier data might be available */
		}
		rc = read_span(s);
		if (rc == SP_END) {
			rc = end_input(s, batch);
			if (rc != SP_END)
				return rc;
		} else if (rc != SP_READY) {
			return rc;
		}
	}
}

/* Returns the next batch, headers included, without blank lines. */
static int next_kept(struct sp__scan *s, struct sp_batch *batch)
{
	const struct sp_recfmt *f = &s->opts.format;
	int rc;

	if (!s->opts.remove_blank)
		return next_batch(s, batch);
	while (!s->blank.rest.bytes || !sp__blank_next(&s->blank, f, batch)) {
		rc = next_batch(s, batch);
		if (rc != SP_READY)
			return rc;
		sp__blank_put(&s->blank, f, batch);
	}
	return SP_READY;
}

/* Takes the next records for which the condition is true. */
static int choose(struct sp__scan *s, struct sp_batch *batch)
{
	struct sp__filtering *c = &s->chosen;
	const char *from = c->rest.data;
	uint64_t line, lines;
	int rc = sp__filtering_next(c, s->opts.where, batch);

	if (rc == SP_EFORMAT) {
		lines = sp__count_bytes(from, (size_t)(c->rest.data - from), sp__scan_line_end(s));
		if (s->opts.skip_invalid && c->not_json.wanted) {
			const struct sp__badtext bad = { .wanted = c->not_json.wanted,
							 .at = c->not_json.at };

			sp__scan_leave_out(s, &c->rest, lines, &bad);
			s->place += lines + 1;
			*batch = (struct sp_batch){ c->rest.data, 0 };
			return SP_READY;
		}
		rc = sp__scan_line_number(s, lines, &line);
		return rc ? rc : sp__filtering_error(c, s->opts.inputs[s->from], line, s->opts.err);
	}
	s->place += sp__count_bytes(from, (size_t)(batch->data - from), sp__scan_line_end(s));
	return rc ? no_memory(s) : SP_READY;
}

static void skip(struct sp__scan *s, struct sp_batch *batch)
{
	size_t bytes = batch->bytes < s->skip_left ? batch->bytes : (size_t)s->skip_left;
	const char *at = batch->data, *end = at + bytes, *next;

	for (; at < end; at = next) {
		next = sp__rec_end(&s->opts.format, at, (size_t)(end - at));
		next = next ? next : end;
		sp__tally_add(s->opts.skipped, at, (size_t)(next - at));
	}
	batch->data += bytes;
	batch->bytes -= bytes;
	s->skip_left -= bytes;
}

/* Returns the next records without headers. */
static int next_records(struct sp__scan *s, struct sp_batch *batch)
{
	int rc = next_kept(s, batch);

	s->place += s->blank.removed - s->blank_placed;
	s->blank_placed = s->blank.removed;
	return rc == SP_READY && s->header_left ? sp__scan_take_header(s, batch) : rc;
}

/* Returns the next records for which the condition is true; there may be none. */
static int next_chosen(struct sp__scan *s, struct sp_batch *batch)
{
	int rc;

	if (!s->chosen.rest.bytes) {
		rc = next_records(s, batch);
		if (rc != SP_READY)
			return rc;
		s->chosen.rest = *batch;
	}
	return choose(s, batch);
}

static int next_unchecked(struct sp__scan *s, struct sp_batch *batch)
{
	if (!s->unchecked.bytes)
		return s->opts.where ? next_chosen(s, batch) : next_records(s, batch);
	*batch = s->unchecked;
	s->unchecked.bytes = 0;
	return SP_READY;
}

int sp__scan_next(void *scan, struct sp_batch *batch)
{
	struct sp__scan *s = scan;
	const char *end;
	int rc = s->error;

	if (rc < 0)
		return rc;
	do {
		s->place += s->passed;
		s->passed = 0;
		rc = next_unchecked(s, batch);
		if (rc == SP_READY) {
			end = batch->data + batch->bytes;
			if (s->checks && !s->opts.caller_checks)
				rc = sp__scan_check(s, batch);
			sp__scan_pass(s, batch->data, end);
		}
		if (rc == SP_READY && s->skip_left)
			skip(s, batch);
	} while (rc == SP_READY && !batch->bytes && !s->error);
	if (rc == SP_READY && !batch->bytes)
		rc = s->error;
	if (rc < 0)
		s->error = rc;
	s->last = *batch;
	return rc;
}

void sp__scan_check_records(struct sp__scan *s)
{
	s->opts.caller_checks = false;
}

void sp__scan_place(const struct sp__scan *s, size_t *input, uint64_t *lines)
{
	*input = s->from;
	*lines = s->place;
}

void sp__scan_header(const struct sp__scan *s, struct sp_batch *header)
{
	header->data = s->header.data;
	header->bytes = s->header.bytes;
}

uint64_t sp__scan_blank_lines(const struct sp__scan *s)
{
	return s->blank.removed;
}

uint64_t sp__scan_blank_bytes(const struct sp__scan *s)
{
	return s->blank.bytes;
}

void sp__scan_left_out(const struct sp__scan *s, struct sp__left_out *sum)
{
	sp__left_out_join(sum, &s->skipped);
	sum->filtered += s->chosen.records;
}

bool sp__scan_removes_blank(const struct sp__scan *s)
{
	return s->blank.remove;
}

bool sp__scan_marked(const struct sp__scan *s)
{
	return s->mark_bytes;
}

uint64_t sp__scan_bytes(const struct sp__scan *s)
{
	return s->bytes;
}

uint64_t sp__scan_owed(const struct sp__scan *s)
{
	return s->bytes + s->terminators - s->header_bytes - s->blank.bytes - s->chosen.bytes -
	       s->skipped_bytes;
}

void sp__scan_counters(const struct sp__scan *s, struct sp__io_counters *c)
{
	struct sp__io_counters now;

	count_reads(s, &now);
	*c = s->done;
	sp__io_add(c, &now);
}

void sp__scan_state(const struct sp__scan *s, struct sp__read_state *r)
{
	*r = (struct sp__read_state){ 0 };
	if (s->stream)
		sp__rstream_state(s->stream, r);
}

bool sp__scan_refused(const struct sp__scan *s)
{
	return s->refused || (s->stream && sp__rstream_refused(s->stream));
}

const char *sp__scan_engine(const struct sp__scan *s)
{
	return s->engine[0] ? s->engine : "read";
}
