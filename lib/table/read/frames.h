/* SPDX-License-Identifier: MIT */
/*
 * The cells of a window in frames of a pool, instead of memory of its own.
 *
 * It pins the frames that are there.  A scan has others read up to max_frames, and a window of few
 * records if they are worth their bytes (sp__clotho_pin_few()).  The window reads the cells of all
 * other A-pages itself.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/read/window.h"

/* Sets the column groups of a window for the pool. */
void sp__frames_open(struct sp__window *w);
/* Returns the records from one on that a window can have in its frames. */
uint64_t sp__frames_left(const struct sp__window *w, uint64_t record);
/*
 * Pins frames for the A-pages of all ranges of a window, and makes segments of all cells: those in
 * frames have no request.  Returns 0, -ENOMEM, or an error of the queue.
 */
SP_MUST_CHECK int sp__frames_take(struct sp__window *w);
/*
 * Continues when no request of the window is outstanding.  Returns SP_READY; SP_LATER while
 * requests of frames are outstanding, and then it is to be called again; SP_END, with segments that
 * the window has to request, if a frame could not be read or a change has removed an A-page;
 * -ENOMEM, or an error of the queue.
 */
SP_MUST_CHECK int sp__frames_ready(struct sp__window *w);
void sp__frames_unpin(struct sp__window *w);
/*
 * Returns the requests for which the window waits: those of another user of the pool, if it is
 * reading a frame; otherwise those of the window.
 */
struct sp__requests *sp__frames_requests(const struct sp__window *w);
