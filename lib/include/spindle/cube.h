/* SPDX-License-Identifier: MIT */
/*
 * Cubes: N-dimensional datasets on disk, whose lines along every dimension and boxes come back
 * fast.
 *
 * A dataset is a grid of elements.  A tile of elements fills one cell, a whole number of
 * blocks, and a mapping decides which blocks a cell occupies: MultiMap, which follows the
 * tracks of the drive, or a linear order (rows, or a space-filling curve).  The file begins
 * with a superblock that holds all that places the cells, so the data stays where it is
 * whatever becomes of geometry files.
 *
 * Coordinates are arrays of one number for each dimension, counted from 0; dimension 0 comes
 * first. In memory, in files of raw data and in results the elements of a box are in rows
 * along dimension 0: its coordinate changes fastest.  Elements beyond the ends of the dataset
 * that tiles at its edges contain, and elements never written, have the value fill.
 *
 * A dataset of points is no grid: only the coordinates that points have take space, and any
 * number of points may have the same.  A tree divides the space until the points of a node fit a
 * cell.  Where many neighbours are alike MultiMap places them; the other cells follow each other
 * in a linear order.  Such a dataset is loaded, read, changed and checked by the same functions;
 * a point outside of it is N coordinates of 8 bytes, little-endian, and its value.
 *
 * Errors: -ERANGE for coordinates outside of the dataset; SP_ECORRUPT for a checksum that
 * differs; SP_EFORMAT for a file that is no cube, or of another version; -ENOSPC with the size
 * needed for a volume that is too small; SP_ESYNTAX for options that contradict each other;
 * SP_ESTATE for elements of a cube whose load was interrupted, and for a cube that others use.
 * The reason is in err.
 *
 * A cube that is open to write is used by nobody else; each read takes a lock of the file, too, so
 * that it sees no change.  A cube that another one has changed since it was opened is opened
 * again.
 *
 * Source: Shao 2008, chapter 5.
 *
 * Thread rule: one thread at a time for each cube.
 */
#ifndef SPINDLE_CUBE_H
#define SPINDLE_CUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/run.h>
#include <spindle/enum.h>

#define SP_CUBE_DIMS_MAX 16
#define SP_CUBE_ELEMENT_MAX 65536 /* bytes */

enum sp_cube_mapping {
	SP_CUBE_AUTO, /* the fastest for the workload, or for beams and a box */
	SP_CUBE_MULTIMAP,
	SP_CUBE_NAIVE, /* rows along dimension 0, one after the other */
	SP_CUBE_ZORDER,
	SP_CUBE_HILBERT,
	SP_CUBE_GRAY,
};
SP_ENUM(sp_cube_mapping)

/* On which of several volumes a basic cube lies. */
enum sp_cube_decluster {
	SP_CUBE_DISK_MODULO, /* the sum of its coordinates modulo the volumes */
	SP_CUBE_ROUND_ROBIN, /* its number modulo the volumes */
};
SP_ENUM(sp_cube_decluster)

#define SP_CUBE_VOLUMES_MAX 64

enum sp_cube_type {
	SP_CUBE_BYTES, /* opaque: element_bytes each */
	SP_CUBE_I8,
	SP_CUBE_U8,
	SP_CUBE_I16,
	SP_CUBE_U16,
	SP_CUBE_I32,
	SP_CUBE_U32,
	SP_CUBE_I64,
	SP_CUBE_U64,
	SP_CUBE_F32,
	SP_CUBE_F64,
};
SP_ENUM(sp_cube_type)
/* Bytes of an element; 0 for SP_CUBE_BYTES.  Numbers are little-endian in the file. */
SP_API uint32_t sp_cube_type_bytes(enum sp_cube_type type);

/* A key and its value, both text: a name, a unit, an origin. */
struct sp_cube_attribute {
	char *key, *value;
};

struct sp_cube_workload;

struct sp_cube_shape {
	unsigned ndims;
	uint64_t dims[SP_CUBE_DIMS_MAX]; /* elements along each dimension */
	uint32_t tile[SP_CUBE_DIMS_MAX]; /* of them in a cell; all 0: chosen, about 4096 bytes */
	enum sp_cube_type type;
	uint32_t element_bytes; /* of SP_CUBE_BYTES; else 0 or the size of the type */
};

