/* SPDX-License-Identifier: MIT */
/*
 * Formats measurements as text.  One measurement: a heading, a line for each class and one for all,
 * then remarks.  A set: a heading, a line for each point, and the conclusion.
 */
#include <math.h>
#include <string.h>
#include "report/read.h"
#include "report/doc.h"

/* Writes the reads or the writes of a class that has both. */
static void side_line(const json_t *s, const char *name, FILE *out)
{
	static const char *const keys[] = { "latency_mean_ns", "latency_p50_ns", "latency_p99_ns",
					    "latency_p999_ns", "latency_max_ns" };
	char text[16];

	fprintf(out, "  %-17s %9.*f %9.2f", name, number(s, "iops") < 1000 ? 1 : 0,
		number(s, "iops"), number(s, "bandwidth_bytes_per_s") / 1e6);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		fprintf(out, " %9s", duration(s, keys[i], text));
	putc('\n', out);
}

static void line(const json_t *s, FILE *out)
{
	const json_t *reads = json_object_get(s, "reads"), *writes = json_object_get(s, "writes");
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
	if (!number(reads, "requests") || !number(writes, "requests"))
		return;
	side_line(reads, "reads", out);
	side_line(writes, "writes", out);
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

static void report_tail(const json_t *doc, FILE *out)
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
	report_tail(doc, out);
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

#define BAR 16

static const char *target(const json_t *config)
{
	return json_string_value(json_array_get(json_object_get(config, "targets"), 0));
}

static void head(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *c = json_object_get(doc, "config");
	double rounds = number(r, "rounds");

	fputs(target(c), out);
	sp__report_head(c, r, out);
	fprintf(out, "%.0f round%s in %.1f s%s\n", rounds, rounds == 1 ? "" : "s",
		number(r, "elapsed_s"), truth(r, "simulated") ? " of virtual time" : "");
}

/* Formats requests per second with significant digits. */
static const char *rate(const json_t *o, const char *key, char text[16])
{
	double v = number(o, key);

	if (!known(o, key))
		return "-";
	snprintf(text, 16, "%.*f", v < 99.95 ? 1 : 0, v);
	return text;
}

/* Formats the greater half of an interval in per cent of the value. */
static const char *spread(const json_t *o, const char *key, const char *low, const char *high,
			  char text[16])
{
	double v = number(o, key), half = fmax(number(o, high) - v, v - number(o, low));

	if (!known(o, low) || v <= 0)
		return "-";
	snprintf(text, 16, "%.*f%%", half / v < 0.0995 ? 1 : 0, 100 * half / v);
	return text;
}

static const struct {
	const char *key, *name;
	char mark;
} knees[] = { { "latency_knee", "latency knee", 'L' },
	      { "recommended", "recommended", 'R' },
	      { "throughput_knee", "throughput knee", 'T' } };

static double highest(const json_t *doc)
{
	const json_t *row;
	double most = 0;

	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "points"), i)); i++)
		most = fmax(most, number(row, "iops"));
	return most;
}

static void depth_line(const json_t *row, const json_t *r, double most, FILE *out)
{
	char iops[16], width[16], mean[16], p50[16], p99[16], bar[BAR + 1] = "";
	double part = most > 0 ? number(row, "iops") / most : 0;

	for (int i = 0; i < (int)lround(part * BAR); i++)
		bar[i] = '#';
	bar[(int)lround(part * BAR)] = 0;
	fprintf(out, "%5.0f %9s %6s %9s %9s %9s  %-*s", number(row, "depth"),
		number(row, "requests") > 0 ? rate(row, "iops", iops) : "-",
		spread(row, "iops", "iops_low", "iops_high", width),
		duration(row, "latency_mean_ns", mean), duration(row, "latency_p50_ns", p50),
		duration(row, "latency_p99_ns", p99), BAR, bar);
	for (size_t i = 0; i < sizeof(knees) / sizeof(knees[0]); i++) {
		const json_t *knee = json_object_get(r, knees[i].key);

		if (json_is_object(knee) && number(knee, "depth") == number(row, "depth"))
			fprintf(out, " %c", knees[i].mark);
	}
	fputc('\n', out);
}

static void knee_line(const json_t *knee, const char *name, char mark, double most, FILE *out)
{
	char iops[16], mean[16], text[32];

	snprintf(text, sizeof(text), "%.0f to %.0f", number(knee, "depth_low"),
		 number(knee, "depth_high"));
	fprintf(out, "%c %-15s %5.0f (%s): %s IOPS at %s, %.0f %% of the highest\n", mark, name,
		number(knee, "depth"), text, rate(knee, "iops", iops),
		duration(knee, "latency_mean_ns", mean), 100 * number(knee, "iops") / most);
}

static void noise_line(const json_t *r, FILE *out)
{
	const char *hidden = word(r, "noise_hides");

	if (!known(r, "noise_hides"))
		return;
	fputs("warning: noise is larger than ", out);
	if (!strcmp(hidden, "smaller"))
		fprintf(out,
			"the difference between depths %.0f and %.0f: "
			"a smaller depth may do as well",
			number(r, "alike_depth_low"),
			number(json_object_get(r, "recommended"), "depth"));
	else if (!strcmp(hidden, "all"))
		fputs("the differences: throughput is alike at all depths", out);
	else
		fputs("a tenth of the highest throughput: "
		      "the recommended depth may bring less than 90 % of it",
		      out);
	fputs("; more --runtime makes noise smaller\n", out);
}

