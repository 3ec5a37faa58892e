/* SPDX-License-Identifier: MIT */
/*
 * Two files of random rows, scans of them in a plan, and what a command prints of them.
 */
#ifndef UNIT_FLOWFILES_H
#define UNIT_FLOWFILES_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include "base/rng.h"

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

static char *output_of(const char *command)
{
	FILE *f = popen(command, "r");
	char *all = calloc(1, 8 << 20);

	if (!f || !all || fread(all, 1, (8 << 20) - 1, f) == 0 || pclose(f))
		abort();
	return all;
}

static struct sp_operator *scan(struct sp_flow *flow, int i)
{
	static const char *inputs[2];
	struct sp_flow_scan o = { .inputs = &inputs[i],
				  .ninputs = 1,
				  .format = { .kind = SP_REC_LINE, .eol = '\n' },
				  .separator = " ",
				  .separator_bytes = 1 };
	struct sp_operator *op;

	inputs[i] = path[i];
	if (sp_flow_scan(&op, flow, &o))
		abort();
	return op;
}

#endif
