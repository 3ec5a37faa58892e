/* SPDX-License-Identifier: MIT */
/*
 * Implements the virtual drive: the simulated block device with flushes, reassembled split
 * requests, and its own request structs.
 *
 * Flushes.  All outstanding requests and flushes are in one list by submission.  When a flush is at
 * the head, no request precedes it.  Only then is its completion time known: when the device would
 * have written its buffer if no request followed.  So only the head is examined.
 *
 * Fragments.  A host can split a request into fragments, which arrive together: the first one is in
 * its overhead when the others arrive.  Each fragment's overhead ends with that of the first one,
 * so that all are present when the scheduler decides, and it merges them, whatever their order of
 * arrival.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <spindle/vdrive.h>
#include "base/err.h"
#include "base/minmax.h"
#include "dev/device.h"
#include "sim/machine.h"

#define PIECE_NS UINT64_C(100000)
#define PIECE_BYTES (UINT64_C(64) << 10)
#define REQUEST_MAX (UINT64_C(1) << 31)

struct item {
	struct sp__blockreq req; /* first member: the block device returns it */
	enum sp_vdrive_op op;
	void *cookie;
	TAILQ_ENTRY(item) link;
};

TAILQ_HEAD(items, item);

/* The request that the next one could be a fragment of. */
struct whole {
	const struct item *last;       /* last fragment; NULL: none outstanding */
	uint64_t since_ns, start, end; /* submission of the first; blocks of all */
};

struct sp_vdrive {
	struct sp__machine_spec spec;
	struct sp__model *model;
	struct sp__blockdev *bd;
	uint64_t now_ns;
	struct items outstanding, done, free; /* first submitted first */
	uint64_t flushed_ns; /* completion of a flush at the head; 0: not known yet */
	struct whole whole;
	struct sp_vdrive_stats stats;
};

static int open_device(struct sp_vdrive *v, const char *spec, struct sp_errinfo *err)
{
	struct sp__blockdev_opts opts;
	int rc = sp__machine_words_parse(&v->spec, spec, "sched window merge", err);

	if (rc == 0)
		rc = sp__machine_spec_model(&v->model, &v->spec, err);
	if (rc < 0)
		return rc;
	opts = v->spec.device;
	opts.sched = v->spec.sched;
	opts.merge_blocks_max = sp__max(v->spec.merge_bytes / v->model->block_bytes, 1u);
	return sp__blockdev_open(&v->bd, v->model, &opts, err);
}

int sp_vdrive_open(struct sp_vdrive **out, const char *spec, struct sp_errinfo *err)
{
	struct sp_vdrive *v = calloc(1, sizeof(*v));
	int rc = v ? open_device(v, spec, err) : -ENOMEM;

	*out = NULL;
	if (v) {
		TAILQ_INIT(&v->outstanding);
		TAILQ_INIT(&v->done);
		TAILQ_INIT(&v->free);
	}
	if (rc < 0) {
		sp_vdrive_close(v);
		return sp__err(err, rc, "vdrive", "", -1);
	}
	*out = v;
	return 0;
}

static void free_items(struct items *list)
{
	struct item *i;

	while ((i = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, i, link);
		free(i);
	}
}

void sp_vdrive_close(struct sp_vdrive *v)
{
	if (!v)
		return;
	sp__blockdev_close(v->bd);
	sp__model_free(v->model);
	free_items(&v->outstanding);
	free_items(&v->done);
	free_items(&v->free);
	free(v);
}

void sp_vdrive_info(const struct sp_vdrive *v, struct sp_vdrive_info *info)
{
	*info = (struct sp_vdrive_info){
		.model = v->model->name,
		.about = v->model->about,
		.kind = v->model->ops->kind,
		.bytes = v->model->blocks * v->model->block_bytes,
		.block_bytes = v->model->block_bytes,
	};
}

