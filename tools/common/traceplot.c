/* SPDX-License-Identifier: MIT */
/*
 * Draws traces of block requests.
 *
 * Algorithm: a point is at the time and position at which a request begins.  If a plot has more
 * than POINTS requests, it is a grid of cells as large as a small point, and one request stands for
 * all that begin in its cell.  In cells that have reads and writes, both kinds alternate as on a
 * chessboard, so that neither hides the other.  Outstanding requests are counted from the sorted
 * times of submission and completion, as mean and maximum of each slice of the time.
 *
 * Memory: 16 bytes per request next to the sequence; the picture's data is bounded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gnuplot.h"
#include "msg.h"
#include "traceplot.h"

#define COLUMNS 300 /* cells along the time axis */
#define ROWS 50	    /* cells along the position axis */
#define POINTS 5000 /* requests of a plot that are all drawn */
#define SLICES 1000 /* slices of the time axis, for outstanding requests */
#define PANELS 6    /* plots of positions; the last one can be of several volumes */

/* Bits of a cell: kinds of requests in it, and that one of them is drawn. */
enum { READS = 1, WRITES = 2, DRAWN = 4 };

struct panel {
	const char *name;   /* name of the volume */
	size_t volumes;	    /* more than 1: volumes that share the last panel */
	uint64_t low, high; /* range of the axis, bytes */
	uint64_t requests[2];
};

struct drawing {
	const struct sp_sequence *seq;
	struct gnuplot g;
	struct panel panels[PANELS];
	size_t npanels, n; /* requests that moved data */
	uint8_t *panel_of; /* for each volume */
	int64_t begin_ns, end_ns;
	double ns_per_unit; /* nanoseconds per unit of the time axis */
	const char *unit;
	uint8_t cells[COLUMNS][ROWS];
};

struct slice {
	double mean;
	size_t max;
};

struct volume {
	size_t number;
	uint64_t requests;
};

static int by_requests(const void *pa, const void *pb)
{
	const struct volume *a = pa, *b = pb;

	if (a->requests != b->requests)
		return a->requests < b->requests ? 1 : -1;
	return a->number < b->number ? -1 : 1;
}

/* Gives each volume a panel; if there are too many, those with the fewest requests share one. */
static void choose_panels(struct drawing *d)
{
	struct sp_sequence_counts counts;
	struct sp_sequence_stats stats;
	struct volume *volumes;
	const char *name;
	size_t n = 0;

	sp_sequence_stats(d->seq, &stats);
	volumes = must_alloc(NULL, stats.volumes, sizeof(*volumes));
	d->panel_of = must_alloc(NULL, stats.volumes, sizeof(*d->panel_of));
	for (size_t i = 0; !sp_sequence_volume(d->seq, i, &name, &counts); i++)
		if (counts.read_requests || counts.write_requests)
			volumes[n++] = (struct volume){ i, counts.requests };
	if (n > PANELS)
		qsort(volumes, n, sizeof(*volumes), by_requests);
	d->npanels = n < PANELS ? n : PANELS;
	for (size_t i = 0; i < n; i++) {
		size_t at = i < PANELS ? i : PANELS - 1;
		struct panel *p = &d->panels[at];

		(void)!sp_sequence_volume(d->seq, volumes[i].number, &p->name, &counts);
		d->panel_of[volumes[i].number] = (uint8_t)at;
		p->volumes++;
		p->low = UINT64_MAX;
	}
	free(volumes);
}

/* Finds the ranges of the axes. */
static void measure(struct drawing *d)
{
	struct sp_sequence_request r;

	for (d->n = 0; !sp_sequence_at(d->seq, d->n, &r); d->n++) {
		struct panel *p = &d->panels[d->panel_of[r.number]];

		p->low = r.offset < p->low ? r.offset : p->low;
		p->high = r.offset + r.bytes > p->high ? r.offset + r.bytes : p->high;
		p->requests[r.write]++;
		d->begin_ns = r.submit_ns < d->begin_ns ? r.submit_ns : d->begin_ns;
		d->end_ns = r.done_ns > d->end_ns ? r.done_ns : d->end_ns;
	}
	for (size_t i = 0; i < d->npanels; i++)
		if (d->panels[i].low < d->panels[i].high / 2)
			d->panels[i].low = 0;
	d->end_ns += d->end_ns == d->begin_ns;
}

/* Chooses the unit of the time axis. */
static void choose_unit(struct drawing *d)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
	size_t i = 0;

	while (i < 3 && (double)(d->end_ns - d->begin_ns) < 2 * units[i].ns)
		i++;
	d->ns_per_unit = units[i].ns;
	d->unit = units[i].name;
}

