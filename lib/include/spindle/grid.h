/* SPDX-License-Identifier: MIT */
/*
 * Grids of cells: their mappings to blocks, their distribution over volumes, and boxes in them.
 * <spindle/cube.h> includes this header.
 *
 * Coordinates are arrays with one number per dimension, counted from 0; dimension 0 comes first.
 *
 * Thread rule: any thread.
 */
#ifndef SPINDLE_GRID_H
#define SPINDLE_GRID_H

#include <spindle/enum.h>

#define SP_CUBE_DIMS_MAX 16

enum sp_cube_mapping {
	SP_CUBE_AUTO, /* the fastest mapping for the workload, or for beams and a box */
	SP_CUBE_MULTIMAP,
	SP_CUBE_NAIVE, /* rows along dimension 0, one after the other */
	SP_CUBE_ZORDER,
	SP_CUBE_HILBERT,
	SP_CUBE_GRAY,
};
SP_ENUM(sp_cube_mapping)

/* Distributions of basic cubes over several volumes. */
enum sp_cube_decluster {
	SP_CUBE_DISK_MODULO, /* volume: sum of the coordinates modulo the number of volumes */
	SP_CUBE_ROUND_ROBIN, /* volume: number of the basic cube modulo the number of volumes */
};
SP_ENUM(sp_cube_decluster)

#define SP_CUBE_VOLUMES_MAX 64

/* A box: every stride-th element from lo to hi, both included. */
struct sp_cube_box {
	uint64_t lo[SP_CUBE_DIMS_MAX], hi[SP_CUBE_DIMS_MAX], stride[SP_CUBE_DIMS_MAX];
	uint32_t indexed; /* .npy: leaves out dimension d, of one element, if bit d is set */
};

#endif
