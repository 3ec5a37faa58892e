/* SPDX-License-Identifier: MIT */
/*
 * Cuts inputs into parts, and hands them out.
 *
 * The cut after a part is found when it is taken, from a few bytes around its nominal end: the
 * next end of a line, a multiple of the record length, or the record of CSV that seems to be there.
 *
 * Headers are read when the parts are opened, by a scan of each input that stops there.  So the
 * beginning of each input is read twice.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "flow/parts.h"
#include "flow/sourceparts.h"
#include "io/volume.h"
#include "io/rstream.h"
#include "rec/fields.h"

/* An input as it was when the parts were opened; bytes that are appended later are not read. */
struct input {
	struct stat st;
	uint64_t bytes;
	uint64_t from; /* where its records begin */
	bool removes_blank;
};

struct sp__parts {
	struct sp__scan_opts opts; /* of files */
	struct sp__source_parts records;
	struct input *inputs;
	struct sp__bytes header;
	bool marked;
	struct sp__turns turns;
	pthread_mutex_t lock;  /* protects the following members */
	uint64_t part_bytes;   /* bytes of each of the next parts, ... */
	unsigned share;	       /* ... at most this share of what is left */
	uint64_t left, before; /* bytes: about those of later parts, and those of earlier ones */
	size_t input;	       /* input of the next part; ninputs: there is none */
	int fd;		       /* descriptor of `input`; -1: not open */
	uint64_t at;	       /* where the next part begins */
	uint64_t number;
	bool stopped;
	uint64_t bytes, owed, blank_lines; /* counted in closed parts */
	struct sp__left_out left_out;
	struct sp__io_counters done;
	char engine[SP__ENGINE_NAME];
};

