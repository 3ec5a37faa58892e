/* SPDX-License-Identifier: MIT */
/*
 * Mappings of cells to blocks: the examples of Shao 2008, figures 5.1 to 5.3, by hand and by
 * GETADJACENT; bijection, inverse and walks over random grids; unit steps of Hilbert's curve.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "base/rng.h"
#include "dev/geometry.h"
#include "dev/model.h"
#include "mappingwalk.h"
#include "place/mapping.h"
#include "tap.h"

/* A serpentine in rounds of 36 tracks, the next of which is two bands away. */
static const char bands[] =
	"{\"rpm\":10000,\"surfaces\":3,\"head_switch_ms\":0.5,\"layout\":\"hybrid-serpentine\","
	"\"band_tracks\":12,\"first_head_descends\":true,\"seek_ms\":[[1,0.6],[11,0.6],[12,1.2],"
	"[23,1.5],[60,1.6],[199,5]],\"slips\":[[5,1,30],[50,2,7],[80,0,3]],\"zones\":[{"
	"\"first_cyl\":0,\"last_cyl\":99,\"spt\":100,\"track_skew\":20,\"cyl_skew\":21,"
	"\"band_skew\":40},{\"first_cyl\":100,\"last_cyl\":199,\"spt\":90,\"track_skew\":19,"
	"\"cyl_skew\":20,\"band_skew\":37}]}";

/* The geometry of a shipped model, or of a text; NULL: none. */
static struct sp_geometry *geometry(const char *model)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = NULL;
	struct sp__model *m = NULL;

	if (*model != '{')
		(void)!sp_geometry_model(&g, model, &err);
	else if (!sp__model_parse(&m, "text", model, strlen(model), &err))
		(void)!sp__geometry_of(&g, m, &err);
	sp__model_free(m);
	if (!g)
		diag("%s", err.text);
	return g;
}

/* Tracks of 5 blocks without skew on which each adjacent block is one row further. */
static void toy(struct sp__mapping *m)
{
	static struct sp__cubetrack one[1];
	static struct sp__cubezone zone;

	zone = (struct sp__cubezone){ .tracks = 100,
				      .track_blocks = 5,
				      .min_blocks = 5,
				      .aim_blocks = 4, /* one revolution with the block */
				      .skew_den = 5,
				      .npattern = 1,
				      .pattern_blocks = 5,
				      .pattern = one };
	*m = (struct sp__mapping){ .kind = SP_CUBE_MULTIMAP, .cell_blocks = 1 };
	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		m->order[i] = i;
	m->multimap.zones = &zone;
	m->multimap.nzones = 1;
	m->multimap.reach = 9;
}

static uint64_t at(const struct sp__mapping *m, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return sp__mapping_block(m, (uint64_t[SP_CUBE_DIMS_MAX]){ a, b, c, d });
}

static void test_examples(void)
{
	static const uint64_t sizes[] = { 5, 3, 3, 2 };
	struct sp__mapping m;

	toy(&m);
	memcpy(m.basic.k, sizes, 4 * sizeof(*sizes));
	ok(sp__mapping_init(&m, 2, sizes) == 0 && at(&m, 0, 1, 0, 0) == 5 &&
		   at(&m, 0, 2, 0, 0) == 10 && at(&m, 4, 2, 0, 0) == 14,
	   "figure 5.1: (0,1) is block 5, (0,2) is block 10");
	ok(sp__mapping_end(&m) == 15, "it takes three tracks");
	ok(sp__mapping_init(&m, 3, sizes) == 0 && at(&m, 0, 0, 1, 0) == 15 &&
		   at(&m, 0, 0, 2, 0) == 30 && sp__mapping_end(&m) == 45,
	   "figure 5.2: (0,0,1) is block 15, (0,0,2) is block 30, on nine tracks");
	ok(sp__mapping_init(&m, 4, sizes) == 0 && at(&m, 0, 0, 0, 1) == 45 &&
		   sp__mapping_end(&m) == 90,
	   "figure 5.3: (0,0,0,1) is block 45, on eighteen tracks");
	m.multimap.reach = 8;
	ok(sp__mapping_init(&m, 4, sizes) == SP_EUNSUP, "K1 K2 beyond the reach is refused");
}

