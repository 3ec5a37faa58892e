/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "msg.h"
#include "outputs.h"
#include "mmap-cube.h"

static void report(struct config *c, const struct sp_cube *cube, const struct sp_cube_stats *s)
{
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	if (c->common.stats)
		statsfile_finish(&c->stats, sp_report_cube(&info, s));
}

/* The form that a file's name says; else raw. */
static enum sp_cube_format format_of(const struct config *c, const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL;
	int format;

	if (c->format_given)
		return c->format;
	return dot && dot[1] && !sp_cube_format_parse(dot + 1, &format) &&
			       !strcmp(sp_cube_format_name(format), dot + 1)
		       ? (enum sp_cube_format)format
		       : SP_CUBE_RAW;
}

int command_load(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube_info info;
	uint64_t order[SP_CUBE_DIMS_MAX];
	int rc;

	sp_cube_info(cube, &info);
	c->load.format = format_of(c, c->operands[1]);
	if (c->order) {
		coordinate("--order", c->order, info.shape.ndims, order);
		for (unsigned i = 0; i < info.shape.ndims; i++) {
			if (order[i] >= info.shape.ndims)
				die("invalid --order argument '%s': there is no dimension %" PRIu64,
				    c->order, order[i]);
			c->load.order[i] = (unsigned)order[i];
		}
		c->load.ordered = true;
	}
	rc = sp_cube_load(cube, c->operands[1], &c->load, &stats, &err);
	if (rc)
		die_of(rc, &err);
	report(c, cube, &stats);
	close_cube(c, cube);
	return 0;
}

/* Requests and time, where nobody sees the data. */
static void summary(const struct sp_cube_stats *s)
{
	printf("%" PRIu64 " cells in %.6f s, %.4f ms each; %" PRIu64 " requests, %" PRIu64
	       " bytes (%.2f of what was asked for), %" PRIu64 " seeks\n",
	       s->cells, s->transfer_s, 1e3 * s->transfer_s / (double)s->cells, s->requests,
	       s->bytes, (double)s->bytes / (double)s->cell_bytes, s->seeks);
}

const char *cube_unfinished(const struct sp_cube_info *info)
{
	return info->loaded ? "loaded in part: load --resume goes on"
			    : "a load was interrupted: load again";
}

/* Of a cube whose load was interrupted nobody knows what an element is worth. */
static void check_finished(const struct config *c, const struct sp_cube *cube)
{
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	if (info.loading)
		die("%s: %s", c->operands[0], cube_unfinished(&info));
}

static int to_output(struct config *c, struct sp_cube *cube, const struct sp_cube_box *box,
		     struct sp_cube_stats *stats)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *file = NULL;
	FILE *out = stdout;
	int rc = 0;

	check_finished(c, cube);
	if (c->output &&
	    (sp_outfile_open(&file, c->output, 0, &err) || sp_outfile_stream(file, &out, &err)))
		output_die(&err);
	rc = sp_cube_export(cube, box, format_of(c, c->output), out, stats, &err);
	if (rc) {
		sp_outfile_close(file, NULL);
		die_of(rc, &err);
	}
	if (file && sp_outfile_commit(file, &err))
		output_die(&err);
	sp_outfile_close(file, NULL);
	return 0;
}

static int query(struct config *c, struct sp_cube *cube, const struct sp_cube_box *box)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	int rc;

	if (c->discard) {
		rc = sp_cube_read(cube, box, NULL, NULL, &stats, &err);
		if (rc)
			die_of(rc, &err);
		summary(&stats);
	} else {
		to_output(c, cube, box, &stats);
	}
	report(c, cube, &stats);
	close_cube(c, cube);
	return 0;
}

static void whole(const struct sp_cube_info *info, struct sp_cube_box *box)
{
	for (unsigned i = 0; i < info->shape.ndims; i++) {
		box->lo[i] = 0;
		box->hi[i] = info->shape.dims[i] - 1;
		box->stride[i] = 1;
	}
}

int command_export(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	struct sp_cube_info info;
	struct sp_cube_box box;

	sp_cube_info(cube, &info);
	whole(&info, &box);
	return query(c, cube, &box);
}

int command_beam(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	uint64_t at[SP_CUBE_DIMS_MAX];
	struct sp_cube_info info;
	struct sp_cube_box box;

	sp_cube_info(cube, &info);
	if (!c->at || !c->dim_given)
		die("beam needs --dim and --at");
	if (c->dim >= info.shape.ndims)
		die("invalid --dim argument '%u': dimensions are 0 to %u", c->dim,
		    info.shape.ndims - 1);
	coordinate("--at", c->at, info.shape.ndims, at);
	whole(&info, &box);
	for (unsigned i = 0; i < info.shape.ndims; i++)
		if (i != c->dim)
			box.lo[i] = box.hi[i] = at[i];
	return query(c, cube, &box);
}

int command_range(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	struct sp_cube_info info;
	struct sp_cube_box box;

	sp_cube_info(cube, &info);
	whole(&info, &box);
	if (c->lo)
		coordinate("--lo", c->lo, info.shape.ndims, box.lo);
	if (c->hi)
		coordinate("--hi", c->hi, info.shape.ndims, box.hi);
	if (c->stride)
		coordinate("--stride", c->stride, info.shape.ndims, box.stride);
	return query(c, cube, &box);
}

int command_get(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX];
	struct sp_cube_info info;
	char *element, *text;
	int rc;

	sp_cube_info(cube, &info);
	coordinate("get", c->operands[1], info.shape.ndims, x);
	check_finished(c, cube);
	element = must_alloc(NULL, 3, info.shape.element_bytes + SP_CUBE_VALUE_MAX);
	text = element + info.shape.element_bytes;
	rc = sp_cube_get(cube, x, element, &err);
	if (rc)
		die_of(rc, &err);
	sp_cube_value_print(&info.shape, element, text);
	puts(text);
	free(element);
	close_cube(c, cube);
	return 0;
}

int command_put(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX];
	struct sp_cube_info info;
	void *element;
	int rc;

	sp_cube_info(cube, &info);
	coordinate("put", c->operands[1], info.shape.ndims, x);
	element = must_alloc(NULL, 1, info.shape.element_bytes + 8);
	if (sp_cube_value_parse(&info.shape, c->operands[2], element))
		die("invalid value '%s': it is no %s", c->operands[2],
		    sp_cube_type_name(info.shape.type));
	rc = sp_cube_put(cube, x, element, &err);
	if (rc)
		die_of(rc, &err);
	free(element);
	close_cube(c, cube);
	return 0;
}

int command_check(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_check check;
	struct sp_cube_stats stats;
	struct sp_cube_info info;
	int rc;

	sp_cube_info(cube, &info);
	rc = sp_cube_verify(cube, &check, &stats, &err);
	if (rc)
		die_of(rc, &err);
	printf("%" PRIu64 " cells, %" PRIu64 " extents never written, %" PRIu64 " damaged\n",
	       check.cells, check.absent, check.damaged);
	if (info.loading)
		puts(cube_unfinished(&info));
	if (info.loading && info.loaded)
		printf("%" PRIu64 " layers are complete\n", info.loaded);
	if (check.damaged) {
		printf("the first damaged extent begins at element ");
		for (unsigned i = 0; i < info.shape.ndims; i++)
			printf("%s%" PRIu64, i ? "," : "", check.first_damaged[i]);
		putchar('\n');
	}
	report(c, cube, &stats);
	close_cube(c, cube);
	return check.damaged ? 1 : 0;
}
