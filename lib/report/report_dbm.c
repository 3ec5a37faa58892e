/* SPDX-License-Identifier: MIT */
/*
 * Builds the document of a run of dbmbench, and compares two such documents.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <spindle/dbm.h>
#include "base/err.h"
#include "report/doc.h"
#include "report/documents.h"
#include "report/read.h"

/*
 * Two documents are compared by the cells that both have.  The relative errors of both times add up
 * by squares.
 *
 * Not modelled: changes of the machine between the runs.
 */
static const struct sp_report_field row_fields[] = {
	LATER("query", WORD, "the query", .values = sp_dbm_query_values),
	LATER("selectivity", REAL, "share of the values of a2 that was asked for"),
	LATER("system", STRING, "name of the system"),
	LATER("query_a_s", REAL, "time of a query in A"),
	LATER("query_b_s", REAL, "time of a query in B"),
	LATER("ratio", REAL, "B / A"),
	LATER("ratio_low", REAL, "lower end of the interval of the ratio"),
	LATER("ratio_high", REAL, "upper end of the interval of the ratio"),
	LATER("instructions_ratio", REAL, "instructions of a query, B / A; null: not counted"),
	{ 0 },
};

const struct sp_report_field sp__dbm_compare_document[] = {
	LATER("file_a", STRING, "file of A"),
	LATER("file_b", STRING, "file of B"),
	GROUP("rows", LIST, row_fields, "cells that both runs measured", .optional = true),
	{ 0 },
};

static double value(const json_t *o, const char *key)
{
	return known(o, key) ? number(o, key) : NAN;
}

/* Returns the relative half interval of a time. */
static double error_of(const json_t *cell)
{
	return (value(cell, "query_high_s") - value(cell, "query_s")) / value(cell, "query_s");
}

static bool same(const json_t *a, const json_t *b)
{
	return !strcmp(word(a, "query"), word(b, "query")) &&
	       !strcmp(word(a, "system"), word(b, "system")) &&
	       number(a, "selectivity") == number(b, "selectivity") && number(a, "units") > 0 &&
	       number(b, "units") > 0;
}

static void put_row(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b)
{
	const double ratio = value(b, "query_s") / value(a, "query_s");
	const double half = hypot(error_of(a), error_of(b));
	struct sp__doc row = sp__doc_element(doc, rows);

	sp__doc_text(row, "query", word(a, "query"));
	sp__doc_real(row, "selectivity", number(a, "selectivity"));
	sp__doc_text(row, "system", word(a, "system"));
	sp__doc_real(row, "query_a_s", value(a, "query_s"));
	sp__doc_real(row, "query_b_s", value(b, "query_s"));
	sp__doc_real(row, "ratio", ratio);
	sp__doc_real(row, "ratio_low", ratio * exp(-half));
	sp__doc_real(row, "ratio_high", ratio * exp(half));
	sp__doc_real(row, "instructions_ratio",
		     value(b, "instructions") / value(a, "instructions"));
}

static struct sp_report *build(const char *file_a, const char *file_b, const json_t *a,
			       const json_t *b)
{
	struct sp__doc doc = sp__report_new(SP__DOC_DBM_COMPARE);
	const json_t *as = json_object_get(a, "cells"), *bs = json_object_get(b, "cells");
	const json_t *x, *y;
	json_t *rows;

	sp__doc_text(doc, "file_a", file_a);
	sp__doc_text(doc, "file_b", file_b);
	rows = sp__doc_array(doc, "rows");
	for (size_t i = 0; (x = json_array_get(as, i)); i++)
		for (size_t k = 0; (y = json_array_get(bs, k)); k++)
			if (same(x, y))
				put_row(doc, rows, x, y);
	return sp__report_done(doc);
}

int sp_report_dbm_compare(struct sp_report **report, const char *file_a, const char *file_b,
			  struct sp_errinfo *err)
{
	json_t *a = NULL, *b = NULL;
	int rc = sp__report_load(&a, SP__DOC_DBM, file_a, err);

	*report = NULL;
	if (!rc)
		rc = sp__report_load(&b, SP__DOC_DBM, file_b, err);
	if (!rc) {
		*report = build(file_a, file_b, a, b);
		if (!*report)
			rc = sp__err(err, -ENOMEM, "compare", "", -1);
	}
	json_decref(a);
	json_decref(b);
	return rc;
}

