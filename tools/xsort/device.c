/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "msg.h"
#include "quote.h"
#include "xsort.h"

#define SIM "sim:"

/* "sim:MODEL,key=value...": the model alone; the caller frees. */
static char *model_of(const char *volume)
{
	const char *model = volume + sizeof(SIM) - 1;
	size_t n = strcspn(model, ",");
	char *name = must_alloc(NULL, n + 1, 1);

	memcpy(name, model, n);
	name[n] = '\0';
	return name;
}

void device_geometry(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_geometry *g = NULL;
	char *model;
	int rc = 0;

	if (set->geometry) {
		rc = sp_geometry_load(&g, set->geometry, &err);
	} else if (set->opts.volume && !strncmp(set->opts.volume, SIM, sizeof(SIM) - 1)) {
		model = model_of(set->opts.volume);
		/* That there must be one is told where the rest is looked at. */
		rc = *model ? sp_geometry_model(&g, model, &err) : 0;
		free(model);
	}
	if (rc < 0)
		failure(set, &err, 0);
	set->opts.geometry = g;
}
