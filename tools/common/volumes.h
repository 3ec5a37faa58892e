/* SPDX-License-Identifier: MIT */
/*
 * Reads the argument of --volumes: a number, or the names of all volumes except the first.
 */
#pragma once

/*
 * Sets names, which has max members, to the names in the text; names[0] is NULL if the text is a
 * number.  A mistyped number is not a name.  Returns the number of volumes; failure ends the
 * program.
 */
unsigned volumes_value(const char *option, const char *text, const char **names, unsigned max);
