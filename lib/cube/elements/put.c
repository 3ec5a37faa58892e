/* SPDX-License-Identifier: MIT */
/*
 * Changes one element so that after an interruption it is the old one or the new one.
 *
 * The log of the cube keeps the extent (cube/file/putlog.h).  A cube of an old version has no log;
 * there only signals are blocked.  With several volumes the further ones are marked first: the
 * number of the superblock, which the log repeats, is then final until the put has ended.
 */
#include "cube/elements/change.h"
#include "cube/elements/elements.h"
#include "cube/file/putlog.h"

/* Ends a put whose extent and checksum are at their locations: erases the log. */
static int end_put(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc = sp__cube_sync(c, err);

	if (!rc && c->superblock.marking) {
		c->superblock.marking = false;
		rc = sp__cube_superblock_write(&c->superblock, c->fd, c->path, err);
	}
	return rc ? rc : sp__putlog_erase(c, err);
}

static int open_change(struct sp__change *ch, struct sp__transfer *transfer,
		       struct sp_cube_stats *stats)
{
	int rc = sp__change_open(ch, 0);

	ch->transfer = transfer;
	return rc ? rc : sp__transfer_open(transfer, ch->file, stats, ch->err);
}

static void close_change(struct sp__change *ch)
{
	if (ch->transfer && ch->transfer->file)
		sp__transfer_close(ch->transfer);
	sp__change_close(ch);
}

int sp__element_put(struct sp__cubefile *c, const uint64_t *x, const void *element,
		    struct sp_errinfo *err)
{
	struct sp__change ch = { .file = c, .err = err, .logged = c->superblock.log_bytes > 0 };
	struct sp_cube_stats stats = { 0 };
	struct sp__point point = { 0 };
	struct sp__transfer transfer = { 0 };
	int rc = sp__put_settle(c, err);

	sp__cube_hollow(c, false);
	sp__point_locate(c, x, &point);
	if (!rc)
		rc = sp__cube_begin_change(c, err);
	if (!rc)
		rc = open_change(&ch, &transfer, &stats);
	if (!rc) {
		sp__change_begin(&ch, &point, 1, element);
		(void)sp__change_next(&ch);
		rc = sp__change_logged(&ch);
	}
	close_change(&ch);
	return rc || !ch.logged ? rc : end_put(c, err);
}

int sp__put_settle(struct sp__cubefile *c, struct sp_errinfo *err)
{
	struct sp__change ch = { .file = c, .err = err };
	struct sp_cube_stats stats = { 0 };
	struct sp__transfer transfer = { 0 };
	int rc = sp__putlog_read(c, err);

	if (rc || !c->pending.extent)
		return rc;
	sp__cube_hollow(c, false);
	rc = open_change(&ch, &transfer, &stats);
	if (!rc)
		rc = sp__change_restore(&ch, c->pending.block, c->pending.extent);
	close_change(&ch);
	sp__putlog_forget(c);
	return rc ? rc : end_put(c, err);
}
