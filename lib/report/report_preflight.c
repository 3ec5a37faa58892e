/* SPDX-License-Identifier: MIT */
/*
 * Builds the document and the text of a preflight.
 */
#include "report/read.h"
#include "report/report_bench.h"

static const struct sp_report_field layer_fields[] = {
	MEMBER(preflight_layer, COUNT, level, "level below the target"),
	MEMBER(preflight_layer, TEXT, name, "name of the device"),
	MEMBER(preflight_layer, TEXT, kind, "kind of the device", .required = true),
	MEMBER(preflight_layer, TEXT, scheduler, "scheduler; null: none"),
	FIELD(preflight_layer, "scheduler_requests", KNOWN, requests,
	      "request slots of the scheduler; null: unknown"),
	FIELD(preflight_layer, "hardware_queues", KNOWN, queues, "hardware queues; null: unknown"),
	FIELD(preflight_layer, "hardware_window", KNOWN, window,
	      "requests inside the device; null: unknown"),
	MEMBER(preflight_layer, KNOWN, outstanding,
	       "outstanding requests of the measurement; null: unknown"),
	FIELD(preflight_layer, "others_outstanding", COUNT, others,
	      "outstanding requests of other programs"),
	MEMBER(preflight_layer, WORD, verdict, "effect of priorities at this device",
	       .values = sp_preflight_verdict_values),
	{ 0 },
};

static const struct sp_report_field remark_fields[] = {
	MEMBER(preflight_remark, BOOL, obstacle, "true if it is an obstacle to priorities"),
	MEMBER(preflight_remark, TEXT, text, "the remark"),
	MEMBER(preflight_remark, TEXT, advice, "remedy; null: none"),
	{ 0 },
};

static const struct sp_report_field preflight_fields[] = {
	FIELD(preflight, "priorities_act", WORD, verdict, "effect of priorities",
	      .values = sp_preflight_verdict_values),
	FIELD(preflight, "best_latency_share", POSITIVE, best_share,
	      "lowest latency of the highest class as a share of the mean; null: unknown"),
	MEMBER(preflight, TEXT, filesystem, "file system of the target; null: none"),
	ELEMENTS(preflight, "layers", ARRAY, layers, nlayers, layer_fields,
		 "devices below the target", .optional = true),
	ELEMENTS(preflight, "remarks", ARRAY, remarks, nremarks, remark_fields, "remarks",
		 .optional = true),
	{ 0 },
};

const struct sp_report_field sp__preflight_fields[] = {
	GROUP("preflight", OBJECT, preflight_fields,
	      "preflight; of a measurement, if its classes have different priorities",
	      .optional = true),
	{ 0 },
};

int sp_report_add_preflight(struct sp_report *report, const struct sp_preflight *preflight)
{
	struct sp__doc doc = { report->doc, report };

	sp__doc_fields(sp__doc_object(doc, "preflight"), preflight_fields, preflight);
	return report->failed ? -ENOMEM : 0;
}

const struct sp_report_field sp__preflight_document[] = {
	GROUP("config", OBJECT, NULL, "options in effect"),
	LATER("config.target", TEXT, "target"),
	LATER("config.engine", TEXT, "requested I/O engine"),
	LATER("config.direct", BOOL, "true if the page cache is bypassed"),
	LATER("config.outstanding", COUNT, "outstanding requests; null: undecided"),
	INCLUDE(sp__preflight_fields),
	{ 0 },
};

struct sp_report *sp_report_preflight(const struct sp_preflight_opts *opts,
				      const struct sp_preflight *preflight)
{
	struct sp__doc doc = sp__report_new(SP__DOC_PREFLIGHT);

	sp__doc_text(doc, "config.target", opts->target);
	sp__doc_text(doc, "config.engine", opts->engine ? opts->engine : "auto");
	sp__doc_bool(doc, "config.direct", !opts->buffered);
	sp__doc_known(doc, "config.outstanding", opts->outstanding);
	sp__doc_fields(sp__doc_object(doc, "preflight"), preflight_fields, preflight);
	return sp__report_done(doc);
}

static void layers(const struct sp_preflight *p, FILE *out)
{
	fprintf(out, "%-16s %-10s %-12s %7s %7s %7s %s\n", "device", "kind", "scheduler",
		"nr_requests", "window", "queues", "act");
	for (size_t i = 0; i < p->nlayers; i++) {
		const struct sp_preflight_layer *l = &p->layers[i];
		const uint64_t numbers[] = { l->requests, l->window, l->queues };

		fprintf(out, "%*s%-*s %-10s %-12s", (int)l->level, "", 16 - (int)l->level,
			printable(l->name).text, printable(l->kind).text,
			*l->scheduler ? printable(l->scheduler).text : "-");
		for (size_t k = 0; k < 3; k++)
			if (numbers[k])
				fprintf(out, " %7llu", (unsigned long long)numbers[k]);
			else
				fprintf(out, " %7s", "-");
		fprintf(out, " %s\n", sp_preflight_verdict_name(l->verdict));
	}
}

int sp_report_preflight_text(const struct sp_preflight *p, const char *target, bool all, FILE *out)
{
	static const char *const words[] = { "do not act", "may act or not", "act weakly", "act" };

	fprintf(out, "%s: priorities %s", printable(target).text, words[p->verdict]);
	if (p->best_share > 0)
		fprintf(out, ": latency of the highest at best %.0f %% of the mean",
			p->best_share * 100);
	putc('\n', out);
	if (all && p->nlayers)
		layers(p, out);
	for (size_t i = 0; i < p->nremarks; i++) {
		const struct sp_preflight_remark *r = &p->remarks[i];
		/* an obstacle at one device does not count if the whole path honours priorities */
		bool obstacle = r->obstacle && p->verdict != SP_PREFLIGHT_YES;

		if (!all && !obstacle)
			continue;
		fprintf(out, "%s %s\n", obstacle ? "!" : "-", printable(r->text).text);
		if (*r->advice && (obstacle || !r->obstacle))
			fprintf(out, "  -> %s\n", printable(r->advice).text);
	}
	return ferror(out) || fflush(out) ? -EIO : 0;
}