/* Opens an input with an offset of its own. */
static int open_input(const struct sp__parts *p, size_t i, struct sp_errinfo *err)
{
	const char *name = p->opts.inputs[i];
	int fd = open(strcmp(name, "-") ? name : "/proc/self/fd/0", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? sp__err(err, -errno, "open", name, -1) : fd;
}

static int changed(const struct sp__parts *p, size_t i, const struct stat *now,
		   struct sp_errinfo *err)
{
	return sp__file_changed(p->inputs[i].bytes, (uint64_t)now->st_size, p->opts.inputs[i], err);
}

/* True if the file is the one that was opened first, and has not become shorter. */
static bool is_same(const struct input *in, const struct stat *st)
{
	return sp__file_continues(&in->st, st);
}

/* Checks that an open input is the one that was opened first. */
static int look_again(const struct sp__parts *p, size_t i, int fd, struct sp_errinfo *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return sp__err(err, -errno, "read", p->opts.inputs[i], -1);
	return is_same(&p->inputs[i], &st) ? 0 : changed(p, i, &st, err);
}

/* Cuts. */

/* Returns the length of the next part. */
static uint64_t next_length(const struct sp__parts *p)
{
	uint64_t least = sp__max(p->part_bytes / 4, SP__PART_MIN_BYTES);

	return sp__min(p->part_bytes, sp__max(p->left / p->share, least));
}

/* Finds the end of the part that begins at p->at. */
static int find_cut(struct sp__parts *p, uint64_t *cut)
{
	const struct sp_recfmt *f = &p->opts.format;
	const uint64_t end = p->inputs[p->input].bytes, length = next_length(p);
	const uint64_t at = p->at + length;

	/* The rest is not worth a part of its own. */
	if (end - p->at < length + length / 2) {
		*cut = end;
		return 0;
	}
	if (f->kind == SP_REC_FIXED) {
		*cut = p->at + sp__max(length / f->fixed_bytes, 1) * f->fixed_bytes;
		*cut = sp__min(*cut, end);
		return 0;
	}
	return sp__part_cut(f, p->fd, at, end, cut);
}

/* Opening. */

/* Compares the records of the header of input i with those of the first header. */
static int compare_headers(const struct sp__parts *p, size_t i, size_t first,
			   const struct sp_batch *own)
{
	const struct sp_recfmt *f = &p->opts.format;
	const size_t term = sp__rec_term(f);
	const size_t mark = sp__utf8_mark(p->header.data, p->header.bytes);
	const char *a = p->header.data + mark, *a_end = p->header.data + p->header.bytes;
	const char *b = own->data + sp__utf8_mark(own->data, own->bytes);
	const char *b_end = own->data + own->bytes, *a_next, *b_next;
	int rc = 0;

	for (; !rc && a < a_end && b < b_end; a = a_next, b = b_next) {
		struct sp__header_record x = { .input = p->opts.inputs[i] };
		struct sp__header_record y = { .input = p->opts.inputs[first] };

		a_next = sp__rec_end(f, a, (size_t)(a_end - a));
		b_next = sp__rec_end(f, b, (size_t)(b_end - b));
		y.text = (struct sp_batch){ a, (size_t)(a_next - a) - term };
		x.text = (struct sp_batch){ b, (size_t)(b_next - b) - term };
		rc = sp__header_compare(f, p->opts.separator, &x, &y, p->opts.err);
	}
	return rc;
}

/* Takes the header that a scan of input i has found; *first: the input of the first header. */
static int take_header(struct sp__parts *p, size_t i, size_t *first, const struct sp__scan *scan)
{
	struct input *in = &p->inputs[i];
	const bool mark = sp__scan_marked(scan);
	struct sp_batch header, records;
	int rc = 0;

	sp__scan_header(scan, &header);
	/* A terminator can have been added to a header without records. */
	in->from = sp__min(header.bytes, in->bytes);
	in->removes_blank = sp__scan_removes_blank(scan);
	p->marked |= mark && !i;
	records = header;
	if (mark) {
		records.data += SP__UTF8_MARK_BYTES;
		records.bytes -= SP__UTF8_MARK_BYTES;
	}
	if (*first == SIZE_MAX && records.bytes)
		*first = i;
	if (*first != SIZE_MAX && *first != i)
		return compare_headers(p, i, *first, &records);
	if (i && p->marked)
		header = records;
	if (!i || *first == i)
		rc = sp__bytes_append(&p->header, i ? records.data : header.data,
				      i ? records.bytes : header.bytes, NULL);
	return rc < 0 ? sp__err(p->opts.err, -ENOMEM, "allocate", NULL, -1) : 0;
}

/* Reads the beginning of input i: mark, header, and whether it has several columns. */
static int look(struct sp__parts *p, size_t i, int fd, size_t *first)
{
	struct sp__scan_part part = { .fd = fd, .to = p->inputs[i].bytes, .last = true };
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = p->opts;
	struct sp__scan *scan;
	struct sp_batch batch;
	int rc;

	o.inputs += i;
	o.ninputs = 1;
	o.part = &part;
	o.waits = &waits;
	o.keys = NULL;
	o.where = NULL;
	o.stream.whole = false;
	if (i && o.header_first)
		o.header_records = 0;
	if (!p->inputs[i].bytes ||
	    (o.format.kind != SP_REC_CSV && !o.header_records && !o.drop_mark && !o.remove_blank))
		return 0;
	rc = sp__scan_open(&scan, &o);
	if (rc < 0)
		return rc;
	rc = sp__iter_next(&(struct sp__iter){ scan, sp__scan_next }, &waits, &batch);
	if (rc >= 0)
		rc = take_header(p, i, first, scan);
	sp__scan_close(scan);
	return rc;
}

/* Returns 0; SP_EUNSUP if the input must be read in order; or an error. */
static int examine(struct sp__parts *p, size_t i, size_t *first)
{
	struct sp_errinfo ignored = SP_ERRINFO_INIT;
	const bool given = !strcmp(p->opts.inputs[i], "-");
	struct input *in = &p->inputs[i];
	struct stat st;
	off_t at = 0;
	char byte;
	int fd, rc;

	/* Opening another type of file can wait for its other end. */
	if (given ? fstat(STDIN_FILENO, &st) : stat(p->opts.inputs[i], &st))
		return SP_EUNSUP;
	if (!S_ISREG(st.st_mode) || (given && (at = lseek(STDIN_FILENO, 0, SEEK_CUR)) < 0))
		return SP_EUNSUP;
	*in = (struct input){ .st = st, .bytes = (uint64_t)st.st_size };
	if (p->opts.lengths && p->opts.lengths[i])
		in->bytes = sp__min(in->bytes, p->opts.lengths[i]);
	fd = open_input(p, i, &ignored);
	if (fd < 0)
		return SP_EUNSUP;
	/* Some files of /proc have no size, but contents. */
	if (at || fstat(fd, &st) < 0 || !is_same(in, &st) ||
	    (!st.st_size && pread(fd, &byte, 1, 0)) || sp__unpacking_wanted(fd, &p->opts.stream) ||
	    (!p->opts.turns && sp__file_turns(fd, 0, in->bytes)))
		rc = SP_EUNSUP;
	else
		rc = look(p, i, fd, first);
	close(fd);
	return rc;
}

static int examine_all(struct sp__parts *p)
{
	size_t first = SIZE_MAX;
	uint64_t sum = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->opts.ninputs; i++) {
		rc = examine(p, i, &first);
		sum += p->inputs[i].bytes;
	}
	p->left = sum;
	return !rc && sum < 2 * SP__PART_MIN_BYTES ? SP_EUNSUP : rc;
}

