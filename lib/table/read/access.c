/* SPDX-License-Identifier: MIT */
/*
 * Scans in two steps, or chooses the way by what the predicate chose before (access.h).
 *
 * SI-scan is a get of the records that the columns of the predicate choose.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/read/access.h"
#include "table/read/get.h"
#include "table/read/hits.h"

#define FIRST_RECORDS 65536 /* of the first part; each other one is larger by a factor */
#define PART_FACTOR 4

struct scattered {
	struct sp__hits hits;
	uint64_t left; /* of the limit */
};

static int next(void *scattered, uint64_t *record)
{
	struct scattered *s = scattered;
	int rc = s->left ? sp__hits_next(&s->hits, record) : SP_END;

	s->left -= rc == SP_READY;
	return rc;
}

static int absent(void *unused, uint64_t record)
{
	(void)unused;
	(void)record;
	return SP_ESTATE; /* chosen records exist */
}

void sp__tablescan_chosen_columns(const struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				  bool *columns)
{
	if (o->sums)
		sp__aggregates_columns(o->sums->aggregates, columns);
	for (uint32_t k = 0; k < o->output->n; k++)
		columns[o->output->columns[k]] = true;
	if (!memchr(columns, 1, f->schema.n))
		memcpy(columns, o->columns, f->schema.n * sizeof(*columns));
}

int sp__tablescan_chosen(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			 int (*next_number)(void *, uint64_t *), void *numbers,
			 const struct sp__tableget_check *check, const struct sp__reading *to)
{
	bool *columns = calloc(f->schema.n, sizeof(*columns));
	struct sp__tableget_opts get = { .next = next_number,
					 .absent = absent,
					 .arg = numbers,
					 .exist = true,
					 .parts = SP__SCATTERED_STEPS,
					 .gap_bytes = o->gap_bytes,
					 .columns = columns,
					 .output = o->output,
					 .sums = o->sums,
					 .check = check };
	int rc;

	if (!columns)
		return sp__err(to->err, -ENOMEM, "scan", f->path, -1);
	sp__tablescan_chosen_columns(f, o, columns);
	if (check)
		columns[check->column] = true;
	rc = sp__tableget(f, &get, to);
	to->stats->keys = to->stats->keys_found = 0;
	free(columns);
	return rc;
}

/* Gets the records of the hits. */
static int get(struct scattered *s, struct sp__tablefile *f, const struct sp__tablescan_opts *o,
	       const struct sp__reading *to)
{
	const uint64_t matched = to->stats->records_matched;
	int rc = sp__tablescan_chosen(f, o, next, s, NULL, to);

	/* These records were counted when the predicate was evaluated. */
	to->stats->records_read -= to->stats->records_matched - matched;
	return rc;
}

int sp__tablescan_scattered(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			    const struct sp__reading *to)
{
	struct scattered s = { .left = o->limit };
	int rc = o->continued || o->sums ? 0 : sp__tablescan_header(f, o->output, to);

	if (rc)
		return rc;
	rc = sp__hits_open(&s.hits, f, o->where, o->lo, o->hi, SP__SCATTERED_STEPS, to->stats,
			   to->err);
	if (!rc)
		rc = get(&s, f, o, to);
	sp__hits_close(&s.hits);
	return rc;
}

uint64_t sp__tablescan_part(const struct sp__table_layout *l, uint64_t at, unsigned i)
{
	const uint64_t page = l->page_records;
	uint64_t n = FIRST_RECORDS;

	for (; i && n < SP__TABLE_RECORDS_MAX; i--)
		n *= PART_FACTOR;
	return ((at + n) / page + 1) * page;
}

int sp__tablescan_adaptive(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
			   double max_share, const struct sp__reading *to)
{
	struct sp__tablescan_opts part = *o;
	bool scattered = false;
	unsigned n = 0;
	int rc = 0;

	do {
		uint64_t read = to->stats->records_read, matched = to->stats->records_matched;

		part.hi = sp__min(sp__tablescan_part(&f->layout, part.lo, n++),
				  f->superblock.records);
		part.hi = sp__min(o->hi, part.hi - 1);
		rc = scattered ? sp__tablescan_scattered(f, &part, to)
			       : sp__tablescan(f, &part, to);
		read = to->stats->records_read - read;
		matched = to->stats->records_matched - matched;
		if (read)
			scattered = (double)matched < max_share * (double)read;
		part.limit -= matched;
		part.lo = part.hi + 1;
		part.continued = true;
	} while (!rc && part.limit && part.lo <= o->hi && part.lo < f->superblock.records);
	return rc;
}
