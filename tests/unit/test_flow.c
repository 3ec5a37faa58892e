/* SPDX-License-Identifier: MIT */
/*
 * Operators against naive programs over the same records, on engines that complete late and out
 * of order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include "base/rng.h"
#include "flowplan.h"
#include "tap.h"

#define ROWS 20000

static char path[] = "/tmp/sp-flow.XXXXXX";
static const char *inputs[] = { path };
static bool shuffled;			   /* scans give rows in any order */
static int group_of[ROWS], cents_of[ROWS]; /* group ascending */

/* Lines GROUP|NUMBER|CENTS as a decimal or nothing|a filling of any length. */
static void make_rows(void)
{
	struct sp__rng rng = { 3 };
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	for (int i = 0, group = 0; f && i < ROWS; i++) {
		group += sp__rng_below(&rng, 10) == 0;
		group_of[i] = group;
		cents_of[i] = (int)sp__rng_below(&rng, 20000) - 10000;
		fprintf(f, "g%d|%d|", group, i);
		if (cents_of[i] % 7)
			fprintf(f, "%s%d.%02d", cents_of[i] < 0 ? "-" : "", abs(cents_of[i]) / 100,
				abs(cents_of[i]) % 100);
		fprintf(f, "|%*s\n", (int)sp__rng_below(&rng, 90), "");
	}
	if (!f || fclose(f))
		abort();
}

static struct sp_operator *scan(struct sp_flow *flow)
{
	struct sp_flow_scan o = { .inputs = inputs,
				  .ninputs = 1,
				  .format = { .kind = SP_REC_LINE, .eol = '\n' },
				  .separator = "|",
				  .separator_bytes = 1,
				  .any_order = shuffled };
	struct sp_operator *op;

	if (sp_flow_scan(&op, flow, &o))
		abort();
	return op;
}

/* All batches of an operator, concatenated; the end must stay the end. */
static char *drain(struct sp_operator *op, int *rc)
{
	char *all = NULL;
	size_t bytes;
	FILE *f = open_memstream(&all, &bytes);
	struct sp_batch b;

	while ((*rc = sp_flow_get(op, &b)) == SP_READY)
		if (!b.bytes || fwrite(b.data, 1, b.bytes, f) != b.bytes)
			abort();
	if (sp_flow_get(op, &b) != *rc)
		*rc = -EPROTO;
	fclose(f);
	return all;
}

/* Closes the plan; true: it gave this text, and ended. */
static bool gives(struct sp_flow *flow, struct sp_operator *op, const char *want)
{
	int rc;
	char *got = drain(op, &rc);
	bool same = rc == SP_END && strcmp(got, want) == 0;

	if (!same)
		printf("# %s: %s\n# got  %.200s\n# want %.200s\n", sp_strerror(rc), err.text, got,
		       want);
	free(got);
	sp_flow_close(flow);
	return same;
}

/* Keeps every row whose number is a multiple of *arg. */
static int multiple(void *arg, const char *rec, size_t bytes)
{
	const char *second = memchr(rec, '|', bytes);

	return atoi(second + 1) % *(int *)arg == 0;
}

static void check_filter(int of, uint64_t limit)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op = scan(flow);
	static const size_t fields[] = { 1, 7, 0 };
	char *want = NULL;
	size_t bytes;
	FILE *f = open_memstream(&want, &bytes);
	uint64_t left = limit;
	int rc = sp_flow_filter(&op, op, multiple, &of);

	for (int i = 0; i < ROWS; i++)
		if (i % of == 0 && left && left--)
			fprintf(f, "%d||g%d\n", i, group_of[i]);
	fclose(f);
	if (!rc)
		rc = sp_flow_project(&op, op, fields, 3);
	if (!rc)
		rc = sp_flow_limit(&op, op, limit);
	ok(!rc && gives(flow, op, want), "filter by %d, projection, limit %llu (%s)", of,
	   (unsigned long long)limit, engine);
	free(want);
}

static const struct sp_flow_value values[] = {
	{ SP_FLOW_COUNT, 0 }, { SP_FLOW_SUM, 2 }, { SP_FLOW_MIN, 2 }, { SP_FLOW_MAX, 2 }
};

static void put_cents(FILE *f, int cents, bool any)
{
	if (any)
		fprintf(f, "|%s%d.%02d", cents < 0 ? "-" : "", abs(cents) / 100, abs(cents) % 100);
	else
		fprintf(f, "|");
}

