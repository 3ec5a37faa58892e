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
#include "predict/timer.h"
#include "sim/machine.h"

#define SHORT_BYTES 4096.0
#define MIB 1048576.0
#define MERGED_BYTES (UINT64_C(1) << 20)

static bool simulated(const struct sp__timer *d)
{
	return d->queue != NULL;
}

/* all: the file has all of the device. */
static int open_machine(struct sp__timer *d, const struct sp_run_opts *run, uint64_t bytes,
			bool all)
{
	struct sp__queue_opts o = { .depth = SP__TIMER_DEPTH };
	int rc = sp__dryrun_open(&d->env, run, d->err);

	if (!rc && all)
		bytes = d->env.device->size_bytes -
			d->env.device->size_bytes % d->env.device->align_bytes;
	if (!rc)
		rc = sp__volume_hollow(&d->volume, d->env.device, SP__SIM_INPUT, bytes, d->err);
	o.device = d->env.device;
	if (!rc)
		rc = sp__queue_open(&d->queue, &o, d->err);
	for (unsigned i = 0; i < SP__TIMER_DEPTH; i++)
		d->free[d->nfree++] = &d->slots[i];
	return rc;
}

/* The first positioning is a mean over the file. */
static void begin_heads(struct sp__timer *d)
{
	const struct sp__platform *p = d->platform;
	const struct sp__drive_facts *f = &p->drive.facts;

	for (unsigned i = 0; i < d->heads.n; i++) {
		d->heads.drives[i] =
			(struct sp__headpath){ .g = p->tracks,
					       .fifo = f->fifo,
					       .window = f->window / d->heads.n,
					       .bus_ns = f->bus_ns,
					       .bus_apart = { f->bus_apart[0], f->bus_apart[1] },
					       .mean_ns = d->mean_ns };
		d->waiting[i] = (struct sp__timer_waiting){ 0 };
	}
	d->heads.queued = 0;
	d->heads.host_ns = 0;
}

static int open_heads(struct sp__timer *d, const struct sp__timer_opts *o)
{
	const struct sp_geometry *g = o->platform->tracks;

	d->heads.n = (unsigned)sp__max(o->drives, 1);
	d->heads.of_tag = d->of_window;
	d->heads.drives = calloc(d->heads.n, sizeof(*d->heads.drives));
	d->waiting = calloc(d->heads.n, sizeof(*d->waiting));
	d->drive_blocks = o->drives ? o->drive_blocks : UINT64_MAX;
	d->block_bytes = g->block_bytes;
	d->mean_ns = sp__headpath_mean_ns(g, 0, sp__min(o->bytes / g->block_bytes + 1, g->blocks));
	if (!d->heads.drives || !d->waiting) {
		d->heads.n = 0;
		return -ENOMEM;
	}
	begin_heads(d);
	return 0;
}

int sp__timer_open(struct sp__timer *d, const struct sp__timer_opts *o, struct sp_errinfo *err)
{
	const struct sp__platform *p = o->platform;

	*d = (struct sp__timer){ .platform = p, .err = err, .depth = 1, .heads.depth = 1 };
	if (p->simulated && (o->measure || p->tracks == p->drive.own))
		return open_machine(d, p->run, o->bytes, o->drives);
	return p->tracks && p->tracks->nzones ? open_heads(d, o) : 0;
}

int sp__timer_restart(struct sp__timer *d)
{
	d->requests = d->seeks = d->bytes = d->end = 0;
	d->nheld = 0;
	d->now_s = d->free_s = 0;
	memset(d->done_s, 0, sizeof(d->done_s));
	begin_heads(d);
	sp__timer_depth(d, 1);
	sp__timer_window(d, 0, 1);
	return simulated(d) ? sp__machine_restart(d->env.device->machine) : 0;
}

void sp__timer_close(struct sp__timer *d)
{
	sp__queue_close(d->queue);
	sp__volume_close(d->volume);
	free(d->heads.drives);
	free(d->waiting);
	if (d->env.opts)
		(void)sp__dryrun_close(&d->env, 0);
}

void sp__timer_depth(struct sp__timer *d, unsigned depth)
{
	d->together = 1;
	d->depth = (unsigned)sp__min(sp__max(depth, 1), SP__TIMER_DEPTH);
	d->heads.depth = d->depth;
}

