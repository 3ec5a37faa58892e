/* SPDX-License-Identifier: MIT */
/*
 * Draws results against selectivity: for each query the time and, if they were counted,
 * instructions, cycles per instruction and misses.
 */
#include <math.h>
#include <stdio.h>
#include "gnuplot.h"
#include "dbmbench.h"

#define WIDTH 480
#define HEIGHT 420

struct panel {
	const char *title, *unit;
	double (*value)(const struct sp_dbm_cell *c);
};

static double time_of(const struct sp_dbm_cell *c)
{
	return c->query_s.value * 1e3;
}

static double instructions_of(const struct sp_dbm_cell *c)
{
	return c->instructions_per_row;
}

static double cpi_of(const struct sp_dbm_cell *c)
{
	return c->cpi;
}

static double branches_of(const struct sp_dbm_cell *c)
{
	return c->misses[SP_DBM_BRANCH_MISSES];
}

static double llc_of(const struct sp_dbm_cell *c)
{
	return c->misses[SP_DBM_LLC_MISSES];
}

static const struct panel panels[] = {
	{ "time of a query", "ms", time_of },
	{ "instructions per record of T1", "", instructions_of },
	{ "cycles per instruction", "", cpi_of },
	{ "mispredicted branches", "per 1000 instructions", branches_of },
	{ "misses of the last-level cache", "per 1000 instructions", llc_of },
};

#define PANELS (sizeof(panels) / sizeof(*panels))

static bool has(const struct sp_dbm_result *r, enum sp_dbm_query query, const struct panel *p)
{
	for (size_t i = 0; i < r->ncells; i++)
		if (r->cells[i].query == query && isfinite(p->value(&r->cells[i])))
			return true;
	return false;
}

static bool any(const struct sp_dbm_result *r, const struct panel *p)
{
	return has(r, SP_DBM_USS, p) || has(r, SP_DBM_UNJ, p) || has(r, SP_DBM_UIDX, p);
}

static void write_series(FILE *in, const struct sp_dbm_result *r, enum sp_dbm_query query,
			 const struct panel *p, size_t system, struct gnuplot_range range[2])
{
	fprintf(in, "$s%zu << EOD\n", system);
	for (size_t i = system; i < r->ncells; i += r->nsystems) {
		double x = 100 * r->cells[i].true_selectivity, y = p->value(&r->cells[i]);

		if (r->cells[i].query != query || !isfinite(y))
			continue;
		fprintf(in, "%.9g %.9g\n", x, y);
		gnuplot_range_add(&range[0], x);
		gnuplot_range_add(&range[1], y);
	}
	fputs("EOD\n", in);
}

static void draw(struct gnuplot *g, const struct sp_dbm_result *r, enum sp_dbm_query query,
		 const struct panel *p)
{
	static const char *const about[] = { "uSS: distinct a3 of a scan", "uNJ: mean of a join",
					     "uIDX: mean by an index" };
	struct gnuplot_range range[2] = { 0 };
	const char *word = "plot";

	if (!has(r, query, p)) {
		fputs("set multiplot next\n", g->in);
		return;
	}
	for (size_t s = 0; s < r->nsystems; s++) {
		char name[32];

		write_series(g->in, r, query, p, s, range);
		snprintf(name, sizeof(name), "n%zu", s);
		gnuplot_string(g, name, r->systems[s].name);
	}
	fprintf(g->in,
		"set title \"%s\\n%s%s%s\"\n"
		"set xlabel 'selected records, %%'\n"
		"set format '%%g'\n",
		about[query], p->title, *p->unit ? ", " : "", p->unit);
	gnuplot_decades(g, 'x', &range[0]);
	gnuplot_decades(g, 'y', &range[1]);
	for (size_t s = 0; s < r->nsystems; s++) {
		bool drawn = false;

		for (size_t i = s; i < r->ncells; i += r->nsystems)
			drawn |= r->cells[i].query == query && isfinite(p->value(&r->cells[i]));
		if (!drawn)
			continue;
		fprintf(g->in,
			"%s $s%zu using 1:2 with linespoints lc %zu lw 2 pt %zu ps 0.6 "
			"title n%zu noenhanced",
			word, s, s + 1, s + 4, s);
		word = ",";
	}
	fputc('\n', g->in);
}

void plot_result(const char *file, const struct sp_dbm_result *r)
{
	struct gnuplot_layout layout = { 0 };
	struct gnuplot g;
	bool queries[SP_DBM_QUERIES] = { false };

	for (size_t i = 0; i < r->ncells; i++)
		queries[r->cells[i].query] = true;
	for (int q = 0; q < SP_DBM_QUERIES; q++)
		layout.columns += queries[q];
	for (size_t i = 0; i < PANELS; i++)
		layout.rows += i == 0 || any(r, &panels[i]);
	layout.width = WIDTH * layout.columns;
	layout.height = HEIGHT * layout.rows;
	gnuplot_open(&g, file, "DBmbench", layout);
	for (size_t i = 0; i < PANELS; i++)
		for (int q = 0; q < SP_DBM_QUERIES; q++)
			if (queries[q] && (i == 0 || any(r, &panels[i])))
				draw(&g, r, (enum sp_dbm_query)q, &panels[i]);
	gnuplot_close(&g, file);
}
