/* SPDX-License-Identifier: MIT */
/*
 * Runs mmap-cube create, info and map.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/cubearray.h>
#include <spindle/geometry.h>
#include "number.h"
#include "mmap-cube.h"

static void *fill_value(struct config *c)
{
	struct sp_cube_shape *s = &c->create.shape;
	void *fill;

	if (!c->fill)
		return NULL;
	fill = must_alloc(NULL, 1, s->element_bytes + sizeof(double));
	if (sp_cube_value_parse(s, c->fill, fill))
		die("invalid --fill argument %s: not a valid %s", quote(c->fill),
		    sp_cube_type_name(s->type));
	return fill;
}

void print_list(const uint64_t *values, unsigned n, const char *separator)
{
	for (unsigned i = 0; i < n; i++)
		printf("%s%" PRIu64, i ? separator : "", values[i]);
}

void print_sizes(const char *label, const uint64_t *sizes, unsigned n)
{
	printf("%-12s", label);
	print_list(sizes, n, " x ");
	putchar('\n');
}

/* Prints the elements of each fragment. */
static void describe_fragments(const struct sp_cube *cube, size_t nfragments, unsigned n)
{
	struct sp_cube_fragment part;

	for (size_t k = 0; k < nfragments; k++) {
		if (sp_cube_fragment(cube, k, &part))
			continue;
		printf("part %-7zu", k + 1);
		print_list(part.lo, n, ",");
		printf(" to ");
		print_list(part.hi, n, ",");
		printf(", blocks %" PRIu64 " to %" PRIu64 "\n", part.first_block,
		       part.end_block - 1);
	}
}

static void describe_grid(const struct sp_cube *cube, const struct sp_cube_info *i)
{
	unsigned n = i->shape.ndims;
	uint64_t tile[SP_CUBE_DIMS_MAX];
	double data = (double)(i->end_block - i->first_block) * i->volumes * i->block_bytes;

	for (unsigned d = 0; d < n; d++)
		tile[d] = i->shape.tile[d];
	print_sizes("tile", tile, n);
	print_sizes("cells", i->cells, n);
	if (i->basic[0])
		print_sizes("basic cube", i->basic, n);
	if (i->volumes > 1)
		printf("%-12s%u, %s\n", "volumes", i->volumes,
		       sp_cube_decluster_name((int)i->decluster));
	printf("%-12s%" PRIu64 " to %" PRIu64 "%s, %.1f %% of the space unused\n", "blocks",
	       i->first_block, i->end_block - 1, i->volumes > 1 ? " of each volume" : "",
	       100 * (double)i->waste_bytes / data);
	describe_fragments(cube, i->fragments > 1 ? i->fragments : 0, n);
}

static void describe(const char *path, const struct sp_cube *cube, const struct sp_cube_info *i)
{
	unsigned n = i->shape.ndims;
	uint64_t bytes = (uint64_t)i->cell_blocks * i->block_bytes;

	printf("%-12s%s\n", "cube", quote_bare(path));
	print_sizes("dimensions", i->shape.dims, n);
	printf("%-12s%s", "element", sp_cube_type_name(i->shape.type));
	printf(i->shape.type == SP_CUBE_BYTES ? ":%u\n" : ", %u bytes\n", i->shape.element_bytes);
	printf("%-12s%" PRIu64 " bytes, %u blocks of %u\n", "cell", bytes, i->cell_blocks,
	       i->block_bytes);
	printf("%-12s%s, dimensions", "mapping", sp_cube_mapping_name(i->mapping));
	for (unsigned d = 0; d < n; d++)
		printf("%s%u", d ? ", " : " ", i->order[d]);
	putchar('\n');
	if (i->points)
		points_describe(cube, i);
	else
		describe_grid(cube, i);
	if (i->device)
		printf("%-12s%s\n", "geometry", quote_bare(i->device));
	if (i->volume)
		printf("%-12s%s\n", "volume", quote_bare(i->volume));
	printf("%-12s%s\n", "state",
	       i->busy	       ? "another program is changing it"
	       : i->no_data    ? "without data"
	       : i->complete   ? "complete"
	       : i->unfinished ? i->unfinished
			       : "not loaded");
	for (size_t k = 0; k < i->nattributes; k++)
		printf("%-12s%s = %s\n", k ? "" : "attributes", quote_bare(i->attributes[k].key),
		       quote_bare(i->attributes[k].value));
}

int command_info(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);

	describe(c->operands.text[0], cube, &c->info);
	(void)sp_cube_close(cube);
	return 0;
}

/* Prints the choice of auto in one line, and why if tracks are not used. */
static void say_choice(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	const struct sp_cube_info *info = &c->info;

	if (!info->device)
		msg("%s: mapped naive: no geometry, so no tracks are known",
		    quote_file(c->operands.text[0]));
	else if (info->mapping != SP_CUBE_MULTIMAP && info->points)
		msg("%s: mapped naive: the geometry has no tracks or no hops",
		    quote_file(c->operands.text[0]));
	else if (info->mapping != SP_CUBE_MULTIMAP)
		msg("%s: mapped %s: for %s MultiMap is slower, is not possible, or wastes too much "
		    "space",
		    quote_file(c->operands.text[0]), sp_cube_mapping_name((int)info->mapping),
		    c->workload.n ? "this workload" : "beams and boxes");
	(void)sp_cube_close(cube);
}