#define EVENT(member, event, name, about) FIELD(dbm_usage, name, REAL, member[event], about)

#define KERNEL(event, name) EVENT(kernel, event, name, "those of them in the kernel")

static const struct sp_report_field event_fields[] = {
	EVENT(events, SP_DBM_CYCLES, "cycles", "cycles; null: not counted"),
	EVENT(events, SP_DBM_INSTRUCTIONS, "instructions", "instructions"),
	EVENT(events, SP_DBM_BRANCHES, "branches", "branches"),
	EVENT(events, SP_DBM_BRANCH_MISSES, "branch_misses", "branches that were mispredicted"),
	EVENT(events, SP_DBM_L1D_MISSES, "l1d_misses", "misses of the first-level data cache"),
	EVENT(events, SP_DBM_L1I_MISSES, "l1i_misses",
	      "misses of the first-level instruction cache"),
	EVENT(events, SP_DBM_LLC_MISSES, "llc_misses", "misses of the last-level cache"),
	EVENT(events, SP_DBM_DTLB_MISSES, "dtlb_misses", "misses of the data TLB"),
	EVENT(events, SP_DBM_ITLB_MISSES, "itlb_misses", "misses of the instruction TLB"),
	EVENT(events, SP_DBM_FRONTEND_STALLS, "frontend_stalls",
	      "cycles without an instruction to execute"),
	EVENT(events, SP_DBM_BACKEND_STALLS, "backend_stalls", "cycles in which execution waits"),
	KERNEL(SP_DBM_CYCLES, "kernel_cycles"),
	KERNEL(SP_DBM_INSTRUCTIONS, "kernel_instructions"),
	KERNEL(SP_DBM_BRANCHES, "kernel_branches"),
	KERNEL(SP_DBM_BRANCH_MISSES, "kernel_branch_misses"),
	KERNEL(SP_DBM_L1D_MISSES, "kernel_l1d_misses"),
	KERNEL(SP_DBM_L1I_MISSES, "kernel_l1i_misses"),
	KERNEL(SP_DBM_LLC_MISSES, "kernel_llc_misses"),
	KERNEL(SP_DBM_DTLB_MISSES, "kernel_dtlb_misses"),
	KERNEL(SP_DBM_ITLB_MISSES, "kernel_itlb_misses"),
	KERNEL(SP_DBM_FRONTEND_STALLS, "kernel_frontend_stalls"),
	KERNEL(SP_DBM_BACKEND_STALLS, "kernel_backend_stalls"),
	MEMBER(dbm_usage, REAL, counted,
	       "least share of the time that an event was counted; null: none was"),
	{ 0 },
};

static const struct sp_report_field usage_fields[] = {
	MEMBER(dbm_usage, REAL, wall_s, "time from the first start to the last end"),
	MEMBER(dbm_usage, REAL, user_s, "processor time in user mode, of all processes"),
	MEMBER(dbm_usage, REAL, system_s, "processor time in the kernel"),
	MEMBER(dbm_usage, COUNT, read_bytes, "bytes read from devices"),
	MEMBER(dbm_usage, COUNT, write_bytes, "bytes written to devices"),
	MEMBER(dbm_usage, COUNT, reads, "system calls that read"),
	MEMBER(dbm_usage, COUNT, writes, "system calls that write"),
	MEMBER(dbm_usage, COUNT, peak_bytes, "the largest resident set of a process"),
	GROUP("events", OBJECT, event_fields, "events of the processor"),
	{ 0 },
};

/* A usage without its events, which are added by put_usage(). */
static const struct sp_report_field system_fields[] = {
	MEMBER(dbm_system, STRING, name, "name of the system"),
	MEMBER(dbm_system, STRING, version, "its version; null: it is absent"),
	MEMBER(dbm_system, STRING, failure, "why it is absent, or was left out; null: neither"),
	MEMBER(dbm_system, REAL, load_s, "time of loading both tables"),
	MEMBER(dbm_system, REAL, index_s, "time of making the indexes"),
	MEMBER(dbm_system, KNOWN, loaded_bytes, "bytes of its files then"),
	GROUP("empty", OBJECT, usage_fields, "a unit without queries"),
	{ 0 },
};

