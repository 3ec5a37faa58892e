/* SPDX-License-Identifier: MIT */
/*
 * Opens the simulated machine, and keeps its files and statistics.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "sim/machine_impl.h"

static int open_cache(struct sp__machine *m, struct sp_errinfo *err)
{
	const struct sp__machine_spec *s = &m->spec;
	struct sp__pcache_opts opts = s->cache;
	int rc;

	if (!s->cache_bytes)
		return 0;
	opts.pages = s->cache_bytes / s->page_bytes;
	opts.readahead_pages = (uint32_t)(s->readahead_bytes / s->page_bytes);
	if (opts.policy == SP__PCACHE_OPT) {
		rc = sp__simtrace_open(&m->future, s->future, s->page_bytes, err);
		if (rc < 0)
			return rc;
		opts.future = sp__simtrace_pages(m->future, &opts.nfuture);
	}
	return sp__pcache_new(&m->pc, &opts, err);
}

static int open_blockdev(struct sp__machine *m, struct sp_errinfo *err)
{
	struct sp__blockdev_opts opts = m->spec.device;

	opts.sched = m->spec.sched;
	opts.merge_blocks_max = sp__max(m->spec.merge_bytes / m->model->block_bytes, 1u);
	return sp__blockdev_open(&m->bd, m->model, &opts, err);
}

static int open_device(struct sp__machine *m, struct sp_errinfo *err)
{
	const struct sp__machine_spec *s = &m->spec;
	struct sp__fsmap_opts fs = {
		.policy = (enum sp__fs_policy)s->fs,
		.group_pages = s->group_pages,
		.extent_pages = s->extent_pages,
	};
	int rc = sp__machine_spec_model(&m->model, s, err);

	if (rc < 0)
		return rc;
	if (s->page_bytes % m->model->block_bytes)
		return sp__errf(err, SP_ESYNTAX, "sim", "", -1,
				"page: %u bytes are not a multiple of the model's blocks of %u",
				s->page_bytes, m->model->block_bytes);
	m->page_blocks = s->page_bytes / m->model->block_bytes;
	fs.device_pages = m->model->blocks / m->page_blocks;
	rc = sp__fsmap_new(&m->fs, &fs);
	if (rc < 0)
		return sp__err(err, rc, "sim", "", -1);
	return 0;
}

/* Opens the parts that requests change, at time 0. */
static int begin(struct sp__machine *m, struct sp_errinfo *err)
{
	int rc = open_blockdev(m, err);

	m->xfers = (struct sp__simpool){ .bytes = sizeof(struct sp__xfer) };
	m->waits = (struct sp__simpool){ .bytes = sizeof(struct sp__wait) };
	m->gates = (struct sp__simpool){ .bytes = sizeof(struct sp__gate) };
	m->noise.state = sp__mix64(m->spec.seed + 1);
	m->now_ns = m->event_ns = m->owed_ps = m->seq = 0;
	m->flying = m->writing = m->background = 0;
	m->stats = (struct sp__machine_stats){ 0 };
	return rc ? rc : open_cache(m, err);
}

int sp__machine_open(struct sp__machine **out, const struct sp__machine_spec *spec,
		     struct sp_errinfo *err)
{
	struct sp__machine *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return sp__err(err, -ENOMEM, "sim", "", -1);
	m->spec = *spec;
	m->write_pages_max = sp__max(spec->merge_bytes / spec->page_bytes, 1u);
	rc = open_device(m, err);
	if (rc == 0)
		rc = begin(m, err);
	if (rc < 0) {
		sp__machine_close(m);
		return sp__err(err, rc, "sim", "", -1);
	}
	*out = m;
	return 0;
}

static void end(struct sp__machine *m)
{
	sp__blockdev_close(m->bd);
	sp__pcache_free(m->pc);
	sp__simtrace_close(m->future);
	sp__simpool_release(&m->xfers);
	sp__simpool_release(&m->waits);
	sp__simpool_release(&m->gates);
	m->bd = NULL;
	m->pc = NULL;
	m->future = NULL;
}

int sp__machine_restart(struct sp__machine *m)
{
	end(m);
	return begin(m, NULL);
}

void sp__machine_close(struct sp__machine *m)
{
	if (!m)
		return;
	end(m);
	sp__fsmap_free(m->fs);
	sp__model_free(m->model);
	sp__pcache_work_release(&m->read);
	sp__pcache_work_release(&m->ahead);
	sp__pcache_work_release(&m->write);
	free(m->ready);
	free(m->done.item);
	free(m->files);
	free(m);
}

