/* SPDX-License-Identifier: MIT */
/*
 * Reads /proc/PID/io, stat and status.
 *
 * The kernel adds the counters of a child to those of its parent when the parent waits for it; so
 * those of this process have all that its children, and their children, did.  Its own share is what
 * it does while they run: it polls.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "dbm/usage.h"

#define FILE_MAX 4096

/* Reads a file of /proc.  False: the process has ended, or is another user's. */
static bool read_file(pid_t pid, const char *name, char text[FILE_MAX])
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, FILE_MAX - 1, f);
		fclose(f);
	}
	text[n] = 0;
	return n != 0;
}

/* Returns the number behind a key at the beginning of a line, or 0. */
static uint64_t value(const char *text, const char *key)
{
	unsigned long long n = 0;
	const char *at;

	for (at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (!strncmp(at, key, strlen(key)) && sscanf(at + strlen(key), ": %llu", &n) == 1)
			return n;
	return 0;
}

static void add_io(struct sp_dbm_usage *u, pid_t pid)
{
	char text[FILE_MAX];

	if (!read_file(pid, "io", text))
		return;
	u->read_bytes += value(text, "read_bytes");
	u->write_bytes += value(text, "write_bytes");
	u->reads += value(text, "syscr");
	u->writes += value(text, "syscw");
}

/* Adds the processor time of a server and of its children that have ended. */
static void add_times(struct sp_dbm_usage *u, pid_t pid)
{
	const double tick = (double)sysconf(_SC_CLK_TCK);
	unsigned long long t[4] = { 0 };
	char text[FILE_MAX], *at;

	if (!read_file(pid, "stat", text))
		return;
	at = strrchr(text, ')'); /* the name before it can have blanks */
	if (!at ||
	    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
		   &t[0], &t[1], &t[2], &t[3]) != 4)
		return;
	u->user_s += (double)(t[0] + t[2]) / tick;
	u->system_s += (double)(t[1] + t[3]) / tick;
}

static void add_peak(struct sp_dbm_usage *u, pid_t pid)
{
	char text[FILE_MAX];

	if (read_file(pid, "status", text) && value(text, "VmHWM") * 1024 > u->peak_bytes)
		u->peak_bytes = value(text, "VmHWM") * 1024;
}

struct sp_dbm_usage sp__usage_unknown(void)
{
	struct sp_dbm_usage u = { .wall_s = NAN, .user_s = NAN, .system_s = NAN, .counted = NAN };

	for (int i = 0; i < SP_DBM_EVENTS; i++)
		u.events[i] = u.kernel[i] = NAN;
	return u;
}

void sp__usage_mark(struct sp__usage_mark *m, const struct sp__dbm_servers *servers)
{
	*m = (struct sp__usage_mark){ 0 };
	add_io(&m->children, getpid());
	for (unsigned i = 0; i < servers->n; i++) {
		add_io(&m->servers, servers->pids[i]);
		add_times(&m->servers, servers->pids[i]);
		add_peak(&m->servers, servers->pids[i]);
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void sp__usage_add_child(struct sp_dbm_usage *u, const struct rusage *child)
{
	const uint64_t peak = (uint64_t)child->ru_maxrss * 1024;

	u->user_s += seconds(child->ru_utime);
	u->system_s += seconds(child->ru_stime);
	u->peak_bytes = peak > u->peak_bytes ? peak : u->peak_bytes;
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void add_grown(struct sp_dbm_usage *u, const struct sp_dbm_usage *before,
		      const struct sp_dbm_usage *after)
{
	u->read_bytes += grown(before->read_bytes, after->read_bytes);
	u->write_bytes += grown(before->write_bytes, after->write_bytes);
	u->reads += grown(before->reads, after->reads);
	u->writes += grown(before->writes, after->writes);
	u->user_s += fmax(after->user_s - before->user_s, 0);
	u->system_s += fmax(after->system_s - before->system_s, 0);
}

void sp__usage_add_since(struct sp_dbm_usage *u, const struct sp__usage_mark *m,
			 const struct sp__dbm_servers *servers)
{
	struct sp__usage_mark now;

	sp__usage_mark(&now, servers);
	add_grown(u, &m->children, &now.children);
	add_grown(u, &m->servers, &now.servers);
	if (now.servers.peak_bytes > u->peak_bytes)
		u->peak_bytes = now.servers.peak_bytes;
}