#define OF_QUERY(member, event, key, about) FIELD(dbm_cell, key, REAL, member[event], about)

static const struct sp_report_field cell_fields[] = {
	MEMBER(dbm_cell, WORD, query, "the query", .values = sp_dbm_query_values),
	MEMBER(dbm_cell, REAL, selectivity, "share of the values of a2 that was asked for"),
	MEMBER(dbm_cell, REAL, true_selectivity,
	       "share of the records of T1 within the bounds, mean of all units"),
	MEMBER(dbm_cell, STRING, system, "name of the system"),
	MEMBER(dbm_cell, COUNT, units, "measured units"),
	FIELD(dbm_cell, "query_s", REAL, query_s.value, "time of a query"),
	FIELD(dbm_cell, "query_low_s", REAL, query_s.low, "lower end of its interval"),
	FIELD(dbm_cell, "query_high_s", REAL, query_s.high, "upper end of its interval"),
	MEMBER(dbm_cell, REAL, deviation, "standard deviation of that time, divided by it"),
	FIELD(dbm_cell, "ratio", REAL, ratio.value,
	      "time of a query divided by that of the first system"),
	FIELD(dbm_cell, "ratio_low", REAL, ratio.low, "lower end of the interval of the ratio"),
	FIELD(dbm_cell, "ratio_high", REAL, ratio.high, "upper end of the interval of the ratio"),
	OF_QUERY(events, SP_DBM_INSTRUCTIONS, "instructions",
		 "instructions of a query, without starting the system; null: not counted"),
	MEMBER(dbm_cell, REAL, instructions_per_row, "instructions per record of T1"),
	MEMBER(dbm_cell, REAL, cpi, "cycles per instruction"),
	OF_QUERY(misses, SP_DBM_BRANCH_MISSES, "branch_misses_per_1000",
		 "branches that were mispredicted, per 1000 instructions"),
	OF_QUERY(misses, SP_DBM_L1D_MISSES, "l1d_misses_per_1000",
		 "misses of the first-level data cache, per 1000 instructions"),
	OF_QUERY(misses, SP_DBM_L1I_MISSES, "l1i_misses_per_1000",
		 "misses of the first-level instruction cache, per 1000 instructions"),
	OF_QUERY(misses, SP_DBM_LLC_MISSES, "llc_misses_per_1000",
		 "misses of the last-level cache, per 1000 instructions"),
	OF_QUERY(misses, SP_DBM_DTLB_MISSES, "dtlb_misses_per_1000",
		 "misses of the data TLB, per 1000 instructions"),
	OF_QUERY(misses, SP_DBM_ITLB_MISSES, "itlb_misses_per_1000",
		 "misses of the instruction TLB, per 1000 instructions"),
	MEMBER(dbm_cell, STRING, plan, "the plan, as the system prints it; null: it prints none"),
	MEMBER(dbm_cell, STRING, plan_lacks,
	       "what the plan lacks of what the query is about; null: nothing"),
	GROUP("usage", OBJECT, usage_fields, "resources of a unit, mean"),
	{ 0 },
};

static const struct sp_report_field unit_fields[] = {
	MEMBER(dbm_unit, COUNT, cell, "its element of cells, counted from 0"),
	MEMBER(dbm_unit, COUNT, round, "its round, counted from 0"),
	MEMBER(dbm_unit, REAL, true_selectivity, "share of the records of T1 within its bounds"),
	GROUP("usage", OBJECT, usage_fields, "its resources"),
	{ 0 },
};

static const struct sp_report_field config_fields[] = {
	MEMBER(dbm_opts, REAL, scale, "scale of the tables; 1: 150,000 records in T2"),
	MEMBER(dbm_opts, COUNT, record_bytes, "bytes of a record"),
	MEMBER(dbm_opts, BOOL, shuffle, "true if records are in random order"),
	MEMBER(dbm_opts, COUNT, seed, "seed of tables, bounds and turns"),
	MEMBER(dbm_opts, COUNT, unit, "queries of a unit, of each client"),
	MEMBER(dbm_opts, COUNT, clients, "clients at the same time"),
	MEMBER(dbm_opts, COUNT, rounds, "rounds"),
	MEMBER(dbm_opts, BOOL, cold, "true if files left the page cache before each unit"),
	FIELD(dbm_opts, "timeout_s", SECONDS, timeout_ns, "longest time of a call of an adapter"),
	{ 0 },
};

