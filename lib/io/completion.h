/* SPDX-License-Identifier: MIT */
/*
 * Defines how a queue waits for completions of its engine.
 */
#pragma once

#include "io/engine.h"

struct sp__completing {
	enum sp__completion how;
	int event; /* SP__COMPLETE_EVENT: the descriptor, owned */
};

/* Prepares waiting; SP_EUNSUP: the engine cannot signal. */
SP_MUST_CHECK int sp__completing_open(struct sp__completing *c, enum sp__completion how,
				      const struct sp__engine_ops *ops, void *engine);
void sp__completing_close(struct sp__completing *c);
/* Reaps like reap() of the engine. */
SP_MUST_CHECK int sp__completing_reap(const struct sp__completing *c,
				      const struct sp__engine_ops *ops, void *engine,
				      struct sp__request **done, size_t max, size_t min,
				      int64_t timeout_ns);
