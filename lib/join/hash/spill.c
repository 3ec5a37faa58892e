/* SPDX-License-Identifier: MIT */
/*
 * Writes partitions of a stage to temporary space.
 *
 * A partition that is not in memory has one writer at a time, for the build input, then for the
 * probe input.  The buffers of all writers of a stage share one memory block: the table's, if
 * nothing stays in it and it is the larger one.
 *
 * A sort-hash join first sorts its output by partition (sweep.c), so that one page per writer is
 * enough.
 */
#include <limits.h>
#include "join/hash/stage.h"
#include "join/space/space.h"

/* Share of memory for descriptors of spilled pages, before one checksum covers several. */
#define DESCRIBED_SHARE 32
#define MAX_GROUP_SHIFT 12

/* Unused memory of the table, if nothing stays in it. */
static uint64_t table_memory(const struct sp__stage *s)
{
	const struct sp__table *t = &s->h->table;
	uint64_t bytes = sp__min(t->mem_bytes, t->limit_bytes);

	return s->planned == s->npartitions ? bytes - bytes % s->h->layout.page_bytes : 0;
}

/*
 * Memory for the writers of a stage, and the share of each.  If there is no other memory, a
 * sort-hash join takes a page per writer from the table.
 */
static char *writers_memory(const struct sp__stage *s, uint64_t *each)
{
	const struct sp__hash *h = s->h;
	bool of_table;

	*each = sp__join_writer(&h->layout, h->layout.write_bytes - h->workers_bytes,
				table_memory(s), s->npartitions, s->sorted, &of_table);
	return of_table ? h->table.mem : h->write_mem;
}

static int open_writer(struct sp__stage *s, struct sp__partition *p, int role)
{
	struct sp__hash *h = s->h;
	uint64_t each;
	char *mem = writers_memory(s, &each);
	int rc = h->spill ? 0
			  : sp__joinspace_open(&h->spill, h->in, h->layout.page_bytes, s->planned,
					       h->layout.buffered || s->sorted);

	if (rc < 0)
		return rc;
	if (sp__run_new(&p->run[role], &h->env->budget) < 0)
		return sp__join_no_memory(s->h->env);
	h->bloom_used |= role == SP__BUILD;
	p->writing = true;
	rc = sp__runwriter_open(&p->writer, h->spill, p->run[role],
				mem + (uint64_t)(p - s->partitions) * each, each, NULL, NULL);
	if (!rc)
		sp__spill_gather(h->spill,
				 (size_t)s->npartitions * sp__runwriter_chunk(&p->writer));
	return rc;
}

/* Writes the sorted records of one role. */
static int write_sorted(void *stage, unsigned partition, const char *data, size_t bytes,
			unsigned records)
{
	struct sp__stage *s = stage;

	s->h->counts->stats.groups += partition != s->written;
	s->written = partition;
	sp__charge_work(s->h->env, records, 0, bytes);
	return sp__runwriter_put_part(&s->partitions[partition].writer, data, bytes, records);
}

/* Gives N pages of memory to the writers and the rest to the records. */
static int open_sweep(struct sp__stage *s)
{
	uint64_t pages = (uint64_t)s->npartitions * s->h->layout.page_bytes;

	if (sp__sweep_open(&s->sweep, s->npartitions, s->h->table.mem + pages,
			   table_memory(s) - pages, write_sorted, s) < 0)
		return sp__join_no_memory(s->h->env);
	s->written = UINT_MAX;
	return 0;
}

int sp__stage_spill(struct sp__stage *s, struct sp__partition *p, int role, const char *line,
		    size_t bytes, uint64_t key_hash)
{
	int rc = 0;

	if (!p->writing)
		rc = open_writer(s, p, role);
	if (!rc && s->sorted && !s->sweep.queues)
		rc = open_sweep(s);
	if (rc < 0)
		return rc;
	p->sum[role] += key_hash;
	bytes += s->h->table.term_bytes;
	if (s->sorted)
		return sp__sweep_put(&s->sweep, (unsigned)(p - s->partitions), line, bytes);
	return sp__runwriter_put(&p->writer, line, bytes);
}

int sp__stage_end_writing(struct sp__stage *s)
{
	int rc = s->sweep.queues ? sp__sweep_finish(&s->sweep) : 0, one;

	sp__sweep_close(&s->sweep);
	for (unsigned i = 0; i < s->npartitions && !rc; i++)
		if (s->partitions[i].writing)
			rc = sp__runwriter_end(&s->partitions[i].writer);
	for (unsigned i = 0; i < s->npartitions; i++) {
		struct sp__partition *p = &s->partitions[i];

		if (!p->writing)
			continue;
		one = rc ? 0 : sp__runwriter_finish(&p->writer);
		sp__runwriter_close(&p->writer);
		p->writing = false;
		rc = rc ? rc : one;
	}
	/* The next user of the table's memory counts the pages that it touches. */
	if (table_memory(s))
		sp__pages_drop(s->h->table.mem, table_memory(s));
	return rc;
}

/*
 * Keeps the descriptors of spilled pages within a share of the memory: one checksum covers two
 * pages, then four, and so on.
 */
void sp__stage_bound(struct sp__stage *s)
{
	struct sp__hash *h = s->h;

	if (s->depth)
		sp__hash_report_joining(h);
	while (h->spill && h->spill->group_shift < MAX_GROUP_SHIFT &&
	       h->env->budget.used_bytes - h->table.giant_bytes >
		       h->layout.table_bytes / DESCRIBED_SHARE) {
		for (unsigned i = 0; i < s->npartitions; i++)
			for (int role = 0; role < 2; role++)
				if (s->partitions[i].run[role])
					sp__run_coarsen(s->partitions[i].run[role]);
		h->spill->group_shift++;
	}
}
