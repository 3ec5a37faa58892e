/* SPDX-License-Identifier: MIT */
/*
 * Predictions from a geometry alone, against what the simulated machine takes for the same
 * queries: on all shipped drives with tracks, without their caches.
 *
 * An argument is the number of random places for each query, instead of 200.
 */
#define TAP_SLOW
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/geometry.h>
#include "base/rng.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "mappingwalk.h"
#include "place/boxtime.h"
#include "sim/machine.h"
#include "tap.h"

#define DEPTH_MAX 64
#define SEED 14

static unsigned places = 200;

/* A drive without its cache, and a grid of cells of one block on it. */
struct bench {
	const char *name;
	struct sp_geometry *g;
	struct sp__machine *machine;
	struct sp__mapping m;
	uint64_t k[3];		 /* basic cube; 0: chosen */
	double conservatism_deg; /* for the host's part of a request */
	struct sp__predict_opts opts;
	/* While a query runs: */
	int file;
	unsigned outstanding;
	struct sp__simreq reqs[DEPTH_MAX];
	struct sp__simreq *idle[DEPTH_MAX];
};

/* A file with the model, or with this text of one, and "cache": {...} replaced. */
static void without_cache(const char *model, char *path)
{
	static const char key[] = "\"cache\": {";
	const struct sp__shipped *s = sp__shipped_models;
	const char *text = model, *at, *end;
	FILE *f;

	while (*model != '{' && strcmp(s->name, model))
		s++;
	if (*model != '{')
		text = s->text;
	at = strstr(text, key);
	end = at ? strchr(at, '}') + 1 : text + strlen(text);
	f = fdopen(mkstemps(path, 5), "w");
	if (!f)
		exit(1);
	fprintf(f, "%.*s", (int)((at ? at : end) - text), text);
	if (at)
		fprintf(f, "\"cache\": \"off\"%s", end);
	fclose(f);
}

static void boot(struct bench *b, const char *model)
{
	char path[] = "/tmp/test-prediction-XXXXXX.json";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__machine_spec spec;

	*b = (struct bench){ .name = model, .conservatism_deg = 3 };
	without_cache(model, path);
	if (sp_geometry_model(&b->g, path, &err) || sp__machine_spec_parse(&spec, path, &err) ||
	    sp__machine_open(&b->machine, &spec, &err)) {
		diag("%s: %s", model, err.text);
		exit(1);
	}
	unlink(path);
	b->opts = (struct sp__predict_opts){
		.geometry = b->g,
		.host_ns = sp__machine_model(b->machine)->cpu_request_ns,
		.cliffs = true,
	};
}

/* Places a grid, once, at the start of the drive; returns 0 or an error. */
static int map(struct bench *b, enum sp_cube_mapping kind, const uint64_t *sizes)
{
	int rc = 0;

	b->m = (struct sp__mapping){ .kind = kind, .cell_blocks = 1, .order = { 0, 1, 2 } };
	memcpy(b->m.basic.k, b->k, sizeof(b->k));
	if (kind == SP_CUBE_MULTIMAP)
		rc = sp__multimap_zones(&b->m.multimap, b->g, 0, SP__AIM_PLATEAU,
					b->conservatism_deg);
	if (!rc)
		rc = sp__mapping_init(&b->m, 3, sizes);
	if (!rc)
		b->file = sp__machine_file(b->machine, SP__SIM_INPUT,
					   sp__mapping_end(&b->m) * b->g->block_bytes);
	return rc || b->file >= 0 ? rc : b->file;
}

static void shut(struct bench *b)
{
	sp__multimap_free(&b->m.multimap);
	sp__machine_close(b->machine);
	sp_geometry_free(b->g);
}

static void reap(struct bench *b)
{
	for (struct sp__simreq *r = sp__machine_reap(b->machine, true); r; r = r->next)
		b->idle[--b->outstanding] = r;
}

static void issue(struct bench *b, uint64_t first, uint64_t blocks)
{
	struct sp__simreq *r = b->idle[b->outstanding++];

	*r = (struct sp__simreq){ .file = (unsigned)b->file,
				  .offset = first * b->g->block_bytes,
				  .bytes = (uint32_t)(blocks * b->g->block_bytes) };
	if (sp__machine_submit(b->machine, &r, 1, false) < 0)
		exit(1);
	if (b->outstanding >= (b->opts.depth ? b->opts.depth : 1))
		reap(b);
}

static int read_run(void *arg, uint64_t first, uint64_t cells)
{
	struct bench *b = arg;

	for (uint64_t max = b->opts.request_blocks, n; cells; first += n, cells -= n) {
		n = max && cells > max ? max : cells;
		issue(b, first, n);
	}
	return 0;
}

