/* SPDX-License-Identifier: MIT */
/*
 * Translates between the values of an enum and their names.
 */
#include <errno.h>
#include <string.h>
#include <spindle/enum.h>
#include "base/edits.h"

const char *sp_enum_name(const struct sp_enum_value *values, int value)
{
	while (values->name && values->value != value)
		values++;
	return values->name;
}

int sp_enum_parse(const struct sp_enum_value *values, const char *text, int *value)
{
	const struct sp_enum_value *found = NULL;
	size_t len = strlen(text);
	int rc = -EINVAL;

	for (; values->name; values++) {
		if (strncmp(values->name, text, len))
			continue;
		if (!found || !values->name[len])
			rc = 0;
		else if (values->value != found->value)
			rc = -ENOTUNIQ;
		found = values;
		if (!values->name[len])
			break;
	}
	if (!rc)
		*value = found->value;
	return rc;
}

const char *sp_enum_nearest(const struct sp_enum_value *values, const char *text)
{
	struct sp__near_name nearest = { 0 };

	for (; values->name; values++)
		sp__near_name_try(&nearest, text, strlen(text), values->name, SP__NEAR_OPTION);
	return nearest.name;
}
