/* SPDX-License-Identifier: MIT */
/*
 * MEMS storage: where blocks are, the time of passes, sweeps and cylinders, and passes that are
 * shared by requests.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "dev/mems.h"
#include "sim/blockdev.h"
#include "tap.h"

#define PASS_NS 128571
#define ROWS 27
#define TINY                                                                                       \
	"{\"kind\":\"mems\",\"groups\":6,\"active\":2,\"cylinders\":5,\"rows\":4,\"row_bits\":90," \
	"\"travel_um\":100,\"bit_nm\":40,\"tip_kbit_s\":700,\"acceleration_m_s2\":803.6,"          \
	"\"spring_factor\":0.75,\"resonance_hz\":739}"

static struct sp__model *load(const char *name, struct sp__device *d)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	int rc = *name == '{' ? sp__model_parse(&m, "test", name, strlen(name), &err)
			      : sp__model_load(&m, name, &err);

	if (!ok(!rc && !sp__device_open(d, m), "%.12s opens %s", name, err.text))
		exit(done() | 1);
	return m;
}

/* Serves blocks that have waited since since_ns; advances *now. */
static struct sp__service serve(const struct sp__device *d, uint64_t *now, uint64_t since_ns,
				uint64_t lbn, uint32_t blocks)
{
	const struct sp__device_ops *ops = d->model->ops;
	struct sp__subreq p;
	struct sp__service s;

	if (ops->split(d->model, d->state, since_ns, false, lbn, &blocks, &p, 1) != 1)
		abort();
	ops->serve(d->model, d->state, *now, &p, &s);
	if (s.hit || s.rotate_ns || s.done_ns != *now + s.seek_ns + s.transfer_ns)
		abort();
	*now = s.done_ns;
	return s;
}

static bool near(double value, double wanted)
{
	return fabs(value / wanted - 1) < 0.005;
}

/* Each block has a location of its own, and each location a block. */
static void check_bijection(const char *name)
{
	struct sp__device d;
	struct sp__model *m = load(name, &d);
	const struct sp__mems *k = sp__model_mems(m);
	uint32_t groups = k->active * k->sweeps;
	uint8_t *seen = calloc(m->blocks, 1);
	uint64_t wrong = 0;

	for (uint64_t lbn = 0; seen && lbn < m->blocks; lbn++) {
		struct sp__mems_block b = sp__mems_locate(k, lbn);
		uint64_t at = ((uint64_t)b.cyl * k->rows + b.row) * groups + b.group;

		if (b.cyl >= k->cylinders || b.row >= k->rows || b.group >= groups || seen[at]++ ||
		    sp__mems_lbn(k, b) != lbn)
			wrong++;
	}
	ok(seen && !wrong, "%llu blocks have as many locations", (unsigned long long)m->blocks);
	free(seen);
	sp__device_close(&d);
	sp__model_free(m);
}

/* The numbering, written once more. */
static void check_numbering(void)
{
	struct sp__device d;
	struct sp__model *m = load("mems-thesis", &d);
	const struct sp__mems *k = sp__model_mems(m);
	struct sp__rng rng = { 5 };
	unsigned wrong = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t cyl = sp__rng_below(&rng, 2500), sweep = sp__rng_below(&rng, 6);
		uint64_t row = sp__rng_below(&rng, 27), cell = sp__rng_below(&rng, 16);
		bool back = (cyl * 6 + sweep) % 2;
		struct sp__mems_block b =
			sp__mems_locate(k, ((cyl * 6 + sweep) * 27 + row) * 16 + cell);

		wrong += b.cyl != cyl || b.row != (back ? 26 - row : row) ||
			 b.group != sweep * 16 + cell;
	}
	ok(!wrong && m->blocks == 6480000,
	   "blocks go by cylinder, sweep, row, group; rows backwards on every other sweep");
	sp__device_close(&d);
	sp__model_free(m);
}