static struct sp__parts *new_parts(unsigned turns)
{
	struct sp__parts *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->share = 1;
	p->fd = -1;
	pthread_mutex_init(&p->lock, NULL);
	sp__turns_open(&p->turns, turns);
	return p;
}

int sp__parts_open(struct sp__parts **parts, const struct sp__scan_opts *opts, uint64_t part_bytes)
{
	struct sp__parts *p;
	int rc;

	if (opts->format.array || opts->stream.device || opts->any_order || opts->checksums ||
	    opts->ahead.bytes || opts->skip_bytes || opts->part)
		return SP_EUNSUP;
	p = new_parts(opts->turns);
	if (!p)
		return sp__err(opts->err, -ENOMEM, "allocate", NULL, -1);
	p->opts = *opts;
	p->part_bytes = sp__max(part_bytes, SP__PART_MIN_BYTES);
	p->inputs = calloc(opts->ninputs, sizeof(*p->inputs));
	rc = p->inputs ? examine_all(p) : sp__err(opts->err, -ENOMEM, "allocate", NULL, -1);
	if (rc < 0) {
		sp__parts_close(p);
		return rc;
	}
	p->at = p->inputs[0].from;
	*parts = p;
	return 0;
}

int sp__parts_open_source(struct sp__parts **parts, struct sp_source *source,
			  const struct sp__env *plan, uint64_t part_bytes, unsigned readers,
			  struct sp_errinfo *err)
{
	struct sp__parts *p = new_parts(0);

	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__source_parts_open(&p->records, source, plan, part_bytes, readers);
	*parts = p;
	return 0;
}

void sp__parts_close(struct sp__parts *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	sp__bytes_release(&p->header, NULL);
	pthread_mutex_destroy(&p->lock);
	sp__turns_close(&p->turns);
	free(p->inputs);
	free(p);
}

/* Taking. */

/*
 * Called with the lock: opens the input of the next part, for its cuts.  Returns SP_READY; SP_END
 * if there is none; or an error.
 */
static int begin_input(struct sp__parts *p, struct sp_errinfo *err)
{
	while (p->input < p->opts.ninputs && p->at >= p->inputs[p->input].bytes) {
		if (p->fd >= 0)
			close(p->fd);
		p->fd = -1;
		if (++p->input < p->opts.ninputs)
			p->at = p->inputs[p->input].from;
	}
	if (p->stopped || p->input == p->opts.ninputs)
		return SP_END;
	if (p->fd >= 0)
		return SP_READY;
	p->fd = open_input(p, p->input, err);
	if (p->fd < 0)
		return p->fd;
	return look_again(p, p->input, p->fd, err) < 0 ? err->code : SP_READY;
}

