/* SPDX-License-Identifier: MIT */
/*
 * Thousands of requests in a window, of which the nearest is chosen: as by a program that examines
 * all of them each time.
 */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "dev/mems.h"
#include "sim/blockdev.h"
#include "tap.h"

#define REQUESTS 1000u
#define PAGE 4096u

enum mix { READS, MIXED, WRITES, NEAR, STREAMS, AGAIN };

static const char *const mixes[] = { "reads",	"reads and writes",
				     "writes",	"requests close together",
				     "streams", "writes, read again" };

static _Noreturn void fail(const char *reason)
{
	fprintf(stderr, "%s\n", reason);
	exit(1);
}

/* Number i of a mix; earlier: those before. */
static struct sp__blockreq request(enum mix mix, struct sp__rng *rng, const struct sp__model *m,
				   const struct sp__blockreq *earlier, unsigned i)
{
	uint32_t blocks = PAGE / m->block_bytes;
	uint64_t places = m->blocks / blocks, place = sp__rng_below(rng, places);

	if (mix == NEAR)
		place = places / 3 + place % 4000;
	if (mix == STREAMS)
		place = places / 8 * (i % 8) + i / 8;
	if (mix == AGAIN && i % 2)
		place = earlier[i - 1].lbn / blocks;
	return (struct sp__blockreq){ .lbn = place * blocks,
				      .blocks = blocks,
				      .write = mix == WRITES || (mix == AGAIN && i % 2 == 0) ||
					       (mix != READS && mix != AGAIN &&
						sp__rng_below(rng, 3) == 0) };
}

static void simulate(const struct sp__model *m, struct sp__blockreq *r)
{
	struct sp__blockdev_opts opts = { .window = REQUESTS, .policy = SP__WINDOW_SPTF };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__blockdev *bd;

	if (sp__blockdev_open(&bd, m, &opts, &err))
		fail(err.text);
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct sp__blockreq *one = &r[i];

		sp__blockdev_submit(bd, 0, &one, 1, false);
	}
	(void)sp__blockdev_advance(bd, SP__NEVER);
	sp__blockdev_close(bd);
}

/* The subrequest that is chosen at now_ns; REQUESTS: there is none yet. */
static unsigned choose(const struct sp__device *d, uint64_t now_ns,
		       const struct sp__subreq *subreqs, const uint64_t *done_ns)
{
	const struct sp__model *m = d->model;
	uint64_t min = UINT64_MAX;
	unsigned best = REQUESTS;

	for (unsigned i = 0; i < REQUESTS; i++) {
		uint64_t ns;

		if (done_ns[i] || m->overhead_ns[subreqs[i].write] > now_ns)
			continue;
		ns = m->ops->position(m, d->state, now_ns, &subreqs[i], UINT64_MAX);
		if (ns < min) {
			min = ns;
			best = i;
		}
	}
	return best;
}

/* done_ns of each, found by looking at all subrequests each time. */
static void look_at_all(const struct sp__model *m, const struct sp__blockreq *r, uint64_t *done_ns)
{
	struct sp__subreq subreqs[REQUESTS];
	struct sp__device d;
	uint64_t now_ns =
		m->overhead_ns[0] < m->overhead_ns[1] ? m->overhead_ns[0] : m->overhead_ns[1];

	if (sp__device_open(&d, m))
		fail("no memory");
	for (unsigned i = 0; i < REQUESTS; i++) {
		uint32_t blocks = r[i].blocks;

		subreqs[i] = (struct sp__subreq){ .lbn = r[i].lbn,
						  .blocks = blocks,
						  .write = r[i].write };
		if (sp__model_mems(m)) /* passes are shared by those that wait */
			m->ops->split(m, d.state, now_ns, r[i].write, r[i].lbn, &blocks,
				      &subreqs[i], 1);
	}
	for (unsigned left = REQUESTS; left > 0;) {
		unsigned i = choose(&d, now_ns, subreqs, done_ns);
		struct sp__service s;

		if (i == REQUESTS) {
			now_ns = m->overhead_ns[0] < m->overhead_ns[1] ? m->overhead_ns[1]
								       : m->overhead_ns[0];
			continue;
		}
		m->ops->serve(m, d.state, now_ns, &subreqs[i], &s);
		now_ns = done_ns[i] = s.done_ns;
		left--;
	}
	sp__device_close(&d);
}

static int load(struct sp__model **m, const char *model, struct sp_errinfo *err)
{
	return *model == '{' ? sp__model_parse(m, "text", model, strlen(model), err)
			     : sp__model_load(m, model, err);
}

static void compare(const char *model, const char *name, enum mix mix)
{
	static struct sp__blockreq r[REQUESTS];
	uint64_t done_ns[REQUESTS] = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__rng rng = { (uint64_t)mix + 1 };
	struct sp__model *m;
	unsigned same = 0;

	if (load(&m, model, &err))
		fail(err.text);
	for (unsigned i = 0; i < REQUESTS; i++)
		r[i] = request(mix, &rng, m, r, i);
	look_at_all(m, r, done_ns);
	simulate(m, r);
	for (unsigned i = 0; i < REQUESTS; i++)
		same += r[i].done_ns == done_ns[i];
	ok(same == REQUESTS, "%s, %s: %u of %u as by looking at all", name, mixes[mix], same,
	   REQUESTS);
	sp__model_free(m);
}

/* Writes that are nearer than reads, overheads by case, a bus apart, blocks that are elsewhere. */
#define QUICK(cache)                                                                               \
	"{\"rpm\":7200,\"surfaces\":3,\"head_switch_ms\":0.9,\"write_settle_ms\":-0.6,"            \
	"\"seek_ms\":[[1,0.7],[12,1.9],[900,9]],\"write_seek_ms\":[[1,1],[20,1.4],[900,6]],"       \
	"\"overheads\":{\"read_miss_ms\":[0.05,0.9],\"write_miss_ms\":[1.4,0.07]},"                \
	"\"bus_mb_s\":10,\"bus_overlap\":\"none\"," cache                                          \
	"\"zones\":[{\"first_cyl\":0,\"last_cyl\":900,\"spt\":300,\"track_skew\":50,"              \
	"\"cyl_skew\":60,\"spares\":[[890,10,900]],\"remaps\":[[400,890,9],[70000,799190,3]]}]}"

int main(void)
{
	static const char *const models[] = { "atlas10k3-like",	  "ultrastar36lzx-like",
					      "cheetah36es-like", "ide300-like",
					      "serpentine",	  "nearline6t-like",
					      "mems-thesis" };

	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		for (int mix = READS; mix <= AGAIN; mix++)
			compare(models[i], models[i], (enum mix)mix);
	compare(QUICK(""), "quick writes", MIXED);
	compare(QUICK(""), "quick writes", NEAR);
	compare(QUICK("\"cache\":{\"segments\":3,\"segment_blocks\":64,"
		      "\"readahead_blocks\":32,\"write_behind\":true,"
		      "\"write_segments\":2},"),
		"quick writes, with a cache", STREAMS);
	return done();
}
