/* SPDX-License-Identifier: MIT */
/*
 * Writes, reads and erases the record of the log of puts: a journal of one record, at a fixed
 * location in the file.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/whole.h"
#include "cells/journal.h"
#include "cube/file/putlog.h"

#define RECORD 1	/* the only type */
#define HEAD_BYTES 4096 /* size of the journal's header and the members below, rounded up */

/* Before the extent: little-endian. */
struct members {
	uint64_t number; /* number of the superblock's state */
	uint64_t block;
	uint64_t sum;
};

uint64_t sp__putlog_bytes(uint64_t extent_bytes)
{
	return HEAD_BYTES + (extent_bytes + HEAD_BYTES - 1) / HEAD_BYTES * HEAD_BYTES;
}

static uint64_t extent_bytes(const struct sp__cubefile *c)
{
	return c->cell_bytes * c->superblock.extent_cells;
}

static struct sp__journal journal_of(const struct sp__cubefile *c, struct sp_errinfo *err)
{
	return (struct sp__journal){ .fd = c->cells.first.fd,
				     .name = c->path,
				     .end = c->superblock.log_offset,
				     .limit = c->superblock.log_offset + c->superblock.log_bytes,
				     .err = err };
}

int sp__putlog_write(const struct sp__cubefile *c, uint64_t block, uint32_t sum,
		     const uint8_t *extent, struct sp_errinfo *err)
{
	struct sp__journal j = journal_of(c, err);
	struct members m = { htole64(c->superblock.slots.number), htole64(block), htole64(sum) };
	const struct iovec parts[] = { { &m, sizeof(m) },
				       { (void *)(uintptr_t)extent, extent_bytes(c) } };
	int rc = sp__journal_append(&j, RECORD, parts, 2);
	struct sp_errinfo ignored = SP_ERRINFO_INIT;

	if (rc)
		(void)!sp__putlog_erase(c, &ignored);
	return rc;
}

int sp__putlog_erase(const struct sp__cubefile *c, struct sp_errinfo *err)
{
	static const uint8_t zeros[512];
	int rc = sp__write_whole(c->cells.first.fd, zeros, sizeof(zeros), c->superblock.log_offset);

	return rc ? sp__err(err, rc, "write", c->path, (long long)c->superblock.log_offset) : 0;
}

void sp__putlog_forget(struct sp__cubefile *c)
{
	free(c->pending.record);
	c->pending = (struct sp__pending){ 0 };
}

/* Takes a record if it is of this state of the cube, and of an extent of it. */
static bool take(struct sp__cubefile *c, const struct sp__journal_record *rec)
{
	struct sp__pending *p = &c->pending;
	struct members m;

	if (rec->type != RECORD || rec->bytes != sizeof(m) + extent_bytes(c))
		return false;
	memcpy(&m, rec->data, sizeof(m));
	p->block = le64toh(m.block);
	p->sum = (uint32_t)le64toh(m.sum);
	if (le64toh(m.number) != c->superblock.slots.number ||
	    !sp__fragments_cell(&c->superblock.fragments, p->block, p->x) ||
	    p->x[0] % c->superblock.extent_cells)
		return false;
	p->record = rec->data;
	p->extent = (uint8_t *)rec->data + sizeof(m);
	return true;
}

int sp__putlog_read(struct sp__cubefile *c, struct sp_errinfo *err)
{
	struct sp__journal j = journal_of(c, err);
	struct sp__journal_record rec;
	int rc;

	sp__putlog_forget(c);
	if (!c->superblock.log_bytes || c->superblock.no_data || c->cells.first.fd < 0)
		return 0;
	rc = sp__journal_next(&j, &rec);
	if (rc <= 0)
		return rc;
	if (!take(c, &rec)) {
		free(rec.data);
		c->pending = (struct sp__pending){ 0 };
	}
	return 0;
}

bool sp__putlog_has(const struct sp__cubefile *c, const uint64_t *x)
{
	const struct sp__pending *p = &c->pending;
	uint32_t per = c->superblock.extent_cells;

	return p->extent && x[0] / per == p->x[0] / per &&
	       !memcmp(x + 1, p->x + 1, (c->superblock.shape.ndims - 1) * sizeof(*x));
}

uint8_t *sp__putlog_cell(const struct sp__cubefile *c, const uint64_t *x, uint8_t *cell)
{
	if (!sp__putlog_has(c, x))
		return cell;
	return c->pending.extent + x[0] % c->superblock.extent_cells * c->cell_bytes;
}