/* Called with the lock. */
static int take(struct sp__parts *p, struct sp__part *part)
{
	uint64_t cut;
	int rc;

	part->number = p->number;
	if (p->records.source) {
		rc = p->stopped ? SP_END : sp__source_parts_take(&p->records, part);
		p->number += rc == SP_READY;
		return rc;
	}
	rc = begin_input(p, &part->err);
	if (rc != SP_READY)
		return rc;
	part->input = p->input;
	rc = find_cut(p, &cut);
	if (rc < 0 && look_again(p, p->input, p->fd, &part->err) < 0)
		return part->err.code;
	if (rc < 0)
		return sp__err(&part->err, rc, "read", p->opts.inputs[p->input], -1);
	part->from = p->at;
	part->bytes = cut - p->at;
	part->before = p->before;
	part->read = 0;
	part->where.from = p->at;
	part->where.to = cut;
	part->where.last = cut == p->inputs[p->input].bytes;
	part->where.decided = true;
	part->csv = p->opts.format.kind == SP_REC_CSV;
	part->where.removes_blank = p->inputs[p->input].removes_blank;
	p->before += part->bytes;
	p->left -= sp__min(p->left, part->bytes);
	p->at = cut;
	p->number++;
	return SP_READY;
}

static int open_scan(struct sp__parts *p, struct sp__part *part)
{
	struct sp__scan_opts o = p->opts;
	int rc;

	if (part->open != part->input + 1) {
		if (part->open)
			close(part->where.fd);
		part->where.fd = open_input(p, part->input, &part->err);
		part->open = part->where.fd < 0 ? 0 : part->input + 1;
		if (part->where.fd < 0)
			return part->where.fd;
		rc = look_again(p, part->input, part->where.fd, &part->err);
		if (rc < 0)
			return rc;
	}
	o.inputs += part->input;
	o.ninputs = 1;
	o.header_records = 0;
	o.part = &part->where;
	o.waits = &part->waits;
	o.stream.memory = part->memory;
	o.stream.whole = true;
	o.err = &part->err;
	return sp__scan_open(&part->scan, &o);
}

void sp__part_rest(struct sp__part *part)
{
	struct sp__read_state r = { 0 };

	if (!part->turn)
		return;
	if (part->scan)
		sp__scan_state(part->scan, &r);
	sp__turns_give(part->turn, r.chunks, r.waited);
	part->turn = NULL;
}

/* Takes a turn for the next part. */
static void await_turn(struct sp__parts *p, struct sp__part *part)
{
	if (!p->opts.turns)
		return;
	sp__turns_take(&p->turns);
	part->turn = &p->turns;
}

/* Gives back the turn of a part when all its requests are submitted, or the page cache has it. */
static void look_at_turn(struct sp__part *part)
{
	struct sp__read_state r;

	if (!part->turn)
		return;
	sp__scan_state(part->scan, &r);
	if (!r.direct || r.asked)
		sp__part_rest(part);
}

static void end_part(struct sp__parts *p, struct sp__part *part)
{
	struct sp__left_out left_out = { 0 };
	struct sp__io_counters c;

	sp__part_rest(part);
	if (part->records) {
		pthread_mutex_lock(&p->lock);
		p->bytes += part->read;
		p->owed += part->read;
		pthread_mutex_unlock(&p->lock);
		part->read = 0;
	}
	if (!part->scan)
		return;
	sp__scan_counters(part->scan, &c);
	pthread_mutex_lock(&p->lock);
	sp__io_add(&p->done, &c);
	p->bytes += sp__scan_bytes(part->scan);
	p->owed += sp__scan_owed(part->scan);
	p->blank_lines += sp__scan_blank_lines(part->scan);
	/* The scan knows only the input of its part. */
	sp__scan_left_out(part->scan, &left_out);
	left_out.input = part->input;
	sp__left_out_join(&p->left_out, &left_out);
	snprintf(p->engine, sizeof(p->engine), "%s", sp__scan_engine(part->scan));
	pthread_mutex_unlock(&p->lock);
	sp__scan_close(part->scan);
	part->scan = NULL;
}

