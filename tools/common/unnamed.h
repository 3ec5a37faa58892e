/* SPDX-License-Identifier: MIT */
/*
 * Temporary files without names, which disappear with the process.  The library opens them through
 * /proc.
 */
#pragma once

#define UNNAMED_PATH 32

/*
 * Creates one in a folder.  Returns its descriptor, and its path in `path`.  A failure ends the
 * program; without /proc its message has `needing`.
 */
int unnamed_file(const char *dir, char path[UNNAMED_PATH], const char *needing);
