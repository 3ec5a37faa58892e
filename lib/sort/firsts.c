/* SPDX-License-Identifier: MIT */
/*
 * Writes the first record of each key, in the order of the input (keep_order).
 *
 * Algorithm: a table of keys (records/distinct.c) shows whether a record is the first one with its
 * key; then it is written immediately.  When the table is full, the keys of all records are hashed,
 * which finds those that are repeated (repeated.c).  If these fit in the table, the records are
 * read again (reread.c): those whose keys are not repeated are written, and the table shows the
 * first ones of the others.  For records that are all different this takes a third of the processor
 * time of the two sorts, and 8 bytes of temporary space per record; for a pipe, also space for the
 * records.  Otherwise, and for a pipe that soon repeats most keys, two sorts find the first records
 * (twosorts.c).  Records that have been written come first each time and are passed over.
 *
 * States: seeing (the table has all keys), hashing, writing (the table has the repeated keys),
 * sorting (the sorts are open).
 *
 * Memory: the table and a sort, then the two sorts, have 7/16 of the memory each; streams of input
 * and output have the rest.
 *
 * Rejected: a table as a filter while records are sorted, which is useless where keys are all
 * different; a bitmap of the places of first records after one sort: 0.7 of the time of two.
 */
#include "base/err.h"
#include "base/hash.h"
#include "base/outfile_impl.h"
#include "obs/progress.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/firsts.h"
#include "sort/state.h"

#define SHARE(bytes) ((bytes) / 16 * 7)
#define SPOOL_SHARE 8
#define HUGE_BYTES (UINT64_C(16) << 20)

enum state { SEEING, HASHING, WRITING, SORTING };

struct firsts {
	enum state state;
	struct sp_sort_opts opts;
	const struct sp_sort_io *io;
	struct sp_errinfo *err;
	struct sp__env env;
	struct sp__reread input;
	struct sp__sort_result result;
	struct sp__progress progress;
	uint64_t begin_ns;

	bool hold; /* write nothing before the input has ended */
	struct sp__runbuf seen;
	char *memory; /* of `seen`; NULL: there is no table */
	size_t share; /* bytes for the table, or for a sort */

	struct sp__repeated repeated;
	bool agreed; /* two readings had the same keys */
	struct sp__twosorts twosorts;

	uint64_t bytes, records; /* bytes and records of this reading */
	uint64_t input_bytes;	 /* bytes of the first reading, if a spool is read again */
	uint64_t before;	 /* records that the full table has dropped */
	uint64_t already;	 /* records that come again, after they have been written */
	uint64_t passed;	 /* sum of the checksums of those that came, minus those written */
	uint64_t written, written_bytes;
};

static bool full(const struct firsts *f)
{
	return f->opts.top && f->written == f->opts.top;
}

static int write_record(struct firsts *f, const char *rec, size_t bytes)
{
	if (f->already) {
		f->already--;
		f->passed += sp__checksum(rec, bytes);
		return 0;
	}
	if (full(f))
		return 0;
	f->written++;
	f->written_bytes += bytes;
	return sp__result_put(&f->result, &(struct sp_batch){ rec, bytes });
}

/* Writes a batch of this many records. */
static int write_records(struct firsts *f, const struct sp_batch *batch, uint64_t records)
{
	const char *p = batch->data, *end = p + batch->bytes, *next;
	int rc = 0;

	if (!f->already && !f->opts.top) {
		f->written += records;
		f->written_bytes += batch->bytes;
		return sp__result_put(&f->result, batch);
	}
	for (; !rc && p < end; p = next) {
		next = sp__rec_end(&f->opts.format, p, (size_t)(end - p));
		rc = write_record(f, p, (size_t)(next - p));
	}
	return rc;
}

/* Writes the header, whose end is known with the first batch. */
static int begin_result(struct firsts *f)
{
	struct sp__wstream_opts writing;
	struct sp_batch header;
	int rc;

	if (f->result.stream)
		return 0;
	writing = sp__env_writing(&f->env);
	writing.expected_bytes = f->hold ? 0 : f->input.total_bytes;
	rc = sp__result_begin(&f->result, &writing);
	sp__reread_header(&f->input, &header);
	return rc < 0 ? rc : sp__result_put_header(&f->result, &header);
}