/* Each hop of the figure's loop, on the tracks of a shipped model. */
static void test_adjacent(const char *model)
{
	static const uint64_t sizes[] = { 40, 5, 2, 3 };
	struct sp__mapping m = { .kind = SP_CUBE_MULTIMAP,
				 .cell_blocks = 1,
				 .order = { 0, 1, 2, 3 } };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	uint64_t hops = 0, equal = 0, x[SP_CUBE_DIMS_MAX] = { 0 };
	struct sp_geometry *g;
	int rc = sp_geometry_model(&g, model, &err);

	if (!ok(rc == 0, "%s has a geometry", model))
		return;
	rc = sp__multimap_zones(&m.multimap, g, 100, SP__AIM_PLATEAU, 0);
	memcpy(m.basic.k, sizes, sizeof(sizes));
	rc = rc ? rc : sp__mapping_init(&m, 4, sizes);
	if (!ok(rc == 0, "%s takes a basic cube of 40 x 5 x 2 x 3", model))
		diag("%d reach %" PRIu64, rc, m.multimap.reach);
	for (uint64_t cell = 0; !rc && cell < 40 * 5 * 2 * 3; cell++) {
		uint64_t rest = cell, block, next;

		for (unsigned i = 0; i < 4; rest /= sizes[i++])
			x[i] = rest % sizes[i];
		block = sp__mapping_block(&m, x);
		for (unsigned i = 1; i < 4; i++) {
			if (x[i] + 1 == sizes[i])
				continue;
			x[i]++;
			hops++;
			if (!sp_geometry_adjacent(g, block, m.multimap.step[i], SP_GEOMETRY_READ, 0,
						  &next))
				equal += next == sp__mapping_block(&m, x);
			x[i]--;
		}
	}
	ok(hops && equal == hops, "%s: %" PRIu64 " of %" PRIu64 " hops are those of GETADJACENT",
	   model, equal, hops);
	sp__multimap_free(&m.multimap);
	sp_geometry_free(g);
}

/* A table of moves: at least what the curve says, and little more; D is in it. */
static bool moves_right(const uint32_t *moves, const struct sp__hops *h, double host_deg,
			unsigned min)
{
	unsigned compared = 0, wrong = 0;
	double before = 0, w;

	for (unsigned i = 0; i < SP__CUBE_HOPS; i++) {
		double deg = moves[i] * 360.0 / SP__CUBE_REVOLUTION;

		wrong += deg < before || !moves[i];
		before = deg;
		if (sp__hops_need(h, sp__cubehop_tracks(i), &w))
			continue;
		wrong += deg < w + host_deg || deg > w + host_deg + 2.01;
		compared++;
	}
	return compared > min && !wrong;
}

static void test_moves(const char *model)
{
	struct sp__multimap m = { .host_ns = 100000 };
	struct sp_geometry *g = NULL;
	double host_deg;

	if (!ok(!sp_geometry_model(&g, model, NULL) &&
			!sp__multimap_zones(&m, g, 0, SP__AIM_PLATEAU, 16),
		"%s has moves", model))
		return;
	host_deg = 360 * m.host_ns / g->period_ns;
	ok(moves_right(m.hops, &g->hops[SP_GEOMETRY_READ], host_deg, 20),
	   "%s: moves need what hops need, the host's part, and an eighth of "
	   "the conservatism; longer ones never less",
	   model);
	if (sp__multimap_rounds(&m))
		ok(moves_right(m.within, &g->within[SP_GEOMETRY_READ], host_deg, 20),
		   "%s: inside rounds, too", model);
	sp__multimap_free(&m);
	sp_geometry_free(g);
}

struct turned {
	unsigned inside, across, late, long_inside, long_across;
};

/* From the end of a cell to the start of its neighbour, and what the way there needs. */
static void see_hop(const struct sp_geometry *g, uint64_t from, uint64_t to, double extra_deg,
		    struct turned *n)
{
	const struct sp__hops *h = NULL;
	struct sp_track a, b;
	bool within;
	double w, need = 360, aim;

	if (sp_geometry_track(g, from, &a) || sp_geometry_track(g, to, &b) ||
	    sp__geometry_hops(g, SP_GEOMETRY_READ, a.number, b.number, &h) ||
	    sp__hops_need(h, b.number - a.number, &need)) {
		n->late++;
		return;
	}
	within = h == &g->within[SP_GEOMETRY_READ];
	w = b.angle_deg - a.angle_deg + (double)(to - b.first) / b.blocks * 360 -
	    (double)(from + 1 - a.first) / a.blocks * 360;
	w = fmod(w + 720, 360);
	aim = g->within[SP_GEOMETRY_READ].aim_deg + extra_deg;
	within ? n->inside++ : n->across++;
	n->late += w < need - 1e-6;
	n->long_inside += within && w > aim + 3 * 360.0 / a.blocks;
	n->long_across += !within && w > aim + 3 * 360.0 / a.blocks;
}

