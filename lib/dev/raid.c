/* SPDX-License-Identifier: MIT */
/*
 * Combines drives to an array: each drive is a lane, with its own state.
 *
 * Algorithm.  The drives form sets: of one drive, or of two that have the same blocks.  Stripes are
 * distributed round-robin over the sets; concatenation is the same with a stripe as large as a
 * drive.  The part of a request in one set is one subrequest, since its stripes follow each other:
 * block b is in stripe b / S, in set (b / S) % N, in the set's stripe (b / S) / N.  If the stripes
 * are the tracks of the drives, block b is on the track that has block b / N of each drive.
 *
 * A mirrored pair writes to both drives.  It reads from the drive with fewer requests, which a host
 * knows without a query; if they are equal, from the one whose arm arrives first.  (If only the arm
 * decided, a drive in the middle of the blocks would have a queue while the other is idle.)
 *
 * All platters rotate in step, so the nearer drive only saves seek time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/keyval.h"
#include "base/minmax.h"
#include "dev/device.h"
#include "dev/drive.h"
#include "dev/raid.h"

struct raid {
	struct sp__model *drive;
	uint64_t stripe; /* blocks; 0: a track */
	const struct sp__trackmap *map;
	unsigned copies;	/* drives per set */
	unsigned stripe_drives; /* sets that transfer concurrently */
};

struct member {
	struct sp__device dev;
	unsigned waiting; /* subrequests that it has to serve */
	uint64_t free_ns; /* end of its last service */
};

static const struct sp_enum_value levels[] = { { "linear", SP__RAID_LINEAR },
					       { "raid0", SP__RAID_0 },
					       { "raid10", SP__RAID_10 },
					       { NULL, 0 } };

static const char by_track[] = "/track";

static const struct sp__setting stripe = { .kind = SP__KEY_SIZE,
					   SP__KEY_AT(struct sp__raid_spec, stripe_bytes),
					   .min = 1,
					   .max = 1 << 30 };

const char sp__raid_form[] =
	"linear:N, raid0:N[/STRIPE] or raid10:N[/STRIPE], with N from 1 to 64, even for raid10, "
	"and STRIPE 'track' or a size such as 64K, at most 1G";

bool sp__raid_parse(struct sp__raid_spec *spec, const char *text)
{
	struct sp__raid_spec s = { .stripe_bytes = 64 << 10 };
	uint64_t n;

	if (!sp__word_take(&text, ":", levels, &s.level) || *text++ != ':' ||
	    !sp__number_take(&text, sp__unit_none, &n) || !n || n > SP__RAID_DRIVES_MAX)
		return false;
	if (s.level == SP__RAID_10 && n % 2)
		return false;
	s.drives = (unsigned)n;
	if (*text && (s.level == SP__RAID_LINEAR || *text != '/'))
		return false;
	if (!strcmp(text, by_track))
		s.stripe_bytes = 0;
	else if (*text && !sp__keyval_set(&stripe, &s, text + 1))
		return false;
	*spec = s;
	return true;
}

static void raid_free(void *impl)
{
	struct raid *r = impl;

	sp__model_free(r->drive);
	free(r);
}

static void raid_close(void *state)
{
	struct member *members = state;

	for (unsigned i = 0; members[i].dev.model; i++)
		sp__device_close(&members[i].dev);
	free(members);
}

static int raid_open(const struct sp__model *m, void **state)
{
	const struct raid *r = m->impl;
	struct member *members = calloc(m->drives + 1, sizeof(*members)); /* one more for the end */
	int rc = members ? 0 : -ENOMEM;

	for (unsigned i = 0; rc == 0 && i < m->drives; i++)
		rc = sp__device_open(&members[i].dev, r->drive);
	if (members && rc)
		raid_close(members);
	else
		*state = members;
	return rc;
}

/* The stripe of a block of the array. */
struct place {
	unsigned set;
	uint64_t lbn;  /* the block in it */
	uint64_t rest; /* blocks of the stripe from lbn on */
};

static struct place place_of(const struct sp__model *m, uint64_t lbn)
{
	const struct raid *r = m->impl;
	uint64_t first, blocks, into; /* numbers of the row of stripes, one per set, that has lbn */
	struct sp__track t;

	if (r->stripe) {
		first = lbn / r->stripe / m->queues * r->stripe;
		blocks = r->stripe;
	} else {
		sp__trackmap_find(r->map, lbn / m->queues, &t);
		first = t.first_lbn;
		blocks = t.blocks;
	}
	into = lbn - first * m->queues;
	return (struct place){ .set = (unsigned)(into / blocks),
			       .lbn = first + into % blocks,
			       .rest = blocks - into % blocks };
}

