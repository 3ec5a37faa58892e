/* SPDX-License-Identifier: MIT */
/*
 * Opens the files of a table, and closes them; removes new ones that were not published.
 *
 * What is read is checked before it is used: a superblock names schema and map, which must be valid
 * cells, agree with each other, and lie in the file.
 *
 * On a simulated volume the file occupies the device from its first block on.  Requests take the
 * time of the device, and move the bytes of the file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cells/lock.h"
#include "columns/schema.h"
#include "io/volume.h"
#include "table/file/commit.h"
#include "table/file/directory.h"
#include "table/file/open.h"
#include "table/file/volumes.h"

#define DIRECT_BYTES (UINT64_C(1) << 20) /* smaller tables are cached by the first read */

static int refuse(const struct sp__tablefile *f, int code, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, code, "open", f->path, -1, "%s", text);
}

int sp__tablefile_prepare(struct sp__tablefile *f, const char *path, const struct sp_run_opts *run,
			  bool write, struct sp_errinfo *err)
{
	int rc;

	*f = (struct sp__tablefile){ .run = *run };
	rc = sp__cellfile_begin(&f->cells, "table", path, run, write, err);
	f->path = f->cells.first.name;
	return rc;
}

/* Reads the superblock of a file that is open and locked. */
static int read_superblock(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__table_superblock_read(&f->superblock, f->cells.first.fd, f->path, err);

	if (rc)
		return rc;
	sp__layout_free(&f->layout);
	f->layout = f->superblock.layout;
	f->superblock.layout = (struct sp__table_layout){ .cell_bytes = f->layout.cell_bytes };
	f->committed = f->superblock.records;
	f->map.end = f->superblock.end;
	f->map.lanemap = f->superblock.lanemap;
	return 0;
}

static int open_file(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__cellfile_open(&f->cells, 0, err);

	if (rc == -ENOENT)
		return sp__volume_open_err(err, rc, f->path);
	return rc ? rc : read_superblock(f, err);
}

/* The bytes that are read, and words and their hash tables with twice the capacity. */
#define MEMORY_SHARE 5

static int lack_of_memory(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	if (!f->schema.budget_exceeded)
		return sp__err(err, -ENOMEM, "read", f->path, -1);
	return sp__errf(err, SP_EBUDGET, "open", f->path, -1,
			"its dictionaries need %llu bytes of memory",
			(unsigned long long)f->superblock.schema.bytes * MEMORY_SHARE);
}

/* Reads the schema; its dictionaries are charged to the budget. */
static int read_schema(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp__coder c;
	uint8_t *bytes;
	uint32_t group;
	int rc = sp__stream_read(f, SP__CELL_SCHEMA, &f->superblock.schema, &bytes, err);

	if (rc)
		return rc;
	f->schema.budget = &f->env.budget;
	f->schema.arrow = f->superblock.arrow;
	c = sp__coder_reader(bytes, f->superblock.schema.bytes);
	sp__budget_charge(&f->env.budget, c.bytes);
	sp__schema_code(&c, &f->schema);
	sp__budget_credit(&f->env.budget, c.bytes);
	rc = sp__coder_end(&c);
	free(bytes);
	if (rc == -ENOMEM)
		return lack_of_memory(f, err);
	if (!rc && f->schema.n == f->superblock.ncolumns)
		rc = sp__layout_compute(&f->layout, &f->schema, &group);
	else
		rc = SP_ECORRUPT;
	if (!rc)
		sp__layout_follow(&f->layout, f->map.lanemap);
	if (!rc && f->layout.lanes)
		rc = f->map.lanemap->lanes == f->layout.page_cells ? 0 : SP_ECORRUPT;
	if (rc == -ENOMEM)
		return lack_of_memory(f, err);
	if (rc || sp__schema_repeated(&f->schema) >= 0)
		return refuse(f, SP_ECORRUPT, err, "the schema is damaged");
	for (uint32_t i = 0; i < f->schema.n; i++)
		f->schema.columns[i].changed = f->superblock.changed[i];
	return 0;
}

/* True if the areas have the cells that so many records need. */
static bool areas_possible(const struct sp__tablefile *f)
{
	const uint64_t pages = sp__layout_pages(&f->layout, f->superblock.records);

	if (f->map.lanemap ? sp__lanemap_pages(f->map.lanemap) < pages
			   : sp__map_cells(&f->map, SP__AREA_DATA) <
				     sp__layout_data_cells(&f->layout, f->superblock.records))
		return false;
	return pages <= SP__TABLE_CELLS_MAX / 2 / f->layout.page_cells &&
	       sp__map_cells(&f->map, SP__AREA_DIRECTORY) >= f->directory.written &&
	       sp__map_cells(&f->map, SP__AREA_TOMBSTONES) >= f->superblock.tombstone_cells;
}