/* On a serpentine hops of a cube inside a round have the aim of there, and no hop comes late. */
static void test_rounds(const char *model, const char *name, double extra_deg, uint64_t reach)
{
	const uint64_t sizes[] = { 20, 30, 60 };
	struct sp__mapping m = { .kind = SP_CUBE_MULTIMAP, .cell_blocks = 1, .order = { 0, 1, 2 } };
	uint64_t x[SP_CUBE_DIMS_MAX];
	struct sp_geometry *g = geometry(model);
	struct turned n = { 0 };
	int rc = g ? sp__multimap_zones(&m.multimap, g, 1000, SP__AIM_PLATEAU, extra_deg) : -1;

	ok(!rc && m.multimap.reach == reach, "%s, %g degrees more: D is %" PRIu64, name, extra_deg,
	   m.multimap.reach);
	rc = rc ? rc : sp__mapping_init(&m, 3, sizes);
	for (x[2] = 0; !rc && x[2] < sizes[2]; x[2]++)
		for (x[1] = 0; x[1] < sizes[1]; x[1]++)
			for (x[0] = 0; x[0] < sizes[0]; x[0]++)
				for (unsigned i = 1; i < 3; i++) {
					uint64_t from = sp__mapping_block(&m, x);

					if ((x[i] + 1) % m.basic.k[i] == 0 || x[i] + 1 == sizes[i])
						continue;
					x[i]++;
					see_hop(g, from, sp__mapping_block(&m, x), extra_deg, &n);
					x[i]--;
				}
	ok(!rc && n.inside > 1000 && n.across > 100 && !n.late && !n.long_inside,
	   "of %u hops inside rounds and %u to others none comes late, and none inside waits",
	   n.inside, n.across);
	ok(n.long_across == n.across, "only those to others take longer");
	sp__multimap_free(&m.multimap);
	sp_geometry_free(g);
}

static double angle_of(const struct sp_geometry *g, uint64_t block, uint32_t beyond)
{
	struct sp_track t;

	if (sp_geometry_track(g, block, &t))
		return NAN;
	return t.angle_deg + (double)(block - t.first + beyond) / t.blocks * 360;
}

/* Hops between tracks of unequal length: from the end of a cell to the start of the next. */
static void test_unequal(const char *model, uint32_t cell_blocks)
{
	const uint64_t sizes[] = { 480 / cell_blocks, 30, 5 };
	struct sp__mapping m = { .kind = SP_CUBE_MULTIMAP,
				 .cell_blocks = cell_blocks,
				 .order = { 0, 1, 2 } };
	double aim = 0, min = 360, max = 0;
	uint64_t x[SP_CUBE_DIMS_MAX];
	struct sp_geometry *g;
	int rc = sp_geometry_model(&g, model, NULL);

	rc = rc ? rc : sp_geometry_aim(g, SP_GEOMETRY_READ, &aim);
	rc = rc ? rc : sp__multimap_zones(&m.multimap, g, 0, SP__AIM_PLATEAU, 0);
	if (!rc && sp__multimap_rounds(&m.multimap))
		aim = g->within[SP_GEOMETRY_READ].aim_deg;
	m.multimap.reach = 30;
	memcpy(m.basic.k, sizes, sizeof(sizes));
	rc = rc ? rc : sp__mapping_init(&m, 3, sizes);
	for (x[2] = 0; !rc && x[2] < sizes[2]; x[2]++)
		for (x[1] = 0; x[1] + 1 < sizes[1]; x[1]++)
			for (x[0] = 0; x[0] < sizes[0]; x[0]++) {
				double end = angle_of(g, sp__mapping_block(&m, x), cell_blocks), w;

				x[1]++;
				w = fmod(angle_of(g, sp__mapping_block(&m, x), 0) - end + 720, 360);
				x[1]--;
				min = fmin(min, w);
				max = fmax(max, w);
			}
	ok(rc == 0 && min >= aim && max < aim + 90,
	   "%s, cells of %u blocks: an aim of %.1f degrees, hops of %.1f to %.1f", model,
	   cell_blocks, aim, min, max);
	sp__multimap_free(&m.multimap);
	sp_geometry_free(g);
}