/* Returns bytes per unit of an axis of positions. */
static double position_unit(const struct panel *p, const char **name)
{
	static const char names[][6] = { "bytes", "KB", "MB", "GB", "TB" };
	double unit = 1;
	size_t i = 0;

	for (; i < 4 && (double)(p->high - p->low) >= 2000 * unit; i++)
		unit *= 1000;
	*name = names[i];
	return unit;
}

/* Returns the number of the part that contains at, of parts equal ones of the range. */
static size_t part_of(double at, double range, size_t parts)
{
	size_t part = (size_t)(at / range * (double)parts);

	return part < parts ? part : parts - 1;
}

static bool next_of_panel(const struct drawing *d, size_t panel, size_t *i,
			  struct sp_sequence_request *r)
{
	while (!sp_sequence_at(d->seq, (*i)++, r))
		if (d->panel_of[r->number] == panel)
			return true;
	return false;
}

static uint8_t *cell_of(struct drawing *d, const struct sp_sequence_request *r, bool *odd)
{
	const struct panel *p = &d->panels[d->panel_of[r->number]];
	size_t column = part_of((double)(r->submit_ns - d->begin_ns),
				(double)(d->end_ns - d->begin_ns), COLUMNS);
	size_t row = part_of((double)(r->offset - p->low), (double)(p->high - p->low), ROWS);

	*odd = (column + row) % 2;
	return &d->cells[column][row];
}

/* Notes the kinds of requests in each cell. */
static void fill_cells(struct drawing *d, size_t panel)
{
	struct sp_sequence_request r;
	bool odd;

	memset(d->cells, 0, sizeof(d->cells));
	for (size_t i = 0; next_of_panel(d, panel, &i, &r);)
		*cell_of(d, &r, &odd) |= r.write ? WRITES : READS;
}

/* True if the request stands for its cell. */
static bool take_cell(struct drawing *d, const struct sp_sequence_request *r)
{
	bool odd;
	uint8_t *cell = cell_of(d, r, &odd);

	if (*cell & DRAWN || (*cell == (READS | WRITES) && r->write != odd))
		return false;
	*cell |= DRAWN;
	return true;
}

/* True if all requests of the panel are drawn. */
static bool is_small(const struct panel *p)
{
	return p->requests[false] + p->requests[true] <= POINTS;
}

/* Writes the points of one kind; returns their number. */
static uint64_t put_points(struct drawing *d, size_t panel, bool write, double unit)
{
	bool all = is_small(&d->panels[panel]);
	struct sp_sequence_request r;
	uint64_t points = 0;

	fprintf(d->g.in, "$%s << EOD\n", write ? "writes" : "reads");
	for (size_t i = 0; next_of_panel(d, panel, &i, &r);) {
		if (r.write != write || !(all || take_cell(d, &r)))
			continue;
		points++;
		fprintf(d->g.in, "%.12g %.12g\n", (double)r.submit_ns / d->ns_per_unit,
			(double)r.offset / unit);
	}
	fputs("EOD\n", d->g.in);
	return points;
}

static void put_title(struct drawing *d, const struct panel *p, uint64_t points)
{
	const uint64_t *n = p->requests;
	char text[8192], name[64], in[64] = "";

	snprintf(name, sizeof(name), "%zu other volumes", p->volumes);
	if (points < n[false] + n[true])
		snprintf(in, sizeof(in), ", in %" PRIu64 " points", points);
	snprintf(text, sizeof(text), "%s: %" PRIu64 " read%s, %" PRIu64 " write%s%s",
		 p->volumes > 1 ? name : p->name, n[false], n[false] == 1 ? "" : "s", n[true],
		 n[true] == 1 ? "" : "s", in);
	gnuplot_string(&d->g, "what", text);
}

static void plot_panel(struct drawing *d, size_t panel)
{
	const struct panel *p = &d->panels[panel];
	const char *unit_name;
	double unit = position_unit(p, &unit_name);
	const double margin = (double)(p->high - p->low) / unit / 50;
	const bool few = is_small(p);
	uint64_t points;

	fill_cells(d, panel);
	points = put_points(d, panel, true, unit) + put_points(d, panel, false, unit);
	put_title(d, p, points);
	fprintf(d->g.in,
		"set title what noenhanced\n"
		"set ylabel 'position, %s'\n"
		"set yrange [%.12g:%.12g]\n"
		"plot ",
		unit_name, (double)p->low / unit - margin, (double)p->high / unit + margin);
	if (p->requests[true])
		fprintf(d->g.in, "$writes with points ls 2 %s title 'write'%s",
			few ? "pt 4 ps 0.6" : "ps 0.3", p->requests[false] ? ", " : "");
	if (p->requests[false])
		fprintf(d->g.in, "$reads with points ls 1 ps %g title 'read'", few ? 0.4 : 0.3);
	fputc('\n', d->g.in);
}