/* The mean time of a query of this shape at random places, as the machine takes it. */
static double measure(struct bench *b, const struct sp_cube_box *shape)
{
	uint64_t begin = sp__machine_now_ns(b->machine);
	struct sp__rng rng = { SEED };

	for (unsigned i = 0; i < DEPTH_MAX; i++)
		b->idle[i] = &b->reqs[i];
	for (unsigned n = 0; n < places; n++) {
		struct sp_cube_box box = *shape;

		for (unsigned i = 0; i < 3; i++) {
			box.lo[i] = sp__rng_below(&rng, b->m.grid.size[i] - shape->hi[i]);
			box.hi[i] += box.lo[i];
		}
		if (mapping_walk(&b->m, &box, read_run, b))
			exit(1);
		while (b->outstanding)
			reap(b);
	}
	return (double)(sp__machine_now_ns(b->machine) - begin) / places;
}

static struct sp_cube_box shape_of(uint64_t a, uint64_t b, uint64_t c)
{
	return (struct sp_cube_box){ .hi = { a - 1, b - 1, c - 1 }, .stride = { 1, 1, 1 } };
}

/* The shape at a random place. */
static void place_box(const struct sp__mapping *m, const struct sp_cube_box *shape,
		      struct sp__rng *rng, struct sp_cube_box *box)
{
	*box = *shape;
	for (unsigned i = 0; i < m->grid.n; i++) {
		unsigned d = m->order[i];
		uint64_t length = shape->hi[d] - shape->lo[d];

		box->lo[d] = sp__rng_below(rng, m->grid.size[i] - length);
		box->hi[d] = box->lo[d] + length;
	}
}

/* The mean over random positions in the grid, equally likely, of a box of this shape. */
static int predict_mean(const struct sp__predict_opts *o, const struct sp__mapping *m,
			const struct sp_cube_box *shape, unsigned n, uint64_t seed,
			struct sp__runs_prediction *out)
{
	struct sp__rng rng = { seed };
	struct sp__runs_prediction one;
	struct sp_cube_box box;
	int rc = 0;

	*out = (struct sp__runs_prediction){ 0 };
	for (unsigned i = 0; !rc && i < n; i++) {
		place_box(m, shape, &rng, &box);
		rc = sp__predict_box(o, m, &box, &one);
		out->ns += one.ns / n;
		out->late_ns += one.late_ns / n;
		out->early_ns += one.early_ns / n;
		out->requests += one.requests / n;
		out->seeks += one.seeks / n;
		out->blocks += one.blocks / n;
	}
	return rc;
}

/* Returns the error of the prediction against the machine, as a share. */
static double error_of(struct bench *b, const struct sp_cube_box *shape)
{
	struct sp__runs_prediction p;
	double ns = measure(b, shape);

	if (predict_mean(&b->opts, &b->m, shape, places, SEED, &p))
		return INFINITY;
	diag("%s, %d, %2d x %d x %d: %.3f ms, predicted %.3f (%.3f late, %.3f early), %.0f "
	     "requests",
	     b->name, b->m.kind, (int)shape->hi[0] + 1, (int)shape->hi[1] + 1,
	     (int)shape->hi[2] + 1, ns * 1e-6, p.ns * 1e-6, p.late_ns * 1e-6, p.early_ns * 1e-6,
	     p.requests);
	return p.ns / ns - 1;
}

static void test_mapping(struct bench *b, enum sp_cube_mapping kind, const char *name,
			 const uint64_t *s)
{
	struct sp_cube_box shapes[] = { shape_of(s[0], 1, 1),
					shape_of(1, s[1], 1),
					shape_of(1, 1, s[2]),
					shape_of(4, 4, 4),
					shape_of(s[0] / 12, s[1] / 12 + 1, s[2] / 12 + 1),
					shape_of(s[0] / 4, s[1] / 30 + 1, s[2] / 30 + 1) };
	int rc = map(b, kind, s);
	double worst = 0;

	if (!ok(rc == 0, "%s, %s: a grid is placed", b->name, name))
		return;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		worst = fmax(worst, fabs(error_of(b, &shapes[i])));
	ok(worst < 0.1, "%s, %s: beams and ranges are predicted within %.1f %%", b->name, name,
	   worst * 100);
}

static void test_drives(void)
{
	static const struct {
		const char *model;
		uint64_t sizes[3];
	} drives[] = {
		{ "atlas10k3-like", { 259, 259, 259 } },
		{ "barracuda4-like", { 180, 180, 180 } },
		{ "cheetah36es-like", { 259, 259, 259 } },
		{ "ide300-like", { 259, 259, 259 } },
		{ "nearline6t-like", { 259, 259, 259 } },
		{ "serpentine", { 259, 259, 259 } },
		{ "tiny", { 12, 5, 4 } },
		{ "ultrastar36lzx-like", { 259, 259, 259 } },
	};
	struct bench b;

	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		boot(&b, drives[i].model);
		test_mapping(&b, SP_CUBE_NAIVE, "naive", drives[i].sizes);
		shut(&b);
		boot(&b, drives[i].model);
		test_mapping(&b, SP_CUBE_MULTIMAP, "multimap", drives[i].sizes);
		shut(&b);
	}
}

