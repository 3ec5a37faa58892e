/* SPDX-License-Identifier: MIT */
/*
 * Reads inputs of a join, batch by batch, from a scan or from an operator, and compares their
 * tallies.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "join/input/inputs.h"
#include "join/input/source.h"

#define PLEASE "please report it, and do not trust the result"

int sp__balance_same(struct sp__join_inputs *in, int side, const char *where,
		     const struct sp__tally *came, const struct sp__tally *went)
{
	if (came->records == went->records && came->sum == went->sum)
		return 0;
	return sp__errf(in->env->err, SP_EBALANCE, "join", in->io->inputs[side], -1,
			"%s; " PLEASE " (%s: %llu records in, %llu out%s)",
			sp_strerror(SP_EBALANCE), where, (unsigned long long)came->records,
			(unsigned long long)went->records,
			came->records == went->records ? ", but not the same" : "");
}

int sp__balance_bytes(struct sp__join_inputs *in, const char *where, uint64_t came, uint64_t went)
{
	if (came == went)
		return 0;
	return sp__errf(in->env->err, SP_EBALANCE, "join", NULL, -1,
			"%s; " PLEASE " (%s: %llu bytes in, %llu out)", sp_strerror(SP_EBALANCE),
			where, (unsigned long long)came, (unsigned long long)went);
}

/* Bytes that a scan at its end must have returned. */
static uint64_t scanned(const struct sp__source *s)
{
	return s->scan && s->ended ? s->before + sp__scan_owed(s->scan) : s->bytes;
}

static int balance_source(struct sp__join_inputs *in, int side)
{
	const struct sp__source *s = &in->source[side];
	struct sp__tally cut = { .records = s->lines, .sum = scanned(s) }, done = s->done;

	done.sum += (uint64_t)(s->end - s->at);
	return sp__balance_same(in, side, "input", &cut, &done);
}

int sp__balance_sources(struct sp__join_inputs *in)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		if (sp__join_scans(in->opts, i))
			rc = balance_source(in, i);
	return rc;
}

/* Checks the length of an input, if known, before anything is written. */
static int check_length(const struct sp__join_inputs *in, int side, const struct sp_recfmt *format)
{
	const char *input = in->io->inputs[side];
	bool standard = !strcmp(input, "-");
	off_t from = standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
	struct stat st;

	if (format->kind != SP_REC_FIXED || in->read.unpack ||
	    (standard ? fstat(STDIN_FILENO, &st) : stat(input, &st)) || !S_ISREG(st.st_mode) ||
	    from < 0 || from >= st.st_size ||
	    !((uint64_t)(st.st_size - from) % format->fixed_bytes))
		return 0;
	return sp__errf(in->env->err, SP_EFORMAT, "read", input, -1,
			"length is not a multiple of the record size %zu", format->fixed_bytes);
}

/* A last record that is not whole would be read beyond its end. */
static bool is_whole(const struct sp_recfmt *f, const struct sp_batch *b)
{
	const char *at = b->data, *end = at + b->bytes;

	if (f->kind == SP_REC_LINE)
		return !b->bytes || end[-1] == f->eol;
	if (f->kind == SP_REC_FIXED)
		return !(b->bytes % f->fixed_bytes);
	while (at && at < end)
		at = sp__rec_end(f, at, (size_t)(end - at));
	return at || !b->bytes;
}

static int next_given(void *operator, struct sp_batch * batch)
{
	struct sp__given *g = operator;
	const struct sp_join_io *io = g->in->io;
	int rc = io->next(io->next_arg, g->side, batch);

	if (rc != SP_READY || is_whole(&g->in->source[g->side].format, batch))
		return rc;
	return sp__errf(g->in->env->err, SP_EFORMAT, "read", io->inputs[g->side], -1,
			"the last record is not whole");
}

void sp__source_scan_opts(const struct sp__source *s, struct sp__scan_opts *opts)
{
	struct sp__join_inputs *in = s->in;

	*opts = (struct sp__scan_opts){ .format = s->format,
					.inputs = &s->input,
					.ninputs = 1,
					.ahead = in->io->ahead[s - in->source],
					.remove_blank = in->opts->csv,
					.keys = in->json[s - in->source],
					.stream = in->read,
					.waits = &in->waits,
					.err = in->env->err };
}

