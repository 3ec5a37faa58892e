/* SPDX-License-Identifier: MIT */
/*
 * The parts of the preflight.
 */
#pragma once

#include <spindle/preflight.h>
#include "observe/sysdev.h"

struct sp__preflight {
	const struct sp_preflight_opts *opts;
	const char *sys, *proc;
	struct sp_preflight *out;
	bool classes; /* the requests have different classes */
	bool levels;  /* the requests have different classes or levels */
	bool threads; /* each class has a thread of its own */
};

/* Adds a remark to the result; obstacle and advice as in struct sp_preflight_remark. */
void sp__preflight_remark(struct sp__preflight *p, bool obstacle, const char *advice,
			  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Judges one device with this number of outstanding requests (0: undecided); *below: the number
 * that it passes on.
 */
enum sp_preflight_verdict sp__preflight_layer(struct sp__preflight *p, const struct sp__sysdev *d,
					      unsigned level, uint64_t outstanding,
					      uint64_t *below);

/* True if control groups of the process can undo priorities on the device. */
bool sp__preflight_groups(struct sp__preflight *p, const struct sp__sysdev *d);
