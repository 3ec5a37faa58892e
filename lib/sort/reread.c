/* SPDX-License-Identifier: MIT */
/*
 * Reads the inputs of a sort with keep_order, or a copy of them in temporary space.
 *
 * A second reading must find the same records.  So each file is read to the length that it had
 * first, and it must not be replaced or become shorter; the caller compares the keys.  Instead of
 * inputs that cannot be read again, a spool is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "sort/firsts.h"

#define SMALL_PAGE 4096u
#define LARGE_PAGE (64u << 10)
#define DEPTH 16

static int no_memory(struct sp__env *env)
{
	return sp__err(env->err, -ENOMEM, "allocate", NULL, -1);
}

/*
 * memory_bytes: for buffers, raised to 8 KiB; charged to the budget of env.  Returns 0 or an error,
 * recorded.  close() is for both.
 */
static int spool_open(struct sp__spool *s, struct sp__env *env, size_t memory_bytes)
{
	struct sp__spill_opts o = sp__env_spilling(env);
	int rc;

	*s = (struct sp__spool){ .memory_bytes = sp__max(memory_bytes & ~(size_t)(SMALL_PAGE - 1),
							 2 * (size_t)SMALL_PAGE) };
	o.page_bytes = s->memory_bytes >= SP__WRITER_CHUNKS * LARGE_PAGE ? LARGE_PAGE : SMALL_PAGE;
	o.direct = env->opts->direct > 0 ? SP__DIRECT_AUTO : SP__DIRECT_NEVER;
	o.recycle_level = -1;
	o.depth = DEPTH;
	o.budget = &env->budget;
	s->memory = sp__pages_alloc(s->memory_bytes, false);
	if (!s->memory)
		return no_memory(env);
	sp__budget_charge(&env->budget, s->memory_bytes);
	rc = sp__spill_open(&s->spill, &o);
	if (rc < 0)
		return rc;
	if (sp__run_new(&s->run, &env->budget) < 0)
		return no_memory(env);
	s->writing = true;
	return sp__runwriter_open(&s->writer, s->spill, s->run, s->memory, s->memory_bytes, NULL,
				  NULL);
}

static int end_writing(struct sp__spool *s)
{
	int rc = s->writing ? sp__runwriter_finish(&s->writer) : 0;

	if (s->writing)
		sp__runwriter_close(&s->writer);
	s->writing = false;
	return rc;
}

static void end_reading(struct sp__spool *s)
{
	if (s->reading)
		sp__runread_close(&s->reader);
	s->reading = false;
}

static void spool_close(struct sp__spool *s, struct sp__env *env)
{
	end_reading(s);
	if (s->writing)
		sp__runwriter_close(&s->writer);
	sp__run_free(s->run);
	sp__spill_close(s->spill);
	if (s->memory)
		sp__budget_credit(&env->budget, s->memory_bytes);
	sp__pages_free(s->memory, s->memory_bytes);
	*s = (struct sp__spool){ 0 };
}

int sp__spool_put(struct sp__spool *s, const char *data, size_t bytes)
{
	s->bytes += bytes;
	return sp__runwriter_put(&s->writer, data, bytes);
}

/* Starts a reading at the first record. */
static int spool_read(struct sp__spool *s, const struct sp_recfmt *format)
{
	int rc = end_writing(s);

	end_reading(s);
	if (rc < 0)
		return rc;
	sp__runread_open(&s->reader, s->spill, s->run, format, false, s->memory, s->memory_bytes);
	s->reading = true;
	return 0;
}

/* Returns SP_READY with a batch of whole records, SP_END, or an error. */
static int spool_next(struct sp__spool *s, struct sp_batch *batch)
{
	return sp__runread_next(&s->reader, batch);
}

static bool is_given(const char *name)
{
	return !strcmp(name, "-");
}

static int look(const char *name, struct stat *st)
{
	*st = (struct stat){ 0 };
	return is_given(name) ? fstat(STDIN_FILENO, st) : stat(name, st);
}

int sp__reread_open(struct sp__reread *s)
{
	const struct sp_sort_io *io = s->io;
	bool all;

	s->total_bytes = sp__inputs_bytes(io->inputs, io->ninputs, s->opts->run.decompress, &all);
	if (!all)
		s->total_bytes = 0;
	s->inputs = calloc(io->ninputs, sizeof(*s->inputs));
	s->lengths = calloc(io->ninputs, sizeof(*s->lengths));
	if (!s->inputs || !s->lengths)
		return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < io->ninputs; i++) {
		(void)!look(io->inputs[i], &s->inputs[i]);
		/* A file that grows is read to the same length again. */
		if (S_ISREG(s->inputs[i].st_mode))
			s->lengths[i] = (uint64_t)s->inputs[i].st_size;
	}
	s->begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return 0;
}

bool sp__reread_overwritten(const struct sp__reread *s, const struct sp__sort_result *result)
{
	struct stat st;

	for (size_t i = 0; i < s->io->ninputs; i++)
		if (!look(s->io->inputs[i], &st) && sp__result_overwrites(result, &st))
			return true;
	return false;
}

/* Keeps the records left out of the scan, which is closed next. */
static void note_left_out(struct sp__reread *s)
{
	struct sp__left_out sum = { 0 };

	sp__reread_left_out(s, &sum);
	s->left_out = sum;
}

static void close_scan(struct sp__reread *s)
{
	sp__reread_counters(s, &s->closed);
	note_left_out(s);
	sp__scan_close(s->scan);
	s->scan = NULL;
}

void sp__reread_close(struct sp__reread *s)
{
	close_scan(s);
	spool_close(&s->spool, s->env);
	sp__bytes_release(&s->header, NULL);
	free(s->inputs);
	free(s->lengths);
}

