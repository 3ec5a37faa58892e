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
 * Errors: -ERANGE for coordinates outside of the dataset; SP_ECORRUPT for a checksum that
 * differs; SP_EFORMAT for a file that is no cube, or of another version; -ENOSPC with the size
 * needed for a volume that is too small; SP_ESYNTAX for options that contradict each other.
 * The reason is in err.
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
#include <spindle/words.h>

#define SP_CUBE_DIMS_MAX 16
#define SP_CUBE_ELEMENT_MAX 65536 /* bytes */

enum sp_cube_mapping {
	SP_CUBE_AUTO, /* MultiMap if the volume has tracks that hold it, else naive */
	SP_CUBE_MULTIMAP,
	SP_CUBE_NAIVE, /* rows along dimension 0, one after the other */
	SP_CUBE_ZORDER,
	SP_CUBE_HILBERT,
	SP_CUBE_GRAY,
};

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
	/* With AUTO: mapping, order, basic cube and conservatism for the least predicted time. */
	const struct sp_cube_workload *workload;
	const void *fill; /* an element; NULL: zero bytes */
	bool no_data;	  /* the file gets no room for cells */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
};

#define SP_CUBE_CREATE_OPTS_INIT                                                                   \
	{                                                                                          \
		.run = SP_RUN_OPTS_INIT, .conservatism_deg = 20                                    \
	}


struct sp_cube;

struct sp_cube_opts {
	/* volume: NULL: that of the cube; memory_bytes, engine, direct, trace_path */
	struct sp_run_opts run;
	bool write;		/* for sp_cube_load(), sp_cube_put() */
	unsigned depth;		/* outstanding requests; 0: 1 if simulated, else 16 */
	uint32_t request_bytes; /* the largest; 0: 1 MiB */
	bool no_coalesce;	/* never read blocks that no cell of a query needs */
	bool verify;		/* check checksums of what queries read */
};


/* Pointers live as long as the cube. */
struct sp_cube_info {
	struct sp_cube_shape shape;
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX]; /* cells; 0 of linear mappings */
	uint64_t cells[SP_CUBE_DIMS_MAX]; /* along each dimension */
	uint64_t all_cells;
	uint32_t block_bytes, cell_blocks;
	uint64_t reach;			 /* D of MultiMap, else 0 */
	size_t zones;			 /* that MultiMap uses or may use */
	uint64_t first_block, end_block; /* of the data */
	uint64_t waste_bytes;		 /* of them: not in any cell */
	uint64_t loaded; /* layers of elements along the slowest dimension of the load */
	bool complete, no_data;
	bool loading;	    /* a load has begun and not ended */
	const char *volume; /* the simulated one, or NULL */
	const char *device; /* of the geometry, or NULL */
	const void *fill;   /* an element */
	const struct sp_cube_attribute *attributes;
	size_t nattributes;
};


/* Every stride-th element from lo to hi, both included. */
struct sp_cube_box {
	uint64_t lo[SP_CUBE_DIMS_MAX], hi[SP_CUBE_DIMS_MAX], stride[SP_CUBE_DIMS_MAX];
};

struct sp_cube_stats {
	struct sp_run_stats run;
	uint64_t elements;   /* asked for, or loaded */
	uint64_t cells;	     /* in which they lie */
	uint64_t requests;   /* as issued */
	uint64_t bytes;	     /* of them */
	uint64_t cell_bytes; /* of the cells alone: bytes beyond it were read to save requests */
	uint64_t seeks;	     /* requests that did not begin where the one before ended */
	double transfer_s;   /* of the requests alone, without opening and closing */
};

/* A query of a workload: a box of elements, at a place or anywhere. */
struct sp_cube_query {
	double weight;			 /* how often it is asked, among the others */
	uint64_t size[SP_CUBE_DIMS_MAX]; /* elements along each dimension; 0: all of it */
	bool placed;			 /* at is given; else each place is equally likely */
	uint64_t at[SP_CUBE_DIMS_MAX];	 /* the first element; 0 where size is */
};

struct sp_cube_workload {
	struct sp_cube_query *queries;
	size_t n;
	unsigned places; /* at which each query that is not placed is looked at; 0: 20 */
	uint64_t seed;	 /* of the places */
	unsigned depth;	 /* how requests are issued, as in struct sp_cube_opts; 0: 1 */
	bool no_coalesce;
};


/* A mapping and what a workload costs on it; seconds are those of a mean query. */
struct sp_cube_candidate {
	enum sp_cube_mapping mapping;
	unsigned order[SP_CUBE_DIMS_MAX];
	uint64_t basic[SP_CUBE_DIMS_MAX];
	double conservatism_deg;
	int code; /* 0, or why the cube cannot be mapped so: SP_EUNSUP, -ENOSPC, ... */
	char reason[SP_ERRINFO_TEXT_MAX];
	double waste;		/* share of the space that is in no cell */
	double predicted_s;	/* NaN: nothing is known of the device */
	double early_s, late_s; /* if each aim were met, or missed, by two blocks more */
	double requests, bytes; /* predicted */
	double measured_s;	/* NaN: not measured */
};

/* Each mapping, and last what AUTO chooses for the workload. */
#define SP_CUBE_CANDIDATES 6


/* Takes the next bytes of a result; not 0: stop with this code. */
typedef int (*sp_cube_sink)(void *arg, const void *data, size_t bytes);

/* Forms of data outside of a cube. */
enum sp_cube_format {
	SP_CUBE_RAW, /* elements in rows along dimension 0 (or in another order), nothing else */
	SP_CUBE_NPY, /* NumPy's .npy: shape (S0, S1, ...), fortran_order when written */
	SP_CUBE_CSV, /* a line for each element: X0,X1,...,VALUE */
};


#define SP_CUBE_VALUE_MAX 64 /* of a number as text */



struct sp_cube_load_opts {
	enum sp_cube_format format; /* a .npy file says itself what follows; CSV has none of it */
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


struct sp_cube_check {
	uint64_t cells, absent;			  /* never written */
	uint64_t damaged;			  /* extents whose checksum differs */
	uint64_t first_damaged[SP_CUBE_DIMS_MAX]; /* an element of the first of them */
};

#endif
