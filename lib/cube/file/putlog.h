/* SPDX-License-Identifier: MIT */
/*
 * The log of puts: keeps a put whole that is interrupted.
 *
 * A cube has room for one record behind its superblocks: an extent as it is to be, and its
 * checksum.  A put writes the record, waits until it is on the device, changes the extent in its
 * place, and erases the record.  A record that is whole counts: readers take the extent from it,
 * and the next writer writes the extent to its place again.  A record that is torn does not, and
 * then nothing else was written.
 *
 * The record repeats the number of the superblock, so one that a later state of the cube has left
 * behind does not count.
 */
#pragma once

#include "cube/file/file.h"

/* Bytes of the log of a cube whose extents have so many. */
uint64_t sp__putlog_bytes(uint64_t extent_bytes);

/*
 * Writes a record: the extent whose first cell is at this block.  After an error it does not
 * count, as far as the device obeys.
 */
SP_MUST_CHECK int sp__putlog_write(const struct sp__cubefile *c, uint64_t block, uint32_t sum,
				   const uint8_t *extent, struct sp_errinfo *err);
SP_MUST_CHECK int sp__putlog_erase(const struct sp__cubefile *c, struct sp_errinfo *err);

/* Reads the record into c->pending, which has no data if there is none. */
SP_MUST_CHECK int sp__putlog_read(struct sp__cubefile *c, struct sp_errinfo *err);
void sp__putlog_forget(struct sp__cubefile *c);
/* The cell at x as the record has it, or as it was read. */
uint8_t *sp__putlog_cell(const struct sp__cubefile *c, const uint64_t *x, uint8_t *cell);
/* Whether the cell at x is of the extent of the record. */
bool sp__putlog_has(const struct sp__cubefile *c, const uint64_t *x);