/* Returns a record of the table, by its number. */
static struct sp_batch seen_record(const struct firsts *f, size_t i)
{
	struct sp_batch rec;

	rec.data = sp__runbuf_record(&f->seen, &f->seen.entries[f->seen.n - 1 - i], &rec.bytes);
	return rec;
}

/* Writes the records of the table from number `from` on. */
static int write_seen(struct firsts *f, size_t from)
{
	int rc = begin_result(f);

	for (size_t i = from; !rc && i < f->seen.n; i++) {
		struct sp_batch rec = seen_record(f, i);

		rc = write_record(f, rec.data, rec.bytes);
	}
	return rc;
}

static void free_table(struct firsts *f)
{
	if (f->memory)
		sp__budget_credit(&f->env.budget, f->share);
	sp__pages_free(f->memory, f->share);
	f->memory = NULL;
}

static int take_input(struct firsts *f);

/* Reads all inputs from their beginning, in a state.  Returns 0 (SP_END) or an error. */
static int read_again(struct firsts *f, enum state state)
{
	int rc;

	*f->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	f->state = state;
	f->bytes = f->records = 0;
	rc = sp__reread_scan(&f->input);
	if (!rc)
		rc = take_input(f);
	return rc < 0 ? rc : 0;
}

static void tell_read(void *firsts, uint64_t bytes)
{
	struct firsts *f = firsts;

	sp__progress_report(&f->progress,
			    f->state == WRITING ? SP_PHASE_MERGE : SP_PHASE_RUN_FORMATION, bytes,
			    f->input.total_bytes);
}

static int hash_parts(void *firsts, struct sp__parts *parts, uint64_t *bytes)
{
	struct firsts *f = firsts;
	int rc = sp__repeated_put_parts(&f->repeated, parts, f->input.total_bytes, tell_read, f);

	*bytes = sp__repeated_bytes(&f->repeated);
	return rc;
}

static int open_repeated(struct firsts *f, size_t share)
{
	f->state = HASHING;
	return sp__repeated_open(&f->repeated, &f->opts, share, f->seen.n, &f->env.budget, f->err);
}

/* Hashes the keys of all inputs.  Returns 0; SP_EUNSUP: the sorts must read them; or an error. */
static int hash_inputs(struct firsts *f)
{
	int rc = open_repeated(f, f->share);

	if (!rc)
		rc = sp__reread_put_parts(&f->input, &f->repeated.by_hash, hash_parts, f);
	if (rc == SP_EUNSUP)
		rc = read_again(f, HASHING);
	return rc == SP__MISCUT ? SP_EUNSUP : rc;
}

/* Writes the first records of what has been hashed.  Returns as hash_inputs(). */
static int write_hashed(struct firsts *f)
{
	int rc = sp__repeated_finish(&f->repeated);

	for (size_t i = 0; !rc && i < f->written; i++) {
		struct sp_batch rec = seen_record(f, i);

		f->passed -= sp__checksum(rec.data, rec.bytes);
	}
	if (!rc) {
		f->already = f->written;
		sp__runbuf_use(&f->seen, f->memory, f->share);
		sp__runbuf_collapse_always(&f->seen);
		f->seen.added = f->seen.dropped = (struct sp__tally){ 0 };
		rc = read_again(f, WRITING);
	}
	if (!rc && f->state == WRITING) {
		f->agreed = !f->passed && sp__repeated_agrees(&f->repeated);
		if (f->passed || (!f->agreed && !full(f)))
			rc = sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	}
	sp__repeated_close(&f->repeated);
	return rc;
}

static int open_twosorts(struct firsts *f)
{
	f->state = SORTING;
	return sp__twosorts_open(&f->twosorts, &f->opts, f->share - f->input.spool.memory_bytes,
				 f->err);
}

/* Frees the table, whose records will be read again. */
static void forget_table(struct firsts *f)
{
	f->seen.dropped = (struct sp__tally){ 0 };
	free_table(f);
}

