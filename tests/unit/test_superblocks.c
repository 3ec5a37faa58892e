/* SPDX-License-Identifier: MIT */
/*
 * A format of a number and a text, as an author of a new one would write it: its superblock is
 * replaced whole or not at all, wherever writing stops, and found again if a slot is lost.  And the
 * coder: each kind of member, cut and changed.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/hash.h"
#include "cells/superblocks.h"
#include "tap.h"

struct state {
	struct sp__superblocks slots;
	uint64_t value;
	char *text;
};

static uint8_t *encode(const void *state, size_t *bytes);
static int decode(void *state, const uint8_t *data, size_t bytes, const char **reason);

static void release(void *state)
{
	free(((struct state *)state)->text);
}

static const struct sp__superblock_format format = {
	.magic = "SPTEST\r\n",
	.min_version = 1,
	.max_version = 2,
	.foreign = "is not a test",
	.other_version = "is of another version",
	.state_bytes = sizeof(struct state),
	.encode = encode,
	.decode = decode,
	.release = release,
};

static void members(struct sp__coder *c, struct state *s)
{
	sp__code_u64(c, &s->value);
	sp__code_text(c, &s->text);
	c->failed |= c->reading && s->value == 666;
}

static uint8_t *encode(const void *state, size_t *bytes)
{
	struct state own = *(const struct state *)state;
	struct sp__coder c = { 0 };

	sp__superblock_begin(&c, &own.slots);
	members(&c, &own);
	return sp__superblock_finish(&c, &own.slots, &format, 1, bytes);
}

static int decode(void *state, const uint8_t *data, size_t bytes, const char **reason)
{
	struct state *s = state;
	uint64_t version;
	struct sp__coder c;
	int rc;

	*s = (struct state){ 0 };
	rc = sp__superblock_open(&c, &s->slots, &format, data, bytes, &version, reason);
	if (rc)
		return rc;
	members(&c, s);
	rc = sp__coder_end(&c);
	if (!rc && s->value == 777) {
		*reason = "has features";
		rc = SP_EFORMAT;
	}
	if (rc) {
		free(s->text);
		s->text = NULL;
	}
	return rc;
}

/* Returns the value that counts; or an error, with *reason. */
static long long value_of(int fd, struct sp__superblocks *slots, const char **reason)
{
	static struct sp_errinfo err;
	struct state s;
	int rc;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp__superblocks_read(&s, &format, fd, "test", &err);
	*reason = err.text;
	*slots = s.slots;
	free(s.text);
	return rc ? rc : (long long)s.value;
}

static bool write_value(int fd, struct state *s, uint64_t value)
{
	s->value = value;
	return !sp__superblocks_write(s, &format, fd, s->slots.slot_bytes, "test", NULL);
}

static char text[] = "a text";

static void check_turns(int fd, struct state *s)
{
	struct sp__superblocks found;
	const char *reason;

	ok(sp__superblocks_set_size(&s->slots, 4097) && s->slots.slot_bytes == 8192 &&
		   !sp__superblocks_set_size(&s->slots, SP__SUPERBLOCK_MAX + UINT64_C(1)) &&
		   sp__superblocks_set_size(&s->slots, 1) && s->slots.slot_bytes == 4096,
	   "a slot has a power of two of bytes, at most 64 MiB");
	ok(value_of(fd, &found, &reason) == SP_EFORMAT && !strcmp(reason, format.foreign),
	   "an empty file is foreign");
	ok(write_value(fd, s, 10) && value_of(fd, &found, &reason) == 10 && found.number == 1 &&
		   !found.alone,
	   "a first state is read; the other slot is empty");
	ok(write_value(fd, s, 20) && value_of(fd, &found, &reason) == 20 && found.number == 2 &&
		   found.slot_bytes == 4096 && !found.alone,
	   "a second one counts more");
	ok(sp__superblocks_current(&found, fd), "nothing has changed since");
	ok(write_value(fd, s, 30) && !sp__superblocks_current(&found, fd),
	   "another state is not the one that was read");
	ok(sp__superblocks_write(s, &format, fd, 100, "test", NULL) == -ENOSPC &&
		   s->slots.number == 3 && value_of(fd, &found, &reason) == 30,
	   "one that is too large is refused, and the old one counts");
}

