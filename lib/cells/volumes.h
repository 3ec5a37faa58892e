/* SPDX-License-Identifier: MIT */
/*
 * The files or devices of a dataset after the first one.  Each begins with a header: the id of the
 * dataset, the number of the volume, and the generation of the dataset, a random number that each
 * change draws.  So a volume of another dataset, or a copy of another state, is detected.
 *
 * A format that changes its volumes in place draws the next generation, writes its superblock with
 * it and `marking`, then the headers, then the superblock without `marking`.
 *
 * Rejected: a count of changes.  Two copies of a dataset that are changed apart count alike.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <spindle/error.h>

#define SP__VOLUME_HEADER_BYTES 4096

/* The volumes of a dataset; borrows all pointers. */
struct sp__volume_set {
	char magic[8]; /* magic number of headers */
	uint64_t version, id;
	uint32_t volumes;    /* with the first one */
	bool has_generation; /* headers have one */
	uint64_t generation;
	uint64_t
		marking; /* if not 0, headers can have the generation before: sp__volume_before() */
	const char *noun;   /* the dataset in messages: "cube" */
	const char *path;   /* path of the first volume */
	char *const *names; /* name of each volume; NULL: the first name and the number */
};

/*
 * Draws a number that no other state of any file has: random, neither 0 nor one of a few small or
 * large numbers.  Returns 0 or -errno.
 */
SP_MUST_CHECK int sp__state_draw(uint64_t *state);
/* Returns the value of `marking` while headers get the generation after this one. */
static inline uint64_t sp__volume_marking(uint64_t before)
{
	return before + 2;
}
/* Returns the generation before.  Old versions counted generations, and set marking to 1. */
static inline uint64_t sp__volume_before(uint64_t generation, uint64_t marking)
{
	return marking == 1 ? generation - 1 : marking - 2;
}
/* Returns the path of volume i > 0; the caller frees.  NULL: no memory. */
char *sp__volume_set_name(const struct sp__volume_set *s, unsigned i);
/* Writes the header of volume i > 0.  Returns 0 when it is on the device, or -errno. */
SP_MUST_CHECK int sp__volume_set_mark(const struct sp__volume_set *s, unsigned i, int fd,
				      const char *name, struct sp_errinfo *err);
/*
 * Checks the header of an open file.  Returns 0; SP_EFORMAT if it is not volume i of the dataset,
 * or of another generation than the first volume; or -errno.
 */
SP_MUST_CHECK int sp__volume_set_check(const struct sp__volume_set *s, unsigned i, int fd,
				       const char *name, struct sp_errinfo *err);
