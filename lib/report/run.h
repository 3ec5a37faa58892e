/* SPDX-License-Identifier: MIT */
/*
 * What the documents of a sort and of a join tell alike, under the same keys.
 */
#ifndef SP__REPORT_RUN_H
#define SP__REPORT_RUN_H

#include "report/doc.h"

/* What a run has used of the machine; texts are borrowed. */
struct sp__report_use {
	const char *engine, *input_engine; /* "": none */
	uint64_t read_requests, read_bytes, write_requests, write_bytes;
	uint64_t memory_limit_bytes, memory_peak_bytes;
	uint64_t spill_read_bytes, spill_write_bytes, spill_peak_bytes;
	/* Of a simulated machine. */
	uint64_t sim_requests, sim_dispatched, sim_merges, sim_transfers, sim_seeks;
	uint64_t sim_io_time_ns, sim_cpu_time_ns;
};

/* Out of a struct sp_sort_stats or a struct sp_join_stats: their members have the same names. */
#define SP__REPORT_USE(s)                                                                          \
	{                                                                                          \
		.engine = (s)->engine, .input_engine = (s)->input_engine,                          \
		.read_requests = (s)->read_requests, .read_bytes = (s)->read_bytes,                \
		.write_requests = (s)->write_requests, .write_bytes = (s)->write_bytes,            \
		.memory_limit_bytes = (s)->memory_limit_bytes,                                     \
		.memory_peak_bytes = (s)->memory_peak_bytes,                                       \
		.spill_read_bytes = (s)->spill_read_bytes,                                         \
		.spill_write_bytes = (s)->spill_write_bytes,                                       \
		.spill_peak_bytes = (s)->spill_peak_bytes, .sim_requests = (s)->sim_requests,      \
		.sim_dispatched = (s)->sim_dispatched, .sim_merges = (s)->sim_merges,              \
		.sim_transfers = (s)->sim_transfers, .sim_seeks = (s)->sim_seeks,                  \
		.sim_io_time_ns = (s)->sim_io_time_ns, .sim_cpu_time_ns = (s)->sim_cpu_time_ns,    \
	}

/* Each adds one object to doc and returns it, for what the document has besides. */
struct sp__doc sp__report_io(struct sp__doc doc, const struct sp__report_use *u);
struct sp__doc sp__report_memory(struct sp__doc doc, const struct sp__report_use *u);
struct sp__doc sp__report_spill(struct sp__doc doc, const struct sp__report_use *u);
struct sp__doc sp__report_sim(struct sp__doc doc, const struct sp__report_use *u);

/* Seconds of n phases; cpu_s: NULL if they are not told. */
void sp__report_phases(struct sp__doc doc, const char *const *names, int n, const double *elapsed_s,
		       const double *cpu_s);

/* Members of a configuration. */
void sp__report_placement(struct sp__doc config, enum sp_placement placement);
void sp__report_engine(struct sp__doc config, const char *engine, int direct);

#endif
