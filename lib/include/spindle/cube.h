/* SPDX-License-Identifier: MIT */
/*
 * Cubes: N-dimensional datasets on disk.  Reading a line along any dimension, or a box, is fast.
 *
 * A dataset is a grid of elements.  A tile of elements fills one cell, a whole number of blocks.  A
 * mapping determines the blocks of a cell: MultiMap, which follows the tracks of the drive, or a
 * linear order (rows, or a space-filling curve).  The file begins with a superblock that has all
 * inputs of the mapping, so the geometry file is not needed after creation.
 *
 * Coordinates are arrays with one number per dimension, counted from 0; dimension 0 comes first.
 * In memory, in files of raw data and in results, the elements of a box are in rows along dimension
 * 0: its coordinate changes fastest.  Elements that were never written, and elements of tiles
 * beyond the ends of the dataset, have the value fill.
 *
 * A dataset of points is not a grid: only existing coordinates take space, and any number of points
 * can have the same coordinates.  A tree divides the space until the points of a node fit in a
 * cell.  MultiMap places regions of equal nodes; the other cells follow each other in a linear
 * order.  The same functions load, read, change and check points.  In files a point is N
 * coordinates of 8 bytes, little-endian, and its value.
 *
 * Locking: a cube open for writing is locked exclusively; opening it for reading and each read hold
 * a shared lock, and so see no partial change.  With keep_lock of struct sp_run_opts the lock is
 * kept until the cube is closed; without, a read fails if another process has changed the cube
 * since it was opened: open it again.  wait_ns is the time to wait for a lock.
 *
 * Errors: err may be NULL; on an error it receives a description.  Every function that
 * opens or reads a cube can return these codes, which its comment does not repeat:
 *   SP_ECORRUPT: a superblock, a checksum or a directory of points is damaged
 *   SP_EFORMAT: the file is not a cube, or of another version
 *   SP_ESTATE: another process uses the cube, or a load of it was interrupted
 *   SP_EBUDGET: the memory limit is too small
 *   -ERANGE: coordinates are outside of the dataset
 *   -ENOMEM: memory is short
 *   -errno: a file or device could not be opened, read or written
 *
 * Source: Shao 2008, chapter 5.
 *
 * Thread rule: one thread at a time uses a cube.
 */
#ifndef SPINDLE_CUBE_H
#define SPINDLE_CUBE_H

#include <stdio.h>
#include <spindle/grid.h>
#include <spindle/run.h>

#define SP_CUBE_ELEMENT_MAX 65536 /* bytes */

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

/*
 * Returns the bytes of an element of a type; 0 for SP_CUBE_BYTES.  Numbers are little-endian in the
 * file.
 */
SP_API uint32_t sp_cube_type_bytes(enum sp_cube_type type);

/* A key and its value, both text: a name, a unit, an origin. */
struct sp_cube_attribute {
	char *key, *value;
};

struct sp_cube_workload;

/* The shape of a dataset. */
struct sp_cube_shape {
	unsigned ndims;
	uint64_t dims[SP_CUBE_DIMS_MAX]; /* elements along each dimension */
	uint32_t tile[SP_CUBE_DIMS_MAX]; /* elements of a cell; all 0: about 4096 bytes */
	enum sp_cube_type type;
	uint32_t element_bytes; /* size for SP_CUBE_BYTES; otherwise 0 or the size of the type */
};

