/* SPDX-License-Identifier: MIT */
#include "report/report_run.h"

static const struct sp_report_field used_fields[] = {
	FIELD(run_stats, "io.engine", TEXT, engine),
	FIELD(run_stats, "io.input_engine", TEXT, input_engine),
	FIELD(run_stats, "io.read_requests", COUNT, read_requests),
	FIELD(run_stats, "io.read_bytes", COUNT, read_bytes),
	FIELD(run_stats, "io.write_requests", COUNT, write_requests),
	FIELD(run_stats, "io.write_bytes", COUNT, write_bytes),
	FIELD(run_stats, "memory.limit_bytes", COUNT, memory_limit_bytes),
	FIELD(run_stats, "memory.peak_bytes", COUNT, memory_peak_bytes),
	FIELD(run_stats, "spill.read_bytes", COUNT, spill_read_bytes),
	FIELD(run_stats, "spill.write_bytes", COUNT, spill_write_bytes),
	FIELD(run_stats, "spill.peak_bytes", COUNT, spill_peak_bytes),
	ELEMENTS(run_stats, "result.no_effect", ARRAY, no_effects.list, no_effects.n,
		 sp__no_effect_fields),
	{ 0 },
};

static const struct sp_report_field sim_fields[] = {
	FIELD(run_stats, "sim.requests", COUNT, sim_requests),
	FIELD(run_stats, "sim.dispatched", COUNT, sim_dispatched),
	FIELD(run_stats, "sim.dispatched_reads", COUNT, sim_dispatched_reads),
	FIELD(run_stats, "sim.merges", COUNT, sim_merges),
	FIELD(run_stats, "sim.transfers", COUNT, sim_transfers),
	FIELD(run_stats, "sim.seeks", COUNT, sim_seeks),
	FIELD(run_stats, "sim.io_time_ns", COUNT, sim_io_time_ns),
	FIELD(run_stats, "sim.cpu_time_ns", COUNT, sim_cpu_time_ns),
	{ 0 },
};

void sp__report_used(struct sp__doc doc, const struct sp_run_stats *s)
{
	sp__doc_fields(doc, used_fields, s);
	if (s->simulated)
		sp__doc_fields(doc, sim_fields, s);
}

static const struct sp_report_field foretold_fields[] = {
	FIELD(foretold, "foretold.transfer_s_per_mb", POSITIVE, transfer_s_per_mb),
	FIELD(foretold, "foretold.read_s_per_mb", POSITIVE, read_s_per_mb),
	FIELD(foretold, "foretold.seek_s", POSITIVE, seek_s),
	FIELD(foretold, "foretold.elapsed_s", POSITIVE, seconds),
	FIELD(foretold, "foretold.again_elapsed_s", POSITIVE, again_s),
	{ 0 },
};

void sp__report_foretold(struct sp__doc doc, const struct sp_foretold *f)
{
	if (f->seconds > 0)
		sp__doc_fields(doc, foretold_fields, f);
}

struct sp_report *sp_report_run(const char *schema, const char *tool,
				const struct sp_report_field *fields, const void *result,
				const struct sp_run_stats *run)
{
	struct sp__doc doc = sp__report_new(schema, tool), r = sp__doc_object(doc, "result");

	sp__doc_fields(r, fields, result);
	sp__doc_real(r, "elapsed_s", run->elapsed_s);
	sp__report_used(doc, run);
	return sp__report_done(doc);
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

void sp__report_engine(struct sp__doc config, const char *engine, int direct)
{
	sp__doc_text(config, "engine", engine ? engine : "auto");
	sp__doc_text(config, "direct", sp_direct_name(direct));
}

void sp__report_packing(struct sp__doc config, const struct sp_run_opts *run)
{
	sp__doc_text(config, "decompress",
		     run->decompress == SP_PACKED_AUTO ? "auto" : sp_packed_name(run->decompress));
	sp__doc_text(config, "compress_output", sp_packing_name(run->compress_output));
}