/* Several requests outstanding: the drive chooses. */
static void test_depth(const char *model, enum sp_cube_mapping kind, unsigned depth, bool fifo,
		       double within)
{
	const uint64_t sizes[] = { 128, 128, 128 };
	struct sp_cube_box beam = shape_of(1, 1, 128), range = shape_of(12, 12, 12);
	struct bench b;
	double e, f;

	boot(&b, model);
	b.opts.depth = depth;
	b.opts.fifo = fifo;
	if (map(&b, kind, sizes))
		exit(1);
	e = error_of(&b, &beam);
	f = error_of(&b, &range);
	ok(fabs(e) < within && fabs(f) < within, "%s, %u outstanding: within %.1f %%", model, depth,
	   fmax(fabs(e), fabs(f)) * 100);
	shut(&b);
}

/* Rows that are longer than a request. */
static void test_parts(void)
{
	struct sp_cube_box shape = shape_of(600, 5, 1);
	struct bench b;
	double e;

	boot(&b, "atlas10k3-like");
	b.opts.request_blocks = 128;
	if (map(&b, SP_CUBE_NAIVE, (uint64_t[]){ 600, 100, 100 }))
		exit(1);
	e = error_of(&b, &shape);
	ok(fabs(e) < 0.1, "rows in several requests, each of which loses a revolution: %.1f %%",
	   e * 100);
	shut(&b);
}

static void test_cliff(void)
{
	struct sp_cube_box beam = shape_of(1, 1, 259), range = shape_of(20, 20, 20);
	struct sp__runs_prediction p;
	struct bench b;

	boot(&b, "atlas10k3-like");
	b.conservatism_deg = 0.3;				/* exactly that */
	memcpy(b.k, (uint64_t[]){ 259, 136, 87 }, sizeof(b.k)); /* as far as a hop reaches */
	if (map(&b, SP_CUBE_MULTIMAP, (uint64_t[]){ 259, 259, 259 }))
		exit(1);
	ok(!predict_mean(&b.opts, &b.m, &beam, 20, SEED, &p) && p.late_ns > 5 * p.ns &&
		   p.early_ns == p.ns,
	   "a beam whose hops just make it would lose a revolution at each");
	ok(!predict_mean(&b.opts, &b.m, &range, 20, SEED, &p) && p.late_ns < 1.01 * p.ns &&
		   p.early_ns > 0.99 * p.ns,
	   "a range far from the cliff takes the same either way");
	shut(&b);
}

/*
 * Bands of one or three surfaces: if the first one descends, the next round is nearly two bands
 * away, and a hop there needs more than the mapping allows for in some cubes.  With one surface
 * there are the curves of hops alone.
 */
static void test_odd(unsigned surfaces, unsigned band, const char *descends)
{
	struct sp_cube_box beams[] = { shape_of(1, 256, 1), shape_of(1, 1, 256) };
	char text[700];
	struct bench b;
	double e, f;

	snprintf(text, sizeof(text),
		 "{\"schema\":\"spindle.model/1\",\"kind\":\"rotating\",\"name\":\"odd\","
		 "\"block_bytes\":512,\"rpm\":10001,\"surfaces\":%u,\"head_switch_ms\":0.6,"
		 "\"layout\":\"hybrid-serpentine\",\"band_tracks\":%u,\"first_head_descends\":%s,"
		 "\"read_overhead_ms\":0.2,\"seek_ms\":[[1,0.526],[2,0.656],[4,0.694],[8,0.784],"
		 "[12,0.864],[21,0.867],[22,1.053],[100,1.327],[39999,6]],\"zones\":[{"
		 "\"first_cyl\":0,\"last_cyl\":39999,\"spt\":1170,\"track_skew\":176,"
		 "\"cyl_skew\":282,\"band_skew\":281}]}",
		 surfaces, band, descends);
	boot(&b, text);
	b.name = "odd";
	b.conservatism_deg = 0;
	if (map(&b, SP_CUBE_MULTIMAP, (uint64_t[]){ 500, 256, 256 }))
		exit(1);
	e = error_of(&b, &beams[0]);
	f = error_of(&b, &beams[1]);
	ok(fabs(e) < 0.01 && fabs(f) < 0.01,
	   "rounds of %u surfaces, bands of %u, the first one descends: %s: within %.2f %%",
	   surfaces, band, descends, fmax(fabs(e), fabs(f)) * 100);
	shut(&b);
}

