/* SPDX-License-Identifier: MIT */
/*
 * Device models: the contents of a JSON file of the format spindle-model(5),
 * checked and ready for use.
 *
 * Models that are shipped (lib/dev/models/NAME.json) are part of the library
 * and are found by name; a name with a slash or ending in ".json" is a file.
 * Immutable once loaded; its users refer to it and must not outlive it.
 */
#ifndef SP__DEV_MODEL_H
#define SP__DEV_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>

#define SP__MODEL_BYTES_MAX (UINT64_C(1) << 62) /* offsets have a sign */

struct sp__drive; /* rotating: drive.h */
struct sp__device_ops;

/* What the drive does with requests that wait inside it. */
enum sp__window_policy { SP__WINDOW_FIFO, SP__WINDOW_SPTF };

struct sp__model {
	char *name;
	char *about; /* one line: what it is like and what it is not */
	const struct sp__device_ops *ops;
	void *impl;	      /* of the kind: struct sp__drive, ... */
	uint32_t block_bytes; /* what LBNs count: 512, 4096 */
	uint64_t blocks;
	unsigned lanes;		 /* that work at the same time, >= 1 */
	unsigned drives;	 /* of an array; otherwise 1 */
	unsigned queues;	 /* in front of it: drives, or groups of equally many */
	uint64_t overhead_ns[2]; /* read, write: from submission until it may be chosen */
	unsigned window;	 /* requests a drive holds at once, >= 1 */
	enum sp__window_policy window_policy;
	uint64_t window_age_ns; /* what has been in the drive this long goes first; 0: no limit */
	/* The host that goes with it: constants by which computation is charged. */
	uint32_t cpu_compare_ns; /* one comparison of keys */
	uint32_t cpu_record_ns;	 /* handling one record in a merge or scan, beside comparisons */
	uint32_t cpu_copy_ps;	 /* copying one byte, in 1e-12 s */
	uint32_t cpu_request_ns; /* issuing and completing one request */
};

/*
 * SP_EFORMAT, with file, field and reason; -ENOENT with the list of known
 * names for an unknown one.
 */
SP_MUST_CHECK int sp__model_load(struct sp__model **m, const char *name, struct sp_errinfo *err);
/* The same from a text; file is what messages call it. */
SP_MUST_CHECK int sp__model_parse(struct sp__model **m, const char *file, const char *text,
				  size_t bytes, struct sp_errinfo *err);
void sp__model_free(struct sp__model *m); /* accepts NULL */

#endif
