/* SPDX-License-Identifier: MIT */
/*
 * Runs the commands of mmap-cube that read or write elements.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "mmap-cube.h"
#include "outputs.h"

/*
 * Parses the box of mmap-cube range: slices as those of an array of NumPy.
 */

#define ITEMS "valid is an item such as 0:10, : or 5 for each dimension"

/* The box of --box while it is parsed, for messages. */
struct slices {
	const char *text;
	const struct sp_cube_shape *shape;
	unsigned dim; /* dimension of the current item */
};

static _Noreturn void refuse(const struct slices *s, const char *reason)
{
	die("invalid --box argument %s: %s", quote(s->text), reason);
}

/* Parses a number.  Returns false if there is none. */
static bool parse_number(const struct slices *s, const char **at, int64_t *number)
{
	char *end;

	if (!**at || !strchr("-0123456789", **at))
		return false;
	errno = 0;
	*number = strtoll(*at, &end, 10);
	if (end == *at || errno)
		refuse(s, ITEMS);
	*at = end;
	return true;
}

/* Parses an index; a negative one counts from the end of the dimension. */
static bool parse_index(const struct slices *s, const char **at, int64_t *index)
{
	bool given = parse_number(s, at, index);

	if (given && *index < 0)
		*index += (int64_t)s->shape->dims[s->dim];
	return given;
}

/* Parses the step after a second colon: 1, or none. */
static void parse_step(const struct slices *s, const char **at)
{
	int64_t step = 1;

	if (**at != ':')
		return;
	++*at;
	if (parse_number(s, at, &step) && step != 1)
		refuse(s, "the step must be 1; --lo, --hi and --stride select every Nth element");
}

/* Parses the stop after a colon; like NumPy, start and stop end with the dimension. */
static void parse_stop(const struct slices *s, const char **at, int64_t start,
		       struct sp_cube_box *box)
{
	const int64_t size = (int64_t)s->shape->dims[s->dim];
	int64_t stop = size;

	++*at;
	(void)parse_index(s, at, &stop);
	parse_step(s, at);
	start = start < 0 ? 0 : start;
	stop = stop > size ? size : stop;
	if (start >= stop)
		die("invalid --box argument %s: no element of dimension %u is selected, which has "
		    "%" PRIi64,
		    quote(s->text), s->dim, size);
	box->lo[s->dim] = (uint64_t)start;
	box->hi[s->dim] = (uint64_t)stop - 1;
}

static void parse_item(const struct slices *s, const char **at, struct sp_cube_box *box)
{
	const int64_t size = (int64_t)s->shape->dims[s->dim];
	int64_t start = 0;
	bool given = parse_index(s, at, &start);

	if (**at == ':') {
		parse_stop(s, at, start, box);
		return;
	}
	if (!given)
		refuse(s, ITEMS);
	if (start < 0 || start >= size)
		die("invalid --box argument %s: an index of dimension %u is not within its %" PRIi64
		    " elements",
		    quote(s->text), s->dim, size);
	box->lo[s->dim] = box->hi[s->dim] = (uint64_t)start;
	box->indexed |= UINT32_C(1) << s->dim;
}

void slice_box(const char *text, const struct sp_cube_shape *shape, struct sp_cube_box *box)
{
	struct slices s = { text, shape, 0 };
	const char *at = text;

	for (;; at++, s.dim++) {
		if (s.dim == shape->ndims)
			die("invalid --box argument %s: the cube has %u dimensions", quote(text),
			    shape->ndims);
		parse_item(&s, &at, box);
		if (!*at)
			return;
		if (*at != ',')
			refuse(&s, ITEMS);
	}
}

void report(struct config *c, const struct sp_cube *cube, const struct sp_cube_stats *s)
{
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	say_no_effects(&s->run.no_effects);
	if (c->common.stats)
		statsfile_finish(&c->stats, sp_report_cube(&info, s));
}

/* Suffixes of compressed files; .npz is a compressed archive of .npy files. */
static const char *const packed[] = { ".gz",  ".bgz", ".zst", ".zstd", ".xz", ".lzma", ".lz4",
				      ".bz2", ".zip", ".npz", ".Z",    ".br", ".7z" };

/* Returns the suffix of a file's name, with its dot; NULL: none. */
static const char *suffix_of(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	return name ? strrchr(slash ? slash : name, '.') : NULL;
}

