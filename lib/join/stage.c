/* SPDX-License-Identifier: MIT */
/*
 * Partitions of a stage.
 *
 * Their number follows formula (1) of Wang & Cherniack if the size of the build
 * input is known: one share of the hash's range as large as memory allows stays
 * in memory, the rest is cut into parts that will each fit.  The share in memory
 * is itself cut into a few partitions, so that a wrong guess costs one of them,
 * not all: when there is no page left, the largest partition in memory is written
 * out.  An input of unknown size is cut into many equal parts, all in memory at
 * first.
 *
 * A partition that is not in memory has one writer at a time, of the build input,
 * then of the probe input; the buffers of all writers of a stage share one piece of
 * memory.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/rng.h"
#include "join/plan.h"
#include "join/stage.h"
#include "sim/fsmap.h"
#include "spill/where.h"

/* Requests outstanding in temporary space; a batch of gathered writes is a large one. */
#define DEPTH 64
#define DEPTH_GATHERED 1024
/* Of memory: what may be known of spilled pages, before one checksum does for several. */
#define DESCRIBED_SHARE 32
#define MOST_GROUP_SHIFT 12

static int no_memory(struct sp__stage *s)
{
	return sp__err(s->h->j->err, -ENOMEM, "allocate", NULL, -1);
}

/* The last planned parts share the hash's range behind the resident share. */
static void deal_buckets(struct sp__stage *s, double share)
{
	unsigned resident = s->nparts - s->planned;
	unsigned in = s->planned ? (unsigned)(share * SP__BUCKETS) : SP__BUCKETS;

	if (!resident)
		in = 0;
	for (unsigned b = 0; b < SP__BUCKETS; b++)
		s->part_of[b] =
			(uint16_t)(b < in ? b * resident / in
					  : resident + (b - in) * s->planned / (SP__BUCKETS - in));
}

int sp__stage_new(struct sp__stage **stage, struct sp__hash *h, unsigned depth, int build_side,
		  uint64_t build_bytes, uint64_t build_records)
{
	struct sp__stage *s = calloc(1, sizeof(*s));
	struct sp__join_split split;

	if (!s)
		return sp__err(h->j->err, -ENOMEM, "allocate", NULL, -1);
	/* GRACE parts whole inputs, but what fits then is joined where it is. */
	sp__join_split(&h->layout, depth ? SP_JOIN_HYBRID : h->j->opts.algorithm, build_bytes,
		       build_records, &split);
	if (!depth && split.spilled)
		sp__ordered_spill(h);
	s->h = h;
	s->depth = depth;
	s->seed = sp__mix64(h->j->opts.seed + depth * UINT64_C(0x9E3779B97F4A7C15) + 1);
	s->side[SP__BUILD] = build_side;
	s->side[SP__PROBE] = !build_side;
	s->nparts = split.resident + split.spilled;
	s->planned = split.spilled;
	s->parts = calloc(s->nparts, sizeof(*s->parts));
	if (!s->parts) {
		free(s);
		return sp__err(h->j->err, -ENOMEM, "allocate", NULL, -1);
	}
	for (unsigned i = 0; i < s->nparts; i++) {
		sp__reclist_init(&s->parts[i].list);
		s->parts[i].spilled = i >= split.resident;
	}
	s->sorted = !depth && h->j->opts.algorithm == SP_JOIN_SHJ;
	deal_buckets(s, split.share);
	s->last_block = true;
	if (h->bloom_used)
		memset(h->bloom.words, 0, h->layout.bloom_bytes);
	h->bloom_used = false;
	*stage = s;
	return 0;
}

void sp__stage_free(struct sp__stage *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->nparts; i++) {
		struct sp__part *p = &s->parts[i];

		if (p->writing)
			sp__runwriter_close(&p->writer);
		sp__run_free(p->run[SP__BUILD]);
		sp__run_free(p->run[SP__PROBE]);
	}
	sp__sweep_close(&s->sweep);
	free(s->had);
	free(s->parts);
	free(s);
}