static void check_groups(void)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op = scan(flow);
	static const size_t group[] = { 0 };
	char *want = NULL;
	size_t bytes;
	FILE *f = open_memstream(&want, &bytes);
	int rc = sp_flow_aggregate(&op, op, group, 1, values, 4);

	for (int i = 0, end; i < ROWS; i = end) {
		int sum = 0, min = INT32_MAX, max = INT32_MIN, any = 0;

		for (end = i; end < ROWS && group_of[end] == group_of[i]; end++) {
			int c = cents_of[end];

			if (c % 7 == 0)
				continue;
			any++;
			sum += c;
			min = c < min ? c : min;
			max = c > max ? c : max;
		}
		fprintf(f, "g%d|%d", group_of[i], end - i);
		put_cents(f, sum, any);
		put_cents(f, min, any);
		put_cents(f, max, any);
		fprintf(f, "\n");
	}
	fclose(f);
	ok(!rc && gives(flow, op, want), "groups of neighbours are counted and added (%s)", engine);
	free(want);
}

/* The text of one input, as one aggregate. */
static bool two_values_are(const struct sp_flow_value all[2], const char *text, const char *want)
{
	char name[] = "/tmp/sp-flow.XXXXXX";
	const char *const input[] = { name };
	struct sp_flow_scan o = { .inputs = input,
				  .ninputs = 1,
				  .format = { .kind = SP_REC_LINE, .eol = '\n' } };
	struct sp_flow *flow = open_flow();
	struct sp_operator *op;
	int fd = mkstemp(name);
	bool is = write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		  !sp_flow_scan(&op, flow, &o) && !sp_flow_aggregate(&op, op, NULL, 0, all, 2);

	is = is && gives(flow, op, want);
	close(fd);
	unlink(name);
	return is;
}

static bool average_is(const char *text, const char *want)
{
	static const struct sp_flow_value all[] = { { SP_FLOW_AVG, 0 }, { SP_FLOW_SUM, 0 } };

	return two_values_are(all, text, want);
}

static bool extremes_are(const char *text, const char *want)
{
	static const struct sp_flow_value all[] = { { SP_FLOW_MIN, 0 }, { SP_FLOW_MAX, 0 } };

	return two_values_are(all, text, want);
}

static void check_numbers(void)
{
	ok(average_is("1\n2\n2\n", "1.666667 5\n"), "an average is rounded");
	ok(average_is("-0.0000005\n", "-0.0000005 -0.0000005\n") &&
		   average_is("-0.000001\n0\n", "-0.000001 -0.000001\n"),
	   "half away from zero, to no fewer places than the numbers have");
	ok(extremes_are("1\n1.00\n1.0\n", "1.00 1.00\n"),
	   "minimum and maximum have the decimal places of the longest of equal numbers");
	ok(average_is("", " \n"), "nothing has no average, but is one record");
	ok(average_is(".5\n+1.\n", "0.750000 1.5\n"), "a point may be first or last");
	ok(!average_is("999999999999999999999999999\n1\n", "") && err.code == SP_EFORMAT,
	   "a sum that is too large is an error");
	ok(!average_is("1\nx\n", "") && err.code == SP_EFORMAT && strstr(err.text, "'x'"),
	   "as is a text, which is named");
}

static int broken(void *arg, const char *rec, size_t bytes)
{
	(void)arg;
	(void)rec;
	(void)bytes;
	return -ERANGE;
}

static void check_errors(void)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op = scan(flow), *twice = op, *none;
	struct sp_batch b;

	ok(sp_flow_filter(&op, op, broken, NULL) == 0 && sp_flow_get(op, &b) == -ERANGE &&
		   sp_flow_get(op, &b) == -ERANGE && sp_flow_next(op, &b) == -ERANGE,
	   "an error of a predicate ends the plan and stays");
	ok(sp_flow_limit(&none, twice, 1) == SP_ESTATE,
	   "an operator is the input of one other only");
	sp_flow_close(flow);
	flow = open_flow();
	ok(sp_flow_scan(&none, flow, &(struct sp_flow_scan){ 0 }) == -EINVAL,
	   "a scan without inputs is refused");
	sp_flow_close(flow);
}

static void check_memory(void)
{
	struct sp_flow *flow = open_flow();
	struct sp_flow_scan o = { .inputs = inputs, .ninputs = 1 };
	struct sp_operator *op;
	int rc = 0, n = 0;

	while (!rc && n++ < 100)
		rc = sp_flow_scan(&op, flow, &o);
	ok(rc == SP_EBUDGET && n > 10, "more inputs than the memory holds are refused (%d)", n);
	sp_flow_close(flow);
}