static unsigned raid_queue(const struct sp__model *m, uint64_t lbn)
{
	return place_of(m, lbn).set;
}

/*
 * Cuts a request into the parts of the sets: subrequests whose lanes are sets, at most max.  Sets
 * *blocks to the blocks covered.
 */
static unsigned cut(const struct sp__model *m, bool write, uint64_t lbn, uint32_t *blocks,
		    struct sp__subreq *subreqs, unsigned max)
{
	uint64_t at = lbn, end = lbn + *blocks, len;
	unsigned first = raid_queue(m, lbn), n = 0, i;

	for (; at < end; at += len) {
		struct place p = place_of(m, at);

		len = sp__min(p.rest, end - at);
		i = (p.set + m->queues - first) % m->queues;
		if (i < n) {
			subreqs[i].blocks += (uint32_t)len;
			continue;
		}
		if (n == max)
			break;
		subreqs[n++] = (struct sp__subreq){ .lbn = p.lbn,
						    .blocks = (uint32_t)len,
						    .lane = (uint16_t)p.set,
						    .write = write };
	}
	*blocks = (uint32_t)(at - lbn);
	return n;
}

/* Converts the subrequest of a set to one of one of its drives. */
static struct sp__subreq to_drive(const struct member *members, unsigned lane, uint64_t now_ns,
				  const struct sp__subreq *of_set)
{
	const struct sp__device *d = &members[lane].dev;
	uint32_t blocks = of_set->blocks;
	struct sp__subreq p;

	d->model->ops->split(d->model, d->state, now_ns, of_set->write, of_set->lbn, &blocks, &p,
			     1);
	p.lane = (uint16_t)lane;
	return p;
}

/* Returns when the arm would arrive, if the subrequest were next. */
static uint64_t there_ns(const struct member *member, uint64_t now_ns, const struct sp__subreq *p)
{
	const struct sp__device *d = &member->dev;
	uint64_t start = sp__max(now_ns, member->free_ns);

	return start + d->model->ops->position(d->model, d->state, start, p, UINT64_MAX);
}

/* Returns the subrequest for the drive that is to read it. */
static struct sp__subreq nearest(const struct member *members, unsigned first, unsigned copies,
				 uint64_t now_ns, const struct sp__subreq *of_set)
{
	struct sp__subreq best = to_drive(members, first, now_ns, of_set);

	for (unsigned i = 1; i < copies; i++) {
		const struct member *a = &members[best.lane], *b = &members[first + i];
		unsigned load_a = a->waiting + (a->free_ns > now_ns);
		unsigned load_b = b->waiting + (b->free_ns > now_ns);
		struct sp__subreq p = to_drive(members, first + i, now_ns, of_set);

		if (load_b < load_a ||
		    (load_b == load_a && there_ns(b, now_ns, &p) < there_ns(a, now_ns, &best)))
			best = p;
	}
	return best;
}

static unsigned raid_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			   uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs, unsigned max)
{
	const struct raid *r = m->impl;
	struct member *members = state;
	struct sp__subreq of_sets[SP__DEV_SUBREQS_MAX];
	unsigned copies = write ? r->copies : 1, n = 0;
	unsigned sets = cut(m, write, lbn, blocks, of_sets, max / copies);

	for (unsigned i = 0; i < sets; i++) {
		unsigned first = of_sets[i].lane * r->copies;

		if (write)
			for (unsigned c = 0; c < copies; c++)
				subreqs[n++] = to_drive(members, first + c, now_ns, &of_sets[i]);
		else
			subreqs[n++] = nearest(members, first, r->copies, now_ns, &of_sets[i]);
	}
	for (unsigned i = 0; i < n; i++)
		members[subreqs[i].lane].waiting++;
	return n;
}

static uint64_t raid_position(const struct sp__model *m, void *state, uint64_t now_ns,
			      const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct member *member = (struct member *)state + p->lane;
	const struct sp__device *d = &member->dev;

	(void)m;
	return d->model->ops->position(d->model, d->state, now_ns, p, limit_ns);
}

static void raid_serve(const struct sp__model *m, void *state, uint64_t start_ns,
		       const struct sp__subreq *p, struct sp__service *s)
{
	struct member *member = (struct member *)state + p->lane;
	const struct sp__device *d = &member->dev;

	(void)m;
	d->model->ops->serve(d->model, d->state, start_ns, p, s);
	member->waiting--;
	member->free_ns = s->done_ns;
}

