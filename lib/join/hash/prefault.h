/* SPDX-License-Identifier: MIT */
/*
 * Faults in the table's memory ahead of the build input: the first touch of fresh memory can cost
 * as much as reading the data that fills it.
 *
 * A task touches the pages that the build input is expected to fill, while the thread of the join
 * fills them.
 */
#pragma once

#include "base/task.h"
#include "join/hash/stage.h"

struct sp__prefault {
	struct sp__task task;
	char *at;
	uint64_t bytes;
	_Atomic bool stop;
};

/* Begins a task for the input of a stage, if it is large and there are several processors. */
void sp__prefault_begin(struct sp__prefault *t, const struct sp__stage *s);
/* Ends the task; no thread touches memory of the table afterwards. */
void sp__prefault_end(struct sp__prefault *t);
