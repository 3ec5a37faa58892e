/* SPDX-License-Identifier: MIT */
/*
 * Writes the table of a result, a line for each query, selectivity and system, and draws it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <spindle/report.h>
#include "dbmbench.h"
#include "gnuplot.h"

/*
 * Draws results against selectivity: for each query the time and, if they were counted,
 * instructions, cycles per instruction and misses.
 */

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

#define COLUMNS 12
#define TEXT 96
#define NOISE 0.05 /* deviation that is marked */

struct line {
	char cells[COLUMNS][TEXT];
};

static const char *const titles[COLUMNS] = {
	"query", "chosen",    "system",	  "ms per query", "+-",	    "ratio",
	"+-",	 "processor", "read, MB", "memory, MB",	  "instr.", "remarks",
};

static const char *const names[COLUMNS] = {
	"query",	"true_selectivity", "system", "query_s",    "half_interval_s",
	"ratio",	"ratio_half",	    "cpu_s",  "read_bytes", "peak_bytes",
	"instructions", "remarks",
};

/* Writes a number in a unit of people, or "-" if it is unknown; CSV: as it is, or nothing. */
static void put(char *cell, bool csv, double value, double unit, int digits, const char *suffix)
{
	if (!isfinite(value))
		strcpy(cell, csv ? "" : "-");
	else if (csv)
		snprintf(cell, TEXT, "%.9g", value);
	else
		snprintf(cell, TEXT, "%.*g%s", digits, value * unit, suffix);
}

static const struct sp_dbm_system *system_of(const struct sp_dbm_result *r, size_t cell)
{
	return &r->systems[cell % r->nsystems];
}

static void put_remarks(char *cell, const struct sp_dbm_result *r, size_t i)
{
	const struct sp_dbm_cell *c = &r->cells[i];
	const struct sp_dbm_system *s = system_of(r, i);

	*cell = 0;
	if (!s->version)
		snprintf(cell, TEXT, "absent: %s", quote_plain(s->failure));
	else if (s->failure && !c->units)
		snprintf(cell, TEXT, "failed: %s", quote_plain(s->failure));
	else if (c->plan_lacks)
		snprintf(cell, TEXT, "its plan lacks %s", c->plan_lacks);
	else if (c->deviation > NOISE)
		snprintf(cell, TEXT, "unsteady: deviation %.0f %%", 100 * c->deviation);
}

static void make_line(struct line *l, const struct sp_dbm_result *r, size_t i, bool csv)
{
	const struct sp_dbm_cell *c = &r->cells[i];
	const struct sp_dbm_usage *u = &c->usage;
	const double read = c->units ? (double)u->read_bytes : NAN;
	const double peak = c->units ? (double)u->peak_bytes : NAN;

	snprintf(l->cells[0], TEXT, "%s", sp_dbm_query_name(c->query));
	put(l->cells[1], csv, c->true_selectivity, 100, 3, " %");
	snprintf(l->cells[2], TEXT, "%s", quote_plain(c->system));
	put(l->cells[3], csv, c->query_s.value, 1e3, 4, "");
	put(l->cells[4], csv, c->query_s.high - c->query_s.value, 1e3, 2, "");
	put(l->cells[5], csv, c->ratio.value, 1, 3, "");
	put(l->cells[6], csv, c->ratio.high - c->ratio.value, 1, 2, "");
	put(l->cells[7], csv, u->user_s + u->system_s, 1, 3, " s");
	put(l->cells[8], csv, read, 1e-6, 3, "");
	put(l->cells[9], csv, peak, 1e-6, 3, "");
	put(l->cells[10], csv, c->events[SP_DBM_INSTRUCTIONS], 1, 3, "");
	put_remarks(l->cells[11], r, i);
}

/* Writes a text as a field of CSV. */
static void csv_field(FILE *out, const char *text)
{
	const bool quoted = strpbrk(text, ",\"\n") != NULL;

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static void write_line(FILE *out, enum table_style style, const struct line *l, const size_t *width)
{
	for (int k = 0; k < COLUMNS; k++) {
		const bool left = k == 0 || k == 2 || k == COLUMNS - 1;

		if (style == TABLE_CSV) {
			fputs(k ? "," : "", out);
			csv_field(out, l->cells[k]);
		} else if (style == TABLE_MARKDOWN) {
			fprintf(out, "%s%s", k ? " | " : "| ", l->cells[k]);
		} else if (k < COLUMNS - 1) {
			fprintf(out, "%s%*s", k ? "  " : "", left ? -(int)width[k] : (int)width[k],
				l->cells[k]);
		} else if (*l->cells[k]) {
			fprintf(out, "  %s", l->cells[k]);
		}
	}
	fputs(style == TABLE_MARKDOWN ? " |\n" : "\n", out);
}

static void write_head(FILE *out, enum table_style style, const size_t *width)
{
	struct line head;

	for (int k = 0; k < COLUMNS; k++)
		strcpy(head.cells[k], (style == TABLE_CSV ? names : titles)[k]);
	write_line(out, style, &head, width);
	if (style != TABLE_MARKDOWN)
		return;
	for (int k = 0; k < COLUMNS; k++)
		fputs(k == 0 || k == 2 || k == COLUMNS - 1 ? "|---" : "|--:", out);
	fputs("|\n", out);
}

void table_write(FILE *out, enum table_style style, const struct sp_dbm_result *r)
{
	size_t width[COLUMNS];
	struct line l;

	for (int k = 0; k < COLUMNS; k++)
		width[k] = strlen(titles[k]);
	for (size_t i = 0; i < r->ncells; i++) {
		make_line(&l, r, i, style == TABLE_CSV);
		for (int k = 0; k < COLUMNS; k++)
			width[k] = strlen(l.cells[k]) > width[k] ? strlen(l.cells[k]) : width[k];
	}
	write_head(out, style, width);
	for (size_t i = 0; i < r->ncells; i++) {
		make_line(&l, r, i, style == TABLE_CSV);
		write_line(out, style, &l, width);
	}
}
