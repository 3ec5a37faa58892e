/* SPDX-License-Identifier: MIT */
/*
 * The files or devices of a dataset after the first one.  Each begins with a header: the id of the
 * dataset, the number of the volume, and the number of changes of the dataset.  So a volume of
 * another dataset, or an old copy of a volume, is detected.
 *
 * A format that changes its volumes in place writes its superblock with the next generation and
 * `marking`, then the headers, then the superblock without it.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <spindle/error.h>

#define SP__VOLUME_HEADER_BYTES 4096

/* The volumes of a dataset; borrows all pointers. */
struct sp__volume_set {
	char magic[8]; /* of headers */
	uint64_t version, id;
	uint32_t volumes;    /* with the first one */
	bool has_generation; /* headers have one */
	bool marking;	     /* headers can have the generation before */
	uint64_t generation; /* the number of changes */
	const char *noun;    /* the dataset in messages: "cube" */
	const char *path;    /* of the first volume */
	char *const *names;  /* of each volume; NULL: the first's and the number */
};

/* Returns the path of volume i > 0; the caller frees.  NULL: no memory. */
char *sp__volume_set_name(const struct sp__volume_set *s, unsigned i);
/* Writes the header of volume i > 0.  Returns 0 when it is on the device, or -errno. */
SP_MUST_CHECK int sp__volume_set_mark(const struct sp__volume_set *s, unsigned i, int fd,
				      const char *name, struct sp_errinfo *err);
/*
 * Checks the header of an open file.  Returns 0; SP_EFORMAT if it is not volume i of the dataset,
 * or older or newer than the first volume; or -errno.
 */
SP_MUST_CHECK int sp__volume_set_check(const struct sp__volume_set *s, unsigned i, int fd,
				       const char *name, struct sp_errinfo *err);
