/* SPDX-License-Identifier: MIT */
/*
 * Draws the times of each query under each mapping.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "gnuplot.h"
#include "mmap-cube.h"

/* Fills of different brightness, so that a grey picture shows them; the last one is hatched. */
static const char *const fills[SP_CUBE_CANDIDATES] = {
	"solid 1 border rgb '#000000' lc rgb '#203864'",
	"solid 1 border rgb '#000000' lc rgb '#a8501c'",
	"solid 1 border rgb '#000000' lc rgb '#5f9ea0'",
	"solid 1 border rgb '#000000' lc rgb '#e6b85c'",
	"solid 1 border rgb '#000000' lc rgb '#e4ebf2'",
	"pattern 4 border rgb '#000000' lc rgb '#000000'",
};

/* Writes "beam K" or "range SxS...", as --query has it. */
static void print_query(FILE *to, const struct sp_cube_query *q, const struct sp_cube_shape *s)
{
	unsigned beams = 0, dim = 0;

	for (unsigned i = 0; i < s->ndims; i++)
		if (!q->size[i]) {
			dim = i;
			beams++;
		}
	if (beams == 1) {
		fprintf(to, "beam %u", dim);
		return;
	}
	for (unsigned i = 0; i < s->ndims; i++)
		fprintf(to, "%s%" PRIu64, i ? "x" : "range ", q->size[i]);
}

/* Writes the milliseconds of a row, measured and then predicted; NaN: there is no bar. */
static void print_row(FILE *to, const struct sp_cube_candidate *c)
{
	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++)
		fprintf(to, " %.9g", c[i].code ? NAN : 1e3 * c[i].measured_s);
	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++)
		fprintf(to, " %.9g", c[i].code ? NAN : 1e3 * c[i].predicted_s);
	fputc('\n', to);
}

/*
 * Writes a plot of the columns from `column` on, of the mappings that are possible, and drops the
 * title for the next one.
 */
static void print_plot(const struct gnuplot *g, const char *title, unsigned column,
		       const struct sp_cube_candidate *c, const char *last)
{
	const char *before = "plot";

	fprintf(g->in, "set ylabel '%s, ms per query'\n", title);
	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++) {
		if (c[i].code)
			continue;
		fprintf(g->in, "%s $data using %u:xtic(1) title '%s%s%s' noenhanced fs %s", before,
			column + i, i == SP_CUBE_CANDIDATES - 1 ? last : "",
			i == SP_CUBE_CANDIDATES - 1 ? ": " : "",
			sp_cube_mapping_name((int)c[i].mapping), fills[i]);
		before = ",";
	}
	fputs("\nunset title\n", g->in);
}

void plot_queries(const struct config *c, bool measured, const char *what,
		  const struct sp_cube_candidate *all,
		  const struct sp_cube_candidate (*each)[SP_CUBE_CANDIDATES], const char *last)
{
	const struct sp_cube_workload *w = &c->workload;
	struct gnuplot g;

	gnuplot_open(&g, c->plot, c->operands.text[0],
		     (struct gnuplot_layout){ 1 + measured, 1, 900, measured ? 900 : 500 });
	gnuplot_string(&g, "what", what);
	fputs("$data << EOD\n", g.in);
	for (size_t i = 0; i < w->n; i++) {
		fputc('"', g.in);
		print_query(g.in, &w->queries[i], &c->info.shape);
		fputc('"', g.in);
		print_row(g.in, each[i]);
	}
	if (w->n > 1) {
		fputs("mean", g.in);
		print_row(g.in, all);
	}
	fputs("EOD\n"
	      "set title what noenhanced font ',10'\n"
	      "set style data histogram\n"
	      "set style histogram clustered gap 1\n"
	      "set boxwidth 0.9\n"
	      "set xtics scale 0 noenhanced\n"
	      "set yrange [0:*]\n"
	      "set grid ytics\n",
	      g.in);
	if (measured)
		print_plot(&g, "measured", 2, all, last);
	print_plot(&g, "predicted", 2 + SP_CUBE_CANDIDATES, all, last);
	gnuplot_close(&g, c->plot);
}
