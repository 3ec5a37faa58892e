/* SPDX-License-Identifier: MIT */
/*
 * Tallies records: their number, their bytes, and the sum of their hashes, which does not depend on
 * their order.
 *
 * Tallies of the same records are equal.  A record that is lost, doubled, cut or mixed up with
 * another makes them differ.  Each stage that passes on records adds them to its own tally.  A
 * tally has one owner at a time, like its records.
 *
 * The hash is computed for every record of every sort, so it is cheap: it covers the length and
 * eight bytes each from the head and the tail.  It does not detect a change between them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/few.h"

struct sp__tally {
	uint64_t records;
	uint64_t sum; /* sum of hashes, or of other numbers that identify records */
	uint64_t bytes;
};

/* Hashes a record. reach: bytes that can be read from the record on, at least its own. */
static inline uint64_t sp__record_hash_near(const char *rec, size_t bytes, size_t reach)
{
	static const char none[8];
	uint64_t head = sp__load_near(rec, bytes, reach);
	uint64_t tail = sp__load_few(bytes >= 8 ? rec + bytes - 8 : none, 8);
	unsigned __int128 product;

	product = (unsigned __int128)(head ^ (UINT64_C(0x9E3779B97F4A7C15) + bytes)) *
		  (tail ^ UINT64_C(0xD6E8FEB86659FD93));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Adds a record that a number identifies. */
static inline void sp__tally_count(struct sp__tally *t, uint64_t of_record)
{
	t->records++;
	t->sum += of_record;
}

static inline void sp__tally_add_near(struct sp__tally *t, const char *rec, size_t bytes,
				      size_t reach)
{
	sp__tally_count(t, sp__record_hash_near(rec, bytes, reach));
	t->bytes += bytes;
}

static inline void sp__tally_add(struct sp__tally *t, const char *rec, size_t bytes)
{
	sp__tally_add_near(t, rec, bytes, bytes);
}

static inline void sp__tally_join(struct sp__tally *to, const struct sp__tally *from)
{
	to->records += from->records;
	to->bytes += from->bytes;
	to->sum += from->sum;
}

/* Returns the difference of two states of a tally. */
static inline struct sp__tally sp__tally_since(struct sp__tally now, const struct sp__tally *then)
{
	now.records -= then->records;
	now.bytes -= then->bytes;
	now.sum -= then->sum;
	return now;
}
