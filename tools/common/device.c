/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <spindle/run.h>
#include "device.h"
#include "msg.h"
#include "number.h"

#define SIM "sim:"
#define DIR "dir:"

static const char *const volume_kinds[] = { DIR, "block:", SIM };

const char *device_directory(const char *option, const char *text)
{
	const char *colon = strchr(text, ':');

	for (size_t i = 0; i < sizeof(volume_kinds) / sizeof(volume_kinds[0]); i++)
		if (colon && colon[1] &&
		    !strncmp(text, volume_kinds[i], (size_t)(colon + 1 - text)))
			return strncmp(text, DIR, sizeof(DIR) - 1) ? NULL : colon + 1;
	number_die(NUMBER_INVALID, option, text,
		   "valid are dir:PATH, block:DEVICE and sim:MODEL[,KEY=VALUE]...");
}

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

int device_geometry(struct sp_geometry **g, const char *file, const char *volume,
		    struct sp_errinfo *err)
{
	char *model;
	int rc;

	*g = NULL;
	if (file)
		return sp_geometry_load(g, file, err);
	if (!volume || strncmp(volume, SIM, sizeof(SIM) - 1))
		return 0;
	model = model_of(volume);
	/* A missing model is reported with the other errors of the specification. */
	rc = *model ? sp_geometry_model(g, model, err) : 0;
	free(model);
	return rc;
}
