/* SPDX-License-Identifier: MIT */
/*
 * Counts the resources of processes, as /proc says: of the children that this process has waited
 * for, with theirs, and of servers that go on running.
 */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <spindle/dbm.h>

#define SP__SERVERS_MAX 256

/* Processes of a system's servers. */
struct sp__dbm_servers {
	pid_t pids[SP__SERVERS_MAX];
	unsigned n;
};

/* Counters at one moment. */
struct sp__usage_mark {
	struct sp_dbm_usage children; /* bytes and calls alone */
	struct sp_dbm_usage servers;  /* without wall_s */
};

/* Returns what is reported of a unit that was not measured. */
struct sp_dbm_usage sp__usage_unknown(void);
/* Reads the counters; servers that have ended count 0. */
void sp__usage_mark(struct sp__usage_mark *m, const struct sp__dbm_servers *servers);
/* Adds what a child that was waited for used. */
void sp__usage_add_child(struct sp_dbm_usage *u, const struct rusage *child);
/* Adds what children and servers have used since a mark. */
void sp__usage_add_since(struct sp_dbm_usage *u, const struct sp__usage_mark *m,
			 const struct sp__dbm_servers *servers);
