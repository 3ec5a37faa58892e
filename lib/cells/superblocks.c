/* SPDX-License-Identifier: MIT */
/*
 * Writes a superblock to the older of two slots, and finds the newer valid one.
 *
 * If slot 0 is damaged, the size of a slot is unknown.  Slot 1 is then searched at the offset of
 * each possible size, the smallest first.
 *
 * Rejected: one slot and a journal, which needs a second read on opening; a slot that is written in
 * place, since a device writes no more than a sector as a whole.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/whole.h"
#include "cells/superblocks.h"

#define PREFIX SP__SUPERBLOCK_PREFIX
#define LATER_VERSIONS 8
#define SECTOR 512 /* bytes that a device writes as a whole */

/* The bytes before the payload. */
struct prefix {
	char magic[8];
	uint64_t version, sum;
	uint32_t slot_bytes, length;
};

static void code_prefix(struct sp__coder *c, struct prefix *p)
{
	sp__code_bytes(c, p->magic, sizeof(p->magic));
	sp__code_u64(c, &p->version);
	sp__code_u64(c, &p->sum);
	sp__code_u32(c, &p->slot_bytes);
	sp__code_u32(c, &p->length);
}

bool sp__superblocks_set_size(struct sp__superblocks *s, uint64_t bytes)
{
	if (bytes > SP__SUPERBLOCK_MAX)
		return false;
	s->slot_bytes = SP__SUPERBLOCK_UNIT;
	while (s->slot_bytes < bytes)
		s->slot_bytes *= 2;
	return true;
}

void sp__superblock_begin(struct sp__coder *c, const struct sp__superblocks *s)
{
	struct prefix none = { 0 };
	uint64_t number = s->number;

	code_prefix(c, &none);
	sp__code_u64(c, &number);
}

uint8_t *sp__superblock_finish(struct sp__coder *c, const struct sp__superblocks *s,
			       const struct sp__superblock_format *f, uint64_t version,
			       size_t *bytes)
{
	static uint8_t zeros[SP__SUPERBLOCK_UNIT];
	struct prefix p = { .version = version, .slot_bytes = s->slot_bytes };
	size_t end = c->at;

	*bytes = (end + SP__SUPERBLOCK_UNIT - 1) / SP__SUPERBLOCK_UNIT * SP__SUPERBLOCK_UNIT;
	sp__code_bytes(c, zeros, *bytes - end);
	if (c->failed) {
		free(c->data);
		c->data = NULL;
		return NULL;
	}
	memcpy(p.magic, f->magic, sizeof(p.magic));
	p.length = (uint32_t)(end - PREFIX);
	p.sum = sp__checksum(c->data + PREFIX, p.length);
	c->at = 0;
	code_prefix(c, &p);
	return c->data;
}

int sp__superblock_open(struct sp__coder *c, struct sp__superblocks *s,
			const struct sp__superblock_format *f, const uint8_t *data, size_t bytes,
			uint64_t *version, const char **reason)
{
	struct prefix p = { 0 };

	*c = sp__coder_reader(data, bytes);
	code_prefix(c, &p);
	*reason = f->foreign;
	if (c->failed || memcmp(p.magic, f->magic, sizeof(p.magic)) != 0)
		return SP_EFORMAT;
	*reason = f->other_version;
	if (p.version < f->min_version || p.version > f->max_version)
		return SP_EFORMAT;
	*reason = "the superblock is damaged";
	if (p.length > bytes - PREFIX || sp__checksum(data + PREFIX, p.length) != p.sum)
		return SP_ECORRUPT;
	c->bytes = PREFIX + p.length;
	*version = p.version;
	s->slot_bytes = p.slot_bytes;
	sp__code_u64(c, &s->number);
	return 0;
}

/* True if a slot was never written, or its superblock was withdrawn. */
static bool is_empty(int fd, uint64_t at)
{
	static const uint8_t none[PREFIX];
	uint8_t first[PREFIX];

	return pread(fd, first, PREFIX, (off_t)at) == PREFIX && !memcmp(first, none, PREFIX);
}

static int sync_file(int fd)
{
	return fdatasync(fd) ? -errno : 0;
}

/* Makes a slot empty: a superblock that was not written completely must not count. */
static int withdraw(int fd, uint64_t at)
{
	static const uint8_t none[PREFIX];

	return sp__write_whole(fd, none, sizeof(none), at);
}