static int read_map(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const struct sp__table_stream *schema = &f->superblock.schema, *map = &f->superblock.map;
	const struct sp__table_extent others[] = { { schema->first, schema->cells, 0 },
						   { map->first, map->cells, 0 } };
	struct sp__coder c;
	uint8_t *bytes;
	int rc = sp__stream_read(f, SP__CELL_MAP, map, &bytes, err);

	if (rc)
		return rc;
	c = sp__coder_reader(bytes, map->bytes);
	sp__map_code(&c, &f->map);
	rc = sp__coder_end(&c);
	free(bytes);
	if (!rc) {
		rc = sp__map_possible(&f->map, sp__table_superblock_front(&f->superblock), others,
				      2);
		rc = rc == 1 ? 0 : rc ? rc : SP_ECORRUPT;
	}
	return rc == -ENOMEM ? sp__err(err, rc, "read", f->path, -1)
	       : rc	     ? refuse(f, rc, err, "the map is damaged")
			     : 0;
}

int sp__tablefile_open_areas(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__directory_open(f);

	if (rc)
		return sp__err(err, rc, "open", f->path, -1);
	sp__tombstones_open(f, f->superblock.tombstone_cells);
	f->directory.written =
		sp__directory_cells(f, sp__layout_rows(&f->layout, f->superblock.records));
	f->directory.old = f->directory.written;
	return areas_possible(f) ? 0 : refuse(f, SP_ECORRUPT, err, "the map is damaged");
}

int sp__tablefile_open_env(struct sp__tablefile *f, struct sp_errinfo *err)
{
	const unsigned drives = sp__table_drives(&f->superblock);
	int rc = sp__cellfile_set_volume(&f->cells, &f->run, f->superblock.volume, err);

	if (f->run.volume && drives > 1 && !f->plan)
		f->run.geometry = NULL; /* of one drive */
	return rc ? rc : sp__cellfile_open_env(&f->cells, &f->env, &f->run, f->plan, drives, err);
}

/* True if reading past the page cache is requested, or faster: little of the file is cached. */
static bool wants_direct(const struct sp__tablefile *f)
{
	const struct sp__cellvolume *v = &f->cells.first;

	if (f->cells.write || f->env.device || !f->run.direct)
		return false;
	return f->run.direct > 0 || (v->volume->size_bytes >= DIRECT_BYTES &&
				     !sp__file_cached(v->fd, 0, v->volume->size_bytes));
}

/*
 * A table with lanes has the device from its first block on, so its cells are where the
 * mapping says.  A new one has all of it, one that may grow half of the rest of the last drive;
 * what is left is for the files of indexes.  Several in one plan share the device: their cells lie
 * on different tracks.  Returns SP_EUNSUP if the drives are not those of the mapping.
 */
static int take_device(const struct sp__tablefile *f, uint64_t *bytes, struct sp_errinfo *err)
{
	const struct sp__lanemap *s = f->superblock.lanemap;
	const struct sp__volume *d = f->env.device;
	const uint64_t drive = d->size_bytes / s->volumes, rest = s->volume_cells - f->map.end;

	*bytes = sp__tablefile_bytes(f, f->map.end + (f->creating      ? rest
						      : f->cells.write ? rest / 2
								       : 0));
	*bytes = sp__min((*bytes + d->align_bytes - 1) / d->align_bytes * d->align_bytes,
			 d->size_bytes - d->size_bytes % d->align_bytes);
	if (drive / f->layout.cell_bytes == s->volume_cells)
		return 0;
	return sp__errf(err, SP_EUNSUP, "open", f->path, -1,
			"its cells are placed for drives of %llu bytes, and this one has "
			"%llu: convert it to other drives",
			(unsigned long long)(s->volume_cells * f->layout.cell_bytes),
			(unsigned long long)drive);
}

/* Places the files on the simulated device. */
static int simulate(struct sp__tablefile *f, enum sp__sim_area area, uint64_t bytes,
		    struct sp_errinfo *err)
{
	int rc = 0;

	if (f->superblock.lanemap)
		rc = take_device(f, &bytes, err);
	if (!rc && f->superblock.lanemap && f->plan)
		rc = sp__volume_cover(f->cells.first.volume, f->env.device, err);
	else if (!rc && !(rc = sp__tablefile_check_end(f->env.device, f->path, bytes, err)))
		rc = sp__volume_simulate(f->cells.first.volume, f->env.device, area, bytes, err);
	if (!rc && f->cells.n > 1)
		sp__cellfile_place(&f->cells, f->env.device,
				   f->map.lanemap->volume_cells * f->layout.cell_bytes);
	return rc;
}

int sp__tablefile_open_cells(struct sp__tablefile *f, enum sp__sim_area area, uint64_t bytes,
			     struct sp_errinfo *err)
{
	struct sp__cellvolume *first = &f->cells.first;
	int rc = 0;

	for (unsigned i = 0; !rc && i < f->cells.n; i++) {
		struct sp__cellvolume *v = &f->cells.volumes[i];

		rc = sp__volume_adopt(&v->volume, v->fd, false, v->name, err);
	}
	if (!rc && f->env.device)
		rc = simulate(f, area, bytes, err);
	if (!rc && f->env.device && f->layout.align_bytes)
		first->volume->align_bytes = f->layout.align_bytes;
	if (!rc)
		first->volume->hollow = f->superblock.no_data;
	if (!rc && wants_direct(f) && sp__tablevolumes_open_direct(f))
		rc = sp__err(err, -ENOMEM, "open", f->path, -1);
	return rc;
}

