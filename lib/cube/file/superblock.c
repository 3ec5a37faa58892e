/* SPDX-License-Identifier: MIT */
/*
 * The head as bytes: little-endian numbers one after the other, no padding.  One function
 * names the members in their order; a coder with a direction writes or reads each.  What is
 * read is checked as it comes: lengths before memory is taken for them, words against their
 * ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "cube/file/superblock.h"

#define MAGIC "SPCUBE\r\n"
#define ROOM_UNIT 4096
/* Before the members: magic, version, checksum of what follows, room, its length. */
#define PREFIX SP__CUBE_PREFIX

struct coder {
	bool reading, failed, no_memory;
	bool rounds;	     /* zones have rounds */
	bool log;	     /* of puts */
	const uint8_t *from; /* when reading */
	uint8_t *data;	     /* when writing */
	size_t at, bytes;    /* bytes: room when writing, contents when reading */
};

static bool make_room(struct coder *c, size_t bytes)
{
	size_t room = 2 * (c->bytes + bytes) + ROOM_UNIT;

	if (bytes <= c->bytes - c->at)
		return true;
	if (!SP__ARRAY_RESIZE(c->data, room))
		return false;
	c->bytes = room;
	return true;
}

static void raw(struct coder *c, void *value, size_t bytes)
{
	if (c->failed)
		return;
	c->failed = c->reading ? bytes > c->bytes - c->at : !make_room(c, bytes);
	if (c->failed)
		return;
	if (c->reading)
		memcpy(value, c->from + c->at, bytes);
	else
		memcpy(c->data + c->at, value, bytes);
	c->at += bytes;
}

static void number(struct coder *c, uint64_t *v)
{
	uint8_t le[8];

	for (unsigned i = 0; i < 8; i++)
		le[i] = (uint8_t)(*v >> 8 * i);
	raw(c, le, 8);
	if (c->reading && !c->failed) {
		*v = 0;
		for (unsigned i = 8; i-- > 0;)
			*v = *v << 8 | le[i];
	}
}

/* A number that is at most max. */
static void small(struct coder *c, uint32_t *v, uint32_t max)
{
	uint64_t wide = *v;

	number(c, &wide);
	c->failed |= wide > max;
	if (c->reading && !c->failed)
		*v = (uint32_t)wide;
}

static void flag(struct coder *c, bool *v)
{
	uint32_t word = *v;

	small(c, &word, 1);
	*v = word;
}

/* Memory was refused, or was not. */
static void lack(struct coder *c, bool refused)
{
	c->no_memory |= refused;
	c->failed |= refused;
}

/* The length of an array whose members take at least so many bytes; allocates it. */
static void length(struct coder *c, size_t *n, void *array, size_t element, size_t least)
{
	uint64_t wide = *n;

	number(c, &wide);
	if (!c->reading || c->failed)
		return;
	c->failed = wide > (c->bytes - c->at) / least;
	if (c->failed)
		return;
	*n = (size_t)wide;
	*(void **)array = calloc(wide ? wide : 1, element);
	lack(c, !*(void **)array);
	if (c->failed)
		*n = 0;
}

/* NULL is written as a length of 0, text with its final 0. */
static void text(struct coder *c, char **s)
{
	size_t n = *s ? strlen(*s) + 1 : 0;

	length(c, &n, s, 1, 1);
	if (c->failed)
		return;
	if (n)
		raw(c, *s, n);
	if (c->reading && n && memchr(*s, '\0', n) != *s + n - 1)
		c->failed = true;
	if (c->reading && !n) {
		free(*s);
		*s = NULL;
	}
}