int sp__parts_next(struct sp__parts *p, struct sp__part *part)
{
	int rc;

	end_part(p, part);
	part->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	await_turn(p, part);
	pthread_mutex_lock(&p->lock);
	rc = take(p, part);
	pthread_mutex_unlock(&p->lock);
	if (rc == SP_READY) {
		rc = p->records.source ? sp__source_parts_begin(&p->records, part)
				       : open_scan(p, part);
		rc = rc < 0 ? rc : SP_READY;
	}
	if (rc != SP_READY)
		sp__part_rest(part);
	return rc;
}

int sp__part_read(struct sp__part *part, struct sp_batch *batch)
{
	int rc;

	if (part->records)
		return sp__source_part_read(part, batch);
	rc = sp__iter_next(&(struct sp__iter){ part->scan, sp__scan_next }, &part->waits, batch);
	if (rc == SP_READY)
		part->read += batch->bytes;
	look_at_turn(part);
	return rc == SP_EFORMAT ? sp__part_doubt(part, rc) : rc;
}

void sp__part_close(struct sp__parts *p, struct sp__part *part)
{
	end_part(p, part);
	if (part->reader) {
		pthread_mutex_lock(&p->lock);
		sp__source_part_close(part, &p->done, p->engine);
		pthread_mutex_unlock(&p->lock);
	}
	if (part->open)
		close(part->where.fd);
	part->open = 0;
}

void sp__parts_resize(struct sp__parts *p, uint64_t part_bytes, unsigned share)
{
	pthread_mutex_lock(&p->lock);
	p->part_bytes = sp__max(part_bytes, SP__PART_MIN_BYTES);
	p->share = share;
	pthread_mutex_unlock(&p->lock);
}

void sp__parts_stop(struct sp__parts *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopped = true;
	pthread_mutex_unlock(&p->lock);
	sp__turns_stop(&p->turns);
}

int sp__parts_end(struct sp__parts *p)
{
	struct stat st;

	for (size_t i = 0; i < p->opts.ninputs; i++) {
		const char *name = p->opts.inputs[i];
		const bool given = !strcmp(name, "-");

		if ((given ? fstat(STDIN_FILENO, &st) : stat(name, &st)) < 0)
			return sp__err(p->opts.err, -errno, "open", name, -1);
		if (!is_same(&p->inputs[i], &st))
			return changed(p, i, &st, p->opts.err);
		/* Sets the state that reading in order would leave. */
		if (given)
			(void)lseek(STDIN_FILENO, (off_t)p->inputs[i].bytes, SEEK_SET);
	}
	return 0;
}

void sp__parts_header(const struct sp__parts *p, struct sp_batch *header)
{
	*header = (struct sp_batch){ p->header.data, p->header.bytes };
}

uint64_t sp__parts_owed(const struct sp__parts *p)
{
	return p->owed;
}

void sp__parts_left_out(const struct sp__parts *p, struct sp__left_out *sum)
{
	sp__left_out_join(sum, &p->left_out);
}

uint64_t sp__parts_blank_lines(const struct sp__parts *p)
{
	return p->blank_lines;
}

void sp__parts_counters(const struct sp__parts *p, struct sp__io_counters *c)
{
	*c = p->done;
}

uint64_t sp__parts_length(const struct sp__parts *p, size_t input)
{
	return p->inputs[input].bytes;
}

const char *sp__parts_engine(const struct sp__parts *p)
{
	return p->engine[0] ? p->engine : "read";
}

uint64_t sp__parts_bytes(struct sp__parts *p)
{
	uint64_t bytes;

	pthread_mutex_lock(&p->lock);
	bytes = p->bytes;
	pthread_mutex_unlock(&p->lock);
	return bytes;
}
