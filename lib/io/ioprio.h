/* SPDX-License-Identifier: MIT */
/*
 * Controls the I/O priority of the calling thread, for engines whose requests cannot carry one.
 */
#pragma once

#include <spindle/api.h>

/* Sets the priority; prio as in ioprio_set(2), 0 leaves it unchanged.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__ioprio_set(uint16_t prio);
/* Returns the priority, for sp__ioprio_restore(); negative: unknown, which restores nothing. */
long sp__ioprio_get(void);
void sp__ioprio_restore(long before);
/* True if this thread is permitted to use class RT.  Tries it, and restores the priority. */
bool sp__ioprio_rt_allowed(void);