static void zone(struct coder *c, struct sp__cubezone *z)
{
	size_t n = z->npattern;

	number(c, &z->first_block);
	number(c, &z->tracks);
	small(c, &z->track_blocks, UINT32_MAX / 2);
	small(c, &z->least_blocks, z->track_blocks);
	small(c, &z->need_blocks, UINT32_MAX / 2);
	small(c, &z->aim_blocks, UINT32_MAX / 2);
	small(c, &z->skew_den, UINT32_MAX);
	number(c, &z->pattern_blocks);
	number(c, &z->pattern_skew);
	length(c, &n, &z->pattern, sizeof(*z->pattern), 16);
	z->npattern = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		number(c, &z->pattern[i].blocks);
		number(c, &z->pattern[i].skew);
	}
	c->failed |= !z->least_blocks || !z->skew_den || !z->npattern || !z->pattern_blocks;
	if (!c->rounds)
		return;
	number(c, &z->round);
	number(c, &z->turned);
	small(c, &z->turn_blocks, UINT32_MAX / 2);
}

static void fragment(struct coder *c, unsigned n, struct sp__fragment *p)
{
	number(c, &p->table_block);
	number(c, &p->mapping.first_block);
	small(c, &p->dim, n - 1);
	number(c, &p->first);
	for (unsigned i = 0; i < n; i++) {
		number(c, &p->placed[i]);
		number(c, &p->mapping.basic.k[i]);
	}
}

static void fragments(struct coder *c, struct sp__cube_superblock *h)
{
	uint32_t n = (uint32_t)h->fragments.n;

	small(c, &n, SP__FRAGMENTS_MAX);
	for (uint32_t i = 0; !c->failed && i < n; i++) {
		if (c->reading)
			lack(c, !sp__fragments_add(&h->fragments));
		if (!c->failed)
			fragment(c, h->shape.ndims, h->fragments.list[i]);
	}
}

/* How many there are, and the names of all but the first. */
static void volumes(struct coder *c, struct sp__cube_superblock *h)
{
	struct sp__basicgrid *b = &h->mapping.basic;
	uint32_t method = b->method;

	small(c, &b->volumes, SP_CUBE_VOLUMES_MAX);
	small(c, &method, SP_CUBE_ROUND_ROBIN);
	b->method = (enum sp_cube_decluster)method;
	c->failed |= !b->volumes;
	number(c, &b->volume_blocks);
	number(c, &h->id);
	for (unsigned i = 1; !c->failed && i < b->volumes; i++)
		text(c, &h->volumes[i]);
}

static void pointset(struct coder *c, struct sp__cube_pointset *p)
{
	small(c, &p->fill, 1000);
	small(c, &p->overflow, UINT32_MAX);
	number(c, &p->count);
	number(c, &p->cells);
	number(c, &p->directory_block);
	number(c, &p->nregions);
	number(c, &p->nleaves);
	number(c, &p->regions_sum);
	number(c, &p->leaves_sum);
	number(c, &p->outside_block);
	number(c, &p->leaf_block);
	number(c, &p->overflow_block);
	number(c, &p->overflow_cells);
	number(c, &p->full);
	flag(c, &p->outside);
}