/* A serpentine, whose hops are placed by the aim inside rounds, and by that of the whole device. */
static void test_rounds(struct sp_cube_box shape, double min)
{
	struct bench b;
	double ns[2];

	for (unsigned i = 0; i < 2; i++) {
		boot(&b, "serpentine");
		b.conservatism_deg = 20;
		if (i)
			b.g->within[SP_GEOMETRY_READ].nsteps = 0;
		if (map(&b, SP_CUBE_MULTIMAP, (uint64_t[]){ 259, 259, 259 }))
			exit(1);
		ns[i] = measure(&b, &shape);
		shut(&b);
	}
	ok(ns[0] < (1 - min) * ns[1], "%d x %d x %d in rounds take %.1f ms instead of %.1f",
	   (int)shape.hi[0] + 1, (int)shape.hi[1] + 1, (int)shape.hi[2] + 1, ns[0] * 1e-6,
	   ns[1] * 1e-6);
}

static void test_coalescing(void)
{
	struct sp_cube_box box = { .lo = { 3, 0, 7 }, .hi = { 250, 9, 7 }, .stride = { 2, 1, 1 } };
	struct sp__runs_prediction p, whole;
	struct bench b;

	boot(&b, "atlas10k3-like");
	if (map(&b, SP_CUBE_NAIVE, (uint64_t[]){ 259, 259, 259 }) ||
	    sp__predict_box(&b.opts, &b.m, &box, &p))
		exit(1);
	ok(p.requests == 1240 && p.seeks == 1240 && p.blocks == 1240,
	   "every other cell of ten rows: a request for each");
	b.opts.gap_blocks = 1;
	ok(!sp__predict_box(&b.opts, &b.m, &box, &whole) && whole.requests == 10 &&
		   whole.blocks == 10 * 247 && whole.ns < p.ns / 50,
	   "across gaps of a block: a request for each row, with the cells between");
	b.opts.gap_blocks = 12;
	ok(!sp__predict_box(&b.opts, &b.m, &box, &whole) && whole.requests == 1 &&
		   whole.blocks == 9 * 259 + 247,
	   "and across those from row to row: one");
	shut(&b);
}

static void test_sample(void)
{
	struct sp_cube_box box = { .lo = { 100, 50, 60 },
				   .hi = { 119, 139, 149 },
				   .stride = { 1, 1, 1 } };
	struct sp__runs_prediction p, some, again;
	struct bench b;

	boot(&b, "atlas10k3-like");
	if (map(&b, SP_CUBE_MULTIMAP, (uint64_t[]){ 259, 259, 259 }) ||
	    sp__predict_box(&b.opts, &b.m, &box, &p))
		exit(1);
	b.opts.runs_max = 1000;
	ok(!sp__predict_box(&b.opts, &b.m, &box, &some) && fabs(some.ns / p.ns - 1) < 0.05 &&
		   fabs(some.requests / p.requests - 1) < 0.02 && some.blocks == p.blocks,
	   "a thousand of %.0f runs predict the query within 5 %%", p.requests);
	ok(!sp__predict_box(&b.opts, &b.m, &box, &again) && !memcmp(&some, &again, sizeof(some)),
	   "and do so again");
	shut(&b);
}

static void test_without_tracks(void)
{
	struct sp_cube_box box = shape_of(8, 8, 1);
	struct sp__runs_prediction p;
	struct bench b;
	double e;

	boot(&b, "linear");
	if (map(&b, SP_CUBE_NAIVE, (uint64_t[]){ 64, 64, 64 }))
		exit(1);
	e = error_of(&b, &box);
	ok(fabs(e) < 0.01, "a drive without tracks: seeks and transfer, within %.2f %%", e * 100);
	b.opts.geometry = NULL;
	ok(sp__predict_box(&b.opts, &b.m, &box, &p) == -ENODATA,
	   "without a geometry there is no prediction");
	shut(&b);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		places = (unsigned)atoi(argv[1]);
	test_drives();
	test_depth("atlas10k3-like", SP_CUBE_NAIVE, 8, false, 0.1);
	test_depth("atlas10k3-like", SP_CUBE_MULTIMAP, 8, false, 0.1);
	test_depth("cheetah36es-like", SP_CUBE_HILBERT, 32, false, 0.1);
	test_depth("barracuda4-like", SP_CUBE_NAIVE, 4, true, 0.1);
	test_parts();
	test_cliff();
	test_odd(3, 4, "true");
	test_odd(3, 4, "false");
	test_odd(1, 24, "true");
	test_rounds(shape_of(1, 259, 1), 0.15);
	test_rounds(shape_of(1, 1, 259), 0.1);
	test_rounds(shape_of(20, 20, 20), 0.05);
	test_coalescing();
	test_sample();
	test_without_tracks();
	return done();
}
