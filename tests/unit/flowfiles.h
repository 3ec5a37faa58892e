/* SPDX-License-Identifier: MIT */
/*
 * Two files of random rows, sorted and joined in one plan, against sort and join of the system.
 */
#ifndef UNIT_FLOWFILES_H
#define UNIT_FLOWFILES_H

#include <string.h>
#include <unistd.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include "base/rng.h"
#include "flowplan.h"
#include "tap.h"

#define ROWS 6000

static char path[2][32];

static void make_files(struct sp__rng *rng, int keys)
{
	for (int i = 0; i < 2; i++) {
		strcpy(path[i], "/tmp/sp-flow.XXXXXX");
		FILE *f = fdopen(mkstemp(path[i]), "w");

		for (int k = 0; f && k < ROWS; k++)
			fprintf(f, "%05d %d%*s\n", (int)sp__rng_below(rng, (uint64_t)keys), k,
				(int)sp__rng_below(rng, 400), "");
		if (!f || fclose(f))
			abort();
	}
}

static void remove_files(void)
{
	unlink(path[0]);
	unlink(path[1]);
}

static struct sp_operator *scan(struct sp_flow *flow, int i)
{
	static const char *const inputs[] = { path[0], path[1] };

	return scan_file(flow, &inputs[i]);
}

static struct sp_operator *sort(struct sp_operator *input, struct sp_keyset *keys)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_operator *op;

	o.keys = keys;
	o.run = run_opts();
	if (sp_sort_operator(&op, input, &o))
		abort();
	return op;
}

static int is_unmarked(void *arg, const char *rec, size_t bytes)
{
	(void)arg;
	return memchr(rec, '#', bytes) == NULL;
}

/* Drops rows with '#'. */
static struct sp_operator *filter(struct sp_operator *op)
{
	if (sp_flow_filter(&op, op, is_unmarked, NULL))
		abort();
	return op;
}

static struct sp_keyset *keys_of_files(void)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = { .kind = SP_REC_LINE, .eol = '\n' },
				    .keys = &key,
				    .nkeys = 1,
				    .separator = ' ',
				    .stable = true };
	struct sp_keyset *keys;

	key.eword = 0;
	if (sp_keyset_new(&keys, &o, &err))
		abort();
	return keys;
}

/* Returns the join of the files' first two fields by programs of the system. */
static char *want_of_files(void)
{
	char command[512], *all = calloc(1, 8 << 20);
	FILE *f;

	snprintf(command, sizeof(command),
		 "for i in %s %s; do sort -s -t' ' -k1,1 $i | cut -d' ' -f1,2 >$i.s || exit 1; "
		 "done; join -a1 -a2 -t' ' %s.s %s.s; rm %s.s %s.s",
		 path[0], path[1], path[0], path[1], path[0], path[1]);
	f = popen(command, "r");
	if (!f || !all || fread(all, 1, (8 << 20) - 1, f) == 0 || pclose(f))
		abort();
	return all;
}

/* where: the engine or the machine. */
static void check_files(const struct sp_join_opts *o, const char *want, const char *where,
			struct sp_run_stats *stats)
{
	static const size_t fields[] = { 0, 1 };
	struct sp_flow *flow = open_flow();
	struct sp_keyset *keys = keys_of_files();
	struct sp_operator *side[2], *op;
	struct sp_batch b;
	char *got = NULL;
	size_t bytes;
	FILE *f = open_memstream(&got, &bytes);
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		side[i] = sort(filter(scan(flow, i)), keys);
		rc = sp_flow_project(&side[i], side[i], fields, 2);
	}
	if (rc || sp_join_operator(&op, side[0], side[1], o))
		abort();
	while ((rc = sp_flow_get(op, &b)) == SP_READY)
		fwrite(b.data, 1, b.bytes, f);
	fclose(f);
	sp_flow_stats(flow, stats);
	ok(rc == SP_END && strcmp(got, want) == 0, "two files sorted and merged are joined (%s)",
	   where);
	free(got);
	sp_flow_close(flow);
	sp_keyset_free(keys);
}

#endif
