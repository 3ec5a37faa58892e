/* SPDX-License-Identifier: MIT */
#include "report/report_run.h"

struct sp__doc sp__report_io(struct sp__doc doc, const struct sp_run_stats *s)
{
	struct sp__doc io = sp__doc_object(doc, "io");

	sp__doc_text(io, "engine", s->engine[0] ? s->engine : NULL);
	sp__doc_text(io, "input_engine", s->input_engine[0] ? s->input_engine : NULL);
	sp__doc_count(io, "read_requests", s->read_requests);
	sp__doc_count(io, "read_bytes", s->read_bytes);
	sp__doc_count(io, "write_requests", s->write_requests);
	sp__doc_count(io, "write_bytes", s->write_bytes);
	return io;
}

struct sp__doc sp__report_memory(struct sp__doc doc, const struct sp_run_stats *s)
{
	struct sp__doc m = sp__doc_object(doc, "memory");

	sp__doc_count(m, "limit_bytes", s->memory_limit_bytes);
	sp__doc_count(m, "peak_bytes", s->memory_peak_bytes);
	return m;
}

struct sp__doc sp__report_spill(struct sp__doc doc, const struct sp_run_stats *s)
{
	struct sp__doc spill = sp__doc_object(doc, "spill");

	sp__doc_count(spill, "read_bytes", s->spill_read_bytes);
	sp__doc_count(spill, "write_bytes", s->spill_write_bytes);
	sp__doc_count(spill, "peak_bytes", s->spill_peak_bytes);
	return spill;
}

struct sp__doc sp__report_sim(struct sp__doc doc, const struct sp_run_stats *s)
{
	struct sp__doc sim = sp__doc_object(doc, "sim");

	sp__doc_count(sim, "requests", s->sim_requests);
	sp__doc_count(sim, "dispatched", s->sim_dispatched);
	sp__doc_count(sim, "merges", s->sim_merges);
	sp__doc_count(sim, "transfers", s->sim_transfers);
	sp__doc_count(sim, "seeks", s->sim_seeks);
	sp__doc_count(sim, "io_time_ns", s->sim_io_time_ns);
	sp__doc_count(sim, "cpu_time_ns", s->sim_cpu_time_ns);
	return sim;
}

void sp__report_phases(struct sp__doc doc, const char *const *names, int n, const double *elapsed_s,
		       const double *cpu_s)
{
	json_t *array = sp__doc_array(doc, "phases");

	for (int i = 0; i < n; i++) {
		struct sp__doc phase = sp__doc_element(doc, array);

		sp__doc_text(phase, "name", names[i]);
		sp__doc_real(phase, "elapsed_s", elapsed_s[i]);
		if (cpu_s)
			sp__doc_real(phase, "cpu_s", cpu_s[i]);
	}
}

void sp__report_placement(struct sp__doc config, enum sp_placement placement)
{
	sp__doc_text(config, "placement", sp_placement_name(placement));
}

void sp__report_engine(struct sp__doc config, const char *engine, int direct)
{
	sp__doc_text(config, "engine", engine ? engine : "auto");
	sp__doc_text(config, "direct", sp_direct_name(direct));
}