/* Temporary space. */

/* Is there a file system on the simulated machine?  Then partitions are files there. */
static bool has_files(const struct sp__join *j)
{
	return j->machine && j->opts.placement == SP_PLACE_CONTIGUOUS &&
	       sp__machine_spec(j->machine)->fs != SP__FS_NONE;
}

int sp__hash_open_spill(struct sp__hash *h, uint64_t runs, bool buffered)
{
	struct sp__join *j = h->j;
	const struct sp_join_opts *o = &j->opts;
	enum sp__direct direct =
		j->read.direct == SP__DIRECT_AUTO && buffered ? SP__DIRECT_NEVER : j->read.direct;
	struct sp__spill_opts so = { .dirs = o->tmpdirs,
				     .ndirs = o->ntmpdirs,
				     .engine = o->engine,
				     .direct = direct,
				     .page_bytes = h->layout.page_bytes,
				     .recycle_level = 1,
				     .depth = o->placement ? DEPTH_GATHERED : DEPTH,
				     .budget = &h->budget,
				     .trace = j->trace,
				     .machine = j->machine,
				     .ahead = !j->machine,
				     .apart = has_files(j),
				     .block = sp__where_block(o->volume),
				     .placement = o->placement,
				     .geometry = o->geometry,
				     .runs = runs,
				     .hops = SP_GEOMETRY_WRITE,
				     .err = j->err };

	return sp__spill_open(&h->spill, &so);
}

/* Memory of the table that has nothing else to do, where nothing stays in it. */
static uint64_t table_memory(const struct sp__stage *s)
{
	const struct sp__table *t = &s->h->table;
	uint64_t bytes = t->mem_bytes < t->limit_bytes ? t->mem_bytes : t->limit_bytes;

	return s->planned == s->nparts ? bytes - bytes % s->h->layout.page_bytes : 0;
}

/*
 * Memory for the writers of a stage, and how much of it each gets.  A sort-hash join takes
 * a page for each from the table's if there is no other.
 */
static char *writers_memory(const struct sp__stage *s, uint64_t *each)
{
	const struct sp__hash *h = s->h;
	uint64_t bytes = h->layout.write_bytes, table = table_memory(s);
	char *mem = h->write_mem;

	if (s->sorted && bytes / s->nparts < h->layout.page_bytes) {
		bytes = (uint64_t)s->nparts * h->layout.page_bytes;
		mem = h->table.mem;
	} else if (!s->sorted && table > bytes) {
		bytes = table;
		mem = h->table.mem;
	}
	*each = bytes / s->nparts;
	if (*each > h->layout.writer_max)
		*each = h->layout.writer_max;
	*each -= *each % h->layout.page_bytes;
	return mem;
}

static int open_writer(struct sp__stage *s, struct sp__part *p, int role)
{
	struct sp__hash *h = s->h;
	uint64_t each;
	char *mem = writers_memory(s, &each);
	int rc = h->spill ? 0 : sp__hash_open_spill(h, s->planned, h->layout.buffered || s->sorted);

	if (rc < 0)
		return rc;
	if (sp__run_new(&p->run[role], &h->budget) < 0)
		return no_memory(s);
	h->bloom_used |= role == SP__BUILD;
	p->writing = true;
	rc = sp__runwriter_open(&p->writer, h->spill, p->run[role],
				mem + (uint64_t)(p - s->parts) * each, each, NULL, NULL);
	if (!rc)
		sp__spill_gather(h->spill, (size_t)s->nparts * sp__runwriter_chunk(&p->writer));
	return rc;
}

/* The sorted records of one role are written. */
static int write_sorted(void *stage, unsigned part, const char *data, size_t bytes,
			unsigned records)
{
	struct sp__stage *s = stage;

	s->h->j->counts.groups += part != s->written;
	s->written = part;
	sp__join_charge(s->h->j, records, 0, bytes);
	return sp__runwriter_put_part(&s->parts[part].writer, data, bytes, records);
}