/* Virtual seconds of two scans, one after the other; their reads. */
static double simulated(uint64_t *requests)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op[2] = { scan(flow), scan(flow) };
	struct sp_run_stats stats;
	int rc, one = 1;

	for (int i = 0; i < 2; i++) {
		if (sp_flow_filter(&op[i], op[i], multiple, &one))
			abort();
		free(drain(op[i], &rc));
	}
	sp_flow_stats(flow, &stats);
	sp_flow_close(flow);
	*requests = stats.sim_requests;
	return rc == SP_END && stats.simulated ? stats.elapsed_s : -1;
}

static void check_simulated(void)
{
	uint64_t requests = 0, again = 0;
	double elapsed;

	volume = "sim:ultrastar36lzx-like,files=in";
	elapsed = simulated(&requests);
	ok(elapsed > 0.05 && requests > 100, "inputs may lie on a simulated drive (%.3f s, %d)",
	   elapsed, (int)requests);
	ok(simulated(&again) == elapsed && again == requests, "and take the same time again");
	volume = NULL;
}

/* In any order. */

/* Count, sum, minimum and maximum of all rows. */
static char *totals(bool in_any_order, int *rc)
{
	struct sp_flow *flow;
	struct sp_operator *op;
	char *all;

	shuffled = in_any_order;
	flow = open_flow();
	op = scan(flow);
	if (sp_flow_aggregate(&op, op, NULL, 0, values, 4))
		abort();
	all = drain(op, rc);
	sp_flow_close(flow);
	shuffled = false;
	return all;
}

static void check_any_order(void)
{
	int rc[2];
	char *a = totals(false, &rc[0]), *b = totals(true, &rc[1]);

	ok(rc[0] == SP_END && rc[1] == SP_END && !strcmp(a, b),
	   "an aggregate of all rows is the same in any order (%s)", engine);
	free(a);
	free(b);
}

static void check_order_needed(void)
{
	static const size_t group[] = { 0 };
	struct sp_flow *flow;
	struct sp_operator *op, *none;
	int one = 1;

	shuffled = true;
	flow = open_flow();
	op = scan(flow);
	shuffled = false;
	ok(!sp_flow_filter(&op, op, multiple, &one) &&
		   sp_flow_aggregate(&none, op, group, 1, values, 4) == SP_EUNSUP &&
		   strstr(err.text, "order"),
	   "groups of neighbours are refused above a scan in any order");
	sp_flow_close(flow);
}

/*
 * The rows are read twice on a machine whose page cache holds a part of them: pages read from the
 * device the second time.
 */
static uint64_t second_reads(bool in_any_order, bool *same)
{
	struct sp_flow *flow = open_flow();
	struct sp_operator *op[2];
	struct sp_run_stats stats[2];
	int rc[2] = { 0 };
	char *all[2];

	for (int i = 0; i < 2; i++) {
		shuffled = i && in_any_order;
		op[i] = scan(flow);
		shuffled = false;
		if (sp_flow_aggregate(&op[i], op[i], NULL, 0, values, 4))
			abort();
	}
	for (int i = 0; i < 2; i++) {
		all[i] = drain(op[i], &rc[i]);
		sp_flow_stats(flow, &stats[i]);
	}
	*same = rc[0] == SP_END && rc[1] == SP_END && !strcmp(all[0], all[1]);
	free(all[0]);
	free(all[1]);
	sp_flow_close(flow);
	return stats[1].sim_transfers - stats[0].sim_transfers;
}

static void check_simulated_cache(void)
{
	bool same[2];
	uint64_t in_order, in_any;

	volume = "sim:ultrastar36lzx-like,files=in,cache=512K";
	in_order = second_reads(false, &same[0]);
	in_any = second_reads(true, &same[1]);
	ok(same[0] && same[1] && in_any * 4 < in_order * 3,
	   "the part that a simulated page cache holds is read first (%d pages instead of %d)",
	   (int)in_any, (int)in_order);
	volume = NULL;
}

/* Groups by hash. */

/* Count, sum, minimum and maximum of rows whose number has this remainder, in any order. */
static void put_group(FILE *f, int rest, int of)
{
	int n = 0, numbers = 0, sum = 0, min = INT32_MAX, max = INT32_MIN;

	for (int i = rest; i < ROWS; i += of) {
		int c = cents_of[i];

		n++;
		if (c % 7 == 0)
			continue;
		numbers++;
		sum += c;
		min = c < min ? c : min;
		max = c > max ? c : max;
	}
	fprintf(f, "r%d|%d", rest, n);
	put_cents(f, sum, numbers);
	put_cents(f, min, numbers);
	put_cents(f, max, numbers);
	fprintf(f, "\n");
}

