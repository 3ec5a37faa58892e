/* SPDX-License-Identifier: MIT */
/*
 * The log of puts, which makes a put atomic.
 *
 * A cube has space for one record after its superblocks: an extent as it must become, and its
 * checksum.
 *
 * 1. A put writes the record, and waits until it is on the device.
 * 2. It changes the extent at its location.
 * 3. It erases the record.
 *
 * If the record is valid, readers take the extent from it, and the next writer repeats step 2.  If
 * it is torn, the put was interrupted in step 1, and the extent is unchanged.  The record has the
 * number of the superblock, so a record that was left by an older state does not count.
 */
#pragma once

#include "cube/file/file.h"

/* Returns the bytes of the log for extents of extent_bytes. */
uint64_t sp__putlog_bytes(uint64_t extent_bytes);

/*
 * Writes the record of the extent whose first cell is at this block.  Returns 0 when it is on the
 * device, or -errno.  After an error the record is erased, if the device can still write.
 */
SP_MUST_CHECK int sp__putlog_write(const struct sp__cubefile *c, uint64_t block, uint32_t sum,
				   const uint8_t *extent, struct sp_errinfo *err);
/* Erases the record.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__putlog_erase(const struct sp__cubefile *c, struct sp_errinfo *err);

/* Reads the record into c->pending, whose extent is NULL without a valid record. */
SP_MUST_CHECK int sp__putlog_read(struct sp__cubefile *c, struct sp_errinfo *err);
/* Frees c->pending. */
void sp__putlog_forget(struct sp__cubefile *c);
/* Returns the cell at x in the record; `cell` if the record does not have it. */
uint8_t *sp__putlog_cell(const struct sp__cubefile *c, const uint64_t *x, uint8_t *cell);
/* True if the extent of the record has the cell at x. */
bool sp__putlog_has(const struct sp__cubefile *c, const uint64_t *x);