/* Options of a new cube. */
struct sp_cube_create_opts {
	/* Used are volume (NULL, or "sim:SPEC", stored in the cube), geometry and overwrite. */
	struct sp_run_opts run;
	struct sp_cube_shape shape;
	enum sp_cube_mapping mapping;
	bool ordered;			  /* order is given: */
	unsigned order[SP_CUBE_DIMS_MAX]; /* dimensions; the one along tracks or rows first */
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* cells of a basic cube, in this order; all 0: chosen */
	/*
	 * Degrees added to the aim of hops: time for the host, and for reading several cells of a
	 * row before the next row is due.  In two dimensions a hop is by one track.  If such hops
	 * need less than sp_geometry_aim(), creation lowers this value by at most the difference,
	 * but only as far as beams and boxes are predicted to be faster.
	 */
	double conservatism_deg;
	/*
	 * AUTO: maximum share of the space that is in no cell.  0: 50, or with queries no maximum.
	 */
	double waste_max_percent;
	/*
	 * AUTO: the workload for which mapping, order, basic cube and conservatism have the minimum
	 * predicted time.  NULL or without queries: only the mapping is chosen, for beams along
	 * each dimension and a box.  Curves over more than 4 dimensions are not chosen.  If the
	 * device is unknown, the mapping is SP_CUBE_NAIVE.
	 */
	const struct sp_cube_workload *workload;
	/*
	 * Number of files or devices over which basic cubes, and cells of points, are distributed;
	 * 0: 1.  volume_names:
	 * names of all except the first, relative to its folder; NULL: its name with ".1", ".2",
	 * ... appended.  With a simulated volume each is a drive of its own.
	 */
	unsigned volumes;
	const char *const *volume_names;
	enum sp_cube_decluster decluster;
	const void *fill; /* an element; NULL: zero bytes */
	bool no_data;	  /* the file gets no space for cells */
	bool awaits_load; /* state after an interrupted load: SP_ESTATE until one is complete */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
	/*
	 * A dataset of points.  dims limit the coordinates, which have at most 128 bits together.
	 * tile, fill, basic and no_data are not supported.  MultiMap places regions; the other
	 * cells are in rows.
	 */
	bool points;
	uint32_t cell_bytes; /* whole blocks, at most 1 MiB; 0: 4096, or more if a point needs it */
	double fill_factor;  /* maximum share of a cell that a load fills, at most 1 */
	double overflow;     /* overflow cells per cell from which on needs_repack is set */
	double underflow;    /* share of the points of the last load, below which it is set, too */
};

#define SP_CUBE_CREATE_OPTS_INIT                                                                   \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .conservatism_deg = 20, .fill_factor = 0.8,               \
		.overflow = 0.2, .underflow = 0.5                                                  \
	}

/*
 * Writes a new cube to a file, which must not exist unless run.overwrite is set, or to a block
 * device, which needs run.overwrite.  Further volumes follow the same rule.
 * Returns 0 or an error:
 *   SP_ESYNTAX: options are out of range or contradict each other
 *   SP_EUNSUP: the mapping is not possible for this shape or device, or a path is neither a file
 *       nor a block device
 *   -EEXIST: a file exists and run.overwrite is not set
 *   -EPERM: a path is a block device and run.overwrite is not set
 *   -ENOSPC: a volume is too small; err->text has the size needed
 *   SP_ESTATE: another process uses the file
 *   -ENOMEM: memory is short
 *   -errno: a file could not be created or written
 */
SP_API SP_MUST_CHECK int sp_cube_create(const char *path, const struct sp_cube_create_opts *opts,
					struct sp_errinfo *err);

struct sp_cube;

/* Options of an open cube. */
/* Phases of a command, of which it has one or both. */
enum sp_cube_phase {
	SP_CUBE_PHASE_INPUT, /* an input is checked, or points are sorted, before cells change */
	SP_CUBE_PHASE_CELLS, /* cells are read or written, or lines of CSV are merged into them */
};

