/* SPDX-License-Identifier: MIT */
/*
 * The threads of a hash join: they probe one table together.
 *
 * The thread of the join reads the probe input, copies its records into bundles, and takes
 * their results in the order of the input: so the result is that of one thread, byte for byte.
 */
#ifndef SP__JOIN_HASH_WORKERS_H
#define SP__JOIN_HASH_WORKERS_H

#include "join/hash/stage.h"

/*
 * Are there workers for a stage, whose next batch has so many bytes?  Starts them once there is
 * enough to do, if there are processors and memory for them.
 */
bool sp__workers_begin(struct sp__stage *s, size_t bytes);
/* Probes a batch, sooner or later; alone: what the thread of the join probes with by itself. */
SP_MUST_CHECK int sp__workers_probe(struct sp__workers *c, const struct sp__prober *alone,
				    const struct sp_batch *batch);
/* Takes all results, unless rc is an error; no thread has a bundle afterwards.  rc or an error. */
SP_MUST_CHECK int sp__workers_end(struct sp__workers *c, int rc);
void sp__workers_close(struct sp__workers *c); /* accepts NULL */

/* For sp__probe(): keeps a record for the thread of the join to spill. */
SP_MUST_CHECK int sp__bundle_defer(struct sp__bundle *b, const struct sp__deferred *record);

/* Memory for bundles, a part of the writers'; 0: one thread joins. */
uint64_t sp__workers_bytes(const struct sp__hash *h);

#endif
