/* SPDX-License-Identifier: MIT */
/*
 * Manages temporary files and the space in them; requests are in submit.c.
 *
 * Each directory has up to two files: one for the runs of the beginning, one for the runs after
 * sp__spill_go_direct().  With separate files (`apart`) each run has a file of its own; when the
 * run ends, another run takes its entry in the table.
 *
 * Allocation: a run takes the lowest free units, at most as many as are contiguous.  While memory
 * is over its limit, it takes new units instead, since an extent for nearly each page can take more
 * memory than their checksums.  One of many long runs allocates a share ahead, and releases the
 * rest at its end.  With placement the tracks decide (place.h).
 *
 * Up to the recycling level, the units of a page are free again when it has been read.  Above that
 * level, and under compression, where pages have different lengths, they are only counted as
 * unused.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "base/array.h"
#include "base/enum.h"
#include "base/err.h"
#include "spill/store.h"

SP__ENUM_TABLE(sp_placement, { "contiguous", SP_PLACE_CONTIGUOUS }, { "track", SP_PLACE_TRACK },
	       { "auto", SP_PLACE_AUTO }, { "semiseq", SP_PLACE_SEMISEQ },
	       { "mems", SP_PLACE_MEMS })
SP__ENUM_TABLE(sp_spill_compression, { "lz4", SP_SPILL_LZ4 }, { "zstd", SP_SPILL_ZSTD },
	       { "none", SP_SPILL_RAW })

#define BLOCK 4096u
/* Runs of at least this many extents allocate this share of their length ahead. */
#define AHEAD_EXTENTS 16
#define AHEAD_SHARE 16
#define AHEAD_MAX (1u << 20)
#define RESERVE_BYTES ((uint64_t)32 << 20)
#define PLENTY_BYTES (32 * RESERVE_BYTES)

