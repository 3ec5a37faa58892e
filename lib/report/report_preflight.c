/* SPDX-License-Identifier: MIT */
/*
 * What a preflight has found, as a part of a document and for people.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "report/doc.h"

static void put_layer(struct sp__doc row, const struct sp_preflight_layer *l)
{
	sp__doc_count(row, "level", l->level);
	sp__doc_text(row, "name", l->name);
	sp__doc_text(row, "kind", l->kind);
	sp__doc_text(row, "scheduler", *l->scheduler ? l->scheduler : NULL);
	sp__doc_known(row, "scheduler_places", l->places);
	sp__doc_known(row, "hardware_queues", l->queues);
	sp__doc_known(row, "hardware_window", l->window);
	sp__doc_known(row, "outstanding", l->outstanding);
	sp__doc_count(row, "others_outstanding", l->others);
	sp__doc_text(row, "verdict", sp_preflight_verdict_name(l->verdict));
}

static void put_preflight(struct sp__doc doc, const struct sp_preflight *p)
{
	struct sp__doc o = sp__doc_object(doc, "preflight");
	json_t *layers, *remarks;

	sp__doc_text(o, "priorities_act", sp_preflight_verdict_name(p->verdict));
	sp__doc_real(o, "best_latency_share", p->best_share > 0 ? p->best_share : NAN);
	sp__doc_text(o, "filesystem", *p->filesystem ? p->filesystem : NULL);
	layers = sp__doc_array(o, "layers");
	for (size_t i = 0; i < p->nlayers; i++)
		put_layer(sp__doc_element(o, layers), &p->layers[i]);
	remarks = sp__doc_array(o, "remarks");
	for (size_t i = 0; i < p->nremarks; i++) {
		struct sp__doc row = sp__doc_element(o, remarks);

		sp__doc_bool(row, "obstacle", p->remarks[i].obstacle);
		sp__doc_text(row, "text", p->remarks[i].text);
		sp__doc_text(row, "advice", *p->remarks[i].advice ? p->remarks[i].advice : NULL);
	}
}

int sp_report_add_preflight(struct sp_report *report, const struct sp_preflight *preflight)
{
	bool failed = false;

	put_preflight((struct sp__doc){ report->doc, &failed }, preflight);
	return failed ? -ENOMEM : 0;
}

struct sp_report *sp_report_preflight(const struct sp_preflight_opts *opts,
				      const struct sp_preflight *preflight)
{
	struct sp__doc doc, c;
	bool failed;
	struct sp_report *report = sp__report_new("spindle.aiobench/1", "aiobench", &failed, &doc);

	if (!report)
		return NULL;
	sp__doc_text(doc, "kind", "preflight");
	c = sp__doc_object(doc, "config");
	sp__doc_text(c, "target", opts->target);
	sp__doc_text(c, "engine", opts->engine ? opts->engine : "auto");
	sp__doc_bool(c, "direct", !opts->buffered);
	sp__doc_known(c, "outstanding", opts->outstanding);
	put_preflight(doc, preflight);
	return sp__report_done(report, failed);
}

static void layers(const struct sp_preflight *p, FILE *out)
{
	fprintf(out, "%-16s %-10s %-12s %7s %7s %7s %s\n", "device", "kind", "scheduler", "places",
		"window", "queues", "act");
	for (size_t i = 0; i < p->nlayers; i++) {
		const struct sp_preflight_layer *l = &p->layers[i];
		const uint64_t numbers[] = { l->places, l->window, l->queues };

		fprintf(out, "%*s%-*s %-10s %-12s", (int)l->level, "", 16 - (int)l->level, l->name,
			l->kind, *l->scheduler ? l->scheduler : "-");
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

	fprintf(out, "%s: priorities %s", target, words[p->verdict]);
	if (p->best_share > 0)
		fprintf(out, ": latency of the highest at best %.0f %% of the mean",
			p->best_share * 100);
	putc('\n', out);
	if (all && p->nlayers)
		layers(p, out);
	for (size_t i = 0; i < p->nremarks; i++) {
		const struct sp_preflight_remark *r = &p->remarks[i];
		/* What stands against it at one device may not count in the whole. */
		bool obstacle = r->obstacle && p->verdict != SP_PREFLIGHT_YES;

		if (!all && !obstacle)
			continue;
		fprintf(out, "%s %s\n", obstacle ? "!" : "-", r->text);
		if (*r->advice && (obstacle || !r->obstacle))
			fprintf(out, "  -> %s\n", r->advice);
	}
	return ferror(out) || fflush(out) ? -EIO : 0;
}
