/* SPDX-License-Identifier: MIT */
/*
 * A simulated device as a probe's target: a block device of the simulator in
 * virtual time, used by a host that sees completions late (half-normal noise
 * and, for a share of them, an exponential tail) and that needs some time from
 * a completion to its next request.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/rng.h"
#include "dev/model.h"
#include "probe/target.h"
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

static double normal(struct sp__rng *r)
{
	double u = 1 - sp__rng_real(r), v = sp__rng_real(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static uint64_t noise(struct sim *s)
{
	const struct sp__noise *n = &s->spec.noise;
	double ns = n->sd_ns ? fabs(normal(&s->rng)) * (double)n->sd_ns : 0;

	if (n->tail > 0 && sp__rng_real(&s->rng) < n->tail)
		ns -= log(1 - sp__rng_real(&s->rng)) * (double)n->tail_mean_ns;
	return (uint64_t)ns;
}

/* Lets n requests, submitted together, complete; they are filled in. */
static void carry_out(struct sim *s, struct sp__blockreq **reqs, size_t n)
{
	sp__blockdev_submit(s->dev, s->now_ns, reqs, n, false);
	while (n) {
		struct sp__blockreq *done;

		done = sp__blockdev_advance(s->dev, sp__blockdev_next_ns(s->dev));
		for (; done; done = done->next)
			n--;
	}
}

static int transfer(struct sim *s, uint64_t lbn, uint32_t blocks, bool write, struct sp__shot *shot)
{
	struct sp__blockreq req = { .lbn = lbn, .blocks = blocks, .write = write };
	struct sp__blockreq *reqs[] = { &req };

	if (lbn >= s->target.blocks || blocks > s->target.blocks - lbn)
		return -EIO;
	carry_out(s, reqs, 1);
	shot->issue_ns = s->now_ns;
	shot->done_ns = req.done_ns + noise(s);
	s->now_ns = shot->done_ns + SP__TARGET_TURNAROUND_NS;
	return 0;
}

static int sim_read(struct sp__target *t, uint64_t lbn, uint32_t blocks, struct sp__shot *shot)
{
	return transfer(sim_of(t), lbn, blocks, false, shot);
}

static int sim_write(struct sp__target *t, uint64_t lbn, uint32_t blocks, struct sp__shot *shot)
{
	return transfer(sim_of(t), lbn, blocks, true, shot);
}

static int sim_pair(struct sp__target *t, uint64_t first, uint64_t second, struct sp__shot shot[2])
{
	struct sim *s = sim_of(t);
	struct sp__blockreq req[2] = { { .lbn = first, .blocks = 1 },
				       { .lbn = second, .blocks = 1 } };
	struct sp__blockreq *reqs[] = { &req[0], &req[1] };

	carry_out(s, reqs, 2);
	for (unsigned i = 0; i < 2; i++) {
		shot[i].issue_ns = s->now_ns;
		shot[i].done_ns = req[i].done_ns + noise(s);
	}
	s->now_ns = (shot[0].done_ns > shot[1].done_ns ? shot[0].done_ns : shot[1].done_ns) +
		    SP__TARGET_TURNAROUND_NS;
	return 0;
}

/* Each completion is followed at once by the next request. */
static int sim_stream(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		      unsigned depth, uint64_t *latency_ns, uint64_t *elapsed_ns)
{
	struct sim *s = sim_of(t);
	struct sp__blockreq slots[STREAM_MAX], *req, *next;
	uint64_t begin = s->now_ns;
	size_t issued = 0, done = 0;

	if (depth > STREAM_MAX)
		depth = STREAM_MAX;
	for (; issued < n && issued < depth; issued++) {
		req = &slots[issued];
		*req = (struct sp__blockreq){ .lbn = lbns[issued], .blocks = blocks };
		sp__blockdev_submit(s->dev, s->now_ns, &req, 1, false);
	}
	while (done < n) {
		next = sp__blockdev_advance(s->dev, sp__blockdev_next_ns(s->dev));
		while ((req = next)) {
			next = req->next;
			s->now_ns = req->done_ns > s->now_ns ? req->done_ns : s->now_ns;
			latency_ns[done++] = req->done_ns - req->submit_ns + noise(s);
			if (issued == n)
				continue;
			*req = (struct sp__blockreq){ .lbn = lbns[issued++], .blocks = blocks };
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
	struct sim *s = sim_of(t);

	if (until_ns > s->now_ns)
		s->now_ns = until_ns;
}

static void sim_close(struct sp__target *t)
{
	struct sim *s = sim_of(t);

	sp__blockdev_close(s->dev);
	sp__model_free(s->model);
}

static const struct sp__target_ops sim_ops = {
	.read = sim_read,
	.write = sim_write,
	.pair = sim_pair,
	.stream = sim_stream,
	.now = sim_now,
	.wait = sim_wait,
	.close = sim_close,
};

static int open_device(struct sim *s, const char *text, struct sp_errinfo *err)
{
	struct sp__blockdev_opts opts = { .policy = -1 };
	int rc = sp__machine_spec_parse(&s->spec, text, err);

	if (rc)
		return rc;
	opts.sched = s->spec.sched;
	opts.window = s->spec.window;
	opts.policy = s->spec.window_policy;
	rc = sp__model_load(&s->model, s->spec.model, err);
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
	/* There are no data to lose. */
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