static struct item *new_item(struct sp_vdrive *v)
{
	struct item *i = TAILQ_FIRST(&v->free);

	if (i)
		TAILQ_REMOVE(&v->free, i, link);
	else
		i = malloc(sizeof(*i));
	return i;
}

static void into_list(struct sp_vdrive *v, struct item *i)
{
	TAILQ_INSERT_TAIL(&v->outstanding, i, link);
	v->stats.outstanding++;
}

/* Moves an item from the outstanding ones to the done ones. */
static void finish(struct sp_vdrive *v, struct item *i)
{
	if (v->whole.last == i)
		v->whole.last = NULL;
	TAILQ_REMOVE(&v->outstanding, i, link);
	TAILQ_INSERT_TAIL(&v->done, i, link);
}

static bool is_continuation(const struct sp_vdrive *v, const struct item *i, uint64_t now_ns)
{
	const struct whole *w = &v->whole;
	uint64_t start = i->req.lbn, end = start + i->req.blocks, most;

	if (!v->spec.device.merge || !w->last || w->last->op != i->op ||
	    now_ns - w->last->req.submit_ns >= PIECE_NS)
		return false;
	most = w->end - w->start > i->req.blocks ? w->end - w->start : i->req.blocks;
	return (start == w->end || end == w->start) && most * v->model->block_bytes >= PIECE_BYTES;
}

static void submit_blocks(struct sp_vdrive *v, struct item *i, uint64_t now_ns)
{
	struct sp__blockreq *req = &i->req;
	struct whole *w = &v->whole;

	if (is_continuation(v, i, now_ns)) {
		sp__blockdev_submit_continuation(v->bd, now_ns, w->since_ns, req);
		w->start = req->lbn < w->start ? req->lbn : w->start;
		w->end = req->lbn + req->blocks > w->end ? req->lbn + req->blocks : w->end;
		v->stats.continuations++;
	} else {
		sp__blockdev_submit(v->bd, now_ns, &req, 1, false);
		*w = (struct whole){ .since_ns = now_ns,
				     .start = req->lbn,
				     .end = req->lbn + req->blocks };
	}
	w->last = i;
}

static void count(struct sp_vdrive_stats *s, enum sp_vdrive_op op, uint64_t bytes)
{
	if (op == SP_VDRIVE_FLUSH) {
		s->flushes++;
	} else if (op == SP_VDRIVE_WRITE) {
		s->writes++;
		s->write_bytes += bytes;
	} else {
		s->reads++;
		s->read_bytes += bytes;
	}
}

int sp_vdrive_submit(struct sp_vdrive *v, uint64_t now_ns, enum sp_vdrive_op op, uint64_t offset,
		     uint64_t bytes, void *cookie)
{
	uint32_t block_bytes = v->model->block_bytes;
	uint64_t size = v->model->blocks * block_bytes, first = offset / block_bytes;
	struct item *i;

	if (op != SP_VDRIVE_FLUSH && (!bytes || bytes >= REQUEST_MAX))
		return -EINVAL;
	if (op != SP_VDRIVE_FLUSH && (offset > size || bytes > size - offset))
		return -ERANGE;
	i = new_item(v);
	if (!i)
		return -ENOMEM;
	now_ns = sp__max(now_ns, v->now_ns);
	*i = (struct item){ .op = op, .cookie = cookie };
	if (op == SP_VDRIVE_FLUSH) {
		i->req.submit_ns = now_ns;
	} else {
		i->req.lbn = first;
		i->req.blocks = (uint32_t)((offset + bytes - 1) / block_bytes - first + 1);
		i->req.write = op == SP_VDRIVE_WRITE;
		submit_blocks(v, i, now_ns);
	}
	into_list(v, i);
	count(&v->stats, op, bytes);
	return 0;
}

