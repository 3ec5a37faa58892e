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

static void put_requests(struct sp__doc doc, const struct sp_sequence_counts *c)
{
	sp__doc_count(doc, "read_requests", c->read_requests);
	sp__doc_count(doc, "read_bytes", c->read_bytes);
	sp__doc_count(doc, "write_requests", c->write_requests);
	sp__doc_count(doc, "write_bytes", c->write_bytes);
}

static void put_total(struct sp__doc doc, const struct sp_sequence_stats *s)
{
	const struct sp_sequence_counts *c = &s->total;
	struct sp__doc total = sp__doc_object(doc, "total");

	sp__doc_count(total, "requests", c->requests);
	sp__doc_count(total, "failed", c->failed);
	sp__doc_count(total, "empty", c->empty);
	put_requests(total, c);
	sp__doc_real(total, "request_bytes_mean",
		     mean(c->read_bytes + c->write_bytes, c->read_requests + c->write_requests));
	sp__doc_count(total, "seeks", c->seeks);
	sp__doc_count(total, "device_seeks", s->device_seeks);
	sp__doc_count(total, "merges", c->merges);
	sp__doc_count(total, "cluster_reads", c->cluster_reads);
	sp__doc_count(total, "regions", c->regions);
	sp__doc_real(total, "region_bytes_mean", mean(c->region_bytes, c->regions));
	sp__doc_count(total, "overwritten_bytes", c->overwritten_bytes);
}

static void put_volumes(struct sp__doc doc, const struct sp_sequence *seq)
{
	json_t *array = sp__doc_array(doc, "volumes");
	struct sp_sequence_counts c;
	const char *name;

	for (size_t i = 0; sp_sequence_volume(seq, i, &name, &c) == 0; i++) {
		struct sp__doc row = sp__doc_element(doc, array);

		sp__doc_text(row, "name", name);
		put_requests(row, &c);
		sp__doc_count(row, "seeks", c.seeks);
		sp__doc_count(row, "merges", c.merges);
		sp__doc_count(row, "cluster_reads", c.cluster_reads);
		sp__doc_count(row, "regions", c.regions);
		sp__doc_count(row, "overwritten_bytes", c.overwritten_bytes);
	}
}

static void put_cache(struct sp__doc doc, const struct sp_sequence_cache *cache,
		      const struct sp_sequence_transfers *t)
{
	struct sp__doc c = sp__doc_object(doc, "cache");

	sp__doc_text(c, "policy", sp_sequence_policy_name(cache->policy));
	sp__doc_count(c, "pages", cache->pages);
	sp__doc_count(c, "page_bytes", cache->page_bytes);
	sp__doc_known(c, "counted_requests", cache->counted);
	sp__doc_count(c, "accesses", t->accesses);
	sp__doc_count(c, "hits", t->hits);
	sp__doc_count(c, "transfers", t->reads + t->writes);
	sp__doc_count(c, "reads", t->reads);
	sp__doc_count(c, "writes", t->writes);
	sp__doc_count(c, "dropped", t->dropped);
	sp__doc_count(c, "dirty", t->dirty);
}

struct sp_report *sp_report_sequence(const char *trace, const struct sp_sequence *seq,
				     const struct sp_sequence_cache *cache,
				     const struct sp_sequence_transfers *t)
{
	struct sp__doc doc;
	struct sp_sequence_stats stats;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.sequence/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	sp_sequence_stats(seq, &stats);
	sp__doc_text(doc, "trace", trace);
	put_total(doc, &stats);
	put_volumes(doc, seq);
	if (cache && t)
		put_cache(doc, cache, t);
	else
		sp__doc_put(doc, "cache", json_null());
	return sp__report_done(report, failed);
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
	struct sp__doc doc;
	bool failed, pair = comparison->verdict > SP_SEQUENCE_EXTRA;
	struct sp_report *report =
		sp__report_new("spindle.sequence-comparison/1", tool, &failed, &doc);

	if (!report)
		return NULL;
	sp__doc_text(doc, "trace_a", a);
	sp__doc_text(doc, "trace_b", b);
	sp__doc_text(doc, "verdict", sp_sequence_verdict_name(comparison->verdict));
	sp__doc_count(doc, "moved", comparison->moved);
	if (comparison->verdict == SP_SEQUENCE_LEGAL)
		sp__doc_put(doc, "first", json_null());
	else
		put_request(doc, "first", &comparison->first, comparison->first_line_b);
	if (pair)
		put_request(doc, "second", &comparison->second, comparison->second_line_b);
	else
		sp__doc_put(doc, "second", json_null());
	return sp__report_done(report, failed);
}