/* A stream of whole cylinders, and one of their sweeps. */
static void check_rates(const char *name, double sweep_mb_s, double mb_s)
{
	struct sp__device d;
	struct sp__model *m = load(name, &d);
	const struct sp__mems *k = sp__model_mems(m);
	uint32_t sweep = k->active * k->rows, cylinder = sweep * k->sweeps;
	uint64_t now = 5, begin;
	struct sp__service s;

	serve(&d, &now, 0, 0, cylinder);
	begin = now;
	for (uint64_t c = 1; c < k->cylinders; c++)
		serve(&d, &now, 0, c * cylinder, cylinder);
	ok(near((double)(m->blocks - cylinder) * 512e3 / (double)(now - begin), mb_s),
	   "%s: %.1f MB/s", name, (double)(m->blocks - cylinder) * 512e3 / (double)(now - begin));
	s = serve(&d, &now, 0, 0, sweep);
	ok(near((double)s.transfer_ns, 3471429) &&
		   near(sweep * 512e3 / (double)s.transfer_ns, sweep_mb_s),
	   "a sweep takes %.0f ns, at %.1f MB/s", (double)s.transfer_ns,
	   sweep * 512e3 / (double)s.transfer_ns);
	s = serve(&d, &now, 0, 2 * sweep, 1);
	ok(s.transfer_ns == PASS_NS, "a row takes %llu ns", (unsigned long long)s.transfer_ns);
	sp__device_close(&d);
	sp__model_free(m);
}

static struct sp__sledpoint at(const struct sp__mems *k, double um, double mm_s)
{
	return (struct sp__sledpoint){ sp__sled_length(&k->sled, um * 1e-6),
				       sp__sled_speed(&k->sled, mm_s * 1e-3) };
}

/* The times of requests for one block, one after the other, computed once more. */
static void check_times(void)
{
	struct sp__device d;
	struct sp__model *m = load("mems-g2", &d);
	const struct sp__mems *k = sp__model_mems(m);
	struct sp__sledpoint y = { 0, 0 };
	struct sp__rng rng = { 2 };
	double cyl = 1250;
	uint64_t now = 0;
	unsigned wrong = 0;

	for (int i = 0; i < 5000; i++) {
		uint64_t lbn = sp__rng_below(&rng, m->blocks), x_ns = 0, up, down, wait = 0;
		struct sp__mems_block b;
		struct sp__service s;
		double low;

		if (i % 3 == 2) /* near */
			lbn = sp__rng_below(&rng, 100000) + m->blocks / 2;
		b = sp__mems_locate(k, lbn);
		low = b.row * 3.6 - 48.6;
		if (i % 2) { /* it brakes, and the request comes before it rests or later */
			uint64_t pause = 1 + sp__rng_below(&rng, 150000);

			now += pause;
			wait = sp__sled_stop(&k->sled, &y);
			wait = wait > pause ? wait - pause : 0;
		}
		if (b.cyl != cyl)
			x_ns = 215364 + sp__sled_seek_ns(&k->sled, at(k, cyl * 0.04 - 49.98, 0),
							 at(k, b.cyl * 0.04 - 49.98, 0));
		up = sp__sled_seek_ns(&k->sled, y, at(k, low, 28));
		down = sp__sled_seek_ns(&k->sled, y, at(k, low + 3.6, -28));
		s = serve(&d, &now, now + 1, lbn, 1);
		wrong += llabs((long long)s.seek_ns -
			       (long long)(wait + sp__max(x_ns, sp__min(up, down)))) > 3;
		wrong += s.transfer_ns != PASS_NS;
		y = down < up ? at(k, low, -28) : at(k, low + 3.6, 28);
		cyl = b.cyl;
	}
	ok(!wrong, "each of 5000 requests takes the longer of both seeks, and a pass");
	sp__device_close(&d);
	sp__model_free(m);
}

