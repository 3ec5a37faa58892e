/* SPDX-License-Identifier: MIT */
/*
 * Runs the threads of a hash join, which probe one table together.
 *
 * The thread of the join reads the probe input, copies its records into bundles, and takes their
 * results in the order of the input.  So the result is the result of one thread, byte for byte.
 */
#pragma once

#include "join/hash/stage.h"

/*
 * True if there are workers for a stage whose next batch has `bytes` bytes.  Starts them once there
 * is enough work, if there are processors and memory for them.
 */
bool sp__workers_begin(struct sp__stage *s, size_t bytes);
/* Probes a batch, now or later; alone: the prober of the join's thread itself. */
SP_MUST_CHECK int sp__workers_probe(struct sp__workers *c, const struct sp__prober *alone,
				    const struct sp_batch *batch);
/*
 * Takes all results, unless rc is an error; no thread has a bundle afterwards.  Returns rc or an
 * error.
 */
SP_MUST_CHECK int sp__workers_end(struct sp__workers *c, int rc);
void sp__workers_close(struct sp__workers *c); /* accepts NULL */

/* For sp__probe(): keeps a record for the join's thread to spill. */
SP_MUST_CHECK int sp__bundle_defer(struct sp__bundle *b, const struct sp__deferred *record);

/* Memory for bundles, taken from the writers'; 0: one thread joins. */
uint64_t sp__workers_bytes(const struct sp__hash *h);