/* Stops the writing of the next state after each number of bytes. */
static void check_killed(int fd, struct state *s)
{
	uint8_t before[8192], after[8192];
	struct sp__superblocks found;
	unsigned old = 0, new = 0;
	const char *reason;
	bool alone = false;

	if (pread(fd, before, sizeof(before), 0) != sizeof(before) || !write_value(fd, s, 40) ||
	    pread(fd, after, sizeof(after), 0) != sizeof(after))
		abort();
	for (unsigned done = 0; done <= 100; done++) {
		if (pwrite(fd, before, sizeof(before), 0) != sizeof(before) ||
		    pwrite(fd, after, done, 0) != done)
			abort();
		old += value_of(fd, &found, &reason) == 30;
		alone |= found.alone;
		new += value_of(fd, &found, &reason) == 40;
	}
	ok(old + new == 101 && old > 32 && new > 0,
	   "killed at any byte: the old state %u times, the new one %u times", old, new);
	ok(alone, "a torn slot is noticed");
	ok(pwrite(fd, after, sizeof(after), 0) == sizeof(after) && write_value(fd, s, 50) &&
		   value_of(fd, &found, &reason) == 50 && !found.alone,
	   "the next state takes the place of the older one");
}

static bool flip(int fd, off_t at)
{
	uint8_t byte;
	bool done = pread(fd, &byte, 1, at) == 1;

	byte ^= 1;
	return done && pwrite(fd, &byte, 1, at) == 1;
}

static void check_damage(int fd, struct state *s)
{
	struct sp__superblocks found;
	const char *reason;

	ok(flip(fd, 0) && value_of(fd, &found, &reason) == 50 && found.alone,
	   "without slot 0 slot 1 is found");
	ok(flip(fd, 4096 + 33) && value_of(fd, &found, &reason) == SP_EFORMAT &&
		   !strcmp(reason, format.foreign),
	   "without both the error is that of slot 0: foreign");
	ok(flip(fd, 0) && flip(fd, 40) && value_of(fd, &found, &reason) == SP_ECORRUPT &&
		   !strcmp(reason, "the superblock is damaged"),
	   "or damaged");
	ok(flip(fd, 40) && flip(fd, 8) && value_of(fd, &found, &reason) == SP_EFORMAT &&
		   !strcmp(reason, format.other_version),
	   "or of another version");
	ok(flip(fd, 8) && value_of(fd, &found, &reason) == 40, "slot 0 alone counts");
	ok(write_value(fd, s, 666) && value_of(fd, &found, &reason) == SP_ECORRUPT,
	   "members that contradict each other are an error, with the right checksum, too");
}

/* The newer slot is intact, but a later version of Spindle wrote it. */
static void check_later(int fd, struct state *s)
{
	struct sp__superblocks found;
	const char *reason = "";
	uint8_t old, version = 3;
	off_t at;

	if (!write_value(fd, s, 60) || !write_value(fd, s, 70))
		abort();
	at = s->slots.number % 2 * 4096 + 8;
	ok(pread(fd, &old, 1, at) == 1 && pwrite(fd, &version, 1, at) == 1 &&
		   value_of(fd, &found, &reason) == SP_EFORMAT &&
		   !strcmp(reason, format.other_version),
	   "the state before that of a later version is not used: %s", reason);
	ok(flip(fd, at + 33) && value_of(fd, &found, &reason) == 60 && found.alone &&
		   flip(fd, at + 33),
	   "unless that is damaged");
	version = 250;
	ok(pwrite(fd, &version, 1, at) == 1 && value_of(fd, &found, &reason) == 60 && found.alone,
	   "a version far beyond is damage");
	ok(pwrite(fd, &old, 1, at) == 1 && write_value(fd, s, 777) &&
		   value_of(fd, &found, &reason) == SP_EFORMAT && !strcmp(reason, "has features"),
	   "so is one with unknown features: %s", reason);
}

