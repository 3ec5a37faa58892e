/* SPDX-License-Identifier: MIT */
/*
 * An open cube, shared by the files of this folder.  One thread uses it.
 */
#ifndef SP__CUBE_CUBE_IMPL_H
#define SP__CUBE_CUBE_IMPL_H

#include <sys/stat.h>
#include "cube/file/pointset.h"
#include "run/env.h"

/* A put that was interrupted: an extent as it is to be (cube/file/putlog.h). */
struct sp__pending {
	uint64_t block, x[SP_CUBE_DIMS_MAX]; /* of its first cell */
	uint32_t sum;
	void *record;
	uint8_t *extent; /* in record; NULL: there is none */
};

struct sp_cube {
	struct sp_cube_opts opts; /* run.volume: the one in use */
	char *path;
	struct sp__cube_superblock superblock;
	struct sp__pointset set; /* of a dataset of points */
	struct sp__pending pending;
	uint64_t cell_bytes;
	uint64_t progress_bytes; /* loaded between two notes of progress */
	struct sp__env env;
	int fd;		   /* for the head and the table of checksums */
	const char *drive; /* the simulated volume, or each of several; NULL: none */
	char *array;	   /* the specification of several as one device */
	struct sp__volume *volumes[SP_CUBE_VOLUMES_MAX]; /* for cells; own descriptors */
};

/*
 * A cube on a simulated volume that has no file: its requests take time and move nothing.
 * Takes over the contents of head.
 */
SP_MUST_CHECK int sp__cube_open_planned(struct sp_cube **cube, struct sp__cube_superblock *head,
					const struct sp_cube_opts *opts, struct sp_errinfo *err);

/* For those who change the cube, until it is closed.  SP_ESTATE: others use it. */
SP_MUST_CHECK int sp__cube_lock(struct sp_cube *c, struct sp_errinfo *err);
/* SP_ESTATE: the descriptor is not that of the file with the head, which had the same name. */
SP_MUST_CHECK int sp__cube_check_same(const struct sp_cube *c, int fd, struct sp_errinfo *err);
/* Around what reads cells.  SP_ESTATE: the cube is being changed, or was since it was opened. */
SP_MUST_CHECK int sp__cube_begin_reading(struct sp_cube *c, struct sp_errinfo *err);
void sp__cube_end_reading(const struct sp_cube *c);
/* sp_cube_read() between these two. */
SP_MUST_CHECK int sp__cube_read(struct sp_cube *cube, const struct sp_cube_box *box,
				sp_cube_sink sink, void *arg, struct sp_cube_stats *stats,
				struct sp_errinfo *err);

/*
 * Before the first change of a call: writes the extent of a put that was interrupted to its place.
 */
SP_MUST_CHECK int sp__put_settle(struct sp_cube *c, struct sp_errinfo *err);
/*
 * Before cells change: gives the cube and its further volumes a new generation; the next head
 * that says that the change has ended is written with marking unset.
 */
SP_MUST_CHECK int sp__cube_begin_change(struct sp_cube *c, struct sp_errinfo *err);

/* Requests of a simulated volume move no bytes. */
void sp__cube_hollow(struct sp_cube *c, bool hollow);
/* Waits until the cells that were written are on their devices. */
SP_MUST_CHECK int sp__cube_sync(const struct sp_cube *c, struct sp_errinfo *err);
/* Bytes of working memory for one part of a query or a load, beside the I/O buffers. */
uint64_t sp__cube_fragment_bytes(const struct sp_cube *c);

/* SP_ESYNTAX or -ERANGE with the reason: a box outside of the dataset. */
SP_MUST_CHECK int sp__cube_check_box(const struct sp_cube *c, const struct sp_cube_box *box,
				     struct sp_errinfo *err);
/* SP_ESTATE with the reason: a load was interrupted. */
SP_MUST_CHECK int sp__cube_check_finished(const struct sp_cube *c, const char *op,
					  struct sp_errinfo *err);
/* Whether elements can be read and changed; else SP_EUNSUP or SP_ESTATE with the reason. */
SP_MUST_CHECK int sp__cube_check_elements(const struct sp_cube *c, const char *op,
					  struct sp_errinfo *err);
/* Whether these are of the same file or device. */
bool sp__cube_same_file(const struct stat *a, const struct stat *b);
/* SP_EUNSUP: the descriptor is one of the cube itself; -EISDIR. */
SP_MUST_CHECK int sp__cube_check_input(const struct sp_cube *c, int fd, const char *name,
				       struct sp_errinfo *err);
/* The cells that have elements of a box. */
struct sp_cube_box sp__cube_cells(const struct sp_cube_shape *s,
				  const struct sp_cube_box *elements);

#endif
