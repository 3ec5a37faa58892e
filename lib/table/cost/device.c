/* SPDX-License-Identifier: MIT */
/*
 * Times requests on a machine, on the tracks of a geometry, or by rates.
 *
 * Rates.  A device begins a request every 1/X seconds, or, if that takes longer, when the bytes of
 * the one before have passed at the rate of long requests.  Each takes its latency: that of 4 KiB,
 * and the time of its other bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "dev/model.h"
#include "sim/machine.h"
#include "table/cost/device.h"

#define SHORT_BYTES 4096.0
#define MIB 1048576.0
#define MERGED_BYTES (UINT64_C(1) << 20)

static bool simulated(const struct sp__cost_device *d)
{
	return d->queue != NULL;
}

/* all: the file has all of the device. */
static int open_machine(struct sp__cost_device *d, const struct sp_run_opts *run, uint64_t bytes,
			bool all)
{
	struct sp__queue_opts o = { .depth = SP__COST_DEPTH };
	int rc = sp__dryrun_open(&d->env, run, d->err);

	if (!rc && all)
		bytes = d->env.device->size_bytes -
			d->env.device->size_bytes % d->env.device->align_bytes;
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
static void begin_heads(struct sp__cost_device *d)
{
	const struct sp__cost_platform *p = d->platform;

	for (unsigned i = 0; i < d->nheads; i++)
		d->heads[i] = (struct sp__cost_head){ .path = { .g = p->tracks,
								.depth = 1,
								.fifo = p->fifo,
								.window = p->window / d->nheads,
								.bus_ns = p->bus_ns,
								.bus_apart = { p->bus_apart[0],
									       p->bus_apart[1] },
								.mean_ns = d->mean_ns } };
	d->queued = 0;
	d->host_ns = 0;
}

static int open_heads(struct sp__cost_device *d, const struct sp__lanemap *s, uint64_t bytes)
{
	const struct sp_geometry *g = d->platform->tracks;

	d->nheads = s ? s->volumes : 1;
	d->drive_blocks = s ? s->volume_cells * s->cell_blocks : UINT64_MAX;
	d->block_bytes = g->block_bytes;
	d->mean_ns = sp__headpath_mean_ns(g, 0, sp__min(bytes / g->block_bytes + 1, g->blocks));
	d->heads = calloc(d->nheads, sizeof(*d->heads));
	if (!d->heads)
		return -ENOMEM;
	begin_heads(d);
	return 0;
}

int sp__cost_device_open(struct sp__cost_device *d, const struct sp__cost_platform *p,
			 const struct sp__lanemap *lanemap, uint64_t bytes, bool measure,
			 struct sp_errinfo *err)
{
	const struct sp_geometry *g = p->tracks;

	*d = (struct sp__cost_device){ .platform = p, .err = err, .depth = 1 };
	if (p->simulated && (measure || p->tracks == p->own))
		return open_machine(d, p->run, bytes, lanemap);
	return g && g->nzones ? open_heads(d, lanemap, bytes) : 0;
}

int sp__cost_device_restart(struct sp__cost_device *d)
{
	d->requests = d->seeks = d->bytes = d->end = 0;
	d->nheld = 0;
	d->now_s = d->free_s = 0;
	memset(d->done_s, 0, sizeof(d->done_s));
	begin_heads(d);
	sp__cost_device_depth(d, 1);
	sp__cost_device_window(d, 0, 1);
	return simulated(d) ? sp__machine_restart(d->env.device->machine) : 0;
}

void sp__cost_device_close(struct sp__cost_device *d)
{
	sp__queue_close(d->queue);
	sp__volume_close(d->volume);
	free(d->heads);
	if (d->env.opts)
		(void)sp__dryrun_close(&d->env, 0);
}

void sp__cost_device_depth(struct sp__cost_device *d, unsigned depth)
{
	d->together = 1;
	d->depth = (unsigned)sp__min(sp__max(depth, 1), SP__COST_DEPTH);
	for (unsigned i = 0; i < d->nheads; i++)
		d->heads[i].path.depth = (unsigned)sp__min(d->depth, SP__HEADPATH_DEPTH_MAX);
}

/* Waits until at most `left` requests are outstanding on the machine. */
static int reap(struct sp__cost_device *d, unsigned left)
{
	while (sp__queue_outstanding(d->queue) > left) {
		struct sp__request *done[SP__COST_DEPTH];
		int n = sp__queue_reap(d->queue, done, SP__COST_DEPTH, 1, -1);

		if (n < 0)
			return n;
		for (int i = 0; i < n; i++) {
			d->of_window[done[i]->tag]--;
			d->free[d->nfree++] = done[i];
		}
	}
	return 0;
}

/* Submits the held requests to the machine. */
static int submit(struct sp__cost_device *d)
{
	int rc = d->depth > d->nheld ? reap(d, d->depth - d->nheld) : reap(d, 0);
	struct sp__request *list[SP__WINDOW_TOGETHER];

	if (rc)
		return rc;
	for (unsigned i = 0; i < d->nheld; i++) {
		const struct sp__cost_held *h = &d->held[i];

		list[i] = d->free[--d->nfree];
		*list[i] = (struct sp__request){ .op = h->write ? SP__OP_WRITE : SP__OP_READ,
						 .volume = d->volume,
						 .offset = h->offset,
						 .bytes = (uint32_t)h->bytes,
						 .tag = d->window };
	}
	d->of_window[d->window] += d->nheld;
	return sp__queue_submit(d->queue, list, d->nheld);
}

/* Serves the next request at a head; the host waits for it. */
static void serve(struct sp__cost_device *d, struct sp__cost_head *h)
{
	d->of_window[sp__headpath_serve(&h->path)]--;
	d->queued--;
	d->host_ns = fmax(d->host_ns, h->path.now_ns);
}

/* Serves a request at the head that is the furthest behind. */
static void serve_first(struct sp__cost_device *d)
{
	struct sp__cost_head *first = d->heads;

	for (struct sp__cost_head *h = first; h < d->heads + d->nheads; h++)
		if (h->path.queued && (!first->path.queued || h->path.now_ns < first->path.now_ns))
			first = h;
	serve(d, first);
}

/* Hands the waiting request to the drive. */
static void hand_over(struct sp__cost_device *d, struct sp__cost_head *h)
{
	struct sp__cost_waiting *w = &h->waiting;
	struct sp__headpass pass;

	if (w->first == w->end)
		return;
	sp__headpass_make(h->path.g, w->write, w->first, w->end - w->first, &pass);
	pass.tag = w->tag;
	if (h->path.queued == h->path.depth)
		serve(d, h);
	else if (d->queued == d->depth)
		serve_first(d);
	h->path.issued_ns = d->host_ns;
	sp__headpath_issue(&h->path, &pass);
	d->queued++;
	w->first = w->end;
}

static void follow(struct sp__cost_device *d, bool write, uint64_t offset, uint64_t bytes)
{
	const uint64_t block = offset / d->block_bytes, first = block % d->drive_blocks;
	const uint64_t end =
		first + (offset % d->block_bytes + bytes + d->block_bytes - 1) / d->block_bytes;
	struct sp__cost_head *h = &d->heads[block / d->drive_blocks];
	struct sp__cost_waiting *w = &h->waiting;

	if (h->path.window && h->path.queued > h->path.window && w->write == write &&
	    w->first < w->end && w->end == first && w->tag == d->window &&
	    (end - w->first) * d->block_bytes <= MERGED_BYTES) {
		w->end = end;
		return;
	}
	hand_over(d, h);
	*w = (struct sp__cost_waiting){ write, d->window, first, end };
	d->of_window[d->window]++;
	if (!h->path.window || h->path.queued < h->path.window)
		hand_over(d, h);
}

static void begin_request(struct sp__cost_device *d, uint64_t bytes)
{
	const struct sp__device_costs *costs = &d->platform->costs;
	const double each_s = costs->transfer_s_per_mib / MIB;
	double begin_s = fmax(d->now_s, d->free_s);
	double latency_s = costs->latency_s + fmax((double)bytes - SHORT_BYTES, 0) * each_s;
	double *done_s = &d->done_s[d->window];

	d->free_s = begin_s + fmax(1 / costs->requests_s, (double)bytes * each_s);
	*done_s = fmax(*done_s, begin_s + latency_s);
}

/* Follows the held requests: the drive receives all of them, then the host continues. */
static void follow_all(struct sp__cost_device *d)
{
	for (unsigned i = 0; i < d->nheld; i++)
		follow(d, d->held[i].write, d->held[i].offset, d->held[i].bytes);
	d->host_ns += d->nheld * d->platform->host_ns;
}

int sp__cost_device_submit(struct sp__cost_device *d)
{
	int rc = 0;

	if (simulated(d) && d->nheld)
		rc = submit(d);
	if (d->heads)
		follow_all(d);
	for (unsigned i = 0; !d->heads && !simulated(d) && i < d->nheld; i++)
		begin_request(d, d->held[i].bytes);
	d->nheld = 0;
	return rc;
}

int sp__cost_device_issue(struct sp__cost_device *d, bool write, uint64_t offset, uint64_t bytes)
{
	d->seeks += !d->requests || offset != d->end;
	d->requests++;
	d->bytes += bytes;
	d->end = offset + bytes;
	d->held[d->nheld++] = (struct sp__cost_held){ write, offset, bytes };
	return d->nheld >= d->together ? sp__cost_device_submit(d) : 0;
}

void sp__cost_device_window(struct sp__cost_device *d, unsigned window, unsigned together)
{
	d->together = together;
	d->window = window;
}

bool sp__cost_device_is_done(const struct sp__cost_device *d, unsigned window)
{
	return d->heads || simulated(d) ? !d->of_window[window] : d->done_s[window] <= d->now_s;
}

int sp__cost_device_wait_some(struct sp__cost_device *d, unsigned window)
{
	if (simulated(d))
		return reap(d, sp__queue_outstanding(d->queue) - 1);
	if (d->heads) {
		for (unsigned i = 0; i < d->nheads; i++)
			if (!d->heads[i].path.queued)
				hand_over(d, &d->heads[i]);
		serve_first(d);
	} else {
		d->now_s = fmax(d->now_s, d->done_s[window]);
	}
	return 0;
}

int sp__cost_device_wait(struct sp__cost_device *d)
{
	int rc = sp__cost_device_submit(d);

	if (rc || simulated(d))
		return rc ? rc : reap(d, 0);
	if (d->heads) {
		for (unsigned i = 0; i < d->nheads; i++)
			hand_over(d, &d->heads[i]);
		while (d->queued)
			serve_first(d);
	} else {
		for (unsigned i = 0; i < SP__COST_WINDOWS; i++)
			d->now_s = fmax(d->now_s, d->done_s[i]);
	}
	return 0;
}

void sp__cost_device_compute(struct sp__cost_device *d, double ns)
{
	if (simulated(d))
		sp__machine_charge_ps(d->env.device->machine, (uint64_t)(ns * 1000));
	else if (d->heads)
		d->host_ns += ns;
	else
		d->now_s += ns * 1e-9;
}

double sp__cost_device_s(const struct sp__cost_device *d)
{
	if (simulated(d))
		return sp__dryrun_s(&d->env);
	return d->heads ? d->host_ns * 1e-9 : d->now_s;
}