static int sort_parts(void *firsts, struct sp__parts *parts, uint64_t *bytes)
{
	struct firsts *f = firsts;
	int rc;

	forget_table(f);
	rc = sp__twosorts_put_parts(&f->twosorts, parts, f->input.total_bytes, tell_read, f);
	f->bytes = *bytes = sp__twosorts_bytes(&f->twosorts);
	return rc;
}

/* Sorts all inputs by another scan. */
static int sort_again(struct firsts *f)
{
	int rc;

	forget_table(f);
	sp__twosorts_close(&f->twosorts);
	rc = open_twosorts(f);
	return rc ? rc : read_again(f, SORTING);
}

/* Puts the records of a batch where the rest of the input goes. */
static int put_rest(struct firsts *f, const struct sp_batch *batch)
{
	int rc = 0;

	if (f->state == SORTING)
		return sp__twosorts_put(&f->twosorts, batch->data, batch->bytes);
	if (f->input.spool.writing)
		rc = sp__spool_put(&f->input.spool, batch->data, batch->bytes);
	return rc < 0 ? rc : sp__repeated_put(&f->repeated, batch);
}

/* Puts the records of the full table there. */
static int put_seen(struct firsts *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && f->memory && i < f->seen.n; i++) {
		struct sp_batch rec = seen_record(f, i);

		rc = put_rest(f, &rec);
	}
	f->before = f->seen.dropped.records;
	f->seen.dropped = (struct sp__tally){ 0 };
	return rc;
}

/* Starts to hash and keep the rest of inputs that are not read again. */
static int begin_spool(struct firsts *f)
{
	int rc = sp__reread_spool(&f->input, f->share / SPOOL_SHARE);

	if (rc >= 0)
		rc = open_repeated(f, f->share - f->input.spool.memory_bytes);
	return rc < 0 ? rc : put_seen(f);
}

/* Starts to sort.  Returns as leave_table(). */
static int begin_sorting(struct firsts *f)
{
	int rc;

	*f->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__repeated_close(&f->repeated);
	rc = open_twosorts(f);
	if (rc)
		return rc;
	rc = sp__reread_put_parts(&f->input, &f->twosorts.by_key, sort_parts, f);
	if (rc == SP__MISCUT || (rc == SP_EUNSUP && f->input.again))
		return sort_again(f);
	if (rc != SP_EUNSUP)
		return rc;
	rc = put_seen(f);
	free_table(f);
	return rc ? rc : SP_READY;
}

/*
 * Called when the table is full.  Returns SP_READY if the scan must go on; SP_END if all records
 * are written or in the first sort; or an error.
 */
static int leave_table(struct firsts *f)
{
	int rc;

	if (f->state != SEEING || !f->seen.n)
		return begin_sorting(f);
	if (f->hold || !sp__reread_same(&f->input)) {
		if (f->seen.dropped.records > f->seen.n)
			return begin_sorting(f);
		rc = begin_spool(f);
		return rc ? rc : SP_READY;
	}
	rc = hash_inputs(f);
	if (!rc)
		rc = write_hashed(f);
	return rc == SP_EUNSUP ? begin_sorting(f) : rc;
}

/* Looks up a batch; sets how many of its bytes the table took. */
static int look_up(struct firsts *f, const struct sp_batch *batch, size_t *taken)
{
	size_t before = f->seen.n;
	int rc = sp__runbuf_add(&f->seen, batch->data, batch->bytes, taken);

	if (rc < 0)
		return sp__err(f->err, rc, "allocate", NULL, -1);
	if (f->seen.added.records != f->seen.n + f->seen.dropped.records)
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return f->hold && f->state == SEEING ? 0 : write_seen(f, before);
}

/* The following return SP_READY; SP_END if all the rest is read; or an error. */

/* Takes records of which all, or none, can have repeated keys. */
static int take_slice(struct firsts *f, const struct sp_batch *slice, uint64_t records,
		      int repeated)
{
	size_t taken = slice->bytes;
	int rc = 0;

	if (repeated < 0)
		return sp__err(f->err, repeated, "allocate", NULL, -1);
	if (repeated)
		rc = look_up(f, slice, &taken);
	else if (records)
		rc = write_records(f, slice, records);
	if (rc)
		return rc;
	f->records += records;
	return taken == slice->bytes ? SP_READY : leave_table(f);
}

