/* SPDX-License-Identifier: MIT */
/*
 * Arrays of drives: what is asked for, where blocks lie, and what it brings in time.
 */
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include <spindle/run.h>
#include "base/rng.h"
#include "dev/device.h"
#include "dev/geometry.h"
#include "dev/raid.h"
#include "sim/blockdev.h"
#include "tap.h"

#define REQUESTS 400

static struct sp__model *load(const char *name, const char *array)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__raid_spec spec;
	struct sp__model *m;

	if (sp__model_load(&m, name, &err) ||
	    (array && (!sp__raid_parse(&spec, array) || sp__raid_make(&m, &spec, &err)))) {
		diag("%s %s: %s", name, array ? array : "", err.text);
		exit(done() | 1);
	}
	return m;
}

static void test_texts(void)
{
	static const char *const wrong[] = { "",
					     "linear",
					     "linear:",
					     "linear:0",
					     "linear:65",
					     "linear:2/64K",
					     "raid0:2/",
					     "raid0:2/0",
					     "raid0:2/50%",
					     "raid0:2/2G",
					     "raid0:2/64K/",
					     "raid0:-1",
					     "raid0:2 ",
					     "raid10:3",
					     "raid5:3",
					     "raid0:2:3",
					     "linear:2/track",
					     "raid0:2track",
					     "raid0:2/track/",
					     "raid0:2/tracks" };
	struct sp__raid_spec s = { .drives = 77 };
	unsigned taken = 0;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (sp__raid_parse(&s, wrong[i]) || s.drives != 77)
			diag("%s is taken", wrong[i]), taken++;
	ok(!taken, "text that is not an array is refused, and changes nothing");
	ok(sp__raid_parse(&s, "linear:64") && s.level == SP__RAID_LINEAR && s.drives == 64,
	   "one drive after the other");
	ok(sp__raid_parse(&s, "raid0:3") && s.level == SP__RAID_0 && s.drives == 3 &&
		   s.stripe_bytes == 65536,
	   "stripes have 64 KiB if nothing else is said");
	ok(sp__raid_parse(&s, "raid10:64/8K") && s.level == SP__RAID_10 && s.drives == 64 &&
		   s.stripe_bytes == 8192,
	   "round mirrored pairs");
	ok(sp__raid_parse(&s, "raid0:1/4K") && s.drives == 1 && s.stripe_bytes == 4096,
	   "or the size that is said");
	ok(sp__raid_parse(&s, "raid0:4/track") && s.drives == 4 && s.stripe_bytes == 0,
	   "or are the tracks of the drives");
}

static bool refused(const char *name, const char *array, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__raid_spec spec;
	struct sp__model *m, *before;
	bool right;
	int rc;

	if (sp__model_load(&m, name, NULL) || !sp__raid_parse(&spec, array))
		return false;
	before = m;
	rc = sp__raid_make(&m, &spec, &err);
	right = rc == SP_ESYNTAX && m == before && strstr(err.text, reason);
	if (!right)
		diag("%s %s: %d %s", name, array, rc, err.text);
	sp__model_free(m);
	return right;
}

static void test_models(void)
{
	struct sp__model *one = load("tiny", NULL), *a = load("tiny", "raid0:3/16K");

	ok(a->blocks == 3 * (one->blocks / 32 * 32) && a->lanes == 3 && a->queues == 3 &&
		   a->window == one->window && a->overhead_ns[1] == one->overhead_ns[1] &&
		   a->cpu_request_ns == one->cpu_request_ns,
	   "an array has whole stripes of its drives, and their constants");
	ok(!strcmp(a->name, "tiny,array=raid0:3/16384"), "its name says what it is");
	sp__model_free(a);
	a = load("tiny", "linear:3");
	ok(a->blocks == 3 * one->blocks && !strcmp(a->name, "tiny,array=linear:3"),
	   "one drive after the other uses all of each");
	sp__model_free(a);
	a = load("tiny", "raid0:3/track");
	ok(a->blocks == 3 * one->blocks && !strcmp(a->name, "tiny,array=raid0:3/track"),
	   "so do stripes that are tracks");
	sp__model_free(a);
	a = load("tiny", "raid10:6/16K");
	ok(a->blocks == 3 * (one->blocks / 32 * 32) && a->lanes == 6 && a->queues == 3,
	   "mirrored, half of the drives");
	sp__model_free(a);
	sp__model_free(one);
	ok(refused("flash", "raid0:2", "'flash' has channels of its own") &&
		   refused("linear", "raid0:2/track", "'linear' has no tracks") &&
		   refused("tiny", "raid0:2/1000", "do not divide a stripe") &&
		   refused("tiny", "raid0:2/1G", "is smaller than a stripe"),
	   "drives that cannot be in an array are refused with the reason");
}