static void random_grid(struct sp__rng *rng, struct sp__mapping *m, uint64_t *sizes, unsigned n,
			bool binary)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned max = n < 3 ? 40 : n < 5 ? 8 : 3;

		sizes[i] = binary ? UINT64_C(1) << sp__rng_below(rng, n < 5 ? 4 : 2)
				  : 1 + sp__rng_below(rng, max);
		m->order[i] = i;
	}
	for (unsigned i = n; i-- > 1;) {
		unsigned k = (unsigned)sp__rng_below(rng, i + 1), old = m->order[i];

		m->order[i] = m->order[k];
		m->order[k] = old;
	}
}

struct seen {
	const struct sp__mapping *m;
	const struct sp_cube_box *box;
	uint8_t *at; /* by number of the cell: how often the walk gave it */
	uint64_t given, outside, last;
	bool ascends;
};

static uint64_t number_of(const struct sp__mapping *m, const uint64_t *x)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < m->grid.n; i++)
		number = number * m->grid.size[i] + x[m->order[i]];
	return number;
}

static int see(void *arg, uint64_t block, uint64_t cells)
{
	struct seen *s = arg;
	uint64_t x[SP_CUBE_DIMS_MAX];

	s->ascends &= !s->given || block > s->last; /* volume by volume */
	for (uint64_t i = 0; i < cells; i++) {
		bool in = sp__mapping_cell(s->m, block + i * s->m->cell_blocks, x);

		for (unsigned d = 0; in && d < s->m->grid.n; d++)
			in = x[d] >= s->box->lo[d] && x[d] <= s->box->hi[d] &&
			     (x[d] - s->box->lo[d]) % s->box->stride[d] == 0;
		s->outside += !in;
		if (in)
			s->at[number_of(s->m, x)]++;
	}
	s->given += cells;
	s->last = block + (cells - 1) * s->m->cell_blocks;
	return 0;
}

/* A walk gives each cell of a random box once, and no other. */
static bool walk_is_right(struct sp__rng *rng, const struct sp__mapping *m, const uint64_t *sizes)
{
	struct sp_cube_box box;
	struct seen s = { .m = m, .box = &box, .ascends = true };
	uint64_t cells = 1;
	bool right;

	for (unsigned i = 0; i < m->grid.n; i++) {
		uint64_t a = sp__rng_below(rng, sizes[i]), b = sp__rng_below(rng, sizes[i]);

		box.lo[i] = a < b ? a : b;
		box.hi[i] = a < b ? b : a;
		box.stride[i] = sp__rng_below(rng, 3) ? 1 : 1 + sp__rng_below(rng, 4);
		cells *= sp__box_count(&box, i);
	}
	s.at = calloc(m->grid.cells, 1);
	right = mapping_walk(m, &box, see, &s) == 0 && s.given == cells && !s.outside &&
		(m->kind == SP_CUBE_MULTIMAP || s.ascends);
	for (uint64_t i = 0; i < m->grid.cells; i++)
		right &= s.at[i] <= 1;
	free(s.at);
	return right;
}

/*
 * All cells have different blocks within the end of their volume, and each block gives its cell
 * back.
 */
static bool is_bijection(const struct sp__mapping *m, const uint64_t *sizes)
{
	uint64_t x[SP_CUBE_DIMS_MAX] = { 0 }, back[SP_CUBE_DIMS_MAX], end = sp__mapping_end(m);
	uint64_t all_blocks = end * m->basic.volumes;
	struct sp_cube_box all = { 0 };
	uint8_t *used = calloc(all_blocks, 1);
	bool right = true;

	for (unsigned i = 0; i < m->grid.n; i++) {
		all.hi[i] = sizes[i] - 1;
		all.stride[i] = 1;
	}
	do {
		uint64_t block = sp__mapping_block(m, x), local = block;
		unsigned volume = sp__basicgrid_volume(&m->basic, &local);

		if (local + m->cell_blocks > end || volume >= m->basic.volumes) {
			right = false;
			break;
		}
		for (uint32_t b = 0; b < m->cell_blocks; b++) {
			right &= !used[volume * end + local + b]++ &&
				 sp__mapping_cell(m, block + b, back);
			right = right && !memcmp(back, x, m->grid.n * sizeof(*x));
		}
	} while (right && sp__box_next(&all, 0, m->grid.n, x));
	for (uint64_t b = 0; right && b < all_blocks; b++)
		right = used[b] ||
			!sp__mapping_cell(m, b / end * m->basic.volume_blocks + b % end, back);
	free(used);
	return right;
}

