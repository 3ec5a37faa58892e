/* SPDX-License-Identifier: MIT */
/*
 * Times requests on a machine, on the tracks of a geometry, or by rates.
 *
 * Rates.  Requests between two waits overlap.  Together they take at least the sum of their service
 * times, at least the longest latency, and at least the sum of latencies divided by the depth.  The
 * service time of a request is 1/X or its bytes at the rate of long requests, the longer; its
 * latency is that of 4 KiB, and its other bytes.
 */
#include <math.h>
#include "base/minmax.h"
#include "dev/model.h"
#include "sim/machine.h"
#include "table/cost/device.h"

#define SHORT_BYTES 4096.0
#define MIB 1048576.0

static bool measured(const struct sp__cost_device *d)
{
	return d->queue != NULL;
}

static int open_machine(struct sp__cost_device *d, const struct sp_run_opts *run, uint64_t bytes)
{
	struct sp__queue_opts o = { .depth = SP__COST_DEPTH };
	int rc = sp__dryrun_open(&d->env, run, d->err);

	if (!rc)
		rc = sp__volume_hollow(&d->volume, d->env.device, SP__SIM_INPUT, bytes, d->err);
	o.device = d->env.device;
	if (!rc)
		rc = sp__queue_open(&d->queue, &o, d->err);
	for (unsigned i = 0; i < SP__COST_DEPTH; i++)
		d->free[d->nfree++] = &d->slots[i];
	return rc;
}

/* The first positioning is a mean over the file. */
static void open_head(struct sp__cost_device *d, const struct sp__cost_platform *p, uint64_t bytes)
{
	const struct sp_geometry *g = p->geometry;
	uint64_t blocks = sp__min(bytes / g->block_bytes + 1, g->blocks);

	d->block_bytes = g->block_bytes;
	d->head = (struct sp__headpath){ .g = g,
					 .depth = 1,
					 .fifo = p->fifo,
					 .window = p->window,
					 .host_ns = p->host_ns,
					 .bus_ns = p->bus_ns,
					 .bus_apart = { p->bus_apart[0], p->bus_apart[1] },
					 .mean_ns = sp__headpath_mean_ns(g, 0, blocks) };
}

int sp__cost_device_open(struct sp__cost_device *d, const struct sp__cost_platform *p,
			 uint64_t bytes, bool measure, struct sp_errinfo *err)
{
	*d = (struct sp__cost_device){ .err = err, .depth = 1, .costs = p->costs };
	if (p->geometry && p->geometry->nzones && !measure)
		open_head(d, p, bytes);
	else if (p->simulated)
		return open_machine(d, p->run, bytes);
	return 0;
}

void sp__cost_device_close(struct sp__cost_device *d)
{
	sp__queue_close(d->queue);
	sp__volume_close(d->volume);
	if (d->env.opts)
		(void)sp__dryrun_close(&d->env, 0);
}

void sp__cost_device_depth(struct sp__cost_device *d, unsigned depth)
{
	d->depth = (unsigned)sp__min(sp__max(depth, 1), SP__COST_DEPTH);
	d->head.depth = (unsigned)sp__min(d->depth, SP__HEADPATH_DEPTH_MAX);
}

/* Waits until at most `left` requests are outstanding on the machine. */
static int reap(struct sp__cost_device *d, unsigned left)
{
	while (sp__queue_outstanding(d->queue) > left) {
		struct sp__request *done[SP__COST_DEPTH];
		int n = sp__queue_reap(d->queue, done, SP__COST_DEPTH, 1, -1);

		if (n < 0)
			return n;
		for (int i = 0; i < n; i++)
			d->free[d->nfree++] = done[i];
	}
	return 0;
}

static int submit(struct sp__cost_device *d, bool write, uint64_t offset, uint64_t bytes)
{
	int rc = reap(d, d->depth - 1);
	struct sp__request *r;

	if (rc)
		return rc;
	r = d->free[--d->nfree];
	*r = (struct sp__request){ .op = write ? SP__OP_WRITE : SP__OP_READ,
				   .volume = d->volume,
				   .offset = offset,
				   .bytes = (uint32_t)bytes };
	return sp__queue_submit(d->queue, &r, 1);
}

static void follow(struct sp__cost_device *d, bool write, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset / d->block_bytes;
	uint64_t end = (offset + bytes + d->block_bytes - 1) / d->block_bytes;
	struct sp__headpass pass;

	sp__headpass_make(d->head.g, write, first, end - first, &pass);
	sp__headpath_issue(&d->head, &pass);
}

static void add_pending(struct sp__cost_device *d, uint64_t bytes)
{
	const double each_s = d->costs.transfer_s_per_mib / MIB;
	double latency_s = d->costs.latency_s + fmax((double)bytes - SHORT_BYTES, 0) * each_s;

	d->pending.service_s += fmax(1 / d->costs.requests_s, (double)bytes * each_s);
	d->pending.latency_s += latency_s;
	d->pending.longest_s = fmax(d->pending.longest_s, latency_s);
}

int sp__cost_device_issue(struct sp__cost_device *d, bool write, uint64_t offset, uint64_t bytes)
{
	d->seeks += !d->requests || offset != d->end;
	d->requests++;
	d->bytes += bytes;
	d->end = offset + bytes;
	if (measured(d))
		return submit(d, write, offset, bytes);
	if (d->head.g)
		follow(d, write, offset, bytes);
	else
		add_pending(d, bytes);
	return 0;
}

int sp__cost_device_wait(struct sp__cost_device *d)
{
	struct sp__cost_pending *p = &d->pending;

	if (measured(d))
		return reap(d, 0);
	if (d->head.g) {
		sp__headpath_drain(&d->head);
		d->head.issued_ns = fmax(d->head.issued_ns, d->head.now_ns);
	} else {
		d->now_s += fmax(fmax(p->service_s, p->longest_s), p->latency_s / d->depth);
		*p = (struct sp__cost_pending){ 0 };
	}
	return 0;
}

void sp__cost_device_compute(struct sp__cost_device *d, double ns)
{
	d->compute_ns += ns;
	if (measured(d))
		sp__machine_charge_ps(d->env.device->machine, (uint64_t)(ns * 1000));
	else if (d->head.g)
		d->head.issued_ns = fmax(d->head.issued_ns, d->head.now_ns) + ns;
}

double sp__cost_device_s(const struct sp__cost_device *d)
{
	if (measured(d))
		return sp__dryrun_s(&d->env);
	return d->head.g ? fmax(d->head.now_ns, d->head.issued_ns) * 1e-9
			 : fmax(d->now_s, d->compute_ns * 1e-9);
}