/* N pages of memory are for the writers, the rest for the records. */
static int open_sweep(struct sp__stage *s)
{
	uint64_t pages = (uint64_t)s->nparts * s->h->layout.page_bytes;

	if (sp__sweep_open(&s->sweep, s->nparts, s->h->table.mem + pages, table_memory(s) - pages,
			   write_sorted, s) < 0)
		return no_memory(s);
	s->written = UINT_MAX;
	return 0;
}

int sp__stage_spill(struct sp__stage *s, struct sp__part *p, int role, const char *line,
		    size_t bytes)
{
	int rc = 0;

	if (!p->writing)
		rc = open_writer(s, p, role);
	if (!rc && s->sorted && !s->sweep.queues)
		rc = open_sweep(s);
	if (rc < 0)
		return rc;
	bytes += s->h->table.term_bytes;
	if (s->sorted)
		return sp__sweep_put(&s->sweep, (unsigned)(p - s->parts), line, bytes);
	return sp__runwriter_put(&p->writer, line, bytes);
}

int sp__stage_end_writing(struct sp__stage *s)
{
	int rc = s->sweep.queues ? sp__sweep_finish(&s->sweep) : 0, one;

	sp__sweep_close(&s->sweep);
	for (unsigned i = 0; i < s->nparts && !rc; i++)
		if (s->parts[i].writing)
			rc = sp__runwriter_end(&s->parts[i].writer);
	for (unsigned i = 0; i < s->nparts; i++) {
		struct sp__part *p = &s->parts[i];

		if (!p->writing)
			continue;
		one = rc ? 0 : sp__runwriter_finish(&p->writer);
		sp__runwriter_close(&p->writer);
		p->writing = false;
		rc = rc ? rc : one;
	}
	/* The next user counts what he touches. */
	if (table_memory(s))
		sp__pages_drop(s->h->table.mem, table_memory(s));
	return rc;
}

/*
 * What is known of spilled pages stays within a share of the memory: one checksum
 * is made to do for two pages, for four, and so on.
 */
void sp__stage_bound(struct sp__stage *s)
{
	struct sp__hash *h = s->h;

	while (h->spill && h->spill->group_shift < MOST_GROUP_SHIFT &&
	       h->budget.used_bytes - h->table.giant_bytes >
		       h->layout.table_bytes / DESCRIBED_SHARE) {
		for (unsigned i = 0; i < s->nparts; i++)
			for (int role = 0; role < 2; role++)
				if (s->parts[i].run[role])
					sp__run_coarsen(s->parts[i].run[role]);
		h->spill->group_shift++;
	}
}

/* Writes a partition out. */
static int give_up(struct sp__stage *s, struct sp__part *p)
{
	struct sp__hash *h = s->h;
	struct sp__recwalk w = { 0 };
	struct sp__rec *r;
	int rc = 0;

	p->spilled = true;
	while (!rc && (r = sp__table_walk(&h->table, &p->list, &w))) {
		struct sp__slice key = sp__rec_key(r);

		sp__bloom_add(&h->bloom, sp__key_hash(key.p, key.n, s->seed));
		rc = sp__stage_spill(s, p, SP__BUILD, sp__rec_line(r), r->bytes);
	}
	sp__table_drop(&h->table, &p->list);
	return rc;
}

/* No page is left: the largest partition goes; if there is none, p at least will. */
static int give_up_largest(struct sp__stage *s, struct sp__part *p)
{
	struct sp__part *most = p;

	for (unsigned i = 0; i < s->nparts; i++) {
		struct sp__part *q = &s->parts[i];

		if (!q->spilled && q->list.bytes > most->list.bytes)
			most = q;
	}
	return give_up(s, most);
}

/* Taking the build input. */

int sp__stage_key(struct sp__stage *s, int role, const char *line, size_t bytes,
		  struct sp__slice *key)
{
	struct sp__hash *h = s->h;
	size_t begin;