/* A random model; most are refused, since the sled cannot reach or turn. */
static struct sp__model *any_model(struct sp__rng *rng)
{
	static const double kbit_s[] = { 1, 300, 700, 5000, 100000 };
	static const double forces[] = { 1, 80, 803.6, 1e5 };
	uint64_t active = 1 + sp__rng_below(rng, 20);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"{\"kind\":\"mems\",\"groups\":%llu,\"active\":%llu,\"cylinders\":%llu,"
		"\"rows\":%llu,\"row_bits\":%llu,\"travel_um\":%llu,\"bit_nm\":%llu,"
		"\"tip_kbit_s\":%g,\"acceleration_m_s2\":%g,\"spring_factor\":%g,"
		"\"resonance_hz\":%llu}",
		(unsigned long long)(active * (1 + sp__rng_below(rng, 9))),
		(unsigned long long)active, (unsigned long long)(1 + sp__rng_below(rng, 3000)),
		(unsigned long long)(1 + sp__rng_below(rng, 50)),
		(unsigned long long)(1 + sp__rng_below(rng, 200)),
		(unsigned long long)(1 + sp__rng_below(rng, 400)),
		(unsigned long long)(1 + sp__rng_below(rng, 80)), kbit_s[sp__rng_below(rng, 5)],
		forces[sp__rng_below(rng, 4)], 0.01 * (double)(1 + sp__rng_below(rng, 99)),
		(unsigned long long)(1 + sp__rng_below(rng, 5000)));

	return sp__model_parse(&m, "any", text, (size_t)n, &err) ? NULL : m;
}

/*
 * Serves random blocks of a model.  Returns the number of contradictions of position(), bounds()
 * and serve().
 */
static unsigned contradictions(struct sp__model *m, struct sp__rng *rng)
{
	const struct sp__device_ops *ops = m->ops;
	struct sp__device d;
	unsigned wrong = 0;
	uint64_t now = 0;

	if (sp__device_open(&d, m))
		return 1;
	for (int i = 0; i < 50; i++) {
		uint64_t lbn = sp__rng_below(rng, m->blocks), bound, ns;
		struct sp__bucket bucket = { .reads = 1 };
		struct sp__subreq p;
		struct sp__service s;
		uint32_t one = 1;

		if (i % 2)
			now += sp__rng_below(rng, 100000);
		ops->split(m, d.state, now + 1, false, lbn, &one, &p, 1);
		bucket.first_cyl = p.pos.cyl - (uint32_t)sp__rng_below(rng, p.pos.cyl + 1);
		bucket.last_cyl = p.pos.cyl;
		ops->bounds(m, d.state, now, &bucket, 1, 0, &bound);
		ns = ops->position(m, d.state, now, &p, UINT64_MAX);
		wrong += bound > ns || ops->position(m, d.state, now, &p, ns) != ns ||
			 ops->position(m, d.state, now, &p, ns - 1) < ns;
		ops->serve(m, d.state, now, &p, &s);
		wrong += s.done_ns != now + ns || ns > UINT64_C(60000000000) ||
			 sp__mems_lbn(sp__model_mems(m), sp__mems_locate(sp__model_mems(m), lbn)) !=
				 lbn;
		now = s.done_ns;
	}
	sp__device_close(&d);
	return wrong;
}

static void check_any(void)
{
	struct sp__rng rng = { 4 };
	unsigned models = 0, wrong = 0;

	for (int i = 0; i < 5000; i++) {
		struct sp__model *m = any_model(&rng);

		if (!m)
			continue;
		models++;
		wrong += contradictions(m, &rng);
		sp__model_free(m);
	}
	ok(models > 300 && !wrong, "on %u random models, position, bounds and service agree",
	   models);
}