#define TRACKS 1 /* as a stripe */

/* Lengths of the tracks of the tiny drive. */
static uint32_t lengths[100];

static void measure_tracks(void)
{
	struct sp_geometry *g;
	struct sp_track t;

	if (sp_geometry_model(&g, "tiny", NULL))
		exit(done() | 1);
	for (unsigned i = 0; !sp_geometry_track_number(g, i, &t); i++)
		lengths[i] = t.blocks;
	sp_geometry_free(g);
}

/* Computes the location of a block naively: a set of drives that have the same blocks. */
static void naive(const struct sp__model *drive, unsigned sets, uint64_t stripe, uint64_t lbn,
		  unsigned *set, uint64_t *at)
{
	if (!stripe) {
		*set = (unsigned)(lbn / drive->blocks);
		*at = lbn % drive->blocks;
	} else if (stripe == TRACKS) {
		unsigned i = 0;

		for (*at = 0; lbn >= (uint64_t)lengths[i] * sets; i++) {
			lbn -= (uint64_t)lengths[i] * sets;
			*at += lengths[i];
		}
		*set = (unsigned)(lbn / lengths[i]);
		*at += lbn % lengths[i];
	} else {
		*set = (unsigned)(lbn / stripe % sets);
		*at = lbn / stripe / sets * stripe + lbn % stripe;
	}
}

/* Returns the number of subrequests, at most one per drive, that have the block at a location. */
static unsigned inside(const struct sp__subreq *p, unsigned n, unsigned lane, uint64_t at)
{
	unsigned in = 0;

	for (unsigned i = 0; i < n; i++)
		in += p[i].lane == lane && at >= p[i].lbn && at < p[i].lbn + p[i].blocks;
	return in;
}

/* A write goes to all copies of each block, a read to one, and nothing else is touched. */
static bool split_holds(const struct sp__device *d, uint64_t stripe, bool write, uint64_t lbn,
			uint32_t blocks)
{
	unsigned stripe_drives, set, n, in, copies = d->model->drives / d->model->queues;
	bool tracks;
	const struct sp__model *m = d->model, *drive = sp__raid_drive(m, &stripe_drives, &tracks);
	struct sp__subreq p[SP__DEV_SUBREQS_MAX];
	uint32_t got = blocks, sum = 0;
	struct sp__service s;
	uint64_t at;
	bool right = true;

	n = m->ops->split(m, d->state, 0, write, lbn, &got, p, SP__DEV_SUBREQS_MAX);
	for (unsigned i = 0; i < n; i++) {
		sum += p[i].blocks;
		right &= p[i].lbn + p[i].blocks <= drive->blocks && p[i].write == write;
		m->ops->serve(m, d->state, 0, &p[i], &s);
	}
	for (uint32_t b = 0; b < blocks; b++) {
		naive(drive, m->queues, stripe, lbn + b, &set, &at);
		in = 0;
		for (unsigned c = 0; c < copies; c++)
			in += inside(p, n, set * copies + c, at);
		right &= in == (write ? copies : 1);
	}
	naive(drive, m->queues, stripe, lbn, &set, &at);
	right &= tracks == (stripe == TRACKS);
	return right && got == blocks && sum == blocks * (write ? copies : 1) &&
	       m->ops->queue(m, lbn) == set;
}