/* Slots of 16 KiB, and the first one lost. */
static void check_large(void)
{
	int fd = memfd_create("large", MFD_CLOEXEC);
	struct state s = { .text = text };
	struct sp__superblocks found;
	const char *reason = "";

	ok(fd >= 0 && sp__superblocks_set_size(&s.slots, 16384) && write_value(fd, &s, 1) &&
		   write_value(fd, &s, 2) && flip(fd, 1) && value_of(fd, &found, &reason) == 1 &&
		   found.slot_bytes == 16384,
	   "slot 1 is found behind a larger slot 0 that is lost");
	s.slots = found;
	ok(found.alone && write_value(fd, &s, 3) && !s.slots.alone &&
		   value_of(fd, &found, &reason) == 3 && !found.alone,
	   "the next state takes its place, so both are valid");
	close(fd);
}

struct all {
	uint64_t wide, *list;
	uint32_t narrow, small;
	bool flag;
	char *name, *none;
	size_t n;
};

static void all_members(struct sp__coder *c, struct all *a)
{
	sp__code_u64(c, &a->wide);
	sp__code_u32(c, &a->narrow);
	sp__code_max(c, &a->small, 7);
	sp__code_flag(c, &a->flag);
	sp__code_text(c, &a->name);
	sp__code_text(c, &a->none);
	sp__code_length(c, &a->n, &a->list, sizeof(*a->list), 8);
	for (size_t i = 0; !c->failed && i < a->n; i++)
		sp__code_u64(c, &a->list[i]);
}

/* Reads all members, and compares them with these, unless NULL. */
static int read_all(const uint8_t *data, size_t bytes, const struct all *with)
{
	struct sp__coder c = sp__coder_reader(data, bytes);
	struct all a = { 0 };
	int rc;

	all_members(&c, &a);
	rc = sp__coder_end(&c);
	if (!rc && with &&
	    (a.wide != with->wide || a.narrow != with->narrow || a.small != with->small ||
	     a.flag != with->flag || strcmp(a.name, with->name) != 0 || a.none || a.n != with->n ||
	     memcmp(a.list, with->list, a.n * sizeof(*a.list)) != 0))
		rc = 1;
	free(a.name);
	free(a.none);
	free(a.list);
	return rc;
}

static void check_coder(void)
{
	uint64_t list[] = { 1, UINT64_MAX };
	struct all a = { 0x0102030405060708, list, 0x01020304, 7, true, text, NULL, 2 };
	const size_t bytes = 8 + 4 + 8 + 8 + (8 + 7) + 8 + (8 + 16);
	/* Offsets of the number, the flag, a length, the end of a text, and two more lengths. */
	const size_t wrong[] = { 12, 20, 28, 42, 43, 51 };
	struct sp__coder c = { 0 };
	size_t cut = 0, refused = 0;

	all_members(&c, &a);
	ok(!sp__coder_end(&c) && c.at == bytes && c.data[0] == 8 && c.data[8] == 4,
	   "members are written little-endian, without padding");
	ok(read_all(c.data, bytes, &a) == 0, "and read back");
	while (cut < bytes && read_all(c.data, cut, NULL) == SP_ECORRUPT)
		cut++;
	ok(cut == bytes, "cut at any byte they are refused (%zu)", cut);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint8_t old = c.data[wrong[i]];

		c.data[wrong[i]] = 0xff;
		refused += read_all(c.data, bytes, NULL) == SP_ECORRUPT;
		c.data[wrong[i]] = old;
	}
	ok(refused == 6, "numbers, lengths and texts that cannot be are refused (%zu)", refused);
	a.small = 8;
	c.at = 0;
	all_members(&c, &a);
	ok(sp__coder_end(&c) == SP_ECORRUPT, "a number above its maximum is not written");
	free(c.data);
}

int main(void)
{
	struct state s = { .text = text };
	int fd = memfd_create("superblocks", MFD_CLOEXEC);

	if (fd < 0)
		return 2;
	check_turns(fd, &s);
	check_killed(fd, &s);
	check_damage(fd, &s);
	check_later(fd, &s);
	close(fd);
	check_large();
	check_coder();
	return done();
}