const struct sp__machine_spec *sp__machine_spec(const struct sp__machine *m)
{
	return &m->spec;
}

const struct sp__model *sp__machine_model(const struct sp__machine *m)
{
	return m->model;
}

uint64_t sp__machine_now_ns(const struct sp__machine *m)
{
	return m->now_ns;
}

int sp__machine_file(struct sp__machine *m, enum sp__sim_area area, uint64_t bytes)
{
	uint64_t pages = bytes / m->spec.page_bytes + (bytes % m->spec.page_bytes != 0);
	int number;

	if (!SP__ARRAY_GROW_BY_ONE(m->files, m->nfiles))
		return -ENOMEM;
	number = sp__fsmap_create(m->fs, pages);
	if (number >= 0)
		m->files[m->nfiles++] = (struct sp__simfile){ .area = area, .end = bytes };
	return number;
}

int sp__machine_cover(struct sp__machine *m)
{
	const uint64_t device = m->model->blocks * m->model->block_bytes;
	const uint64_t bytes = device - device % m->spec.page_bytes;

	for (size_t i = 0; i < m->nfiles; i++)
		if (m->files[i].end == bytes)
			return (int)i;
	return sp__machine_file(m, SP__SIM_INPUT, bytes);
}

void sp__machine_punch(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t bytes)
{
	uint64_t page_bytes = m->spec.page_bytes, end, page, device;
	size_t run;

	if (__builtin_add_overflow(offset, bytes, &end) || end > m->files[file].end)
		end = m->files[file].end;
	page = offset / page_bytes + (offset % page_bytes != 0);
	for (; page < end / page_bytes; page += run) {
		run = sp__fsmap_contiguous(m->fs, file, page, end / page_bytes - page);
		if (!run) {
			run = 1;
			continue;
		}
		if (m->pc && sp__fsmap_find(m->fs, file, page, &device))
			sp__pcache_drop(m->pc, device, run);
		for (size_t i = 0; m->spec.fs != SP__FS_NONE && i < run; i++)
			sp__fsmap_punch(m->fs, file, page + i);
	}
}

int sp__machine_locate(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t *lbn)
{
	uint64_t device;
	size_t run;
	int rc = sp__fsmap_locate(m->fs, file, offset / m->spec.page_bytes, 1, &device, &run);

	if (rc < 0)
		return rc;
	*lbn = device * m->page_blocks + offset % m->spec.page_bytes / m->model->block_bytes;
	return 0;
}

bool sp__machine_cached(struct sp__machine *m, unsigned file, uint64_t offset, uint64_t bytes)
{
	uint64_t page = offset / m->spec.page_bytes;
	uint64_t last = (offset + bytes - 1) / m->spec.page_bytes, device;
	void **tag;

	if (!m->pc || !bytes)
		return false;
	sp__machine_catch_up(m);
	for (; page <= last; page++) {
		if (!sp__fsmap_find(m->fs, file, page, &device))
			return false;
		tag = sp__pcache_tag(m->pc, device);
		/* A page with a transfer is still being read. */
		if (!tag || *tag)
			return false;
	}
	return true;
}

static void count_regions(const struct sp__machine *m, struct sp__machine_stats *s)
{
	double pages = 0;

	for (unsigned i = 0; i < m->nfiles; i++) {
		uint64_t regions;
		double mean;

		if (m->files[i].area != SP__SIM_SPILL)
			continue;
		sp__fsmap_regions(m->fs, i, &regions, &mean);
		s->regions += regions;
		pages += mean * (double)regions;
	}
	s->region_bytes_mean = s->regions ? pages / (double)s->regions * m->spec.page_bytes : 0;
}

void sp__machine_stats(struct sp__machine *m, struct sp__machine_stats *s)
{
	sp__machine_run(m, m->now_ns);
	/* All events until now have happened: this only advances the device's clock. */
	sp__blockdev_advance(m->bd, m->now_ns);
	*s = m->stats;
	sp__blockdev_stats(m->bd, &s->device);
	s->device_read_bytes = s->device.read_blocks * m->model->block_bytes;
	s->device_write_bytes = s->device.write_blocks * m->model->block_bytes;
	if (m->pc) {
		sp__pcache_stats(m->pc, &s->cache);
		s->transfers = s->cache.reads + s->cache.writes;
	}
	count_regions(m, s);
}

void sp__machine_depths(struct sp__machine *m, enum sp__depth which, uint64_t ns[SP__DEPTH_MAX + 1])
{
	sp__machine_run(m, m->now_ns);
	sp__blockdev_advance(m->bd, m->now_ns);
	sp__blockdev_depths(m->bd, which, ns);
}