static int write_batch(struct firsts *f, const struct sp_batch *batch)
{
	const char *p = batch->data, *end = p + batch->bytes, *next;
	struct sp_batch slice = { p, 0 };
	uint64_t records = 0;
	int rc = begin_result(f), repeated = 0, now;

	rc = rc ? rc : SP_READY;
	for (; rc == SP_READY && p < end; p = next) {
		next = sp__rec_end(&f->opts.format, p, (size_t)(end - p));
		now = sp__repeated_has(&f->repeated, p, (size_t)(next - p));
		if (now != repeated) {
			rc = take_slice(f, &slice, records, repeated);
			slice = (struct sp_batch){ p, 0 };
			records = 0;
		}
		repeated = now;
		slice.bytes += (size_t)(next - p);
		records++;
	}
	return rc == SP_READY ? take_slice(f, &slice, records, repeated) : rc;
}

static int see_batch(struct firsts *f, const struct sp_batch *batch)
{
	size_t taken = 0;
	int rc = f->memory ? look_up(f, batch, &taken) : 0;

	if (rc)
		return rc;
	if (f->memory && taken == batch->bytes)
		return SP_READY;
	rc = leave_table(f);
	if (rc != SP_READY)
		return rc;
	rc = put_rest(f, &(struct sp_batch){ batch->data + taken, batch->bytes - taken });
	return rc ? rc : SP_READY;
}

static int take(struct firsts *f, const struct sp_batch *batch)
{
	int rc;

	f->bytes += batch->bytes;
	if (f->state == SEEING)
		return see_batch(f, batch);
	if (f->state == WRITING)
		return write_batch(f, batch);
	rc = put_rest(f, batch);
	return rc ? rc : SP_READY;
}

/* Reads the input, up to the record that completes the result. */
static int take_input(struct firsts *f)
{
	struct sp_batch batch;
	int rc;

	while ((rc = sp__reread_next(&f->input, &batch)) == SP_READY) {
		rc = take(f, &batch);
		if (rc != SP_READY || full(f))
			return rc;
		tell_read(f, f->bytes);
	}
	if (rc == SP_END && f->bytes != sp__reread_owed(&f->input))
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return rc;
}

/* Writes the first records, except those that have been written before. */
static int write_sorted(struct firsts *f)
{
	struct sp_batch batch;
	uint64_t records;
	int rc = sp__twosorts_finish(&f->twosorts);

	f->already = f->written;
	if (!rc)
		rc = begin_result(f);
	while (!rc && (rc = sp__twosorts_get(&f->twosorts, &batch, &records)) == SP_READY) {
		rc = write_records(f, &batch, records);
		sp__progress_report(&f->progress, SP_PHASE_MERGE, f->written_bytes, f->bytes);
	}
	if (rc == SP_END && !f->opts.top && f->written != sp__twosorts_given(&f->twosorts))
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return rc < 0 ? rc : 0;
}

/* True if nothing can be written while the input is read. */
static bool must_hold(const struct firsts *f)
{
	/* Damage, or a wrong value, can be found late. */
	return f->opts.run.decompress || sp__ks(f->opts.keys)->checks ||
	       sp__reread_overwritten(&f->input, &f->result);
}

static int open_table(struct firsts *f)
{
	/* Without a byte key a record cannot be in the table. */
	if (sp__ks(f->opts.keys)->form == SP__KEY_COLLATED)
		return 0;
	f->memory = sp__pages_alloc(f->share, f->input.total_bytes >= HUGE_BYTES);
	if (!f->memory)
		return sp__err(f->err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&f->env.budget, f->share);
	sp__runbuf_init(&f->seen, f->opts.keys);
	sp__runbuf_use(&f->seen, f->memory, f->share);
	sp__runbuf_collapse_always(&f->seen);
	return 0;
}