/* Texts of kinds of documents other than "run". */
static void report_sweep_text(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *row;
	double most = highest(doc);
	size_t i;

	head(doc, out);
	fprintf(out, "%5s %9s %6s %9s %9s %9s\n", "depth", "IOPS", "+-", "mean", "p50", "p99");
	for (i = 0; (row = json_array_get(json_object_get(doc, "points"), i)); i++)
		depth_line(row, r, most, out);
	for (i = 0; i < sizeof(knees) / sizeof(knees[0]); i++) {
		const json_t *knee = json_object_get(r, knees[i].key);

		if (json_is_object(knee))
			knee_line(knee, knees[i].name, knees[i].mark, most, out);
	}
	if (!known(r, "recommended"))
		fputs("no knees: each depth must be measured three times, --runtime gives more "
		      "time\n",
		      out);
	noise_line(r, out);
	if (truth(r, "rising"))
		fprintf(out, "throughput still rises at %.0f: a greater --depth may bring more\n",
			number(json_object_get(doc, "config"), "depth"));
	report_tail(doc, out);
}

static const json_t *class_of(const json_t *point, const char *name)
{
	const json_t *row;

	for (size_t i = 0; (row = json_array_get(json_object_get(point, "classes"), i)); i++)
		if (!strcmp(word(row, "name"), name))
			return row;
	return NULL;
}

/* Formats the mean latency; as a lower bound if nothing completed in some slices. */
static const char *latency(const json_t *o, char text[17])
{
	char wait[16];

	if (!number(o, "unanswered"))
		return duration(o, "latency_mean_ns", text);
	snprintf(text, 17, ">%s", duration(o, "wait_mean_ns", wait));
	return text;
}

static void mixed_columns(const json_t *class, FILE *out)
{
	char iops[16], mean[17], p99[16];

	fprintf(out, " %8s %9s %9s", rate(class, "iops", iops), latency(class, mean),
		duration(class, "latency_p99_ns", p99));
}

static void shares(const json_t *doc, FILE *out)
{
	const json_t *row;
	char iops[16];

	fprintf(out, "%5s %8s %8s %9s %9s %8s %9s %9s %9s\n", "high", "IOPS", "high", "mean", "p99",
		"low", "mean", "p99", "low/high");
	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "points"), i)); i++) {
		fprintf(out, "%4.0f%% %8s", 100 * number(row, "share"), rate(row, "iops", iops));
		mixed_columns(class_of(row, "high"), out);
		mixed_columns(class_of(row, "low"), out);
		if (known(row, "ratio"))
			fprintf(out, " %9.2f\n", number(row, "ratio"));
		else
			fprintf(out, " %9s\n", "-");
	}
}

/* Writes one line for all readers: the sum of their rates, the mean of their means. */
static void scan_line(const json_t *row, FILE *out)
{
	const json_t *classes = json_object_get(row, "classes"), *class;
	double bytes = 0, wait = 0, worst = 0, unanswered = 0;
	char mean[17], p99[16];
	json_t *sum;
	size_t i;

	fprintf(out, "%-10s", word(row, "name"));
	mixed_columns(json_array_get(classes, 0), out);
	for (i = 1; (class = json_array_get(classes, i)); i++) {
		bytes += number(class, "bandwidth_bytes_per_s");
		wait += number(class, "wait_mean_ns");
		unanswered += number(class, "unanswered");
		worst = fmax(worst, number(class, "latency_p99_ns"));
	}
	if (i > 1) {
		wait /= (double)(i - 1);
		sum = json_pack("{s:f, s:f, s:f, s:f}", "latency_mean_ns", wait, "wait_mean_ns",
				wait, "unanswered", unanswered, "p99", worst);
		fprintf(out, " %9.2f %9s %9s", bytes / 1e6, latency(sum, mean),
			duration(sum, "p99", p99));
		json_decref(sum);
	}
	fputc('\n', out);
}

static void scans(const json_t *doc, FILE *out)
{
	const json_t *row;

	fprintf(out, "%-10s %8s %9s %9s %9s %9s %9s\n", "priority", "random", "mean", "p99",
		"scan MB/s", "mean", "p99");
	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "points"), i)); i++)
		scan_line(row, out);
}

static void starvation(const json_t *doc, FILE *out)
{
	const json_t *points = json_object_get(doc, "points"), *row, *class;
	char text[16];

	for (size_t i = 0; (row = json_array_get(points, i)); i++)
		for (size_t k = 0; (class = json_array_get(json_object_get(row, "classes"), k));
		     k++) {
			if (!truth(class, "starved"))
				continue;
			fprintf(out, "starved: %s, up to %s", word(class, "name"),
				duration(class, "longest_gap_ns", text));
			if (known(row, "share"))
				fprintf(out, ", at %.0f %% high", 100 * number(row, "share"));
			else
				fprintf(out, ", in \"%s\"", word(row, "name"));
			fputc('\n', out);
		}
}