struct sp_cube_create_opts {
	/* volume: NULL or "sim:SPEC", kept in the cube; geometry; overwrite */
	struct sp_run_opts run;
	struct sp_cube_shape shape;
	enum sp_cube_mapping mapping;
	bool ordered;			  /* order is given: */
	unsigned order[SP_CUBE_DIMS_MAX]; /* dimensions, the one along tracks or rows first */
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* cells of a basic cube, in this order; all 0: chosen */
	/*
	 * Added to the aim of hops: time for the host, and for reading some cells of a row
	 * before the next one is due.
	 */
	double conservatism_deg;
	/*
	 * AUTO: how much of the space may be in no cell.  0: 50, or with queries, any share.
	 */
	double waste_max_percent;
	/*
	 * With AUTO: mapping, order, basic cube and conservatism for the least predicted time.
	 * NULL or without queries: the mapping alone, for beams along each dimension and a box.
	 */
	const struct sp_cube_workload *workload;
	/*
	 * Files or devices over which basic cubes are spread, 0: 1; the names of all but the
	 * first, relative to its folder, or NULL: its own with ".1", ".2", ... behind.  With a
	 * simulated volume each is a drive of its own.
	 */
	unsigned volumes;
	const char *const *volume_names;
	enum sp_cube_decluster decluster;
	const void *fill; /* an element; NULL: zero bytes */
	bool no_data;	  /* the file gets no room for cells */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
	/*
	 * Points.  dims bound the coordinates, of at most 128 bits together; there is no tile, no
	 * fill, no basic cube, and data.  MultiMap is for regions, the other cells are in rows.
	 */
	bool points;
	uint32_t cell_bytes; /* whole blocks, at most 1 MiB; 0: 4096, or what a point needs */
	double fill_factor;  /* share of a cell that a load may fill, up to 1 */
	double overflow;     /* overflow cells for each cell from which on it needs repacking */
};

#define SP_CUBE_CREATE_OPTS_INIT                                                                   \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .conservatism_deg = 20, .fill_factor = 0.8,               \
		.overflow = 0.2                                                                    \
	}

/*
 * Writes a new cube to a file, which must not exist unless run.overwrite is set, or to a block
 * device (run.overwrite must be set).  The same holds for further volumes.
 */
SP_API SP_MUST_CHECK int sp_cube_create(const char *path, const struct sp_cube_create_opts *opts,
					struct sp_errinfo *err);

struct sp_cube;

struct sp_cube_opts {
	/* volume: NULL: that of the cube; memory_bytes, engine, direct, trace_path */
	struct sp_run_opts run;
	bool write;		/* for sp_cube_load(), sp_cube_append(), sp_cube_put() */
	unsigned depth;		/* outstanding requests of a volume; 0: 1 if simulated, else 16 */
	uint32_t request_bytes; /* the largest; 0: 1 MiB */
	bool no_coalesce;	/* never read blocks that no cell of a query needs */
	bool verify; /* check checksums of what queries read, both superblocks among it */
	/*
	 * After a load that was interrupted, too, elements are read and changed: each is what
	 * the load made of it, what was there before, or fill.
	 */
	bool unfinished;
};

SP_API SP_MUST_CHECK int sp_cube_open(struct sp_cube **cube, const char *path,
				      const struct sp_cube_opts *opts, struct sp_errinfo *err);
/* Accepts NULL.  0, or the error of the trace. */
SP_API int sp_cube_close(struct sp_cube *cube);

/* Pointers live as long as the cube. */
struct sp_cube_info {
	struct sp_cube_shape shape;
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* cells; 0 of linear mappings */
	uint64_t cells[SP_CUBE_DIMS_MAX]; /* along each dimension */
	uint64_t all_cells;
	uint32_t block_bytes, cell_blocks;
	uint64_t reach;	  /* D of MultiMap, else 0 */
	size_t zones;	  /* that MultiMap uses or may use */
	size_t fragments; /* 1, and one more for each append */
	unsigned volumes;
	enum sp_cube_decluster decluster;
	uint64_t volume_blocks;		 /* block b of volume v has the number v * this + b */
	uint64_t first_block, end_block; /* of the data, on each volume */
	uint64_t waste_bytes;		 /* of them: not in any cell */
	uint64_t loaded; /* layers of elements along the slowest dimension of the load */
	bool complete, no_data;
	/*
	 * One of the two superblocks is not valid: it is damaged, or was being written when its
	 * writer was killed.  If it was the newer one, the last change is missing.
	 */
	bool alone;
	const char *unfinished; /* NULL, or what a load that was interrupted asks for */
	const char *volume;	/* the simulated one, or NULL */
	const char *device;	/* of the geometry, or NULL */
	const void *fill;	/* an element */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
	bool points; /* the rest is of points; cells, basic and waste_bytes are 0 then */
	uint64_t npoints, capacity;
	uint64_t filled_cells; /* that got points when it was loaded or reorganised */
	uint64_t overflow_cells;
	double fill_factor, overflow; /* as created */
	bool needs_repack; /* puts have made more overflow cells than that share: reorganise it */
	size_t nregions, nleaves; /* leaves: cells outside of regions */
};
SP_API void sp_cube_info(const struct sp_cube *cube, struct sp_cube_info *info);