static int by_time(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

/* Adds n outstanding requests from one time to another, in slices since the beginning. */
static void add_level(struct slice *slices, double from, double to, size_t n)
{
	for (size_t i = (size_t)from; i < SLICES && (i == (size_t)from || (double)i < to); i++) {
		double begin = from > (double)i ? from : (double)i;
		double end = to < (double)i + 1 ? to : (double)i + 1;

		slices[i].mean += (double)n * (end - begin);
		slices[i].max = n > slices[i].max ? n : slices[i].max;
	}
}

/*
 * Counts the outstanding requests.  A request that ends when another is submitted is not
 * outstanding together with it.
 */
static void count_outstanding(const struct drawing *d, struct slice *slices)
{
	int64_t *submit = must_alloc(NULL, d->n, sizeof(*submit));
	int64_t *done = must_alloc(NULL, d->n, sizeof(*done));
	const double per_ns = SLICES / (double)(d->end_ns - d->begin_ns);
	struct sp_sequence_request r;
	double last = 0;
	size_t begun = 0;

	for (size_t i = 0; !sp_sequence_at(d->seq, i, &r); i++) {
		submit[i] = r.submit_ns;
		done[i] = r.done_ns;
	}
	qsort(submit, d->n, sizeof(*submit), by_time);
	qsort(done, d->n, sizeof(*done), by_time);
	for (size_t ended = 0; ended < d->n;) {
		size_t n = begun - ended;
		bool end = begun == d->n || (n && done[ended] <= submit[begun]);
		int64_t now_ns = end ? done[ended++] : submit[begun++];
		double now = (double)(now_ns - d->begin_ns) * per_ns;

		add_level(slices, last, now, n);
		last = now;
	}
	free(submit);
	free(done);
}

static void plot_outstanding(struct drawing *d)
{
	const double slice = (double)(d->end_ns - d->begin_ns) / SLICES;
	struct slice slices[SLICES + 1] = { 0 };

	count_outstanding(d, slices);
	fputs("$outstanding << EOD\n", d->g.in);
	for (size_t i = 0; i <= SLICES; i++)
		fprintf(d->g.in, "%.9g %zu %.6g\n",
			((double)d->begin_ns + (double)i * slice) / d->ns_per_unit, slices[i].max,
			slices[i].mean);
	fprintf(d->g.in,
		"EOD\n"
		"set title 'Outstanding requests, in each thousandth of the time'\n"
		"set xlabel 'time, %s'\n"
		"set ylabel 'requests'\n"
		"set yrange [0:*]\n"
		"plot $outstanding using 1:2 with fillsteps fs solid 1 noborder lc rgb '#c0d0e0' "
		"title 'maximum', \\\n"
		"     $outstanding using 1:3 with steps lw 1.5 lc rgb '#000000' title 'mean'\n",
		d->unit);
}

/* Opens the picture with a title that states how many requests are not drawn. */
static void open_picture(struct drawing *d, const char *file, const char *title)
{
	struct gnuplot_layout layout = { (int)d->npanels + 1, 1, 1200, 0 };
	struct sp_sequence_stats stats;
	char left[128] = "", *text;
	double margin;

	sp_sequence_stats(d->seq, &stats);
	if (stats.total.failed || stats.total.empty)
		snprintf(left, sizeof(left),
			 ", and %" PRIu64 " that failed or moved no bytes, which are not drawn",
			 stats.total.failed + stats.total.empty);
	if (asprintf(&text, "%s: %zu request%s%s", title, d->n, d->n == 1 ? "" : "s", left) < 0)
		die("memory exhausted");
	layout.height = 60 + layout.rows * (layout.rows > 3 ? 210 : 300);
	gnuplot_open(&d->g, file, text, layout);
	margin = (double)(d->end_ns - d->begin_ns) / d->ns_per_unit / 100;
	fprintf(d->g.in,
		"set lmargin 14\nset rmargin 16\nset key rmargin center vertical samplen 2\nset "
		"xrange [%.9g:%.9g]\nset format y '%%.12g'\n",
		(double)d->begin_ns / d->ns_per_unit - margin,
		(double)d->end_ns / d->ns_per_unit + margin);
	free(text);
}

void traceplot_draw(const char *file, const char *title, const struct sp_sequence *seq)
{
	struct drawing d = { .seq = seq };

	choose_panels(&d);
	measure(&d);
	choose_unit(&d);
	if (!d.n) {
		msg("%s: no requests to draw", quote_file(file));
	} else {
		open_picture(&d, file, title);
		for (size_t i = 0; i < d.npanels; i++)
			plot_panel(&d, i);
		plot_outstanding(&d);
		gnuplot_close(&d.g, file);
	}
	free(d.panel_of);
}
