/* SPDX-License-Identifier: MIT */
/*
 * Compares the cost of a workload under each mapping: predicted, measured, drawn.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include <spindle/probe.h>
#include "mmap-cube.h"

bool load_workload(struct config *c, const struct sp_cube_shape *shape)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = 0;

	if (c->workload_path)
		rc = sp_cube_workload_load(&c->workload, c->workload_path, shape, &err);
	for (unsigned i = 0; !rc && i < c->nqueries; i++)
		rc = sp_cube_workload_add(&c->workload, c->queries[i], shape, &err);
	if (rc)
		die_of(rc, &err);
	return c->workload.n;
}

struct sp_geometry *load_geometry(const struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = NULL;

	if (c->common.geometry && sp_geometry_load(&g, c->common.geometry, &err))
		die_of(err.code, &err);
	return g;
}

/* True if one or two blocks determine whether a revolution is lost; then two values are shown. */
static bool near_cliff(const struct sp_cube_candidate *c)
{
	return c->late_s > 1.05 * c->early_s;
}

static void print_figure(int width, int digits, double figure)
{
	if (isfinite(figure))
		printf("%*.*f ", width, digits, figure);
	else
		printf("%*s ", width, "-");
}

static void print_candidate(const struct sp_cube_candidate *c, unsigned n, bool measured,
			    const char *name)
{
	uint64_t order[SP_CUBE_DIMS_MAX];

	for (unsigned i = 0; i < n; i++)
		order[i] = c->order[i];
	printf("%-4s %-8s ", name, sp_cube_mapping_name((int)c->mapping));
	if (c->code) {
		printf("- %s\n", c->reason);
		return;
	}
	print_figure(10, 3, 1e3 * c->predicted_s);
	if (measured)
		print_figure(10, 3, 1e3 * c->measured_s);
	print_figure(9, 1, c->requests);
	print_figure(10, 1, c->bytes / 1e3);
	print_figure(6, 1, 100 * c->waste);
	putchar(' ');
	print_list(order, n, ",");
	if (c->basic[0]) {
		putchar(' ');
		print_list(c->basic, n, "x");
		printf(" %+g deg", c->conservatism_deg);
	}
	if (near_cliff(c))
		printf("; near a cliff: %.3f to %.3f ms", 1e3 * c->early_s, 1e3 * c->late_s);
	putchar('\n');
}

/* last: the name of the last candidate. */
static void print_all(const struct sp_cube_candidate *c, unsigned n, bool measured,
		      const char *last)
{
	printf("%-4s %-8s %10s %s%9s %10s %6s  %s\n", "", "mapping", "predicted",
	       measured ? "  measured " : "", "requests", "kB", "waste", "dimensions, basic cube");
	printf("%-4s %-8s %10s %s%9s %10s %6s\n", "", "", "ms", measured ? "        ms " : "", "",
	       "", "%");
	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++)
		print_candidate(&c[i], n, measured, i == SP_CUBE_CANDIDATES - 1 ? last : "");
}

/* Prints the times of the closed cost model, next to the predicted ones. */
static void print_closed(const struct sp_cube_candidate *c)
{
	unsigned printed = 0;

	for (unsigned i = 0; i < SP_CUBE_CANDIDATES; i++)
		if (isfinite(c[i].closed_s))
			printf("%s%s%s %.3f ms", printed++ ? ", " : "by closed formulas: ",
			       i == SP_CUBE_CANDIDATES - 1 ? "auto " : "",
			       sp_cube_mapping_name((int)c[i].mapping), 1e3 * c[i].closed_s);
	if (printed)
		puts("\n(a seek and half a revolution per jump, without angles, overhead of "
		     "requests,\nrows too long for a hop, coalescing, caches and further "
		     "outstanding requests)");
}

/* Describes the device of the values; g: NULL: unknown, unless it is simulated. */
static void describe_device(char *to, size_t capacity, const struct config *c,
			    const struct sp_geometry *g)
{
	struct sp_geometry_info about;

	if (g)
		sp_geometry_info(g, &about);
	if (c->info.volume)
		snprintf(to, capacity, "on %s", c->info.volume);
	else if (!g)
		snprintf(to, capacity, "on an unknown device");
	else if (!c->measure_device)
		snprintf(to, capacity, "by the geometry of %s", about.device);
	else
		snprintf(to, capacity,
			 "by a measurement of the device of %s: %.3g ms per seek, %.3g ms per MiB",
			 about.device, 1e3 * about.seek_s, 1e3 * about.transfer_s_per_mib);
}

/* Describes the workload and the device of the values. */
static void describe(char *to, size_t capacity, const struct config *c, const struct sp_geometry *g,
		     const struct sp_cube_candidate *last)
{
	const struct sp_cube_workload *w = &c->workload;
	char device[320];

	describe_device(device, sizeof(device), c, isfinite(last->predicted_s) ? g : NULL);
	snprintf(to, capacity, "%s%zu quer%s, %s, %u outstanding, coalescing %s",
		 w->n == 1 ? "" : "mean of ", w->n, w->n == 1 ? "y" : "ies", device,
		 w->depth ? w->depth : 1, w->no_coalesce ? "off" : "auto");
}

