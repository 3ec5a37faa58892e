/* SPDX-License-Identifier: MIT */
/*
 * Commands that compare layouts: explain and compare.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "xtable.h"

/* the first bytes of a table */
#define MAGIC "SPTABLE\n"
#define FULL_READS_MAX 1e15 /* printed as a number */

static void print_figure(int width, int digits, double figure)
{
	if (isfinite(figure))
		printf(" %*.*f", width, digits, figure);
	else
		printf(" %*s", width, "-");
}

static void print_heading(bool measured)
{
	printf("%-18s %9s %6s %10s %10s %10s %11s%s\n", "", "size", "fill", "requests", "seeks",
	       "read, MB", "predicted", measured ? "    measured" : "");
	printf("%-18s %9s %6s %10s %10s %10s %11s%s\n", "", "MB", "%", "", "", "", "ms",
	       measured ? "          ms" : "");
}

static void print_candidate(const struct sp_table_candidate *c, const char *role,
			    const struct sp_table_cost *cost, bool measured)
{
	printf("%-6s %-3s %-7s", role, sp_table_layout_name((int)c->layout),
	       c->placement ? sp_placement_name((int)c->placement) : "");
	if (c->code) {
		printf(" - %s\n", c->reason);
		return;
	}
	print_figure(9, 1, (double)c->bytes / 1e6);
	print_figure(6, 1, 100 * c->fill);
	print_figure(10, 1, cost->requests);
	print_figure(10, 1, cost->seeks);
	print_figure(10, 3, cost->bytes / 1e6);
	print_figure(11, 3, 1e3 * cost->predicted_s);
	if (measured)
		print_figure(11, 3, 1e3 * cost->measured_s);
	if (c->together)
		printf("  together %s", quote_plain(c->together));
	putchar('\n');
}

/* Prints the costs of a query on each layout, or of all queries. */
static void print_costs(const struct sp_table_comparison *c, const struct sp_table_candidate *t,
			size_t query, bool sum, bool measured)
{
	const struct sp_table_candidate *stored = &c->stored, *semiseq = &c->semiseq;

	for (unsigned i = 0; i < SP_TABLE_CANDIDATES; i++) {
		const struct sp_table_cost *cost =
			sum || t[i].code ? &t[i].sum : &t[i].costs[query];

		if (i == SP_TABLE_AUTO && (semiseq->costs || semiseq->code))
			print_candidate(semiseq, "",
					sum || semiseq->code ? &semiseq->sum
							     : &semiseq->costs[query],
					measured);
		print_candidate(&t[i], i == SP_TABLE_AUTO ? "auto" : "", cost, measured);
	}
	if (stored->costs)
		print_candidate(stored, "stored", sum ? &stored->sum : &stored->costs[query],
				measured);
}

/* Says for how many reads of full records a layout loses against NSM. */
static void print_limit(const struct sp_table_candidate *t)
{
	if (!t->code && t->full_reads < FULL_READS_MAX)
		printf("%s%s: more than %.0f full records read per scan take longer than with "
		       "nsm\n",
		       sp_table_layout_name((int)t->layout),
		       t->placement == SP_PLACE_SEMISEQ ? " semiseq" : "", floor(t->full_reads));
}

static void print_comparison(const struct sp_table_comparison *c, bool measured)
{
	printf("%" PRIu64 " records\n", c->records);
	for (size_t q = 0; q < c->nqueries; q++) {
		printf("\n%s:\n", quote_plain(c->queries[q]));
		print_heading(measured);
		print_costs(c, c->candidates, q, false, measured);
	}
	if (c->nqueries > 1) {
		printf("\nall queries, each times its weight:\n");
		print_heading(measured);
		print_costs(c, c->candidates, 0, true, measured);
	}
	putchar('\n');
	for (unsigned i = 0; i < SP_TABLE_AUTO; i++)
		print_limit(&c->candidates[i]);
	if (c->semiseq.costs)
		print_limit(&c->semiseq);
}

/* True if the operand is a table, and not a file of text. */
static bool is_table(const struct config *c)
{
	const char *path = c->operands.text[0];
	char begin[sizeof(MAGIC)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, begin, sizeof(MAGIC) - 1) < 0)
		die_sys(errno, "%s", quote_file(path));
	close(fd);
	return !strcmp(begin, MAGIC);
}

static int compare(struct config *c, struct sp_table_comparison *to, struct sp_errinfo *err)
{
	const char *const *input = (const char *const *)c->operands.text;

	if (c->compare.measure_stored && (!c->operands.n || !is_table(c)))
		die("--run needs a table, not only a schema");
	if (!c->operands.n)
		return sp_table_compare_schema(c->load.schema, c->records, &c->compare, to, err);
	if (!is_table(c))
		return sp_table_compare_input(input, 1, &c->load, &c->compare, to, err);
	open_table(c, false, false);
	return sp_table_compare(c->table, &c->compare, to, err);
}

static int judge(struct config *c, const char *command, bool measure)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison comparison;
	int rc;

	c->compare.measure = measure;
	if (!c->common.geometry)
		c->compare.run.geometry = NULL; /* the simulated device has its own */
	rc = compare(c, &comparison, &err);
	if (rc)
		die_of(rc, &err);
	print_comparison(&comparison, measure || c->compare.measure_stored);
	if (c->common.stats)
		statsfile_finish(&c->stats,
				 sp_report_table_comparison(
					 command, c->run.volume ? c->run.volume : c->info.volume,
					 &comparison));
	sp_table_comparison_free(&comparison);
	if (c->table)
		close_table(c);
	return 0;
}

int command_explain(struct config *c)
{
	return judge(c, "explain", false);
}

int command_compare(struct config *c)
{
	return judge(c, "compare", true);
}