/* Names a file in traces: the directory's name, and for files after the first also a number. */
static int name_file(struct sp__spill *s, size_t file, struct sp_errinfo *err)
{
	struct sp__volume *v = s->files[file].volume;
	bool first = true;

	for (size_t i = 0; i < s->nfiles; i++)
		if (i != file && s->files[i].volume && !s->files[i].volume->trace_name)
			first &= strcmp(s->files[i].volume->name, v->name) != 0;
	if (s->opts.number)
		file += s->opts.number * s->nfiles;
	if ((first && !s->opts.number) || asprintf(&v->trace_name, "%s#%zu", v->name, file) >= 0)
		return 0;
	v->trace_name = NULL;
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Opens one file or device of the store. */
static int open_file(struct sp__spill *s, size_t file, size_t dir, struct sp_errinfo *err)
{
	const struct sp__spill_opts *o = &s->opts;
	enum sp__direct direct = s->first_file ? SP__DIRECT_AUTO : o->direct;
	int rc;

	if (o->hollow)
		return sp__volume_hollow(&s->files[file].volume, o->device, o->area, o->file_bytes,
					 err);
	if (o->block)
		return sp__volume_block(&s->files[file].volume, o->block, err);
	if (o->kept) {
		rc = sp__volume_named(&s->files[file].volume, o->kept, o->kept_name, direct, err);
		s->files[file].space.end = (o->kept_bytes + s->unit_bytes - 1) / s->unit_bytes;
		return rc;
	}
	if (o->device)
		direct = SP__DIRECT_NEVER;
	rc = sp__volume_temp(&s->files[file].volume, o->dirs[dir], direct, err);
	if (rc == 0)
		rc = name_file(s, file, err);
	if (rc == 0 && o->device)
		rc = sp__volume_simulate(s->files[file].volume, o->device, SP__SIM_SPILL, 0, err);
	return rc;
}

static int open_place(struct sp__spill *s)
{
	struct sp__place_opts o = { .policy = s->opts.placement,
				    .geometry = s->opts.geometry,
				    .hops = s->opts.hops,
				    .page_bytes = s->opts.page_bytes,
				    .runs = s->opts.runs };
	struct sp_geometry_info info;
	int rc;

	if (o.policy == SP_PLACE_CONTIGUOUS)
		return 0;
	sp_geometry_info(o.geometry, &info);
	if (info.block_bytes % s->files[0].volume->block_bytes)
		return sp__errf(s->opts.err, SP_EUNSUP, "place", info.device, -1,
				"tracks in blocks of %u bytes do not suit a device of blocks of %u",
				info.block_bytes, s->files[0].volume->block_bytes);
	rc = sp__volume_begin_lbn(s->files[0].volume, &o.base_lbn);
	if (rc < 0)
		return sp__volume_err(s->opts.err, s->files[0].volume, rc, "write", -1);
	return sp__place_new(&s->place, &o, s->opts.err);
}

int sp__spill_open(struct sp__spill **spill, const struct sp__spill_opts *opts)
{
	struct sp__queue_opts q = { .engine = opts->engine,
				    .depth = opts->depth,
				    .pool = opts->pool,
				    .pool_bytes = opts->pool_bytes,
				    .trace = opts->trace,
				    .device = opts->device };
	struct sp__spill *s;
	int rc = -ENOMEM, file;

	if (!opts->ndirs)
		return sp__errf(opts->err, -EINVAL, "spill", NULL, -1,
				"there is no temporary directory");
	s = calloc(1, sizeof(*s));
	if (!s)
		return sp__err(opts->err, rc, "allocate", NULL, -1);
	s->opts = *opts;
	s->unit_bytes = opts->codec ? BLOCK : opts->page_bytes;
	/* There is one device, real or simulated, for any number of directories. */
	if (opts->device || opts->block || opts->kept)
		s->opts.ndirs = 1;
	s->nfiles = 2 * s->opts.ndirs;
	s->files = calloc(s->nfiles, sizeof(*s->files));
	if (!s->files) {
		sp__err(opts->err, rc, "allocate", NULL, -1);
		goto fail;
	}
	if (opts->program) {
		*spill = s;
		return 0;
	}
	/* Opens the first file before the ring, which is useless without one. */
	s->next_file = opts->number;
	file = rc = sp__spill_next_file(s);
	if (rc >= 0)
		rc = open_place(s);
	if (rc >= 0)
		rc = sp__queue_open(&s->queue, &q, opts->err);
	if (rc < 0)
		goto fail;
	s->files[file].users = 0;
	s->next_file = opts->number;
	*spill = s;
	return 0;
fail:
	sp__spill_close(s);
	return rc;
}

int sp__spill_reader_open(struct sp__spill **reader, const struct sp__spill *store,
			  struct sp_errinfo *err)
{
	struct sp__queue_opts q = { .engine = store->opts.engine,
				    .depth = store->opts.depth,
				    .trace = store->opts.trace };
	struct sp__spill *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	s->opts = store->opts;
	s->opts.err = err;
	s->unit_bytes = store->unit_bytes;
	s->files = store->files;
	s->nfiles = store->nfiles;
	s->reader = true;
	rc = sp__queue_open(&s->queue, &q, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	*reader = s;
	return 0;
}

const char *sp__spill_engine(const struct sp__spill *s)
{
	return s->engine ? s->engine : s->queue ? sp__queue_engine(s->queue) : NULL;
}

void sp__spill_reader_close(struct sp__spill *r, struct sp__spill *store)
{
	struct sp__io_counters c;

	store->engine = sp__spill_engine(r);
	sp__spill_counters(r, &c);
	sp__io_add(&store->past, &c);
	store->read_bytes += r->read_bytes;
	store->cluster_reads += r->cluster_reads;
	store->demand_reads += r->demand_reads;
	sp__queue_close(r->queue);
	free(r);
}

int sp__spill_absorb(struct sp__spill *s, struct sp__spill *from, uint32_t *files)
{
	struct sp__io_counters c;

	*files = (uint32_t)s->nfiles;
	s->engine = sp__spill_engine(from);
	if (!SP__ARRAY_RESIZE(s->files, s->nfiles + from->nfiles))
		return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
	memcpy(s->files + s->nfiles, from->files, from->nfiles * sizeof(*s->files));
	memset(from->files, 0, from->nfiles * sizeof(*s->files));
	s->nfiles += from->nfiles;
	sp__spill_counters(from, &c);
	sp__io_add(&s->past, &c);
	s->read_bytes += from->read_bytes;
	s->write_bytes += from->write_bytes;
	s->peak_bytes += from->peak_bytes;
	s->timing.ns += from->timing.ns;
	s->timing.bytes += from->timing.bytes;
	return 0;
}

void sp__spill_counters(const struct sp__spill *s, struct sp__io_counters *c)
{
	*c = s->past;
	if (s->queue)
		sp__io_add(c, sp__queue_counters(s->queue));
}

void sp__spill_go_direct(struct sp__spill *s)
{
	if (!s->opts.program && !s->opts.device && !s->opts.block && !s->opts.kept)
		s->first_file = s->opts.ndirs;
}

/* Returns an open file for the runs of a new one, for which no descriptor is left. */
static int another_file(const struct sp__spill *s)
{
	for (size_t i = s->nfiles; i-- > 0;)
		if (s->files[i].volume)
			return (int)i;
	return -1;
}

/* Returns a file without a run, if each run has a file of its own. */
static int unused_file(struct sp__spill *s)
{
	size_t file = 0;

	while (file < s->nfiles && s->files[file].users)
		file++;
	if (file == s->nfiles) {
		if (!SP__ARRAY_RESIZE(s->files, 2 * file))
			return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
		memset(s->files + file, 0, file * sizeof(*s->files));
		s->nfiles = 2 * file;
	}
	return (int)file;
}

/*
 * Returns the file of the same kind with the most free units, if it has more than this one.  Files
 * of absorbed stores have the order of this store's own.
 */
static size_t freest_file(const struct sp__spill *s, size_t file)
{
	const size_t kinds = 2 * s->opts.ndirs, dirs = s->opts.ndirs;

	for (size_t i = 0; i < s->nfiles; i++)
		if (s->files[i].volume && i % kinds / dirs == s->first_file / dirs &&
		    s->files[i].space.nfree > s->files[file].space.nfree)
			file = i;
	return file;
}

int sp__spill_next_file(struct sp__spill *s)
{
	size_t dir = s->next_file++ % s->opts.ndirs, file = freest_file(s, s->first_file + dir);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int instead = another_file(s), rc;

	if (s->opts.apart) {
		rc = unused_file(s);
		if (rc < 0)
			return rc;
		file = (size_t)rc;
	}
	rc = s->files[file].volume || s->opts.program ? 0 : open_file(s, file, dir, &err);
	if ((rc == -EMFILE || rc == -ENFILE) && instead >= 0) {
		file = (size_t)instead;
		rc = 0;
	}
	if (rc < 0 && s->opts.err)
		*s->opts.err = err;
	if (rc < 0)
		return rc;
	s->files[file].users++;
	return (int)file;
}

uint64_t sp__spill_recycled_bytes(const struct sp__spill *s)
{
	uint64_t units = s->place ? sp__place_recycled(s->place) : 0;

	for (size_t i = 0; i < s->nfiles; i++)
		units += s->files[i].space.recycled;
	return units * s->unit_bytes;
}

void sp__spill_close(struct sp__spill *s)
{
	if (!s)
		return;
	sp__queue_close(s->queue);
	for (size_t i = 0; s->files && i < s->nfiles; i++) {
		sp__volume_close(s->files[i].volume);
		sp__space_release(&s->files[i].space);
	}
	sp__place_free(s->place);
	free(s->waiting);
	free(s->batch);
	free(s->files);
	free(s);
}

void sp__spill_forget(struct sp__spill *s)
{
	for (size_t i = 0; i < s->nfiles; i++)
		if (s->files[i].volume)
			sp__volume_discard(s->files[i].volume);
}

int sp__spill_sync(struct sp__spill *s)
{
	const struct sp__volume *v = s->files[0].volume;

	return fdatasync(v->fd) < 0 ? sp__err(s->opts.err, -errno, "fsync", v->name, -1) : 0;
}

void sp__spill_punch(struct sp__spill *s, const struct sp__run *run)
{
	for (size_t i = 0; i < run->nextents; i++) {
		const struct sp__extent *e = &run->extents[i];

		if (fallocate(s->files[run->file].volume->fd,
			      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)(e->unit * s->unit_bytes),
			      (off_t)((uint64_t)e->units * s->unit_bytes)) < 0)
			return;
	}
}

void sp__spill_trim(const struct sp__spill *s)
{
	for (size_t i = 0; !s->outstanding && !s->opts.kept && i < s->nfiles; i++) {
		const struct sp__spill_file *f = &s->files[i];
		struct stat st;

		if (f->volume && f->volume->regular && f->reserved_bytes &&
		    !fstat(f->volume->fd, &st) && ftruncate(f->volume->fd, st.st_size) < 0)
			return; /* closing frees it */
	}
}

void sp__spill_empty(const struct sp__spill *s, size_t from, size_t step)
{
	for (size_t i = from; !s->opts.kept && i < s->nfiles; i += step) {
		const struct sp__volume *v = s->files[i].volume;

		if (v && v->regular && ftruncate(v->fd, 0) < 0)
			return; /* closing frees it */
	}
}

void sp__spill_end_run(struct sp__spill *s, const struct sp__run *run)
{
	struct sp__spill_file *f = &s->files[run->file];

	if (!s->opts.apart || --f->users)
		return;
	sp__volume_discard(f->volume);
	sp__volume_close(f->volume);
	f->volume = NULL;
	sp__space_release(&f->space);
}

void sp__spill_locate(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
		      struct sp__request *req)
{
	req->volume = s->files[run->file].volume;
	unit = sp__spill_unit(run, unit);
	req->offset = s->place ? sp__place_offset(s->place, unit) : unit * s->unit_bytes;
}

uint32_t sp__spill_piece(const struct sp__spill *s, const struct sp__run *run, uint64_t unit,
			 uint32_t want)
{
	const struct sp__extent *e = sp__run_extent(run, unit);
	uint64_t at = e->unit + (unit - e->first), left = e->first + e->units - unit, here;
	uint32_t n = 1;

	if (left < want)
		want = (uint32_t)left;
	if (!s->place)
		return want;
	/* Pages are rotated on their track: behind its end they continue at its beginning. */
	here = sp__place_offset(s->place, at);
	while (n < want && sp__place_offset(s->place, at + n) == here + (uint64_t)n * s->unit_bytes)
		n++;
	return n;
}

uint64_t sp__spill_unit(const struct sp__run *run, uint64_t unit)
{
	const struct sp__extent *e = sp__run_extent(run, unit);

	return e->unit + (unit - e->first);
}

static void note_peak(struct sp__spill *s)
{
	uint64_t used = s->place ? sp__place_used(s->place) : 0;

	for (size_t i = 0; i < s->nfiles; i++)
		used += s->files[i].space.used;
	if (used * s->unit_bytes > s->peak_bytes)
		s->peak_bytes = used * s->unit_bytes;
}

/* Allocates up to want contiguous units of the volume; returns their number, or an error. */
static int take_units(struct sp__spill *s, const struct sp__run *run, uint32_t want, uint64_t *unit)
{
	const struct sp__budget *b = s->opts.budget;
	struct sp__space *space = &s->files[run->file].space;

	if (s->place)
		return sp__place_take(s->place, run, want, unit);
	if (s->opts.kept || b->used_bytes > b->limit_bytes)
		return (int)sp__space_extend(space, want, unit);
	return (int)sp__space_take(space, want, unit);
}

/* Allocates like take_units(), for one of many runs: takes units ahead and uses those first. */
static int take_ahead(struct sp__spill *s, struct sp__run *run, uint32_t want, uint64_t *unit)
{
	uint64_t ahead = run->nextents < AHEAD_EXTENTS ? 0 : run->units / AHEAD_SHARE;
	int rc;

	if (s->place || !s->opts.ahead)
		return take_units(s, run, want, unit);
	if (!run->spare_units) {
		ahead = ahead < want ? want : ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
		rc = take_units(s, run, (uint32_t)ahead, &run->spare_unit);
		if (rc < 0)
			return rc;
		run->spare_units = (uint32_t)rc;
	}
	want = want < run->spare_units ? want : run->spare_units;
	*unit = run->spare_unit;
	run->spare_unit += want;
	run->spare_units -= want;
	return (int)want;
}

void sp__spill_give_spare(struct sp__spill *s, struct sp__run *run)
{
	for (; run->spare_units; run->spare_units--)
		(void)!sp__space_give(&s->files[run->file].space, run->spare_unit++);
}

/*
 * Reserves space ahead on ext4, which delays the allocation of blocks written through the page
 * cache and accounts for each of them; that takes as long as copying it.  Reserved blocks avoid
 * this.  A refusal is not an error, but it can leave all free space reserved.  So there must be
 * plenty; and after a refusal (a quota, which statfs(2) does not report) nothing more is reserved.
 */
static void reserve(const struct sp__spill *s, struct sp__spill_file *f)
{
	const struct sp__volume *v = f->volume;
	uint64_t from = f->reserved_bytes, end = f->space.end * s->unit_bytes;
	struct statfs fs;

	if (end <= from)
		return;
	f->reserved_bytes = end + RESERVE_BYTES;
	if (!s->opts.kept && v->regular && !v->direct && !v->machine && !fstatfs(v->fd, &fs) &&
	    fs.f_type == EXT4_SUPER_MAGIC && fs.f_bavail > PLENTY_BYTES / (uint64_t)fs.f_bsize &&
	    fallocate(v->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(f->reserved_bytes - from)))
		f->reserved_bytes = UINT64_MAX;
}

int sp__spill_take(struct sp__spill *s, struct sp__run *run, uint32_t want, uint32_t *got)
{
	struct sp__spill_file *f = &s->files[run->file];
	uint64_t unit;
	int rc = take_ahead(s, run, want, &unit);

	if (rc < 0)
		return sp__volume_err(s->opts.err, f->volume, rc, "write", -1);
	reserve(s, f);
	*got = (uint32_t)rc;
	note_peak(s);
	if (sp__run_add_units(run, unit, *got) < 0)
		return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
	return 0;
}

void sp__spill_give_page(struct sp__spill *s, const struct sp__run *run, size_t page)
{
	bool reused = (int)run->level <= s->opts.recycle_level && !s->opts.codec;

	if (s->reader || (s->place && !reused))
		return;
	if (s->place)
		sp__place_give(s->place, sp__spill_unit(run, page));
	else if (reused)
		sp__space_give(&s->files[run->file].space, sp__spill_unit(run, page));
	else
		sp__space_drop(&s->files[run->file].space, sp__spill_page_units(s, run, page));
}

uint32_t sp__spill_page_units(const struct sp__spill *s, const struct sp__run *run, size_t page)
{
	return (sp__spill_page_stored(s, run, page) + s->unit_bytes - 1) / s->unit_bytes;
}

uint32_t sp__spill_page_stored(const struct sp__spill *s, const struct sp__run *run, size_t page)
{
	return run->packed ? run->packed[page] : sp__spill_page_payload(s, run, page);
}

uint32_t sp__spill_page_payload(const struct sp__spill *s, const struct sp__run *run, size_t page)
{
	uint64_t before = (uint64_t)page * s->opts.page_bytes;

	return run->bytes - before < s->opts.page_bytes ? (uint32_t)(run->bytes - before)
							: s->opts.page_bytes;
}