/*
 * Round robin gives each volume as many cubes as any other, or one more.  With disk modulo that
 * holds for each row of cubes; all of them, where the volumes divide the cubes of a row.
 */
static bool is_balanced(const struct sp__basicgrid *b)
{
	uint64_t count[5] = { 0 }, at[SP_CUBE_DIMS_MAX], min = UINT64_MAX, max = 0, bound = 1;

	for (unsigned v = 0; v < b->volumes; v++) {
		for (uint64_t local = 0; local < b->local; local++)
			count[v] += sp__basicgrid_cube(b, v, local, at);
		min = count[v] < min ? count[v] : min;
		max = count[v] > max ? count[v] : max;
	}
	if (b->method == SP_CUBE_DISK_MODULO && b->volumes > 1)
		bound = b->cubes[b->row] % b->volumes ? b->ncubes / b->cubes[b->row] : 0;
	return max - min <= bound;
}

/* One to five volumes; basic cubes as chosen, or of any sizes, powers of two for curves. */
static void spread(struct sp__rng *rng, struct sp__mapping *m, const uint64_t *sizes, unsigned n,
		   unsigned round)
{
	m->basic.volumes = 1 + round % 5;
	m->basic.method = round / 5 % 2 ? SP_CUBE_ROUND_ROBIN : SP_CUBE_DISK_MODULO;
	m->basic.volume_blocks = UINT64_C(1) << 40;
	for (unsigned i = 0; round % 3 && m->kind != SP_CUBE_MULTIMAP && i < n; i++) {
		uint64_t size = sizes[m->order[i]], k = 1 + sp__rng_below(rng, size);

		while (m->kind != SP_CUBE_NAIVE && k & (k - 1))
			k &= k - 1;
		m->basic.k[i] = k;
	}
}

static void test_random(enum sp_cube_mapping kind, const char *name, const char *model)
{
	struct sp__rng rng = { 14 };
	struct sp_geometry *g = NULL;
	unsigned wrong = 0, wrong_walks = 0, unbalanced = 0, tried = 0;

	if (model && !(g = geometry(model)))
		ok(false, "%s has a geometry", name);
	for (unsigned round = 0; round < (g ? 150 : 300); round++) {
		struct sp__mapping m = { .kind = kind, .first_block = round % 7 };
		uint64_t sizes[SP_CUBE_DIMS_MAX];
		unsigned n = 1 + round % 12;
		bool linear = kind == SP_CUBE_NAIVE || kind == SP_CUBE_MULTIMAP;
		int rc;

		m.cell_blocks = 1 + (uint32_t)sp__rng_below(&rng, 4);
		random_grid(&rng, &m, sizes, n, !linear && (n > 4 || round % 2));
		spread(&rng, &m, sizes, n, round);
		rc = g ? sp__multimap_zones(&m.multimap, g, round % 1000, SP__AIM_PLATEAU, 0) : 0;
		rc = rc ? rc : sp__mapping_init(&m, n, sizes);
		if (rc == 0) {
			tried++;
			unbalanced += !is_balanced(&m.basic);
			wrong += !is_bijection(&m, sizes);
			for (unsigned w = 0; w < 5; w++)
				wrong_walks += !walk_is_right(&rng, &m, sizes);
		}
		sp__multimap_free(&m.multimap);
	}
	ok(tried > 100 && !wrong, "%s: %u grids of 1 to 12 dimensions are mapped one to one", name,
	   tried);
	ok(!unbalanced, "%s: volumes have equal numbers of basic cubes, as the methods promise",
	   name);
	ok(!wrong_walks, "%s: walks of random boxes give each cell once", name);
	sp_geometry_free(g);
}

