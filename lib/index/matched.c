/* SPDX-License-Identifier: MIT */
/*
 * Finds matches ahead of the records that are read, and reads records ahead of the caller.
 *
 * A call first releases the record that the last call returned: with memory for one record, the
 * next one can be requested only then.
 */
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "index/fetch.h"
#include "index/indexfile.h"
#include "index/matched.h"
#include "rec/recfmt.h"

/*
 * The place of a record is checked by bytes that have been read anyway: reads are whole blocks, so
 * these mostly include the bytes before and after a record.  If a block ends there, the byte is not
 * compared.
 *
 * Rejected: reading one byte more on each side, since 2 of 4096 records would need another block.
 */
static void sourcecheck_close(struct sp__sourcecheck *c)
{
	sp__keybuf_release(&c->key);
}

static int refuse(const struct sp__index *ix, uint64_t offset, const char *what)
{
	return sp__errf(ix->env->err, -ESTALE, "read", ix->path, -1,
			"at offset %llu of its source %.150s is %s: build the index again",
			(unsigned long long)offset, ix->source, what);
}

int sp__sourcecheck_other_key(const struct sp__index *ix, uint64_t offset)
{
	return refuse(ix, offset, "another key");
}

/* True if a record begins there. */
static bool begins(const struct sp_recfmt *f, const struct sp__fetched *r)
{
	if (!r->before || ((f->kind == SP_REC_CSV || f->json) && r->offset == SP__UTF8_MARK_BYTES))
		return true;
	return r->data[-1] == (f->kind == SP_REC_CSV ? '\n' : f->eol);
}

int sp__sourcecheck_place(const struct sp__index *ix, const struct sp__fetched *r)
{
	const struct sp_recfmt *f = &ix->header.format;
	const size_t term = r->after ? 1 : 0;
	const char *end;

	if (f->kind == SP_REC_FIXED)
		return 0;
	end = sp__rec_end(f, r->data, r->bytes + term);
	if (begins(f, r) && end == (term ? r->data + r->bytes + 1 : NULL))
		return 0;
	return refuse(ix, r->offset, "another record");
}

/*
 * Compares the place and the key of a record.  key_sum: as in struct sp__keymatch.  Returns 0,
 * -ESTALE or -ENOMEM.
 */
static int sourcecheck_record(struct sp__sourcecheck *c, const struct sp__fetched *r,
			      uint64_t key_sum)
{
	int rc = sp__sourcecheck_place(c->index, r);

	if (!rc && sp__indexkey_of_record(&c->index->key, r->data, r->bytes, &c->key))
		rc = sp__err(c->index->env->err, -ENOMEM, "read", c->index->source, -1);
	if (rc)
		return rc;
	return sp__checksum(c->key.data, c->key.bytes) == key_sum
		       ? 0
		       : sp__sourcecheck_other_key(c->index, r->offset);
}

#define BLOCK_BYTES (8u << 10)

int sp__matched_fetch(struct sp__matched *p, const struct sp__index *ix, unsigned max,
		      uint64_t bytes)
{
	/* Larger blocks would not fit into a cache of the processor. */
	const struct sp__fetch_opts o = { .volume = ix->records,
					  .reads = p->reads,
					  .budget = &ix->env->budget,
					  .err = ix->env->err,
					  .max = max,
					  .memory_bytes =
						  sp__min(bytes, (uint64_t)max * BLOCK_BYTES),
					  .ordered = true };

	p->check.index = ix;
	return sp__fetch_open(&p->fetch, &o);
}

void sp__matched_close(struct sp__matched *p)
{
	sp__fetch_close(p->fetch);
	sourcecheck_close(&p->check);
}

static int find_more(struct sp__matched *p)
{
	if (!p->n && p->status != SP_END)
		p->status = p->find(p->arg, &p->matches, &p->n);
	return p->status < 0 ? p->status : 0;
}

/* Returns the next match, if no records are read. */
static int next_match(struct sp__matched *p, struct sp__keymatch *m)
{
	int rc = 0;

	while (!rc && !p->n && (p->status == SP_READY || p->status == SP_LATER)) {
		rc = find_more(p);
		if (p->status == SP_LATER)
			return SP_LATER;
	}
	if (rc || !p->n)
		return rc;
	*m = *p->matches++;
	p->n--;
	return SP_READY;
}

/* Requests records until all slots are taken, or no match is available. */
static int refill(struct sp__matched *p)
{
	int rc = 0;

	do {
		for (; p->n && sp__fetch_slots_left(p->fetch); p->n--, p->matches++)
			sp__fetch_put(p->fetch, p->matches->offset, p->matches->bytes,
				      p->matches->key_sum);
		if (p->n || p->status == SP_END)
			break;
		rc = find_more(p);
	} while (!rc && p->status == SP_READY);
	return rc ? rc : sp__fetch_flush(p->fetch);
}

/* Takes the record that was requested first: SP_READY, SP_LATER, SP_END or an error. */
static int take_record(struct sp__matched *p, struct sp__fetched *record)
{
	int rc;

	sp__fetch_release(p->fetch);
	rc = refill(p);
	if (!rc)
		rc = sp__fetch_get(p->fetch, record);
	if (rc == SP_LATER) {
		rc = sp__requests_collect(p->reads);
		rc = rc ? rc : sp__fetch_get(p->fetch, record);
	}
	if (rc == SP_LATER)
		sp__requests_later(p->reads, p->waits);
	return rc == SP_END ? p->status : rc;
}

int sp__matched_next(struct sp__matched *p, struct sp__keymatch *m, const char **record)
{
	struct sp__fetched fetched;
	int rc = SP_LATER;

	*record = NULL;
	if (!p->fetch)
		return next_match(p, m);
	if (!sp__fetch_is_due(p->fetch))
		rc = sp__fetch_get(p->fetch, &fetched);
	if (rc == SP_LATER)
		rc = take_record(p, &fetched);
	if (rc != SP_READY)
		return rc;
	rc = sourcecheck_record(&p->check, &fetched, fetched.tag);
	if (rc)
		return p->status = rc;
	*m = (struct sp__keymatch){ fetched.offset, fetched.bytes, fetched.tag };
	*record = fetched.data;
	return SP_READY;
}