static uint64_t raid_drain(const struct sp__model *m, void *state, uint64_t now_ns)
{
	const struct member *members = state;
	uint64_t end = now_ns;

	for (unsigned i = 0; i < m->drives; i++)
		end = sp__max(end, sp__device_drain(&members[i].dev, now_ns));
	return end;
}

static const struct sp__device_ops raid_ops = {
	.kind = "array",
	.free = raid_free,
	.open = raid_open,
	.close = raid_close,
	.queue = raid_queue,
	.split = raid_split,
	.position = raid_position,
	.serve = raid_serve,
	.drain = raid_drain,
};

static int refuse(struct sp_errinfo *err, const struct sp__model *m, const char *reason)
{
	return sp__errf(err, SP_ESYNTAX, "sim", "", -1, "array: '%.64s' %s", m->name, reason);
}

/* Checks that these drives can be an array. */
static int check(const struct sp__model *m, const struct sp__raid_spec *spec,
		 struct sp_errinfo *err)
{
	if (m->lanes > 1)
		return refuse(err, m, "has channels of its own: it cannot be in an array");
	if (m->blocks > SP__MODEL_BYTES_MAX / m->block_bytes / spec->drives)
		return refuse(err, m, "is too large: the array would have more than 2^62 bytes");
	if (spec->level == SP__RAID_LINEAR)
		return 0;
	if (!spec->stripe_bytes)
		return sp__model_drive(m) ? 0 : refuse(err, m, "has no tracks");
	if (spec->stripe_bytes % m->block_bytes)
		return refuse(err, m, "has blocks that do not divide a stripe");
	if (spec->stripe_bytes / m->block_bytes > m->blocks)
		return refuse(err, m, "is smaller than a stripe");
	return 0;
}

/* Returns the name of the array: the text that specifies it. */
static char *name_of(const struct sp__model *drive, const struct sp__raid_spec *spec)
{
	const char *level = sp_enum_name(levels, spec->level);
	char size[24] = "", *name;

	if (spec->level != SP__RAID_LINEAR && spec->stripe_bytes)
		snprintf(size, sizeof(size), "/%" PRIu64, spec->stripe_bytes);
	else if (spec->level != SP__RAID_LINEAR)
		snprintf(size, sizeof(size), "%s", by_track);
	return asprintf(&name, "%s,array=%s:%u%s", drive->name, level, spec->drives, size) < 0
		       ? NULL
		       : name;
}

/* Makes the model of an array, which owns the drive; NULL: no memory, the caller keeps it. */
static struct sp__model *make(struct sp__model *drive, const struct sp__raid_spec *spec)
{
	struct sp__model *a = malloc(sizeof(*a));
	struct raid *r = calloc(1, sizeof(*r));
	char *name = name_of(drive, spec), *about = strdup(drive->about);
	bool linear = spec->level == SP__RAID_LINEAR;
	unsigned sets;

	if (!a || !r || !name || !about) {
		free(a);
		free(r);
		free(name);
		free(about);
		return NULL;
	}
	r->drive = drive;
	r->copies = spec->level == SP__RAID_10 ? 2 : 1;
	sets = spec->drives / r->copies;
	r->stripe_drives = linear ? 1 : sets;
	r->stripe = linear ? drive->blocks : spec->stripe_bytes / drive->block_bytes;
	*a = *drive;
	a->name = name;
	a->about = about;
	a->ops = &raid_ops;
	a->impl = r;
	if (!r->stripe)
		r->map = sp__model_drive(drive)->map;
	a->blocks = (r->stripe ? drive->blocks / r->stripe * r->stripe : drive->blocks) * sets;
	a->lanes = a->drives = spec->drives;
	a->queues = sets;
	return a;
}

int sp__raid_make(struct sp__model **m, const struct sp__raid_spec *spec, struct sp_errinfo *err)
{
	int rc = check(*m, spec, err);
	struct sp__model *a;

	if (rc)
		return rc;
	a = make(*m, spec);
	if (!a)
		return sp__err(err, -ENOMEM, "malloc", (*m)->name, -1);
	*m = a;
	return 0;
}

const struct sp__model *sp__raid_drive(const struct sp__model *m, unsigned *stripe_drives,
				       bool *tracks)
{
	const struct raid *r = m->ops == &raid_ops ? m->impl : NULL;

	if (!r)
		return NULL;
	*stripe_drives = r->stripe_drives;
	*tracks = !r->stripe;
	return r->drive;
}
