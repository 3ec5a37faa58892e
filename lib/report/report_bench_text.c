/* SPDX-License-Identifier: MIT */
/*
 * Formats a measurement as text: a heading, a line for each class and one for all, then remarks.
 */
#include <string.h>
#include "report/report_bench.h"
#include "report/read.h"

static void line(const json_t *s, FILE *out)
{
	static const char *const keys[] = { "latency_mean_ns", "latency_p50_ns", "latency_p99_ns",
					    "latency_p999_ns", "longest_wait_ns" };
	char text[16];

	fprintf(out, "%-10.10s %-8s %9.*f %9.2f",
		json_object_get(s, "name") ? word(s, "name") : "total",
		json_object_get(s, "prio") ? word(s, "prio") : "", number(s, "iops") < 1000 ? 1 : 0,
		number(s, "iops"), number(s, "bandwidth_bytes_per_s") / 1e6);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		fprintf(out, " %9s", duration(s, keys[i], text));
	fprintf(out, " %7.1f\n", number(s, "depth_mean"));
}

static void replay(const json_t *r, FILE *out)
{
	if (!r)
		return;
	fprintf(out, "replay: of %.0f requests in %.2f s", number(r, "recorded_requests"),
		number(r, "recorded_s"));
	if (truth(r, "recorded_times"))
		fprintf(out, ", at recorded times (%.0f %%)", number(r, "time_scale") * 100);
	fprintf(out, ", at most %.0f outstanding (recorded: %.0f)", number(r, "depth"),
		number(r, "recorded_depth"));
	if (number(r, "skipped") > 0)
		fprintf(out, "; %.0f failed ones skipped", number(r, "skipped"));
	if (number(r, "extended") > 0)
		fprintf(out, "; %.0f extended", number(r, "extended"));
	putc('\n', out);
}

/* Writes the steady state; the table covers all rounds. */
static void steady(const json_t *s, double round_s, FILE *out)
{
	if (!s)
		return;
	fprintf(out, "steady state: %s %.0f rounds of %g s",
		truth(s, "reached") ? "reached after" : "not reached in", number(s, "rounds"),
		round_s);
	if (known(s, "iops"))
		fprintf(out, "; the last %zu: %.*f IOPS",
			json_array_size(json_object_get(s, "window")),
			number(s, "iops") < 1000 ? 1 : 0, number(s, "iops"));
	if (known(s, "range"))
		fprintf(out, ", range %.1f %%, slope %+.1f %%", number(s, "range") * 100,
			number(s, "slope") * 100);
	putc('\n', out);
}

void sp__report_head(const json_t *config, const json_t *result, FILE *out)
{
	fprintf(out, ": engine %s, %s, ", word(result, "engine"),
		truth(config, "direct") ? "direct" : "buffered");
}

void sp__report_tail(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *row;

	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "errors"), i)); i++)
		fprintf(out, "errors: %.0f of %s\n", number(row, "count"), word(row, "kind"));
	if (truth(r, "stopped"))
		fputs("stopped before the end\n", out);
}

static void remarks(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *row;
	char text[16];
	size_t i;

	for (i = 0; (row = json_array_get(json_object_get(doc, "classes"), i)); i++)
		if (truth(row, "starved"))
			fprintf(out,
				"starved: %s (others were served %.0f times before it, up to %s)\n",
				word(row, "name"), number(row, "passed_over"),
				duration(row, "longest_gap_ns", text));
	if (number(r, "overdue") > 0)
		fprintf(out, "rate not kept: %.0f requests were due and never submitted\n",
			number(r, "overdue"));
	sp__report_tail(doc, out);
}

static void run_text(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *row;
	const json_t *config = json_object_get(doc, "config");
	size_t i, others = json_array_size(json_object_get(config, "targets")) - 1;

	fputs(json_string_value(json_array_get(json_object_get(config, "targets"), 0)), out);
	if (others)
		fprintf(out, " and %zu more", others);
	sp__report_head(config, r, out);
	fprintf(out, "%.2f s%s\n", number(r, "elapsed_s"),
		truth(r, "simulated") ? " of virtual time" : "");
	fprintf(out, "%-10s %-8s %9s %9s %9s %9s %9s %9s %9s %7s\n", "class", "prio", "IOPS",
		"MB/s", "mean", "p50", "p99", "p99.9", "longest", "depth");
	for (i = 0; (row = json_array_get(json_object_get(doc, "classes"), i)); i++)
		line(row, out);
	if (json_array_size(json_object_get(doc, "classes")) > 1)
		line(r, out);
	if (known(r, "cpu_us_per_request"))
		fprintf(out, "cpu: %.3f us/request (user %.3f, system %.3f), %.3f ms/MB\n",
			number(r, "cpu_us_per_request"), number(r, "cpu_user_us_per_request"),
			number(r, "cpu_system_us_per_request"), number(r, "cpu_ms_per_mb"));
	replay(json_object_get(doc, "replay"), out);
	steady(json_object_get(r, "steady"), number(config, "steady_round_s"), out);
	remarks(doc, out);
}

int sp_report_bench_text(const struct sp_report *report, FILE *out)
{
	static const struct {
		const char *kind;
		void (*text)(const json_t *doc, FILE *out);
	} kinds[] = { { "run", run_text },
		      { "replay", run_text },
		      { "sweep", sp__report_sweep_text },
		      { "mix", sp__report_mix_text },
		      { "compare", sp__report_compare_text },
		      { "policy", sp__report_policy_text } };
	json_t *doc = sp__doc_printable(report);

	if (!doc)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].kind, word(doc, "kind")))
			kinds[i].text(doc, out);
	json_decref(doc);
	return ferror(out) || fflush(out) ? -EIO : 0;
}