/* Returns the format by the suffix of a file's name; raw if unknown. */
static enum sp_cube_format format_of(const struct config *c, const char *name)
{
	const char *dot = suffix_of(name);

	if (c->format_given)
		return c->format;
	for (const struct sp_enum_value *v = sp_cube_format_values(); dot && v->name; v++)
		if (!strcasecmp(dot + 1, v->name))
			return (enum sp_cube_format)v->value;
	return SP_CUBE_RAW;
}

/* Refuses a name with the suffix of a compressed file. */
static void refuse_packed(const char *name, const char *remedy)
{
	const char *dot = suffix_of(name);

	for (size_t i = 0; dot && i < sizeof(packed) / sizeof(packed[0]); i++)
		if (!strcasecmp(dot, packed[i]))
			die("%s: %s is the ending of a compressed file: %s", quote_file(name), dot,
			    remedy);
}

void set_input(struct config *c)
{
	uint64_t order[SP_CUBE_DIMS_MAX];
	unsigned n = c->info.shape.ndims;

	/* inputs are not decompressed, outputs never compressed */
	if (!c->format_given)
		refuse_packed(c->operands.text[1],
			      "decompress it into standard input, and say --format");
	c->load.format = format_of(c, c->operands.text[1]);
	c->load.detect = !c->format_given;
	if (!c->order)
		return;
	coordinate("--order", c->order, n, order);
	for (unsigned i = 0; i < n; i++) {
		if (order[i] >= n)
			die("invalid --order argument %s: there is no dimension %" PRIu64,
			    quote(c->order), order[i]);
		c->load.order[i] = (unsigned)order[i];
	}
	c->load.ordered = true;
}

/* Notes that the input is read, or points are sorted, before cells are written. */
static void expect_two_phases(struct config *c)
{
	static const double weights[] = { 1, 1 };

	c->progress.weights = weights;
}

/* Reports the changes; an error ends the program. */
static int finish(struct config *c, struct sp_cube *cube, int rc, const struct sp_cube_stats *stats,
		  const struct sp_errinfo *err)
{
	progress_wipe();
	check_cube(cube, rc, err);
	if (stats->header_lines)
		msg("%s: the first record has no numbers: skipped as a header",
		    quote_file(c->operands.text[1]));
	if (stats->blank_lines)
		msg("%s: %" PRIu64 " blank line%s skipped", quote_file(c->operands.text[1]),
		    stats->blank_lines, stats->blank_lines == 1 ? "" : "s");
	report(c, cube, stats);
	close_cube(c, cube);
	return 0;
}

int command_load(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	int rc;

	set_input(c);
	if (c->info.points || (c->load.format == SP_CUBE_CSV && c->info.complete))
		expect_two_phases(c);
	rc = sp_cube_load(cube, c->operands.text[1], &c->load, &stats, &err);
	return finish(c, cube, rc, &stats, &err);
}

int command_append(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	struct sp_cube *cube;
	int rc;

	if (!c->dim_given)
		die("append needs --dim");
	if (c->operands.n == 1 && !c->count)
		die("append needs INPUT or --count");
	cube = open_cube(c, true);
	set_input(c);
	rc = sp_cube_append(cube, c->dim, c->count, c->operands.text[1], &c->load, &stats, &err);
	return finish(c, cube, rc, &stats, &err);
}

int command_reorganise(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	int rc;

	expect_two_phases(c);
	rc = sp_cube_reorganise(cube, &stats, &err);
	return finish(c, cube, rc, &stats, &err);
}

/* Prints requests and time if the data is discarded. */
static void summary(const struct sp_cube_stats *s)
{
	double cells = s->cells ? (double)s->cells : 1; /* a box of points can have no cells */

	printf("%" PRIu64 " cells in %.6f s, %.4f ms each; %" PRIu64 " requests, %" PRIu64
	       " bytes (%.2f of the requested bytes), %" PRIu64 " seeks\n",
	       s->cells, s->transfer_s, 1e3 * s->transfer_s / cells, s->requests, s->bytes,
	       s->cells ? (double)s->bytes / (double)s->cell_bytes : 1.0, s->seeks);
}