/* Returns 1 if a slot has the same bytes after its first sector, 0 if not, or -errno. */
static int has_rest(int fd, const uint8_t *data, size_t bytes, uint64_t at)
{
	uint8_t *old = calloc(1, bytes);
	ssize_t n = old ? pread(fd, old, bytes, (off_t)at) : -1;
	int rc = !old	 ? -ENOMEM
		 : n < 0 ? -errno
			 : !memcmp(old + SECTOR, data + SECTOR, bytes - SECTOR);

	free(old);
	return rc;
}

/*
 * Writes a slot, without a sync at the end.  A power failure leaves any of its sectors.  So, if not
 * only the first one differs, the slot is empty until the other ones are on the device.
 */
static int write_slot(int fd, const uint8_t *data, size_t bytes, uint64_t at)
{
	int rc = has_rest(fd, data, bytes, at);

	if (rc < 0)
		return rc;
	if (rc)
		return sp__write_whole(fd, data, bytes, at);
	if (!is_empty(fd, at)) {
		rc = withdraw(fd, at);
		rc = rc ? rc : sync_file(fd);
	}
	if (!rc)
		rc = sp__write_whole(fd, data + SECTOR, bytes - SECTOR, at + SECTOR);
	if (!rc)
		rc = sync_file(fd);
	return rc ? rc : sp__write_whole(fd, data, SECTOR, at);
}

/* Writes the next state; synced: when the last one and its data are on the device, and waits. */
static int write_next(void *state, const struct sp__superblock_format *f, int fd,
		      uint64_t max_bytes, bool synced)
{
	struct sp__superblocks *s = state;
	uint64_t at = ++s->number % 2 * s->slot_bytes;
	size_t bytes = 0;
	uint8_t *data = f->encode(state, &bytes);
	int rc = !data ? -ENOMEM : bytes > max_bytes ? -ENOSPC : synced ? sync_file(fd) : 0;

	if (!rc) {
		rc = write_slot(fd, data, bytes, at);
		if (!rc && synced)
			rc = sync_file(fd);
		if (rc)
			(void)!withdraw(fd, at);
	}
	free(data);
	if (rc)
		s->number--;
	else
		s->alone = false; /* it is written over what was not valid */
	return rc;
}

int sp__superblocks_write(void *state, const struct sp__superblock_format *f, int fd,
			  uint64_t max_bytes, const char *path, struct sp_errinfo *err)
{
	int rc = write_next(state, f, fd, max_bytes, true);

	return rc ? sp__err(err, rc, "write", path, rc == -ENOMEM ? -1 : 0) : 0;
}

void sp__superblocks_repeat(void *state, const struct sp__superblock_format *f, int fd,
			    uint64_t max_bytes)
{
	(void)!write_next(state, f, fd, max_bytes, false);
}

/* The contents of a slot, or the error. */
struct slot {
	uint64_t number;
	uint32_t slot_bytes; /* 0: unknown */
	uint8_t seen[PREFIX];
	int rc;
	const char *reason;
	bool later; /* intact, but of a later version of Spindle */
};

struct reading {
	int fd;
	const struct sp__superblock_format *format;
	uint8_t *states; /* states of both slots */
};

/*
 * True if a superblock that is refused is intact: its features are unknown, or its version is
 * later.  The checksum does not cover the version, so a version far beyond is taken for damage.
 */
static bool is_later(const struct reading *r, const struct slot *s, const uint8_t *data, size_t n)
{
	struct sp__coder c = sp__coder_reader(data, n);
	struct prefix p = { 0 };

	code_prefix(&c, &p);
	return s->rc == SP_EFORMAT && p.version >= r->format->min_version &&
	       p.version <= r->format->max_version + LATER_VERSIONS && n - PREFIX >= p.length &&
	       sp__checksum(data + PREFIX, p.length) == p.sum;
}

/* Reads and decodes the payload, whose prefix is known. */
static int read_payload(const struct reading *r, struct slot *s, unsigned i, uint64_t at,
			size_t bytes)
{
	uint8_t *data = malloc(bytes);
	ssize_t n = data ? pread(r->fd, data, bytes, (off_t)at) : 0;
	struct sp__coder c;

	s->rc = !data ? -ENOMEM : n < 0 ? -errno : 0;
	if (!s->rc)
		s->rc = r->format->decode(r->states + i * r->format->state_bytes, data, (size_t)n,
					  &s->reason);
	s->later = n >= PREFIX && is_later(r, s, data, (size_t)n);
	if (!s->rc) {
		c = sp__coder_reader(data + PREFIX, (size_t)n - PREFIX);
		sp__code_u64(&c, &s->number);
	}
	free(data);
	return s->rc;
}

