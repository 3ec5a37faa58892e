/* SPDX-License-Identifier: MIT */
/*
 * Checks that a list that a tool has read to its end was not truncated meanwhile.
 */
#pragma once

/* Returns the size of a regular file in bytes; 0: another type of file. */
unsigned long long uncut_bytes(int fd);
/* Ends the program if the file is smaller than before, the result of uncut_bytes(). */
void uncut_check(int fd, unsigned long long before, const char *name);
