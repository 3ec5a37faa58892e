/* SPDX-License-Identifier: MIT */
/*
 * Names the further volumes of a dataset, writes their headers and checks them.
 *
 * Format of a header: the members below, their checksum, zeros up to SP__VOLUME_HEADER_BYTES.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/coder.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/whole.h"
#include "cells/volumes.h"

struct header {
	char magic[8];
	uint64_t version, id, number, volumes, generation;
};

static void members(struct sp__coder *c, struct header *m, bool generation)
{
	sp__code_bytes(c, m->magic, sizeof(m->magic));
	sp__code_u64(c, &m->version);
	sp__code_u64(c, &m->id);
	sp__code_u64(c, &m->number);
	sp__code_u64(c, &m->volumes);
	if (generation)
		sp__code_u64(c, &m->generation);
}

/* Returns the header that volume i is to have. */
static struct header header_of(const struct sp__volume_set *s, unsigned i)
{
	struct header m = { .version = s->version,
			    .id = s->id,
			    .number = i,
			    .volumes = s->volumes,
			    .generation = s->generation };

	memcpy(m.magic, s->magic, sizeof(m.magic));
	return m;
}

int sp__state_draw(uint64_t *state)
{
	do
		if (getrandom(state, sizeof(*state), 0) != (ssize_t)sizeof(*state))
			return -errno;
	while (*state < 1u << 16 || *state > UINT64_MAX - (1u << 16));
	return 0;
}

char *sp__volume_set_name(const struct sp__volume_set *s, unsigned i)
{
	const char *name = s->names[i], *slash = strrchr(s->path, '/');
	int folder = name && name[0] != '/' && slash ? (int)(slash - s->path) + 1 : 0;
	char *full;
	int n = name ? asprintf(&full, "%.*s%s", folder, s->path, name)
		     : asprintf(&full, "%s.%u", s->path, i);

	return n < 0 ? NULL : full;
}

int sp__volume_set_mark(const struct sp__volume_set *s, unsigned i, int fd, const char *name,
			struct sp_errinfo *err)
{
	_Alignas(4096) uint8_t page[SP__VOLUME_HEADER_BYTES] = { 0 }; /* for direct requests */
	struct sp__coder c = { .data = page, .bytes = sizeof(page) };
	struct header m = header_of(s, i);
	uint64_t sum;
	int rc;

	members(&c, &m, s->has_generation);
	sum = sp__checksum(page, c.at);
	sp__code_u64(&c, &sum);
	rc = sp__write_whole(fd, page, sizeof(page), 0);
	if (!rc && fdatasync(fd))
		rc = -errno;
	return rc ? sp__err(err, rc, "write", name, 0) : 0;
}

/* Refuses a file instead of volume i; the noun follows the reason. */
static int refuse(const struct sp__volume_set *s, unsigned i, const char *name,
		  struct sp_errinfo *err, const char *reason, const char *noun)
{
	return sp__errf(err, SP_EFORMAT, "open", name, -1,
			"%s%s; put volume %u of %s back under this name", reason, noun, i, s->path);
}

/* Refuses a volume of another state than the first one; random numbers have no order. */
static int check_generation(const struct sp__volume_set *s, uint64_t generation, const char *name,
			    struct sp_errinfo *err)
{
	if (generation == s->generation ||
	    (s->marking && generation == sp__volume_before(s->generation, s->marking)))
		return 0;
	return sp__errf(err, SP_EFORMAT, "open", name, -1,
			"has another state of the %s than %s: one of them is an older copy; "
			"restore all volumes together",
			s->noun, s->path);
}

static int check_header(const struct sp__volume_set *s, unsigned i, const uint8_t *page,
			const char *name, struct sp_errinfo *err)
{
	struct sp__coder c = sp__coder_reader(page, SP__VOLUME_HEADER_BYTES);
	struct header right = header_of(s, i), m = right;
	uint64_t sum, right_sum;

	members(&c, &m, s->has_generation);
	right_sum = sp__checksum(page, c.at);
	sp__code_u64(&c, &sum);
	if (memcmp(m.magic, right.magic, sizeof(m.magic)) != 0)
		return refuse(s, i, name, err, "is not a volume of a ", s->noun);
	if (m.version != right.version)
		return refuse(s, i, name, err, "is a volume of another version of Spindle", "");
	if (sum != right_sum)
		return refuse(s, i, name, err, "its header is damaged", "");
	if (m.id != right.id)
		return refuse(s, i, name, err, "is a volume of another ", s->noun);
	if (m.number != right.number || m.volumes != right.volumes)
		return sp__errf(err, SP_EFORMAT, "open", name, -1,
				"is volume %llu of the %s, not volume %u; put each volume back "
				"under its name",
				(unsigned long long)m.number, s->noun, i);
	return check_generation(s, m.generation, name, err);
}

int sp__volume_set_check(const struct sp__volume_set *s, unsigned i, int fd, const char *name,
			 struct sp_errinfo *err)
{
	uint8_t page[SP__VOLUME_HEADER_BYTES] = { 0 };

	if (pread(fd, page, sizeof(page), 0) < 0)
		return sp__err(err, -errno, "read", name, 0);
	return check_header(s, i, page, name, err);
}
