/* SPDX-License-Identifier: MIT */
/*
 * The open file of a table.  All inner rooms above this one share it.
 *
 * Only this room opens and closes the files, and writes to path, cells, env and redo.  Rooms
 * above it change these members, while they hold the exclusive lock, before sp__tablefile_commit():
 *	superblock	records, deleted
 *	schema		changing of a column; words of dictionaries (schema_changed says so)
 *	map		by the functions of file/map.h
 *
 * How a table is created: sp__tablefile_create(); write cells of areas that the map has;
 * sp__tablefile_commit(); sp__tablefile_publish(); sp__tablefile_close(), which discards what was
 * not published.
 *
 * How a table is changed: sp__tablefile_open() with `write`; sp__redo_begin(); sp__redo_put() for
 * cells that the state before has, sp__tablefile_write() for new ones; sp__tablefile_commit().
 *
 * Thread rule: one thread at a time, except that any thread may read its members meanwhile.
 */
#pragma once

#include <spindle/table.h>
#include "cells/cellfile.h"
#include "cells/creation.h"
#include "cells/requests.h"
#include "run/env.h"
#include "table/file/areastream.h"
#include "table/file/cell.h"
#include "table/file/superblock.h"

struct sp_outfile;
struct sp__clotho_file;

/* Changed cells that are not yet in place (table/file/redo.h). */
struct sp__redo {
	bool open;
	uint64_t first;	    /* cell of the file where the journal begins */
	uint64_t max_cells; /* for which it has space */
	uint64_t area_cells;
	uint64_t cells; /* put so far */
	uint64_t at;	/* bytes of records so far, */
	uint64_t spent; /* and those whose time has been taken on a simulated volume */
};

/* A volume that is created aside: it appears when it is complete. */
struct sp__newvolume {
	struct sp_outfile *out; /* NULL: it is written in place */
	int replaced;		/* the file that has the name now, locked; -1: none */
};

struct sp__tablefile {
	struct sp_run_opts run;	    /* volume: the one in use */
	unsigned depth;		    /* set by the shell; 0: the default; */
	sp_table_progress progress; /* and this; NULL: none */
	void *progress_arg;
	enum sp_table_dsm_join dsm_join; /* set by read/choice.c */
	struct sp__clotho_file *pool; /* set by clotho/attach.c: reads through frames; NULL: none */
	/* If there is a pool: a cell was written in place; data: NULL: perhaps. */
	void (*written)(struct sp__tablefile *f, uint64_t cell, const uint8_t *data);
	bool settled;	 /* open for changes, and its last state is on the device */
	bool unfinished; /* a committed change is not in place: only closing is possible */
	struct sp__cellfile cells; /* all volumes; one: all cells are in the first file */
	const char *path;	   /* of the first volume */
	struct sp__env env;
	const struct sp__env *plan;		/* whose device and trace env shares; NULL: none */
	struct sp__queue *queue;		/* of single requests on a simulated volume */
	struct sp__table_superblock superblock; /* of its layout only cell_bytes is set */
	uint64_t committed;			/* records of the last state that was written */
	struct sp__schema schema;
	bool schema_changed;
	struct sp__table_layout layout;
	struct sp__table_map map;
	struct sp__areastream directory, tombstones;
	uint32_t row_entries; /* of a directory row; */
	uint32_t *entries;    /* of each column: its entry there, UINT32_MAX: none */
	struct sp__redo redo;
	/* Since the shell set them to zero: by this room, and its requests. */
	uint64_t cells_read, cells_written;
	struct sp__io_counters io;
	/* While a table is created. */
	bool creating, published;
	struct sp__newvolume *created; /* of each volume; */
	struct sp__creation creation;  /* of devices, and files that must be written in place */
};

/*
 * Opens a table; finishes a change that was interrupted when it was complete.  Returns 0;
 * SP_EFORMAT if it is not a table, or of another version; SP_ECORRUPT if it is damaged; SP_ESTATE
 * if another process uses it; SP_EUNSUP; -ENOMEM; or -errno.  After an error, too, it must be
 * closed.
 */
SP_MUST_CHECK int sp__tablefile_open(struct sp__tablefile *f, const char *path,
				     const struct sp_run_opts *run, bool write,
				     struct sp_errinfo *err);
/*
 * Opens a table as a part of a plan: device, virtual time, trace and errors are the plan's.  plan:
 * NULL: none.  Errors as above.
 */
SP_MUST_CHECK int sp__tablefile_open_in(struct sp__tablefile *f, const char *path,
					const struct sp_run_opts *run, const struct sp__env *plan,
					bool write, struct sp_errinfo *err);
/*
 * Closes the file, and discards a new one that was not published.  Returns the error of the trace.
 */
int sp__tablefile_close(struct sp__tablefile *f);