static void check_places(const char *array, uint64_t stripe)
{
	struct sp__model *m = load("tiny", array), *drive = load("tiny", NULL);
	struct sp__rng rng = { 3 };
	struct sp__device d;
	bool right = !sp__device_open(&d, m);
	uint8_t *seen = calloc(m->queues, drive->blocks);
	uint64_t lbn, at, twice = 0;
	unsigned set;

	for (int i = 0; right && i < 3000; i++) {
		uint32_t blocks = 1 + (uint32_t)sp__rng_below(&rng, i % 3 ? 40 : 1000);

		lbn = sp__rng_below(&rng, m->blocks - blocks + 1);
		right = split_holds(&d, stripe, i & 1, lbn, blocks);
	}
	ok(right, "%s: a block of a request is read from one place and written to all", array);
	for (lbn = 0; seen && lbn < m->blocks; lbn++) {
		naive(drive, m->queues, stripe, lbn, &set, &at);
		twice += seen[set * drive->blocks + at]++;
	}
	ok(seen && !twice, "%s: every block has a place of its own", array);
	free(seen);
	sp__device_close(&d);
	sp__model_free(m);
	sp__model_free(drive);
}

static struct sp__blockdev *open_dev(const struct sp__model *m)
{
	struct sp__blockdev_opts opts = { .sched = "deadline", .policy = -1, .merge = true };
	struct sp__blockdev *bd;

	if (sp__blockdev_open(&bd, m, &opts, NULL))
		exit(done() | 1);
	return bd;
}

static uint64_t drain(struct sp__blockdev *bd)
{
	struct sp__blockreq *r;
	uint64_t last = 0;

	while (sp__blockdev_next_ns(bd) != SP__NEVER)
		for (r = sp__blockdev_advance(bd, sp__blockdev_next_ns(bd)); r; r = r->next)
			last = r->done_ns;
	return last;
}

/* Equal requests to concatenated drives, and to as many single drives. */
static void test_linear(void)
{
	struct sp__model *m = load("atlas10k3-like", "linear:3"),
			 *one = load("atlas10k3-like", NULL);
	struct sp__blockdev *all = open_dev(m),
			    *each[3] = { open_dev(one), open_dev(one), open_dev(one) };
	struct sp__blockreq r[REQUESTS], *p[REQUESTS], alone[REQUESTS], *q;
	struct sp__rng rng = { 5 };
	unsigned differ = 0;

	for (unsigned i = 0; i < REQUESTS; i++) {
		alone[i] = (struct sp__blockreq){ .lbn = sp__rng_below(&rng, one->blocks - 64),
						  .blocks = 1 + (uint32_t)sp__rng_below(&rng, 64),
						  .write = !sp__rng_below(&rng, 4) };
		r[i] = alone[i];
		r[i].lbn += i % 3 * one->blocks;
		p[i] = &r[i];
		q = &alone[i];
		sp__blockdev_submit(each[i % 3], i / 100 * 50000000, &q, 1, false);
	}
	for (unsigned i = 0; i < REQUESTS; i += 100)
		sp__blockdev_submit(all, i / 100 * 50000000, p + i, 100, false);
	drain(all);
	for (unsigned i = 0; i < 3; i++)
		drain(each[i]);
	for (unsigned i = 0; i < REQUESTS; i++)
		differ += r[i].done_ns != alone[i].done_ns || !r[i].done_ns;
	ok(!differ, "drives in a row take the time that each takes alone, to the nanosecond");
	sp__blockdev_close(all);
	for (unsigned i = 0; i < 3; i++)
		sp__blockdev_close(each[i]);
	sp__model_free(m);
	sp__model_free(one);
}

/* Virtual time for n consecutive requests of equal size, at a depth. */
static uint64_t sequential_ns(const char *array, uint32_t blocks, unsigned n)
{
	struct sp__model *m = load("atlas10k3-like", array);
	struct sp__blockdev *bd = open_dev(m);
	struct sp__blockreq *r = calloc(n, sizeof(*r)), *p;
	uint64_t ns;

	for (unsigned i = 0; i < n; i++) {
		r[i] = (struct sp__blockreq){ .lbn = (uint64_t)i * blocks, .blocks = blocks };
		p = &r[i];
		sp__blockdev_submit(bd, 0, &p, 1, false);
	}
	ns = drain(bd);
	free(r);
	sp__blockdev_close(bd);
	sp__model_free(m);
	return ns;
}

