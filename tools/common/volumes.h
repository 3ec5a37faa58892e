/* SPDX-License-Identifier: MIT */
/*
 * Reads the argument of --volumes: a number, or the names of all volumes except the first.  Makes
 * paths of these names.
 */
#pragma once

/*
 * Sets names, which has max members, to the names in the text; names[0] is NULL if the text is a
 * number.  A mistyped number is not a name.  Returns the number of volumes; failure ends the
 * program.
 */
unsigned volumes_value(const char *option, const char *text, const char **names, unsigned max);

/*
 * Returns the path of a volume, whose name begins at the folder of the first one.  The caller
 * frees it.
 */
char *volumes_path(const char *first, const char *name);
/* Returns the path of volume n without a name; the caller frees it. */
char *volumes_numbered(const char *first, unsigned n);
