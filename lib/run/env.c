/* SPDX-License-Identifier: MIT */
/*
 * Opens, closes and reports the environment of a run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include "base/clock.h"
#include "base/minmax.h"
#include "base/task.h"
#include "base/tasklog.h"
#include "obs/trace.h"
#include "run/env.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sim/fsmap.h"
#include "sim/machine.h"
#include "spill/space.h"

int sp__env_open(struct sp__env *e, const struct sp_run_opts *opts, struct sp_errinfo *err)
{
	int rc;

	*e = (struct sp__env){ .opts = opts, .own_err = SP_ERRINFO_INIT };
	e->err = err ? err : &e->own_err;
	e->keeps_threads = true;
	sp__tasks_open(sp__threads(opts->parallel));
	sp__budget_init(&e->budget, sp__working_memory(opts, opts->memory_bytes));
	rc = sp__volume_spec_check(opts, e->err);
	if (!rc)
		rc = sp__volume_spec_device(opts, &e->device, e->err);
	if (!rc && opts->trace_path)
		rc = sp__trace_open(&e->trace, opts->trace_path, e->err);
	if (!rc && opts->trace_tasks_path) {
		rc = sp__tasklog_open(opts->trace_tasks_path, sp__threads(opts->parallel), e->err);
		e->logs_tasks = !rc;
	}
	sp__volume_trace(e->device, e->trace);
	e->begin_ns = sp__env_now_ns(e);
	e->cpu_begin_ns = sp__env_cpu_ns(e);
	return rc;
}

int sp__env_share(struct sp__env *e, const struct sp_run_opts *opts, const struct sp__env *plan)
{
	*e = (struct sp__env){ .opts = opts,
			       .err = plan->err,
			       .device = plan->device,
			       .trace = plan->trace,
			       .shared = true };
	sp__budget_init(&e->budget, sp__working_memory(opts, opts->memory_bytes));
	e->begin_ns = sp__env_now_ns(e);
	e->cpu_begin_ns = sp__env_cpu_ns(e);
	return sp__volume_spec_check(opts, e->err);
}

int sp__env_close(struct sp__env *e)
{
	int rc, traced;

	if (e->shared)
		return 0;
	rc = e->logs_tasks ? sp__tasklog_close(e->err) : 0;
	if (e->keeps_threads)
		sp__tasks_close();
	/* Adds outstanding requests to the trace. */
	sp__volume_close(e->device);
	traced = sp__trace_close(e->trace, e->err);
	return rc ? rc : traced;
}

uint64_t sp__env_now_ns(const struct sp__env *e)
{
	return sp__volume_now_ns(e->device);
}

uint64_t sp__env_cpu_ns(const struct sp__env *e)
{
	struct sp__machine_stats m;

	if (!e->device)
		return sp__cpu_ns();
	sp__machine_stats(e->device->machine, &m);
	return m.cpu_time_ns;
}

bool sp__env_file_system(const struct sp__env *e)
{
	return e->device && sp__machine_spec(e->device->machine)->fs != SP__FS_NONE;
}

/* Returns the device if it stores the tool's files of that kind, IN or OUT, else NULL. */
static const struct sp__volume *device_for(const struct sp__env *e, enum sp__sim_files kind)
{
	enum sp__sim_files on;

	if (!e->device)
		return NULL;
	on = sp__machine_spec(e->device->machine)->files;
	return on == kind || on == SP__SIM_FILES_BOTH ? e->device : NULL;
}

/* The real page cache must not influence virtual time. */
static enum sp__direct direct_of(const struct sp__env *e)
{
	enum sp__direct direct = sp__direct_of(e->opts->direct);

	return e->device && direct == SP__DIRECT_AUTO ? SP__DIRECT_NEVER : direct;
}

struct sp__rstream_opts sp__env_reading(const struct sp__env *e)
{
	const uint64_t memory = e->opts->memory_bytes;
	struct sp__buffers b = sp__buffers(sp__working_memory(e->opts, memory));

	return (struct sp__rstream_opts){ .engine = e->opts->engine,
					  .direct = direct_of(e),
					  .chunk_bytes = b.chunk_bytes,
					  .depth = b.reads,
					  .trace = e->trace,
					  .device = device_for(e, SP__SIM_FILES_IN),
					  .unpack = e->opts->decompress,
					  .unpack_bytes = sp__unpacking_memory(e->opts, memory),
					  .unpack_share = SP__UNPACKING_SHARE };
}

struct sp__wstream_opts sp__env_writing(const struct sp__env *e)
{
	const uint64_t memory = e->opts->memory_bytes;
	struct sp__buffers b = sp__buffers(sp__working_memory(e->opts, memory));

	return (struct sp__wstream_opts){ .engine = e->opts->engine,
					  .direct = sp__direct_of(e->opts->direct),
					  .chunk_bytes = b.chunk_bytes,
					  .depth = b.writes,
					  .trace = e->trace,
					  .device = device_for(e, SP__SIM_FILES_OUT),
					  .pack = e->opts->compress_output,
					  .pack_level = e->opts->compress_level,
					  .pack_bytes = sp__packing_memory(e->opts, memory) };
}