static void check_shared(void)
{
	struct sp__device d;
	struct sp__model *m = load("mems-thesis", &d);
	const struct sp__mems *k = sp__model_mems(m);
	uint64_t now = 1000, end, row = 500000 / 16 * 16, other;
	struct sp__mems_block b = sp__mems_locate(k, row);
	struct sp__subreq p;
	uint32_t one = 4;

	b.group = (b.group + 32) % 96;
	other = sp__mems_lbn(k, b);
	serve(&d, &now, 0, row + 2, 5);
	end = now;
	m->ops->split(m, d.state, 0, false, row + 9, &one, &p, 1);
	ok(!m->ops->position(m, d.state, now, &p, UINT64_MAX),
	   "blocks that waited for the pass are there");
	serve(&d, &now, 0, row + 9, 4);
	serve(&d, &now, 0, other, 6);
	ok(now == end, "groups of another sweep, too");
	serve(&d, &now, 0, row, 2);
	ok(now > end + PASS_NS, "a pass has 16 groups and not 17: one block needs another pass");
	end = now;
	serve(&d, &now, end, row, 2);
	ok(now > end + PASS_NS, "a request that came after the pass began needs one of its own");
	end = now;
	p = (struct sp__subreq){ .lbn = row, .blocks = 1 };
	ok(m->ops->position(m, d.state, now, &p, UINT64_MAX) >= PASS_NS,
	   "so does one of which it is not known when it came");
	serve(&d, &now, 0, 0, 1);
	end = now;
	serve(&d, &now, 0, row, 1);
	ok(now > end + PASS_NS, "passes over another cylinder do not count");
	sp__device_close(&d);
	sp__model_free(m);
}

/* Completes all outstanding requests. */
static void finish(struct sp__blockdev *bd)
{
	while (sp__blockdev_next_ns(bd) != SP__NEVER)
		sp__blockdev_advance(bd, sp__blockdev_next_ns(bd));
}

/*
 * Reads k of the 16 blocks of six A-pages at each location of some cylinders, with the model's
 * window.  Returns the passes for a location; *ms: for a cylinder.
 */
static double scan(unsigned k, unsigned cylinders, bool once, double *ms)
{
	const struct sp__blockdev_opts opts = { .policy = -1 };
	struct sp__device d;
	struct sp__model *m = load("mems-thesis", &d);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__blockdev_stats stats;
	struct sp__blockdev *bd;
	unsigned locations = once ? 1 : ROWS * cylinders, n = 0;
	struct sp__blockreq *reqs = calloc(6 * ROWS * cylinders, sizeof(*reqs)), *r;

	if (!reqs || sp__blockdev_open(&bd, m, &opts, &err))
		exit(done() | 1);
	for (unsigned i = 0; i < locations; i++)
		for (unsigned sweep = 0; sweep < 6; sweep++) {
			struct sp__mems_block b = { 1000 + i / ROWS, i % ROWS, 16 * sweep };

			r = &reqs[n++];
			*r = (struct sp__blockreq){ .lbn = sp__mems_lbn(sp__model_mems(m), b),
						    .blocks = k };
			sp__blockdev_submit(bd, 0, &r, 1, false);
		}
	finish(bd);
	sp__blockdev_stats(bd, &stats);
	*ms = (double)stats.busy_ns * 1e-6 / cylinders;
	sp__blockdev_close(bd);
	sp__device_close(&d);
	sp__model_free(m);
	free(reqs);
	return (double)stats.transfer_ns / PASS_NS / locations;
}

/* Figure 4.7b of Shao 2008: a scan of k of 15 columns takes steps. */
static void check_sweeps(void)
{
	static const unsigned sweeps[] = { 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6 };
	double all_ms, ms, ignored;

	scan(16, 10, false, &all_ms);
	for (unsigned k = 1; k <= 15; k++) {
		double passes = scan(k, 1, true, &ignored);

		ok(fabs(passes - sweeps[k - 1]) < 1e-3 && sweeps[k - 1] == (6 * k + 15) / 16,
		   "%u of 16 blocks of six A-pages take %.0f passes", k, passes);
		passes = scan(k, 10, false, &ms);
		ok(fabs(passes / sweeps[k - 1] - 1) < 0.02 &&
			   fabs(ms / all_ms * 6 / sweeps[k - 1] - 1) < 0.1,
		   "of whole cylinders %.3f for each location, and %.2f of the time for all",
		   passes, ms / all_ms);
	}
}

int main(void)
{
	check_bijection(TINY);
	check_bijection("mems-g2");
	check_numbering();
	check_rates("mems-thesis", 63.7, 62.4);
	check_rates("mems-g2", 79.6, 77.9);
	check_times();
	check_any();
	check_shared();
	check_sweeps();
	return done();
}