/* Rows r(NUMBER mod of)||CENTS in place of the usual ones. */
static void make_spread(const char *name, int of)
{
	FILE *f = fopen(name, "w");

	for (int i = 0; f && i < ROWS; i++) {
		fprintf(f, "r%d||", i % of);
		if (cents_of[i] % 7)
			fprintf(f, "%s%d.%02d", cents_of[i] < 0 ? "-" : "", abs(cents_of[i]) / 100,
				abs(cents_of[i]) % 100);
		fprintf(f, "\n");
	}
	if (!f || fclose(f))
		abort();
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text sorted, in its place. */
static void sort_lines(char *text)
{
	size_t bytes = strlen(text), n = 0, at = 0;
	char *copy = strdup(text), **lines = calloc(bytes + 1, sizeof(*lines));

	for (char *l = strtok(copy, "\n"); l; l = strtok(NULL, "\n"))
		lines[n++] = l;
	qsort(lines, n, sizeof(*lines), by_line);
	for (size_t i = 0; i < n; i++)
		at += (size_t)sprintf(text + at, "%s\n", lines[i]);
	free(lines);
	free(copy);
}

/* A group per row, in the order of their first rows, or in any order after a scan in any order. */
static void check_hash(int of, bool in_any_order)
{
	static const size_t group[] = { 0 };
	char name[] = "/tmp/sp-flow.XXXXXX", *want = NULL, *got;
	const char *before = inputs[0];
	struct sp_flow *flow;
	struct sp_operator *op;
	size_t bytes;
	FILE *f = open_memstream(&want, &bytes);
	int rc;

	close(mkstemp(name));
	make_spread(name, of);
	inputs[0] = name;
	for (int rest = 0; rest < of; rest++)
		put_group(f, rest, of);
	fclose(f);
	shuffled = in_any_order;
	flow = open_flow();
	op = scan(flow);
	shuffled = false;
	if (sp_flow_group(&op, op, group, 1, values, 4))
		abort();
	got = drain(op, &rc);
	if (in_any_order) {
		sort_lines(got);
		sort_lines(want);
	}
	ok(rc == SP_END && !strcmp(got, want), "%d groups by hash%s (%s)", of,
	   in_any_order ? ", in any order" : "", engine);
	free(got);
	free(want);
	sp_flow_close(flow);
	unlink(name);
	inputs[0] = before;
}

static void check_hash_memory(void)
{
	static const size_t field[] = { 1 };
	struct sp_flow *flow = open_flow();
	struct sp_operator *op = scan(flow);
	int rc;

	if (sp_flow_group(&op, op, field, 1, values, 4))
		abort();
	free(drain(op, &rc));
	ok(rc == SP_EBUDGET && strstr(err.text, "sort the input"),
	   "more groups than the memory holds are refused, with what to do (%s)", err.text);
	sp_flow_close(flow);
	flow = open_flow();
	op = scan(flow);
	ok(!sp_flow_limit(&op, op, 0) && !sp_flow_group(&op, op, field, 1, values, 4) &&
		   gives(flow, op, ""),
	   "of no records there is no group");
	flow = open_flow();
	op = scan(flow);
	ok(!sp_flow_limit(&op, op, 0) && !sp_flow_group(&op, op, NULL, 0, values, 1) &&
		   gives(flow, op, "0\n"),
	   "but without group fields one record of them");
}

/* Every read fails once: the plan ends with the error, whatever is above. */
static void check_faults(void)
{
	char spec[64];
	int rc = -EIO, n = 0;

	engine = spec;
	while (rc == -EIO && n++ < 1000) {
		struct sp_flow *flow;
		struct sp_operator *op;
		int one = 1;

		snprintf(spec, sizeof(spec), "fault:NTH=%d,ERROR=EIO:sync", n);
		flow = open_flow();
		op = scan(flow);
		if (sp_flow_filter(&op, op, multiple, &one) ||
		    sp_flow_aggregate(&op, op, NULL, 0, values, 4))
			abort();
		free(drain(op, &rc));
		sp_flow_close(flow);
	}
	ok(rc == SP_END && n > 20, "any read that fails is the plan's error (%d reads)", n - 1);
}

int main(void)
{
	static const char *const engines[] = { "sync", "auto", "fault:DELAY=300,COUNT=0:auto",
					       "fault:REORDER=5:auto" };

	make_rows();
	for (size_t i = 0; i < 4; i++) {
		engine = engines[i];
		check_filter(1, UINT64_MAX);
		check_filter(3, UINT64_MAX);
		check_filter(997, 5);
		check_filter(2, 0);
		check_groups();
		check_any_order();
		check_hash(1, false);
		check_hash(1500, false);
		check_hash(97, true);
	}
	engine = NULL;
	check_hash_memory();
	check_order_needed();
	check_numbers();
	check_errors();
	check_memory();
	check_simulated();
	check_simulated_cache();
	check_faults();
	unlink(path);
	return done();
}