static void test_raid0(void)
{
	uint64_t one = sequential_ns(NULL, 4096, 100), four = sequential_ns("raid0:4", 4096, 100);

	ok(one == 4015338192, "a drive reads 200 MiB in sequence in 4.015 s");
	ok(four == 1011664723, "four of them in 1.012 s");
}

/* The drive that reads a block at a moment. */
static unsigned reader(const struct sp__device *d, uint64_t now_ns, uint64_t lbn, bool serve,
		       uint64_t *done_ns)
{
	struct sp__subreq p;
	struct sp__service s;
	uint32_t blocks = 1;

	d->model->ops->split(d->model, d->state, now_ns, false, lbn, &blocks, &p, 1);
	if (serve) {
		d->model->ops->serve(d->model, d->state, now_ns, &p, &s);
		*done_ns = s.done_ns;
	}
	return p.lane;
}

static void test_nearest(void)
{
	struct sp__model *m = load("atlas10k3-like", "raid10:2");
	struct sp__device d;
	uint64_t t = 0, far = m->blocks - 1;

	if (sp__device_open(&d, m))
		exit(done() | 1);
	ok(reader(&d, 0, far, true, &t) == 0, "if both drives are equal the lower one reads");
	ok(reader(&d, t, 1000, true, &t) == 1 && reader(&d, t, far - 1000, true, &t) == 0 &&
		   reader(&d, t, far / 100, true, &t) == 1,
	   "if both are idle the one whose arm is nearer reads");
	ok(reader(&d, t - 1, far / 100, false, NULL) == 0, "the other one, if that is busy");
	ok(reader(&d, t, far, false, NULL) == 1 && reader(&d, t, far, false, NULL) == 0 &&
		   reader(&d, t, far, false, NULL) == 1,
	   "the one for which fewer requests wait, wherever its arm is");
	sp__device_close(&d);
	sp__model_free(m);
}

static void submit_random(struct sp__blockdev *bd, const struct sp__model *m, struct sp__rng *rng,
			  bool write, struct sp__blockreq *r, uint64_t now_ns)
{
	*r = (struct sp__blockreq){ .lbn = sp__rng_below(rng, m->blocks / 8) * 8,
				    .blocks = 8,
				    .write = write };
	sp__blockdev_submit(bd, now_ns, &r, 1, false);
}

/* Virtual time for n requests of 4 KiB at random offsets, at a depth. */
static uint64_t random_ns(const char *array, bool write, unsigned depth, unsigned n)
{
	struct sp__model *m = load("atlas10k3-like", array);
	struct sp__blockdev *bd = open_dev(m);
	struct sp__blockreq r[64], *p, *next;
	struct sp__rng rng = { 11 };
	uint64_t last = 0;
	unsigned issued, done = 0;

	for (issued = 0; issued < depth; issued++)
		submit_random(bd, m, &rng, write, &r[issued], 0);
	while (done < n) {
		for (p = sp__blockdev_advance(bd, sp__blockdev_next_ns(bd)); p; p = next) {
			next = p->next;
			last = p->done_ns;
			done++;
			if (issued++ < n)
				submit_random(bd, m, &rng, write, p, last);
		}
	}
	sp__blockdev_close(bd);
	sp__model_free(m);
	return last;
}