struct sp_cube_opts {
	/* volume (NULL: that of the cube), memory_bytes, engine, direct, trace_path and locking */
	struct sp_run_opts run;
	bool write;		/* for the functions that change the cube */
	unsigned depth;		/* outstanding requests per volume; 0: 1 if simulated, else 16 */
	uint32_t request_bytes; /* maximum size of a request; 0: 1 MiB */
	bool no_coalesce;	/* never read blocks that no cell of a query needs */
	bool verify;		/* verify checksums of queries' data and of both superblocks */
	bool unfinished; /* use elements after an interrupted load: the new, the old one, or fill */
	bool describe;	 /* open it although another process changes it; then it cannot be read */
	/*
	 * Reports the progress of loading, appending, reorganising, reading and verifying, in bytes
	 * of the phase, an enum sp_cube_phase; total_bytes 0: unknown.  NULL: none.  A thread of
	 * the call calls it at the start of a phase, and then at most about 10 times per second;
	 * never two threads concurrently.
	 */
	void (*progress)(void *arg, int phase, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/*
 * Opens a cube.  Release it with sp_cube_close().
 * Returns 0, a code of the list above, or:
 *   SP_EUNSUP: the file is neither a regular file nor a block device, a cube without data has no
 *       simulated volume, or its cells are not aligned for direct I/O
 *   SP_ESYNTAX: the volume is specified wrongly
 */
SP_API SP_MUST_CHECK int sp_cube_open(struct sp_cube **cube, const char *path,
				      const struct sp_cube_opts *opts, struct sp_errinfo *err);

/* Closes a cube; NULL is accepted.  Returns 0, or -errno if the trace could not be written. */
SP_API int sp_cube_close(struct sp_cube *cube);

/* Facts about a cube, which owns the pointers. */
struct sp_cube_info {
	struct sp_cube_shape shape;
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* cells of a basic cube; linear mappings: 0 */
	uint64_t cells[SP_CUBE_DIMS_MAX]; /* cells along each dimension */
	uint64_t all_cells;		  /* their product */
	uint32_t block_bytes, cell_blocks;
	uint64_t reach;	  /* MultiMap: D in tracks, else 0 */
	size_t zones;	  /* MultiMap: zones that it can use */
	size_t fragments; /* 1, and one more for each append */
	unsigned volumes;
	enum sp_cube_decluster decluster;
	uint64_t volume_blocks;		 /* block b of volume v is number v * volume_blocks + b */
	uint64_t first_block, end_block; /* blocks of the data on each volume */
	uint64_t waste_bytes;		 /* bytes of these blocks in no cell */
	uint64_t loaded; /* layers of elements loaded, along the slowest dimension of the load */
	bool complete, no_data; /* all elements are loaded; the cube has no data */
	/* One superblock is damaged, or its writer was killed: the last change may be missing. */
	bool alone;
	bool busy; /* it was opened with `describe` while another process was changing it */
	const char *unfinished;		 /* NULL, or the remedy for an interrupted load, as text */
	const char *const *volume_names; /* after the first one; NULL: one file, or FILE.1 ... */
	const char *volume;		 /* simulated volume, or NULL */
	const char *device;		 /* device of the geometry, or NULL */
	const void *fill;		 /* an element */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
	bool points; /* a dataset of points: cells, basic and waste_bytes are 0, the rest is set */
	uint64_t npoints, capacity; /* points; maximum number of points of a cell */
	uint64_t filled_cells;	    /* cells that got points in the last load or reorganisation */
	uint64_t overflow_cells;
	double fill_factor, overflow, underflow; /* see struct sp_cube_create_opts */
	uint64_t built_points; /* points after the last load or reorganisation; 0: not recorded */
	bool needs_repack; /* more overflow cells or fewer points than these allow: reorganise */
	size_t nregions, nleaves; /* leaves: cells outside of regions */
};

/* Fills in the facts about a cube.  Pointers are valid while the cube lives. */
SP_API void sp_cube_info(const struct sp_cube *cube, struct sp_cube_info *info);

/* A fragment: the box of elements that was created, or appended, by one call. */
struct sp_cube_fragment {
	uint64_t lo[SP_CUBE_DIMS_MAX], hi[SP_CUBE_DIMS_MAX]; /* elements, both included */
	uint64_t basic[SP_CUBE_DIMS_MAX];		     /* see struct sp_cube_info */
	uint64_t first_block, end_block;		     /* blocks of the data */
};

/*
 * Reports fragment i, counted from 0, below info.fragments.
 * Returns 0, or -ENOENT if newer fragments have replaced all of it.
 */
SP_API SP_MUST_CHECK int sp_cube_fragment(const struct sp_cube *cube, size_t i,
					  struct sp_cube_fragment *fragment);

/* A region of a dataset of points: a grid of cells that MultiMap maps. */
struct sp_cube_region {
	unsigned level;			  /* level in the tree of the nodes of the cells */
	uint64_t lo[SP_CUBE_DIMS_MAX];	  /* first coordinates */
	uint64_t cell[SP_CUBE_DIMS_MAX];  /* coordinates of a cell along each dimension */
	uint64_t cells[SP_CUBE_DIMS_MAX]; /* cells along each dimension */
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* see struct sp_cube_info */
	uint64_t points;		  /* points after the last load or reorganisation */
	uint64_t first_block, end_block;  /* blocks of the cells */
};

/* Reports region i, counted from 0, below info.nregions. */
SP_API void sp_cube_region(const struct sp_cube *cube, size_t i, struct sp_cube_region *region);

/*
 * Finds the first block of the cell that contains an element.
 * x: its coordinates.
 * Returns 0; -ERANGE if x is outside of the dataset; -ENOENT if a dataset of points has no cell
 * there yet.
 */
SP_API SP_MUST_CHECK int sp_cube_block(const struct sp_cube *cube, const uint64_t *x,
				       uint64_t *block);

/*
 * Finds the first element of the cell that occupies a block.
 * x: receives its coordinates.
 * Returns 0, or -ENOENT if no cell occupies the block.
 */
SP_API SP_MUST_CHECK int sp_cube_element(const struct sp_cube *cube, uint64_t block, uint64_t *x);

/*
 * Finds the coordinates of the points that belong in the cell that occupies a block.
 * Returns 0, or -ENOENT if no cell of points occupies the block.
 */
SP_API SP_MUST_CHECK int sp_cube_node(const struct sp_cube *cube, uint64_t block,
				      struct sp_cube_box *box);

/* Counters of one call; spindle-report(5) explains each. */
struct sp_cube_stats {
	struct sp_run_stats run;
	uint64_t elements;   /* elements requested, or loaded */
	uint64_t cells;	     /* cells that contain them */
	uint64_t requests;   /* requests submitted */
	uint64_t bytes;	     /* bytes of these requests */
	uint64_t cell_bytes; /* bytes of the cells; the others were read to save requests */
	uint64_t seeks;	     /* requests that did not begin at the end of the previous one */
	uint64_t volume_requests[SP_CUBE_VOLUMES_MAX], volume_bytes[SP_CUBE_VOLUMES_MAX];
	double transfer_s;		    /* time of the requests, without opening and closing */
	uint64_t blank_lines, header_lines; /* lines of CSV that a load skipped */
};

/* A query of a workload: a box of elements, at a given position or at random ones. */
struct sp_cube_query {
	double weight;			 /* frequency relative to the other queries */
	uint64_t size[SP_CUBE_DIMS_MAX]; /* elements along each dimension; 0: all */
	bool at_given;			 /* at has the position; false: all are equally likely */
	uint64_t at[SP_CUBE_DIMS_MAX];	 /* first element; 0 along dimensions with size 0 */
};

/* The queries of a workload, and how it is measured. */
struct sp_cube_workload {
	struct sp_cube_query *queries;
	size_t n;
	unsigned positions; /* random positions of each query without a position; 0: 20 */
	uint64_t seed;	    /* seed of the positions */
	unsigned depth;	    /* outstanding requests; 0: 1 */
	bool no_coalesce;   /* see struct sp_cube_opts */
};

/*
 * Reads the queries of a workload from a file and fills in queries and n.  Free them with
 * sp_cube_workload_free().
 *
 * A line is "[WEIGHT] beam K [X,X,...]" (all elements along dimension K) or "[WEIGHT] range SxSx...
 * [X,X,...]" (S elements along each dimension, from X on).  "#" begins a comment.  The default
 * weight is 1.
 * Returns 0; SP_ESYNTAX with the line in err->text; -ENOMEM; -errno if the file could not be opened
 * or read.
 */
SP_API SP_MUST_CHECK int sp_cube_workload_load(struct sp_cube_workload *w, const char *path,
					       const struct sp_cube_shape *shape,
					       struct sp_errinfo *err);

/*
 * Adds the query of one line of sp_cube_workload_load() to a workload.
 * Returns 0; SP_ESYNTAX with the reason in err->text; -ENOMEM.
 */
SP_API SP_MUST_CHECK int sp_cube_workload_add(struct sp_cube_workload *w, const char *query,
					      const struct sp_cube_shape *shape,
					      struct sp_errinfo *err);

/* Frees the queries of a workload. */
SP_API void sp_cube_workload_free(struct sp_cube_workload *w);

/*
 * The cost of a workload on one mapping.  Seconds, requests and bytes are means over queries.
 * NaN: unknown, because the mapping is not possible, the device is unknown, or it was not measured.
 */
struct sp_cube_candidate {
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX];
	double conservatism_deg; /* can be negative in two dimensions */
	int code; /* 0, or the reason why the mapping is not possible: SP_EUNSUP, -ENOSPC, ... */
	char reason[SP_ERRINFO_TEXT_MAX];
	double waste; /* share of the space that is in no cell, 0 to 1 */
	double predicted_s;
	double early_s, late_s; /* predicted_s if aims were 2 blocks easier, or harder, to meet */
	double closed_s; /* by Shao 2008, 5.6 to 5.14, for MULTIMAP and NAIVE on one volume */
	double requests, bytes; /* predicted */
	double measured_s;
};

/* Number of candidates: each mapping, and last the choice of AUTO; of points, the dataset. */
#define SP_CUBE_CANDIDATES 6

/*
 * Predicts the workload of opts on every mapping of a cube of that shape and volume. order, basic
 * and conservatism_deg of opts hold for all mappings except the choice of AUTO, as in creation.
 * run: also submits the requests to the simulated volume, without data.
 * Returns 0 or an error; a mapping that is not possible is not an error, but sets its code and
 * reason.
 *   SP_EUNSUP: run is set and the volume is not simulated
 *   SP_ESYNTAX: opts or the volume are wrong
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_cube_compare(const struct sp_cube_create_opts *opts, bool run,
					 struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES],
					 struct sp_errinfo *err);

/* Receives the next bytes of a result.  Returns 0, or a code that ends the call as its result. */
typedef int (*sp_cube_sink)(void *arg, const void *data, size_t bytes);

/*
 * Reads the elements of a box, in rows along dimension 0, and passes them to a sink.  If the memory
 * limit is too small for the result, the box is read in slabs.
 * Points come sorted by coordinates, the last coordinate first, then by the bytes of their values.
 * Sorting uses temporary files if the memory limit is too small.
 * sink: NULL: the data is read and dropped.
 * Returns 0, the code of sink, a code of the list above, or:
 *   SP_EUNSUP: a dataset of points, and the box has a stride
 *   SP_ESYNTAX: the box has a stride of 0, or lo exceeds hi
 */
SP_API SP_MUST_CHECK int sp_cube_read(struct sp_cube *cube, const struct sp_cube_box *box,
				      sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				      struct sp_errinfo *err);

/* Formats of data outside of a cube. */
enum sp_cube_format {
	SP_CUBE_RAW, /* only elements, in rows along dimension 0 (or in another order) */
	SP_CUBE_NPY, /* .npy of NumPy: shape (S0, S1, ...), written in fortran_order */
	SP_CUBE_CSV, /* a line for each element: X0,X1,...,VALUE */
};
SP_ENUM(sp_cube_format)

/*
 * Reads the elements of a box and writes them to a stream.  In CSV, numbers are decimal texts that
 * convert back to the same numbers; opaque elements are hexadecimal digits.
 * Returns 0, an error of sp_cube_read(), SP_EUNSUP for points as .npy, or -errno of writing.
 */
SP_API SP_MUST_CHECK int sp_cube_export(struct sp_cube *cube, const struct sp_cube_box *box,
					enum sp_cube_format format, FILE *out,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

#define SP_CUBE_VALUE_MAX 64 /* maximum bytes of a number as text */

/*
 * Parses an element: a number in the range of its type, or 2 hexadecimal digits per byte.
 * element: receives the bytes of the element.
 * Returns 0, or SP_ESYNTAX if the text is not such a value.
 */
SP_API SP_MUST_CHECK int sp_cube_value_parse(const struct sp_cube_shape *shape, const char *text,
					     void *element);

/*
 * Writes an element as text, so that sp_cube_value_parse() reads it back; f64 and f32 with the
 * fewest digits for this.
 * text: memory of the caller: SP_CUBE_VALUE_MAX bytes, and 2 more per byte of an opaque element.
 */
SP_API void sp_cube_value_print(const struct sp_cube_shape *shape, const void *element, char *text);

/*
 * Reads one element.  In a dataset of points it reads the first point at x.
 * Returns 0, a code of the list above, or -ENOENT if there is no point at x.
 */
SP_API SP_MUST_CHECK int sp_cube_get(struct sp_cube *cube, const uint64_t *x, void *element,
				     struct sp_errinfo *err);

/*
 * Writes one element.  In a dataset of points it adds a point.
 *
 * If a put is interrupted or fails, the element is the old one or the new one.  A cube of a version
 * without a log of puts (spindle-cube(5)) has no such protection: an interrupted put can damage the
 * extent.  Signals are blocked until the call returns.
 * Returns 0, a code of the list above, or:
 *   -EBADF: the cube is open for reading
 *   -ENOSPC: there is no space for a point
 *   SP_EUNSUP: the cube has no data
 */
SP_API SP_MUST_CHECK int sp_cube_put(struct sp_cube *cube, const uint64_t *x, const void *element,
				     struct sp_errinfo *err);

/*
 * Deletes an element: it gets the value fill again, as by a put.  In a dataset of points it deletes
 * all points at x, or those of them with a value.
 * Points that no longer need overflow cells give them back; other cells become smaller by a
 * reorganisation, see needs_repack.  If the call is interrupted or fails, no other point is lost,
 * and some of several points at x can be left.  Signals are blocked until the call returns.
 * value: an element; NULL: points with any value; NULL for a grid.
 * Returns 0, a code of the list above, or:
 *   -ENOENT: there is no such point
 *   -EBADF: the cube is open for reading
 *   -ENOSPC: there is no space for one more cell
 *   SP_EUNSUP: the cube has no data, or a value is given for a grid
 */
SP_API SP_MUST_CHECK int sp_cube_delete(struct sp_cube *cube, const uint64_t *x, const void *value,
					struct sp_errinfo *err);

/* The form of an input. */
struct sp_cube_load_opts {
	enum sp_cube_format format; /* only SP_CUBE_RAW has order, offset, byte order */
	/* raw, without order, offset and byte order: take what begins like a .npy file as one */
	bool detect;
	bool ordered;			  /* order is given; otherwise 0, 1, ... */
	unsigned order[SP_CUBE_DIMS_MAX]; /* dimensions of the input, fastest first */
	uint64_t offset;		  /* offset in bytes of the first element in the input */
	bool big_endian;		  /* the input has big-endian numbers */
	bool resume;			  /* continue an interrupted load of the same input */
	/* CSV: divisors of coordinates; if one is not 0, values are added to their elements */
	uint64_t rollup[SP_CUBE_DIMS_MAX];
};

/*
 * Loads all elements from a file.  After an interruption, a load of the same input with the same
 * order can continue: complete layers are skipped.
 *
 * CSV sets the elements of its lines, in any order; the last line of an element counts.  The other
 * elements keep their values.  A first record without any number is skipped as a header, and so
 * are blank lines; stats count both.  A roll-up needs numbers and a fill of 0.
 *
 * If a load fails, a complete cube stays as it was if its volumes have space for a copy.  Otherwise
 * elements are overwritten, and a roll-up returns -ENOSPC.
 * input: "-": standard input.
 * Returns 0, a code of the list above, or:
 *   SP_EFORMAT: the input is too short or too long, not a .npy file, or a line is wrong; err->text
 *       has its number
 *   -ERANGE: a line has coordinates outside of the dataset, or a sum exceeds its integer type
 *   SP_ESYNTAX: opts contradict each other or the input
 *   SP_EUNSUP: the cube has no data, or the input cannot be read
 *   -ENOSPC: the volumes have no space for a copy
 *   -EBADF: the cube is open for reading
 *   -EISDIR: the input is a directory
 */
SP_API SP_MUST_CHECK int sp_cube_load(struct sp_cube *cube, const char *input,
				      const struct sp_cube_load_opts *opts,
				      struct sp_cube_stats *stats, struct sp_errinfo *err);

/*
 * Compares all mappings of a dataset of points as sp_cube_compare() does.  Each is planned like a
 * load, by a sample of the points: as many as half of the memory limit holds.  The last candidate
 * is the dataset itself or, with an input, its mapping with these points added.
 * input: points, as for sp_cube_load(); NULL: none.
 * opts: workload, volume, geometry and conservatism are used.
 * sampled: receives the share of the points that the sample has.
 * Returns 0, an error of sp_cube_load() or sp_cube_compare(), -ENOENT if there are no points, or
 * SP_EBUDGET if the sample has too few points per cell.
 */
SP_API SP_MUST_CHECK int
sp_cube_compare_points(struct sp_cube *cube, const char *input,
		       const struct sp_cube_load_opts *load, const struct sp_cube_create_opts *opts,
		       bool run, struct sp_cube_candidate candidates[SP_CUBE_CANDIDATES],
		       double *sampled, struct sp_errinfo *err);

/*
 * Builds the tree and all cells of a dataset of points again, in free space of its file, and
 * replaces the old ones when all are complete.  Loading points does this, too, and adds the points
 * of the input.
 * Returns 0, a code of the list above, SP_EUNSUP for a grid, or -EBADF if it is open for reading.
 */
SP_API SP_MUST_CHECK int sp_cube_reorganise(struct sp_cube *cube, struct sp_cube_stats *stats,
					    struct sp_errinfo *err);

/*
 * Appends elements along a dimension from a file.  All other dimensions keep their sizes.  The new
 * elements get a fragment of their own, on blocks behind or between those in use.  Elements that
 * share tiles (along dimension 0 extents) with them move to it.  Until all data is on the device
 * the cube stays as it was.
 * count: number of elements along dim; 0: by the length of the input.
 * input: NULL: elements with the value fill, also for cubes without data.
 * opts: format CSV, resume and rollup are not supported.
 * Returns 0, a code of the list above, or:
 *   SP_EFORMAT: the input is not a whole number of layers
 *   SP_ESYNTAX: dim, count or opts are wrong
 *   SP_EUNSUP: the dataset has points, or the cube has 1000 fragments
 *   -ENOSPC: a volume is too small; err->text has the size needed
 */
SP_API SP_MUST_CHECK int sp_cube_append(struct sp_cube *cube, unsigned dim, uint64_t count,
					const char *input, const struct sp_cube_load_opts *opts,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

/* Result of a verification. */
struct sp_cube_check {
	uint64_t cells, absent;			  /* all cells; those never written */
	uint64_t points;			  /* points in undamaged cells */
	uint64_t damaged;			  /* extents whose checksum differs */
	uint64_t first_damaged[SP_CUBE_DIMS_MAX]; /* an element of the first of them */
	bool superblock; /* one of the two is not valid: see `alone` of struct sp_cube_info */
	bool put;	 /* a put was interrupted; its element is read from the log of puts */
};

/* Verifies all checksums.  Returns 0, also if data is damaged, or an error of the list above. */
SP_API SP_MUST_CHECK int sp_cube_verify(struct sp_cube *cube, struct sp_cube_check *check,
					struct sp_cube_stats *stats, struct sp_errinfo *err);

/* Repairs made. */
struct sp_cube_repair {
	bool put;	 /* an interrupted put was finished */
	bool superblock; /* the invalid superblock was written again from the other one */
};

/*
 * Repairs data that has a valid copy.  The cube must be open for writing.
 * Returns 0, also if nothing needed repair; -EBADF if the cube is open for reading; or a code of
 * the list above.
 */
SP_API SP_MUST_CHECK int sp_cube_repair(struct sp_cube *cube, struct sp_cube_repair *done,
					struct sp_errinfo *err);

#endif
