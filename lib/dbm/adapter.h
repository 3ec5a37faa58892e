/* SPDX-License-Identifier: MIT */
/*
 * A system that is measured, and the calls of its adapter (dbmbench(1), ADAPTERS).
 */
#pragma once

#include "dbm/calls.h"
#include "dbm/counting.h"
#include "dbm/answers.h"

#define SP__ADAPTER_LINE 256

/* What all adapters of a run share. */
struct sp__dbm_place {
	const char *logs;    /* folder for what adapters print */
	const char *t1, *t2; /* absolute paths; NULL: not made yet */
	const char *wrap;    /* before programs, to simulate a processor; NULL: nothing */
	struct sp__dbm_counting *counting; /* NULL: nothing is counted */
	unsigned parallel;
	uint32_t record_bytes;
	struct sp__dbm_limits limits;
};

struct sp__adapter {
	const struct sp__dbm_place *place;
	char *name; /* name of the system */
	char *path;
	char *folder; /* folder of the system's data */
	bool started; /* load was called: drop is due */
};

/*
 * Finds an adapter by a name in a folder, or by a path with a slash.  work: folder in which it gets
 * one of its own.  Returns 0; -ENOENT, -EACCES if there is no such program; -ENOMEM.
 */
SP_MUST_CHECK int sp__adapter_open(struct sp__adapter *a, const struct sp__dbm_place *place,
				   const char *text, const char *adapters, const char *work,
				   struct sp_errinfo *err);
void sp__adapter_close(struct sp__adapter *a);

/*
 * Calls a verb; arguments end with NULL.  lines: receives the beginning of what it prints, or NULL.
 * Returns 0; SP_ECHILD with the last line of standard error if it fails; errors of
 * sp__calls_run().
 */
SP_MUST_CHECK int sp__adapter_call(struct sp__adapter *a, const char *const *arguments, char *lines,
				   size_t capacity, struct sp_errinfo *err);
/* True if an error concerns one system alone. */
bool sp__adapter_at_fault(int rc);
/* Returns the reason of an error as text, which err owns or is static. */
const char *sp__adapter_reason(const struct sp_errinfo *err);
/* Reads the version, or why the system is absent, into line.  Returns 0; 1: absent; or an error. */
SP_MUST_CHECK int sp__adapter_version(struct sp__adapter *a, char line[SP__ADAPTER_LINE],
				      struct sp_errinfo *err);
/*
 * Runs a unit of each client at the same time, and adds what it used.  questions: n of each client,
 * one after the other.  Errors as above, and of sp__answers_check().
 */
SP_MUST_CHECK int sp__adapter_run(struct sp__adapter *a, const struct sp__dbm_truth *truth,
				  const struct sp__dbm_question *questions, unsigned n,
				  unsigned clients, struct sp_dbm_usage *used,
				  struct sp_errinfo *err);
/* Ends the system's servers and removes its data, whatever the limits say. */
SP_MUST_CHECK int sp__adapter_drop(struct sp__adapter *a, struct sp_errinfo *err);
