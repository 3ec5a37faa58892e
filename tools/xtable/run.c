/* SPDX-License-Identifier: MIT */
/*
 * The command run: clients on tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "signals.h"
#include "xtable.h"

#define NAMED_MAX 10 /* clients that starved */

static void print_latencies(const struct sp_table_latencies *l)
{
	printf("%10" PRIu64 " %11.3f", l->transactions, l->per_s);
	if (l->transactions)
		printf(" %10.3f %10.3f %10.3f %10.3f", l->mean_ns * 1e-6, (double)l->p50_ns * 1e-6,
		       (double)l->p99_ns * 1e-6, (double)l->max_ns * 1e-6);
	else
		printf(" %10s %10s %10s %10s", "-", "-", "-", "-");
}

static void print_kind(const struct sp_table_run_kind *k)
{
	printf("\n%u clients:\n%10s %11s %10s %10s %10s %10s\n", k->clients, "ended", "per second",
	       "mean, ms", "median", "99 %", "longest");
	for (size_t i = 0; i < k->nlines; i++) {
		print_latencies(&k->lines[i].latencies);
		printf("  %s\n", quote_plain(k->lines[i].text));
	}
	if (k->nlines > 1) {
		print_latencies(&k->latencies);
		printf("  all\n");
	}
}

static void print_run(const struct sp_table_run_result *r)
{
	printf("%.3f s%s measured, %" PRIu64 " requests of %.3f MB\n", r->measured_s,
	       r->stopped ? " (stopped early)" : "", r->requests, (double)r->request_bytes / 1e6);
	for (size_t i = 0; i < r->nkinds; i++)
		print_kind(&r->kinds[i]);
}

/* Names the clients that ended no transaction.  Returns their number. */
static size_t name_starved(const struct sp_table_run_result *r)
{
	size_t all = 0;

	for (size_t i = 0; i < r->nkinds; i++) {
		const struct sp_table_run_kind *k = &r->kinds[i];

		for (size_t j = 0; j < k->nstarved && all + j < NAMED_MAX; j++)
			msg("client %u of kind %zu completed no transaction", k->starved[j] + 1,
			    i + 1);
		all += k->nstarved;
	}
	if (all > NAMED_MAX)
		msg("%zu further clients completed no transaction", all - NAMED_MAX);
	return all;
}

static int print_json(const struct sp_report *report)
{
	return report ? sp_report_json(report, stdout) : -ENOMEM;
}

int command_run(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_run_result result;
	struct sp_report *report;
	size_t starved;
	int rc;

	if (c->json)
		report_need();
	open_pool(c, c->operands.n);
	c->clients.run = c->run;
	c->clients.pool = c->pool;
	c->clients.dsm_join = c->dsm_join;
	if (c->clients.changed_bytes && c->pool && !c->changed_given)
		c->clients.changed_bytes = c->pool_opts.bytes;
	c->clients.stop = &interrupted;
	signals_interrupt();
	rc = sp_table_run((const char *const *)c->operands.text, c->operands.n, &c->clients,
			  &result, &err);
	if (rc)
		die_of(rc, &err);
	report = sp_report_table_run(&c->clients, &result);
	if (c->json)
		check_printed(print_json(report), NULL);
	else
		print_run(&result);
	say_no_effects(&result.stats.run.no_effects);
	if (result.stopped)
		msg("stopped after %.3f s of the measurement", result.measured_s);
	starved = name_starved(&result);
	if (c->common.stats)
		statsfile_finish(&c->stats, report);
	else
		sp_report_free(report);
	sp_table_run_free(&result);
	sp_pool_close(c->pool);
	return starved ? NEGATIVE : 0;
}