static int open_all(struct firsts *f)
{
	int rc = sp__output_set_check(f->io->output, NULL, NULL, f->io->inputs, f->io->ninputs,
				      f->err);

	if (rc < 0)
		return rc;
	rc = sp__reread_open(&f->input);
	if (rc < 0)
		return rc;
	sp_sort_expect(&f->opts, f->io->inputs, f->io->ninputs);
	rc = sp__env_open(&f->env, &f->opts.run, f->err);
	f->share = SHARE(sp__working_memory(&f->opts.run, f->opts.run.memory_bytes)) & ~4095u;
	if (!rc)
		rc = sp__result_prepare(&f->result);
	f->hold = !rc && must_hold(f);
	if (!rc)
		rc = open_table(f);
	return rc ? rc : sp__reread_scan(&f->input);
}

static int run(struct firsts *f)
{
	int rc = open_all(f);

	if (!rc)
		rc = take_input(f);
	if (rc >= 0 && f->state == HASHING) {
		f->input_bytes = f->bytes;
		rc = write_hashed(f);
		if (rc == SP_EUNSUP)
			rc = begin_sorting(f);
	}
	if (!f->agreed)
		rc = sp__reread_check(&f->input, rc);
	if (rc < 0)
		return rc;
	if (sp__twosorts_is_open(&f->twosorts))
		rc = write_sorted(f);
	else
		rc = write_seen(f, f->hold && f->state == SEEING ? 0 : f->seen.n);
	if (!rc)
		rc = sp__collate_check(f->opts.keys, f->err);
	if (!rc)
		rc = sp__result_finish(&f->result);
	return rc ? rc : sp__result_commit(&f->result);
}

static void note(struct firsts *f, struct sp_sort_stats *st)
{
	const bool sorted = sp__twosorts_is_open(&f->twosorts);
	struct sp__left_out left_out = { 0 };
	struct sp__io_counters c;

	*st = (struct sp_sort_stats){ 0 };
	if (sorted)
		sp__twosorts_stats(&f->twosorts, st);
	else
		(void)!sp_sort_plan(&f->opts, &st->plan, NULL);
	st->plan.runs = sorted ? st->plan.runs : 0; /* the sort of the hashes has other runs */
	sp__env_note(&f->env, &st->run, f->io->device_counters);
	sp__reread_counters(&f->input, &c);
	sp__env_note_io(&st->run, &c);
	sp__result_counters(&f->result, &c);
	sp__env_note_io(&st->run, &c);
	sp__stats_join(st, &f->repeated.stats);
	sp__env_note_spill(&f->env, &st->run, f->input.spool.spill);
	st->records = f->before + (sorted		 ? st->records
				   : f->state == WRITING ? f->records
							 : f->seen.added.records);
	st->collapsed += f->before + f->seen.dropped.records;
	st->output_records = f->written;
	st->input_bytes = f->input.spool.spill ? f->input_bytes : f->bytes;
	st->output_bytes = f->written_bytes;
	sp__reread_left_out(&f->input, &left_out);
	sp__sort_note_left_out(st, &left_out, f->io, f->opts.format.eol);
	st->run.elapsed_s = (double)(sp__now_ns() - f->begin_ns) * 1e-9;
}

int sp__firsts_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		   const struct sp__condition *where, struct sp_sort_stats *stats,
		   struct sp_errinfo *err)
{
	struct firsts f = { .opts = *opts,
			    .io = io,
			    .err = err,
			    .result = { .io = io, .err = err },
			    .progress = { .tell = io->progress,
					  .arg = io->progress_arg,
					  .phase = -1,
					  .last = SP_PHASE_MERGE },
			    .begin_ns = sp__now_ns() };
	int rc, closed;

	f.input = (struct sp__reread){
		.opts = &f.opts, .io = io, .where = where, .env = &f.env, .err = err
	};
	rc = run(&f);
	if (stats && f.env.opts)
		note(&f, stats);
	sp__result_close(&f.result);
	sp__runbuf_release(&f.seen);
	free_table(&f);
	sp__repeated_close(&f.repeated);
	sp__twosorts_close(&f.twosorts);
	sp__reread_close(&f.input);
	closed = sp__env_close(&f.env);
	return rc < 0 ? rc : closed;
}
