/* SPDX-License-Identifier: MIT */
/*
 * Checks records that were found through an index (sourcecheck.h).
 *
 * The place is checked by bytes that have been read anyway: reads are whole blocks, so these mostly
 * include the bytes before and after a record.  If a block ends there, the byte is not compared.
 *
 * Rejected: reading one byte more on each side, since 2 of 4096 records would need another block.
 */
#include "base/err.h"
#include "base/hash.h"
#include "base/utf8mark.h"
#include "index/sourcecheck.h"
#include "rec/recfmt.h"

void sp__sourcecheck_close(struct sp__sourcecheck *c)
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
	if (!r->before || (f->kind == SP_REC_CSV && r->offset == SP__UTF8_MARK_BYTES))
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

int sp__sourcecheck_record(struct sp__sourcecheck *c, const struct sp__fetched *r, uint64_t key_sum)
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