/* True if a setting had both priorities. */
static bool mixed(const json_t *doc)
{
	const json_t *row;

	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "points"), i)); i++)
		if (json_array_size(json_object_get(row, "classes")) > 1)
			return true;
	return false;
}

static void verdict(const json_t *doc, bool scan, FILE *out)
{
	const json_t *r = json_object_get(doc, "result");
	bool yes = !strcmp(word(r, "effect"), "yes"), no = !strcmp(word(r, "effect"), "no");

	if (!known(r, "ratio_low")) {
		fprintf(out, "priorities: %s\n",
			number(r, "rounds") > 0 && !mixed(doc)
				? "no setting has requests of both: other --shares, or a greater "
				  "--depth"
				: "too little was measured, --runtime gives more time");
		return;
	}
	fprintf(out, "priorities: %s",
		yes  ? "they have an effect"
		: no ? "no effect"
		     : "no clear effect");
	if (known(r, "ratio_share"))
		fprintf(out, "%s at %.0f %% high", yes ? ", clearest" : "",
			100 * number(r, "ratio_share"));
	else if (!scan)
		fputs(" in the mean of all shares", out);
	fprintf(out, ": %s %.2f times as long (%.2f to %.2f)\n",
		scan ? "without them random requests take" : "low requests take",
		number(r, "ratio"), number(r, "ratio_low"), number(r, "ratio_high"));
}

static void report_mix_text(const json_t *doc, FILE *out)
{
	bool scan = !strcmp(word(json_object_get(doc, "mix"), "of"), "scans");

	head(doc, out);
	if (scan)
		scans(doc, out);
	else
		shares(doc, out);
	verdict(doc, scan, out);
	starvation(doc, out);
	report_tail(doc, out);
}

static const char *figure(const json_t *row, const char *key, char text[16])
{
	const char *what = word(row, "key");
	double v = number(row, key);

	if (!known(row, key))
		return "-";
	if (!strcmp(what, "bandwidth_bytes_per_s"))
		snprintf(text, 16, "%.2f MB/s", v / 1e6);
	else if (!strcmp(what, "cpu_us_per_request"))
		snprintf(text, 16, "%.3f us", v);
	else if (!strcmp(what, "iops"))
		return rate(row, key, text);
	else
		return duration(row, key, text);
	return text;
}

static const char *figure_name(const char *key)
{
	static const struct {
		const char *key, *name;
	} names[] = { { "iops", "IOPS" },
		      { "bandwidth_bytes_per_s", "bandwidth" },
		      { "latency_mean_ns", "mean latency" },
		      { "latency_p50_ns", "p50" },
		      { "latency_p90_ns", "p90" },
		      { "latency_p99_ns", "p99" },
		      { "latency_p999_ns", "p99.9" },
		      { "cpu_us_per_request", "cpu/request" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].key, key))
			return names[i].name;
	return key;
}

static void source(const json_t *doc, const char *file, const char *config, char which, FILE *out)
{
	const json_t *c = json_object_get(doc, config);

	fprintf(out, "%c: ", which);
	if (known(doc, file))
		fprintf(out, "%s, ", word(doc, file));
	fprintf(out, "%s, engine %s, depth %.0f\n", target(c), word(c, "engine"),
		number(c, "depth"));
}

static void report_compare_text(const json_t *doc, FILE *out)
{
	const json_t *r = json_object_get(doc, "result"), *row;
	char a[16], b[16], range[40];

	source(doc, "file_a", "config_a", 'A', out);
	source(doc, "file_b", "config_b", 'B', out);
	if (r)
		fprintf(out, "%.0f pairs in %.1f s%s\n", number(r, "rounds"),
			number(r, "elapsed_s"), truth(r, "simulated") ? " of virtual time" : "");
	fprintf(out, "%-10s %-12s %12s %12s %7s  %s\n", "class", "figure", "A", "B", "B/A",
		"95 % interval");
	for (size_t i = 0; (row = json_array_get(json_object_get(doc, "rows"), i)); i++) {
		snprintf(range, sizeof(range), "%.3f to %.3f", number(row, "ratio_low"),
			 number(row, "ratio_high"));
		fprintf(out, "%-10.10s %-12s %12s %12s", word(row, "name"),
			figure_name(word(row, "key")), figure(row, "a", a), figure(row, "b", b));
		if (known(row, "ratio"))
			fprintf(out, " %7.3f  %s\n", number(row, "ratio"),
				known(row, "ratio_low") ? range : "-");
		else
			fprintf(out, " %7s  -\n", "-");
	}
	report_tail(doc, out);
}

int sp_report_bench_text(const struct sp_report *report, FILE *out)
{
	static const struct {
		const char *kind;
		void (*text)(const json_t *doc, FILE *out);
	} kinds[] = { { "run", run_text },
		      { "replay", run_text },
		      { "sweep", report_sweep_text },
		      { "mix", report_mix_text },
		      { "compare", report_compare_text },
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
