/* SPDX-License-Identifier: MIT */
/*
 * Implements the device hooks of the rotating drive: one lane, and each request is one subrequest.
 *
 * The overhead of a request depends on its direction, on whether the cache serves it, and on the
 * previous request.  During it, the drive does not work for the request; it continues read-ahead
 * and writes from its buffer.
 */
#include <stdlib.h>
#include "dev/drive.h"
#include "dev/drive_impl.h"

struct state {
	struct sp__arm arm;
	struct sp__drive_cache *cache; /* NULL: none */
	bool wrote;		       /* the last request served was a write */
};

const struct sp__drive *sp__model_drive(const struct sp__model *m)
{
	return m->ops == &sp__drive_ops ? m->impl : NULL;
}

static int drive_open(const struct sp__model *m, void **state)
{
	const struct sp__drive *d = m->impl;
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (d->cache.segments || d->cache.write_blocks) {
		s->cache = sp__drive_cache_new(m);
		if (!s->cache) {
			free(s);
			return -ENOMEM;
		}
	}
	*state = s;
	return 0;
}

static void drive_close(void *state)
{
	struct state *s = state;

	free(s->cache);
	free(s);
}

static unsigned drive_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			    uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs,
			    unsigned max)
{
	const struct state *s = state;

	(void)now_ns, (void)max;
	subreqs[0] = (struct sp__subreq){ .lbn = lbn, .blocks = *blocks, .write = write };
	/* A request that the cache will answer need not be located, nor one without rivals. */
	if (!s->cache ||
	    (m->window_policy == SP__WINDOW_SPTF && !sp__drive_cache_expects(s->cache, lbn)))
		sp__drive_locate(m->impl, lbn, *blocks, &subreqs[0].pos);
	return 1;
}

static uint64_t overhead_ns(const struct sp__drive *d, struct state *s, uint64_t now_ns,
			    const struct sp__subreq *p)
{
	const uint64_t(*cases)[2] = d->overheads.begin_ns[p->write];
	bool hit = false;

	if (!d->overheads.any)
		return 0;
	if (s->cache && cases[0][s->wrote] != cases[1][s->wrote])
		hit = sp__drive_cache_hits(s->cache, &s->arm, now_ns, p);
	return cases[hit][s->wrote];
}

static uint64_t drive_position(const struct sp__model *m, void *state, uint64_t now_ns,
			       const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct sp__drive *d = m->impl;
	struct state *s = state;
	uint64_t before = overhead_ns(d, s, now_ns, p);

	if (s->cache)
		return sp__drive_cache_position(s->cache, &s->arm, now_ns, before, p, limit_ns);
	if (before > limit_ns)
		return before;
	return before + sp__drive_near_ns(d, &s->arm, now_ns + before, p, limit_ns - before);
}

static void drive_bounds(const struct sp__model *m, void *state, uint64_t now_ns,
			 const struct sp__bucket *bucket, unsigned n, unsigned shift,
			 uint64_t *bound)
{
	struct state *s = state;

	sp__drive_bounds(m->impl, s->cache, &s->arm, now_ns, bucket, n, shift, bound);
}

static void drive_serve(const struct sp__model *m, void *state, uint64_t start_ns,
			const struct sp__subreq *p, struct sp__service *out)
{
	const struct sp__drive *d = m->impl;
	struct state *s = state;

	*out = (struct sp__service){ 0 };
	start_ns += overhead_ns(d, s, start_ns, p);
	if (s->cache)
		sp__drive_cache_serve(s->cache, &s->arm, start_ns, p, out);
	else
		sp__drive_direct(d, &s->arm, start_ns, p, out);
	out->done_ns += d->overheads.end_ns[p->write];
	s->wrote = p->write;
}

static uint64_t drive_drain(const struct sp__model *m, void *state, uint64_t now_ns)
{
	struct state *s = state;

	(void)m;
	return s->cache ? sp__drive_cache_drain(s->cache, &s->arm, now_ns) : now_ns;
}

const struct sp__device_ops sp__drive_ops = {
	.kind = "rotating",
	.free = sp__drive_free,
	.open = drive_open,
	.close = drive_close,
	.split = drive_split,
	.position = drive_position,
	.bounds = drive_bounds,
	.serve = drive_serve,
	.drain = drive_drain,
};
