/* SPDX-License-Identifier: MIT */
/*
 * The documents of request sequences; their keys are those of
 * spindle-report(5).
 */
#include <math.h>
#include "report/doc.h"

static const char tool[] = "blockseq";

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

static const struct sp_report_field request_fields[] = {
	FIELD(sequence_counts, "read_requests", COUNT, read_requests),
	FIELD(sequence_counts, "read_bytes", COUNT, read_bytes),
	FIELD(sequence_counts, "write_requests", COUNT, write_requests),
	FIELD(sequence_counts, "write_bytes", COUNT, write_bytes),
	{ 0 },
};

static const struct sp_report_field total_fields[] = {
	FIELD(sequence_stats, "refined", WORD, refinement, .name = sp_sequence_refinement_name),
	FIELD(sequence_stats, "window", KNOWN, window),
	FIELD(sequence_stats, "total.requests", COUNT, total.requests),
	FIELD(sequence_stats, "total.failed", COUNT, total.failed),
	FIELD(sequence_stats, "total.empty", COUNT, total.empty),
	FIELD(sequence_stats, "total", OBJECT, total, .fields = request_fields),
	LATER("total.request_bytes_mean"),
	FIELD(sequence_stats, "total.seeks", COUNT, total.seeks),
	FIELD(sequence_stats, "total.device_seeks", COUNT, device_seeks),
	FIELD(sequence_stats, "total.merges", COUNT, total.merges),
	FIELD(sequence_stats, "total.cluster_reads", COUNT, total.cluster_reads),
	FIELD(sequence_stats, "total.regions", COUNT, total.regions),
	LATER("total.region_bytes_mean"),
	FIELD(sequence_stats, "total.overwritten_bytes", COUNT, total.overwritten_bytes),
	{ 0 },
};

static const struct sp_report_field volume_fields[] = {
	LATER("name"),
	{ .type = SP_REPORT_OBJECT, .fields = request_fields },
	FIELD(sequence_counts, "seeks", COUNT, seeks),
	FIELD(sequence_counts, "merges", COUNT, merges),
	FIELD(sequence_counts, "cluster_reads", COUNT, cluster_reads),
	FIELD(sequence_counts, "regions", COUNT, regions),
	FIELD(sequence_counts, "overwritten_bytes", COUNT, overwritten_bytes),
	{ 0 },
};

static void put_volumes(struct sp__doc doc, const struct sp_sequence *seq)
{
	json_t *array = sp__doc_array(doc, "volumes");
	struct sp_sequence_counts c;
	const char *name;

	for (size_t i = 0; sp_sequence_volume(seq, i, &name, &c) == 0; i++) {
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_fields(row, volume_fields, &c);
		sp__doc_text(row, "name", name);
	}
}

static const struct sp_report_field cache_fields[] = {
	FIELD(sequence_cache, "cache.policy", WORD, policy, .name = sp_sequence_policy_name),
	FIELD(sequence_cache, "cache.pages", COUNT, pages),
	FIELD(sequence_cache, "cache.page_bytes", COUNT, page_bytes),
	FIELD(sequence_cache, "cache.counted_requests", KNOWN, counted),
	{ 0 },
};

static const struct sp_report_field transfer_fields[] = {
	FIELD(sequence_transfers, "cache.accesses", COUNT, accesses),
	FIELD(sequence_transfers, "cache.hits", COUNT, hits),
	LATER("cache.transfers"),
	FIELD(sequence_transfers, "cache.reads", COUNT, reads),
	FIELD(sequence_transfers, "cache.writes", COUNT, writes),
	FIELD(sequence_transfers, "cache.dropped", COUNT, dropped),
	FIELD(sequence_transfers, "cache.dirty", COUNT, dirty),
	{ 0 },
};

struct sp_report *sp_report_sequence(const char *trace, const struct sp_sequence *seq,
				     const struct sp_sequence_cache *cache,
				     const struct sp_sequence_transfers *t)
{
	struct sp__doc doc = sp__report_new("spindle.sequence/1", tool);
	const struct sp_sequence_counts *c;
	struct sp_sequence_stats stats;

	sp_sequence_stats(seq, &stats);
	c = &stats.total;
	sp__doc_text(doc, "trace", trace);
	sp__doc_fields(doc, total_fields, &stats);
	sp__doc_real(doc, "total.request_bytes_mean",
		     mean(c->read_bytes + c->write_bytes, c->read_requests + c->write_requests));
	sp__doc_real(doc, "total.region_bytes_mean", mean(c->region_bytes, c->regions));
	put_volumes(doc, seq);
	if (cache && t) {
		sp__doc_fields(doc, cache_fields, cache);
		sp__doc_fields(doc, transfer_fields, t);
		sp__doc_count(doc, "cache.transfers", t->reads + t->writes);
	} else {
		sp__doc_null(doc, "cache");
	}
	return sp__report_done(doc);
}

static void put_request(struct sp__doc doc, const char *key, const struct sp_sequence_request *r,
			uint64_t line_b)
{
	struct sp__doc o = sp__doc_object(doc, key);

	sp__doc_text(o, "op", r->write ? "W" : "R");
	sp__doc_text(o, "volume", r->volume);
	sp__doc_count(o, "offset_bytes", r->offset);
	sp__doc_count(o, "request_bytes", r->bytes);
	sp__doc_known(o, "line", r->line);
	sp__doc_known(o, "line_b", line_b);
}

struct sp_report *sp_report_sequence_comparison(const char *a, const char *b,
						const struct sp_sequence_comparison *comparison)
{
	struct sp__doc doc = sp__report_new("spindle.sequence-comparison/1", tool);

	sp__doc_text(doc, "trace_a", a);
	sp__doc_text(doc, "trace_b", b);
	sp__doc_text(doc, "verdict", sp_sequence_verdict_name(comparison->verdict));
	sp__doc_count(doc, "moved", comparison->moved);
	sp__doc_null(doc, "first");
	sp__doc_null(doc, "second");
	if (comparison->verdict != SP_SEQUENCE_LEGAL)
		put_request(doc, "first", &comparison->first, comparison->first_line_b);
	if (comparison->verdict > SP_SEQUENCE_EXTRA)
		put_request(doc, "second", &comparison->second, comparison->second_line_b);
	return sp__report_done(doc);
}