static void members(struct coder *c, struct sp__cube_superblock *h)
{
	struct sp__multimap *mm = &h->mapping.multimap;
	uint32_t kind = h->mapping.kind, type = h->shape.type;
	uint32_t state = h->complete ? 1 : h->loading;

	number(c, &h->number);
	flag(c, &h->no_data);
	small(c, &state, SP__LOADING_SUMS);
	h->complete = state == 1;
	h->loading = state == 1 ? SP__LOADING_NONE : (enum sp__cube_loading)state;
	small(c, &h->shape.ndims, SP_CUBE_DIMS_MAX);
	c->failed |= !h->shape.ndims;
	small(c, &type, SP_CUBE_F64);
	small(c, &h->shape.element_bytes, SP_CUBE_ELEMENT_MAX);
	small(c, &h->block_bytes, SP__BLOCK_MAX);
	small(c, &h->cell_blocks, SP__CELL_MAX / SP__BLOCK_MIN);
	small(c, &h->extent_cells, UINT32_MAX);
	number(c, &h->loaded);
	small(c, &kind, SP_CUBE_GRAY);
	number(c, &mm->reach);
	h->shape.type = (enum sp_cube_type)type;
	h->mapping.kind = (enum sp_cube_mapping)kind;
	volumes(c, h);
	h->mapping.cell_blocks = h->cell_blocks;
	for (unsigned i = 0; !c->failed && i < h->shape.ndims; i++) {
		number(c, &h->shape.dims[i]);
		small(c, &h->shape.tile[i], UINT32_MAX);
		small(c, &h->mapping.order[i], h->shape.ndims - 1);
		small(c, &h->load_order[i], h->shape.ndims - 1);
		c->failed |= !h->shape.dims[i] || !h->shape.tile[i];
	}
	length(c, &mm->nzones, &mm->zones, sizeof(*mm->zones), 64);
	for (size_t i = 0; !c->failed && i < mm->nzones; i++)
		zone(c, &mm->zones[i]);
	for (unsigned i = 0; mm->nzones && i < SP__CUBE_HOPS; i++)
		small(c, &mm->hops[i], UINT32_MAX);
	for (unsigned i = 0; c->rounds && i < SP__CUBE_HOPS; i++)
		small(c, &mm->within[i], UINT32_MAX);
	fragments(c, h);
	if (c->reading && !c->failed) {
		h->fill = calloc(1, h->shape.element_bytes + 1);
		lack(c, !h->fill);
	}
	c->failed |= !h->fill;
	raw(c, h->fill, h->shape.element_bytes);
	text(c, &h->volume);
	text(c, &h->device);
	length(c, &h->nattributes, &h->attributes, sizeof(*h->attributes), 16);
	for (size_t i = 0; !c->failed && i < h->nattributes; i++) {
		text(c, &h->attributes[i].key);
		text(c, &h->attributes[i].value);
		c->failed |= !h->attributes[i].key || !h->attributes[i].value;
	}
	flag(c, &h->points);
	if (h->points)
		pointset(c, &h->pointset);
	if (!c->log)
		return;
	number(c, &h->log_offset);
	number(c, &h->log_bytes);
	number(c, &h->generation);
	flag(c, &h->marking);
}

void sp__cube_superblock_free(struct sp__cube_superblock *h)
{
	for (size_t i = 0; h->attributes && i < h->nattributes; i++) {
		free(h->attributes[i].key);
		free(h->attributes[i].value);
	}
	free(h->attributes);
	for (unsigned i = 0; i < SP_CUBE_VOLUMES_MAX; i++)
		free(h->volumes[i]);
	free(h->fill);
	free(h->volume);
	free(h->device);
	sp__fragments_free(&h->fragments);
	sp__multimap_free(&h->mapping.multimap);
	*h = (struct sp__cube_superblock){ 0 };
}

static void prefix(struct coder *c, uint64_t *version, uint64_t *sum, uint32_t *room,
		   uint32_t *bytes)
{
	char magic[9] = MAGIC;

	raw(c, magic, 8);
	c->failed |= memcmp(magic, MAGIC, 8) != 0;
	number(c, version);
	number(c, sum);
	raw(c, room, 4);
	raw(c, bytes, 4);
}

uint8_t *sp__cube_superblock_encode(const struct sp__cube_superblock *h, size_t *bytes)
{
	struct sp__cube_superblock own = *h; /* members() takes one to write to as well */
	struct coder c = { 0 };
	uint64_t version = SP__CUBE_VERSION, sum = 0;
	uint32_t room = h->room_bytes, length = 0;

	c.rounds = sp__multimap_rounds(&h->mapping.multimap);
	c.log = h->log_bytes > 0;
	if (c.rounds)
		version = SP__CUBE_VERSION_ROUNDS;
	if (c.log)
		version += SP__CUBE_VERSION_LOG;
	prefix(&c, &version, &sum, &room, &length);
	members(&c, &own);
	if (c.failed) {
		free(c.data);
		return NULL;
	}
	length = (uint32_t)(c.at - PREFIX);
	sum = sp__checksum(c.data + PREFIX, length);
	*bytes = (c.at + ROOM_UNIT - 1) / ROOM_UNIT * ROOM_UNIT;
	c.at = 0;
	prefix(&c, &version, &sum, &room, &length);
	c.at = PREFIX + length;
	while (!c.failed && c.at < *bytes)
		raw(&c, (uint8_t[]){ 0 }, 1);
	if (!c.failed)
		return c.data;
	free(c.data);
	return NULL;
}

