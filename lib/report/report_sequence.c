/* SPDX-License-Identifier: MIT */
/*
 * Builds the documents of request sequences.
 */
#include <math.h>
#include "report/doc.h"

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

static const struct sp_report_field request_fields[] = {
	MEMBER(sequence_counts, COUNT, read_requests, "reads that moved bytes"),
	MEMBER(sequence_counts, COUNT, read_bytes, "bytes of these reads"),
	MEMBER(sequence_counts, COUNT, write_requests, "writes that moved bytes"),
	MEMBER(sequence_counts, COUNT, write_bytes, "bytes of these writes"),
	{ 0 },
};

static const struct sp_report_field total_fields[] = {
	FIELD(sequence_stats, "refined", WORD, refinement, "order into which requests were put",
	      .values = sp_sequence_refinement_values, .required = true),
	MEMBER(sequence_stats, KNOWN, window,
	       "requests among which the next one was chosen; null: not refined"),
	GROUP("total", OBJECT, NULL, "all volumes together"),
	MEMBER(sequence_stats, COUNT, total.requests, "all requests"),
	MEMBER(sequence_stats, COUNT, total.failed, "requests that failed"),
	MEMBER(sequence_stats, COUNT, total.empty, "requests that moved no bytes"),
	MEMBER(sequence_stats, OBJECT, total, NULL, .fields = request_fields),
	LATER("total.request_bytes_mean", REAL, "mean size of a request that moved bytes"),
	MEMBER(sequence_stats, COUNT, total.seeks,
	       "seeks if each volume has a position of its own"),
	FIELD(sequence_stats, "total.device_seeks", COUNT, device_seeks,
	      "seeks if all volumes are on one device"),
	MEMBER(sequence_stats, COUNT, total.merges,
	       "requests that a scheduler can merge with the previous one"),
	MEMBER(sequence_stats, COUNT, total.cluster_reads,
	       "maximal series of reads that continue one another"),
	MEMBER(sequence_stats, COUNT, total.regions, "maximal ranges that writes cover"),
	LATER("total.region_bytes_mean", REAL, "mean size of these ranges"),
	MEMBER(sequence_stats, COUNT, total.overwritten_bytes,
	       "bytes written to ranges written before"),
	{ 0 },
};

static const struct sp_report_field volume_fields[] = {
	LATER("name", TEXT, "name of the volume"),
	INCLUDE(request_fields),
	MEMBER(sequence_counts, COUNT, seeks, "seeks of the volume"),
	MEMBER(sequence_counts, COUNT, merges,
	       "requests that a scheduler can merge with the previous one"),
	MEMBER(sequence_counts, COUNT, cluster_reads,
	       "maximal series of reads that continue one another"),
	MEMBER(sequence_counts, COUNT, regions, "maximal ranges that writes cover"),
	MEMBER(sequence_counts, COUNT, overwritten_bytes, "bytes written to ranges written before"),
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
	MEMBER(sequence_cache, WORD, policy, "replacement policy",
	       .values = sp_sequence_policy_values),
	MEMBER(sequence_cache, COUNT, pages, "capacity in pages"),
	MEMBER(sequence_cache, COUNT, page_bytes, "size of a page"),
	FIELD(sequence_cache, "counted_requests", KNOWN, counted,
	      "number of requests counted; null: all"),
	{ 0 },
};

static const struct sp_report_field transfer_fields[] = {
	MEMBER(sequence_transfers, COUNT, accesses, "pages accessed"),
	MEMBER(sequence_transfers, COUNT, hits, "accessed pages found in the cache"),
	LATER("transfers", COUNT, "pages transferred"),
	MEMBER(sequence_transfers, COUNT, reads, "pages read from the device"),
	MEMBER(sequence_transfers, COUNT, writes, "pages written to the device"),
	MEMBER(sequence_transfers, COUNT, dropped, "dirty pages discarded unwritten"),
	MEMBER(sequence_transfers, COUNT, dirty, "pages not yet written at the end"),
	{ 0 },
};

const struct sp_report_field sp__sequence_document[] = {
	LATER("trace", TEXT, "trace of the requests"),
	INCLUDE(total_fields),
	GROUP("volumes", LIST, volume_fields, "one object for each volume", .optional = true),
	GROUP("cache", OBJECT, cache_fields,
	      "transfers of a simulated page cache; null: not simulated", .optional = true),
	GROUP("cache", OBJECT, transfer_fields, NULL),
	{ 0 },
};

static void put_cache(struct sp__doc doc, const struct sp_sequence_cache *cache,
		      const struct sp_sequence_transfers *t)
{
	struct sp__doc c = sp__doc_object(doc, "cache");

	sp__doc_fields(c, cache_fields, cache);
	sp__doc_fields(c, transfer_fields, t);
	sp__doc_count(c, "transfers", t->reads + t->writes);
}

struct sp_report *sp_report_sequence(const char *trace, const struct sp_sequence *seq,
				     const struct sp_sequence_cache *cache,
				     const struct sp_sequence_transfers *t)
{
	struct sp__doc doc = sp__report_new(SP__DOC_SEQUENCE);
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
	if (cache && t)
		put_cache(doc, cache, t);
	else
		sp__doc_null(doc, "cache");
	return sp__report_done(doc);
}

static const struct sp_report_field moved_fields[] = {
	LATER("op", TEXT, "R: read; W: write"),
	MEMBER(sequence_request, STRING, volume, "volume of the request"),
	FIELD(sequence_request, "offset_bytes", COUNT, offset, "offset on the volume"),
	FIELD(sequence_request, "request_bytes", COUNT, bytes, "bytes moved"),
	MEMBER(sequence_request, KNOWN, line, "line of the first trace"),
	LATER("line_b", COUNT, "line of the second trace; null: no pair"),
	{ 0 },
};

static void put_request(struct sp__doc doc, const char *key, const struct sp_sequence_request *r,
			uint64_t line_b)
{
	struct sp__doc o = sp__doc_object(doc, key);

	sp__doc_fields(o, moved_fields, r);
	sp__doc_text(o, "op", r->write ? "W" : "R");
	sp__doc_known(o, "line_b", line_b);
}

static const struct sp_report_field comparison_fields[] = {
	MEMBER(sequence_comparison, WORD, verdict, "result of the comparison",
	       .values = sp_sequence_verdict_values),
	MEMBER(sequence_comparison, COUNT, moved,
	       "requests with another position in the second trace"),
	LATER("first", OBJECT, "missing or extra request, or the first one of the pair; null: none",
	      .fields = moved_fields, .optional = true),
	LATER("second", OBJECT, "second request of the pair; null: no pair", .fields = moved_fields,
	      .optional = true),
	{ 0 },
};

const struct sp_report_field sp__sequence_comparison_document[] = {
	LATER("trace_a", TEXT, "first trace"),
	LATER("trace_b", TEXT, "second trace"),
	INCLUDE(comparison_fields),
	{ 0 },
};

struct sp_report *sp_report_sequence_comparison(const char *a, const char *b,
						const struct sp_sequence_comparison *comparison)
{
	struct sp__doc doc = sp__report_new(SP__DOC_SEQUENCE_COMPARISON);

	sp__doc_text(doc, "trace_a", a);
	sp__doc_text(doc, "trace_b", b);
	sp__doc_fields(doc, comparison_fields, comparison);
	if (comparison->verdict != SP_SEQUENCE_LEGAL)
		put_request(doc, "first", &comparison->first, comparison->first_line_b);
	if (comparison->verdict > SP_SEQUENCE_EXTRA)
		put_request(doc, "second", &comparison->second, comparison->second_line_b);
	return sp__report_done(doc);
}