/* What was created, or appended, at once. */
struct sp_cube_fragment {
	uint64_t lo[SP_CUBE_DIMS_MAX], hi[SP_CUBE_DIMS_MAX]; /* its elements, both included */
	uint64_t basic[SP_CUBE_DIMS_MAX];		     /* as in struct sp_cube_info */
	uint64_t first_block, end_block;		     /* of the data */
};
/* i < fragments of the info.  -ENOENT: newer fragments have taken over all that it had. */
SP_API SP_MUST_CHECK int sp_cube_fragment(const struct sp_cube *cube, size_t i,
					  struct sp_cube_fragment *fragment);

/* A region of a dataset of points: a grid of cells that MultiMap places. */
struct sp_cube_region {
	unsigned level;			 /* in the tree, of the nodes that are cells or have them */
	uint64_t lo[SP_CUBE_DIMS_MAX];	 /* its first coordinates ... */
	uint64_t cell[SP_CUBE_DIMS_MAX]; /* ... coordinates of a cell */
	uint64_t cells[SP_CUBE_DIMS_MAX]; /* ... and cells, along each dimension */
	uint64_t basic[SP_CUBE_DIMS_MAX];
	uint64_t points; /* when it was loaded or reorganised */
	uint64_t first_block, end_block;
};
/* Region number i of info.nregions. */
SP_API void sp_cube_region(const struct sp_cube *cube, size_t i, struct sp_cube_region *region);

/*
 * The first block of the cell that contains an element; of points -ENOENT where there is none
 * yet.
 */
SP_API SP_MUST_CHECK int sp_cube_block(const struct sp_cube *cube, const uint64_t *x,
				       uint64_t *block);
/* The first element of the cell that occupies a block; -ENOENT: none does. */
SP_API SP_MUST_CHECK int sp_cube_element(const struct sp_cube *cube, uint64_t block, uint64_t *x);

/* Every stride-th element from lo to hi, both included. */
struct sp_cube_box {
	uint64_t lo[SP_CUBE_DIMS_MAX], hi[SP_CUBE_DIMS_MAX], stride[SP_CUBE_DIMS_MAX];
};
/* The coordinates of points that belong in the cell that occupies a block; -ENOENT: none. */
SP_API SP_MUST_CHECK int sp_cube_node(const struct sp_cube *cube, uint64_t block,
				      struct sp_cube_box *box);

struct sp_cube_stats {
	struct sp_run_stats run;
	uint64_t elements;   /* asked for, or loaded */
	uint64_t cells;	     /* in which they lie */
	uint64_t requests;   /* as issued */
	uint64_t bytes;	     /* of them */
	uint64_t cell_bytes; /* of the cells alone: bytes beyond it were read to save requests */
	uint64_t seeks;	     /* requests that did not begin where the one before ended */
	uint64_t volume_requests[SP_CUBE_VOLUMES_MAX], volume_bytes[SP_CUBE_VOLUMES_MAX];
	double transfer_s;    /* of the requests alone, without opening and closing */
	uint64_t blank_lines; /* of CSV, which a load skipped */
};

/* A query of a workload: a box of elements, at a given position or at random ones. */
struct sp_cube_query {
	double weight;			 /* how often it is asked, among the others */
	uint64_t size[SP_CUBE_DIMS_MAX]; /* elements along each dimension; 0: all of it */
	bool at_given;			 /* false: each position is equally likely */
	uint64_t at[SP_CUBE_DIMS_MAX];	 /* the first element; 0 where size is */
};

struct sp_cube_workload {
	struct sp_cube_query *queries;
	size_t n;
	unsigned positions; /* of each query without one, drawn at random; 0: 20 */
	uint64_t seed;	    /* of the positions */
	unsigned depth;	    /* how requests are issued, as in struct sp_cube_opts; 0: 1 */
	bool no_coalesce;
};