/* Basic cubes need whole tracks: none of spares, none with a slipped sector. */
static void test_spares(void)
{
	static const char text[] =
		"{\"rpm\":6000,\"surfaces\":2,\"head_switch_ms\":0.8,\"seek_ms\":[[1,0.6],[199,5]],"
		"\"zones\":[{\"first_cyl\":0,\"last_cyl\":199,\"spt\":100,\"track_skew\":20,"
		"\"cyl_skew\":20,\"slips\":[21505],\"spares\":[[0,1000],[10000,700],[30050,1]]}]}";
	struct sp__multimap m = { 0 };
	struct sp_geometry *g = geometry(text);
	struct sp_track t;
	uint64_t tracks = 0, whole = 0;

	if (!ok(g && !sp__multimap_zones(&m, g, 0, SP__AIM_PLATEAU, 0),
		"a drive with spare areas has zones for cubes"))
		return;
	for (size_t i = 0; i < m.nzones; i++)
		for (uint64_t k = 0; k < m.zones[i].tracks; k++, tracks++)
			whole += !sp_geometry_track(g, m.zones[i].first_block + 100 * k, &t) &&
				 t.first == m.zones[i].first_block + 100 * k && t.blocks == 100;
	/* The slip has taken the spare sector at 30050, so one track is short, not two. */
	ok(tracks == 400 - 10 - 7 - 1 && whole == tracks,
	   "they have all whole tracks and no other (%" PRIu64 " of %" PRIu64 ")", whole, tracks);
	sp__multimap_free(&m);
	sp_geometry_free(g);
}

static void test_unit_steps(void)
{
	unsigned wrong = 0;

	for (unsigned n = 1; n <= 6; n++) {
		uint64_t sizes[SP_CUBE_DIMS_MAX], x[SP_CUBE_DIMS_MAX], before[SP_CUBE_DIMS_MAX];
		struct sp__mapping m = { .kind = SP_CUBE_HILBERT, .cell_blocks = 1 };

		for (unsigned i = 0; i < n; i++) {
			m.order[i] = i;
			sizes[i] = n < 4 ? 16 : 4;
		}
		if (sp__mapping_init(&m, n, sizes))
			wrong++;
		for (uint64_t b = 0; b < m.grid.cells; b++) {
			uint64_t distance = 0;

			sp__mapping_cell(&m, b, x);
			for (unsigned i = 0; b && i < n; i++)
				distance += x[i] > before[i] ? x[i] - before[i] : before[i] - x[i];
			wrong += b && distance != 1;
			memcpy(before, x, sizeof(x));
		}
	}
	ok(!wrong, "Hilbert's curve goes to a neighbour at every step, in 1 to 6 dimensions");
}

static void test_refusals(void)
{
	struct sp__mapping m = { .kind = SP_CUBE_HILBERT, .cell_blocks = 1 };
	uint64_t sizes[] = { 3, 3, 3, 3, 3 };

	for (unsigned i = 0; i < 5; i++)
		m.order[i] = i;
	ok(sp__mapping_init(&m, 5, sizes) == SP_EUNSUP,
	   "a curve over five dimensions that are not powers of two is refused");
	ok(sp__mapping_init(&m, 2, (uint64_t[]){ UINT64_C(1) << 40, UINT64_C(1) << 30 }) == -ERANGE,
	   "2^70 cells are refused");
}

int main(void)
{
	test_examples();
	test_adjacent("atlas10k3-like");
	test_adjacent("cheetah36es-like");
	test_adjacent("ultrastar36lzx-like");
	test_adjacent("serpentine");
	test_moves("atlas10k3-like");
	test_moves("nearline6t-like");
	test_moves("serpentine");
	test_rounds("serpentine", "serpentine", 0, 21);
	test_rounds("serpentine", "serpentine", 20, 1308);
	test_rounds(bands, "three surfaces", 0, 144);
	test_rounds(bands, "three surfaces", 20, 180);
	test_unequal("nearline6t-like", 1);
	test_unequal("nearline6t-like", 7);
	test_unequal("atlas10k3-like", 60);
	test_random(SP_CUBE_NAIVE, "naive", NULL);
	test_random(SP_CUBE_ZORDER, "zorder", NULL);
	test_random(SP_CUBE_GRAY, "gray", NULL);
	test_random(SP_CUBE_HILBERT, "hilbert", NULL);
	test_random(SP_CUBE_MULTIMAP, "multimap", "tiny");
	test_random(SP_CUBE_MULTIMAP, "multimap", "atlas10k3-like");
	test_random(SP_CUBE_MULTIMAP, "multimap", "nearline6t-like");
	test_random(SP_CUBE_MULTIMAP, "multimap in rounds", bands);
	test_spares();
	test_unit_steps();
	test_refusals();
	return done();
}
