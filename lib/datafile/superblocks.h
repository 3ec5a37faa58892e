/* SPDX-License-Identifier: MIT */
/*
 * Two slots for a superblock at the beginning of a file.
 *
 * A superblock holds the state of a file: its sizes, where its data is.  Each new state has the
 * next number and is written to the slot that has the older one, after the data that it refers to
 * is on the device.  A reader takes the valid superblock with the higher number.  So a crash
 * leaves the old state or the new one.  If more than the first sector of a slot changes, the slot
 * is empty, with zeros at its beginning, until the other sectors are on the device: a power failure
 * leaves no superblock that looks damaged.
 *
 * Format of a slot: the magic number (8 bytes), then little-endian: version (8), checksum of the
 * payload (8, XXH3), bytes of a slot (4), bytes of the payload (4); then the payload, which begins
 * with the number of the state (8); zeros up to a multiple of SP__SUPERBLOCK_UNIT.  The first slot
 * is at offset 0, the second one follows it.
 *
 * To write, a format makes the bytes of its state by a coder, between sp__superblock_begin() and
 * sp__superblock_finish(), in a function that sp__superblocks_write() calls.  To read,
 * sp__superblocks_read() calls a function that decodes one slot, between sp__superblock_open() and
 * sp__coder_end().
 *
 * Thread rule: one thread at a time; only the process that holds an exclusive lock writes
 * (datafile/lock.h).
 */
#pragma once

#include "datafile/coder.h"

#define SP__SUPERBLOCK_PREFIX 32 /* bytes before the payload, its checksum among them */
#define SP__SUPERBLOCK_UNIT 4096
#define SP__SUPERBLOCK_MAX (UINT32_C(64) << 20) /* bytes of a slot */

/* A member of the state that is written and read. */
struct sp__superblocks {
	uint64_t number;     /* of this state; 0: never written */
	uint32_t slot_bytes; /* a power of two from SP__SUPERBLOCK_UNIT to SP__SUPERBLOCK_MAX */
	bool alone;	     /* when read: the other slot is neither valid nor empty */
	uint64_t seen_at;    /* the offset of the second slot, */
	uint8_t seen[2][SP__SUPERBLOCK_PREFIX]; /* and the first bytes of both slots, when read */
};

/* Static. */
struct sp__superblock_format {
	char magic[8];
	uint64_t min_version, max_version;
	const char *foreign;	   /* a reason: another magic number */
	const char *other_version; /* a reason */
};

/*
 * Sets s->slot_bytes to the smallest size for superblocks of so many bytes, for a new file.
 * False: they exceed SP__SUPERBLOCK_MAX.
 */
bool sp__superblocks_set_size(struct sp__superblocks *s, uint64_t bytes);

/* Begins the bytes of a state: c is a coder that writes.  The format codes its members next. */
void sp__superblock_begin(struct sp__coder *c, const struct sp__superblocks *s);
/*
 * Ends the bytes of a state.  Returns *bytes bytes, a multiple of SP__SUPERBLOCK_UNIT, that the
 * caller frees; or NULL if the coder has failed, and then c->data is free.
 */
uint8_t *sp__superblock_finish(struct sp__coder *c, const struct sp__superblocks *s,
			       const struct sp__superblock_format *f, uint64_t version,
			       size_t *bytes);

/*
 * Checks the bytes of a slot, sets s->slot_bytes, s->number and *version, and *c to read the
 * members.  Returns 0; SP_EFORMAT for another magic number or version; SP_ECORRUPT if the checksum
 * is wrong.  *reason is set then, and to the reason for an error found later.
 */
SP_MUST_CHECK int sp__superblock_open(struct sp__coder *c, struct sp__superblocks *s,
				      const struct sp__superblock_format *f, const uint8_t *data,
				      size_t bytes, uint64_t *version, const char **reason);

/* Returns the bytes of a state.  NULL: no memory, or a member cannot be written. */
typedef uint8_t *sp__superblock_encode_fn(const void *state, size_t *bytes);
/*
 * Decodes the bytes of slot 0 or 1.  Returns 0 or an error with *reason, and then keeps nothing;
 * -ENOMEM ends the reading.
 */
typedef int sp__superblock_decode_fn(void *arg, unsigned slot, const uint8_t *data, size_t bytes,
				     const char **reason);

/*
 * Writes the next state: syncs the file, writes the superblock, syncs again.  max_bytes: of a
 * superblock, at most s->slot_bytes.  Returns 0 when the state is on the device; -ENOSPC if it
 * exceeds max_bytes; -ENOMEM if encode returned NULL; or -errno.  After an error the old state
 * counts, and s->number is the old one.
 */
SP_MUST_CHECK int sp__superblocks_write(struct sp__superblocks *s, int fd, uint64_t max_bytes,
					sp__superblock_encode_fn *encode, const void *state);
/*
 * Writes the same state once more, with the next number, so that either slot is enough.  The last
 * state is on the device.  Does not wait for the last write.  Returns as sp__superblocks_write().
 */
SP_MUST_CHECK int sp__superblocks_repeat(struct sp__superblocks *s, int fd, uint64_t max_bytes,
					 sp__superblock_encode_fn *encode, const void *state);
/*
 * Reads both slots.  Returns the slot that counts, 0 or 1, and fills in s; or -errno if a slot
 * cannot be read; or the error of slot 0 with *reason, if neither is valid; or SP_EFORMAT if one is
 * intact, but of a later version or, as decode says by SP_EFORMAT, with unknown features.  The
 * caller releases what decode made of the slots that do not count.
 */
SP_MUST_CHECK int sp__superblocks_read(struct sp__superblocks *s, int fd,
				       const struct sp__superblock_format *f,
				       sp__superblock_decode_fn *decode, void *arg,
				       const char **reason);
/* True if both slots begin as when s was read.  False if not, or if the file cannot be read. */
bool sp__superblocks_current(const struct sp__superblocks *s, int fd);