/* Returns when the flush at the head completes, if there is one and its time is known. */
static uint64_t flush_ns(const struct sp_vdrive *v)
{
	const struct item *i = TAILQ_FIRST(&v->outstanding);

	if (!i || i->op != SP_VDRIVE_FLUSH)
		return SP_VDRIVE_NEVER;
	return v->flushed_ns ? v->flushed_ns : i->req.submit_ns;
}

static uint64_t next_event(const struct sp_vdrive *v)
{
	uint64_t bd = sp__blockdev_next_ns(v->bd), flush = flush_ns(v);
	uint64_t t = bd < flush ? bd : flush;

	return t > v->now_ns ? t : v->now_ns;
}

uint64_t sp_vdrive_next_ns(const struct sp_vdrive *v)
{
	const struct item *done = TAILQ_FIRST(&v->done);

	return done ? done->req.done_ns : next_event(v);
}

static void settle_flushes(struct sp_vdrive *v)
{
	struct item *i;

	while ((i = TAILQ_FIRST(&v->outstanding)) && i->op == SP_VDRIVE_FLUSH &&
	       i->req.submit_ns <= v->now_ns) {
		if (!v->flushed_ns) {
			v->flushed_ns = sp__blockdev_flushed_ns(v->bd);
			v->flushed_ns = sp__max(v->flushed_ns, v->now_ns);
		}
		if (v->flushed_ns > v->now_ns)
			return;
		i->req.done_ns = v->now_ns;
		v->flushed_ns = 0;
		finish(v, i);
	}
}

static void step(struct sp_vdrive *v, uint64_t t)
{
	struct sp__blockreq *r, *next;
	uint64_t response;

	for (r = sp__blockdev_advance(v->bd, t); r; r = next) {
		next = r->next;
		response = r->done_ns - r->submit_ns;
		v->stats.completed++;
		v->stats.response_ns += response;
		v->stats.longest_response_ns = sp__max(v->stats.longest_response_ns, response);
		finish(v, (struct item *)r);
	}
	v->now_ns = t;
	settle_flushes(v);
}

/* Runs until until_ns.  Does not decide at until_ns while the caller has not seen a completion. */
static void run(struct sp_vdrive *v, uint64_t until_ns)
{
	uint64_t t;

	while ((t = next_event(v)) <= until_ns && t != SP_VDRIVE_NEVER &&
	       !(v->now_ns == until_ns && !TAILQ_EMPTY(&v->done)))
		step(v, t);
	if (until_ns > v->now_ns && until_ns != SP_VDRIVE_NEVER)
		step(v, until_ns);
}

size_t sp_vdrive_advance(struct sp_vdrive *v, uint64_t until_ns, struct sp_vdrive_done *done,
			 size_t max)
{
	struct item *i;
	size_t n;

	until_ns = sp__max(until_ns, v->now_ns);
	run(v, until_ns);
	for (n = 0; n < max && (i = TAILQ_FIRST(&v->done)); n++) {
		done[n] = (struct sp_vdrive_done){ .cookie = i->cookie,
						   .op = i->op,
						   .hit = i->req.hit,
						   .submit_ns = i->req.submit_ns,
						   .done_ns = i->req.done_ns };
		TAILQ_REMOVE(&v->done, i, link);
		TAILQ_INSERT_HEAD(&v->free, i, link);
		v->stats.outstanding--;
	}
	return n;
}

void sp_vdrive_stats(const struct sp_vdrive *v, struct sp_vdrive_stats *stats)
{
	struct sp__blockdev_stats bd;

	sp__blockdev_stats(v->bd, &bd);
	*stats = v->stats;
	stats->now_ns = v->now_ns;
	stats->merges = bd.merges;
	stats->dispatched = bd.dispatched;
	stats->seeks = bd.seeks;
	stats->hits = bd.hits;
	stats->busy_ns = bd.busy_ns;
	stats->seek_ns = bd.seek_ns;
	stats->rotate_ns = bd.rotate_ns;
	stats->transfer_ns = bd.transfer_ns;
}
