/* SPDX-License-Identifier: MIT */
#include "report/report_run.h"

#define FIELD(key, type, member)                                                                   \
	{                                                                                          \
		key, SP_REPORT_##type, offsetof(struct sp_run_stats, member)                       \
	}

static const struct sp_report_field io_fields[] = {
	FIELD("engine", TEXT, engine),
	FIELD("input_engine", TEXT, input_engine),
	FIELD("read_requests", COUNT, read_requests),
	FIELD("read_bytes", COUNT, read_bytes),
	FIELD("write_requests", COUNT, write_requests),
	FIELD("write_bytes", COUNT, write_bytes),
	{ 0 },
};
static const struct sp_report_field memory_fields[] = {
	FIELD("limit_bytes", COUNT, memory_limit_bytes),
	FIELD("peak_bytes", COUNT, memory_peak_bytes),
	{ 0 },
};
static const struct sp_report_field spill_fields[] = {
	FIELD("read_bytes", COUNT, spill_read_bytes),
	FIELD("write_bytes", COUNT, spill_write_bytes),
	FIELD("peak_bytes", COUNT, spill_peak_bytes),
	{ 0 },
};
static const struct sp_report_field sim_fields[] = {
	FIELD("requests", COUNT, sim_requests),
	FIELD("dispatched", COUNT, sim_dispatched),
	FIELD("merges", COUNT, sim_merges),
	FIELD("transfers", COUNT, sim_transfers),
	FIELD("seeks", COUNT, sim_seeks),
	FIELD("io_time_ns", COUNT, sim_io_time_ns),
	FIELD("cpu_time_ns", COUNT, sim_cpu_time_ns),
	{ 0 },
};

static struct sp__doc put(struct sp__doc doc, const char *key, const struct sp_report_field *fields,
			  const struct sp_run_stats *s)
{
	struct sp__doc object = sp__doc_object(doc, key);

	sp__doc_fields(object, fields, s);
	return object;
}

struct sp__doc sp__report_io(struct sp__doc doc, const struct sp_run_stats *s)
{
	return put(doc, "io", io_fields, s);
}

struct sp__doc sp__report_memory(struct sp__doc doc, const struct sp_run_stats *s)
{
	return put(doc, "memory", memory_fields, s);
}

struct sp__doc sp__report_spill(struct sp__doc doc, const struct sp_run_stats *s)
{
	return put(doc, "spill", spill_fields, s);
}

struct sp__doc sp__report_sim(struct sp__doc doc, const struct sp_run_stats *s)
{
	return put(doc, "sim", sim_fields, s);
}

struct sp_report *sp_report_run(const char *schema, const char *tool,
				const struct sp_report_field *fields, const void *result,
				const struct sp_run_stats *run)
{
	struct sp__doc doc, r;
	bool failed;
	struct sp_report *report = sp__report_new(schema, tool, &failed, &doc);

	if (!report)
		return NULL;
	r = sp__doc_object(doc, "result");
	sp__doc_fields(r, fields, result);
	sp__doc_real(r, "elapsed_s", run->elapsed_s);
	sp__report_io(doc, run);
	sp__report_memory(doc, run);
	sp__report_spill(doc, run);
	if (run->simulated)
		sp__report_sim(doc, run);
	return sp__report_done(report, failed);
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