struct sp__spill_opts sp__env_spilling(const struct sp__env *e)
{
	static const char *const nowhere[] = { "dry run" };
	const struct sp_run_opts *o = e->opts;

	return (struct sp__spill_opts){ .dirs = e->dry ? nowhere : o->tmpdirs,
					.ndirs = e->dry ? 1 : o->ntmpdirs,
					.hollow = e->dry,
					.area = SP__SIM_SPILL,
					.engine = o->engine,
					.trace = e->trace,
					.device = e->device,
					.block = sp__volume_spec_block(o),
					.placement = o->placement,
					.geometry = o->geometry,
					.err = e->err };
}

void sp__env_sync(const struct sp__env *e, struct sp__spill *spill)
{
	if (!device_for(e, SP__SIM_FILES_OUT))
		return;
	if (spill)
		sp__spill_forget(spill);
	sp__machine_sync(e->device->machine);
}

/* Reads /proc/self/io: bytes actually read from and written to devices. */
static void note_device(struct sp_run_stats *st)
{
	FILE *f = fopen("/proc/self/io", "re");
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "read_bytes: %" SCNd64, &st->device_read_bytes);
		(void)sscanf(line, "write_bytes: %" SCNd64, &st->device_write_bytes);
	}
	if (f)
		fclose(f);
}

static void note_machine(const struct sp__env *e, struct sp_run_stats *st)
{
	struct sp__machine_stats m;

	sp__machine_stats(e->device->machine, &m);
	st->simulated = true;
	st->sim_requests = m.requests;
	st->sim_dispatched = m.device.dispatched;
	st->sim_dispatched_reads = m.device.dispatched_reads;
	st->sim_transfers = m.transfers;
	st->sim_seeks = m.device.seeks;
	st->sim_merges = m.device.merges;
	st->sim_io_time_ns = m.device.busy_ns;
	st->sim_cpu_time_ns = m.cpu_time_ns;
	st->device_read_bytes = (int64_t)m.device_read_bytes;
	st->device_write_bytes = (int64_t)m.device_write_bytes;
}

void sp__env_note(const struct sp__env *e, struct sp_run_stats *st, bool device)
{
	struct rusage ru;

	st->elapsed_s = (double)(sp__env_now_ns(e) - e->begin_ns) * 1e-9;
	st->memory_limit_bytes = e->opts->memory_bytes;
	st->memory_charged_peak_bytes = e->budget.peak_bytes;
	st->memory_overrun_bytes = e->budget.overrun_bytes;
	if (getrusage(RUSAGE_SELF, &ru) == 0)
		st->memory_peak_bytes = (uint64_t)ru.ru_maxrss << 10;
	st->device_read_bytes = st->device_write_bytes = -1;
	if (e->device && e->opts->direct > 0)
		sp_no_effects_add(&st->no_effects, "--direct=always",
				  "a simulated volume bypasses no cache of the system");
	if (e->device)
		note_machine(e, st);
	else if (device)
		note_device(st);
}

void sp__env_note_io(struct sp_run_stats *st, const struct sp__io_counters *c)
{
	st->read_requests += c->read_requests;
	st->read_bytes += c->read_bytes;
	st->write_requests += c->write_requests;
	st->write_bytes += c->write_bytes;
}

void sp__env_note_cached(const struct sp__env *e, struct sp_run_stats *st, const char *name)
{
	if (e->opts->direct > 0)
		sp_no_effects_add(&st->no_effects, "--direct=always", "no direct I/O for %s", name);
}

void sp__env_note_spill(const struct sp__env *e, struct sp_run_stats *st,
			const struct sp__spill *spill)
{
	if (!spill)
		return;
	for (size_t i = 0; i < spill->nfiles; i++)
		if (spill->files[i].volume && !spill->files[i].volume->direct)
			sp__env_note_cached(e, st, spill->files[i].volume->name);
	st->spill_read_bytes += spill->read_bytes;
	st->spill_write_bytes += spill->write_bytes;
	st->spill_peak_bytes = sp__max(st->spill_peak_bytes, spill->peak_bytes);
	if (spill->opts.program || spill->queue)
		snprintf(st->engine, sizeof(st->engine), "%s",
			 spill->queue ? sp__spill_engine(spill) : "pipe");
}

static void note_file_regions(struct sp_run_stats *st, const struct sp__spill *spill)
{
	struct sp__regions r;
	double bytes = 0;

	for (size_t i = 0; i < spill->nfiles; i++) {
		if (!spill->files[i].volume)
			continue;
		sp__fiemap_regions(spill->files[i].volume->fd, 0, &r);
		st->spill_regions += r.count;
		bytes += (double)r.count * r.mean_bytes;
	}
	if (st->spill_regions)
		st->spill_region_bytes_mean = bytes / (double)st->spill_regions;
}

void sp__env_note_regions(const struct sp__env *e, struct sp_run_stats *st,
			  const struct sp__spill *spill)
{
	struct sp__machine_stats m;

	if (!e->device) {
		note_file_regions(st, spill);
		return;
	}
	sp__machine_stats(e->device->machine, &m);
	st->spill_regions = m.regions;
	st->spill_region_bytes_mean = m.region_bytes_mean;
}
