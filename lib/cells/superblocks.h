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
 * sp__superblock_finish(): its function `encode`.  To read, `decode` decodes one slot, between
 * sp__superblock_open() and sp__coder_end().
 *
 * Thread rule: one thread at a time; only the process that holds an exclusive lock writes
 * (cells/lock.h).
 */
#pragma once

#include <spindle/error.h>
#include "base/coder.h"

#define SP__SUPERBLOCK_PREFIX 32 /* bytes before the payload, its checksum among them */
#define SP__SUPERBLOCK_UNIT 4096
#define SP__SUPERBLOCK_MAX (UINT32_C(64) << 20) /* bytes of a slot */

/* A member of the state that is written and read. */
struct sp__superblocks {
	uint64_t number;     /* number of this state; 0: never written */
	uint32_t slot_bytes; /* a power of two from SP__SUPERBLOCK_UNIT to SP__SUPERBLOCK_MAX */
	bool alone;	     /* the other slot is neither valid nor empty */
	uint64_t seen_at;    /* the offset of the second slot, */
	uint8_t seen[2][SP__SUPERBLOCK_PREFIX]; /* first bytes of both slots, when they were read */
};

/* Static.  A state is a struct that begins with a struct sp__superblocks. */
struct sp__superblock_format {
	char magic[8];
	uint64_t min_version, max_version;
	const char *foreign;	   /* a reason: another magic number */
	const char *other_version; /* a reason */
	size_t state_bytes;
	/* Returns the bytes of a state.  NULL: no memory, or a member cannot be written. */
	uint8_t *(*encode)(const void *state, size_t *bytes);
	/*
	 * Decodes the bytes of a slot.  Returns 0, or an error with *reason, and then the state has
	 * nothing to release; -ENOMEM ends the reading.
	 */
	int (*decode)(void *state, const uint8_t *data, size_t bytes, const char **reason);
	/* Releases what decode made; accepts zeros. */
	void (*release)(void *state);
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

/*
 * Writes the next state: syncs the file, writes the superblock, syncs again.  max_bytes: of a
 * superblock, at most that of a slot.  Returns 0 when the state is on the device; -ENOSPC if it
 * exceeds max_bytes; -ENOMEM if encode returned NULL; or -errno.  After an error the old state
 * counts, and its number is the old one.
 */
SP_MUST_CHECK int sp__superblocks_write(void *state, const struct sp__superblock_format *f, int fd,
					uint64_t max_bytes, const char *path,
					struct sp_errinfo *err);
/*
 * Writes the same state once more, with the next number, so that either slot is enough.  The last
 * state is on the device.  Does not wait for the last write; if it fails, the state stays in one
 * slot.
 */
void sp__superblocks_repeat(void *state, const struct sp__superblock_format *f, int fd,
			    uint64_t max_bytes);
/*
 * Reads both slots, and decodes the state that counts.  Returns 0; -errno if a slot cannot be read;
 * the error of slot 0, if neither is valid; or SP_EFORMAT if one is intact, but of a later version
 * or, as decode says by SP_EFORMAT, with unknown features.  After an error the state is zero.
 */
SP_MUST_CHECK int sp__superblocks_read(void *state, const struct sp__superblock_format *f, int fd,
				       const char *path, struct sp_errinfo *err);
/* True if both slots begin as when s was read.  False if not, or if the file cannot be read. */
bool sp__superblocks_current(const struct sp__superblocks *s, int fd);