static int open_scan(struct sp__source *s, const struct sp__scan_part *part)
{
	struct sp__scan_opts o;

	sp__source_scan_opts(s, &o);
	o.part = part;
	if (part)
		o.ahead = (struct sp_batch){ 0 };
	return sp__scan_open(&s->scan, &o);
}

static void init(struct sp__source *s, struct sp__join_inputs *in, int side)
{
	*s = (struct sp__source){ .in = in,
				  .waits = &in->waits,
				  .input = in->io->inputs[side],
				  .format = sp__join_format(in->opts, side) };
}

int sp__source_open(struct sp__join_inputs *in, int side)
{
	struct sp__source *s = &in->source[side];
	int rc;

	init(s, in, side);
	if (in->io->next) {
		s->given = (struct sp__given){ { .next = next_given }, in, side };
		s->operator= & s->given.op;
		return 0;
	}
	rc = check_length(in, side, &s->format);
	return rc < 0 ? rc : open_scan(s, NULL);
}

int sp__source_open_part(struct sp__join_inputs *in, int side, const struct sp__scan_part *part)
{
	struct sp__source *s = &in->source[side];

	init(s, in, side);
	s->part = *part;
	return open_scan(s, &s->part);
}

void sp__source_close(struct sp__source *s)
{
	while (sp__source_ahead(s))
		;
	sp__scan_close(s->scan);
	s->scan = NULL;
}

/* Charges the data read, and reports the progress. */
static void filling(struct sp__source *s)
{
	struct sp__join_inputs *in = s->in;
	uint64_t lines = s->lines - s->charged, done = s->bytes, total;
	int side, phase = SP_JOIN_PHASE_PROBE;

	/* Only for lines taken one by one; users of whole batches charge for them. */
	sp__charge_work(in->env, lines, 1, lines ? s->batch_bytes : 0);
	s->charged = s->lines;
	side = (int)(s - in->source);
	total = in->opts->input_bytes[side];
	if (in->counts->stats.build == (unsigned)side + 1) {
		phase = SP_JOIN_PHASE_BUILD;
	} else if (!in->counts->stats.build && sp__join_scans(in->opts, !side)) {
		done += in->source[!side].bytes;
		total = total && in->opts->input_bytes[!side] ? total + in->opts->input_bytes[!side]
							      : 0;
	}
	sp__progress_report(&in->counts->progress, phase, done, total);
}

/* Opens the rest of a file after a part.  SP_END: there is none. */
static int open_rest(struct sp__source *s)
{
	struct sp__io_counters c;
	int rc;

	if (!s->rest)
		return SP_END;
	rc = sp__balance_bytes(s->in, "part", sp__scan_owed(s->scan), s->bytes);
	if (rc < 0)
		return rc;
	sp__scan_counters(s->scan, &c);
	sp__env_note_io(&s->in->counts->stats.run, &c);
	sp__scan_close(s->scan);
	s->scan = NULL;
	s->part.from = s->part.to;
	s->part.to = s->rest;
	s->part.last = true;
	s->rest = 0;
	s->before = s->bytes;
	rc = open_scan(s, &s->part);
	return rc < 0 ? rc : SP_READY;
}

int sp__source_try(struct sp__source *s)
{
	struct sp_batch batch;
	int rc;

	filling(s);
	if (sp__source_ahead(s))
		return SP_READY;
	do {
		rc = s->scan ? sp__scan_next(s->scan, &batch)
			     : sp__operator_next(s->operator, & batch);
	} while (rc == SP_END && (rc = open_rest(s)) == SP_READY);
	if (rc == SP_READY) {
		s->at = batch.data;
		s->end = batch.data + batch.bytes;
		s->bytes += batch.bytes;
		s->batch_bytes = batch.bytes;
	}
	s->ended = rc == SP_END;
	return rc;
}

int sp__source_fill(struct sp__source *s)
{
	int rc;

	while ((rc = sp__source_try(s)) == SP_LATER && s->waits) {
		rc = sp__waits_block(s->waits);
		if (rc < 0)
			break;
	}
	return rc;
}
