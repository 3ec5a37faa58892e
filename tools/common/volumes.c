/* SPDX-License-Identifier: MIT */
/* Reads the argument of --volumes, and makes paths of names. */
#include <stdio.h>
#include <string.h>
#include "msg.h"
#include "number.h"
#include "volumes.h"

static _Noreturn void refuse(const char *option, const char *text, unsigned max)
{
	die("invalid %s argument %s: valid is a number up to %u, or names of 1 to %u volumes",
	    option, quote(text), max, max - 1);
}

unsigned volumes_value(const char *option, const char *text, const char **names, unsigned max)
{
	unsigned volumes = 1;
	char *list, *name;

	names[0] = NULL;
	if (!*text || (strchr("+-0123456789", *text) && !strpbrk(text, ",/"))) {
		uint64_t n = number_option(option, text, 1);

		if (n > max)
			refuse(option, text, max);
		return (unsigned)n;
	}
	list = must_copy(text);
	while ((name = strsep(&list, ","))) {
		if (!*name || !strcmp(name, "-") || volumes == max)
			refuse(option, text, max);
		names[volumes++ - 1] = name;
	}
	return volumes;
}

char *volumes_path(const char *first, const char *name)
{
	const char *slash = *name == '/' ? NULL : strrchr(first, '/');
	const size_t folder = slash ? (size_t)(slash - first) + 1 : 0;
	char *path = must_alloc(NULL, folder + strlen(name) + 1, 1);

	memcpy(path, first, folder);
	strcpy(path + folder, name);
	return path;
}

char *volumes_numbered(const char *first, unsigned n)
{
	const size_t bytes = strlen(first) + sizeof(".4294967295");
	char *path = must_alloc(NULL, bytes, 1);

	snprintf(path, bytes, "%s.%u", first, n);
	return path;
}
