/* SPDX-License-Identifier: MIT */
/*
 * Merges that compete for one simulated drive, for scripts/experiments/zl98:
 *
 *	rivals KEY=VALUE...
 *
 * Keys, with what they are if left out: model (linear), sched (noop), rivals (2), runs (15),
 * run_pages (107), buffers (64), page_kb (32), strategy (cluster; or double), submission
 * (atomic; single, pushed: rivals.h), cpu_us (2000, for a page), push_us (50), seed (1).
 * Prints KEY=VALUE pairs in one line.
 */
#include <stdio.h>
#include "sim/rivals.h"

static const char *const words[SUBMISSIONS] = { "atomic", "single", "pushed" };

static void print(const struct rivals_opts *o, const struct rivals_result *r)
{
	const struct sp__blockdev_stats *d = &r->device;
	uint64_t last = 0;

	for (unsigned i = 0; i < o->rivals; i++)
		last = r->done_ns[i] > last ? r->done_ns[i] : last;
	printf("requests=%llu clusters=%llu seeks=%llu hits=%llu time_s=%.9f busy_s=%.9f ",
	       (unsigned long long)d->requests, (unsigned long long)r->clusters,
	       (unsigned long long)d->seeks, (unsigned long long)d->hits, (double)last * 1e-9,
	       (double)d->busy_ns * 1e-9);
	printf("seek_s=%.9f rotate_s=%.9f transfer_s=%.9f\n", (double)d->seek_ns * 1e-9,
	       (double)d->rotate_ns * 1e-9, (double)d->transfer_ns * 1e-9);
}

static bool number(struct rivals_opts *o, const char *key, double n)
{
	if (strcmp(key, "rivals") == 0 && n >= 1 && n <= RIVALS_MAX)
		o->rivals = (unsigned)n;
	else if (strcmp(key, "runs") == 0 && n >= 1)
		o->runs = (unsigned)n;
	else if (strcmp(key, "run_pages") == 0 && n >= 1)
		o->run_pages = (unsigned)n;
	else if (strcmp(key, "buffers") == 0 && n >= 1)
		o->buffers = (unsigned)n;
	else if (strcmp(key, "page_kb") == 0 && n >= 4)
		o->page_bytes = (unsigned)n * 1024;
	else if (strcmp(key, "cpu_us") == 0)
		o->cpu_ns = (uint64_t)(n * 1000);
	else if (strcmp(key, "push_us") == 0)
		o->push_ns = (uint64_t)(n * 1000);
	else if (strcmp(key, "seed") == 0)
		o->seed = (uint64_t)n;
	else
		return false;
	return true;
}

static bool option(struct rivals_opts *o, char *key)
{
	char *value = strchr(key, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(key, "model") == 0) {
		o->model = value;
	} else if (strcmp(key, "sched") == 0) {
		o->sched = value;
	} else if (strcmp(key, "strategy") == 0) {
		o->strategy = strcmp(value, "double") == 0 ? SP_READ_DOUBLE : SP_READ_CLUSTER;
	} else if (strcmp(key, "submission") == 0) {
		o->submission = ATOMIC;
		while (o->submission < SUBMISSIONS && strcmp(value, words[o->submission]) != 0)
			o->submission++;
		return o->submission < SUBMISSIONS;
	} else {
		return number(o, key, atof(value));
	}
	return true;
}

int main(int argc, char **argv)
{
	struct rivals_opts o = { .model = "linear", .sched = "noop", RIVALS_USUAL };
	struct rivals_result result;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	for (int i = 1; i < argc; i++) {
		if (!option(&o, argv[i])) {
			fprintf(stderr, "rivals: what is '%s'?\n", argv[i]);
			return 2;
		}
	}
	if (rivals_run(&o, &result, &err) < 0) {
		fprintf(stderr, "rivals: %s\n", err.text);
		return 2;
	}
	print(&o, &result);
	return 0;
}
