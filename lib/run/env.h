/* SPDX-License-Identifier: MIT */
/*
 * Provides the run environment of one operator: the simulated device if there is one, the trace,
 * the memory budget and the clocks.
 *
 * It is opened from struct sp_run_opts, and recorded in struct sp_run_stats.  An operator embeds
 * one, opens it first and closes it last.
 *
 * Thread rule: it belongs to the thread that opened it, except the budget, the trace and the
 * clocks, which any thread of the operator may use.
 */
#pragma once

#include <spindle/run.h>
#include "base/mem.h"
#include "io/rstream.h"
#include "io/wstream.h"
#include "spill/store.h"

struct sp__env {
	const struct sp_run_opts *opts; /* borrowed */
	struct sp_errinfo own_err, *err;
	struct sp__volume *device; /* simulated; NULL: real files and devices */
	struct sp__trace *trace;   /* NULL: none */
	bool logs_tasks;
	bool shared;	    /* device and trace belong to another environment */
	bool keeps_threads; /* the threads of the pool */
	bool dry;	    /* the run is a dry run: temporary space is hollow */
	struct sp__budget budget;
	uint64_t begin_ns, cpu_begin_ns;
};

/*
 * Opens an environment. err records errors while it is open; may be NULL.  After an error it must
 * be closed.
 */
SP_MUST_CHECK int sp__env_open(struct sp__env *e, const struct sp_run_opts *opts,
			       struct sp_errinfo *err);
/*
 * Opens the environment of an operator in a plan that runs on a simulated device.  Device, virtual
 * time, trace and errors belong to the plan, which closes them; options and budget belong to the
 * operator.
 */
SP_MUST_CHECK int sp__env_share(struct sp__env *e, const struct sp_run_opts *opts,
				const struct sp__env *plan);
/* Returns 0, or the error of writing the trace or the log of tasks. */
int sp__env_close(struct sp__env *e);

/* Return the time of the machine, and of its processor; simulated or real. */
uint64_t sp__env_now_ns(const struct sp__env *e);
uint64_t sp__env_cpu_ns(const struct sp__env *e);

/* True if the machine is simulated and has a file system. */
bool sp__env_file_system(const struct sp__env *e);

/* Return the options for streams of inputs and of the output, within the memory of the run. */
struct sp__rstream_opts sp__env_reading(const struct sp__env *e);
struct sp__wstream_opts sp__env_writing(const struct sp__env *e);
/*
 * Returns the options of temporary space that follow from the environment; the operator sets the
 * others.
 */
struct sp__spill_opts sp__env_spilling(const struct sp__env *e);

/* On a simulated device: waits until the result, but not temporary data, is on the device. */
void sp__env_sync(const struct sp__env *e, struct sp__spill *spill);

/*
 * Fills in elapsed time, memory and the counters of a simulated machine. device: also the system's
 * counters of bytes from and to real devices.
 */
void sp__env_note(const struct sp__env *e, struct sp_run_stats *st, bool device);
/* Adds requests and bytes of reading and writing. */
void sp__env_note_io(struct sp_run_stats *st, const struct sp__io_counters *c);
/* Adds the counters of a spill store, which may be NULL, and whether direct I/O was refused. */
void sp__env_note_spill(const struct sp__env *e, struct sp_run_stats *st,
			const struct sp__spill *spill);
/*
 * Notes that the file of that name was not read or written directly: adds the option that requested
 * it.
 */
void sp__env_note_cached(const struct sp__env *e, struct sp_run_stats *st, const char *name);
/* Fills in the number of extents of temporary data on its device now. */
void sp__env_note_regions(const struct sp__env *e, struct sp_run_stats *st,
			  const struct sp__spill *spill);
