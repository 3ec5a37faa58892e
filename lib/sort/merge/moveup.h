/* SPDX-License-Identifier: MIT */
/*
 * Declares the move of bytes within a file to a lower offset.
 *
 * Owner: the caller; no other thread reads or writes the file meanwhile.
 */
#pragma once

#include "io/queue.h"

/* Moves bytes from one offset to a lower one; adds its requests to io.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__move_up(int fd, uint64_t from, uint64_t to, uint64_t bytes,
			      struct sp__io_counters *io);