/*
 * Reads lines "[WEIGHT] beam K [X,X,...]" (all elements along dimension K) and "[WEIGHT] range
 * SxSx... [X,X,...]" (S elements along each dimension, from X on); "#" begins a comment, and
 * the weight is 1 if there is none.  Fills in queries and n alone.  SP_ESYNTAX with the line;
 * -errno.
 */
SP_API SP_MUST_CHECK int sp_cube_workload_load(struct sp_cube_workload *w, const char *path,
					       const struct sp_cube_shape *shape,
					       struct sp_errinfo *err);
/* Adds the query of one such line. */
SP_API SP_MUST_CHECK int sp_cube_workload_add(struct sp_cube_workload *w, const char *query,
					      const struct sp_cube_shape *shape,
					      struct sp_errinfo *err);
SP_API void sp_cube_workload_free(struct sp_cube_workload *w);

/*
 * A mapping and what a workload costs on it; seconds are those of a mean query.  NaN: not known,
 * because the cube cannot be mapped so, nothing is known of the device, or it was not measured.
 */
struct sp_cube_candidate {
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX];
	double conservatism_deg;
	int code; /* 0, or why the cube cannot be mapped so: SP_EUNSUP, -ENOSPC, ... */
	char reason[SP_ERRINFO_TEXT_MAX];
	double waste; /* share of the space that is in no cell */
	double predicted_s;
	double early_s, late_s; /* if each aim were met, or missed, by two blocks more */
	double requests, bytes; /* predicted */
	double measured_s;
};

/* Each mapping, and last what AUTO chooses for the workload. */
#define SP_CUBE_CANDIDATES 6

/*
 * Predicts the workload of opts on every mapping of a cube of that shape and volume; order,
 * basic and conservatism_deg of opts hold for the mappings that are not AUTO's.  run: also
 * makes the requests on the simulated volume, without any data.
 */
SP_API SP_MUST_CHECK int sp_cube_compare(const struct sp_cube_create_opts *opts, bool run,
					 struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES],
					 struct sp_errinfo *err);

/* Takes the next bytes of a result; not 0: stop with this code. */
typedef int (*sp_cube_sink)(void *arg, const void *data, size_t bytes);

/*
 * Reads the elements of a box, in rows along dimension 0, into a sink; sink NULL: only the I/O
 * is done, whose bytes nobody sees.  A result larger than the memory given is read in parts.
 *
 * The points of a box come sorted, the last coordinate first, those of one place by the bytes of
 * their values: with temporary files where the memory is small.  SP_EUNSUP: a stride.
 */
SP_API SP_MUST_CHECK int sp_cube_read(struct sp_cube *cube, const struct sp_cube_box *box,
				      sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				      struct sp_errinfo *err);
/* Forms of data outside of a cube. */
enum sp_cube_format {
	SP_CUBE_RAW, /* elements in rows along dimension 0 (or in another order), nothing else */
	SP_CUBE_NPY, /* NumPy's .npy: shape (S0, S1, ...), fortran_order when written */
	SP_CUBE_CSV, /* a line for each element: X0,X1,...,VALUE */
};
SP_ENUM(sp_cube_format)

/*
 * The same into a stream.  CSV has numbers as decimal text that gives the same number back,
 * bytes as hexadecimal digits.
 */
