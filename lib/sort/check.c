/* SPDX-License-Identifier: MIT */
/*
 * Checks that an input is in order (-c), by comparing each record with the one before.
 */
#include <stdlib.h>
#include "base/err.h"
#include "flow/scan.h"
#include "rec/collate.h"
#include "rec/recfmt.h"
#include "run/memory.h"
#include "sort/plan/plan.h"

struct checker {
	const struct sp_sort_opts *opts;
	struct sp__budget budget;
	uint64_t header_records;
	struct sp__bytes last; /* record of the previous batch */
	uint64_t records, line;
	struct sp_disorder *where;
};

static int disorder(struct checker *c, const char *rec, size_t bytes)
{
	c->where->record = malloc(bytes + 1);
	if (!c->where->record)
		return -ENOMEM;
	memcpy(c->where->record, rec, bytes);
	c->where->record[bytes] = '\0';
	c->where->bytes = bytes;
	c->where->line = c->line;
	return 1;
}

/* Returns 0 if the batch is in order, 1 if not, or -ENOMEM. */
static int check_batch(struct checker *c, const struct sp_batch *batch)
{
	const struct sp_recfmt *f = &c->opts->format;
	const size_t term = sp__rec_term(f);
	const char *p = batch->data, *end = p + batch->bytes;
	const char *prev = c->last.data;
	size_t prev_bytes = c->last.bytes;

	while (p < end) {
		const char *next = sp__rec_end(f, p, (size_t)(end - p));
		size_t bytes = (size_t)(next - p) - term;

		c->line++;
		if (c->records++ > c->header_records) {
			int cmp = sp_keyset_compare(c->opts->keys, prev, prev_bytes, p, bytes);

			if (cmp > 0 || (cmp == 0 && c->opts->unique))
				return disorder(c, p, bytes);
		}
		if (f->kind == SP_REC_CSV)
			c->line += sp__count_lines(p, bytes);
		prev = p;
		prev_bytes = bytes;
		p = next;
	}
	return sp__bytes_set(&c->last, prev, prev_bytes, &c->budget);
}

int sp_sort_check(const struct sp_sort_opts *opts, const char *input, const struct sp_batch *ahead,
		  uint64_t header_records, struct sp_disorder *where, struct sp_errinfo *err)
{
	struct checker c = { .opts = opts, .header_records = header_records, .where = where };
	struct sp__waits waits = { 0 };
	struct sp__scan *scan = NULL;
	struct sp__scan_opts o = {
		.format = opts->format, .inputs = &input, .ninputs = 1, .waits = &waits, .err = err
	};
	struct sp__buffers b;
	struct sp_batch batch;
	int rc;

	*where = (struct sp_disorder){ 0 };
	if (ahead)
		o.ahead = *ahead;
	sp__budget_init(&c.budget, opts->run.memory_bytes);
	b = sp__buffers(sp__working_memory(&opts->run, opts->run.memory_bytes));
	o.stream = (struct sp__rstream_opts){ .engine = opts->run.engine,
					      .direct = SP__DIRECT_AUTO,
					      .chunk_bytes = b.chunk_bytes,
					      .depth = b.reads,
					      .unpack = opts->run.decompress,
					      .unpack_bytes = sp__unpacking_memory(
						      &opts->run, opts->run.memory_bytes),
					      .unpack_share = SP__UNPACKING_SHARE };
	rc = sp__scan_open(&scan, &o);
	if (rc < 0)
		return rc;
	while (!rc && (rc = sp__iter_next(&(struct sp__iter){ scan, sp__scan_next }, &waits,
					  &batch)) == SP_READY)
		rc = check_batch(&c, &batch);
	if (rc >= 0 && sp__collate_check(opts->keys, NULL) < 0) {
		free(where->record);
		where->record = NULL;
		rc = -ENOMEM;
	}
	if (rc == -ENOMEM)
		sp__err(err, rc, "allocate", NULL, -1);
	sp__bytes_release(&c.last, &c.budget);
	sp__scan_close(scan);
	return rc;
}
