/* SPDX-License-Identifier: MIT */
/*
 * Draws a probe: data as here-documents, then one script for gnuplot.
 *
 * A rotating device has four plots: media rate along the device, seek curve, D(W), skews of the
 * first tracks.  Any other device has two: rate by depth, rate by size.
 */
#include <string.h>
#include "gnuplot.h"
#include "diskprobe.h"

static const char tracks_script[] =
	"set title 'Media rate, track switches included'\n"
	"set xlabel 'position, GB'\n"
	"set ylabel 'MB/s'\n"
	"set yrange [0:*]\n"
	"unset key\n"
	"plot $zones using 1:2 with steps ls 1\n"
	"set title 'From issue to the first block that can be reached'\n"
	"set xlabel dist\n"
	"set ylabel 'ms'\n"
	"set logscale x\n"
	"set key\n"
	"plot $seeks using ($1 > 0 ? $1 : 1/0):2 with linespoints ls 1 title 'read', \\\n"
	"     $seeks using ($1 > 0 ? $1 : 1/0):3 with linespoints ls 2 title writes, \\\n"
	"     $seeks using ($1 > 0 && $4 > 0 ? $1 : 1/0):4 with points ls 3 title 'queued'\n"
	"unset logscale x\n"
	"set title 'D(W): tracks within reach of an aim'\n"
	"set xlabel 'W, degrees'\n"
	"set ylabel 'tracks'\n"
	"set logscale y\n"
	"set yrange [1:*]\n"
	"plot $reach using 1:($2 > 0 ? $2 : 1/0) with steps ls 1 title 'read', \\\n"
	"     $reach using 1:($3 > 0 ? $3 : 1/0) with steps ls 2 title writes\n"
	"unset logscale y\n"
	"set title 'Skew from each of the first tracks to the next'\n"
	"set xlabel 'track'\n"
	"set ylabel 'degrees'\n"
	"set yrange [0:*]\n"
	"unset key\n"
	"plot $skews using 1:2 with points ls 1\n";

static const char rates_script[] = "set title 'Random reads of one size'\n"
				   "set xlabel 'outstanding requests'\n"
				   "set ylabel 'requests per second'\n"
				   "set logscale x 2\n"
				   "set yrange [0:*]\n"
				   "unset key\n"
				   "plot $depths using 1:2 with linespoints ls 1 title 'rate'\n"
				   "set title 'One request at a time'\n"
				   "set xlabel 'KiB per request'\n"
				   "set ylabel 'MB/s'\n"
				   "plot $sizes using 1:2 with linespoints ls 2 title 'rate'\n";

/* Writes the rate of each zone from its beginning to its end. */
static void put_zones(FILE *f, const struct sp_probe_result *r)
{
	const double gb = (double)r->block_bytes / 1e9;
	const struct sp_probe_zone *last = NULL;

	fprintf(f, "$zones << EOD\n");
	for (size_t i = 0; i < r->nzones; i++) {
		const struct sp_probe_zone *z = &r->zones[i];

		if (!(z->mb_s > 0))
			continue;
		fprintf(f, "%.9g %.6g\n", (double)z->first * gb, z->mb_s);
		last = z;
	}
	if (last)
		fprintf(f, "%.9g %.6g\n", (double)(last->first + last->blocks) * gb, last->mb_s);
	fprintf(f, "EOD\n");
}

static void put_seeks(FILE *f, const struct sp_probe_result *r)
{
	fprintf(f, "$seeks << EOD\n");
	for (size_t i = 0; i < r->nseeks; i++)
		fprintf(f, "%llu %.6g %.6g %.6g\n", (unsigned long long)r->seeks[i].cylinders,
			r->seeks[i].read_ns / 1e6, r->seeks[i].write_ns / 1e6,
			r->seeks[i].queued_ns / 1e6);
	fprintf(f, "EOD\n");
}

static void put_reach(FILE *f, const struct sp_geometry *g)
{
	uint64_t read = 0, write = 0, last = 0;
	unsigned changed = 360;

	fprintf(f, "$reach << EOD\n");
	/* up to 30 degrees after the last change */
	for (unsigned w = 1; w <= 720 && w < changed + 30; w++) {
		if (sp_geometry_reach(g, SP_GEOMETRY_READ, w, &read) ||
		    sp_geometry_reach(g, SP_GEOMETRY_WRITE, w, &write))
			break;
		if (read + write != last)
			changed = w;
		last = read + write;
		fprintf(f, "%u %llu %llu\n", w, (unsigned long long)read,
			(unsigned long long)write);
	}
	fprintf(f, "EOD\n");
}

static void put_tracks(FILE *f, const struct sp_probe_result *r, const struct sp_geometry *g)
{
	put_zones(f, r);
	put_seeks(f, r);
	put_reach(f, g);
	fprintf(f, "$skews << EOD\n");
	for (size_t i = 0; i < r->nskews; i++)
		fprintf(f, "%zu %.6g\n", i, r->skews_deg[i]);
	fprintf(f, "EOD\n");
	fprintf(f, "dist = 'distance, %s'\n", r->layout ? "cylinders" : "tracks");
	fprintf(f, "writes = '%s'\n", r->write_estimated ? "write, estimated" : "write");
	fputs(tracks_script, f);
}

static void put_rates(FILE *f, const struct sp_probe_result *r)
{
	size_t i = 0;

	/* depths come first, in ascending order; then sizes at depth 1 */
	fprintf(f, "$depths << EOD\n");
	for (;
	     i < r->load.nrates && (i == 0 || r->load.rates[i].depth > r->load.rates[i - 1].depth);
	     i++)
		fprintf(f, "%u %.6g\n", r->load.rates[i].depth, r->load.rates[i].requests_s);
	fprintf(f, "EOD\n$sizes << EOD\n");
	for (; i < r->load.nrates; i++)
		fprintf(f, "%.6g %.6g\n", r->load.rates[i].bytes / 1024.0, r->load.rates[i].mb_s);
	fprintf(f, "EOD\n");
	fputs(rates_script, f);
}

void plot(const char *file, const struct sp_probe *probe)
{
	const struct sp_probe_result *r = sp_probe_result(probe);
	const struct sp_geometry *g = sp_probe_geometry(probe);
	bool tracks = r->verdict == SP_PROBE_ROTATING && r->nzones && g;
	struct gnuplot plot;

	if (!tracks && !r->load.nrates) {
		msg("%s: there are no results to draw", quote_file(file));
		return;
	}
	gnuplot_open(&plot, file, r->device,
		     (struct gnuplot_layout){ tracks ? 2 : 1, 2, 1200, tracks ? 900 : 450 });
	if (tracks)
		put_tracks(plot.in, r, g);
	else
		put_rates(plot.in, r);
	gnuplot_close(&plot, file);
}
