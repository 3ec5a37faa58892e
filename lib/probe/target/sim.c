/* SPDX-License-Identifier: MIT */
/*
 * Implements a target on a simulated device: a block device of the simulator in virtual time,
 * behind a noisy host.
 *
 * The host sees completions late (half-normal noise and, for a share of them, an exponential
 * tail), and needs time from a completion to its next request.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "dev/model.h"
#include "probe/target/target.h"
#include "sim/machine.h"

#define STREAM_MAX 256

struct sim {
	struct sp__target target;
	struct sp__machine_spec spec;
	struct sp__model *model;
	struct sp__blockdev *dev;
	struct sp__rng rng;
	uint64_t now_ns;
};

static struct sim *sim_of(struct sp__target *t)
{
	return (struct sim *)t;
}

/* Submits requests of one block each (at most two) together. */
static void carry_out(struct sim *s, const uint64_t *lbns, size_t n, bool write,
		      struct sp__shot *shots)
{
	struct sp__blockreq req[2], *reqs[2], *done;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < n; i++) {
		req[i] = (struct sp__blockreq){ .lbn = lbns[i], .blocks = 1, .write = write };
		reqs[i] = &req[i];
	}
	sp__blockdev_submit(s->dev, s->now_ns, reqs, n, false);
	for (size_t left = n; left;)
		for (done = sp__blockdev_advance(s->dev, sp__blockdev_next_ns(s->dev)); done;
		     done = done->next)
			left--;
	for (size_t i = 0; i < n; i++) {
		shots[i] =
			(struct sp__shot){ s->now_ns,
					   req[i].done_ns + sp__noise_ns(&s->spec.noise, &s->rng) };
		last_ns = sp__max(last_ns, shots[i].done_ns);
	}
	s->now_ns = last_ns + SP__TARGET_TURNAROUND_NS;
}

static int sim_transfer(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *shot)
{
	if (lbn >= t->blocks)
		return -EIO;
	carry_out(sim_of(t), &lbn, 1, write, shot);
	return 0;
}

static int sim_pair(struct sp__target *t, const uint64_t lbns[2], struct sp__shot shots[2])
{
	carry_out(sim_of(t), lbns, 2, false, shots);
	return 0;
}

/* Each completion is followed immediately by the next request. */
static int sim_stream(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		      unsigned depth, struct sp__shot *shots, uint64_t *elapsed_ns)
{
	struct sim *s = sim_of(t);
	struct sp__blockreq slots[STREAM_MAX], *req, *next;
	uint64_t begin = s->now_ns;
	size_t issued = 0, done = 0;

	if (depth > STREAM_MAX)
		depth = STREAM_MAX;
	for (; issued < n && issued < depth; issued++) {
		req = &slots[issued];
		*req = (struct sp__blockreq){ .lbn = lbns[issued],
					      .blocks = blocks,
					      .owner = &shots[issued] };
		sp__blockdev_submit(s->dev, s->now_ns, &req, 1, false);
	}
	while (done < n) {
		next = sp__blockdev_advance(s->dev, sp__blockdev_next_ns(s->dev));
		while ((req = next)) {
			next = req->next;
			s->now_ns = sp__max(s->now_ns, req->done_ns);
			*(struct sp__shot *)req->owner = (struct sp__shot){
				req->submit_ns, req->done_ns + sp__noise_ns(&s->spec.noise, &s->rng)
			};
			done++;
			if (issued == n)
				continue;
			*req = (struct sp__blockreq){ .lbn = lbns[issued],
						      .blocks = blocks,
						      .owner = &shots[issued] };
			issued++;
			sp__blockdev_submit(s->dev, s->now_ns, &req, 1, false);
		}
	}
	*elapsed_ns = s->now_ns - begin;
	return 0;
}

static uint64_t sim_now(struct sp__target *t)
{
	return sim_of(t)->now_ns;
}

static void sim_wait(struct sp__target *t, uint64_t until_ns)
{
	sim_of(t)->now_ns = sp__max(sim_of(t)->now_ns, until_ns);
}

static void sim_close(struct sp__target *t)
{
	struct sim *s = sim_of(t);

	sp__blockdev_close(s->dev);
	sp__model_free(s->model);
}

static const struct sp__target_ops sim_ops = {
	.transfer = sim_transfer,
	.pair = sim_pair,
	.stream = sim_stream,
	.now = sim_now,
	.wait = sim_wait,
	.close = sim_close,
};

static int open_device(struct sim *s, const char *text, struct sp_errinfo *err)
{
	struct sp__blockdev_opts opts;
	int rc = sp__machine_spec_parse(&s->spec, text, err);

	if (rc)
		return rc;
	opts = s->spec.device;
	opts.sched = s->spec.sched;
	opts.merge = false;
	opts.requests_max = 0;
	rc = sp__machine_spec_model(&s->model, &s->spec, err);
	return rc ? rc : sp__blockdev_open(&s->dev, s->model, &opts, err);
}

int sp__target_sim(struct sp__target **t, const char *spec, struct sp_errinfo *err)
{
	struct sim *s = calloc(1, sizeof(*s));
	int rc;

	*t = NULL;
	if (!s)
		return sp__err(err, -ENOMEM, "open", spec, -1);
	s->target.ops = &sim_ops;
	rc = open_device(s, spec, err);
	if (!rc) {
		s->target.name = strdup(s->model->name);
		rc = s->target.name ? 0 : sp__err(err, -ENOMEM, "open", spec, -1);
	}
	if (rc) {
		sp__target_close(&s->target);
		return rc;
	}
	s->rng.state = sp__mix64(s->spec.seed + 1);
	s->target.simulated = true;
	s->target.blocks = s->model->blocks;
	s->target.block_bytes = s->model->block_bytes;
	/* A simulated device has no data to lose. */
	s->target.write_blocks = s->model->blocks;
	*t = &s->target;
	return 0;
}

void sp__target_close(struct sp__target *t)
{
	if (!t)
		return;
	t->ops->close(t);
	free(t->name);
	free(t);
}