static void test_raid10(void)
{
	static const struct {
		unsigned depth;
		bool write;
		uint64_t one, four;
	} want[] = {
		{ 1, false, 8426337662, 7638909091 },  { 8, false, 5489242991, 1974909091 },
		{ 64, false, 3373598214, 1154271028 }, { 1, true, 8900337662, 8922909091 },
		{ 8, true, 5931651786, 3507351852 },   { 64, true, 3921651786, 2229232653 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		unsigned depth = want[i].depth;
		bool write = want[i].write;
		uint64_t one = random_ns(NULL, write, depth, 1000);
		uint64_t four = random_ns("raid10:4", write, depth, 1000);

		if (!ok(one == want[i].one && four == want[i].four,
			"1000 random %s at depth %u: %.3f s on a drive, %.3f s on two pairs",
			write ? "writes" : "reads", depth, (double)want[i].one * 1e-9,
			(double)want[i].four * 1e-9))
			diag("%llu %llu", (unsigned long long)one, (unsigned long long)four);
	}
}

/* A write is done when the slower drive of a pair has done it. */
static void test_pair_write(void)
{
	struct sp__model *m = load("atlas10k3-like", "raid10:2"),
			 *one = load("atlas10k3-like", NULL);
	struct sp__blockreq r[2] = { { .lbn = 70000000, .blocks = 8 },
				     { .lbn = 1000, .blocks = 8, .write = true } };
	struct sp__blockreq alone = { .lbn = 1000, .blocks = 8, .write = true }, *p;
	struct sp__blockdev *bd = open_dev(m);
	uint64_t begin, near;

	p = &r[0];
	sp__blockdev_submit(bd, 0, &p, 1, false);
	begin = drain(bd);
	p = &r[1];
	sp__blockdev_submit(bd, begin, &p, 1, false);
	drain(bd);
	sp__blockdev_close(bd);
	bd = open_dev(one);
	p = &alone;
	sp__blockdev_submit(bd, begin, &p, 1, false);
	near = drain(bd);
	sp__blockdev_close(bd);
	bd = open_dev(one);
	r[0].write = false;
	p = &r[0];
	sp__blockdev_submit(bd, 0, &p, 1, false);
	drain(bd);
	p = &alone;
	sp__blockdev_submit(bd, begin, &p, 1, false);
	ok(drain(bd) == r[1].done_ns && near < r[1].done_ns,
	   "a write is done when the drive whose arm was farther has done it");
	sp__blockdev_close(bd);
	sp__model_free(m);
	sp__model_free(one);
}

/*
 * The same of a random block of the array and of that drive where it lies: its track, and the
 * block that is adjacent to it on its drive.
 */
static bool same_place(const struct sp_geometry *array, const struct sp_geometry *one, unsigned n,
		       struct sp__rng *rng)
{
	uint64_t lbn = sp__rng_below(rng, one->blocks * n), step = 1 + sp__rng_below(rng, 20);
	uint64_t there, hop, hop_there;
	struct sp_track t, on_drive, to;
	unsigned drive;

	if (sp_geometry_track(array, lbn, &t) ||
	    sp_geometry_track_number(one, t.number / n, &on_drive))
		return false;
	drive = (unsigned)(t.number % n);
	there = on_drive.first + (lbn - t.first);
	if (t.blocks != on_drive.blocks || t.angle_deg != on_drive.angle_deg ||
	    t.first != on_drive.first * n + (uint64_t)drive * t.blocks || lbn < t.first ||
	    lbn - t.first >= t.blocks)
		return false;
	if (sp_geometry_adjacent(one, there, step, SP_GEOMETRY_READ, 0, &hop_there))
		return sp_geometry_adjacent(array, lbn, step * n, SP_GEOMETRY_READ, 0, &hop) < 0;
	return !sp_geometry_adjacent(array, lbn, step * n, SP_GEOMETRY_READ, 0, &hop) &&
	       !sp_geometry_track(array, hop, &to) && to.number == t.number + step * n &&
	       !sp_geometry_track_number(one, to.number / n, &on_drive) &&
	       hop - to.first == hop_there - on_drive.first;
}

/* sh08.s2.4: tracks, D and adjacent blocks of drives whose tracks are the stripes. */
static void test_tracks(const char *model)
{
	struct sp__model *m = load(model, "raid0:3/track");
	struct sp_geometry *array, *one;
	struct sp__rng rng = { 7 };
	json_t *doc;
	uint64_t d[2] = { 0 };
	double aim[2];
	unsigned differ = 0;

	if (sp__geometry_of(&array, m, NULL) || sp_geometry_model(&one, model, NULL))
		exit(done() | 1);
	ok(array->blocks == 3 * one->blocks && !sp_geometry_aim(array, SP_GEOMETRY_READ, &aim[0]) &&
		   !sp_geometry_aim(one, SP_GEOMETRY_READ, &aim[1]) && aim[0] == aim[1] &&
		   !sp_geometry_reach(array, SP_GEOMETRY_READ, aim[0], &d[0]) &&
		   !sp_geometry_reach(one, SP_GEOMETRY_READ, aim[1], &d[1]) && d[0] == 3 * d[1],
	   "sh08.s2.4: three %s, striped by tracks: W of one, D of all", model);
	for (int i = 0; i < 3000; i++)
		differ += !same_place(array, one, 3, &rng);
	if (!ok(!differ, "and each block has the track and the adjacent blocks of its drive"))
		diag("%u differ", differ);
	sp_geometry_free(one);
	doc = sp__geometry_document(array);
	if (!doc || sp__geometry_parse(&one, doc, model, NULL))
		exit(done() | 1);
	ok(one->stripe_drives == 3, "and written and read, tracks still are on three drives");
	sp_geometry_free(one);
	json_object_set(doc, "abreast", json_object_get(doc, "stripe_drives"));
	json_object_del(doc, "stripe_drives");
	if (sp__geometry_parse(&one, doc, model, NULL))
		exit(done() | 1);
	ok(one->stripe_drives == 3, "and so under the key's former name");
	json_decref(doc);
	sp_geometry_free(array);
	sp_geometry_free(one);
	sp__model_free(m);
}

static bool figures(const char *volume, double t, double s)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry_info info;
	struct sp_geometry *g;
	bool right;

	if (sp_run_geometry(&g, volume, &err) || !g) {
		diag("%s: %s", volume, err.text);
		return false;
	}
	sp_geometry_info(g, &info);
	right = !info.tracks && !strcmp(info.verdict, "not-rotating") &&
		info.transfer_s_per_mib == t && info.seek_s == s;
	sp_geometry_free(g);
	return right;
}