static const struct sp_report_field machine_fields[] = {
	FIELD(dbm_result, "processor", STRING, machine, "name of the processor"),
	FIELD(dbm_result, "processors", COUNT, processors, "processors that can be used"),
	FIELD(dbm_result, "memory_bytes", COUNT, memory_bytes, "bytes of memory"),
	FIELD(dbm_result, "kernel", STRING, kernel, "name and release of the kernel"),
	{ 0 },
};

static const struct sp_report_field tables_fields[] = {
	MEMBER(dbm_result, COUNT, t1_records, "records of T1"),
	MEMBER(dbm_result, COUNT, t1_bytes, "bytes of T1 as text"),
	MEMBER(dbm_result, COUNT, t2_records, "records of T2"),
	MEMBER(dbm_result, COUNT, t2_bytes, "bytes of T2 as text"),
	{ 0 },
};

static const struct sp_report_field counters_fields[] = {
	FIELD(dbm_result, "source", WORD, counters, "what counted events",
	      .values = sp_dbm_counters_values),
	FIELD(dbm_result, "reason", STRING, counters_reason,
	      "why not the processor's own counters, or what these do not count; null: neither"),
	{ 0 },
};

static const struct sp_report_field result_fields[] = {
	RESULT(dbm_result, BOOL, stopped, "true if the run was ended early"),
	RESULT(dbm_result, REAL, harness_s, "processor time of dbmbench itself during the units"),
	RESULT(dbm_result, REAL, elapsed_s, "duration of the whole run"),
	{ 0 },
};

const struct sp_report_field sp__dbm_document[] = {
	GROUP("config", OBJECT, config_fields, "the run"),
	GROUP("machine", OBJECT, machine_fields, "the machine"),
	GROUP("tables", OBJECT, tables_fields, "the tables"),
	GROUP("counters", OBJECT, counters_fields, "what counted events of the processor"),
	GROUP("result", OBJECT, NULL, "the run as a whole"),
	INCLUDE(result_fields),
	GROUP("systems", LIST, system_fields, "the systems, in the order given"),
	GROUP("cells", LIST, cell_fields, "each query, selectivity and system"),
	GROUP("units", LIST, unit_fields, "all measured units", .optional = true),
	{ 0 },
};

static void put_usage(struct sp__doc doc, const char *key, const struct sp_dbm_usage *u)
{
	struct sp__doc usage = sp__doc_object(doc, key);

	sp__doc_fields(usage, usage_fields, u);
	sp__doc_fields(sp__doc_object(usage, "events"), event_fields, u);
}

struct sp_report *sp_report_dbm(const struct sp_dbm_opts *opts, const struct sp_dbm_result *r)
{
	struct sp__doc doc = sp__report_new(SP__DOC_DBM), element;
	json_t *list;

	sp__doc_fields(sp__doc_object(doc, "config"), config_fields, opts);
	sp__doc_fields(sp__doc_object(doc, "machine"), machine_fields, r);
	sp__doc_fields(sp__doc_object(doc, "tables"), tables_fields, r);
	sp__doc_fields(sp__doc_object(doc, "counters"), counters_fields, r);
	sp__doc_fields(doc, result_fields, r);
	list = sp__doc_array(doc, "systems");
	for (size_t i = 0; i < r->nsystems; i++) {
		element = sp__doc_element(doc, list);
		sp__doc_fields(element, system_fields, &r->systems[i]);
		put_usage(element, "empty", &r->systems[i].empty);
	}
	list = sp__doc_array(doc, "cells");
	for (size_t i = 0; i < r->ncells; i++) {
		element = sp__doc_element(doc, list);
		sp__doc_fields(element, cell_fields, &r->cells[i]);
		put_usage(element, "usage", &r->cells[i].usage);
	}
	list = sp__doc_array(doc, "units");
	for (size_t i = 0; i < r->nunits; i++) {
		element = sp__doc_element(doc, list);
		sp__doc_fields(element, unit_fields, &r->units[i]);
		put_usage(element, "usage", &r->units[i].usage);
	}
	return sp__report_done(doc);
}