/*
 * Creates a table without records; takes over schema, layout and placement.  lanemap: NULL:
 * contiguous.  names: of the drives after the first one, each a file or device of its own; NULL:
 * all are in the first file.  With run->seed the table's id follows from it, so equal inputs make
 * equal files.
 * Returns 0; -EPERM or -EEXIST if a device, a volume, or a file that is written in place needs
 * run->overwrite; SP_ESYNTAX if a volume is named twice; SP_ESTATE; SP_EUNSUP; -ENOSPC if a device
 * is smaller than the drive; -ENOMEM; or -errno.  After an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__tablefile_create(struct sp__tablefile *f, const char *path,
				       const struct sp_run_opts *run, struct sp__schema *schema,
				       struct sp__table_layout *layout,
				       struct sp__lanemap **lanemap, const char *const *names,
				       struct sp_errinfo *err);
/*
 * Makes a created table one without data: it has the cells that so many records would have, but
 * they are never written, and requests for them take only time.  Its volume is simulated.  Returns
 * 0; SP_EUNSUP if it has a column of text, whose cells nothing determines; -ENOMEM; or -ENOSPC.
 */
SP_MUST_CHECK int sp__tablefile_leave_blank(struct sp__tablefile *f, uint64_t records,
					    struct sp_errinfo *err);
/* Returns 0, or SP_EUNSUP if the table has no data: a command needs it. */
int sp__tablefile_blank(const struct sp__tablefile *f, struct sp_errinfo *err);
/*
 * Gives a created table, which was committed, its name: the first file is the last one that gets
 * it.
 */
SP_MUST_CHECK int sp__tablefile_publish(struct sp__tablefile *f, struct sp_errinfo *err);

/*
 * Writes the next state: directory and tombstones, schema and map if they have changed, the
 * journal, then the superblock.  Returns 0 when it is on the device.  After an error the old state
 * counts, unless f->unfinished is set: then the next program that opens the table finishes it.
 */
SP_MUST_CHECK int sp__tablefile_commit(struct sp__tablefile *f, struct sp_errinfo *err);

/*
 * Enclose a command that reads: locks the file, and checks that it has the state that was opened.
 * Returns 0 or SP_ESTATE.
 */
SP_MUST_CHECK int sp__tablefile_begin_reading(const struct sp__tablefile *f,
					      struct sp_errinfo *err);
void sp__tablefile_end_reading(const struct sp__tablefile *f);

/* Tells how far a command is that has read all records before this one. */
static inline void sp__tablefile_tell(const struct sp__tablefile *f, uint64_t record)
{
	const uint64_t bytes = f->map.end * f->layout.cell_bytes;

	if (f->progress && f->superblock.records)
		f->progress(
			f->progress_arg, 0,
			(uint64_t)((double)bytes * (double)record / (double)f->superblock.records),
			bytes);
}

/*
 * Adds space, so that the data area has so many cells, consecutive ones if they are new.  Returns
 * 0, -ENOMEM, or -ENOSPC if a device is too small.
 */
SP_MUST_CHECK int sp__tablefile_reserve(struct sp__tablefile *f, uint64_t data_cells,
					struct sp_errinfo *err);
/* Does so for an A-page: adds its strip, or A-pages of EXTENT_BYTES.  Errors as above. */
SP_MUST_CHECK int sp__tablefile_reserve_page(struct sp__tablefile *f, uint64_t page,
					     struct sp_errinfo *err);
/* Releases space that so many records do not need.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__tablefile_release(struct sp__tablefile *f, uint64_t records);
/* Returns the bytes of the address space up to a cell, on all drives. */
static inline uint64_t sp__tablefile_bytes(const struct sp__tablefile *f, uint64_t end)
{
	const struct sp__lanemap *s = f->superblock.lanemap;

	return (end + (s ? (s->volumes - 1) * s->volume_cells : 0)) * f->layout.cell_bytes;
}

/* Returns the bytes that each file of the table has at least. */
static inline uint64_t sp__tablefile_length(const struct sp__tablefile *f, uint64_t end)
{
	return f->cells.n > 1 ? end * f->layout.cell_bytes : sp__tablefile_bytes(f, end);
}

/* Sets what a layout with lanes has of its placement; NULL: lanes are not apart. */
static inline void sp__layout_follow(struct sp__table_layout *l, const struct sp__lanemap *m)
{
	struct sp__lanemap_info info;

	if (!m)
		return;
	info = sp__lanemap_info(m);
	l->stripe_pages = info.stripe_pages;
	l->one_stripe = info.one_stripe;
	l->align_bytes = info.align_bytes;
}