static void to_output(struct config *c, const struct sp_cube_box *box, struct sp_cube_stats *stats)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *file = NULL;
	FILE *out = stdout;
	int rc;

	refuse_packed(c->output, "write to standard output, say --format, and compress that");
	if (c->output &&
	    (sp_outfile_open(&file, c->output, 0, &err) || sp_outfile_stream(file, &out, &err)))
		output_die(&err);
	rc = sp_cube_export(c->cube, box, format_of(c, c->output), out, stats, &err);
	if (rc) {
		sp_outfile_close(file, NULL);
		if (err.op && !strcmp(err.op, "write"))
			die("%s: %s", c->output ? c->output : "write error", sp_strerror(rc));
		die_of(rc, &err);
	}
	if (file && sp_outfile_commit(file, &err))
		output_die(&err);
	sp_outfile_close(file, NULL);
}

static int query(struct config *c, const struct sp_cube_box *box)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_stats stats;
	int rc = 0;

	if (!c->discard)
		to_output(c, box, &stats);
	else
		rc = sp_cube_read(c->cube, box, NULL, NULL, &stats, &err);
	if (rc)
		die_of(rc, &err);
	progress_wipe();
	if (c->discard)
		summary(&stats);
	return finish(c, c->cube, 0, &stats, &err);
}

/* Opens the cube, and returns the box of all elements. */
static struct sp_cube_box open_whole(struct config *c)
{
	struct sp_cube_box box = { 0 };

	(void)open_cube(c, false);
	for (unsigned i = 0; i < c->info.shape.ndims; i++) {
		box.hi[i] = c->info.shape.dims[i] - 1;
		box.stride[i] = 1;
	}
	return box;
}

int command_export(struct config *c)
{
	struct sp_cube_box box = open_whole(c);

	return query(c, &box);
}

int command_beam(struct config *c)
{
	struct sp_cube_box box = open_whole(c);
	unsigned n = c->info.shape.ndims;
	uint64_t at[SP_CUBE_DIMS_MAX];

	if (!c->at || !c->dim_given)
		die("beam needs --dim and --at, such as --dim 2 --at 40,300,0");
	if (c->dim >= n)
		die("invalid --dim argument '%u': dimensions are 0 to %u", c->dim, n - 1);
	coordinate("--at", c->at, n, at);
	for (unsigned i = 0; i < n; i++)
		if (i != c->dim)
			box.lo[i] = box.hi[i] = at[i];
	return query(c, &box);
}

/* Sets the last elements of a box from --hi, which is behind them. */
static void end_box(const struct config *c, unsigned n, struct sp_cube_box *box)
{
	coordinate("--hi", c->hi, n, box->hi);
	for (unsigned i = 0; i < n; i++)
		if (box->hi[i]-- <= box->lo[i])
			die("--hi is not above --lo in dimension %u: no element is selected", i);
}

int command_range(struct config *c)
{
	struct sp_cube_box box = open_whole(c);
	unsigned n = c->info.shape.ndims;

	if (c->box)
		slice_box(c->box, &c->info.shape, &box);
	if (c->lo)
		coordinate("--lo", c->lo, n, box.lo);
	if (c->hi)
		end_box(c, n, &box);
	if (c->stride)
		coordinate("--stride", c->stride, n, box.stride);
	return query(c, &box);
}

/* Prints the values of elements, or of points, which have coordinates before them. */
struct values {
	const struct sp_cube_shape *shape;
	size_t skip;
	char *text;
	uint64_t n;
};

static int print_values(void *arg, const void *data, size_t bytes)
{
	struct values *v = arg;
	const char *at = data, *end = at + bytes;

	for (; at < end; at += v->skip + v->shape->element_bytes, v->n++) {
		sp_cube_value_print(v->shape, at + v->skip, v->text);
		puts(v->text);
	}
	return 0;
}

int command_get(struct config *c)
{
	struct sp_cube_box box = open_whole(c);
	const struct sp_cube_shape *s = &c->info.shape;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct values v = { .shape = s };
	struct sp_cube_stats stats;
	int rc;

	coordinate("get", c->operands.text[1], s->ndims, box.lo);
	memcpy(box.hi, box.lo, sizeof(box.hi));
	v.skip = c->info.points ? s->ndims * sizeof(uint64_t) : 0;
	v.text = must_alloc(NULL, 2, s->element_bytes + SP_CUBE_VALUE_MAX);
	rc = sp_cube_read(c->cube, &box, print_values, &v, &stats, &err);
	if (rc)
		die_of(rc, &err);
	if (!v.n)
		die("%s: there is no point at %s", quote_file(c->operands.text[0]),
		    quote_file(c->operands.text[1]));
	free(v.text);
	close_cube(c, c->cube);
	return 0;
}

