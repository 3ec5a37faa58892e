/* SPDX-License-Identifier: MIT */
/*
 * Runs the threads of a hash join, which probe one table together.
 *
 * Their results come in the order of the probe input.  So the result is the result of one thread,
 * byte for byte.
 */
#pragma once

#include "flow/parts.h"
#include "join/hash/stage.h"

/*
 * True if several threads can probe a stage: there are processors and memory for them, and no
 * record must be counted by itself.
 */
bool sp__workers_wanted(const struct sp__stage *s);
/*
 * Probes with a batch, and with the rest of an input after it.  Returns 0, or SP_EUNSUP, not
 * recorded, if there is no memory for several threads; or an error.
 */
SP_MUST_CHECK int sp__workers_probe(struct sp__stage *s, struct sp__iter *input,
				    const struct sp_batch *first);
/*
 * Probes with a whole input of the join, a file of which every thread reads parts, if all records
 * of the build side are in memory.  Returns as sp__workers_probe().
 */
SP_MUST_CHECK int sp__workers_probe_parts(struct sp__stage *s);

/*
 * Opens the input of a role in parts, for several threads: 0; SP_EUNSUP, not recorded, if it must
 * be read in order, or if something is spilled; or an error.
 */
SP_MUST_CHECK int sp__workers_parts(const struct sp__stage *s, int role, uint64_t part_bytes,
				    struct sp__parts **parts);
/*
 * Closes them; rc: of reading them.  If it is 0, checks that all have been read.  Unless it is
 * SP_EUNSUP, the source of the input has been read.  Returns rc or an error.
 */
SP_MUST_CHECK int sp__workers_end_parts(struct sp__stage *s, int role, struct sp__parts *parts,
					int rc);

/* For sp__probe(): keeps a record that is spilled when it is its turn. */
SP_MUST_CHECK int sp__worker_defer(struct sp__worker *w, const struct sp__deferred *record);

/* Memory of the workers, taken from the writers'; 0: one thread joins. */
uint64_t sp__workers_bytes(const struct sp__hash *h);
