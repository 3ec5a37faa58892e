/* SPDX-License-Identifier: MIT */
/*
 * The volumes of a table after the first one: drive k > 0 of a placement along tracks has its cells
 * in a file or device of its own, at the offsets that they have on the drive.  It begins with a
 * header (cells/volumes.h), which no cell overlaps, since on each drive the space of the
 * superblocks is left out.
 *
 * A table in one file has none, and the functions do nothing.
 */
#pragma once

#include "table/file/file.h"

/* Names the volumes that the superblock has.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__tablevolumes_list(struct sp__tablefile *f, struct sp_errinfo *err);
/*
 * Opens and locks the files, and checks headers and lengths.  Returns 0; -ENOENT; SP_EFORMAT if one
 * is not that volume of the table, or an old copy; SP_ECORRUPT if it was truncated; SP_ESTATE;
 * SP_EUNSUP; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__tablevolumes_open(struct sp__tablefile *f, struct sp_errinfo *err);
/*
 * Replaces the volumes of all files by direct ones, if all of them permit it.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__tablevolumes_open_direct(struct sp__tablefile *f);

/* Writes the headers, with the superblock's state.  Returns 0 when all are on the device. */
SP_MUST_CHECK int sp__tablevolumes_mark(struct sp__tablefile *f, struct sp_errinfo *err);