/* Opens what a superblock names. */
static int open_state(struct sp__tablefile *f, struct sp_errinfo *err)
{
	uint64_t bytes = f->superblock.end * f->layout.cell_bytes;
	int rc = sp__tablevolumes_open(f, err);

	if (!rc)
		rc = sp__cellvolume_check_length(&f->cells.first,
						 sp__tablefile_length(f, f->superblock.end), err);
	if (!rc)
		rc = sp__tablefile_open_env(f, err);
	if (!rc)
		rc = read_schema(f, err);
	if (!rc)
		rc = read_map(f, err);
	if (!rc)
		rc = sp__tablefile_open_areas(f, err);
	return rc ? rc : sp__tablefile_open_cells(f, SP__SIM_INPUT, bytes, err);
}

/* Finishes an interrupted change of a table that is opened to read it. */
static int finish_for_reading(struct sp__tablefile *f, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__tablefile writer;
	const struct sp_run_opts run = { .memory_bytes = f->run.memory_bytes,
					 .parallel = f->run.parallel,
					 .wait_ns = f->run.wait_ns };
	int rc;

	sp__cellfile_unlock(&f->cells);
	rc = sp__tablefile_open(&writer, f->path, &run, true, &own);
	(void)sp__tablefile_close(&writer);
	if (rc)
		return sp__errf(err, rc, "open", f->path, -1,
				"a change was interrupted and must be finished first: %s",
				own.text[0] ? own.text : sp_strerror(rc));
	close(f->cells.first.fd);
	f->cells.first.fd = -1;
	sp__table_superblock_free(&f->superblock);
	return open_file(f, err);
}

/* Opens a table whose members have been prepared. */
static int open_prepared(struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = open_file(f, err);

	if (!rc && sp__table_unfinished(&f->superblock) && !f->cells.write)
		rc = finish_for_reading(f, err);
	if (!rc)
		rc = open_state(f, err);
	if (!rc && f->cells.write)
		rc = sp__tablefile_finish(f, err);
	f->settled = f->cells.write && !rc;
	sp__tablefile_cut(f);
	sp__tablefile_end_reading(f);
	return rc;
}

int sp__tablefile_open(struct sp__tablefile *f, const char *path, const struct sp_run_opts *run,
		       bool write, struct sp_errinfo *err)
{
	int rc = sp__tablefile_prepare(f, path, run, write, err);

	return rc ? rc : open_prepared(f, err);
}

int sp__tablefile_open_in(struct sp__tablefile *f, const char *path, const struct sp_run_opts *run,
			  const struct sp__env *plan, bool write, struct sp_errinfo *err)
{
	int rc = sp__tablefile_prepare(f, path, run, write, err);

	f->plan = plan;
	return rc ? rc : open_prepared(f, err);
}

/* Closes a file that is being created. */
static void discard(struct sp__tablefile *f)
{
	if (f->creation.n && !f->published) {
		f->creation.err = NULL;
		(void)!sp__creation_end(&f->creation, -ECANCELED);
	}
	for (unsigned i = 0; i < f->cells.n; i++) {
		if (f->created)
			sp_outfile_close(f->created[i].out, NULL);
		if (f->created && f->created[i].replaced >= 0)
			close(f->created[i].replaced);
		f->cells.volumes[i].fd = -1;
	}
	free(f->created);
}

int sp__tablefile_close(struct sp__tablefile *f)
{
	int rc = 0;

	if (!f->creating)
		sp__tablefile_cut(f);
	sp__queue_close(f->queue);
	if (f->creating)
		discard(f);
	sp__cellfile_close(&f->cells);
	free(f->directory.cells);
	free(f->tombstones.cells);
	free(f->entries);
	sp__map_free(&f->map);
	sp__schema_free(&f->schema);
	if (f->env.opts) {
		f->env.err = &f->env.own_err;
		rc = sp__env_close(&f->env);
	}
	sp__layout_free(&f->layout);
	sp__table_superblock_free(&f->superblock);
	*f = (struct sp__tablefile){ 0 };
	return rc;
}

int sp__tablefile_begin_reading(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__cellfile_begin_reading(&f->cells, &f->superblock.slots, err);

	if (f->cells.write || f->cells.keep_lock)
		return rc;
	for (unsigned i = 0; !rc && i < f->cells.n; i++)
		if (!sp__file_named(f->cells.volumes[i].fd, f->cells.volumes[i].name))
			rc = sp__cellfile_replaced(&f->cells.volumes[i], err);
	if (rc)
		sp__cellfile_end_reading(&f->cells);
	return rc;
}

void sp__tablefile_end_reading(const struct sp__tablefile *f)
{
	sp__cellfile_end_reading(&f->cells);
}