/* Returns the options of a queue for its cells; depth: 0: the default one. */
static inline struct sp__queue_opts sp__tablefile_queue(const struct sp__tablefile *f,
							unsigned depth)
{
	return (struct sp__queue_opts){ .engine = f->run.engine,
					.depth = depth,
					.trace = f->env.trace,
					.device = f->env.device };
}
/* The location of a cell of the file. */
struct sp__cell_location {
	struct sp__volume *volume; /* NULL: the table is being opened; all have one alignment */
	int fd;			   /* not direct */
	const char *name;
	uint64_t offset;
};

/* Finds a cell of the file; those after it are at the following offsets. */
static inline struct sp__cell_location sp__tablefile_locate(const struct sp__tablefile *f,
							    uint64_t cell)
{
	const uint64_t k = f->cells.n > 1 ? cell / f->map.lanemap->volume_cells : 0;
	const struct sp__cellvolume *v = &f->cells.volumes[k];

	cell -= k ? k * f->map.lanemap->volume_cells : 0;
	return (struct sp__cell_location){ v->volume, v->fd, v->name, cell * f->layout.cell_bytes };
}

/*
 * Makes a request of this owner that reads consecutive cells of the file into data, which has
 * sp__request_capacity() bytes.  Returns where the first cell will be.
 */
static inline uint8_t *sp__tablefile_aim(const struct sp__tablefile *f, struct sp__request *r,
					 struct sp__io_owner *owner, uint64_t cell, uint64_t cells,
					 void *data)
{
	const struct sp__cell_location at = sp__tablefile_locate(f, cell);

	return (uint8_t *)sp__request_aim(r, owner, at.volume, at.offset,
					  (size_t)(cells * f->layout.cell_bytes), data);
}

/*
 * Counts a write that is made by the descriptor, `at` bytes after the beginning of a cell, and
 * takes its time; only a simulated volume takes any.
 * Returns 0, or an error of the machine.
 */
SP_MUST_CHECK int sp__tablefile_spend(struct sp__tablefile *f, uint64_t cell, uint64_t at,
				      size_t bytes, struct sp_errinfo *err);
/* Returns 0, or -ENOSPC if the device of a table has fewer bytes than `need`. */
SP_MUST_CHECK int sp__tablefile_check_end(const struct sp__volume *v, const char *path,
					  uint64_t need, struct sp_errinfo *err);
/*
 * Records that cells were not taken: on drives that are full, for what, and what to do.  Returns
 * rc.
 */
int sp__tablefile_no_place(const struct sp__tablefile *f, int rc, const char *what,
			   struct sp_errinfo *err);
/*
 * Read and write consecutive cells of the file, and wait; without data they are read as zeros.
 * Return 0, SP_ECORRUPT, or -errno.
 */
SP_MUST_CHECK int sp__tablefile_read(struct sp__tablefile *f, uint64_t cell, uint64_t cells,
				     uint8_t *data, struct sp_errinfo *err);
SP_MUST_CHECK int sp__tablefile_write(struct sp__tablefile *f, uint64_t cell, uint64_t cells,
				      const uint8_t *data, struct sp_errinfo *err);
/*
 * Checks a cell that was read, unless the table has no data.  Returns 0, or SP_ECORRUPT:
 * sp__tablefile_damaged().
 */
SP_MUST_CHECK int sp__tablefile_check_cell(const struct sp__tablefile *f, uint64_t cell,
					   uint32_t records, enum sp__cell_kind kind,
					   const uint8_t *data, struct sp_errinfo *err);
/*
 * Describes a cell that must not be used: its number, what is wrong with it, which records and
 * columns it has.  Returns SP_ECORRUPT.
 */
int sp__tablefile_damaged(const struct sp__tablefile *f, uint64_t cell, uint32_t records,
			  enum sp__cell_kind kind, const uint8_t *data, struct sp_errinfo *err);
/* Makes the text of that message, without the file's name. */
void sp__tablefile_describe(const struct sp__tablefile *f, uint64_t cell, uint32_t records,
			    enum sp__cell_kind kind, const uint8_t *data, char *text,
			    size_t capacity);

/*
 * Fills in what the run environment knows of a command, and that direct requests were refused, if
 * they were.  Adds the requests of single cells; those of a queue are added by its owner.
 */
void sp__tablefile_note(const struct sp__tablefile *f, struct sp_run_stats *stats);

/* file/areastream.c: bytes over the payloads of consecutive cells. */
SP_MUST_CHECK int sp__stream_write(struct sp__tablefile *f, enum sp__cell_kind kind,
				   const struct sp__table_stream *s, const uint8_t *bytes,
				   struct sp_errinfo *err);
/* *bytes: allocated, the caller frees. */
SP_MUST_CHECK int sp__stream_read(struct sp__tablefile *f, enum sp__cell_kind kind,
				  const struct sp__table_stream *s, uint8_t **bytes,
				  struct sp_errinfo *err);