/* Loads the array of --from into the cube, which awaits it. */
static void load_from(struct config *c)
{
	struct sp_cube_load_opts opts = { .format = SP_CUBE_NPY };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube *cube = open_cube(c, true);
	struct sp_cube_stats stats;
	int rc = sp_cube_load(cube, c->from, &opts, &stats, &err);

	progress_wipe();
	if (rc)
		msg("%s: is not complete: load %s again", quote_file(c->operands.text[0]),
		    quote_file(c->from));
	check_cube(cube, rc, &err);
	close_cube(c, cube);
}

static void set_shape(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	if (c->from && !strcmp(c->from, "-"))
		die("--from needs a regular file: for a pipe, create with --dims and load it");
	rc = c->from ? sp_cube_shape_load(&c->create.shape, c->from, &err) : 0;
	if (rc)
		die_of(rc, &err);
	if (!c->create.shape.ndims)
		die("create needs --dims, such as --dims 512x512x128, or --from");
	c->create.awaits_load = c->from;
}

int command_create(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = load_geometry(c);
	uint64_t order[SP_CUBE_DIMS_MAX];
	void *fill;
	int rc;

	set_shape(c);
	if (c->order) {
		coordinate("--order", c->order, c->create.shape.ndims, order);
		for (unsigned i = 0; i < c->create.shape.ndims; i++)
			c->create.order[i] =
				order[i] < SP_CUBE_DIMS_MAX ? (unsigned)order[i] : SP_CUBE_DIMS_MAX;
		c->create.ordered = true;
	}
	c->create.fill = fill = fill_value(c);
	(void)load_workload(c, &c->create.shape);
	c->create.workload = &c->workload;
	c->create.run.geometry = g;
	rc = sp_cube_create(c->operands.text[0], &c->create, &err);
	if (rc) {
		die_next(&err, -EEXIST, c->operands.text[0], "--overwrite allows to replace it");
		die_of(rc, &err);
	}
	free(fill);
	sp_geometry_free(g);
	if (c->from)
		load_from(c);
	if (c->create.mapping == SP_CUBE_AUTO)
		say_choice(c);
	sp_cube_workload_free(&c->workload);
	return 0;
}

/* Parses BLOCK, or VOLUME:BLOCK of a cube with several volumes. */
static uint64_t parse_block(const struct sp_cube_info *info, const char *text)
{
	const char *local = text;
	uintmax_t volume = 0;
	uint64_t block;

	if (info->volumes > 1 &&
	    (!number_prefix(text, &local, &volume) || *local++ != ':' || volume >= info->volumes))
		die("invalid --block argument %s: valid is VOLUME:BLOCK, with VOLUME from 0 to "
		    "%u",
		    quote(text), info->volumes - 1);
	block = number_option("--block", local, 0);
	if (info->volumes > 1 && block >= info->volume_blocks)
		die("invalid --block argument %s: a volume has %" PRIu64 " blocks", quote(text),
		    info->volume_blocks);
	return volume * info->volume_blocks + block;
}

static void print_block(const struct sp_cube_info *info, uint64_t block)
{
	if (info->volumes > 1)
		printf("%" PRIu64 ":", block / info->volume_blocks);
	printf("%" PRIu64 "\n", info->volumes > 1 ? block % info->volume_blocks : block);
}

int command_map(struct config *c)
{
	struct sp_cube *cube = open_cube(c, false);
	uint64_t x[SP_CUBE_DIMS_MAX], block;
	unsigned n = c->info.shape.ndims;
	struct sp_cube_box node;
	int rc;

	if (!c->block == (c->operands.n == 1))
		die("map needs coordinates or --block");
	if (c->block) {
		block = parse_block(&c->info, c->block);
		rc = c->info.points ? sp_cube_node(cube, block, &node)
				    : sp_cube_element(cube, block, node.lo);
		if (rc)
			die("%s: block %s has no cell", quote_file(c->operands.text[0]),
			    quote_file(c->block));
		print_list(node.lo, n, ",");
		if (c->info.points) {
			putchar(' ');
			print_list(node.hi, n, ",");
		}
		putchar('\n');
	} else {
		coordinate("map", c->operands.text[1], n, x);
		rc = sp_cube_block(cube, x, &block);
		if (rc)
			die(rc == -ENOENT ? "%s: %s is in no cell yet"
					  : "%s: %s is outside of the dataset",
			    quote_file(c->operands.text[0]), quote_file(c->operands.text[1]));
		print_block(&c->info, block);
	}
	(void)sp_cube_close(cube);
	return 0;
}
