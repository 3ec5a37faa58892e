/* SPDX-License-Identifier: MIT */
/*
 * Opens machines and streams of dry runs.
 *
 * Not modelled: a page cache that follows the trace of another run (policy=opt).
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "predict/dryrun.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

#define BLOCK 4096u
#define WORK_REQUEST 32
#define WORK_BLOCK 2

int sp__dryrun_open(struct sp__env *e, const struct sp_run_opts *opts, struct sp_errinfo *err)
{
	const struct sp__machine_spec *spec;
	int rc;

	*e = (struct sp__env){ .opts = opts, .own_err = SP_ERRINFO_INIT, .dry = true };
	e->err = err ? err : &e->own_err;
	sp__budget_init(&e->budget, UINT64_MAX);
	rc = sp__volume_spec_device(opts, &e->device, e->err);
	if (rc < 0)
		return rc;
	spec = sp__machine_spec(e->device->machine);
	return spec->cache_bytes && spec->cache.policy == SP__PCACHE_OPT ? SP_EUNSUP : 0;
}

double sp__dryrun_s(const struct sp__env *e)
{
	return (double)(sp__env_now_ns(e) - e->begin_ns) * 1e-9;
}

double sp__dryrun_requests(const struct sp__env *e, double bytes, double each)
{
	const struct sp__machine_spec *spec = sp__machine_spec(e->device->machine);
	bool by_blocks = spec->cache_bytes || spec->fs != SP__FS_NONE || spec->array.drives > 1;

	return bytes / each * WORK_REQUEST + (by_blocks ? bytes / BLOCK * WORK_BLOCK : 0);
}

int sp__dryrun_close(struct sp__env *e, int rc)
{
	(void)!sp__env_close(e);
	/* No space on the device can fail the run, too. */
	if (rc == SP_EUNSUP || rc == -ENOSPC || rc == -E2BIG)
		return 0;
	return rc < 0 ? sp__err(e->err, rc, "allocate", NULL, -1) : 0;
}

/* Opens the store of a stream and its run. */
static int open_store(struct sp__drystream *s, struct sp__env *e, enum sp__sim_area area,
		      uint64_t file_bytes, uint32_t page_bytes)
{
	struct sp__spill_opts o = sp__env_spilling(e);
	int rc;

	o.area = area;
	o.file_bytes = file_bytes;
	o.page_bytes = page_bytes;
	o.budget = &e->budget;
	o.placement = SP_PLACE_CONTIGUOUS;
	o.depth = SP__CHUNKREAD_CHUNKS;
	rc = sp__spill_open(&s->store, &o);
	return rc < 0 ? rc : sp__run_new(&s->run, &e->budget);
}

int sp__dryinput_open(struct sp__drystream *s, struct sp__env *e, uint64_t file_bytes,
		      uint64_t read_bytes)
{
	struct sp__rstream_opts o = sp__env_reading(e);
	int rc;

	*s = (struct sp__drystream){ .env = e,
				     .chunk_bytes = (uint32_t)o.chunk_bytes,
				     .left = read_bytes };
	if (!o.device)
		return 0;
	rc = open_store(s, e, SP__SIM_INPUT, file_bytes, BLOCK);
	if (rc < 0)
		return rc;
	s->run->bytes = read_bytes;
	s->run->npages = (size_t)((read_bytes + BLOCK - 1) / BLOCK);
	/* An extent counts units in 32 bits. */
	for (uint64_t left = s->run->npages, n; !rc && left; left -= n) {
		n = sp__min(left, UINT32_MAX);
		rc = sp__run_add_units(s->run, s->run->units, (uint32_t)n);
	}
	sp__chunkread_open(&s->read, s->store, s->run, false, NULL, o.depth * o.chunk_bytes);
	return rc;
}

int sp__dryinput_next(struct sp__drystream *s, uint64_t *bytes)
{
	const char *data;
	size_t got = 0;
	int rc = SP_READY;

	if (s->store)
		rc = sp__chunkread_next(&s->read, &data, &got);
	else
		got = sp__min(s->left, s->chunk_bytes);
	s->left -= got;
	*bytes = got;
	return rc < 0 ? rc : 0;
}

int sp__dryoutput_open(struct sp__drystream *s, struct sp__env *e)
{
	struct sp__wstream_opts o = sp__env_writing(e);
	size_t bytes = o.depth * o.chunk_bytes;
	int rc;

	*s = (struct sp__drystream){ .env = e, .chunk_bytes = (uint32_t)o.chunk_bytes };
	if (!o.device)
		return 0;
	rc = open_store(s, e, SP__SIM_OUTPUT, 0, s->chunk_bytes);
	s->mem = malloc(bytes);
	if (!rc && !s->mem)
		rc = -ENOMEM;
	return rc < 0 ? rc
		      : sp__runwriter_open(&s->write, s->store, s->run, s->mem, bytes, NULL, NULL);
}

int sp__dryoutput_put(struct sp__drystream *s, uint64_t bytes)
{
	return s->store ? sp__runwriter_skip(&s->write, bytes) : 0;
}

int sp__dryoutput_finish(struct sp__drystream *s)
{
	return s->store ? sp__runwriter_finish(&s->write) : 0;
}

void sp__drystream_close(struct sp__drystream *s)
{
	sp__chunkread_close(&s->read);
	sp__runwriter_close(&s->write);
	sp__run_free(s->run);
	sp__spill_close(s->store);
	free(s->mem);
	*s = (struct sp__drystream){ 0 };
}