int sp__cube_superblock_decode(struct sp__cube_superblock *h, const uint8_t *data, size_t bytes,
			       const char **why)
{
	struct coder c = { .reading = true, .from = data, .bytes = bytes };
	uint64_t version = 0, sum = 0;
	uint32_t length = 0;

	*h = (struct sp__cube_superblock){ 0 };
	*why = "is not a cube";
	prefix(&c, &version, &sum, &h->room_bytes, &length);
	if (c.failed)
		return SP_EFORMAT;
	*why = "is a cube of another version of Spindle";
	if (version < SP__CUBE_VERSION || version > SP__CUBE_VERSION_ROUNDS + SP__CUBE_VERSION_LOG)
		return SP_EFORMAT;
	c.log = version >= SP__CUBE_VERSION + SP__CUBE_VERSION_LOG;
	c.rounds = version - (c.log ? SP__CUBE_VERSION_LOG : 0) == SP__CUBE_VERSION_ROUNDS;
	*why = "the superblock is damaged";
	if (length > bytes - PREFIX || sp__checksum(data + PREFIX, length) != sum)
		return SP_ECORRUPT;
	c.bytes = PREFIX + length;
	members(&c, h);
	c.failed |= c.rounds != sp__multimap_rounds(&h->mapping.multimap);
	c.failed |= c.log != (h->log_bytes > 0);
	if (!c.failed && c.at == c.bytes && sp__cube_superblock_possible(h))
		return 0;
	sp__cube_superblock_free(h);
	return c.no_memory ? -ENOMEM : SP_ECORRUPT;
}

/* Bytes that a head may have: the log may be at the end of the second place. */
static uint64_t place_bytes(const struct sp__cube_superblock *h)
{
	return h->log_bytes ? sp__min(h->room_bytes, h->log_offset - h->room_bytes) : h->room_bytes;
}

int sp__cube_superblock_write(struct sp__cube_superblock *h, int fd, const char *path,
			      struct sp_errinfo *err)
{
	static const uint8_t none[PREFIX];
	size_t bytes;
	uint8_t *data;
	uint64_t at;
	int rc;

	h->number++;
	at = h->number % 2 * h->room_bytes;
	data = sp__cube_superblock_encode(h, &bytes);
	if (!data) {
		h->number--;
		return sp__err(err, -ENOMEM, "write", path, -1);
	}
	/* Data that the new state speaks of comes first. */
	rc = bytes > place_bytes(h) ? -ENOSPC : fdatasync(fd) ? -errno : 0;
	if (!rc)
		rc = sp__write_whole(fd, data, bytes, at);
	if (!rc && fdatasync(fd)) {
		rc = -errno;
		/* What failed shall not count. */
		(void)!sp__write_whole(fd, none, sizeof(none), at);
	}
	free(data);
	if (!rc)
		return 0;
	h->number--; /* the other place stays as it is */
	return sp__err(err, rc, "write", path, 0);
}

