/* SPDX-License-Identifier: MIT */
/*
 * The run environment of one operator: the machine it runs on (real or simulated), its
 * trace, its memory budget, its clocks; opened from struct sp_run_opts, and noted in
 * struct sp_run_stats.  An operator embeds one, opens it first and closes it last.
 *
 * Thread rule: it belongs to the thread that opened it, but for the budget, the trace and
 * the clocks, which any thread of the operator may use.
 */
#ifndef SP__RUN_ENV_H
#define SP__RUN_ENV_H

#include <spindle/run.h>
#include "base/mem.h"
#include "io/rstream.h"
#include "io/wstream.h"
#include "sim/fwd.h"
#include "spill/store.h"

struct sp__env {
	const struct sp_run_opts *opts; /* borrowed */
	struct sp_errinfo own_err, *err;
	struct sp__machine *machine; /* NULL: the real one */
	struct sp__trace *trace;     /* NULL: none */
	struct sp__budget budget;
	uint64_t begin_ns, cpu_begin_ns;
};

/* err: where errors are told while it is open; NULL: nowhere.  After an error it must be closed. */
SP_MUST_CHECK int sp__env_open(struct sp__env *e, const struct sp_run_opts *opts,
			       struct sp_errinfo *err);
/* 0, or why the trace could not be written. */
int sp__env_close(struct sp__env *e);

/* The clock of the machine, and its processor's; simulated or real. */
uint64_t sp__env_now_ns(const struct sp__env *e);
uint64_t sp__env_cpu_ns(const struct sp__env *e);

/* Options of streams for inputs and for the output, within the memory of the run. */
struct sp__rstream_opts sp__env_reading(const struct sp__env *e);
struct sp__wstream_opts sp__env_writing(const struct sp__env *e);
/* Those of temporary space that follow from the environment; the operator sets the rest. */
struct sp__spill_opts sp__env_spilling(const struct sp__env *e);

/* What the result takes on a simulated machine is complete; temporary data need not be. */
void sp__env_sync(const struct sp__env *e, struct sp__spill *spill);

/*
 * Fills in elapsed time, memory and what a simulated machine counted.  device: asks the
 * system what went to and from real devices.
 */
void sp__env_note(const struct sp__env *e, struct sp_run_stats *st, bool device);
/* Adds requests and bytes of reading and writing. */
void sp__env_note_io(struct sp_run_stats *st, const struct sp__io_counters *c);
/* Adds what a spill store did, which may be NULL. */
void sp__env_note_spill(struct sp_run_stats *st, const struct sp__spill *spill);
/* The pieces in which temporary data lies on its device now. */
void sp__env_note_regions(const struct sp__env *e, struct sp_run_stats *st,
			  const struct sp__spill *spill);

#endif