SP_API SP_MUST_CHECK int sp_cube_export(struct sp_cube *cube, const struct sp_cube_box *box,
					enum sp_cube_format format, FILE *out,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

#define SP_CUBE_VALUE_MAX 64 /* of a number as text */

/*
 * An element from text: a number in the range of its type, or 2 hexadecimal digits for each
 * byte.  SP_ESYNTAX.
 */
SP_API SP_MUST_CHECK int sp_cube_value_parse(const struct sp_cube_shape *shape, const char *text,
					     void *element);
/* The reverse; text has SP_CUBE_VALUE_MAX bytes, and 2 more for each byte of an opaque element. */
SP_API void sp_cube_value_print(const struct sp_cube_shape *shape, const void *element, char *text);

/*
 * One element.  Of points: -ENOENT if there is none, else the first one; put adds a point.
 *
 * A put that is interrupted, or fails, leaves the old element or the new one.  A cube that was made
 * by a version without a log of puts (spindle-cube(5)) has no such protection: there an interrupted
 * put can damage the extent.  Signals wait until put returns.
 */
SP_API SP_MUST_CHECK int sp_cube_get(struct sp_cube *cube, const uint64_t *x, void *element,
				     struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_cube_put(struct sp_cube *cube, const uint64_t *x, const void *element,
				     struct sp_errinfo *err);

struct sp_cube_load_opts {
	enum sp_cube_format format; /* only SP_CUBE_RAW has order, offset, byte order */
	/*
	 * With SP_CUBE_RAW, and without order, offset and byte order: an input that begins as a
	 * .npy file does is one.
	 */
	bool detect;
	bool ordered;
	unsigned order
		[SP_CUBE_DIMS_MAX]; /* dimensions of the input, fastest first; default 0, 1, ... */
	uint64_t offset;	    /* of the first element in the input, bytes */
	bool big_endian;	    /* numbers of the input */
	bool resume;		    /* go on after an interrupted load of the same input */
	/*
	 * CSV: what coordinates are divided by; if any is not 0, values are added to those of
	 * their elements.
	 */
	uint64_t rollup[SP_CUBE_DIMS_MAX];
};

/*
 * Loads all elements from a file; "-" is standard input.  SP_EFORMAT: it is too
 * short or too long.  After an interruption a load with the same input and order can go on
 * where it stopped: layers that are complete are skipped.
 *
 * CSV sets the elements that its lines name, in any order, the last line of each counting; the
 * others keep their values.  A first line whose first field is no number is skipped, and blank
 * ones, which stats count.  SP_EFORMAT, -ERANGE: a line that is wrong, with its number.  A roll-up
 * needs numbers and a fill of 0; -ERANGE: an integer that its sum does not fit.
 *
 * A load that fails leaves a complete cube as it was, where its volumes have the space for a copy.
 * Otherwise elements are overwritten; a roll-up is -ENOSPC then.
 */
SP_API SP_MUST_CHECK int sp_cube_load(struct sp_cube *cube, const char *input,
				      const struct sp_cube_load_opts *opts,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);
/*
 * Makes the tree and all cells of a dataset of points anew, in a new file that takes the name of
 * the old one when it is complete.  Loading points does the same, with those of the input added.
 * SP_EUNSUP: the dataset is a grid, or its file cannot be replaced.
 */
SP_API SP_MUST_CHECK int sp_cube_reorganise(struct sp_cube *cube, struct sp_cube_stats *stats,
					    struct sp_errinfo *err);

/*
 * Appends count elements along a dimension from a file, in the form that opts say, without
 * format CSV, resume and rollup; all other dimensions stay as they are.  count 0: as many as
 * the input has; input NULL: elements of value fill, for cubes without data too.  They get a
 * part of their own, on blocks behind or between those in use; so do elements that share tiles,
 * along dimension 0 extents, with them.  Until all is on the device the cube stays as it was.
 *
 * SP_EFORMAT: the input is no whole number of layers; SP_ESTATE: a load was interrupted;
 * SP_EUNSUP: the cube has 1000 fragments.
 */
SP_API SP_MUST_CHECK int sp_cube_append(struct sp_cube *cube, unsigned dim, uint64_t count,
					const char *input, const struct sp_cube_load_opts *opts,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

struct sp_cube_check {
	uint64_t cells, absent;			  /* never written */
	uint64_t points;			  /* in cells that are not damaged */
	uint64_t damaged;			  /* extents whose checksum differs */
	uint64_t first_damaged[SP_CUBE_DIMS_MAX]; /* an element of the first of them */
	bool superblock; /* one of the two is not valid, as sp_cube_info says */
	bool put;	 /* one was interrupted, and its element is read from the log of puts */
};
/* Verifies all checksums.  0, also if something is damaged. */
SP_API SP_MUST_CHECK int sp_cube_verify(struct sp_cube *cube, struct sp_cube_check *check,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

/* What was repaired. */
struct sp_cube_repair {
	bool put;	 /* an interrupted put was finished */
	bool superblock; /* the superblock that was not valid was written again from the other */
};
/*
 * Repairs what has a copy that is right; the cube is open to write.  Returns 0, also if there was
 * nothing to repair; -EBADF: it is open to read; errors of writing.
 */
SP_API SP_MUST_CHECK int sp_cube_repair(struct sp_cube *cube, struct sp_cube_repair *done,
					struct sp_errinfo *err);

#endif
