/* SPDX-License-Identifier: MIT */
/*
 * The cells of a window in frames of a pool, instead of memory of its own.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/read/window.h"

/* Sets the column groups of a window for the pool. */
void sp__frames_open(struct sp__window *w);
/* Unpins all frames, for an empty window. */
void sp__frames_begin(struct sp__window *w);
/*
 * Returns the records from one on that the window can have without more than its share of the
 * frames of the pool: those up to the end of a frame, or 0.
 */
uint64_t sp__frames_left(const struct sp__window *w, uint64_t record);
/* Counts the frames of records that are added. */
void sp__frames_count(struct sp__window *w, uint64_t first, uint64_t n);
/*
 * Pins frames with the A-pages of all ranges of a window, and makes segments of their cells.
 * Returns SP_READY; SP_LATER while requests of frames are outstanding, and then it is to be
 * called again; SP_END, with the segments as they were, if the window has to read its cells: it
 * needs more than its share of the frames, no frame is free, or one cannot be read; or -ENOMEM.
 */
SP_MUST_CHECK int sp__frames_pin(struct sp__window *w);
void sp__frames_unpin(struct sp__window *w);
/*
 * Returns the requests for which the window waits: those of another user of the pool, if it is
 * reading a frame; otherwise those of the window.
 */
struct sp__requests *sp__frames_requests(const struct sp__window *w);