	bytes -= h->tag[s->side[role]];
	if (h->keying.plain) {
		sp__field_find(h->keying.cut, line, bytes, h->keying.fields[s->side[role]][0], key);
		return 0;
	}
	h->keymem.bytes = 0;
	if (sp__key_make(&h->keying, s->side[role], line, bytes, &h->keymem, &begin) < 0)
		return no_memory(s);
	*key = (struct sp__slice){ h->keymem.bytes ? h->keymem.data : sp__no_field,
				   h->keymem.bytes };
	return 0;
}

int sp__stage_keep(struct sp__stage *s, struct sp__reclist *list, const char *line, size_t bytes,
		   const struct sp__slice *key)
{
	int rc;

	if (bytes > SP__REC_BYTES_MAX - key->n)
		return sp__errf(s->h->j->err, SP_EUNSUP, "read", NULL, -1,
				"a record is longer than 2 GB");
	rc = sp__table_add(&s->h->table, list, line, bytes, key, !s->h->keying.plain);
	return rc < 0 ? no_memory(s) : rc;
}

static int take(struct sp__stage *s, const char *line, size_t bytes)
{
	struct sp__slice key;
	struct sp__part *p;
	uint64_t hash;
	int rc = sp__stage_key(s, SP__BUILD, line, bytes, &key);

	if (rc < 0)
		return rc;
	hash = sp__key_hash(key.p, key.n, s->seed);
	p = sp__stage_part(s, hash);
	while (!p->spilled) {
		rc = sp__stage_keep(s, &p->list, line, bytes, &key);
		if (rc <= 0)
			return rc;
		sp__ordered_spill(s->h);
		rc = give_up_largest(s, p);
		if (rc < 0)
			return rc;
	}
	sp__bloom_add(&s->h->bloom, hash);
	return sp__stage_spill(s, p, SP__BUILD, line, bytes);
}

/*
 * When the result is to be sorted, memory for that must be free now.  Records
 * larger than a page are not met in their order, so they make it so.
 */
static int leave_room(struct sp__stage *s)
{
	struct sp__hash *h = s->h;
	int rc = 0;

	if (h->table.ngiants)
		sp__ordered_spill(h);
	while (!rc && h->sorting && h->table.records && sp__table_over(&h->table))
		rc = give_up_largest(s, &s->parts[0]);
	return rc;
}

int sp__stage_build(struct sp__stage *s, struct sp__iter *input)
{
	const struct sp_recfmt *format = &s->h->format[s->side[SP__BUILD]];
	struct sp_batch batch;
	int rc;

	while ((rc = input->next(input->operator, & batch)) == SP_READY) {
		const char *at = batch.data, *end = at + batch.bytes, *stop;

		for (; at < end; at = stop) {
			size_t bytes;

			stop = sp__record_next(format, at, end, &bytes);
			rc = take(s, at, bytes);
			if (rc < 0)
				return rc;
			s->records[SP__BUILD]++;
			/* Record by record: how the input comes in batches must not show. */
			sp__join_charge(s->h->j, 1, 1, (uint64_t)(stop - at));
		}
		s->bytes[SP__BUILD] += batch.bytes;
		sp__stage_bound(s);
	}
	if (!rc && !s->depth)
		rc = leave_room(s);
	return rc < 0 ? rc : sp__stage_end_writing(s);
}

int sp__stage_make_table(struct sp__stage *s)
{
	struct sp__reclist **lists = calloc(s->nparts, sizeof(*lists));
	size_t n = 0;
	int rc;

	if (!lists)
		return no_memory(s);
	for (unsigned i = 0; i < s->nparts; i++)
		if (!s->parts[i].spilled)
			lists[n++] = &s->parts[i].list;
	rc = sp__table_make(&s->h->table, lists, n, s->seed);
	free(lists);
	return rc < 0 ? no_memory(s) : 0;
}