/* The head at one of the two places, and how it begins: zeroes where the file ends. */
static int read_place(struct sp__cube_superblock *h, int fd, uint64_t at, uint8_t *first,
		      const char **why)
{
	uint32_t room, length;
	uint8_t *data;
	ssize_t n;
	int rc;

	*why = "is not a cube";
	*h = (struct sp__cube_superblock){ 0 };
	memset(first, 0, PREFIX);
	n = pread(fd, first, PREFIX, (off_t)at);
	if (n < PREFIX || memcmp(first, MAGIC, 8) != 0)
		return n < 0 ? -errno : SP_EFORMAT;
	memcpy(&room, first + 24, 4);
	memcpy(&length, first + 28, 4);
	*why = "the superblock is damaged";
	if (room > SP__CUBE_ROOM_MAX || room < ROOM_UNIT || room & (room - 1) ||
	    length > room - PREFIX)
		return SP_ECORRUPT;
	data = malloc((size_t)length + PREFIX);
	if (!data)
		return -ENOMEM;
	n = pread(fd, data, (size_t)length + PREFIX, (off_t)at);
	rc = n < 0 ? -errno : sp__cube_superblock_decode(h, data, (size_t)n, why);
	h->room_bytes = room;
	free(data);
	return rc;
}

/* A place that was never written, or whose head was withdrawn as its writing failed. */
static bool is_empty(int fd, uint64_t at)
{
	static const uint8_t none[PREFIX];
	uint8_t first[PREFIX];

	return pread(fd, first, PREFIX, (off_t)at) == PREFIX && !memcmp(first, none, PREFIX);
}

static bool is_errno(int rc)
{
	return rc < 0 && rc > -4096;
}

/* Takes the newer of two heads, of which those count whose code is 0. */
static int choose_head(struct sp__cube_superblock *h, int rc, struct sp__cube_superblock *other,
		       int other_rc)
{
	bool second = !other_rc && (rc || other->number > h->number);

	sp__cube_superblock_free(second ? h : other);
	if (second)
		*h = *other;
	return second ? 0 : rc;
}

int sp__cube_superblock_read(struct sp__cube_superblock *h, int fd, const char *path,
			     struct sp_errinfo *err)
{
	uint8_t seen[2][PREFIX];
	struct sp__cube_superblock other;
	const char *why, *ignored;
	int rc = read_place(h, fd, 0, seen[0], &why), other_rc;
	/* Without a first head the second lies where the smallest room would put it, or further. */
	uint64_t room = h->room_bytes ? h->room_bytes : ROOM_UNIT;
	bool alone;

	while ((other_rc = read_place(&other, fd, room, seen[1], &ignored)) && rc &&
	       !is_errno(other_rc) && room < SP__CUBE_ROOM_MAX)
		room *= 2;
	if (!other_rc && (!other.number || other.room_bytes != room)) {
		sp__cube_superblock_free(&other);
		other_rc = SP_ECORRUPT;
	}
	alone = (rc && !is_empty(fd, 0)) || (other_rc && !is_empty(fd, room));
	/* Which one is the newer is not known if one cannot be read. */
	if (is_errno(other_rc) || is_errno(rc)) {
		sp__cube_superblock_free(h);
		sp__cube_superblock_free(&other);
		rc = is_errno(rc) ? rc : other_rc;
	} else {
		rc = choose_head(h, rc, &other, other_rc);
		h->alone = alone;
		h->seen_room = room;
		memcpy(h->seen, seen, sizeof(seen));
	}
	if (rc)
		return sp__errf(err, rc, "open", path, -1, "%s", is_errno(rc) ? "" : why);
	rc = sp__cube_superblock_settle(h);
	if (rc) {
		sp__cube_superblock_free(h);
		return sp__errf(err, SP_ECORRUPT, "open", path, -1, "the superblock is damaged");
	}
	return 0;
}

bool sp__cube_superblock_current(const struct sp__cube_superblock *h, int fd)
{
	uint8_t now[2][PREFIX] = { 0 };

	return pread(fd, now[0], PREFIX, 0) >= 0 &&
	       pread(fd, now[1], PREFIX, (off_t)h->seen_room) >= 0 &&
	       !memcmp(now, h->seen, sizeof(now));
}