/* Reads slot i at this offset; s->seen has zeros where the file ends. */
static int read_slot(const struct reading *r, struct slot *s, unsigned i, uint64_t at)
{
	struct prefix p = { 0 };
	struct sp__coder c;
	ssize_t n;

	*s = (struct slot){ .reason = r->format->foreign };
	n = pread(r->fd, s->seen, PREFIX, (off_t)at);
	c = sp__coder_reader(s->seen, PREFIX);
	code_prefix(&c, &p);
	if (n < PREFIX || memcmp(p.magic, r->format->magic, sizeof(p.magic)) != 0)
		return s->rc = n < 0 ? -errno : SP_EFORMAT;
	s->reason = "the superblock is damaged";
	if (p.slot_bytes > SP__SUPERBLOCK_MAX || p.slot_bytes < SP__SUPERBLOCK_UNIT ||
	    p.slot_bytes & (p.slot_bytes - 1) || p.length > p.slot_bytes - PREFIX)
		return s->rc = SP_ECORRUPT;
	s->slot_bytes = p.slot_bytes;
	return read_payload(r, s, i, at, (size_t)p.length + PREFIX);
}

static bool is_errno(int rc)
{
	return rc < 0 && rc > -4096;
}

/* Returns the slot that counts, 0 or 1, and fills in s; or an error, with *reason. */
static int choose(const struct reading *r, struct sp__superblocks *s, const char **reason)
{
	struct slot slot[2];
	int rc = read_slot(r, &slot[0], 0, 0), other;
	uint64_t at = slot[0].slot_bytes ? slot[0].slot_bytes : SP__SUPERBLOCK_UNIT;
	unsigned chosen;

	while ((other = read_slot(r, &slot[1], 1, at)) && rc && !is_errno(other) &&
	       at < SP__SUPERBLOCK_MAX)
		at *= 2;
	/* A superblock whose slot size contradicts its offset does not count. */
	if (!other && (!slot[1].number || slot[1].slot_bytes != at))
		other = SP_ECORRUPT;
	*reason = slot[!slot[0].later && slot[1].later].reason;
	/* It is unknown whether the other state is older than that of a later version. */
	if (slot[0].later || slot[1].later)
		return SP_EFORMAT;
	/* If one slot cannot be read, the newer one is unknown. */
	if (is_errno(other) || is_errno(rc))
		return is_errno(rc) ? rc : other;
	if (rc && other)
		return rc;
	chosen = !other && (rc || slot[1].number > slot[0].number);
	*s = (struct sp__superblocks){ .number = slot[chosen].number,
				       .slot_bytes = slot[chosen].slot_bytes,
				       .seen_at = at };
	s->alone = (rc && !is_empty(r->fd, 0)) || (other && !is_empty(r->fd, at));
	for (unsigned i = 0; i < 2; i++)
		memcpy(s->seen[i], slot[i].seen, PREFIX);
	return (int)chosen;
}

int sp__superblocks_read(void *state, const struct sp__superblock_format *f, int fd,
			 const char *path, struct sp_errinfo *err)
{
	const struct reading r = { fd, f, calloc(2, f->state_bytes) };
	struct sp__superblocks slots = { 0 };
	const char *reason = "";
	int rc = r.states ? choose(&r, &slots, &reason) : -ENOMEM;

	memset(state, 0, f->state_bytes);
	if (rc >= 0) {
		uint8_t *chosen = r.states + (unsigned)rc * f->state_bytes;

		memcpy(state, chosen, f->state_bytes);
		memset(chosen, 0, f->state_bytes);
		*(struct sp__superblocks *)state = slots;
	}
	for (unsigned i = 0; r.states && i < 2; i++)
		f->release(r.states + i * f->state_bytes);
	free(r.states);
	return rc < 0 ? sp__errf(err, rc, "open", path, -1, "%s", is_errno(rc) ? "" : reason) : 0;
}

bool sp__superblocks_current(const struct sp__superblocks *s, int fd)
{
	uint8_t now[2][PREFIX] = { 0 };

	return pread(fd, now[0], PREFIX, 0) >= 0 &&
	       pread(fd, now[1], PREFIX, (off_t)s->seen_at) >= 0 &&
	       !memcmp(now, s->seen, sizeof(now));
}