static void test_geometry(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry_info one;
	struct sp_geometry *g;

	ok(sp_run_geometry(&g, "sim:atlas10k3-like,window=1", &err) == 0 && g,
	   "the device of a volume has a geometry");
	sp_geometry_info(g, &one);
	ok(one.tracks &&
		   figures("sim:atlas10k3-like,array=linear:4", one.transfer_s_per_mib,
			   one.seek_s) &&
		   figures("sim:atlas10k3-like,array=raid0:4/1M", one.transfer_s_per_mib / 4,
			   one.seek_s) &&
		   figures("sim:atlas10k3-like,array=raid10:4", one.transfer_s_per_mib / 2,
			   one.seek_s),
	   "that of an array has no tracks, the seek of a drive, and the rate of those side by "
	   "side");
	sp_geometry_free(g);
	ok(sp_run_geometry(&g, NULL, NULL) == 0 && !g &&
		   sp_run_geometry(&g, "block:/dev/null", NULL) == 0 && !g,
	   "of other volumes nothing is known");
	ok(sp_run_geometry(&g, "sim:tiny,array=raid0:0", &err) == SP_ESYNTAX && !g &&
		   sp_run_geometry(&g, "sim:flash,array=raid0:2", &err) == SP_ESYNTAX && !g,
	   "an array that cannot be has none");
}

int main(void)
{
	test_texts();
	test_models();
	measure_tracks();
	check_places("linear:3", 0);
	check_places("raid0:1/4K", 8);
	check_places("raid0:3/1536", 3);
	check_places("raid0:5/16K", 32);
	check_places("raid10:2/4K", 8);
	check_places("raid10:6/1536", 3);
	check_places("raid0:3/track", TRACKS);
	check_places("raid10:4/track", TRACKS);
	test_linear();
	test_raid0();
	test_nearest();
	test_raid10();
	test_pair_write();
	test_geometry();
	test_tracks("tiny");
	test_tracks("serpentine");
	test_tracks("nearline6t-like");
	return done();
}