/* Waits until at most `left` requests are outstanding on the machine. */
static int reap(struct sp__timer *d, unsigned left)
{
	while (sp__queue_outstanding(d->queue) > left) {
		struct sp__request *done[SP__TIMER_DEPTH];
		int n = sp__queue_reap(d->queue, done, SP__TIMER_DEPTH, 1, -1);

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
static int submit(struct sp__timer *d)
{
	int rc = d->depth > d->nheld ? reap(d, d->depth - d->nheld) : reap(d, 0);
	struct sp__request *list[SP__TIMER_DEPTH];

	if (rc)
		return rc;
	for (unsigned i = 0; i < d->nheld; i++) {
		const struct sp__timer_held *h = &d->held[i];

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

/* Hands the waiting request of a drive to it. */
static void hand_over(struct sp__timer *d, unsigned drive)
{
	struct sp__timer_waiting *w = &d->waiting[drive];
	struct sp__headpath *to = &d->heads.drives[drive];
	struct sp__headpass pass;

	if (w->first == w->end)
		return;
	sp__headpass_make(to->g, w->write, w->first, w->end - w->first, &pass);
	pass.tag = w->tag;
	sp__heads_make_room(&d->heads, to);
	sp__heads_issue(&d->heads, to, &pass);
	w->first = w->end;
}

static void follow(struct sp__timer *d, bool write, uint64_t offset, uint64_t bytes)
{
	const uint64_t block = offset / d->block_bytes, first = block % d->drive_blocks;
	const uint64_t end =
		first + (offset % d->block_bytes + bytes + d->block_bytes - 1) / d->block_bytes;
	const unsigned drive = (unsigned)(block / d->drive_blocks);
	const struct sp__headpath *to = &d->heads.drives[drive];
	struct sp__timer_waiting *w = &d->waiting[drive];

	if (to->window && to->queued > to->window && w->write == write && w->first < w->end &&
	    w->end == first && w->tag == d->window &&
	    (end - w->first) * d->block_bytes <= MERGED_BYTES) {
		w->end = end;
		return;
	}
	hand_over(d, drive);
	*w = (struct sp__timer_waiting){ write, d->window, first, end };
	d->of_window[d->window]++;
	if (!to->window || to->queued < to->window)
		hand_over(d, drive);
}

static void begin_request(struct sp__timer *d, uint64_t bytes)
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
static void follow_all(struct sp__timer *d)
{
	for (unsigned i = 0; i < d->nheld; i++)
		follow(d, d->held[i].write, d->held[i].offset, d->held[i].bytes);
	d->heads.host_ns += d->nheld * d->platform->drive.facts.host_ns;
}

int sp__timer_submit(struct sp__timer *d)
{
	int rc = 0;

	if (simulated(d) && d->nheld)
		rc = submit(d);
	if (d->heads.n)
		follow_all(d);
	for (unsigned i = 0; !d->heads.n && !simulated(d) && i < d->nheld; i++)
		begin_request(d, d->held[i].bytes);
	d->nheld = 0;
	return rc;
}

int sp__timer_issue(struct sp__timer *d, bool write, uint64_t offset, uint64_t bytes)
{
	d->seeks += !d->requests || offset != d->end;
	d->requests++;
	d->bytes += bytes;
	d->end = offset + bytes;
	d->held[d->nheld++] = (struct sp__timer_held){ write, offset, bytes };
	return d->nheld >= d->together ? sp__timer_submit(d) : 0;
}

void sp__timer_window(struct sp__timer *d, unsigned window, unsigned together)
{
	d->together = together;
	d->window = window;
}

bool sp__timer_is_done(const struct sp__timer *d, unsigned window)
{
	return d->heads.n || simulated(d) ? !d->of_window[window] : d->done_s[window] <= d->now_s;
}

int sp__timer_wait_some(struct sp__timer *d, unsigned window)
{
	if (simulated(d))
		return reap(d, sp__queue_outstanding(d->queue) - 1);
	if (d->heads.n) {
		for (unsigned i = 0; i < d->heads.n; i++)
			if (!d->heads.drives[i].queued)
				hand_over(d, i);
		sp__heads_serve(&d->heads);
	} else {
		d->now_s = fmax(d->now_s, d->done_s[window]);
	}
	return 0;
}

int sp__timer_wait(struct sp__timer *d)
{
	int rc = sp__timer_submit(d);

	if (rc || simulated(d))
		return rc ? rc : reap(d, 0);
	if (d->heads.n) {
		for (unsigned i = 0; i < d->heads.n; i++)
			hand_over(d, i);
		sp__heads_drain(&d->heads);
	} else {
		for (unsigned i = 0; i < SP__TIMER_WINDOWS; i++)
			d->now_s = fmax(d->now_s, d->done_s[i]);
	}
	return 0;
}

void sp__timer_compute(struct sp__timer *d, double ns)
{
	if (simulated(d))
		sp__machine_charge_ps(d->env.device->machine, (uint64_t)(ns * 1000));
	else if (d->heads.n)
		d->heads.host_ns += ns;
	else
		d->now_s += ns * 1e-9;
}

double sp__timer_s(const struct sp__timer *d)
{
	if (simulated(d))
		return sp__dryrun_s(&d->env);
	return d->heads.n ? d->heads.host_ns * 1e-9 : d->now_s;
}
