/* SPDX-License-Identifier: MIT */
/*
 * Declares device models: the contents of a JSON file of the format spindle-model(5), checked and
 * ready for use.
 *
 * Shipped models (lib/dev/models/NAME.json) are part of the library and are found by name.  A name
 * with a slash or ending in ".json" is a file.
 *
 * Thread rule: immutable once loaded.  Its users refer to it and must not outlive it.
 */
#pragma once

#include <spindle/error.h>

#define SP__MODEL_BYTES_MAX (UINT64_C(1) << 62) /* offsets have a sign */

struct sp__drive; /* rotating: drive.h */
struct sp__device_ops;

/* The order in which the drive serves the requests that wait inside it. */
enum sp__window_policy { SP__WINDOW_FIFO, SP__WINDOW_SPTF };

struct sp__model {
	char *name;
	char *about; /* one line: which drive it resembles, and its limits */
	const struct sp__device_ops *ops;
	void *impl;	      /* data of this kind of device: struct sp__drive, ... */
	uint32_t block_bytes; /* size of an LBN: 512, 4096 */
	uint64_t blocks;
	unsigned lanes;	 /* requests that are served concurrently, >= 1 */
	unsigned drives; /* drives of an array; otherwise 1 */
	unsigned queues; /* in front of it: one per drive, or per group of equally many drives */
	uint64_t overhead_ns[2]; /* read, write: from submission until the request can be chosen */
	unsigned window;	 /* requests that a drive holds, >= 1 */
	enum sp__window_policy window_policy;
	uint64_t window_age_ns; /* a request this long in the drive is served first; 0: no limit */
	/* The host: constants by which computation is charged. */
	uint32_t cpu_compare_ns; /* one comparison of keys */
	uint32_t cpu_record_ns;	 /* one record in a merge or scan, besides comparisons */
	uint32_t cpu_value_ns;	 /* one value of a column, read or stored, besides comparisons */
	uint32_t cpu_copy_ps;	 /* copying one byte, in 1e-12 s */
	uint32_t cpu_request_ns; /* issuing and completing one request */
};

/*
 * Loads a model.  Returns 0; SP_EFORMAT, with file, field and reason; or -ENOENT with the list of
 * known names.
 */
SP_MUST_CHECK int sp__model_load(struct sp__model **m, const char *name, struct sp_errinfo *err);
/* Makes a model of a text; file is its name in messages. */
SP_MUST_CHECK int sp__model_parse(struct sp__model **m, const char *file, const char *text,
				  size_t bytes, struct sp_errinfo *err);
void sp__model_free(struct sp__model *m); /* accepts NULL */

/*
 * A model that is part of the library.  The build makes the table from lib/dev/models
 * (scripts/embed-models), in the order of the names, except that the default comes first.  An entry
 * without a name ends it.
 */
struct sp__shipped {
	const char *name;
	const char *about;
	const char *text; /* the file */
};

extern const struct sp__shipped sp__shipped_models[];