/* Returns the geometry of --geometry, or that of the measured folder of the cube; NULL: neither. */
static struct sp_geometry *find_geometry(const struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = load_geometry(c);
	char *folder = must_copy(c->operands.text[0]), *slash = strrchr(folder, '/');

	if (c->measure_device && (g || c->info.volume))
		die("--measure and %s are incompatible", g ? "--geometry" : "a simulated volume");
	if (slash)
		slash[slash == folder] = '\0';
	if (c->measure_device && sp_probe_folder(&g, slash ? folder : ".", &err))
		die_of(err.code, &err);
	free(folder);
	return g;
}

/* Predicts, and measures, all mappings; an error ends the program. */
static void compare(struct config *c, bool measured, struct sp_cube_candidate *candidates)
{
	const char *input = c->operands.n > 1 ? c->operands.text[1] : NULL;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	double sampled = 1;
	int rc;

	if (c->format_given && !input)
		die("--format needs INPUT");
	if (c->info.points) {
		if (c->given.waste)
			die("--waste applies to grids only");
		if (input)
			set_input(c);
		rc = sp_cube_compare_points(c->cube, input, &c->load, &c->create, measured,
					    candidates, &sampled, &err);
		if (rc)
			die_of(rc, &err);
		if (sampled < 1)
			msg("%s: each mapping is planned by %.3g %% of the points",
			    quote_file(c->operands.text[0]), 100 * sampled);
		return;
	}
	if (input)
		die("%s: INPUT is for points only: it does not affect the layout of a grid",
		    quote_file(c->operands.text[0]));
	rc = sp_cube_compare(&c->create, measured, candidates, &err);
	if (rc) {
		snprintf(err.path, sizeof(err.path), "%s", c->operands.text[0]);
		die_of(rc, &err);
	}
}

/* True if the chosen layout is that of the candidate with its mapping. */
static bool same_layout(const struct sp_cube_candidate *chosen, const struct sp_cube_candidate *c)
{
	return !memcmp(chosen->order, c->order, sizeof(c->order)) &&
	       !memcmp(chosen->basic, c->basic, sizeof(c->basic)) &&
	       chosen->conservatism_deg == c->conservatism_deg;
}

/*
 * Compares the mappings for the queries of the workload, which has one at the moment.  The last
 * candidate of a grid has the layout that was chosen for all queries.
 */
static void compare_query(struct config *c, bool measured, const struct sp_cube_candidate *all,
			  struct sp_cube_candidate *each)
{
	const struct sp_cube_candidate *chosen = &all[SP_CUBE_CANDIDATES - 1];
	const unsigned at = chosen->mapping - SP_CUBE_MULTIMAP;
	const struct sp_cube_create_opts before = c->create;
	struct sp_cube_candidate again[SP_CUBE_CANDIDATES];

	compare(c, measured, each);
	if (c->info.points)
		return;
	memcpy(again, each, sizeof(again));
	if (!same_layout(chosen, &all[at])) {
		c->create.ordered = true;
		memcpy(c->create.order, chosen->order, sizeof(c->create.order));
		memcpy(c->create.basic, chosen->basic, sizeof(c->create.basic));
		c->create.conservatism_deg = chosen->conservatism_deg;
		compare(c, measured, again);
		c->create = before;
	}
	each[SP_CUBE_CANDIDATES - 1] = again[at];
}

static void plot(struct config *c, bool measured, const char *what,
		 const struct sp_cube_candidate *all, const char *last)
{
	struct sp_cube_workload *w = &c->workload, whole = *w;
	struct sp_cube_candidate(*each)[SP_CUBE_CANDIDATES] = must_alloc(NULL, w->n, sizeof(*each));

	for (size_t i = 0; i < whole.n; i++) {
		w->queries = &whole.queries[i];
		w->n = 1;
		compare_query(c, measured, all, each[i]);
	}
	*w = whole;
	plot_queries(c, measured, what, all,
		     (const struct sp_cube_candidate(*)[SP_CUBE_CANDIDATES])each, last);
	free(each);
}

static int judge(struct config *c, bool measured)
{
	struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES];
	struct sp_cube *cube = open_cube(c, false);
	struct sp_geometry *g = find_geometry(c);
	const struct sp_cube_info *info = &c->info;
	const char *last = info->points ? "file" : "auto";
	char what[512];

	c->create.shape = info->shape;
	c->create.volumes = info->volumes;
	c->create.decluster = info->decluster;
	c->create.run.volume = info->volume;
	c->create.run.geometry = g;
	if (!load_workload(c, &info->shape))
		die("%s needs --workload or --query",
		    measured && !c->measure ? "compare" : "explain");
	c->create.workload = &c->workload;
	if (measured && !c->measure && !info->volume && !g)
		die("%s: measuring mappings needs a simulated volume; --geometry or --measure "
		    "predict a real one",
		    quote_file(c->operands.text[0]));
	measured = measured && (c->measure || info->volume);
	compare(c, measured, candidates);
	describe(what, sizeof(what), c, g, &candidates[SP_CUBE_CANDIDATES - 1]);
	printf("%s:\n", what);
	print_all(candidates, info->shape.ndims, measured, last);
	if (!measured || c->measure) /* explain */
		print_closed(candidates);
	if (c->common.stats)
		statsfile_finish(&c->stats,
				 sp_report_cube_comparison(info, &c->workload, candidates));
	if (c->plot)
		plot(c, measured, what, candidates, last);
	sp_cube_workload_free(&c->workload);
	sp_geometry_free(g);
	close_cube(c, cube);
	return 0;
}

int command_explain(struct config *c)
{
	return judge(c, c->measure);
}

int command_compare(struct config *c)
{
	return judge(c, true);
}