void sp__reread_counters(const struct sp__reread *s, struct sp__io_counters *c)
{
	struct sp__io_counters now = { 0 };

	if (s->scan)
		sp__scan_counters(s->scan, &now);
	*c = s->closed;
	sp__io_add(c, &now);
}

static struct sp__scan_opts scan_options(struct sp__reread *s)
{
	const struct sp_sort_io *io = s->io;
	struct sp__scan_opts o = { .format = s->opts->format,
				   .inputs = io->inputs,
				   .ninputs = io->ninputs,
				   .header_records = io->header_records,
				   .header_first = io->header_first,
				   .separator = sp__key_separator(s->opts->keys),
				   .keys = s->opts->keys,
				   .where = s->where,
				   .skip_invalid = io->skip_invalid,
				   .lengths = s->opts->run.decompress ? NULL : s->lengths,
				   .ahead = io->ahead,
				   .stream = sp__env_reading(s->env),
				   .waits = &s->waits,
				   .err = s->err };

	o.stream.whole = true;
	return o;
}

/* Another reading begins, so the present scan cannot go on if it reads standard input. */
static int go_back(struct sp__reread *s)
{
	for (size_t i = 0; i < s->io->ninputs; i++) {
		if (!is_given(s->io->inputs[i]))
			continue;
		s->again = true;
		if (lseek(STDIN_FILENO, s->begin, SEEK_SET) < 0)
			return sp__err(s->err, -errno, "read", "-", -1);
	}
	return 0;
}

int sp__reread_spool(struct sp__reread *s, size_t memory_bytes)
{
	struct sp_batch header;

	sp__scan_header(s->scan, &header);
	if (sp__bytes_set(&s->header, header.data, header.bytes, NULL))
		return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
	s->again = true;
	return spool_open(&s->spool, s->env, memory_bytes);
}

void sp__reread_header(const struct sp__reread *s, struct sp_batch *header)
{
	if (s->scan)
		sp__scan_header(s->scan, header);
	else
		*header = (struct sp_batch){ s->header.data, s->header.bytes };
}

int sp__reread_scan(struct sp__reread *s)
{
	struct sp__scan_opts o = scan_options(s);
	int rc;

	s->again |= s->scan != NULL;
	close_scan(s);
	if (s->spool.spill)
		return spool_read(&s->spool, &o.format);
	rc = s->again ? go_back(s) : 0;
	return rc ? rc : sp__scan_open(&s->scan, &o);
}

int sp__reread_next(struct sp__reread *s, struct sp_batch *batch)
{
	struct sp__iter it = { s->scan, sp__scan_next };

	return s->scan ? sp__iter_next(&it, &s->waits, batch) : spool_next(&s->spool, batch);
}

uint64_t sp__reread_owed(const struct sp__reread *s)
{
	return s->scan ? sp__scan_owed(s->scan) : s->spool.bytes;
}

void sp__reread_left_out(const struct sp__reread *s, struct sp__left_out *sum)
{
	if (s->scan)
		sp__scan_left_out(s->scan, sum);
	else
		*sum = s->left_out;
}

/* Returns the number of the first input that has changed since the first scan. */
static size_t changed(const struct sp__reread *s, struct stat *now)
{
	size_t i = 0;

	for (; i < s->io->ninputs; i++) {
		if (look(s->io->inputs[i], now) < 0 || !sp__file_continues(&s->inputs[i], now))
			break;
	}
	return i;
}

bool sp__reread_same(const struct sp__reread *s)
{
	struct stat now;

	return s->total_bytes && !s->spool.spill && changed(s, &now) == s->io->ninputs;
}

int sp__reread_check(const struct sp__reread *s, int rc)
{
	struct stat now;
	size_t i;

	if (!s->again || s->spool.spill || (rc < 0 && rc != SP_EBALANCE))
		return rc;
	i = changed(s, &now);
	if (i == s->io->ninputs && rc >= 0)
		return rc;
	*s->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	if (i == s->io->ninputs)
		return sp__errf(s->err, SP_EFORMAT, "read", s->io->inputs[0], -1,
				"%shad other records when it was read again: it has changed, or "
				"this is a fault of Spindle",
				i == 1 ? "" : "this or another input ");
	if (!now.st_nlink)
		return sp__errf(s->err, SP_EFORMAT, "read", s->io->inputs[i], -1,
				"has been removed before it was read twice");
	return sp__file_changed((uint64_t)s->inputs[i].st_size, (uint64_t)now.st_size,
				s->io->inputs[i], s->err);
}

int sp__reread_put_parts(struct sp__reread *s, const struct sp__sorter *sorter,
			 sp__put_parts_fn *put, void *arg)
{
	struct sp__scan_opts o = scan_options(s);
	struct sp__io_counters c;
	struct sp__parts *parts;
	uint64_t bytes;
	int rc;

	if (!sp__reread_same(s) || !sp__sort_reads_parts(sorter->sort, &o.stream))
		return SP_EUNSUP;
	rc = go_back(s);
	if (rc)
		return rc;
	rc = sp__parts_open(&parts, &o, sp__sort_part_bytes(sorter->sort, s->total_bytes));
	if (rc)
		return rc;
	rc = sp__reread_same(s) ? put(arg, parts, &bytes) : SP_EUNSUP;
	if (!rc)
		rc = sp__parts_end(parts);
	if (!rc && bytes != sp__parts_owed(parts))
		rc = sp__err(s->err, SP_EBALANCE, "sort", NULL, -1);
	sp__parts_counters(parts, &c);
	sp__io_add(&s->closed, &c);
	s->left_out = (struct sp__left_out){ 0 };
	sp__parts_left_out(parts, &s->left_out);
	sp__parts_close(parts);
	return rc;
}