/* Parses the value of an operand; the caller frees it. */
static void *parse_value(const struct sp_cube_shape *s, const char *text)
{
	void *element = must_alloc(NULL, 1, s->element_bytes + 8);

	if (!sp_cube_value_parse(s, text, element))
		return element;
	free(element);
	die("invalid value %s: not a valid %s", quote(quote_file(text)),
	    sp_cube_type_name(s->type));
}

static int finish_change(struct config *c, int rc, const struct sp_errinfo *err)
{
	check_cube(c->cube, rc, err);
	points_say_repack(c, c->cube);
	close_cube(c, c->cube);
	return 0;
}

int command_put(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	const struct sp_cube_shape *s = &c->info.shape;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX];
	void *element;
	int rc;

	coordinate("put", c->operands.text[1], s->ndims, x);
	element = parse_value(s, c->operands.text[2]);
	rc = sp_cube_put(cube, x, element, &err);
	free(element);
	return finish_change(c, rc, &err);
}

int command_delete(struct config *c)
{
	struct sp_cube *cube = open_cube(c, true);
	const struct sp_cube_shape *s = &c->info.shape;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t x[SP_CUBE_DIMS_MAX];
	void *value = NULL;
	int rc;

	coordinate("delete", c->operands.text[1], s->ndims, x);
	if (c->operands.n > 2)
		value = parse_value(s, c->operands.text[2]);
	rc = sp_cube_delete(cube, x, value, &err);
	if (rc == -ENOENT)
		die("%s: there is no point at %s%s%s", quote_file(c->operands.text[0]),
		    quote_file(c->operands.text[1]), value ? " with the value " : "",
		    value ? quote_file(c->operands.text[2]) : "");
	free(value);
	return finish_change(c, rc, &err);
}

/* Repairs data that has a valid copy. */
static void repair(struct sp_cube *cube)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_repair done;
	int rc = sp_cube_repair(cube, &done, &err);

	check_cube(cube, rc, &err);
	if (done.put)
		puts("a put that was interrupted is finished");
	if (done.superblock)
		puts("the damaged superblock is written again from the other one");
}

int command_check(struct config *c)
{
	struct sp_cube *cube = open_cube(c, c->repair);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_cube_check check;
	struct sp_cube_stats stats;
	struct sp_cube_info info;
	bool lost;
	int rc;

	if (c->repair)
		repair(cube);
	sp_cube_info(cube, &info);
	rc = sp_cube_verify(cube, &check, &stats, &err);
	progress_wipe();
	if (rc)
		die_of(rc, &err);
	if (info.points)
		printf("%" PRIu64 " cells, %" PRIu64 " points, %" PRIu64 " damaged\n", check.cells,
		       check.points, check.damaged);
	else
		printf("%" PRIu64 " cells, %" PRIu64 " extents never written, %" PRIu64
		       " damaged\n",
		       check.cells, check.absent, check.damaged);
	/* an interrupted put can have added a point that is not counted */
	lost = info.points && !check.damaged && check.points < info.npoints;
	if (info.points && !check.damaged && check.points != info.npoints)
		printf("the superblock has %" PRIu64 " points: %s\n", info.npoints,
		       lost ? "some are lost" : "reorganise corrects it");
	if (check.put)
		puts("a put was interrupted, and its element is in the log: check --repair "
		     "finishes it");
	if (info.unfinished)
		puts(info.unfinished);
	if (info.unfinished && info.loaded)
		printf("%" PRIu64 " layers are complete\n", info.loaded);
	if (check.damaged) {
		printf("the first damaged %s begins at element ", info.points ? "cell" : "extent");
		print_list(check.first_damaged, info.shape.ndims, ",");
		putchar('\n');
	}
	report(c, cube, &stats);
	close_cube(c, cube);
	return check.damaged || lost || check.superblock ? 1 : 0;
}
